//===- ScheduleCorrection.h - Corrected times of schedules ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rates describe a chip as far as a formula does. Trees over features of the
// matmul and the schedule correct the estimate by what else was measured
// (`ScheduleRates::corrections`, docs/Tuning.md).
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_SCHEDULECORRECTION_H
#define SCHEDULING_SCHEDULECORRECTION_H

#include "Scheduling/ScheduleModel.h"

#include <vector>

namespace mlir::tessera {

/// A number by which trees distinguish schedules. Sizes are logarithms to base
/// 2, and times are those of the estimate as shares of the whole, also
/// logarithms.
struct ScheduleFeature {
  StringRef name;
  double value = 0;
};
inline constexpr size_t numScheduleFeatures = 85;
using ScheduleFeatures = std::array<ScheduleFeature, numScheduleFeatures>;

ScheduleFeatures describeFeatures(const ScheduledMatmul &matmul,
                                  const ScheduleFields &fields,
                                  const ScheduleWork &work,
                                  const ScheduleEstimate &estimate,
                                  const Chip &chip);

/// The trees that correct the estimates of `matmul`.
ArrayRef<CorrectionTree> getCorrections(const ScheduledMatmul &matmul,
                                        const ScheduleRates &rates);

/// The trees of other fits whose mean with the former corrects the estimates of
/// `matmul`; none if there is one fit.
ArrayRef<CorrectionTree> getRefinements(const ScheduledMatmul &matmul,
                                        const ScheduleRates &rates);

/// The estimate by the chip's rates, corrected by its trees. The chip has rates
/// of schedules.
ScheduleEstimate estimateSchedule(const ScheduledMatmul &matmul,
                                  const ScheduleFields &fields,
                                  const Chip &chip);

/// The times of several schedules, equal to those of `estimateSchedule`. The
/// trees' thresholds are compared with the features of many schedules at once,
/// which takes a tenth of the time. Those that are not refined are corrected by
/// the first fit alone.
void estimateSchedules(const ScheduledMatmul &matmul,
                       ArrayRef<ScheduleFields> schedules, const Chip &chip,
                       MutableArrayRef<double> times, bool isRefined = true);

} // namespace mlir::tessera

#endif // SCHEDULING_SCHEDULECORRECTION_H
