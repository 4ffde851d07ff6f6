//===- ScheduleCheck.h - Legality of schedules ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_SCHEDULECHECK_H
#define SCHEDULING_SCHEDULECHECK_H

#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "Scheduling/Schedule.h"

#include "llvm/ADT/MapVector.h"

#include <string>

namespace mlir::tessera {

/// A constraint of the chip that a schedule violates.
struct ScheduleProblem {
  /// The constraint's name in docs/Schedules.md: "schedule_c7".
  std::string label;
  /// The requirement of the schedule, and the limit of the chip.
  std::string message;
  /// The fields that the constraint depends on, the best one to change first.
  SmallVector<ScheduleField> fields;
  /// Whether a smaller value of one field fixes the problem: the nearest legal
  /// value is then the largest legal one.
  bool isLimit = false;
  SmallVector<std::string> notes;
};

/// The instructions of `chip` that `op` may use with groups of `group`
/// subgroups: those of its matrix unit if it has some for the types, and
/// otherwise those of scalar FMAs. Best first.
SmallVector<const MatrixInstruction *>
getPermittedInstructions(ContractOp op, const MatrixForm &form,
                         const Chip &chip, int64_t group);

/// Whether single subgroups compute `op` by instructions for dot products.
bool usesDotProducts(ContractOp op, const MatrixForm &form, const Chip &chip);

/// Whether `row` supports the storage order of an operand of `op` (0: lhs, 1:
/// rhs).
bool hasOrder(ContractOp op, const MatrixForm &form, unsigned side,
              const MatrixInstruction &row);

/// Whether rows of lhs (0) or rhs (1) of `op` are aligned to the chip's widest
/// access. Copies element by element take longer than the matmuls that use
/// them, and even longer into a swizzled tile.
bool hasAlignedRows(ContractOp op, unsigned side, const Chip &chip);
/// Whether rows of lhs (0), rhs (1) or the output (2) provably start at
/// multiples of `bytes` from the first one.
bool hasRowsOfMultiple(ContractOp op, unsigned side, int64_t bytes);
bool hasRowsOfMultiple(MemRefType type, int64_t bytes);

/// A lower bound of the 4-byte registers of a thread: the accumulators of its
/// subgroup's tile, and the operand fragments of one step along K.
struct RegisterEstimate {
  int64_t accumulators, operands;
  int64_t getTotal() const { return accumulators + operands; }
};
RegisterEstimate estimateRegisters(ContractOp op, ScheduleAttr schedule,
                                   const Chip &chip,
                                   const MatrixInstruction &row);

/// The facts of a contraction that constrain its schedules.
struct CheckedContraction {
  CheckedContraction(ContractOp op, const Chip &chip);

  ContractOp op;
  const Chip &chip;
  MatrixForm form;
  /// M, N and K, and the number of matrices.
  std::array<int64_t, 3> extents;
  int64_t matrices;
  /// See `getLargestStep`.
  int64_t largestStep;
  StagedLayout layout;
};

/// Checks several schedules of one contraction, and derives what depends on the
/// contraction alone once.
class ScheduleChecker {
public:
  ScheduleChecker(ContractOp op, const Chip &chip) : contraction(op, chip) {}
  /// See `getScheduleProblems`.
  SmallVector<ScheduleProblem> getProblems(ScheduleAttr schedule);
  bool isLegal(ScheduleAttr schedule) { return getProblems(schedule).empty(); }

private:
  CheckedContraction contraction;
  /// The permitted instructions, by their number of subgroups.
  llvm::SmallMapVector<int64_t, SmallVector<const MatrixInstruction *>, 4> rows;
};

/// The constraints that `op` violates on `chip` with `schedule`. Empty if there
/// are none.
SmallVector<ScheduleProblem>
getScheduleProblems(ContractOp op, ScheduleAttr schedule, const Chip &chip);

/// The legal schedule for `op` on `chip` that is nearest to `schedule`, found
/// by search: as few fields as possible are changed, each by the smallest
/// factor. At most four of the fields of `problems` are changed; if that does
/// not suffice, the default schedule is returned. Null if none is legal.
ScheduleAttr getNearestSchedule(ContractOp op, ScheduleAttr schedule,
                                const Chip &chip,
                                ArrayRef<ScheduleProblem> problems);

} // namespace mlir::tessera

#endif // SCHEDULING_SCHEDULECHECK_H
