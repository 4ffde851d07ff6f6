//===- ScheduleCheck.h - What a chip can run of a schedule ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_SCHEDULECHECK_H
#define DIALECT_TESSERA_TRANSFORMS_SCHEDULECHECK_H

#include "Dialect/Tessera/Transforms/Schedule.h"

#include <array>
#include <string>

namespace mlir::tessera {

/// The numbers of a schedule, each of which a search can change by itself.
enum class ScheduleEntry {
  WorkgroupM,
  WorkgroupN,
  SubgroupM,
  SubgroupN,
  K,
  KFragment,
  Stages,
  VThreadM,
  VThreadN,
  Interleave,
  Swizzle,
  SplitK,
  SplitKReduction,
  Raster,
  Persistent,
  Group,
  StageOutput,
  ClusterM,
  ClusterN,
  Batches,
  SubgroupBatches,
  Last = SubgroupBatches
};

/// A schedule as an array of its numbers. It need not be a valid attribute.
class ScheduleNumbers {
public:
  static constexpr size_t size = size_t(ScheduleEntry::Last) + 1;

  explicit ScheduleNumbers(ScheduleAttr schedule);
  int64_t &operator[](ScheduleEntry entry) { return values[size_t(entry)]; }
  int64_t operator[](ScheduleEntry entry) const {
    return values[size_t(entry)];
  }

  /// Whether the attribute's own constraints hold (`schedule_c1` to `c6`).
  bool isValid() const;
  /// The attribute. Null where it would not be valid.
  ScheduleAttr getAttr(MLIRContext *context) const;
  /// What differs from `from`, as a schedule spells it: "subgroup = [32, 64],
  /// k = 32".
  std::string describeChange(const ScheduleNumbers &from) const;

private:
  std::array<int64_t, size> values;
};

/// A constraint of the chip that a schedule breaks.
struct ScheduleProblem {
  /// The constraint's name in docs/Schedules.md: "schedule_c7".
  std::string label;
  /// What the schedule needs, and what the chip has.
  std::string message;
  /// The entries that decide on it; the one to change first foremost.
  SmallVector<ScheduleEntry> entries;
  /// Whether a smaller value of one entry mends it: the nearest legal is then
  /// the largest.
  bool isLimit = false;
  SmallVector<std::string> notes;
};

/// The instructions of `chip` that products of `op` may use: of its matrix unit
/// where it has one for the types and groups of so many subgroups, of scalar
/// FMAs elsewhere. Best first.
SmallVector<const MatrixInstruction *>
getPermittedInstructions(ContractOp op, const MatrixForm &form,
                         const Chip &chip, int64_t group);

/// Whether `row` can read an operand of `op` (0: lhs, 1: rhs) in the order in
/// which it is stored.
bool hasOrder(ContractOp op, const MatrixForm &form, unsigned side,
              const MatrixInstruction &row);

/// Whether rows of lhs (0) or rhs (1) of `op` begin at multiples of the chip's
/// widest access. What is copied element by element takes longer than any
/// product of it, and longer yet where each element's place is permuted.
bool hasAlignedRows(ContractOp op, unsigned side, const Chip &chip);
/// Whether rows of lhs (0), rhs (1) or the output (2), for sure, begin at
/// multiples of so many bytes from the first one.
bool hasRowsOfMultiple(ContractOp op, unsigned side, int64_t bytes);
bool hasRowsOfMultiple(MemRefType type, int64_t bytes);

/// The registers of 4 bytes that a thread needs at least: the accumulators of
/// its subgroup's tile, and the operand fragments of one step along K.
struct RegisterEstimate {
  int64_t accumulators, operands;
  int64_t getTotal() const { return accumulators + operands; }
};
RegisterEstimate estimateRegisters(ContractOp op, ScheduleAttr schedule,
                                   const Chip &chip,
                                   const MatrixInstruction &row);

/// The constraints that keep `op` from running on `chip` with `schedule`. Empty
/// where there are none.
SmallVector<ScheduleProblem>
getScheduleProblems(ContractOp op, ScheduleAttr schedule, const Chip &chip);

/// The schedule nearest to `schedule` that `op` can run with on `chip`, by
/// search: with as few entries changed as can be, each by the smallest factor.
/// Of the entries of `problems` at most four are changed; where that does not
/// do, it is the default schedule. Null if none is legal.
ScheduleAttr getNearestSchedule(ContractOp op, ScheduleAttr schedule,
                                const Chip &chip,
                                ArrayRef<ScheduleProblem> problems);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_SCHEDULECHECK_H
