//===- ChooseSchedule.cpp - A legal schedule for every contraction --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Scheduling/AttentionSchedule.h"
#include "Scheduling/Passes.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/TuningTask.h"
#include "TargetInfo/Chip.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include <deque>

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACHOOSESCHEDULE
#include "Scheduling/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-choose-schedule"

STATISTIC(numDefaultSchedules, "Number of default schedules");
STATISTIC(numRepeatedSchedules,
          "Number of default schedules taken from an equal contraction");
STATISTIC(numDroppedSchedules,
          "Number of tuned schedules that are no longer legal");

using namespace mlir;
using namespace mlir::tessera;

static bool isTuned(Operation *op) {
  return op->hasAttr(TesseraDialect::ScheduleOriginAttrHelper::getNameStr());
}

/// Warns about a tuned schedule of another compiler version or of other chip
/// tables that is no longer legal, and removes it.
static void dropTuned(Operation *op, const Twine &why) {
  ++numDroppedSchedules;
  auto origin = op->getAttrOfType<StringAttr>(
      TesseraDialect::ScheduleOriginAttrHelper::getNameStr());
  op->emitWarning() << "the tuned schedule of this matmul ("
                    << origin.getValue() << ") is not used: " << why
                    << "; tune it again";
  op->setAttr(TesseraDialect::ScheduleOriginAttrHelper::getNameStr(),
              StringAttr::get(op->getContext(),
                              "the compiler's choice: the tuned schedule "
                              "is no longer legal"));
}

namespace {

/// The default schedules of the contractions seen so far. Networks repeat
/// contractions, and a choice compares thousands of schedules.
class DefaultSchedules {
public:
  struct Choice {
    ScheduleAttr schedule;
    std::string prediction;
  };

  explicit DefaultSchedules(ScheduleRankings &rankings) : rankings(rankings) {}
  ~DefaultSchedules() {
    for (auto &[op, chip, choice] : known)
      op->erase();
  }

  const Choice &get(ContractOp op, const Chip &chip) {
    auto ignoreValues = [](Value, Value) { return success(); };
    for (auto &[other, otherChip, choice] : known)
      if (otherChip == &chip &&
          OperationEquivalence::isEquivalentTo(
              other, op, ignoreValues, /*markEquivalent=*/nullptr,
              OperationEquivalence::IgnoreLocations)) {
        ++numRepeatedSchedules;
        return choice;
      }
    Choice choice;
    choice.schedule =
        getDefaultSchedule(op, chip, &choice.prediction, &rankings);
    return std::get<Choice>(
        known.emplace_back(op->clone(), &chip, std::move(choice)));
  }

private:
  ScheduleRankings &rankings;
  /// Copies without a schedule.
  std::deque<std::tuple<Operation *, const Chip *, Choice>> known;
};

struct TesseraChooseSchedulePass
    : public tessera::impl::TesseraChooseScheduleBase<
          TesseraChooseSchedulePass> {
  using TesseraChooseScheduleBase::TesseraChooseScheduleBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (op->hasAttr(TesseraDialect::ScheduleAttrHelper::getNameStr()) &&
          op->getName().getDialectNamespace() == "linalg")
        op->emitWarning() << "schedule has no effect: this op is not lowered "
                             "to tessera.contract";
    });
    DefaultSchedules defaults(getAnalysis<ScheduleRankings>());
    auto choose = [&](ContractOp op, const Chip &chip) {
      if (op.getScheduleAttr() && isTuned(op))
        if (auto problems = getScheduleProblems(op, op.getScheduleAttr(), chip);
            !problems.empty()) {
          dropTuned(op, problems[0].label + ": " + problems[0].message);
          op.removeScheduleAttr();
        }
      if (!op.getScheduleAttr()) {
        auto [schedule, prediction] = defaults.get(op, chip);
        op.setScheduleAttr(schedule);
        if (!prediction.empty())
          op->setAttr(
              TesseraDialect::SchedulePredictionAttrHelper::getNameStr(),
              StringAttr::get(op.getContext(), prediction));
        LDBG() << op.getLoc() << ": default: " << op.getScheduleAttr();
        ++numDefaultSchedules;
      }
      return checkSchedule(op, op.getScheduleAttr(), chip);
    };
    auto chooseForAttention = [](AttentionOp op, const Chip &chip) {
      if (op.getScheduleAttr() && isTuned(op))
        if (std::string why = explainSchedule(op, op.getScheduleAttr(), chip);
            !why.empty()) {
          dropTuned(op, why);
          op.removeScheduleAttr();
        }
      if (!op.getScheduleAttr()) {
        op.setScheduleAttr(getDefaultSchedule(op, chip));
        LDBG() << op.getLoc() << ": default: " << op.getScheduleAttr();
        ++numDefaultSchedules;
      }
      std::string why = "schedule_c24: head dimensions D and E must be static";
      if (op.getScheduleAttr())
        why = explainSchedule(op, op.getScheduleAttr(), chip);
      return why.empty() ? success() : LogicalResult(op.emitError() << why);
    };
    // All errors are reported in one run.
    bool good = succeeded(
        forEachOnChip<ContractOp>(getOperation(), isOnMemRefs, choose));
    good &= succeeded(forEachOnChip<AttentionOp>(
        getOperation(),
        [](AttentionOp op) {
          return isa<MemRefType>(op.getOutput().getType());
        },
        chooseForAttention));
    if (!good)
      signalPassFailure();
  }
};

} // namespace
