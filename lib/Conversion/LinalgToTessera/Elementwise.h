//===- Elementwise.h - Element-wise linalg ops ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_ELEMENTWISE_H
#define CONVERSION_LINALGTOTESSERA_ELEMENTWISE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tessera {

/// Whether `op` is permitted in a region of `tessera.contract`: scalar
/// arithmetic.
bool isScalarArithmetic(Operation &op);

/// Whether `op` is an element-wise op on tensors with one result that is
/// indexed by a permutation, so that it can become part of a region of
/// `tessera.contract`.
bool isElementwise(linalg::LinalgOp op);

/// Whether the body of `op` costs little more than a load, so that it may run
/// more than once for an element.
bool isCheap(linalg::LinalgOp op);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_ELEMENTWISE_H
