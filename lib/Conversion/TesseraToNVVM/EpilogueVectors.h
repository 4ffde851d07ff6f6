//===- EpilogueVectors.h - Vectors that come before products ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_EPILOGUEVECTORS_H
#define CONVERSION_TESSERATONVVM_EPILOGUEVECTORS_H

#include "Dialect/Tessera/Transforms/BulkCopies.h"

namespace mlir::tessera {

/// Has the lanes load what the epilogue broadcasts from memory, such as a bias,
/// before the products of its tile rather than behind them, where each would
/// wait for it: as far as a thread with so many `registers` has some left
/// beside its accumulators.
void loadVectorsEarly(gpu::GPUFuncOp kernel, const Chip &chip,
                      int64_t registers);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_EPILOGUEVECTORS_H
