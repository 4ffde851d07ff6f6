//===- UseTunedSchedules.cpp - Schedules that were measured ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Scheduling/Passes.h"
#include "Scheduling/TuningTask.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAUSETUNEDSCHEDULES
#include "Scheduling/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-tuned-schedules"

STATISTIC(numTunedSchedules,
          "Number of schedules taken from the tuning database");

using namespace mlir;
using namespace mlir::tessera;

namespace {

struct UseTunedSchedulesPass
    : public tessera::impl::TesseraUseTunedSchedulesBase<
          UseTunedSchedulesPass> {
  using TesseraUseTunedSchedulesBase::TesseraUseTunedSchedulesBase;

  void runOnOperation() override {
    auto module = getOperation()->getParentOfType<ModuleOp>();
    auto source = module
                      ? module->getAttrOfType<StringAttr>(
                            TesseraDialect::TunedSourceAttrHelper::getNameStr())
                      : StringAttr();
    auto tuned = module ? module->getAttrOfType<DictionaryAttr>(
                              TesseraDialect::TunedAttrHelper::getNameStr())
                        : DictionaryAttr();
    if (!source && !tuned)
      return;
    getOperation()->walk([&](Operation *op) {
      if (isTuningTask(op))
        use(op, tuned, source);
    });
  }

  void use(Operation *op, DictionaryAttr tuned, StringAttr source) {
    Builder builder(&getContext());
    auto contract = dyn_cast<ContractOp>(op);
    auto attention = dyn_cast<AttentionOp>(op);
    assert((contract || attention) && "not a tuning task");
    if (contract ? contract.getScheduleAttr() : attention.getScheduleAttr()) {
      LDBG() << op->getLoc() << ": has a schedule of its own";
      return;
    }
    auto entry = tuned ? tuned.getAs<DictionaryAttr>(getTaskKey(op, flags))
                       : DictionaryAttr();
    auto origin = entry ? entry.getAs<StringAttr>("origin") : StringAttr();
    if (!origin && source)
      origin =
          builder.getStringAttr("the compiler's choice: " + source.getValue() +
                                " has no record of " + describeTask(op, flags));
    if (origin)
      op->setDiscardableAttr(
          TesseraDialect::ScheduleOriginAttrHelper::getNameStr(), origin);
    auto schedule =
        entry ? entry.getAs<ScheduleAttr>("schedule") : ScheduleAttr();
    if (!schedule) {
      LDBG() << op->getLoc() << ": no record of " << describeTask(op, flags);
      return;
    }
    LDBG() << op->getLoc() << ": " << schedule;
    ++numTunedSchedules;
    if (contract)
      contract.setScheduleAttr(schedule);
    else
      attention.setScheduleAttr(schedule);
  }
};

} // namespace
