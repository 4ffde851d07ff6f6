//===- MemoryIndex.cpp - Indices of elements and bytes in memory ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/MemoryIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

/// `memory` with elements of bytes: the same pointer, offset, sizes and
/// strides.
static Value viewAsBytes(OpBuilder &builder, Location loc, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  auto bytes = MemRefType::get(type.getShape(), builder.getI8Type(),
                               type.getLayout(), type.getMemorySpace());
  return UnrealizedConversionCastOp::create(builder, loc, bytes, memory)
      .getResult(0);
}

Value mlir::tessera::emitLinearIndex(OpBuilder &builder, Location loc,
                                     Value memory, ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  int64_t offset = ShapedType::kDynamic;
  (void)type.getStridesAndOffset(strides, offset);
  auto metadata = memref::ExtractStridedMetadataOp::create(
      builder, loc, viewAsBytes(builder, loc, memory));
  auto toValue = [&](int64_t known, Value dynamic) -> Value {
    return ShapedType::isDynamic(known)
               ? dynamic
               : Value(arith::ConstantIndexOp::create(builder, loc, known));
  };
  Value linear = toValue(offset, metadata.getOffset());
  for (auto [index, known, dynamic] :
       llvm::zip(indices, strides, metadata.getStrides())) {
    Value step = builder.createOrFold<arith::MulIOp>(loc, index,
                                                     toValue(known, dynamic));
    linear = builder.createOrFold<arith::AddIOp>(loc, linear, step);
  }
  return linear;
}

/// Half of `index`, rounded down.
static Value emitHalf(OpBuilder &builder, Location loc, Value index) {
  return builder.createOrFold<arith::ShRUIOp>(
      loc, index, arith::ConstantIndexOp::create(builder, loc, 1));
}

Value mlir::tessera::emitByteIndex(OpBuilder &builder, Location loc,
                                   Value memory, ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  auto isEven = [](int64_t value) {
    return ShapedType::isStatic(value) && value % 2 == 0;
  };
  if (indices.empty() || failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || !isEven(offset) ||
      !llvm::all_of(ArrayRef(strides).drop_back(), isEven))
    return emitHalf(builder, loc,
                    emitLinearIndex(builder, loc, memory, indices));
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value byte = constant(offset / 2);
  for (auto [index, stride] :
       llvm::zip(indices.drop_back(), ArrayRef(strides).drop_back())) {
    Value step =
        builder.createOrFold<arith::MulIOp>(loc, index, constant(stride / 2));
    byte = builder.createOrFold<arith::AddIOp>(loc, byte, step);
  }
  return builder.createOrFold<arith::AddIOp>(
      loc, byte, emitHalf(builder, loc, indices.back()));
}

Value mlir::tessera::emitByteView(OpBuilder &builder, Location loc,
                                  Value memory, Value first, int64_t count) {
  auto metadata = memref::ExtractStridedMetadataOp::create(
      builder, loc, viewAsBytes(builder, loc, memory));
  auto type = MemRefType::get(
      {count}, builder.getI8Type(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}),
      cast<MemRefType>(memory.getType()).getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, loc, type, metadata.getBaseBuffer(), OpFoldResult(first),
      ArrayRef<OpFoldResult>{builder.getIndexAttr(count)},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}
