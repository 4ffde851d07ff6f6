//===- GroupOrder.h - Groups that issue matmuls in turn ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Groups that alternate between matmuls and element-wise work (attention) would
// do both at the same time, since the same copies start them: the matrix unit
// is shared first, and idle then. So they issue their matmuls in turn:
//
//   group 0:  matmuls | softmax | matmuls | softmax
//   group 1:            matmuls | softmax | matmuls | softmax
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_GROUPORDER_H
#define CONVERSION_TESSERATONVVM_GROUPORDER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {
struct Chip;

/// Orders the matmuls of the groups in `consumers`, the part of `kernel` of the
/// first `threads` threads, where two matmuls in flight have element-wise work
/// beside them. Uses the hardware's barriers from `firstBarrier` on, one for
/// each group.
void orderGroups(gpu::GPUFuncOp kernel, Region &consumers, int32_t threads,
                 int32_t firstBarrier, const Chip &chip);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_GROUPORDER_H
