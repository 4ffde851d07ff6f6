//===- OrientWeights.cpp - Weights of few bits as lhs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//        8 columns: weights                    8 columns: lhs
//       +----------------+                    +------------+
//   16  | lhs: 1 to 8    |               16   | weights    |
//   rows| rows           |       ->      rows |            |
//       | zeros          |                    |            |
//       +----------------+                    +------------+
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/OperandOrder.h"
#include "Scheduling/FewColumnsSchedule.h"
#include "Scheduling/OneWaveSchedule.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/Schedule.h"
#include "Scheduling/WeightsSchedule.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAORIENTWEIGHTS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-orient-weights"

STATISTIC(numOrientedWeights, "Number of contractions with exchanged operands");
STATISTIC(numOrientedOrders,
          "Number of contractions exchanged for the order of an operand");
STATISTIC(numOrientedWaves,
          "Number of contractions exchanged for one wave of tiles");

using namespace mlir;
using namespace mlir::tessera;

/// `op` with lhs and rhs exchanged.
static ContractOp exchange(OpBuilder &builder, ContractOp op) {
  SmallVector<AffineMap> maps{op.getMap(1), op.getMap(0)};
  for (unsigned i = 2; i < 3 + op.getExtras().size(); ++i)
    maps.push_back(op.getMap(i));
  std::array<OperandRange, 2> inputs{op.getLhsInputs(), op.getRhsInputs()};
  for (unsigned side : {1, 0})
    for (unsigned i = 0; i < inputs[side].size(); ++i)
      maps.push_back(op.getInputMap(side, i));
  auto exchanged = ContractOp::create(
      builder, op.getLoc(), op->getResultTypes(), op.getRhs(), op.getLhs(),
      op.getInit(), op.getExtras(), inputs[1], inputs[0], op.getOutput(),
      builder.getAffineMapArrayAttr(maps), op.getAccumulatorType(),
      op.getUnsignedB(), op.getUnsignedA(), op.getPrecision(),
      op.getScheduleAttr());
  exchanged->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return exchanged;
}

/// Whether lhs of `op` are weights by which few columns are multiplied.
static bool hasWeightsAsLhs(ContractOp op, const Chip &chip) {
  return op.getProducer(0).empty() ? bool(getFewColumnsSchedule(op, chip))
                                   : bool(getWeightsSchedule(op, chip));
}

/// Whether rhs of `op` has N along the rows, in an order that instructions of
/// several subgroups read as lhs only, while they read lhs as either.
static bool hasOrderOfLhs(ContractOp op, const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  // Rows that become columns of an instruction. With fewer, parts of K by
  // single subgroups were faster.
  constexpr int64_t leastRows = 64;
  int64_t rows = getStaticExtents(op, form)[0];
  if ((ShapedType::isStatic(rows) && rows < leastRows) ||
      !op.getProducer(0).empty() || !op.getProducer(1).empty() ||
      form.gather[0] || form.gather[1] || op.reducesRows() ||
      isStoredTransposed(op, form, 0) || isStoredTransposed(op, form, 1))
    return false;
  return llvm::any_of(chip.policy.groupDefaults,
                      [&](const ScheduleDefaults &tiling) {
                        return loadsColumnsToRegisters(op, chip, tiling.group);
                      });
}

/// Exchanges the operands of `op`, if rhs has an order that instructions of
/// several subgroups read as lhs only, and if they then compute it by default.
/// Otherwise rhs would be copied to another order before.
static bool orientByOrder(ContractOp op, const Chip &chip,
                          ScheduleRankings &rankings) {
  if (!hasOrderOfLhs(op, chip))
    return false;
  OpBuilder builder(op);
  ContractOp exchanged = exchange(builder, op);
  exchanged.getEpilogue().takeBody(op.getEpilogue());
  if (getDefaultSchedule(exchanged, chip, /*prediction=*/nullptr, &rankings)
          .getSubgroupsPerFragment() > 1) {
    LDBG() << op.getLoc() << ": rhs with N along the rows becomes lhs";
    ++numOrientedOrders;
    op.erase();
    return true;
  }
  op.getEpilogue().takeBody(exchanged.getEpilogue());
  exchanged.erase();
  return false;
}

/// Exchanges the operands of `op`, if lhs has K along the rows and rhs has not,
/// and if tiles of a number of columns that is not a power of two then fill the
/// SMs. The schedule is set: it was compared with that of `op`.
static bool orientForOneWave(ContractOp op, const Chip &chip,
                             ScheduleRankings &rankings) {
  MatrixForm form = getMatrixForm(op);
  if (!chip.model.schedules || form.gather[0] || form.gather[1] ||
      op.reducesRows() || !op.getProducer(0).empty() ||
      !op.getProducer(1).empty() || isStoredTransposed(op, form, 0) ||
      isStoredTransposed(op, form, 1))
    return false;
  // Most contractions have no such schedule, whatever their own is.
  OpBuilder builder(op);
  ContractOp exchanged = exchange(builder, op);
  exchanged.getEpilogue().takeBody(op.getEpilogue());
  auto restore = [&] {
    op.getEpilogue().takeBody(exchanged.getEpilogue());
    exchanged.erase();
    return false;
  };
  if (!hasOneWaveForm(exchanged, chip))
    return restore();
  op.getEpilogue().takeBody(exchanged.getEpilogue());
  ScheduleAttr own =
      getDefaultSchedule(op, chip, /*prediction=*/nullptr, &rankings);
  exchanged.getEpilogue().takeBody(op.getEpilogue());
  ScheduleAttr schedule =
      getOneWaveSchedule(exchanged, chip, own, /*isExchanged=*/true);
  if (!schedule)
    return restore();
  LDBG() << op.getLoc() << ": exchanged for one wave of tiles: " << schedule
         << " rather than " << own;
  exchanged.setScheduleAttr(schedule);
  ++numOrientedWaves;
  op.erase();
  return true;
}

/// Exchanges the operands of `op`, if it then has one of the schedules of
/// weights as lhs.
static void orient(ContractOp op, const Chip &chip,
                   ScheduleRankings &rankings) {
  if (!op.getScheduleAttr() && (orientByOrder(op, chip, rankings) ||
                                orientForOneWave(op, chip, rankings)))
    return;
  if (op.getScheduleAttr() || !op.getProducer(0).empty() ||
      (!op.getProducer(1).empty() && !getWeightsSchedule(op, chip)) ||
      hasWeightsAsLhs(op, chip))
    return;
  OpBuilder builder(op);
  ContractOp exchanged = exchange(builder, op);
  exchanged.getEpilogue().takeBody(op.getEpilogue());
  exchanged.getProducer(0).takeBody(op.getProducer(1));
  if (hasWeightsAsLhs(exchanged, chip)) {
    LDBG() << op.getLoc() << ": weights become lhs";
    ++numOrientedWeights;
    op.erase();
    return;
  }
  op.getEpilogue().takeBody(exchanged.getEpilogue());
  op.getProducer(1).takeBody(exchanged.getProducer(0));
  exchanged.erase();
}

namespace {
struct TesseraOrientWeightsPass
    : public tessera::impl::TesseraOrientWeightsBase<TesseraOrientWeightsPass> {
  using TesseraOrientWeightsBase::TesseraOrientWeightsBase;

  void runOnOperation() override {
    // Schedules are chosen later, mostly of the same contractions.
    markAnalysesPreserved<ScheduleRankings>();
    auto map = [&](ContractOp op, const Chip &chip) {
      orient(op, chip, getAnalysis<ScheduleRankings>());
      return success();
    };
    if (failed(forEachOnChip<ContractOp>(getOperation(), isOnMemRefs, map)))
      signalPassFailure();
  }
};
} // namespace
