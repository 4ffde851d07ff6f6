//===- TesseraTransformOps.cpp - Ops of transform scripts -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// TransformDialect.h calls functions that a release build of MLIR does not
// have, wherever the file that includes it has assertions.
#ifndef NDEBUG
#define NDEBUG
#endif

#include "Dialect/Tessera/TransformOps/TesseraTransformOps.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Scheduling/Schedule.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::tessera;

#define GET_OP_CLASSES
#include "Dialect/Tessera/TransformOps/TesseraTransformOps.cpp.inc"

//===----------------------------------------------------------------------===//
// SetScheduleOp
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
SetScheduleOp::applyToOne(transform::TransformRewriter &rewriter,
                          Operation *target,
                          transform::ApplyToEachResultList &results,
                          transform::TransformState &state) {
  auto schedule = cast<ScheduleAttr>(getSchedule());
  if (auto contract = dyn_cast<ContractOp>(target)) {
    contract.setScheduleAttr(schedule);
    return DiagnosedSilenceableFailure::success();
  }
  auto contraction = dyn_cast<linalg::LinalgOp>(target);
  if (!contraction || contraction.getNumReductionLoops() == 0 ||
      contraction.getNumDpsInputs() < 2) {
    DiagnosedSilenceableFailure failure =
        emitSilenceableError()
        << "only a matmul can have a schedule: a linalg op that reduces over "
           "two inputs, or tessera.contract";
    failure.attachNote(target->getLoc())
        << "target op: " << target->getName().getStringRef();
    return failure;
  }
  // Not the name of this op's own attribute.
  target->setAttr(
      ::mlir::tessera::TesseraDialect::ScheduleAttrHelper::getNameStr(),
      schedule);
  return DiagnosedSilenceableFailure::success();
}

void SetScheduleOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
class TesseraTransformDialectExtension
    : public transform::TransformDialectExtension<
          TesseraTransformDialectExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TesseraTransformDialectExtension)

  void init() {
    declareDependentDialect<TesseraDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "Dialect/Tessera/TransformOps/TesseraTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void mlir::tessera::registerTransformDialectExtension(
    DialectRegistry &registry) {
  registry.addExtensions<TesseraTransformDialectExtension>();
}
