//===- ScheduleRates.h - Fitted rates of matmuls ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates of the model that compares all schedules of a matmul
// (Scheduling/ScheduleModel.h), in nanoseconds, bytes and multiply-adds. They
// are fitted to measurements: docs/Tuning.md.
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_SCHEDULERATES_H
#define TARGETINFO_SCHEDULERATES_H

#include "TargetInfo/CorrectionTree.h"

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstddef>

namespace mlir::tessera {

/// The types of operands that a matrix unit multiplies at rates of their own:
/// floats of 2 bytes, integers and floats of 1, tf32, and f64.
enum class MatmulRate { Half, Integer8, Float8, Tf32, Double };
inline constexpr size_t numMatmulRates = 5;

struct ScheduleRates {
  /// For single subgroups, and for instructions of groups of them.
  using Pair = std::array<double, 2>;
  /// A kernel's launch, and a kernel that adds up parts of K.
  double start = 0, startOfSums = 0;
  /// Multiply-adds of an SM, by type.
  std::array<Pair, numMatmulRates> products = {};
  /// The bytes that the subgroups of an SM read from workgroup memory, and
  /// those that the SM loads into it.
  Pair shared = {1, 1}, loaded = {1, 1};
  /// The bytes that all SMs load from the cache.
  double cache = 1;
  /// From a load to the use of its data; the time that each step takes anyway;
  /// and the beginning and end of a workgroup.
  Pair latency = {0, 0}, step = {0, 0}, tile = {0, 0};
  /// The bytes of the output that an SM stores, and the share of that time
  /// which the next tile of a persistent workgroup does not hide.
  Pair stored = {1, 1};
  double exposed = 1;
  /// The bytes of memory that all SMs transfer, and one by itself.
  double memory = 1, processorMemory = 1;
  /// The bytes of memory by the data sheet of the device to which the rates
  /// were fitted. Another device of the chip has them in the same proportion.
  double memoryOfSheet = 0;
  /// The bytes of sums that are written and read; those that a workgroup reads
  /// from others of its cluster, and the time for which it waits.
  double sums = 1, clusterSums = 1, clusterWait = 0;
  /// The factor of the time if workgroups share tiles.
  double sharing = 1;
  /// The start of a copy of an operand, its bytes, and elements that it
  /// transposes.
  double copyStart = 0, copied = 1, transposed = 1;
  /// The time of an SM for a load of single elements from workgroup memory, and
  /// for accesses of a lane: copies to workgroup memory, those by way of
  /// registers, and stores of the output.
  double single = 0, access = 0, heldAccess = 0, store = 0;
  /// The time of a lane for such a copy, an access by way of registers, and a
  /// store.
  double laneCopy = 0, laneAccess = 0, laneStore = 0;
  /// The factor of loads of images.
  double gathered = 1;
  /// The factor by which the rules' choice must be expected to take longer than
  /// the model's, by type, for the latter to be used. 0: the rules decide.
  std::array<double, numMatmulRates> margins = {};
  /// The longest time by the rules' choice to which the model was fitted.
  double longest = 0;
  /// The factor of loads of rows that do not start at whole lines.
  double splitLines = 1;
  /// Trees that were fitted to what the estimate by these rates leaves; none
  /// for the estimate as it is.
  CorrectionTrees corrections = {};
};

/// The rates for a device of the chip whose memory transfers other bytes,
/// in each nanosecond by its data sheet.
inline ScheduleRates scaleMemory(ScheduleRates rates, double memoryOfSheet) {
  if (rates.memoryOfSheet > 0)
    rates.memory *= memoryOfSheet / rates.memoryOfSheet;
  rates.memoryOfSheet = memoryOfSheet;
  return rates;
}

} // namespace mlir::tessera

#endif // TARGETINFO_SCHEDULERATES_H
