//===- LinearSum.cpp - Indices as sums of multiples -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/LinearSum.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tessera;

void LinearSum::add(Value value, int64_t factor) {
  if (std::optional<int64_t> known = getConstantIntValue(value)) {
    constant += *known * factor;
    return;
  }
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    add(sum.getLhs(), factor);
    add(sum.getRhs(), factor);
    return;
  }
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> by = getConstantIntValue(product.getRhs())) {
      add(product.getLhs(), factor * *by);
      return;
    }
  terms[value] += factor;
}
