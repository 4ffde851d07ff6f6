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
  /// Whether the map may index outside of the tensor, where elements are zero.
  bool isPadded = false;
};

/// The source of `use`, if its producer only moves elements (transposes,
/// broadcasts) or, if `mayWiden`, extends them. Integers may be extended in one
/// way only: `widened` states the cast that follows. With `mayIndexZero`, the
/// map may be zero along dimensions of one element.
std::optional<Source> lookThroughProducer(const Source &use, bool mayWiden,
                                          bool widened,
                                          bool mayIndexZero = false);

/// The same without widening, repeated as often as possible.
Source lookThroughMoves(Source use);

/// The source of `use`, if zeros pad it (tensor.pad, or tensor.insert_slice
/// into zeros) for windows to read. Otherwise `why`, if given, receives the
/// reason; it stays empty if there is no padding.
std::optional<Source> lookThroughPadding(const Source &use,
                                         std::string *why = nullptr);

/// Whether all uses of `value` are sums of products.
bool feedsContractionsOnly(Value value);

/// A slice of `operand` without the dimensions for which `map` has a constant;
/// these are removed from `map`. Operand and map are unchanged if there are
/// none, or if the constant is out of bounds.
Value sliceAtConstants(RewriterBase &rewriter, Location loc, Value operand,
                       AffineMap &map);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_SOURCE_H
