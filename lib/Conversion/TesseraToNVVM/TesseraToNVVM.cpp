//===- TesseraToNVVM.cpp - Fragments to NVIDIA's instructions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tessera.mma               mma.sync                       (MmaSync.cpp)
//                             wgmma.mma_async                (Wgmma.cpp)
//   tessera.load              ldmatrix | vector loads        (LdMatrix.cpp)
//   tessera.async_copy, wait  cp.async                       (CpAsync.cpp);
//                             bulk copies, by a pass before  (BulkCopies.cpp)
//   math functions            those that PTX has, as exact as what follows
//                             demands                        (ExpandMath.cpp)
//   everything else           vectors, by the lane maps      (FragmentToVector)
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "ExpandMath.h"
#include "NvidiaTarget.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTTESSERATONVVM
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-tessera-to-nvvm"

using namespace mlir;
using namespace mlir::tessera;

int64_t mlir::tessera::getComputeCapability(const Chip &chip) {
  int64_t level = 0;
  StringRef digits = StringRef(chip.name).drop_front(StringRef("sm_").size());
  digits.consumeInteger(10, level);
  return level;
}

NvidiaTarget::NvidiaTarget(const Chip &chip)
    : FragmentTarget(chip), level(getComputeCapability(chip)) {}

void NvidiaTarget::emitSubgroupBarrier(OpBuilder &builder, Location loc) const {
  NVVM::SyncWarpOp::create(builder, loc,
                           arith::ConstantIntOp::create(builder, loc, -1, 32));
}

/// Lets an SM have `threadsOfUnit` threads of each kernel of a window, as the
/// choice of its schedule assumes. Where a thread has many points, their
/// epilogues and loads together would take more registers, and leave too few
/// threads to hide the latency of memory.
static void limitRegisters(gpu::GPUModuleOp module, const Chip &chip) {
  Builder builder(module.getContext());
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    if (auto schedule =
            dyn_cast_or_null<WindowScheduleAttr>(getKernelSchedule(kernel)))
      if (int64_t workgroups =
              chip.policy.simt.threadsOfUnit / schedule.getThreads();
          workgroups > 1)
        kernel->setAttr(
            NVVM::NVVMDialect::getMinctasmAttrName(),
            builder.getI32IntegerAttr(static_cast<int32_t>(workgroups)));
}

namespace {

struct ConvertTesseraToNVVMPass
    : public mlir::tessera::impl::ConvertTesseraToNVVMBase<
          ConvertTesseraToNVVMPass> {
  using ConvertTesseraToNVVMBase::ConvertTesseraToNVVMBase;
  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda");
    if (failed(found))
      return signalPassFailure();
    NvidiaTarget target(**found);
    LDBG() << getOperation().getName() << ": for " << (*found)->name;
    orderAccesses(getOperation(), target);
    if (failed(convertFragmentsToVectors(getOperation(), target)) ||
        failed(expandMath(getOperation(), **found)))
      return signalPassFailure();
    fenceMemoryOperands(getOperation());
    limitRegisters(getOperation(), **found);
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      if (auto parts = kernel->getAttrOfType<IntegerAttr>(
              TesseraDialect::ClusterAttrHelper::getNameStr()))
        kernel->setAttr(
            NVVM::NVVMDialect::getClusterDimAttrName(),
            DenseI32ArrayAttr::get(
                &getContext(), {1, 1, static_cast<int32_t>(parts.getInt())}));
      if (auto sharers = kernel->getAttrOfType<DenseI64ArrayAttr>(
              TesseraDialect::SharersAttrHelper::getNameStr()))
        kernel->setAttr(
            NVVM::NVVMDialect::getClusterDimAttrName(),
            DenseI32ArrayAttr::get(
                &getContext(),
                {static_cast<int32_t>(sharers[0] * sharers[1]), 1, 1}));
    }
  }
};

} // namespace
