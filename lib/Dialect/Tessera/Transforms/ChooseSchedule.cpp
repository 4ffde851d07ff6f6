//===- ChooseSchedule.cpp - A legal schedule for every contraction --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Transforms/Schedule.h"
#include "Dialect/Tessera/Transforms/Utils.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACHOOSESCHEDULE
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

namespace {

struct TesseraChooseSchedulePass
    : public tessera::impl::TesseraChooseScheduleBase<
          TesseraChooseSchedulePass> {
  using TesseraChooseScheduleBase::TesseraChooseScheduleBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (op->hasAttr(getScheduleAttrName()) &&
          op->getName().getDialectNamespace() == "linalg")
        op->emitWarning() << "has a schedule, and is no product that becomes "
                             "tessera.contract: the schedule has no effect";
    });
    auto choose = [](ContractOp op, const Chip &chip) {
      if (!op.getScheduleAttr())
        op.setScheduleAttr(getDefaultSchedule(op, chip));
      return checkSchedule(op, op.getScheduleAttr(), chip);
    };
    // All that is wrong is said in one run.
    if (failed(forEachOnChip<ContractOp>(getOperation(), target, chip,
                                         isOnMemRefs, choose)))
      signalPassFailure();
  }
};

} // namespace
