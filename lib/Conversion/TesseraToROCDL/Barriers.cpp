//===- Barriers.cpp - Scope of barriers -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gpu.barrier waits for loads from global memory that are in flight. If it
// only has to order accesses to workgroup memory, it is replaced by a barrier
// that waits for those only; if some loads to workgroup memory may stay in
// flight, it waits for the others.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Barriers.h"
#include "AmdTarget.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::tessera;

/// Ops with unknown memory effects that do not access memory: those of the
/// scheduler, and instructions that exchange values, which have no address.
static bool touchesNoMemory(Operation *op) {
  if (isa<amdgpu::SchedBarrierOp, amdgpu::MemoryCounterWaitOp, LLVM::FenceOp>(
          op))
    return true;
  bool isIntrinsic = isa<ROCDL::ROCDLDialect>(op->getDialect()) ||
                     isa<LLVM::CallIntrinsicOp>(op);
  return isIntrinsic && !isa<MemoryEffectOpInterface>(op) &&
         llvm::none_of(op->getOperandTypes(),
                       llvm::IsaPred<MemRefType, LLVM::LLVMPointerType>);
}

void mlir::tessera::relaxBarriers(Operation *kernel) {
  for (gpu::BarrierOp barrier :
       findWorkgroupBarriers(kernel, touchesNoMemory)) {
    OpBuilder builder(barrier);
    // Fences would wait for all loads to LDS. LLVM moves no access to memory
    // over s_barrier either.
    auto wait =
        dyn_cast_or_null<amdgpu::MemoryCounterWaitOp>(barrier->getPrevNode());
    if (wait && wait.getLoad().value_or(0) > 0) {
      wait.setDs(0);
      ROCDL::SBarrierOp::create(builder, barrier.getLoc());
    } else {
      amdgpu::LDSBarrierOp::create(builder, barrier.getLoc());
    }
    barrier.erase();
  }
}
