//===- IndexMath.cpp - Arithmetic on indices ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tessera;

Value IndexMath::constant(int64_t value) const {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value IndexMath::add(Value a, Value b) const {
  if (std::optional<int64_t> known = getConstantIntValue(b))
    return add(a, *known);
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}

Value IndexMath::add(Value a, int64_t b) const {
  if (b == 0)
    return a;
  if (std::optional<int64_t> known = getConstantIntValue(a))
    return constant(*known + b);
  return builder.createOrFold<arith::AddIOp>(loc, a, constant(b));
}

Value IndexMath::sub(Value a, Value b) const {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}

Value IndexMath::mul(Value a, Value b) const {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}

Value IndexMath::mul(Value a, int64_t b) const {
  if (b == 1)
    return a;
  if (std::optional<int64_t> known = getConstantIntValue(a))
    return constant(*known * b);
  return builder.createOrFold<arith::MulIOp>(loc, a, constant(b));
}

Value IndexMath::div(Value a, Value b) const {
  return builder.createOrFold<arith::DivUIOp>(loc, a, b);
}

Value IndexMath::rem(Value a, Value b) const {
  if (getConstantIntValue(b) == int64_t(1))
    return constant(0);
  return builder.createOrFold<arith::RemUIOp>(loc, a, b);
}

Value IndexMath::min(Value a, Value b) const {
  return builder.createOrFold<arith::MinUIOp>(loc, a, b);
}

Value IndexMath::max(Value a, Value b) const {
  return builder.createOrFold<arith::MaxUIOp>(loc, a, b);
}

Value IndexMath::ceilDiv(Value a, Value b) const {
  return div(add(a, sub(b, constant(1))), b);
}

Value IndexMath::ceilDiv(Value a, int64_t b) const {
  return b == 1 ? a : div(add(a, b - 1), constant(b));
}

Value IndexMath::product(ArrayRef<Value> sizes, ArrayRef<unsigned> dims) const {
  Value total = constant(1);
  for (unsigned d : dims)
    total = mul(total, sizes[d]);
  return total;
}

void IndexMath::delinearize(Value linear, ArrayRef<Value> sizes,
                            ArrayRef<unsigned> dims,
                            MutableArrayRef<Value> index) const {
  for (unsigned d : llvm::reverse(dims)) {
    if (getConstantIntValue(sizes[d]) == int64_t(1)) {
      index[d] = constant(0);
    } else if (d == dims.front()) {
      index[d] = linear;
    } else {
      index[d] = rem(linear, sizes[d]);
      linear = div(linear, sizes[d]);
    }
  }
}
