//===- ChipOf.h - The chip that a pass works for ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_CHIPOF_H
#define DIALECT_TESSERA_UTILS_CHIPOF_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The chip that a pass's options `target` and `chip` name; for `cpu`, an empty
/// chip is the host's. Otherwise emits an error at `op` that lists the known
/// chips.
FailureOr<const Chip *> getChip(Operation *op, llvm::StringRef target,
                                llvm::StringRef chip);

/// The common driver of passes for a chip: runs `run` with the chip on all ops
/// of type `Op` under `root` that `isWanted` selects; all of them are collected
/// first. The chip is not looked up if there are none. Fails at the end if
/// `run` failed for one.
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

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_CHIPOF_H
