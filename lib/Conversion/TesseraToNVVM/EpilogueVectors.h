//===- EpilogueVectors.h - Early loads of epilogue vectors ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_EPILOGUEVECTORS_H
#define CONVERSION_TESSERATONVVM_EPILOGUEVECTORS_H

#include "Target/NVIDIA/BulkCopies.h"

namespace mlir::tessera {

/// Makes the lanes load vectors that the epilogue broadcasts from memory, such
/// as a bias, before the matmuls of its tile instead of after them, where each
/// load would stall: as far as a thread with `registers` registers has some
/// left besides its accumulators.
void loadVectorsEarly(gpu::GPUFuncOp kernel, const Chip &chip,
                      int64_t registers);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_EPILOGUEVECTORS_H
