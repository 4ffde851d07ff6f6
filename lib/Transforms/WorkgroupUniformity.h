//===- WorkgroupUniformity.h - Control flow of a workgroup ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_WORKGROUPUNIFORMITY_H
#define LIB_TRANSFORMS_WORKGROUPUNIFORMITY_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::tessera {

/// Which values all threads of a workgroup have alike, as far as the code
/// shows.
class WorkgroupUniformity {
public:
  /// `kernel` is a `gpu.launch` or a `gpu.func`.
  explicit WorkgroupUniformity(Operation *kernel) : kernel(kernel) {}

  /// Whether all threads of the workgroup reach `op` equally often.
  bool isReachedByAll(Operation *op);

private:
  bool isUniform(Value value);
  bool isUniformArgument(BlockArgument argument);
  /// Whether all threads take the same way into the regions of `op`.
  bool hasUniformControl(Operation *op);

  Operation *kernel;
  llvm::DenseSet<Value> visited;
};

} // namespace mlir::tessera

#endif // LIB_TRANSFORMS_WORKGROUPUNIFORMITY_H
