//===- SplitWaves.cpp - Whole waves of tiles, and the rest ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 2176x1984 are 17x8 tiles of 128x256: a wave for 132 SMs and four tiles, which
// take as long as another wave. The rows of a whole number of waves and the
// rest become contractions of their own, whose tiles fit them:
//
//       +--------+                   +--------+
//       |        |                   |        |  2048 rows: 128 tiles, one wave
//       | 2176   |                   | 2048   |
//       | rows   |         ->        +--------+
//       |        |                   +--------+
//       +--------+                   |  128   |  smaller tiles, more workgroups
//                                    +--------+
//
//===----------------------------------------------------------------------===//

#include "ContractSlices.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/Schedule.h"
#include "Scheduling/ScheduleCorrection.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#include <limits>

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERASPLITWAVES
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-split-waves"

STATISTIC(numSplitContractions, "Number of contractions split for whole waves");
STATISTIC(numEstimatedSplits, "Number of splits whose rest was scheduled");

using namespace mlir;
using namespace mlir::tessera;

/// The share of the whole contraction's time that both parts take at most.
static constexpr double clearShare = 0.97;
/// The splits whose parts are scheduled.
static constexpr size_t mostSplits = 3;

namespace {
/// The first `size` rows (dimension 0) or columns (1), and the rest.
struct Split {
  unsigned dimension = 0;
  int64_t size = 0;
  /// The share of the whole contraction's time that both parts take, if it is
  /// that of all waves of tiles, and if the rest is computed as fast.
  double share = 0;
};

/// One contraction, which has a row and a column dimension.
class WaveSplitter {
public:
  WaveSplitter(ContractOp op, const Chip &chip, ScheduleRankings &rankings)
      : op(op), chip(chip), rankings(rankings), form(getMatrixForm(op)),
        extents(getStaticExtents(op, form)), builder(op) {}

  bool canSplit();
  /// Replaces `op` by two, if they take clearly less time.
  void run();

private:
  unsigned getDim(unsigned dimension) const {
    return dimension ? form.n[0] : form.m[0];
  }
  int64_t countTiles(unsigned dimension, const ScheduleDefaults &tiling) const {
    return llvm::divideCeil(extents[dimension], tiling.workgroup[dimension]);
  }
  /// Splits after whole waves of the chip's tiles, the best ones first.
  SmallVector<Split> findSplits() const;
  /// The contraction of a range of rows or columns, on views of the operands.
  ContractOp slice(unsigned dimension, int64_t at, int64_t size) {
    return cloneSlice(builder, op, getDim(dimension), at, size);
  }
  /// The estimated time in nanoseconds of a contraction with `schedule`, its
  /// default.
  double estimate(ContractOp part, ScheduleAttr schedule) const;
  ScheduleAttr getDefault(ContractOp part) const {
    return getDefaultSchedule(part, chip, /*prediction=*/nullptr, &rankings);
  }
  double estimateSlice(unsigned dimension, int64_t at, int64_t size);

  ContractOp op;
  const Chip &chip;
  ScheduleRankings &rankings;
  MatrixForm form;
  std::array<int64_t, 3> extents;
  OpBuilder builder;
};
} // namespace

bool WaveSplitter::canSplit() {
  if (op.getScheduleAttr() || !canRankSchedules(op, chip) ||
      !form.batch.empty() || form.m.size() != 1 || form.n.size() != 1 ||
      form.gather[0] || form.gather[1] || !op.getProducer(0).empty() ||
      !op.getProducer(1).empty())
    return false;
  return llvm::all_of(op.getMappedOperands(), [](Value operand) {
    return cast<MemRefType>(operand.getType()).hasStaticShape();
  });
}

SmallVector<Split> WaveSplitter::findSplits() const {
  // The time of all waves, in elements of a tile at the usual rate.
  auto getTime = [](const ScheduleDefaults &tiling, int64_t waves) {
    return double(waves) * double(tiling.workgroup[0]) *
           double(tiling.workgroup[1]) / tiling.speed;
  };
  double least = std::numeric_limits<double>::infinity();
  for (const ScheduleDefaults &tiling : chip.policy.groupDefaults)
    least = std::min(least,
                     getTime(tiling, llvm::divideCeil(countTiles(0, tiling) *
                                                          countTiles(1, tiling),
                                                      chip.processors)));
  SmallVector<Split> splits;
  for (const ScheduleDefaults &tiling : chip.policy.groupDefaults)
    for (unsigned dimension : {0, 1}) {
      int64_t across = countTiles(1 - dimension, tiling),
              waves = across * countTiles(dimension, tiling) / chip.processors,
              size = waves * chip.processors / across *
                     tiling.workgroup[dimension];
      if (size == 0 || size >= extents[dimension])
        continue;
      double rest = double(extents[dimension] - size),
             share = getTime(tiling, waves) / least +
                     rest / double(extents[dimension]);
      auto isSame = [&](const Split &other) {
        return other.dimension == dimension && other.size == size;
      };
      auto known = llvm::find_if(splits, isSame);
      if (known == splits.end())
        splits.push_back({dimension, size, share});
      else
        known->share = std::min(known->share, share);
    }
  llvm::stable_sort(
      splits, [](const Split &a, const Split &b) { return a.share < b.share; });
  return splits;
}

double WaveSplitter::estimate(ContractOp part, ScheduleAttr schedule) const {
  double byRules = estimateByRules(part, chip);
  if (!schedule)
    return byRules;
  // The model was not fitted to long matmuls, whose schedules rules choose.
  return std::min(byRules, estimateSchedule(ScheduledMatmul(part, chip),
                                            schedule.getFields(), chip)
                               .time);
}

double WaveSplitter::estimateSlice(unsigned dimension, int64_t at,
                                   int64_t size) {
  ContractOp part = slice(dimension, at, size);
  double time = estimate(part, getDefault(part));
  SmallVector<Value> operands(part->getOperands());
  part.erase();
  for (Value operand : operands)
    if (auto view = operand.getDefiningOp<memref::SubViewOp>();
        view && view->use_empty())
      view.erase();
  return time;
}

void WaveSplitter::run() {
  SmallVector<Split> splits = findSplits();
  if (splits.empty() || splits.front().share >= clearShare)
    return;
  ScheduleAttr schedule = getDefault(op);
  if (!schedule || schedule.getSubgroupsPerFragment() == 1 ||
      schedule.getSplitK() > 1 || schedule.getPersistent() == 0)
    return;
  double whole = estimate(op, schedule), least = clearShare * whole;
  Split best;
  for (const Split &split : ArrayRef(splits).take_front(mostSplits)) {
    if (split.share >= clearShare)
      break;
    ++numEstimatedSplits;
    auto [dimension, size, share] = split;
    int64_t rest = extents[dimension] - size;
    double time = estimateSlice(dimension, 0, size);
    if (time < least)
      time += estimateSlice(dimension, size, rest);
    if (time < least) {
      best = split;
      least = time;
    }
  }
  if (best.size == 0)
    return;
  LDBG() << op.getLoc() << ": " << best.size << " of "
         << extents[best.dimension] << (best.dimension ? " columns" : " rows")
         << " and the rest, " << least << " ns rather than " << whole
         << " ns by " << schedule;
  std::array<int64_t, 3> bounds{0, best.size, extents[best.dimension]};
  for (unsigned i : {0, 1}) {
    int64_t at = bounds[i];
    describeSlice(slice(best.dimension, at, bounds[i + 1] - at),
                  (best.dimension ? "columns " : "rows ") + Twine(at) + " to " +
                      Twine(bounds[i + 1] - 1) + " of " + Twine(bounds[2]) +
                      (at ? ": the rest, beyond whole waves of tiles"
                          : ": whole waves of tiles"));
  }
  op.erase();
  ++numSplitContractions;
}

namespace {
struct TesseraSplitWavesPass
    : public tessera::impl::TesseraSplitWavesBase<TesseraSplitWavesPass> {
  using TesseraSplitWavesBase::TesseraSplitWavesBase;

  void runOnOperation() override {
    // Schedules are chosen next, mostly of the same contractions.
    markAnalysesPreserved<ScheduleRankings>();
    auto split = [&](ContractOp op, const Chip &chip) {
      WaveSplitter splitter(op, chip, getAnalysis<ScheduleRankings>());
      if (splitter.canSplit())
        splitter.run();
      return success();
    };
    if (failed(forEachOnChip<ContractOp>(getOperation(), isOnMemRefs, split)))
      signalPassFailure();
  }
};
} // namespace
