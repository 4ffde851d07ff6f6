//===- TensorMemory.h - Matmuls issued by one thread ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_TENSORMEMORY_H
#define CONVERSION_TESSERATONVVM_TENSORMEMORY_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::tessera {

/// Whether one thread of each group issues matmuls in `kernel`.
bool hasIssuers(gpu::GPUFuncOp kernel);

/// Has the completion of all that the one thread has issued so far arrive at
/// mbarrier `number`, also of the workgroups of the cluster that `mask` (i16)
/// has a bit for. By that thread.
void emitReleaseByCompletion(OpBuilder &builder, Location loc, Value barriers,
                             Value number, Value mask);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_TENSORMEMORY_H
