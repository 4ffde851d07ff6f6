//===- LinearSum.h - Indices as sums of multiples ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_LINEARSUM_H
#define DIALECT_TESSERA_UTILS_LINEARSUM_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tessera {

/// A sum of multiples of values, and a constant.
struct LinearSum {
  llvm::SmallMapVector<Value, int64_t, 8> terms;
  int64_t constant = 0;

  /// Adds `value` times `factor`: the terms of the sums and of the multiples
  /// (`arith.addi`, and `arith.muli` by a constant) that `value` consists of.
  void add(Value value, int64_t factor);
};

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_LINEARSUM_H
