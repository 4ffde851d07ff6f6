//===- MemoryViews.cpp - Views of memory as SPIR-V pointers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryLowering.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"

using namespace mlir;
using namespace mlir::tessera;

LogicalResult MemoryLowering::lower(memref::DimOp op) {
  FailureOr<Memory> memory = require(op, op.getSource());
  if (failed(memory))
    return failure();
  std::optional<int64_t> dimension = op.getConstantIndex();
  if (!dimension)
    return op.emitError()
           << "cannot determine the underlying memory of this access";
  op.getResult().replaceAllUsesWith(memory->sizes[*dimension]);
  return success();
}

LogicalResult MemoryLowering::lower(memref::ReinterpretCastOp op) {
  FailureOr<Memory> memory = require(op, op.getSource());
  if (failed(memory))
    return failure();
  memory->sizes.clear();
  memory->strides.clear();
  auto get = [&](OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, op->getLoc(), value);
  };
  memory->offset = get(op.getMixedOffsets().front());
  for (OpFoldResult size : op.getMixedSizes())
    memory->sizes.push_back(get(size));
  for (OpFoldResult stride : op.getMixedStrides())
    memory->strides.push_back(get(stride));
  memories[op.getResult()] = *memory;
  return success();
}

LogicalResult MemoryLowering::lower(memref::ExtractStridedMetadataOp op) {
  FailureOr<Memory> memory = require(op, op.getSource());
  if (failed(memory))
    return failure();
  op.getOffset().replaceAllUsesWith(memory->offset);
  for (auto [result, value] : llvm::zip(op.getSizes(), memory->sizes))
    result.replaceAllUsesWith(value);
  for (auto [result, value] : llvm::zip(op.getStrides(), memory->strides))
    result.replaceAllUsesWith(value);
  memory->sizes.clear();
  memory->strides.clear();
  memory->offset = index(0);
  memories[op.getBaseBuffer()] = *memory;
  return success();
}

LogicalResult MemoryLowering::lower(memref::CastOp op) {
  FailureOr<Memory> memory = require(op, op.getSource());
  if (failed(memory))
    return failure();
  memories[op.getResult()] = *memory;
  return success();
}

LogicalResult MemoryLowering::lower(memref::MemorySpaceCastOp op) {
  FailureOr<Memory> memory = require(op, op.getSource());
  if (failed(memory))
    return failure();
  memories[op.getResult()] = *memory;
  return success();
}

LogicalResult MemoryLowering::lower(memref::TransposeOp op) {
  FailureOr<Memory> source = require(op, op.getIn());
  if (failed(source))
    return failure();
  Memory memory = *source;
  for (auto [i, from] : llvm::enumerate(op.getPermutation().getResults())) {
    unsigned dimension = llvm::cast<AffineDimExpr>(from).getPosition();
    memory.sizes[i] = source->sizes[dimension];
    memory.strides[i] = source->strides[dimension];
  }
  memories[op.getResult()] = memory;
  return success();
}

LogicalResult MemoryLowering::lower(memref::AssumeAlignmentOp op) {
  if (Memory *source = find(op.getMemref())) {
    Memory memory = *source;
    memories[op.getResult()] = memory;
  }
  return success();
}

LogicalResult MemoryLowering::lower(UnrealizedConversionCastOp op) {
  // The bytes of memory of i4 (tessera-expand-packed-memory).
  if (op.getNumResults() == 1)
    if (auto type = dyn_cast<MemRefType>(op.getType(0))) {
      Memory *source = find(op.getInputs().front());
      if (!source || !isPacked(source->element) ||
          !type.getElementType().isInteger(8))
        return op.emitError()
               << "cannot determine the underlying memory of this access";
      Memory memory = *source;
      memory.element = type.getElementType();
      memories[op.getResult(0)] = memory;
      return success();
    }
  return lowerMatrixPointer(op, *find(op.getInputs().front()));
}

LogicalResult MemoryLowering::lowerMatrixPointer(UnrealizedConversionCastOp op,
                                                 const Memory &memory) {
  Value element = getElement(memory, op.getInputs().drop_front());
  Value pointer;
  if (environment.isKernel && isGlobal(memory)) {
    pointer = getPointer(memory, element, getStorage(memory.element));
  } else if (isGlobal(memory)) {
    // It must point into an array.
    Type type = getStorage(memory.element);
    Type array =
        spirv::RuntimeArrayType::get(type, getStorageBytes(memory.element));
    Value whole =
        getPointer(memory, element, spirv::StructType::get({array}, {0}));
    Value zero = spirv::ConstantOp::getZero(b.getI32Type(), b.getLoc(), b);
    pointer = spirv::AccessChainOp::create(b, whole, ValueRange{zero, zero});
  } else {
    pointer = getPointer(memory, element, memory.unit);
  }
  int64_t ratio =
      isGlobal(memory) ? 1 : memory.unitBytes / getStorageBytes(memory.element);
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    Operation *user = use.getOwner();
    unsigned position = isa<spirv::KHRCooperativeMatrixLoadOp>(user) ? 1 : 2;
    if (ratio > 1) {
      b.setInsertionPoint(user);
      Value stride = user->getOperand(position);
      Value units = arith::DivUIOp::create(
          b, stride, arith::ConstantIntOp::create(b, ratio, 32));
      user->setOperand(position, units);
    }
    use.set(pointer);
  }
  return success();
}
