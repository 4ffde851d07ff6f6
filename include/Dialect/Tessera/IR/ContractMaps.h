//===- ContractMaps.h - Indexing maps of tessera.contract -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_CONTRACTMAPS_H
#define DIALECT_TESSERA_IR_CONTRACTMAPS_H

#include "mlir/IR/AffineExpr.h"

namespace mlir::tessera {

/// Whether `expr` is a sum of dimensions with positive factors and a constant:
/// what a result of the maps of lhs and rhs may be (`contract_c1`).
bool isPositiveSum(AffineExpr expr);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_CONTRACTMAPS_H
