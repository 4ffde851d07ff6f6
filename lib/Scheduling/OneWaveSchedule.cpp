//===- OneWaveSchedule.cpp - Tiles that SMs have one of each --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul with few tiles takes as long as the rows and columns of an SM's
// tiles need to pass through its workgroup memory. The tilings of a chip have
// powers of two, of which as many as there are SMs seldom cover the matrix:
// 9248x192 are 111 tiles of 256x64, for 132 SMs, and 129 tiles of 72x192.
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
/// The rows of tiles.
static constexpr std::array<int64_t, 4> waveRows{64, 128, 192, 256};
/// The bytes of an element for which this was measured.
static constexpr int64_t waveElementBytes = 2;

namespace {
using Pair = std::array<int64_t, 2>;

/// The matmul, as far as its loads depend on it.
struct WaveLoads {
  int64_t m, n, k, matrices, processors;
  /// Whether rows of lhs and of rhs begin within sectors of memory.
  std::array<bool, 2> splits;

  /// The tiles that the busiest SM computes.
  int64_t countRounds(Pair tile, Pair cluster, int64_t parts) const {
    int64_t units = llvm::alignTo(llvm::divideCeil(m, tile[0]), cluster[0]) *
                    llvm::alignTo(llvm::divideCeil(n, tile[1]), cluster[1]) *
                    matrices * parts;
    return llvm::divideCeil(units, processors);
  }
  /// The rows that begin within sectors, which are requested twice, by each
  /// workgroup of a cluster a part of them.
  double countRequested(Pair tile, Pair cluster) const {
    double sum = 0;
    for (unsigned side : {0, 1})
      if (splits[side])
        sum += double(std::min(tile[side], side ? n : m)) /
               double(cluster[1 - side]);
    return sum;
  }
  /// The rows and columns that the busiest SM loads.
  double countLoaded(Pair tile, Pair cluster) const {
    constexpr double requested = 1.5;
    return double(std::min(tile[0], m) + std::min(tile[1], n)) +
           requested * countRequested(tile, cluster);
  }
  /// The rows that pass through the workgroup memory of the busiest SM for the
  /// whole of K: copies write them, and instructions of 64 rows read them.
  /// Fitted on an H200 to 4096x192x4096 by tiles of 64x64 to 128x128, and to
  /// 1000 cubed in clusters of up to eight.
  double count(Pair tile, Pair cluster, int64_t parts) const {
    constexpr double requested = 4.3;
    int64_t groups = llvm::divideCeil(tile[0], rowsOfGroup);
    double sum = 2 * double(std::min(tile[0], m)) +
                 double(std::min(tile[1], n)) * double(1 + groups) +
                 requested * countRequested(tile, cluster);
    return double(countRounds(tile, cluster, parts)) * sum / double(parts);
  }
  /// The time in which another kernel adds up the sums of parts, in the same
  /// unit.
  double countSums(int64_t parts) const {
    constexpr double each = 16, sumBytes = 4;
    return parts == 1 ? 0
                      : each * double(parts * m * n * matrices) * sumBytes /
                            double(processors * k * waveElementBytes);
  }
};
} // namespace

/// The workgroups that the chip has at once in clusters of so many.
static int64_t countResident(const Chip &chip, int64_t clustered) {
  const std::array<int64_t, 2> &idle = chip.model.clusterIdle;
  return chip.processors - (clustered <= 2   ? 0
                            : clustered <= 4 ? idle[0]
                                             : idle[1]);
}

/// The fewest columns for which no SM has more than one tile; 0 if they exceed
/// the most.
static int64_t chooseWaveColumns(const WaveLoads &loads, const Chip &chip,
                                 int64_t rows, Pair cluster) {
  int64_t tiles = llvm::alignTo(llvm::divideCeil(loads.m, rows), cluster[0]) *
                  loads.matrices,
          most = countResident(chip, cluster[0] * cluster[1]) / tiles /
                 cluster[1] * cluster[1];
  if (most == 0)
    return 0;
  int64_t columns = llvm::alignTo(llvm::divideCeil(loads.n, most), columnStep);
  return columns <= mostWaveColumns ? columns : 0;
}

/// The schedule with tiles of so many rows and columns, and as many stages as
/// there is room for; null if it is not legal.
static ScheduleAttr makeOneWave(ContractOp op, const MatrixForm &form,
                                const Chip &chip, Pair tile, Pair cluster,
                                const WaveLoads &loads) {
  constexpr int64_t line = 128, mostStages = 12, leastStages = 4;
  ScheduleFields fields;
  fields.workgroup = tile;
  fields.subgroup = {rowsOfGroup, tile[1]};
  fields.cluster = cluster;
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
  int64_t matrices = getLinearExtent(op, form.batch);
  Type lhs = getElementTypeOrSelf(op.getLhs().getType()),
       rhs = getElementTypeOrSelf(op.getRhs().getType()),
       output = getElementTypeOrSelf(op.getOutput().getType());
  auto isKnown = [](int64_t extent) {
    return ShapedType::isStatic(extent) && extent > 0;
  };
  // Measured in 16 bits (docs/benchmarks/h200-schedules.md).
  constexpr int64_t leastK = 512, mostRows = waveRows.back();
  return chip.model.schedules && chip.bulkCopies &&
         !chip.policy.groupDefaults.empty() && !form.gather[0] &&
         !form.gather[1] && !op.reducesRows() && op.getProducer(0).empty() &&
         op.getProducer(1).empty() &&
         llvm::all_of(std::array{m, n, k, matrices}, isKnown) && k >= leastK &&
         double(m) * double(n) * double(matrices) <=
             double(mostRows * mostWaveColumns * chip.processors) &&
         !isPacked(lhs) && !isPacked(rhs) && !isPacked(output) &&
         getElementBytes(lhs) == waveElementBytes &&
         getElementBytes(rhs) == waveElementBytes &&
         getElementBytes(output) <= waveElementBytes &&
         isStoredTransposed(op, form, 1) && hasAlignedRows(op, 0, chip) &&
         hasAlignedRows(op, 1, chip) &&
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
  constexpr int64_t sector = 32;
  WaveLoads loads{
      m,
      n,
      k,
      getLinearExtent(op, form.batch),
      chip.processors,
      {!hasRowsOfMultiple(op, 0, sector), !hasRowsOfMultiple(op, 1, sector)}};
  WaveLoads before = loads;
  if (isExchanged) {
    std::swap(before.m, before.n);
    std::swap(before.splits[0], before.splits[1]);
  }
  constexpr double clear = 0.9;
  double most =
      clear * (before.count({other.getWorkgroup()[0], other.getWorkgroup()[1]},
                            {other.getClusterM(), other.getClusterN()},
                            other.getSplitK()) +
               before.countSums(other.getSplitK()));
  SmallVector<Pair> clusters{{1, 1}};
  if (loads.splits[0] || loads.splits[1])
    clusters.append({{2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}});
  // The tile that loads least, among those that are clearly better.
  ScheduleAttr best;
  double least = 0;
  for (int64_t rows : waveRows)
    for (Pair cluster : clusters) {
      int64_t columns = chooseWaveColumns(loads, chip, rows, cluster);
      if (columns == 0)
        continue;
      Pair tile{rows, columns};
      double loaded = loads.countLoaded(tile, cluster);
      if ((best && loaded >= least) || loads.count(tile, cluster, 1) > most)
        continue;
      if (ScheduleAttr schedule =
              makeOneWave(op, form, chip, tile, cluster, loads)) {
        best = schedule;
        least = loaded;
      }
    }
  return best;
}
