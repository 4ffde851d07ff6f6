//===- ReductionLoops.h - Reductions whose steps have no order --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_KERNELS_REDUCTIONLOOPS_H
#define LIB_REFERENCE_KERNELS_REDUCTIONLOOPS_H

#include "../PreparedCode.h"

namespace mlir::tessera::reference {

/// An output of a structured op that is `old + term` or `old * term`, of
/// floating-point numbers.
struct Fold {
  /// In the body's frame.
  Slot term;
  bool isProduct = false;
  const Format *format = nullptr;
};

/// Recognizes what a body yields at `output`. `scope` has its values.
std::optional<Fold> matchFold(Block &block, unsigned output, BlockArgument old,
                              Scope &scope);

/// A bound on the error of an element of a reduction, for any order of its
/// steps. The reference takes them one after the other, and by itself would
/// charge for the roundings of that order only: it has none where a device that
/// adds 2^24 to a sum earlier loses the ones that it adds later.
class FoldBound {
public:
  FoldBound() = default;
  FoldBound(const Fold &fold, const Number &initial);

  /// A step made `result` of what was there and `term`.
  void step(const Number &term, const Number &result);

  /// The error of the last result.
  double finish(const Number &result) const;

private:
  void noteLastBit(double value);
  /// All terms are multiples of a power of two, and their absolute values add
  /// up to so little that no sum of some of them needs more bits than there
  /// are.
  bool isExact() const;

  const Format *format = nullptr;
  bool isProduct = false;
  int64_t steps = 0;
  /// For sums: the sum of the absolute values, the largest partial sum, the
  /// errors of the terms, and the exponent of the last bit that any of them
  /// has.
  double magnitude = 0, peak = 0, inherited = 0;
  int lastBit = std::numeric_limits<int>::max();
  /// For multiplications: the number of steps whose result had to be rounded.
  int64_t rounded = 0;
};

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_KERNELS_REDUCTIONLOOPS_H
