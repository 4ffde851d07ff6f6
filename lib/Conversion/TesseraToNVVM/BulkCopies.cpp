//===- BulkCopies.cpp - Copies by TMA -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyProducer.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "EpilogueCarrier.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USEBULKCOPIES
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-bulk-copies"

STATISTIC(numTmaKernels, "Number of kernels that copy by TMA");
STATISTIC(numOtherCopyKernels,
          "Number of kernels of groups that copy by all threads");

using namespace mlir;
using namespace mlir::tessera;

/// Describes the matrices that the lanes of such a kernel load in its epilogue,
/// with the reason, for --explain.
static std::string describeLoads(const StagingPlan &plan, const Chip &chip) {
  CopyOp out = plan.outputs.front();
  llvm::SmallSetVector<Value, 2> read;
  for (LoadOp load : out->getBlock()->getOps<LoadOp>())
    if (!isWorkgroupMemory(cast<MemRefType>(load.getMemory().getType())))
      read.insert(load.getMemory());
  std::string text;
  for (Value memory : read) {
    auto argument = dyn_cast<BlockArgument>(memory);
    text += "; the lanes read " +
            (argument ? "argument " + std::to_string(argument.getArgNumber()) +
                            " of the kernel"
                      : "a matrix") +
            " directly from global memory: ";
    if (getElementTypeOrSelf(memory.getType()) !=
        out.getSourceType().getElementType())
      text += "its element type differs from the output's";
    else if (!hasRowsOfMultiple(cast<MemRefType>(memory.getType()),
                                chip.accessBytes))
      text += "its rows are not known to be aligned to " +
              std::to_string(chip.accessBytes) + " bytes";
    else if (plan.inputs.empty())
      text += "its rows differ from the output's";
    else
      text += "workgroup memory holds only one such tile";
  }
  return text;
}

/// Describes a kernel whose output is staged in workgroup memory, for
/// --explain.
static std::string describeOutputs(const StagingPlan &plan, const Chip &chip) {
  if (plan.outputs.empty())
    return "";
  std::string why, text, loads = describeLoads(plan, chip);
  if (EpilogueCarrier::canRun(plan, chip, why))
    return (plan.inputs.empty()
                ? "; a second one stores the output from workgroup memory"
                : "; a second one loads the epilogue's input to workgroup "
                  "memory, and stores the output from there") +
           loads;
  if (!why.empty())
    text =
        "; all threads load the epilogue's input to workgroup memory: " + why;
  for (CopyOp op : plan.outputs)
    if (why = explainNotBulk(op, chip); !why.empty())
      return text +
             "; all threads store the output from workgroup memory: " + why +
             loads;
  return text + "; bulk copies store the output from workgroup memory" + loads;
}

/// The decision of tessera-pipeline-copies for the copies of `kernel`; empty
/// for a kernel that it has not seen, for which this pass decides.
static FailureOr<std::optional<bool>> getDecision(gpu::GPUFuncOp kernel) {
  std::optional<bool> decision;
  WalkResult result = kernel.walk([&](CopyOp op) {
    auto bulk = op->getAttrOfType<BoolAttr>(
        TesseraDialect::BulkAttrHelper::getNameStr());
    if (!bulk)
      return WalkResult::advance();
    if (decision && *decision != bulk.getValue()) {
      op.emitError() << "tessera.bulk differs from that of an earlier copy of "
                        "the kernel: TMA performs all of them or none";
      return WalkResult::interrupt();
    }
    decision = bulk.getValue();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return decision;
}

static LogicalResult convert(gpu::GPUFuncOp kernel, const Chip &chip) {
  Builder builder(kernel.getContext());
  auto sharers = kernel->getAttrOfType<DenseI64ArrayAttr>(
      TesseraDialect::SharersAttrHelper::getNameStr());
  auto report = [&](std::string text, bool isBulk) {
    if (sharers && isBulk)
      text += "; workgroups share tiles in clusters of " +
              std::to_string(sharers[0]) + "x" + std::to_string(sharers[1]);
    else if (sharers)
      text += "; workgroups do not share tiles";
    if (!isBulk)
      kernel->removeAttr(TesseraDialect::SharersAttrHelper::getNameStr());
    LDBG() << kernel.getName() << ": " << text;
    ++(isBulk ? numTmaKernels : numOtherCopyKernels);
    kernel->setAttr(TesseraDialect::CopiesAttrHelper::getNameStr(),
                    builder.getStringAttr(text));
  };
  FailureOr<std::optional<bool>> decision = getDecision(kernel);
  if (failed(decision))
    return failure();
  auto stages = kernel->getAttrOfType<IntegerAttr>(
      TesseraDialect::StagesAttrHelper::getNameStr());
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  std::string why;
  std::optional<StagingPlan> plan =
      matchBulkSteps(kernel, stages ? stages.getInt() : 0,
                     size ? size->front() : 0, chip, why);
  if (plan && !decision->value_or(true)) {
    plan = std::nullopt;
    why = "tessera-pipeline-copies decided against bulk copies";
  }
  if (!plan) {
    // Copies that were pipelined are of kernels that had no such step either.
    bool isAsync = false;
    kernel.walk([&](AsyncCopyOp op) {
      isAsync = true;
      why = explainNotBulk(op, chip);
      return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (!isAsync && why.empty())
      kernel->removeAttr(TesseraDialect::SharersAttrHelper::getNameStr());
    else
      report((isAsync ? "asynchronous copies by all threads"
                      : "copies by all threads") +
                 (why.empty() ? "" : ": " + why),
             /*isBulk=*/false);
    return success();
  }
  std::string outputs = describeOutputs(*plan, chip);
  SmallVector<Attribute> maps;
  if (!specializeSubgroups(kernel, *plan, chip, maps, why)) {
    report("copies by all threads: " + why, /*isBulk=*/false);
    return success();
  }
  report("bulk copies by a dedicated subgroup" + outputs, /*isBulk=*/true);
  kernel->setAttr(TesseraDialect::TensorMapsAttrHelper::getNameStr(),
                  builder.getArrayAttr(maps));
  return success();
}

namespace {
struct UseBulkCopiesPass
    : public mlir::tessera::impl::UseBulkCopiesBase<UseBulkCopiesPass> {
  using UseBulkCopiesBase::UseBulkCopiesBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda");
    if (failed(found))
      return signalPassFailure();
    // Only in kernels of groups are buffers aligned to patterns of swizzled
    // rows.
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (getFragmentGroup(kernel) > 1 && failed(convert(kernel, **found)))
        return signalPassFailure();
  }
};
} // namespace
