//===- BulkCopies.cpp - Copies by the bulk copy engine --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyProducer.h"

#include "Conversion/Passes.h"
#include "Conversion/TensorMaps.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USEBULKCOPIES
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// What the report says of a kernel whose output goes through workgroup memory.
static std::string describeOutputs(const StagingPlan &plan, const Chip &chip) {
  if (plan.outputs.empty())
    return "";
  for (CopyOp op : plan.outputs)
    if (std::string why = explainNotBulk(op, chip); !why.empty())
      return "; the output leaves workgroup memory by all threads: " + why;
  return "; the output leaves workgroup memory by bulk copies";
}

static void convert(gpu::GPUFuncOp kernel, const Chip &chip) {
  Builder builder(kernel.getContext());
  auto report = [&](const std::string &text) {
    kernel->setAttr(getCopiesAttrName(), builder.getStringAttr(text));
  };
  auto stages = kernel->getAttrOfType<IntegerAttr>(getStagesAttrName());
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  std::string why;
  std::optional<StagingPlan> plan =
      matchBulkSteps(kernel, stages ? stages.getInt() : 0,
                    size ? size->front() : 0, chip, why);
  if (!plan) {
    // Copies that were pipelined are of kernels that had no such step either.
    bool isAsync = false;
    kernel.walk([&](AsyncCopyOp op) {
      isAsync = true;
      why = explainNotBulk(op, chip);
      return why.empty() ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (isAsync || !why.empty())
      report((isAsync ? "asynchronous copies by all threads"
                      : "copies by all threads") +
             (why.empty() ? "" : ": " + why));
    return;
  }
  std::string outputs = describeOutputs(*plan, chip);
  SmallVector<Attribute> maps;
  if (!specializeSubgroups(kernel, *plan, chip, maps)) {
    report("copies by all threads: where they are from depends on what the "
           "subgroups compute");
    return;
  }
  report("bulk copies by a subgroup of their own" + outputs);
  kernel->setAttr(getTensorMapsAttrName(), builder.getArrayAttr(maps));
}

namespace {
struct UseBulkCopiesPass
    : public mlir::tessera::impl::UseBulkCopiesBase<UseBulkCopiesPass> {
  using UseBulkCopiesBase::UseBulkCopiesBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda", chip);
    if (failed(found))
      return signalPassFailure();
    // Only in kernels of groups do buffers begin at patterns of swizzled rows.
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (getFragmentGroup(kernel) > 1)
        convert(kernel, **found);
  }
};
} // namespace
