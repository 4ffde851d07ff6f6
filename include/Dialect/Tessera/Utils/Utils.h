//===- Utils.h - Helpers of several passes ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_UTILS_H
#define DIALECT_TESSERA_UTILS_UTILS_H

#include "TargetInfo/Chip.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tessera {

/// The chip of a target; an empty name selects the target's default, which is
/// the host's for `cpu`. Otherwise emits an error at `op` that lists the known
/// chips.
FailureOr<const Chip *> findChipOrError(Operation *op, llvm::StringRef target,
                                        llvm::StringRef name);

/// The chip that `op` is compiled for: that of the innermost attribute
/// `tessera.chip` of `op` and the ops around it. These are only read, so that
/// passes on nested ops may run in parallel. Emits an error at `op` if there is
/// none.
FailureOr<const Chip *> getChip(Operation *op);

/// The same for passes of one target: a chip of another one is an error.
FailureOr<const Chip *> getChip(Operation *op, llvm::StringRef target);

/// States that `module` is compiled for `chip`, and removes other chips from
/// the ops in it.
void attachChip(ModuleOp module, const Chip &chip);

/// The common driver of passes for a chip: runs `run` with the chip on all ops
/// of type `Op` under `root` that `isWanted` selects; all of them are collected
/// first. The chip is not looked up if there are none. Fails at the end if
/// `run` failed for one.
template <typename Op>
LogicalResult
forEachOnChip(Operation *root, llvm::function_ref<bool(Op)> isWanted,
              llvm::function_ref<LogicalResult(Op, const Chip &)> run) {
  SmallVector<Op> ops;
  root->walk([&](Op op) {
    if (isWanted(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  FailureOr<const Chip *> found = getChip(root);
  if (failed(found))
    return failure();
  bool good = true;
  for (Op op : ops)
    good &= succeeded(run(op, **found));
  return success(good);
}

/// The discardable attribute of a `tessera.mma` that holds the instruction
/// which legalization chose.
inline llvm::StringRef getInstructionAttrName() {
  return "tessera.instruction";
}

/// The discardable attribute of a `gpu.func` that holds the number of subgroups
/// that own a fragment together; absent for one.
inline llvm::StringRef getGroupAttrName() { return "tessera.group"; }

/// The discardable attribute of a `gpu.func` that holds the number of stages of
/// its schedule.
inline llvm::StringRef getStagesAttrName() { return "tessera.stages"; }

/// Whether `value` is a fragment that is loaded from swizzled workgroup memory,
/// which some instructions read directly.
bool isSwizzledTile(Value value);

/// The discardable attribute of a `tessera.mma` whose result is only used by a
/// `tessera.await`.
inline llvm::StringRef getOverlappedAttrName() { return "tessera.overlapped"; }

/// The discardable attribute of a `tessera.mma` in a loop that is waited for
/// after the matmul of the next iteration has been issued.
inline llvm::StringRef getInFlightAttrName() { return "tessera.in_flight"; }

/// The discardable attribute of a `gpu.func` that holds the number of
/// workgroups along z in a cluster; absent for one.
inline llvm::StringRef getClusterAttrName() { return "tessera.cluster"; }

/// The discardable attribute of a `gpu.func` whose workgroups share tiles of
/// operands: the numbers of workgroups along M and N, which are consecutive
/// along x, with M running fastest.
inline llvm::StringRef getSharersAttrName() { return "tessera.sharers"; }

/// The discardable attribute of a `tessera.copy` that holds the number of
/// threads of the workgroup, the first ones, that share it; absent for all.
inline llvm::StringRef getCopyThreadsAttrName() {
  return "tessera.copy_threads";
}

/// The alignment in workgroup memory of a pattern of eight swizzled rows of 128
/// bytes.
inline constexpr int64_t swizzlePatternBytes = 1024;

/// The attribute `tessera.group` of the `gpu.func` that `op` is or is part of;
/// 1 if absent.
int64_t getFragmentGroup(Operation *op);

/// The discardable attribute of a load or store that holds the result of
/// `getKnownTileAlignment`, set while it can still be determined.
inline llvm::StringRef getAlignmentAttrName() { return "tessera.alignment"; }

/// The discardable attribute of a copy whose source indices are provably the
/// same for all threads of the workgroup.
inline llvm::StringRef getUniformAttrName() { return "tessera.uniform"; }

/// The discardable attribute of a `tessera.mma` whose operands of i4 were
/// extended to i8, since no instruction supports them.
inline llvm::StringRef getWidenedAttrName() { return "tessera.widened"; }

/// The discardable attribute of a `gpu.launch` that computes a matmul without
/// fragments: a dictionary of `product`, its shape and types, and `why`. The
/// module has a dictionary of these by the kernels' names, `tessera.products`.
inline llvm::StringRef getProductAttrName() { return "tessera.product"; }

/// The discardable attribute of a linalg op that copies an operand of a matmul,
/// and of the `gpu.launch` made from it: a description of the copy. The module
/// has a dictionary of these by the kernels' names, `tessera.repacks`.
inline llvm::StringRef getRepackAttrName() { return "tessera.repack"; }

/// The discardable attribute of a `gpu.launch` that describes it, if it
/// implements more than one op of the source. It is also part of
/// `tessera.repacks`.
inline llvm::StringRef getPurposeAttrName() { return "tessera.purpose"; }

/// The size in bits of one element of `type` in memory: 4 for i4, and otherwise
/// a multiple of 8.
int64_t getElementBits(Type type);

/// Whether elements of `type` share bytes: i4, two of which are in a byte, the
/// first in the low bits.
bool isPacked(Type type);

/// The size in bytes of one element of `type` in memory; 1 for elements that
/// share a byte.
int64_t getElementBytes(Type type);

/// The index of the byte of a packed memory that holds the element at
/// `indices`. If rows start at whole bytes, only the last index is halved, and
/// sums of the other indices are preserved.
Value emitByteIndex(OpBuilder &builder, Location loc, Value memory,
                    ValueRange indices);

/// A view of `count` bytes of memory of packed elements, from byte `first`
/// (index) on.
Value emitByteView(OpBuilder &builder, Location loc, Value memory, Value first,
                   int64_t count);

/// The largest number of fragments along K into which a `tessera.mma` is
/// unrolled; more of them become a loop.
inline constexpr int64_t maxUnrolledFragments = 4;

/// The linear index of the element at `indices` of `memory` in its buffer: from
/// the strides and the offset.
Value emitLinearIndex(OpBuilder &builder, Location loc, Value memory,
                      ValueRange indices);

/// The largest number that provably divides `value`, up to 4096: from
/// constants, multiplications, sums, loop bounds and steps; for the column of a
/// gather, a divisor of the first elements of its groups.
int64_t getKnownDivisor(Value value);

/// The provable alignment in bytes, up to 16, of the first element of every row
/// of a tile at `indices` (one per dimension) of `memory`. Rows are along the
/// last dimension. The base of a memref that is not a view is assumed to be
/// 16-byte aligned: the runtime checks this for every buffer that is passed to
/// a kernel. 0 for packed elements that may start in the middle of a byte.
int64_t getKnownTileAlignment(Value memory, ValueRange indices);

/// The linear id of this thread in its workgroup, at `op` in a `gpu.launch` or
/// a `gpu.func`.
Value emitLinearThread(OpBuilder &builder, Operation *op);

/// The number of threads in the workgroup of `op`.
Value emitNumThreads(OpBuilder &builder, Operation *op);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_UTILS_H
