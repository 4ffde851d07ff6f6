//===- Source.h - Where a tensor's elements come from -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_SOURCE_H
#define CONVERSION_LINALGTOTESSERA_SOURCE_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"
#include <optional>
#include <string>

namespace mlir::tessera {

/// A tensor read through a map, and how its elements are widened.
struct Source {
  Value value;
  AffineMap map;
  bool isUnsigned = false;
  /// The map may lead out of the tensor, where there are zeros.
  bool isPadded = false;
};

/// The source of `use`, where its producer only moves elements around
/// (transposes, broadcasts) or, if `mayWiden`, widens them. Integers are
/// widened one way only: `widened` tells of a cast that follows.
std::optional<Source> lookThroughProducer(const Source &use, bool mayWiden,
                                          bool widened);

/// The same, as far as it goes, without widening.
Source lookThroughMoves(Source use);

/// The source of `use`, where zeros were put around it (tensor.pad, or
/// tensor.insert_slice into zeros) for windows to read. Otherwise `why`, where
/// given, says what is in the way; it stays empty where nothing was put around
/// anything.
std::optional<Source> lookThroughPadding(const Source &use,
                                         std::string *why = nullptr);

/// Whether `value` goes into sums of products, and nowhere else.
bool feedsProductsOnly(Value value);

/// A slice of `operand` without the dimensions that `map` reads at a constant;
/// these leave `map`. Operand and map stay as they are where there is none, or
/// where the constant does not lie within.
Value sliceAtConstants(RewriterBase &rewriter, Location loc, Value operand,
                       AffineMap &map);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_SOURCE_H
