//===- LdsLoads.cpp - Loads straight to workgroup memory ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// buffer_load_dword ... lds, on CDNA4 dwordx3 and dwordx4 as well (CDNA3 and
// CDNA4 ISA, "Memory buffer load to LDS"): lane l's elements are written to LDS
// at m0 plus l times their size. If the tile's origin is the same for all
// threads, it is the buffer's base, which scalar instructions compute, and a
// thread's offset is constant over the steps.
//
// vmcnt counts the loads in flight, which a barrier does not wait for:
// Tessera's own wait before it does.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

/// The most bytes that a buffer's offset reaches.
static constexpr int64_t mostBytes = (int64_t(1) << 31) - 1;

/// Whether offsets within a tile of `shape` fit a buffer's.
static bool isNear(MemRefType type, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t end = 0;
  for (auto [size, stride] : llvm::zip(shape, ArrayRef(strides).take_back(2))) {
    if (ShapedType::isDynamic(stride) || stride < 0 || stride > mostBytes)
      return false;
    end += size * stride;
  }
  return end * getElementBytes(type.getElementType()) <= mostBytes;
}

/// The tile as a buffer.
static Value emitTileBuffer(OpBuilder &builder, Location loc,
                            const LdsCopy &copy) {
  auto type = cast<MemRefType>(copy.source.getType());
  SmallVector<OpFoldResult> begin(copy.origin.begin(), copy.origin.end()),
      sizes(type.getRank() - 2, builder.getIndexAttr(1)),
      steps(type.getRank(), builder.getIndexAttr(1));
  for (int64_t size : copy.shape)
    sizes.push_back(builder.getIndexAttr(size));
  auto strides = type.getStridesAndOffset().first;
  auto tileType = MemRefType::get(
      copy.shape, type.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic,
                             ArrayRef(strides).take_back(2)),
      type.getMemorySpace());
  Value tile = memref::SubViewOp::create(builder, loc, tileType, copy.source,
                                         begin, sizes, steps);
  // All of it is known to be in bounds.
  Value bytes = arith::ConstantIntOp::create(builder, loc, mostBytes, 64);
  return amdgpu::FatRawBufferCastOp::create(
      builder, loc, tile, bytes, /*cacheSwizzleStride=*/Value(),
      /*boundsCheck=*/false, /*resetOffset=*/true);
}

/// The number of this thread's subgroup, as a scalar.
static Value emitSubgroup(OpBuilder &builder, Location loc, Value thread,
                          int64_t subgroupSize) {
  IndexMath math(builder, loc);
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                 math.div(thread, math.constant(subgroupSize)));
  number =
      ROCDL::ReadfirstlaneOp::create(builder, loc, number.getType(), number);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    number);
}

bool AmdTarget::emitLdsLoad(OpBuilder &builder, Location loc,
                            const LdsCopy &copy, std::array<Value, 2> position,
                            Value first) const {
  IndexMath math(builder, loc);
  bool isBuffer = copy.isUniform &&
                  isNear(cast<MemRefType>(copy.source.getType()), copy.shape);
  Value source = isBuffer ? emitTileBuffer(builder, loc, copy) : copy.source;
  SmallVector<Value> indices =
      isBuffer ? SmallVector<Value>(position.begin(), position.end())
               : copy.emitSourceIndices(builder, loc, position);
  // Where the subgroup's first lane writes.
  Value subgroup = emitSubgroup(builder, loc, copy.thread, chip.subgroupSize),
        begin =
            math.add(math.mul(subgroup, chip.subgroupSize * copy.width), first);
  Type element = cast<MemRefType>(copy.to.getType()).getElementType();
  amdgpu::GatherToLDSOp::create(
      builder, loc, source, indices, copy.to, begin,
      TypeAttr::get(copy.width == 1
                        ? element
                        : Type(VectorType::get(copy.width, element))));
  return true;
}

void AmdTarget::emitAsyncWait(OpBuilder &builder, Location loc, int64_t,
                              std::optional<int64_t> ldsLoads) const {
  if (ldsLoads)
    amdgpu::MemoryCounterWaitOp::create(
        builder, loc,
        builder.getI32IntegerAttr(static_cast<int32_t>(*ldsLoads)),
        /*store=*/IntegerAttr(), /*ds=*/IntegerAttr(), /*exp=*/IntegerAttr(),
        /*tensor=*/IntegerAttr());
}
