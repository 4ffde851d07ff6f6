//===- Barriers.cpp - What a barrier waits for ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gpu.barrier waits for loads from global memory that are in flight. Where
// workgroup memory is all that it has to order, it waits for that.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Barriers.h"
#include "AmdTarget.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;
using namespace mlir::tessera;

/// Ops that do not say what memory they access and access none: those of the
/// scheduler, and instructions that exchange values, which have no address.
static bool touchesNoMemory(Operation *op) {
  if (isa<amdgpu::SchedBarrierOp>(op))
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
    amdgpu::LDSBarrierOp::create(builder, barrier.getLoc());
    barrier.erase();
  }
}
