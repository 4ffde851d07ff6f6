//===- Utils.h - What several passes need to know ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_UTILS_H
#define DIALECT_TESSERA_TRANSFORMS_UTILS_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

/// The chip that a pass's options `target` and `chip` name; an empty chip is
/// the host's for `cpu`. Otherwise an error at `op` that lists the known ones.
FailureOr<const Chip *> getChip(Operation *op, llvm::StringRef target,
                                llvm::StringRef chip);

/// The opening of a pass that knows its chip: runs `run` on the ops of type
/// `Op` under `root` that are wanted, all of which are found first, and on the
/// chip. The chip need not be known where there is none of them. Fails at the
/// end if `run` failed for one.
template <typename Op>
LogicalResult
forEachOnChip(Operation *root, llvm::StringRef target, llvm::StringRef chip,
              llvm::function_ref<bool(Op)> isWanted,
              llvm::function_ref<LogicalResult(Op, const Chip &)> run) {
  SmallVector<Op> ops;
  root->walk([&](Op op) {
    if (isWanted(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  FailureOr<const Chip *> found = getChip(root, target, chip);
  if (failed(found))
    return failure();
  bool good = true;
  for (Op op : ops)
    good &= succeeded(run(op, **found));
  return success(good);
}

/// The discardable attribute by which legalization records on a `tessera.mma`
/// the instruction it chose.
inline llvm::StringRef getInstructionAttrName() {
  return "tessera.instruction";
}

/// The discardable attribute of a `gpu.func` that says how many subgroups own a
/// fragment together; absent for one.
inline llvm::StringRef getGroupAttrName() { return "tessera.group"; }

/// The discardable attribute of a `gpu.func` that says how many stagings of its
/// operands its schedule has in flight.
inline llvm::StringRef getStagesAttrName() { return "tessera.stages"; }

/// Whether `value` is a fragment that is loaded from swizzled workgroup memory:
/// what an instruction may read there itself.
bool isSwizzledTile(Value value);

/// The discardable attribute of a `tessera.mma` whose result only a
/// `tessera.await` takes.
inline llvm::StringRef getOverlappedAttrName() { return "tessera.overlapped"; }

/// The discardable attribute of a `tessera.mma` in a loop, which is waited for
/// when the next turn's has been issued.
inline llvm::StringRef getInFlightAttrName() { return "tessera.in_flight"; }

/// The discardable attribute of a `gpu.func` that says how many workgroups
/// along z make a cluster; absent for one.
inline llvm::StringRef getClusterAttrName() { return "tessera.cluster"; }

/// The discardable attribute of a `gpu.func` whose workgroups share tiles of
/// operands: how many along M and N, which follow each other along x and M
/// first.
inline llvm::StringRef getSharersAttrName() { return "tessera.sharers"; }

/// The discardable attribute of a `tessera.copy` that says how many threads of
/// the workgroup, the first ones, share it; absent for all.
inline llvm::StringRef getCopyThreadsAttrName() {
  return "tessera.copy_threads";
}

/// Where patterns of eight swizzled rows of 128 bytes begin in workgroup
/// memory.
inline constexpr int64_t swizzlePatternBytes = 1024;

/// That number, for the `gpu.func` which `op` is or stands in.
int64_t getFragmentGroup(Operation *op);

/// The discardable attribute that holds what `getKnownTileAlignment` found for
/// a load or store, from the time when it can still be found.
inline llvm::StringRef getAlignmentAttrName() { return "tessera.alignment"; }

/// On a copy: its source begins at the same place for all threads of the
/// workgroup, as far as the compiler sees.
inline llvm::StringRef getUniformAttrName() { return "tessera.uniform"; }

/// The discardable attribute of a `tessera.mma` whose operands of i4 were
/// widened to i8, since no instruction takes them as they were.
inline llvm::StringRef getWidenedAttrName() { return "tessera.widened"; }

/// The discardable attribute on a `gpu.launch` that computes a product without
/// fragments: a dictionary of `product`, its shape and types, and `why`. The
/// module has a dictionary of these by the kernels' names, `tessera.products`.
inline llvm::StringRef getProductAttrName() { return "tessera.product"; }

/// The discardable attribute on a linalg op that copies an operand of a
/// product, and on the `gpu.launch` made of it: what it copies and how, in
/// words. The module has a dictionary of these by the kernels' names,
/// `tessera.repacks`.
inline llvm::StringRef getRepackAttrName() { return "tessera.repack"; }

/// The discardable attribute on a `gpu.launch` that says in words what it does,
/// where that is more than one op of the source. It joins `tessera.repacks`.
inline llvm::StringRef getPurposeAttrName() { return "tessera.purpose"; }

/// Bits of one element of `type` in memory: those of its bytes, and 4 of i4.
int64_t getElementBits(Type type);

/// Whether elements of `type` share bytes: i4, of which two are in a byte, the
/// first in the low bits.
bool isPacked(Type type);

/// Bytes of one element of `type` in memory, or of what shares a byte with it.
int64_t getElementBytes(Type type);

/// The byte (index) of memory of packed elements that holds the one at
/// `indices`. Where rows begin at bytes, only the last index is halved: sums of
/// the others stay such.
Value emitByteIndex(OpBuilder &builder, Location loc, Value memory,
                    ValueRange indices);

/// A view of `count` bytes of memory of packed elements, from byte `first`
/// (index) on.
Value emitByteView(OpBuilder &builder, Location loc, Value memory, Value first,
                   int64_t count);

/// A product along K is cut into so many fragments side by side at most; more
/// of them are a loop.
inline constexpr int64_t maxUnrolledFragments = 4;

/// The number of the element at `indices` of `memory` in its buffer: from the
/// strides and the offset.
Value emitLinearIndex(OpBuilder &builder, Location loc, Value memory,
                      ValueRange indices);

/// The largest number that provably divides `value`, up to 4096: from
/// constants, products, sums, loop bounds and steps; of the column of a gather,
/// that of its groups' first elements.
int64_t getKnownDivisor(Value value);

/// The alignment in bytes, up to 16, that the first element of every row of a
/// tile at `indices` (one per dimension) of `memory` provably has. Rows run
/// along the last dimension. The base of a memref without a view is taken to
/// be 16-byte aligned: the runtime checks that of every buffer handed to a
/// kernel. 0 for packed elements that may begin in the middle of a byte.
int64_t getKnownTileAlignment(Value memory, ValueRange indices);

/// This thread's linear number in its workgroup, at `op` in a `gpu.launch` or
/// a `gpu.func`.
Value emitLinearThread(OpBuilder &builder, Operation *op);

/// How many threads the workgroup of `op` has.
Value emitNumThreads(OpBuilder &builder, Operation *op);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_UTILS_H
