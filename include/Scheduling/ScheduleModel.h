//===- ScheduleModel.h - The time that a schedule takes ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model of matmuls on chips whose rates were fitted to measurements
// (`ScheduleRates`, docs/Tuning.md). It describes what a schedule does by a few
// numbers, `ScheduleWork`, and estimates the time by these alone, so that the
// same numbers serve to fit the rates.
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_SCHEDULEMODEL_H
#define SCHEDULING_SCHEDULEMODEL_H

#include "Scheduling/Schedule.h"
#include "TargetInfo/ScheduleRates.h"

namespace mlir::tessera {

/// The facts of a matmul that its time depends on, besides the schedule.
struct ScheduledMatmul {
  /// M, N and K, and the number of matrices.
  std::array<double, 3> extents{1, 1, 1};
  double matrices = 1;
  /// The bytes of an element of lhs and rhs in memory, of the output, and of a
  /// sum.
  std::array<double, 2> operandBytes{1, 1};
  double outputBytes = 1, sumBytes = 1;
  /// The bytes of both operands and the output, each once.
  double bytes = 0;
  /// Whether rows of lhs and rhs do not start at whole lines.
  std::array<bool, 2> splitsLines{false, false};
  /// Before groups of subgroups can read the operands: the copies that are
  /// made, their bytes, read and written, and the elements that they transpose.
  double copies = 0, copiedBytes = 0, transposedElements = 0;
  std::array<bool, 2> isCopied{false, false};
  /// Whether K is not the dimension along which lhs and rhs are stored.
  std::array<bool, 2> isAcross{false, false};
  /// Whether no lane can load adjacent elements of lhs or rhs from workgroup
  /// memory at once.
  std::array<bool, 2> loadsSingles{false, false};
  /// The bytes that a lane copies to workgroup memory at once, of lhs and rhs,
  /// and stores of the output.
  std::array<double, 2> accessBytes{1, 1};
  double storeBytes = 1;
  /// Whether registers hold lhs and rhs on their way to workgroup memory.
  std::array<bool, 2> isHeld{false, false};
  /// Whether a copy engine can load lhs and rhs for groups of subgroups, maybe
  /// after they are copied.
  std::array<bool, 2> isBulk{false, false};
  /// Whether an operand is an image.
  bool isGathered = false;
  /// The ops of the epilogue, its operands, and the bytes of these that it
  /// reads for each element of the output.
  double epilogueOps = 0, extras = 0, extraBytes = 0;
  /// The ops of the producers of lhs and rhs, and their inputs besides the
  /// operand.
  std::array<double, 2> producerOps{0, 0}, producerInputs{0, 0};
  MatmulRate rate = MatmulRate::Half;

  /// Whether no operand is an image or has a producer, and the epilogue has no
  /// operands.
  bool isPlain() const {
    return !isGathered && extras == 0 && producerOps[0] == 0 &&
           producerOps[1] == 0;
  }

  ScheduledMatmul(ContractOp op, const Chip &chip);
};

/// The work of a schedule.
struct ScheduleWork {
  /// Instructions of groups of subgroups.
  bool isGroup = false;
  MatmulRate rate = MatmulRate::Half;
  /// Workgroups, or tiles if these are persistent; those that an SM has at a
  /// time; and SMs.
  double units = 1, resident = 1, processors = 1;
  /// The steps along K of a workgroup; and in each of them the multiply-adds,
  /// the bytes that subgroups read from workgroup memory, the bytes that are
  /// loaded into it, and the loads of single elements.
  double steps = 1, products = 0, shared = 0, loaded = 0, singles = 0;
  /// The bytes in `loaded` that belong to rows that do not start at whole
  /// lines.
  double splits = 0;
  /// The accesses of lanes in a step that copy operands to workgroup memory,
  /// and those whose data registers hold; and the accesses that store a tile.
  double accesses = 0, heldAccesses = 0, stores = 0;
  double threads = 1;
  /// The steps whose loads are in flight; and whether a step is loaded, and
  /// then used.
  double ahead = 1;
  bool isSerial = false;
  /// The bytes of its tile of the output, or of sums.
  double stored = 0;
  bool isPersistent = false, isClustered = false, isGathered = false;
  double parts = 1;
  bool addsInCluster = false;
  /// The bytes of the sums of one part, for all workgroups and for one.
  double sums = 0, sumsOfTile = 0;
  double bytes = 0;
  double copies = 0, copiedBytes = 0, transposedElements = 0;
  /// The bytes of a stage of both tiles, and the registers of a thread.
  double staged = 0, registers = 0;
};

ScheduleWork describeWork(const ScheduledMatmul &matmul,
                          const ScheduleFields &fields, const Chip &chip);

/// Changes `work` to that of `fields`, which differ from its schedule by the
/// number of stages alone.
void changeStages(ScheduleWork &work, const ScheduledMatmul &matmul,
                  const ScheduleFields &fields, const Chip &chip);

/// The limits of the steps of an SM.
enum class StepLimit {
  Products,
  Shared,
  Loads,
  Singles,
  Cache,
  Latency,
  Accesses,
  HeldAccesses
};
inline constexpr size_t numStepLimits = 8;

/// The estimated time in nanoseconds, and what takes most of it.
struct ScheduleEstimate {
  double time = 0;
  StringRef limit;
  /// The rounds of workgroups or tiles on an SM; and the times that each limit
  /// by itself allows for the steps, that all stores take, all of memory, and
  /// what adds up parts of K.
  double rounds = 1;
  std::array<double, numStepLimits> limits{};
  double stores = 0, memory = 0, sums = 0;
};

/// The time of `estimateTime` alone, for comparisons of many schedules.
double estimateNanoseconds(const ScheduleWork &work,
                           const ScheduleRates &rates);

/// The estimate by the rates alone.
ScheduleEstimate estimateTime(const ScheduleWork &work,
                              const ScheduleRates &rates);

} // namespace mlir::tessera

#endif // SCHEDULING_SCHEDULEMODEL_H
