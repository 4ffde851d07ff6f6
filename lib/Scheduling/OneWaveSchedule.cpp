//===- OneWaveSchedule.cpp - Tiles that SMs have one of each --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul with few tiles takes as long as an SM needs to load the rows and the
// columns of its tiles. The tilings of a chip have powers of two, of which as
// many as there are SMs seldom cover the matrix: 9248x192 are 111 tiles of
// 256x64, for 132 SMs, and 129 tiles of 72x192.
//
// The columns of an instruction are any multiple of columnStep, if K is along
// the rows of rhs. If it is so of lhs only, the operands are exchanged before
// (OrientWeights.cpp).
//
//===----------------------------------------------------------------------===//

#include "Scheduling/OneWaveSchedule.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-choose-schedule"

using namespace mlir;
using namespace mlir::tessera;

/// The rows of an instruction, the step of its columns, and the most columns.
static constexpr int64_t rowsOfGroup = 64, columnStep = 8,
                         mostWaveColumns = 256;
/// The bytes of an element for which this was measured.
static constexpr int64_t waveElementBytes = 2;

namespace {
/// The matmul, as far as its loads depend on it.
struct WaveLoads {
  int64_t m, n, k, matrices, processors;

  /// The rows and columns that the busiest SM loads for the whole of K.
  double count(std::array<int64_t, 2> tile, int64_t parts) const {
    int64_t units = llvm::divideCeil(m, tile[0]) *
                    llvm::divideCeil(n, tile[1]) * matrices * parts,
            rounds = llvm::divideCeil(units, processors);
    return double(rounds) *
           double(std::min(tile[0], m) + std::min(tile[1], n)) / double(parts);
  }
};
} // namespace

/// The fewest columns for which no SM has more than one tile; 0 if they exceed
/// the most.
static int64_t chooseWaveColumns(const WaveLoads &loads, int64_t rows) {
  int64_t tiles = llvm::divideCeil(loads.m, rows) * loads.matrices,
          most = loads.processors / tiles;
  if (most == 0)
    return 0;
  int64_t columns = llvm::alignTo(llvm::divideCeil(loads.n, most), columnStep);
  return columns <= mostWaveColumns ? columns : 0;
}

/// The schedule with tiles of so many rows and columns, and as many stages as
/// there is room for; null if it is not legal.
static ScheduleAttr makeOneWave(ContractOp op, const MatrixForm &form,
                                const Chip &chip, int64_t rows, int64_t columns,
                                const WaveLoads &loads) {
  constexpr int64_t line = 128, mostStages = 8, leastStages = 4;
  ScheduleFields fields;
  fields.workgroup = {rows, columns};
  fields.subgroup = {rowsOfGroup, columns};
  fields.k = fields.kFragment = line / waveElementBytes;
  fields.swizzle = true;
  fields.subgroupsPerFragment = chip.policy.groupDefaults.front().group;
  fields.stageOutput = true;
  int64_t room = chip.workgroupMemoryBytes - swizzlePatternBytes;
  for (int64_t stages =
           std::min<int64_t>(mostStages, llvm::divideCeil(loads.k, fields.k));
       stages >= leastStages; --stages) {
    fields.stages = stages;
    auto schedule = ScheduleAttr::get(op.getContext(), fields);
    StagedTiles tiles = getStagedTiles(op, form, schedule, chip);
    if (tiles.bytes + tiles.outputBytes > room)
      continue;
    SmallVector<ScheduleProblem> problems =
        getScheduleProblems(op, schedule, chip);
    if (problems.empty())
      return schedule;
    LDBG() << op.getLoc() << ": one wave: " << problems.front().message;
  }
  return {};
}

bool mlir::tessera::hasOneWaveForm(ContractOp op, const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  auto [m, n, k] = getStaticExtents(op, form);
  int64_t matrices = getLinearExtent(op, form.batch),
          line = chip.model.lineBytes;
  Type lhs = getElementTypeOrSelf(op.getLhs().getType()),
       rhs = getElementTypeOrSelf(op.getRhs().getType()),
       output = getElementTypeOrSelf(op.getOutput().getType());
  auto isKnown = [](int64_t extent) {
    return ShapedType::isStatic(extent) && extent > 0;
  };
  // Measured in 16 bits (docs/benchmarks/h200-schedules.md), with rows of
  // whole lines, which need no clusters.
  constexpr int64_t leastK = 512;
  return chip.model.schedules && chip.bulkCopies &&
         !chip.policy.groupDefaults.empty() && !form.gather[0] &&
         !form.gather[1] && !op.reducesRows() && op.getExtras().empty() &&
         op.getProducer(0).empty() && op.getProducer(1).empty() &&
         llvm::all_of(std::array{m, n, k, matrices}, isKnown) && k >= leastK &&
         !isPacked(lhs) && !isPacked(rhs) && !isPacked(output) &&
         getElementBytes(lhs) == waveElementBytes &&
         getElementBytes(rhs) == waveElementBytes &&
         getElementBytes(output) <= waveElementBytes &&
         isStoredTransposed(op, form, 1) && hasRowsOfMultiple(op, 0, line) &&
         hasRowsOfMultiple(op, 1, line) &&
         hasRowsOfMultiple(op, 2, chip.accessBytes);
}

ScheduleAttr mlir::tessera::getOneWaveSchedule(ContractOp op, const Chip &chip,
                                               ScheduleAttr other,
                                               bool isExchanged) {
  if (!other || other.getSubgroupsPerFragment() == 1 ||
      !hasOneWaveForm(op, chip))
    return {};
  MatrixForm form = getMatrixForm(op);
  auto [m, n, k] = getStaticExtents(op, form);
  WaveLoads loads{m, n, k, getLinearExtent(op, form.batch), chip.processors};
  std::array<int64_t, 2> tile{other.getWorkgroup()[0], other.getWorkgroup()[1]};
  if (isExchanged)
    std::swap(tile[0], tile[1]);
  // The sums of parts take as long as loads of this many rows.
  constexpr double sumsAsRows = 32, clear = 0.9;
  double least = loads.count(tile, other.getSplitK()) +
                 (other.getSplitK() > 1 ? sumsAsRows : 0);
  least *= clear;
  ScheduleAttr best;
  for (int64_t rows : {64, 128, 192, 256}) {
    int64_t columns = chooseWaveColumns(loads, rows);
    if (columns == 0 || loads.count({rows, columns}, 1) >= least)
      continue;
    if (ScheduleAttr schedule =
            makeOneWave(op, form, chip, rows, columns, loads)) {
      best = schedule;
      least = loads.count({rows, columns}, 1);
    }
  }
  return best;
}
