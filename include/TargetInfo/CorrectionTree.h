//===- CorrectionTree.h - Corrections of an estimate ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_CORRECTIONTREE_H
#define TARGETINFO_CORRECTIONTREE_H

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace mlir::tessera {

/// A decision tree over the features of a schedule
/// (Scheduling/ScheduleCorrection.h) all of whose nodes of a level ask the same
/// question: whether a feature is greater than a threshold. The sum of the
/// leaves of several trees corrects an estimated time.
struct CorrectionTree {
  static constexpr size_t depth = 4;
  std::array<uint8_t, depth> features;
  std::array<float, depth> thresholds;
  /// Ten-thousandths of the natural logarithm of the time. The answer to the
  /// first question is the most significant bit of the index.
  std::array<int16_t, size_t(1) << depth> leaves;
};

/// The trees of a chip, by the contractions whose estimates they correct. All
/// fits have as many trees.
struct CorrectionTrees {
  /// Plain matmuls (`ScheduledMatmul::isPlain`).
  llvm::ArrayRef<CorrectionTree> plain = {};
  /// More trees for these, of whole fits with other random numbers: the mean of
  /// all fits corrects an estimate. A ranking compares many schedules by the
  /// first fit, and the fastest of them by all.
  llvm::ArrayRef<CorrectionTree> refinements = {};
  /// Other contractions of integers of 8 bits, and all others.
  llvm::ArrayRef<CorrectionTree> integers = {}, others = {};
};

} // namespace mlir::tessera

#endif // TARGETINFO_CORRECTIONTREE_H
