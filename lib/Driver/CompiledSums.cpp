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
mlir::tessera::describeSum(llvm::StringRef matmul, llvm::StringRef location,
                           int unitBits, int64_t unitLength) {
  reference::CompiledSum sum;
  sum.bits = llvm::StringSwitch<int>(matmul.rsplit(' ').second)
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
mlir::tessera::describeSums(llvm::ArrayRef<MatmulReport> matmuls) {
  std::vector<reference::CompiledSum> sums;
  for (const MatmulReport &matmul : matmuls)
    if (auto sum = describeSum(matmul.types, matmul.location, matmul.unitBits,
                               matmul.unitLength))
      sums.push_back(*std::move(sum));
  return sums;
}
