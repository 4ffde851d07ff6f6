//===- PackWorkgroupMemory.cpp - One dynamic allocation -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPACKWORKGROUPMEMORY
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-pack-workgroup-memory"

STATISTIC(numPackedBuffers,
          "Number of buffers packed into dynamic workgroup memory");

using namespace mlir;
using namespace mlir::tessera;

/// Suffices for every access width and for bulk copies; memory from which a
/// group of subgroups reads operands is aligned to a whole pattern of swizzled
/// rows.
static int64_t getBufferAlignment(gpu::GPUFuncOp kernel) {
  return getFragmentGroup(kernel) > 1 ? swizzlePatternBytes : 128;
}

namespace {

struct PackWorkgroupMemoryPass
    : public tessera::impl::TesseraPackWorkgroupMemoryBase<
          PackWorkgroupMemoryPass> {
  void runOnOperation() override {
    // Upstream kernels may number the space instead.
    AttrTypeReplacer replacer;
    replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
      auto space = dyn_cast_or_null<IntegerAttr>(type.getMemorySpace());
      if (!space || !isWorkgroupMemory(type))
        return std::nullopt;
      return MemRefType::get(
          type.getShape(), type.getElementType(), type.getLayout(),
          gpu::AddressSpaceAttr::get(type.getContext(),
                                     gpu::AddressSpace::Workgroup));
    });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (failed(pack(kernel)))
        return signalPassFailure();
  }

  LogicalResult pack(gpu::GPUFuncOp kernel) {
    SmallVector<Value> buffers;
    for (BlockArgument argument : kernel.getWorkgroupAttributions())
      buffers.push_back(argument);
    SmallVector<Operation *> allocations;
    WalkResult result = kernel.walk([&](Operation *op) {
      if (!isa<memref::AllocOp, memref::AllocaOp>(op) ||
          !isWorkgroupMemory(cast<MemRefType>(op->getResult(0).getType())))
        return WalkResult::advance();
      if (op->getParentOp() != kernel) {
        op->emitError() << "workgroup memory must be allocated at the "
                           "top level of the kernel";
        return WalkResult::interrupt();
      }
      allocations.push_back(op);
      buffers.push_back(op->getResult(0));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    if (buffers.empty())
      return success();

    SmallVector<gpu::DynamicSharedMemoryOp> dynamic;
    kernel.walk([&](gpu::DynamicSharedMemoryOp op) { dynamic.push_back(op); });
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
    auto bytesType =
        MemRefType::get({ShapedType::kDynamic}, builder.getI8Type(),
                        MemRefLayoutAttrInterface(),
                        gpu::AddressSpaceAttr::get(
                            &getContext(), gpu::AddressSpace::Workgroup));
    Value all =
        gpu::DynamicSharedMemoryOp::create(builder, kernel.getLoc(), bytesType);
    int64_t offset = 0;
    for (Value buffer : buffers) {
      auto type = cast<MemRefType>(buffer.getType());
      if (!type.hasStaticShape() || !type.getLayout().isIdentity())
        return emitError(buffer.getLoc())
               << "workgroup memory must have a static shape and the identity "
                  "layout, not "
               << type;
      Value shift =
          arith::ConstantIndexOp::create(builder, buffer.getLoc(), offset);
      Value view =
          memref::ViewOp::create(builder, buffer.getLoc(), type, all, shift,
                                 /*sizes=*/ValueRange());
      buffer.replaceAllUsesWith(view);
      int64_t bits =
          type.getNumElements() * getElementBits(type.getElementType());
      offset +=
          llvm::alignTo(llvm::divideCeil(bits, 8), getBufferAlignment(kernel));
    }
    // The kernel's own dynamic memory comes after its buffers.
    if (!dynamic.empty()) {
      Location loc = dynamic.front().getLoc();
      Value shift = arith::ConstantIndexOp::create(builder, loc, offset);
      Value size = arith::SubIOp::create(
          builder, loc, memref::DimOp::create(builder, loc, all, 0), shift);
      Value rest =
          memref::ViewOp::create(builder, loc, bytesType, all, shift, size);
      for (gpu::DynamicSharedMemoryOp op : dynamic) {
        op.replaceAllUsesWith(rest);
        op.erase();
      }
    }
    LDBG() << kernel.getName() << ": " << buffers.size() << " buffers in "
           << offset << " bytes, aligned to " << getBufferAlignment(kernel);
    numPackedBuffers += buffers.size();
    for (Operation *op : allocations) {
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (isa<memref::DeallocOp>(user))
          user->erase();
      op->erase();
    }
    for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front()))
      if (auto dealloc = dyn_cast<memref::DeallocOp>(op))
        if (isWorkgroupMemory(cast<MemRefType>(dealloc.getMemref().getType())))
          dealloc.erase();
    unsigned numAttributions = kernel.getNumWorkgroupAttributions();
    for (unsigned i = 0; i < numAttributions; ++i)
      kernel.getBody().front().eraseArgument(
          kernel.getFunctionType().getNumInputs());
    kernel->setAttr(kernel.getNumWorkgroupAttributionsAttrName(),
                    builder.getI64IntegerAttr(0));
    kernel->setAttr(TesseraDialect::WorkgroupBytesAttrHelper::getNameStr(),
                    builder.getI64IntegerAttr(offset));
    return success();
  }
};

} // namespace
