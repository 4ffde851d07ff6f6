//===- BufferAccess.cpp - Accesses that the hardware bounds ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer instruction reads zeros behind the end of its buffer and writes
// nothing there. An access that must not be made goes there, without a branch.
// Offsets are of 32 bits: only memory whose size is known, and small enough, is
// such a buffer.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether the index of the first dimension alone can lead behind the memory's
/// end.
static bool isBuffer(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() || type.getRank() == 0 ||
      isWorkgroupMemory(type) || isPacked(type.getElementType()) ||
      type.getElementType().isIndex() ||
      failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return false;
  int64_t bytes = getElementBytes(type.getElementType()), end = 0;
  for (auto [size, stride] : llvm::zip(type.getShape(), strides)) {
    if (ShapedType::isDynamic(stride))
      return false;
    end = std::max(end, size * stride);
  }
  // One more row behind the end is still to be told from one before it.
  constexpr int64_t most = int64_t(1) << 31;
  return type.getDimSize(0) * strides[0] == end &&
         bytes * (end + strides[0]) < most;
}

/// `indices` as the instruction takes them; behind the end unless `whole`.
static SmallVector<Value> emitIndices(OpBuilder &builder, Location loc,
                                      MemRefType type, ValueRange indices,
                                      Value whole) {
  SmallVector<Value> result;
  for (Value index : indices)
    result.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index));
  Value end =
      arith::ConstantIntOp::create(builder, loc, type.getDimSize(0), 32);
  result[0] = arith::SelectOp::create(builder, loc, whole, result[0], end);
  return result;
}

Value AmdTarget::emitGuardedRead(OpBuilder &builder, Location loc, Value memory,
                                 ValueRange indices, int64_t width,
                                 Value whole) const {
  auto type = cast<MemRefType>(memory.getType());
  if (!isBuffer(type))
    return {};
  Type element = type.getElementType();
  Type result = width == 1 ? element : Type(VectorType::get(width, element));
  return amdgpu::RawBufferLoadOp::create(
      builder, loc, result, memory,
      emitIndices(builder, loc, type, indices, whole), /*boundsCheck=*/true,
      /*indexOffset=*/IntegerAttr(), /*sgprOffset=*/Value());
}

bool AmdTarget::emitGuardedWrite(OpBuilder &builder, Location loc, Value value,
                                 Value memory, ValueRange indices,
                                 Value whole) const {
  auto type = cast<MemRefType>(memory.getType());
  if (!isBuffer(type))
    return false;
  amdgpu::RawBufferStoreOp::create(
      builder, loc, value, memory,
      emitIndices(builder, loc, type, indices, whole), /*boundsCheck=*/true,
      /*indexOffset=*/IntegerAttr(), /*sgprOffset=*/Value());
  return true;
}
