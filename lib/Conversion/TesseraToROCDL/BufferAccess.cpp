//===- BufferAccess.cpp - Accesses that the hardware bounds ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer instruction reads zeros beyond the end of its buffer and does not
// write there. An access that must not happen uses such an offset, without a
// branch. Offsets have 32 bits: only memory of a known, sufficiently small size
// is such a buffer.
//
// In a tile that all threads copy, each thread's offset is constant over the
// steps; the tile's origin is a scalar that the instruction adds.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether only the index of the first dimension can exceed the memory's end.
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
  // One more row beyond the end must still be distinguishable from one before
  // the start.
  constexpr int64_t most = int64_t(1) << 31;
  return type.getDimSize(0) * strides[0] == end &&
         bytes * (end + strides[0]) < most;
}

/// `indices` in the form of the instruction; the first position beyond the end
/// unless `whole`: those of a window may be before a row's start.
static SmallVector<Value> emitIndices(OpBuilder &builder, Location loc,
                                      MemRefType type, ValueRange indices,
                                      Value whole) {
  SmallVector<Value> result;
  int64_t otherwise = type.getDimSize(0);
  for (Value index : indices) {
    Value narrow =
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
    Value other = arith::ConstantIntOp::create(builder, loc, otherwise, 32);
    result.push_back(
        arith::SelectOp::create(builder, loc, whole, narrow, other));
    otherwise = 0;
  }
  return result;
}

Value AmdTarget::emitTileRead(OpBuilder &builder, Location loc, Value memory,
                              ValueRange origin, ValueRange position,
                              int64_t width) const {
  auto type = cast<MemRefType>(memory.getType());
  if (!isBuffer(type) || type.getRank() < 2)
    return {};
  auto narrow = [&](Value index) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                      index);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  auto [strides, offset] = type.getStridesAndOffset();
  Value begin = constant(0);
  for (auto [index, stride] : llvm::zip(origin, strides)) {
    Value part =
        arith::MulIOp::create(builder, loc, narrow(index), constant(stride));
    begin = arith::AddIOp::create(builder, loc, begin, part);
  }
  SmallVector<Value> indices(type.getRank() - 2, constant(0));
  for (Value index : position)
    indices.push_back(narrow(index));
  Type element = type.getElementType();
  Type result = width == 1 ? element : Type(VectorType::get(width, element));
  return amdgpu::RawBufferLoadOp::create(
      builder, loc, result, memory, indices, /*boundsCheck=*/true,
      /*indexOffset=*/IntegerAttr(), /*sgprOffset=*/begin);
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
