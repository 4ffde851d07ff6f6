//===- AffineEval.h - The value of an affine map ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_AFFINEEVAL_H
#define LIB_REFERENCE_OPS_AFFINEEVAL_H

#include "mlir/IR/AffineMap.h"

namespace mlir::tessera::reference {

/// The value of an expression; none for a division by zero or less.
std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> dims,
                                ArrayRef<int64_t> symbols);

/// `expr` as a sum of dims times coefficients (added to `coefficients`, one per
/// dim) and a constant (added to `constant`). False when it is not one.
bool getLinear(AffineExpr expr, MutableArrayRef<int64_t> coefficients,
               int64_t &constant, int64_t factor = 1);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_AFFINEEVAL_H
