//===- WeightsSchedule.cpp - Schedules of narrow weights ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul of a few rows by weights of 8 or 4 bits takes as long as the weights
// take to read, if enough of them are on their way: a step of K is a whole line
// of weights of each column, however short the groups are that share a scale,
// and parts of K give each SM several workgroups. The rows are padded to those
// of the instruction, which has time for them.
//
//===----------------------------------------------------------------------===//

#include "Scheduling/WeightsSchedule.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-choose-schedule"

using namespace mlir;
using namespace mlir::tessera;

/// The most rows of lhs. More of them are limited by the matrix unit.
static constexpr int64_t mostRows = 128;
/// The fewest rows and columns of an instruction.
static constexpr int64_t leastRows = 16, leastColumns = 8;
/// The bytes of a column in a step: a line of memory.
static constexpr int64_t lineBytes = 128;
/// The bytes of a step of both operands at most.
static constexpr int64_t mostStepBytes = 24 * 1024;

namespace {
/// The facts that decide the schedule.
struct WeightsProblem {
  /// Which operand has the weights: lhs (0) or rhs (1).
  unsigned side;
  /// The rows of the other operand, and of the weights.
  int64_t m, n, k;
  /// Bits of a weight.
  int64_t bits;
  /// The elements of K that share a scale; 0: all.
  int64_t group;
  int64_t operandBytes;
};
} // namespace

/// Whether operand `side` of `op` has elements of at most 8 bits that its
/// producer widens.
static bool hasNarrowWeights(ContractOp op, unsigned side, const Chip &chip) {
  Type stored = getElementTypeOrSelf(side ? op.getRhs() : op.getLhs()),
       factor = op.getFactorType(side);
  if (op.getProducer(side).empty() || !op.getProducer(1 - side).empty() ||
      getElementBits(stored) > 8 || !isa<FloatType>(factor) ||
      getElementBits(stored) >= getElementBits(factor))
    return false;
  // A chip that multiplies 8-bit floats also converts them.
  return !isa<FloatType>(stored) ||
         hasMatrixMultiply(chip, stored, stored,
                           Float32Type::get(op.getContext()));
}

static std::optional<WeightsProblem>
matchWeights(ContractOp op, const MatrixForm &form, const Chip &chip) {
  unsigned side = hasNarrowWeights(op, 1, chip) ? 1 : 0;
  if (!chip.asyncCopy || !chip.hasLanes() || chip.processors == 0 ||
      !hasNarrowWeights(op, side, chip) || form.gather[0] || form.gather[1] ||
      !form.batch.empty() || op.reducesRows() ||
      !isStoredTransposed(op, form, 1) || isStoredTransposed(op, form, 0) ||
      !hasAlignedRows(op, 0, chip) || !hasAlignedRows(op, 1, chip))
    return std::nullopt;
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  if (llvm::any_of(extents,
                   [](int64_t extent) {
                     return ShapedType::isDynamic(extent) || extent == 0;
                   }) ||
      extents[1 - side] > mostRows)
    return std::nullopt;
  return WeightsProblem{
      side,
      extents[1 - side],
      extents[side],
      extents[2],
      getElementBits(getElementTypeOrSelf(side ? op.getRhs() : op.getLhs())),
      getLargestStep(op, form),
      getElementBytes(op.getFactorType(side))};
}

/// The subgroups of an SM that hide each other's latencies.
static constexpr int64_t subgroupsOfProcessor = 8;

/// The parts of K by an estimate, in bytes of memory that take as long: rows of
/// lhs beyond the first take time as well, SMs without a workgroup are idle,
/// and the sums of parts are written and read, by a kernel that has to start.
/// Fitted on an H200 to 4096x4096, 14336x4096 and 4096x14336.
static int64_t choosePartsOfWeights(const WeightsProblem &problem,
                                    const ScheduleFields &fields,
                                    const Chip &chip) {
  constexpr double rowsAsMemory = 64, bytesOfSum = 2 * 4, bytesOfStart = 8e6;
  // Weights of 4 bits take longer to widen than to read.
  constexpr int64_t leastBits = 6;
  // Steps that the first loads of a workgroup take.
  constexpr int64_t stepsToFill = 3;
  int64_t rows = fields.workgroup[1 - problem.side],
          columns = fields.workgroup[problem.side],
          tiles = llvm::divideCeil(problem.m, rows) *
                  llvm::divideCeil(problem.n, columns),
          subgroups = fields.workgroup[0] / fields.subgroup[0] *
                      (fields.workgroup[1] / fields.subgroup[1]),
          steps = problem.k / fields.k,
          resident = std::max<int64_t>(1, subgroupsOfProcessor / subgroups) *
                     chip.processors;
  double work = double(problem.n) * double(problem.k) *
                double(std::max(problem.bits, leastBits)) / 8 *
                (1 + double(rows) / rowsAsMemory),
         sums = double(problem.m) * double(problem.n) * bytesOfSum;
  int64_t best = 1;
  double least = 0;
  for (int64_t parts = 1; parts == 1 || 2 * parts <= steps; ++parts) {
    auto waves = static_cast<double>(llvm::divideCeil(tiles * parts, resident)),
         longest =
             static_cast<double>(llvm::divideCeil(steps, parts) + stepsToFill);
    double cost = work * waves * double(resident) / double(tiles) * longest /
                  double(steps);
    if (parts > 1)
      cost += bytesOfStart + sums * double(parts);
    if (parts == 1 || cost < least) {
      best = parts;
      least = cost;
    }
  }
  return best;
}

/// The time in ns that a schedule by groups takes, of narrow weights and `m`
/// rows. A group of subgroups widens and multiplies 64 weights of a step at a
/// time, in turn with the others of its SM: one group alone waits for its
/// matmuls. The SM with the most work determines the time. Measured on an H200
/// (docs/benchmarks/h200-weights.md).
static double estimateGrouped(const WeightsProblem &problem,
                              const ScheduleFields &fields, int64_t resident,
                              const Chip &chip) {
  // Elements of K in ns of 64 weights by all columns, for so many groups in an
  // SM.
  constexpr std::array<double, 4> rates{0.155, 0.215, 0.22, 0.245};
  constexpr double start = 2000, fill = 700, startOfSums = 2000, sums = 8000,
                   bytesOfSum = 2 * 4;
  int64_t groups = fields.workgroup[0] / fields.subgroup[0],
          units =
              llvm::divideCeil(problem.n, fields.workgroup[0]) * fields.splitK,
          steps = llvm::divideCeil(problem.k / fields.k, fields.splitK);
  int64_t ofProcessor = llvm::divideCeil(units, chip.processors),
          together = std::min(resident, ofProcessor);
  double rate = rates[std::min<size_t>(rates.size(), groups * together) - 1],
         work = double(ofProcessor * groups * steps * fields.k) / rate,
         time = start + work +
                fill * double(llvm::divideCeil(ofProcessor, together));
  if (fields.splitK > 1)
    time += startOfSums +
            double(problem.m * problem.n * fields.splitK) * bytesOfSum / sums;
  return time;
}

/// The number of workgroups that an SM has room for: one with several groups
/// takes all registers, since a further group copies.
static int64_t countResident(const ScheduleFields &fields,
                             const ScheduleAttr &schedule, ContractOp op,
                             const MatrixForm &form, const Chip &chip) {
  if (fields.workgroup[0] > fields.subgroup[0])
    return 1;
  constexpr int64_t most = 2;
  int64_t bytes = getStagedTiles(op, form, schedule, chip).bytes +
                  chip.unit.systemBytes + swizzlePatternBytes;
  return std::clamp<int64_t>(chip.unit.memoryBytes / bytes, 1, most);
}

/// The schedule by instructions of several subgroups, which read weights as lhs
/// from registers. They pay for more rows than one instruction of a subgroup
/// has columns for: with fewer, the weights' bytes are all of the time.
static ScheduleAttr getGroupedSchedule(ContractOp op, const MatrixForm &form,
                                       const WeightsProblem &problem,
                                       const Chip &chip) {
  constexpr int64_t rowsOfOthers = 64, instructionRows = 64, mostGroups = 4,
                    columnStep = 32, leastStep = 16, longestFragment = 64,
                    mostStages = 5, leastSteps = 4, mostParts = 8;
  int64_t group = chip.policy.groupDefaults.empty()
                      ? 1
                      : chip.policy.groupDefaults.front().group;
  if (!chip.bulkCopies || group < 2 || problem.side != 0 ||
      problem.m <= rowsOfOthers)
    return {};
  ScheduleFields fields;
  auto columns = static_cast<int64_t>(llvm::alignTo(problem.m, columnStep));
  fields.subgroup = {instructionRows, columns};
  fields.subgroupsPerFragment = group;
  fields.swizzle = true;
  ScheduleAttr best;
  double least = 0;
  auto compare = [&] {
    int64_t steps = problem.k / fields.k;
    for (fields.splitK = 1;
         fields.splitK <= mostParts &&
         (fields.splitK == 1 || fields.splitK * leastSteps <= steps);
         ++fields.splitK)
      for (fields.stages = std::min(
               mostStages,
               static_cast<int64_t>(llvm::divideCeil(steps, fields.splitK)));
           fields.stages > 2; --fields.stages) {
        auto schedule = ScheduleAttr::get(op.getContext(), fields);
        SmallVector<ScheduleProblem> problems =
            getScheduleProblems(op, schedule, chip);
        if (!problems.empty()) {
          LDBG() << op.getLoc()
                 << ": weights by groups: " << problems.front().message;
          continue;
        }
        double time = estimateGrouped(
            problem, fields, countResident(fields, schedule, op, form, chip),
            chip);
        if (!best || time < least) {
          best = schedule;
          least = time;
        }
        break;
      }
  };
  for (int64_t groups = 1; groups <= mostGroups; ++groups) {
    fields.workgroup = {groups * instructionRows, columns};
    // A line of weights of 8 bits, if K and the scales permit it. An SM has two
    // workgroups of one group, with half of the memory each.
    for (fields.k = groups == 1 ? lineBytes / 2 : lineBytes;
         problem.k % fields.k || (problem.group && problem.group % fields.k &&
                                  fields.k % problem.group);
         fields.k /= 2)
      if (fields.k == leastStep)
        return best;
    // Longer fragments leave fewer registers for the weights that are widened.
    fields.kFragment = std::min(fields.k, longestFragment);
    while (problem.group % fields.kFragment)
      fields.kFragment /= 2;
    if (selectInstruction(chip, op.getFactorType(0), op.getFactorType(1),
                          op.getAccumulatorType(), op.getPrecision(),
                          instructionRows, columns, fields.kFragment,
                          /*why=*/nullptr, group, /*aInMemory=*/false))
      compare();
  }
  return best;
}

ScheduleAttr mlir::tessera::getWeightsSchedule(ContractOp op,
                                               const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  std::optional<WeightsProblem> problem = matchWeights(op, form, chip);
  if (!problem)
    return {};
  if (ScheduleAttr grouped = getGroupedSchedule(op, form, *problem, chip))
    return grouped;
  unsigned few = 1 - problem->side, many = problem->side;
  int64_t rows = std::max<int64_t>(
      problem->side ? leastRows : leastColumns,
      static_cast<int64_t>(llvm::bit_ceil(static_cast<uint64_t>(problem->m))));
  ScheduleFields fields;
  // Subgroups with the same columns would widen the same weights.
  fields.workgroup[few] = rows;
  fields.subgroup[few] = std::min<int64_t>(rows, 64);
  fields.workgroup[many] = 64;
  fields.subgroup[many] = 16;
  if (problem->side == 0 && rows > leastRows) {
    // The more weights a subgroup has, the fewer loads of the other operand.
    fields.subgroup[many] = 32;
    fields.workgroup[many] = rows > 64 ? 64 : 128;
  } else if (rows > 64) {
    fields.subgroup[many] = 32;
  } else if (rows <= leastRows && problem->bits < 8 &&
             problem->n < fields.workgroup[many] * chip.processors) {
    // Where K is divided anyway, more subgroups share the rows.
    fields.workgroup[many] = 128;
  }
  fields.kFragment = 64;
  while (problem->group % fields.kFragment || problem->k % fields.kFragment) {
    fields.kFragment /= 2;
    if (fields.kFragment < 16)
      return {};
  }
  const MatrixInstruction *row = selectInstruction(
      chip, op.getFactorType(0), op.getFactorType(1), op.getAccumulatorType(),
      op.getPrecision(), fields.subgroup[0], fields.subgroup[1],
      fields.kFragment);
  if (!row || !row->matrixUnit ||
      !findRepetition(chip, *row, problem->bits, fields.kFragment))
    return {};

  auto getStepBytes = [&] {
    return fields.k * (rows * problem->operandBytes +
                       fields.workgroup[many] * problem->bits / 8);
  };
  // With weights as lhs, a line of bytes is used up before the next one comes.
  bool isLong = rows == leastColumns && problem->bits == 8;
  fields.k = 8 * lineBytes / problem->bits * (isLong ? 2 : 1);
  while (fields.k > fields.kFragment &&
         (problem->k % fields.k || getStepBytes() > mostStepBytes ||
          (problem->group && problem->group % fields.k &&
           fields.k % problem->group)))
    fields.k /= 2;
  fields.splitK = choosePartsOfWeights(*problem, fields, chip);
  int64_t steps = llvm::divideCeil(problem->k / fields.k, fields.splitK);
  fields.stages = std::clamp<int64_t>(steps, 1, isLong ? 3 : 4);
  for (bool swizzle : {true, false}) {
    fields.swizzle = swizzle && chip.policy.preferSwizzle;
    auto schedule = ScheduleAttr::get(op.getContext(), fields);
    SmallVector<ScheduleProblem> problems =
        getScheduleProblems(op, schedule, chip);
    if (problems.empty())
      return schedule;
    LDBG() << op.getLoc() << ": weights: " << problems.front().message;
  }
  return {};
}
