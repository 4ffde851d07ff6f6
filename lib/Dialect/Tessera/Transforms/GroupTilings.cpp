//===- GroupTilings.cpp - Tilings for groups of subgroups -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chip has a few tilings, each with a measured speed. The time that a
// contraction takes with one of them is estimated as
//
//   start + max(waves * (max(products of a tile / speed,
//                            its operands / what the cache gives)
//                        + its epilogue + steps that the tiling does not have),
//               bytes / what the busy processors read together)
//
// where a wave is a tile for each processor. Where the reduction is cut into
// parts, another kernel reads these and adds them up, or those who have them.
//
//===----------------------------------------------------------------------===//

#include "GroupTilings.h"

#include "Dialect/Tessera/Transforms/ScheduleCheck.h"
#include "Dialect/Tessera/Transforms/Utils.h"
#include "Dialect/Tessera/Transforms/Window.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// What an estimate looks at.
struct Problem {
  /// Of M, N, K, and the matrices of the batch.
  std::array<int64_t, 3> extents;
  int64_t batches;
  /// Of an operand's element, and the output's.
  int64_t operandBytes, outputBytes;
  /// How many times as long lhs, and rhs, take to load as whole lines do.
  std::array<double, 2> loadFactors;
};

class GroupTilings {
public:
  GroupTilings(ContractOp op, const Chip &chip, const MatrixForm &form,
               const std::array<int64_t, 3> &extents);
  ScheduleAttr choose();

private:
  /// The schedule of `tiling` with the reduction in so many parts, added up in
  /// that way; null where it does not fit.
  ScheduleAttr make(const ScheduleDefaults &tiling, int64_t parts,
                    SplitReduction kind);
  bool fits(const ScheduleDefaults &tiling);
  /// The step along K of `tiling`: that of the table, or the largest below it
  /// of whose tiles the bulk copy engine brings those that are gathered.
  int64_t getStep(const ScheduleDefaults &tiling);
  /// Whether all that is gathered with this step is.
  bool gathersInBulk(const ScheduleDefaults &tiling, int64_t k);
  double estimate(const ScheduleDefaults &tiling, ScheduleAttr schedule);
  /// Of the operands and the output in memory.
  double countBytes();
  /// Tiles along M and N, and of all matrices of the batch.
  std::array<int64_t, 3> countTiles(const ScheduleDefaults &tiling);
  int64_t chooseRaster(const ScheduleDefaults &tiling);

  ContractOp op;
  const Chip &chip;
  const MatrixForm &form;
  Problem problem;
};

} // namespace

GroupTilings::GroupTilings(ContractOp op, const Chip &chip,
                           const MatrixForm &form,
                           const std::array<int64_t, 3> &extents)
    : op(op), chip(chip), form(form) {
  // Of what is not known, assume that there is enough of it.
  constexpr int64_t large = 8192;
  auto known = [&](int64_t extent) {
    return ShapedType::isDynamic(extent) ? large : extent;
  };
  for (unsigned d : {0, 1, 2})
    problem.extents[d] = std::max<int64_t>(1, known(extents[d]));
  problem.batches = 1;
  for (unsigned d : form.batch) {
    int64_t extent = getStaticExtent(op, d);
    problem.batches *=
        ShapedType::isDynamic(extent) ? 1 : std::max<int64_t>(1, extent);
  }
  problem.operandBytes =
      std::max(getElementBytes(getElementTypeOrSelf(op.getLhs().getType())),
               getElementBytes(getElementTypeOrSelf(op.getRhs().getType())));
  problem.outputBytes =
      getElementBytes(getElementTypeOrSelf(op.getOutput().getType()));
  // Of an image, a copy takes channels of one place: less than a line, where
  // there are few.
  for (unsigned side : {0, 1}) {
    int64_t bytes = chip.rates.lineBytes;
    if (WindowAttr window = getWindow(op, form, side))
      bytes = std::gcd(bytes, window.getCols().back() * problem.operandBytes);
    problem.loadFactors[side] =
        hasRowsOfMultiple(op, side, bytes) ? 1 : chip.rates.splitLines;
  }
}

std::array<int64_t, 3>
GroupTilings::countTiles(const ScheduleDefaults &tiling) {
  auto count = [&](unsigned d) {
    return static_cast<int64_t>(
        llvm::divideCeil(problem.extents[d], tiling.workgroup[d]));
  };
  return {count(0), count(1), problem.batches};
}

bool GroupTilings::gathersInBulk(const ScheduleDefaults &tiling, int64_t k) {
  for (unsigned side : {0, 1}) {
    if (!form.gather[side])
      continue;
    auto image = cast<ShapedType>((side ? op.getRhs() : op.getLhs()).getType());
    WindowAttr window = getWindow(op, form, side);
    std::string why;
    if (!window ||
        !matchBulkWindow(window, image, {tiling.workgroup[side], k}, chip, why))
      return false;
  }
  return true;
}

int64_t GroupTilings::getStep(const ScheduleDefaults &tiling) {
  int64_t whole = tiling.kBytes / problem.operandBytes;
  for (int64_t k = whole; k * problem.operandBytes >= 32; k /= 2)
    if (gathersInBulk(tiling, k))
      return k;
  return whole;
}

bool GroupTilings::fits(const ScheduleDefaults &tiling) {
  int64_t k = getStep(tiling);
  const MatrixInstruction *row = selectInstruction(
      chip, op.getProductType(0), op.getProductType(1), op.getAccumulatorType(),
      op.getPrecision(), tiling.subgroup[0], tiling.subgroup[1], k,
      /*why=*/nullptr, tiling.group, /*aInMemory=*/true,
      op.getUnsignedA() || op.getUnsignedB());
  if (!row || row->sumsApart(op.getPrecision()) != tiling.sumsApart ||
      !hasOrder(op, form, 0, *row) || !hasOrder(op, form, 1, *row) ||
      !op.getProducer(0).empty() || !op.getProducer(1).empty())
    return false;
  // Few rows waste products, of which memory leaves time for enough; few
  // columns are for smaller instructions.
  int64_t columns = std::min<int64_t>(row->n, 64);
  return problem.extents[1] > columns / 2;
}

/// Tiles of a wave are taken in bands of so many rows of tiles that they read
/// the least: as many rows and columns of elements.
int64_t GroupTilings::chooseRaster(const ScheduleDefaults &tiling) {
  auto [m, n, batches] = countTiles(tiling);
  if (m * n <= chip.processors || chip.processors == 0)
    return 0;
  double square = std::sqrt(double(chip.processors) * tiling.workgroup[1] /
                            tiling.workgroup[0]);
  int64_t rows = llvm::PowerOf2Ceil(static_cast<uint64_t>(square * 0.7));
  return rows < m ? rows : 0;
}

ScheduleAttr GroupTilings::make(const ScheduleDefaults &tiling, int64_t parts,
                                SplitReduction kind) {
  int64_t k = getStep(tiling), whole = tiling.kBytes / problem.operandBytes;
  auto [m, n, batches] = countTiles(tiling);
  int64_t wave = chip.processors, units = m * n * batches * parts;
  // Where all threads copy, a workgroup's next tile does not begin early.
  bool persistent =
      chip.bulkCopies && wave > 0 && units > wave && gathersInBulk(tiling, k);
  // Elements of 4 bytes leave the registers in whole sectors of memory.
  bool stageOutput = parts == 1 && problem.outputBytes <= 2 &&
                     !isPacked(getElementTypeOrSelf(op.getOutput().getType()));
  int64_t raster = chooseRaster(tiling);
  // A workgroup that has one tile needs no more slots than steps.
  int64_t steps = llvm::divideCeil(problem.extents[2], k * parts),
          // As many bytes in flight, whatever the step.
      all = tiling.stages * whole / k,
          most = persistent ? all : std::min(all, std::max<int64_t>(steps, 1));
  // As many as workgroups have room for, with the barriers of the slots.
  int64_t room = chip.workgroupMemoryBytes - swizzlePatternBytes;
  // With fewer slots than three, products wait for copies.
  for (int64_t stages = most, least = std::min<int64_t>(most, 3);
       stages >= least; --stages) {
    auto schedule = ScheduleAttr::get(
        op.getContext(), tiling.workgroup, tiling.subgroup, k, k, stages,
        /*vthread=*/{1, 1}, /*interleave=*/0, /*swizzle=*/true, parts, kind,
        raster, persistent ? wave : 0, tiling.group, stageOutput,
        /*clusterM=*/1, /*clusterN=*/1, /*batches=*/1, /*subgroupBatches=*/1);
    StagedTiles tiles = getStagedTiles(op, form, schedule, chip);
    if (tiles.bytes + tiles.outputBytes <= room)
      return getScheduleProblems(op, schedule, chip).empty() ? schedule
                                                             : ScheduleAttr();
  }
  return {};
}

double GroupTilings::countBytes() {
  double bytes = 0, batches = double(problem.batches);
  std::array<double, 3> assumed{
      double(problem.extents[0]) * double(problem.extents[2]) * batches,
      double(problem.extents[2]) * double(problem.extents[1]) * batches,
      double(problem.extents[0]) * double(problem.extents[1]) * batches};
  for (unsigned operand : {0, 1, 2}) {
    auto type = cast<ShapedType>(op.getMappedOperands()[operand].getType());
    bytes += (type.hasStaticShape() ? double(type.getNumElements())
                                    : assumed[operand]) *
             double(operand == 2 ? problem.outputBytes : problem.operandBytes);
  }
  return bytes;
}

double GroupTilings::estimate(const ScheduleDefaults &tiling,
                              ScheduleAttr schedule) {
  const ChipRates &rates = chip.rates;
  double m = double(problem.extents[0]), n = double(problem.extents[1]),
         k = double(problem.extents[2]), batches = double(problem.batches),
         parts = double(schedule.getSplitK()),
         area = double(tiling.workgroup[0]) * double(tiling.workgroup[1]);
  auto [tilesM, tilesN, tilesZ] = countTiles(tiling);
  double processors = double(std::max<int64_t>(chip.processors, 1)),
         units = double(tilesM) * double(tilesN) * double(tilesZ) * parts,
         waves = std::ceil(units / processors),
         steps = std::ceil(k / parts / double(schedule.getK()));
  // Rates are those of operands of two bytes.
  double rate =
             rates.products * tiling.speed * 2.0 / double(problem.operandBytes),
         along = steps * double(schedule.getK()),
         whole = double(tiling.kBytes) / double(problem.operandBytes),
         busy = std::min(units, processors),
         loads = along * double(problem.operandBytes) *
                 (double(tiling.workgroup[0]) * problem.loadFactors[0] +
                  double(tiling.workgroup[1]) * problem.loadFactors[1]),
         ofTile = std::max(area * along / rate, loads * busy / rates.tiles) +
                  area * rates.epilogue +
                  rates.step * (steps - std::min(steps, along / whole));
  double bytes = countBytes(),
         memory = bytes / std::min(rates.memory, busy * rates.processorMemory);
  // What is hidden behind the other is not all hidden.
  double products = waves * ofTile, time = rates.start +
                                           std::max(products, memory) +
                                           0.02 * std::min(products, memory);
  if (schedule.addsInCluster())
    time += area * 4 / rates.clusterMemory;
  else if (parts > 1)
    time += rates.start * 0.6 + 2 * parts * batches * m * n * 4 / rates.memory;
  return time;
}

ScheduleAttr GroupTilings::choose() {
  ScheduleAttr best;
  double least = 0;
  for (const ScheduleDefaults &tiling : chip.groupDefaults) {
    if (!fits(tiling))
      continue;
    for (int64_t parts : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
      auto [m, n, batches] = countTiles(tiling);
      // Parts are for processors that have nothing else to do.
      if (parts > 1 && (op.reducesRows() || chip.processors == 0 ||
                        m * n * batches * parts > chip.processors))
        break;
      for (SplitReduction kind :
           {SplitReduction::Ordered, SplitReduction::Cluster}) {
        if (kind == SplitReduction::Cluster && parts != chip.rates.clusterParts)
          continue;
        ScheduleAttr schedule = make(tiling, parts, kind);
        if (!schedule)
          continue;
        double time = estimate(tiling, schedule);
        if (!best || time < least) {
          best = schedule;
          least = time;
        }
      }
    }
  }
  return best;
}

ScheduleAttr
mlir::tessera::chooseGroupSchedule(ContractOp op, const Chip &chip,
                                   const MatrixForm &form,
                                   const std::array<int64_t, 3> &extents) {
  for (unsigned side : {0, 1})
    if (!hasAlignedRows(op, side, chip))
      return {};
  return GroupTilings(op, chip, form, extents).choose();
}
