//===- ContractMaps.h - Indexing maps of tessera.contract -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_CONTRACTMAPS_H
#define DIALECT_TESSERA_IR_CONTRACTMAPS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::tessera {

/// Whether `expr` is a sum of dimensions with positive factors and a constant,
/// as the results of the maps of lhs and rhs must be (`contract_c1`).
bool isPositiveSum(AffineExpr expr);

/// The factors of `numDims` dimensions in such a sum, followed by its constant.
SmallVector<int64_t> getFactors(AffineExpr sum, unsigned numDims);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_CONTRACTMAPS_H
