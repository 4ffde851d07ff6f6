//===- UseTunedSchedules.cpp - Schedules that were measured ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Scheduling/Passes.h"
#include "Scheduling/TuningTask.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/Threading.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAUSETUNEDSCHEDULES
#include "Scheduling/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-tuned-schedules"

STATISTIC(numTunedSchedules,
          "Number of schedules taken from the tuning database");

using namespace mlir;
using namespace mlir::tessera;

/// The schedule of an entry, which may be text; null if it has none that this
/// version can read.
static Attribute getSchedule(DictionaryAttr entry) {
  if (!entry)
    return {};
  auto text = entry.getAs<StringAttr>("schedule");
  if (!text)
    return entry.get("schedule");
  // Records of another version may have another format. Other functions may
  // emit diagnostics at the same time.
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler quiet(entry.getContext(), [thread](Diagnostic &) {
    return success(llvm::get_threadid() == thread);
  });
  return parseAttribute(text.getValue(), entry.getContext());
}

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
    if (getTaskSchedule(op)) {
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
    Attribute schedule = getSchedule(entry);
    bool isUsed = schedule && setTaskSchedule(op, schedule);
    auto text =
        entry && !isUsed ? entry.getAs<StringAttr>("schedule") : StringAttr();
    if (text)
      origin = builder.getStringAttr(
          "the compiler's choice: this version cannot read the schedule of a "
          "record: " +
          text.getValue().take_front(200));
    if (origin)
      op->setDiscardableAttr(
          TesseraDialect::ScheduleOriginAttrHelper::getNameStr(), origin);
    if (!isUsed) {
      LDBG() << op->getLoc() << ": no record of " << describeTask(op, flags);
      return;
    }
    LDBG() << op->getLoc() << ": " << schedule;
    ++numTunedSchedules;
  }
};

} // namespace
