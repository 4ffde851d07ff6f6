//===- ChipOf.h - The chip that a pass works for ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_CHIPOF_H
#define DIALECT_TESSERA_UTILS_CHIPOF_H

#include "Dialect/Tessera/IR/Tessera.h"
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

/// The same for passes that do without a chip: null if none is attached, or if
/// it is not known.
const Chip *findAttachedChip(Operation *op);

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

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_CHIPOF_H
