//===- AttachChip.cpp - The chip that a module is compiled for ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAATTACHCHIP
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-attach-chip"

using namespace mlir;
using namespace mlir::tessera;

namespace {
struct AttachChipPass
    : public tessera::impl::TesseraAttachChipBase<AttachChipPass> {
  using TesseraAttachChipBase::TesseraAttachChipBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<const Chip *> found = findChipOrError(module, target, chip);
    if (failed(found))
      return signalPassFailure();
    StringRef name = ChipAttr::getAttrName();
    auto own = ChipAttr::get(&getContext(), (*found)->target, (*found)->name);
    WalkResult result = module.walk([&](Operation *op) {
      Attribute other = op->getAttr(name);
      if (!other || other == own || replace)
        return WalkResult::advance();
      op->emitError() << "'" << name << "' is " << other << " already, not "
                      << own << "; the option 'replace' replaces it";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    LDBG() << own;
    attachChip(module, **found);
  }
};
} // namespace
