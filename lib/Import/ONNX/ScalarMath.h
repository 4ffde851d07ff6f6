//===- ScalarMath.h - Arithmetic of the bodies of operators -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_ONNX_SCALARMATH_H
#define LIB_IMPORT_ONNX_SCALARMATH_H

#include "Lowering.h"

namespace mlir::tessera::onnx {

inline Value add(ScalarBuilder &b, Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}
inline Value sub(ScalarBuilder &b, Value x, Value y) {
  return arith::SubFOp::create(b, x, y);
}
inline Value mul(ScalarBuilder &b, Value x, Value y) {
  return arith::MulFOp::create(b, x, y);
}

/// An element of an index tensor as an index of a dimension; a negative one
/// counts from the end.
inline Value wrapIndex(ScalarBuilder &b, Value index, Value size) {
  Value position = arith::IndexCastOp::create(b, b.getIndexType(), index);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isNegative =
      arith::CmpIOp::create(b, arith::CmpIPredicate::slt, position, zero);
  return arith::SelectOp::create(
      b, isNegative, arith::AddIOp::create(b, position, size), position);
}

} // namespace mlir::tessera::onnx

#endif // LIB_IMPORT_ONNX_SCALARMATH_H
