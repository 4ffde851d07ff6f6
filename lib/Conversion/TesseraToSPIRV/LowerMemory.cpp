//===- LowerMemory.cpp - Memrefs to SPIR-V pointers -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a parameter        for Vulkan an address: PhysicalStorageBuffer, with the
//                      descriptor's fields read from the launch's block of
//                      parameters; for OpenCL a pointer to bytes:
//                      CrossWorkgroup, with the fields as parameters
//   workgroup memory   a variable for each buffer, of the widest units that all
//                      its accesses keep to
//   private memory     a variable of the function
//
// SPIR-V of Vulkan cannot access one variable through two types, so that a
// buffer of f16 which is written 16 bytes at a time is one of vec4 of i32, and
// wide values pass through it without being taken apart.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "MemoryLowering.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_LOWERMEMORYTOSPIRV
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-lower-memory-to-spirv"

using namespace mlir;
using namespace mlir::tessera;
using mlir::spirv::StorageClass;

FailureOr<Memory> MemoryLowering::require(Operation *op, Value value) {
  if (Memory *memory = find(value))
    return *memory;
  return op->emitError()
         << "cannot determine the underlying memory of this access";
}

LogicalResult MemoryLowering::lower(Operation *op) {
  // Casts other than those of memory: placeholders for a kernel's parameters,
  // and values that the conversion of kernels handles.
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op)) {
    bool isView = cast.getNumResults() == 1 && isa<MemRefType>(cast.getType(0));
    if (cast->hasAttr(TesseraDialect::FieldAttrHelper::getNameStr()) ||
        (!isView &&
         (cast.getInputs().empty() || !find(cast.getInputs().front()))))
      return success();
  }
  b.setInsertionPoint(op);
  b.setLoc(op->getLoc());
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
            vector::MaskedLoadOp, vector::MaskedStoreOp, memref::AtomicRMWOp,
            memref::DimOp, memref::ReinterpretCastOp,
            memref::ExtractStridedMetadataOp, memref::CastOp,
            memref::MemorySpaceCastOp, memref::TransposeOp,
            memref::AssumeAlignmentOp, memref::DeallocOp,
            UnrealizedConversionCastOp>([&](auto known) {
        if (failed(lower(known)))
          return failure();
        erased.push_back(op);
        return success();
      })
      .Default([](Operation *) { return success(); });
}

void MemoryLowering::groupCopies() {
  // Each waits with its value, of up to 4 registers.
  constexpr size_t maxWaiting = 16;
  kernel.walk([&](Block *block) {
    SmallVector<spirv::StoreOp> waiting;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      auto storage = [](Value pointer) {
        return cast<spirv::PointerType>(pointer.getType()).getStorageClass();
      };
      auto store = dyn_cast<spirv::StoreOp>(op);
      if (store && storage(store.getPtr()) == StorageClass::Workgroup &&
          waiting.size() < maxWaiting) {
        waiting.push_back(store);
        continue;
      }
      auto load = dyn_cast<spirv::LoadOp>(op);
      if ((load && storage(load.getPtr()) == environment.global) ||
          isa<spirv::ConvertUToPtrOp>(op) ||
          (isPure(&op) && !op.hasTrait<OpTrait::IsTerminator>()))
        continue;
      for (spirv::StoreOp earlier : waiting)
        earlier->moveBefore(&op);
      waiting.clear();
      if (store && storage(store.getPtr()) == StorageClass::Workgroup)
        waiting.push_back(store);
    }
  });
}

LogicalResult MemoryLowering::run() {
  WalkResult packed = kernel.walk([&](Operation *op) {
    // Accesses are of bytes by now.
    if (!isa<memref::LoadOp, memref::StoreOp, memref::AtomicRMWOp,
             vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
             vector::MaskedStoreOp>(op))
      return WalkResult::advance();
    for (Value value : op->getOperands())
      if (auto type = dyn_cast<MemRefType>(value.getType());
          type && isPacked(type.getElementType())) {
        op->emitError() << "elements of " << type.getElementType()
                        << " share a byte: run tessera-expand-packed-memory "
                           "first";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (packed.wasInterrupted())
    return failure();
  WalkResult composite = kernel.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto type = dyn_cast<MemRefType>(value.getType());
          type && !type.getElementType().isIntOrIndexOrFloat()) {
        op->emitError() << "target " << environment.target
                        << " does not support memory of "
                        << type.getElementType() << ": use memory of scalars";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (composite.wasInterrupted())
    return failure();
  if (failed(lowerParameters()) || failed(lowerVariables()))
    return failure();
  SmallVector<Operation *> operations;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != kernel && !is_contained(erased, op))
      operations.push_back(op);
  });
  for (Operation *op : operations)
    if (failed(lower(op)))
      return failure();
  for (Operation *op : llvm::reverse(erased)) {
    op->dropAllUses();
    op->erase();
  }
  groupCopies();
  // The remaining ops use memory that was not found.
  WalkResult result = kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (isa<BaseMemRefType>(type)) {
        op->emitError() << "target " << environment.target
                        << " does not support " << op->getName();
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  Block &entry = kernel.getBody().front();
  // The parameters stay, unused: launches are checked against them.
  unsigned count = kernel.getFunctionType().getNumInputs();
  entry.eraseArguments(count, entry.getNumArguments() - count);
  kernel->setAttr(kernel.getNumWorkgroupAttributionsAttrName(),
                  b.getI64IntegerAttr(0));
  kernel->removeAttr("workgroup_attrib_attrs");
  kernel->removeAttr("private_attrib_attrs");
  return success();
}

namespace {

struct LowerMemoryToSPIRVPass
    : public tessera::impl::LowerMemoryToSPIRVBase<LowerMemoryToSPIRVPass> {
  using LowerMemoryToSPIRVBase::LowerMemoryToSPIRVBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getSpirvChip(getOperation());
    if (failed(found))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>()) {
      LDBG() << kernel.getName() << ": for " << (*found)->name;
      if (failed(MemoryLowering(kernel, **found).run()))
        return signalPassFailure();
      prefetchCopies(kernel);
      orderLoads(kernel);
    }
  }
};

} // namespace
