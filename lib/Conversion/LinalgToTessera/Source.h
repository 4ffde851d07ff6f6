//===- Source.h - Where a tensor's elements come from -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_SOURCE_H
#define CONVERSION_LINALGTOTESSERA_SOURCE_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::tessera {

/// A tensor read through a map, and how its elements are widened.
struct Source {
  Value value;
  AffineMap map;
  bool isUnsigned = false;
};

/// The source of `use`, where its producer only moves elements around
/// (transposes, broadcasts) or, if `mayWiden`, widens them. Integers are
/// widened one way only: `widened` tells of a cast that follows.
std::optional<Source> lookThroughProducer(const Source &use, bool mayWiden,
                                          bool widened);

/// The same, as far as it goes, without widening.
Source lookThroughMoves(Source use);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_SOURCE_H
