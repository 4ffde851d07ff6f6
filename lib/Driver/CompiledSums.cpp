//===- CompiledSums.cpp - Precision of compiled sums ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/CompiledSums.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

std::optional<reference::CompiledSum>
mlir::tessera::describeSum(llvm::StringRef product, llvm::StringRef location,
                           int unitBits, int64_t unitLength) {
  reference::CompiledSum sum;
  sum.bits = llvm::StringSwitch<int>(product.rsplit(' ').second)
                 .Case("f16", 11)
                 .Case("f32", 24)
                 .Case("f64", 53)
                 .Default(0);
  if (sum.bits == 0)
    return std::nullopt;
  sum.location = location.str();
  sum.unitBits = unitBits;
  sum.unitLength = unitLength;
  return sum;
}

std::vector<reference::CompiledSum>
mlir::tessera::describeSums(llvm::ArrayRef<ProductReport> products) {
  std::vector<reference::CompiledSum> sums;
  for (const ProductReport &product : products)
    if (auto sum = describeSum(product.product, product.location,
                               product.unitBits, product.unitLength))
      sums.push_back(*std::move(sum));
  return sums;
}
