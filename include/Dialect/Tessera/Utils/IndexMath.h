//===- IndexMath.h - Arithmetic on indices ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_INDEXMATH_H
#define DIALECT_TESSERA_UTILS_INDEXMATH_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {

/// Creates index arithmetic at a builder's insertion point, folding constants.
/// Indices must not be negative: quotients and comparisons are unsigned.
class IndexMath {
public:
  IndexMath(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}
  explicit IndexMath(ImplicitLocOpBuilder &builder)
      : IndexMath(builder, builder.getLoc()) {}

  Value constant(int64_t value) const;
  Value add(Value a, Value b) const;
  Value add(Value a, int64_t b) const;
  Value sub(Value a, Value b) const;
  Value mul(Value a, Value b) const;
  Value mul(Value a, int64_t b) const;
  Value div(Value a, Value b) const;
  Value rem(Value a, Value b) const;
  Value min(Value a, Value b) const;
  Value max(Value a, Value b) const;
  /// ceil(a / b).
  Value ceilDiv(Value a, Value b) const;
  Value ceilDiv(Value a, int64_t b) const;

  /// Multiplies the `sizes` at `dims`.
  Value product(ArrayRef<Value> sizes, ArrayRef<unsigned> dims) const;
  /// Sets `index` at `dims`, the last of which runs fastest, from their linear
  /// index.
  void delinearize(Value linear, ArrayRef<Value> sizes, ArrayRef<unsigned> dims,
                   MutableArrayRef<Value> index) const;

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_INDEXMATH_H
