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
    SmallVector<ContractOp> ops;
    getOperation()->walk([&](Operation *op) {
      if (auto contract = dyn_cast<ContractOp>(op)) {
        if (isa<MemRefType>(contract.getOutput().getType()))
          ops.push_back(contract);
      } else if (op->hasAttr(getScheduleAttrName()) &&
                 op->getName().getDialectNamespace() == "linalg") {
        op->emitWarning() << "has a schedule, and is no product that becomes "
                             "tessera.contract: the schedule has no effect";
      }
    });
    if (ops.empty())
      return;
    FailureOr<const Chip *> found = getChip(getOperation(), target, chip);
    if (failed(found))
      return signalPassFailure();
    // All that is wrong is said in one run.
    bool isLegal = true;
    for (ContractOp op : ops) {
      if (!op.getScheduleAttr())
        op.setScheduleAttr(getDefaultSchedule(op, **found));
      isLegal &= succeeded(checkSchedule(op, op.getScheduleAttr(), **found));
    }
    if (!isLegal)
      signalPassFailure();
  }
};

} // namespace
