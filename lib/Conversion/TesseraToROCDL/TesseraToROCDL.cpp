//===- TesseraToROCDL.cpp - Fragments to AMD's instructions ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tessera.mma             amdgpu.mfma, subgroups of 64 lanes   (Mfma.cpp)
//                           amdgpu.wmma, subgroups of 32 lanes   (Wmma.cpp)
//                           v_dot2, v_dot4                       (Dot.cpp)
//   tessera.load            across rows: by transposing reads
//                           (TransposingReads.cpp), or by quads of lanes
//                           (QuadTranspose.cpp)
//   exchange between lanes  rocdl.ds_bpermute
//   tessera.async_copy      async copy to LDS              (LdsLoads.cpp)
//   gpu.barrier             amdgpu.lds_barrier, where that does (Barriers.cpp)
//   order within a step     groups of the scheduler  (SchedulingGroups.cpp)
//   math functions          those that LLVM has code for (CheckMath.cpp)
//   everything else         vectors, by the lane maps    (FragmentToVector)
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTTESSERATOROCDL
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-tessera-to-rocdl"

using namespace mlir;
using namespace mlir::tessera;

Value AmdTarget::emitMma(OpBuilder &builder, Location loc,
                         const MatrixInstruction &row, MmaOp op, Value a,
                         Value b, Value acc) const {
  if (!row.matrixUnit)
    return emitDot(builder, loc, row, a, b, acc);
  return chip.subgroupSize == 64 ? emitMfma(builder, loc, row, op, a, b, acc)
                                 : emitWmma(builder, loc, row, op, a, b, acc);
}

Value AmdTarget::emitShuffle(OpBuilder &builder, Location loc, Value value,
                             Value lane) const {
  Type i32 = builder.getI32Type();
  Value number = arith::IndexCastOp::create(builder, loc, i32, lane);
  // Lanes are counted in bytes.
  Value address = arith::ShLIOp::create(
      builder, loc, number, arith::ConstantIntOp::create(builder, loc, 2, 32));
  return ROCDL::DsBpermuteOp::create(builder, loc, i32, address, value);
}

Value mlir::tessera::emitPermute(OpBuilder &builder, Location loc, Value high,
                                 Value low, Value selector) {
  return LLVM::CallIntrinsicOp::create(
             builder, loc, builder.getI32Type(),
             builder.getStringAttr("llvm.amdgcn.perm"),
             ValueRange{high, low, selector})
      .getResult(0);
}

Value AmdTarget::emitBytePermute(OpBuilder &builder, Location loc, Value low,
                                 Value high, uint32_t selector) const {
  return emitPermute(builder, loc, high, low,
                     arith::ConstantIntOp::create(
                         builder, loc, static_cast<int32_t>(selector), 32));
}

void AmdTarget::emitSubgroupBarrier(OpBuilder &builder, Location loc) const {
  // The accesses of a wave are executed in order: it is enough that LLVM
  // preserves that order ("Memory Model" in LLVM's User Guide for AMDGPU
  // Backend).
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    LLVM::FenceOp::create(builder, loc, ordering, "wavefront");
  };
  fence(LLVM::AtomicOrdering::release);
  LLVM::CallIntrinsicOp::create(
      builder, loc, builder.getStringAttr("llvm.amdgcn.wave.barrier"),
      ValueRange());
  fence(LLVM::AtomicOrdering::acquire);
}

void AmdTarget::emitAsyncCommit(OpBuilder &builder, Location loc) const {
  amdgpu::SchedBarrierOp::create(
      builder, loc,
      amdgpu::sched_barrier_opt_enumAttr::get(
          builder.getContext(), amdgpu::sched_barrier_opt_enum::none));
}

void AmdTarget::emitLateUse(OpBuilder &builder, Location loc) const {
  using Opt = amdgpu::sched_barrier_opt_enum;
  // The mask excludes vector arithmetic, matmuls, and writes of loaded data.
  amdgpu::SchedBarrierOp::create(
      builder, loc,
      amdgpu::sched_barrier_opt_enumAttr::get(
          builder.getContext(), Opt::salu | Opt::all_vmem | Opt::ds_read));
}

/// Sets the number of threads of a workgroup of `kernel`. LLVM would otherwise
/// assume the maximum, and leave few registers for each thread.
static void setWorkgroupSize(gpu::GPUFuncOp kernel, const Chip &chip) {
  if (!kernel.isKernel() || kernel.getKnownBlockSize())
    return; // The conversion of the kernel emits it.
  kernel->setAttr(
      ROCDL::ROCDLDialect::FlatWorkGroupSizeAttrHelper::getNameStr(),
      StringAttr::get(kernel.getContext(),
                      "1," + std::to_string(chip.maxThreads)));
}

/// Whether all copies of `kernel` before its matmuls are in bounds, so that its
/// loops contain little else.
static bool hasLeanLoops(gpu::GPUFuncOp kernel) {
  bool ahead = false;
  WalkResult result = kernel.walk([&](AsyncCopyOp copy) {
    ahead = true;
    return copy.getInBounds() && !copy.isGather() ? WalkResult::advance()
                                                  : WalkResult::interrupt();
  });
  return ahead && !result.wasInterrupted();
}

namespace {

struct ConvertTesseraToROCDLPass
    : public tessera::impl::ConvertTesseraToROCDLBase<
          ConvertTesseraToROCDLPass> {
  using ConvertTesseraToROCDLBase::ConvertTesseraToROCDLBase;
  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "hip");
    if (failed(found))
      return signalPassFailure();
    SmallVector<gpu::GPUFuncOp> lean;
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (hasLeanLoops(kernel)) {
        LDBG() << kernel.getName() << ": orders matmuls and loads of its loops";
        lean.push_back(kernel);
      }
    AmdTarget target(**found);
    orderAccesses(getOperation(), target);
    if (failed(checkMath(getOperation())) ||
        failed(convertFragmentsToVectors(getOperation(), target, flags)))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      relaxBarriers(kernel);
      lowerLdsLoads(kernel);
      setWorkgroupSize(kernel, **found);
    }
    for (gpu::GPUFuncOp kernel : lean)
      orderMatmuls(kernel);
  }
};

} // namespace
