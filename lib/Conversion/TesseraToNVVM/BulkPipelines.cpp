//===- BulkPipelines.cpp - The instructions of bulk copies ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BulkPipelines.h"
#include "PtxRegisters.h"

#include "Conversion/TensorMaps.h"
#include "Dialect/Tessera/Transforms/IndexMath.h"
#include "Dialect/Tessera/Transforms/Utils.h"
#include "Runtime/TensorMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

std::array<int64_t, 2> BulkPipelines::getBox(AsyncCopyOp op) {
  int64_t bytes = getElementBytes(op.getSourceType().getElementType());
  ArrayRef<int64_t> shape = op.getShape();
  return {shape[0], std::min(shape[1], maxBulkSpan / bytes)};
}

Value BulkPipelines::emitIsFirst(OpBuilder &builder) {
  Location loc = kernel.getLoc();
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                               emitLinearThread(builder, kernel),
                               IndexMath(builder, loc).constant(0));
}

/// An index as a pointer to workgroup memory.
static Value emitPointer(OpBuilder &builder, Location loc, Value address) {
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  Value bits =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), space),
      bits);
}

Value BulkPipelines::emitBarrier(OpBuilder &builder, Location loc,
                                 Value barriers, Value slot) {
  IndexMath math(builder, loc);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, barriers);
  return emitPointer(builder, loc, math.add(base, math.mul(slot, 8)));
}

Value BulkPipelines::emitMap(OpBuilder &builder, AsyncCopyOp op) {
  MemRefType source = op.getSourceType();
  int64_t bytes = getElementBytes(source.getElementType());
  SmallVector<int64_t> box(source.getRank() - 2, 1);
  llvm::append_range(box, getBox(op));
  int64_t span = box.back() * bytes;
  int64_t number = cast<BlockArgument>(op.getSource()).getArgNumber();
  auto attribute = [&](const std::string &symbol) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr("argument", builder.getI64IntegerAttr(number)),
         builder.getNamedAttr("box", builder.getDenseI64ArrayAttr(box)),
         builder.getNamedAttr("swizzle", builder.getI64IntegerAttr(span)),
         builder.getNamedAttr(
             "symbol", FlatSymbolRefAttr::get(builder.getContext(), symbol))});
  };
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto getName = [&](size_t i) {
    return (kernel.getName() + "_map_" + Twine(i)).str();
  };
  for (auto [i, known] : llvm::enumerate(maps))
    if (known == attribute(getName(i)))
      return LLVM::AddressOfOp::create(builder, op.getLoc(), pointer,
                                       getName(i));
  std::string name = getName(maps.size());
  maps.push_back(attribute(name));
  OpBuilder outside(kernel);
  LLVM::GlobalOp::create(
      outside, op.getLoc(),
      LLVM::LLVMArrayType::get(builder.getI8Type(),
                               ::tessera::runtime::tensorMapBytes),
      /*isConstant=*/true, LLVM::Linkage::External, name, Attribute());
  return LLVM::AddressOfOp::create(builder, op.getLoc(), pointer, name);
}

void BulkPipelines::emitCopy(OpBuilder &builder, Pipeline &pipeline,
                             AsyncCopyOp op, const IRMapping &mapping) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  int64_t bytes = getElementBytes(op.getSourceType().getElementType());
  ArrayRef<int64_t> shape = op.getShape();
  auto [rows, columns] = getBox(op);
  int64_t slotBytes = shape[0] * shape[1] * bytes;

  Value slot = mapping.lookupOrDefault(op.getTargetIndices()[0]);
  Value barrier = emitBarrier(builder, loc, pipeline.barriers, slot);
  Type i32 = builder.getI32Type();
  Value size = arith::ConstantOp::create(builder, loc, i32,
                                         builder.getI32IntegerAttr(slotBytes));
  emitAssembly(builder, loc,
               "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;",
               {barrier, size}, /*updated=*/{}, /*touchesMemory=*/true);
  Value map = emitMap(builder, op);
  Value base = math.add(memref::ExtractAlignedPointerAsIndexOp::create(
                            builder, loc, op.getTarget()),
                        math.mul(slot, slotBytes));
  auto cluster = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  for (int64_t first = 0; first < shape[1]; first += columns) {
    // Innermost dimension first.
    SmallVector<Value> place;
    for (Value index : llvm::reverse(op.getSourceIndices()))
      place.push_back(mapping.lookupOrDefault(index));
    place[0] = math.add(place[0], first);
    for (Value &index : place)
      index = arith::IndexCastOp::create(builder, loc, i32, index);
    Value to = emitPointer(builder, loc, math.add(base, first * rows * bytes));
    to = LLVM::AddrSpaceCastOp::create(builder, loc, cluster, to);
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, loc, to, map, place, barrier, /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(),
        /*predicate=*/Value());
  }
}

void BulkPipelines::emitWait(OpBuilder &builder, Location loc, Value barriers,
                             int64_t slots, Value step, int64_t turnsBefore) {
  IndexMath math(builder, loc);
  Value slot = math.rem(step, math.constant(slots));
  Value turn = math.add(math.div(step, math.constant(slots)), turnsBefore);
  Value parity = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            math.rem(turn, math.constant(2)));
  emitAssembly(builder, loc,
               "{\n.reg .pred p;\nWAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
               "@p bra DONE;\nbra WAIT;\nDONE:\n}",
               {emitBarrier(builder, loc, barriers, slot), parity},
               /*updated=*/{}, /*touchesMemory=*/true);
}

void BulkPipelines::emitArrival(OpBuilder &builder, Location loc,
                                Value barriers, Value slot) {
  Value lane = arith::IndexCastOp::create(
      builder, loc, builder.getI32Type(),
      gpu::LaneIdOp::create(builder, loc, /*upper_bound=*/nullptr));
  emitAssembly(builder, loc,
               "{\n.reg .pred p;\nsetp.eq.u32 p, $1, 0;\n"
               "@p mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
               {emitBarrier(builder, loc, barriers, slot), lane},
               /*updated=*/{}, /*touchesMemory=*/true);
}

Value BulkPipelines::addBarriers(Location loc, int64_t slots) {
  Builder builder(kernel.getContext());
  return kernel.addWorkgroupAttribution(
      MemRefType::get({slots}, builder.getI64Type(),
                      MemRefLayoutAttrInterface(),
                      gpu::AddressSpaceAttr::get(builder.getContext(),
                                                 gpu::AddressSpace::Workgroup)),
      loc);
}

void BulkPipelines::emitSetUp(OpBuilder &builder, Location loc,
                              const Pipeline &pipeline) {
  auto setUp = scf::IfOp::create(builder, loc, emitIsFirst(builder),
                                 /*withElseRegion=*/false);
  OpBuilder one = setUp.getThenBodyBuilder();
  auto init = [&](Value barriers, int64_t arrivals) {
    Value count =
        arith::ConstantOp::create(one, loc, one.getI32IntegerAttr(arrivals));
    for (int64_t slot = 0; slot < pipeline.getNumSlots(); ++slot)
      NVVM::MBarrierInitOp::create(
          one, loc,
          emitBarrier(one, loc, barriers, IndexMath(one, loc).constant(slot)),
          count, /*predicate=*/Value());
  };
  init(pipeline.barriers, pipeline.memories.size());
  if (pipeline.read)
    init(pipeline.read,
         kernel.getKnownBlockSize()->front() / chip.subgroupSize);
  NVVM::FenceMbarrierInitOp::create(one, loc);
  gpu::BarrierOp::create(builder, loc);
}
