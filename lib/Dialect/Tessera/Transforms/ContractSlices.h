//===- ContractSlices.h - Parts of a contraction ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_CONTRACTSLICES_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_CONTRACTSLICES_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/Builders.h"

namespace mlir::tessera {

/// Clones `op`, on memrefs of static shapes and without producers, for `size`
/// values of iteration dimension `dim` from `at` on: its operands are views of
/// those of `op`. Each map that has `dim` has it alone in a result.
ContractOp cloneSlice(OpBuilder &builder, ContractOp op, unsigned dim,
                      int64_t at, int64_t size);

/// States for reports what part of the original contraction `part` computes,
/// after what is stated of it.
void describeSlice(ContractOp part, const Twine &what);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_CONTRACTSLICES_H
