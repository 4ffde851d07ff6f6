//===- CorrectionTree.h - Corrections of an estimate ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_CORRECTIONTREE_H
#define TARGETINFO_CORRECTIONTREE_H

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

} // namespace mlir::tessera

#endif // TARGETINFO_CORRECTIONTREE_H
