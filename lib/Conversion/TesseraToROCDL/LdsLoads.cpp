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
// The loads of a subgroup write adjacent chunks, and read rows a constant
// apart. The instruction adds its immediate offset to both addresses (LLVM,
// IntrinsicsAMDGPU.td, "int_amdgcn_load_to_lds", which the back end lowers to
// this intrinsic), and a scalar offset to the source alone:
//
//   load i:  LDS     m0                  + immediate i * chunk    + lane
//            source  base + scalar i * (distance - chunk)
//                                        + immediate i * chunk    + vector
//
// so that loads within 4 KiB share m0, and all of them the vector register.
//
// vmcnt counts the loads in flight, which a barrier does not wait for:
// Tessera's own wait before it does.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/Threads.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

/// LLVM's address spaces of global memory and of buffer resources.
static constexpr unsigned globalSpace = 1, resourceSpace = 8;

/// The largest immediate offset of a buffer instruction.
static constexpr int64_t mostImmediate = 4095;

/// The last word of a buffer resource of gfx9, as upstream's conversion of
/// `amdgpu.fat_raw_buffer_cast` has it: elements of 32 bits, a number and a
/// format.
static constexpr int64_t bufferFlags = (7 << 12) | (4 << 15);

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

/// The number of this thread's subgroup, as a scalar. LLVM moves no exchange
/// between lanes out of a loop, so it is at the beginning of the kernel.
static Value emitSubgroup(OpBuilder &builder, Location loc, Value thread,
                          int64_t subgroupSize) {
  OpBuilder::InsertionGuard guard(builder);
  Operation *op = thread.getDefiningOp();
  if (auto kernel = op ? op->getParentOfType<gpu::GPUFuncOp>() : nullptr) {
    builder.setInsertionPointToStart(&kernel.getBody().front());
    thread = emitLinearThread(builder, op);
  }
  IndexMath math(builder, loc);
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                 math.div(thread, math.constant(subgroupSize)));
  number =
      ROCDL::ReadfirstlaneOp::create(builder, loc, number.getType(), number);
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    number);
}

/// `memory` from the constant `offsets` on; itself if they are 0.
static Value emitView(OpBuilder &builder, Location loc, Value memory,
                      ArrayRef<int64_t> offsets) {
  if (llvm::all_of(offsets, [](int64_t offset) { return offset == 0; }))
    return memory;
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> begin, sizes,
      steps(type.getRank(), builder.getIndexAttr(1));
  for (auto [offset, size] : llvm::zip(offsets, type.getShape())) {
    begin.push_back(builder.getIndexAttr(offset));
    sizes.push_back(builder.getIndexAttr(size - offset));
  }
  return memref::SubViewOp::create(builder, loc, memory, begin, sizes, steps);
}

bool AmdTarget::emitLdsLoad(OpBuilder &builder, Location loc,
                            const LdsCopy &copy, std::array<Value, 2> position,
                            int64_t rows, Value begin, int64_t number) const {
  IndexMath math(builder, loc);
  bool isBuffer = copy.isUniform &&
                  isNear(cast<MemRefType>(copy.source.getType()), copy.shape);
  Value source = copy.source;
  SmallVector<Value> indices(position.begin(), position.end());
  if (isBuffer) {
    source =
        emitView(builder, loc, emitTileBuffer(builder, loc, copy), {rows, 0});
  } else {
    indices = copy.emitSourceIndices(
        builder, loc, {math.add(position[0], rows), position[1]});
  }
  // Where the subgroup's first lane writes.
  int64_t ofLoad = chip.subgroupSize * copy.width;
  Value subgroup = emitSubgroup(builder, loc, copy.thread, chip.subgroupSize),
        first = math.add(math.mul(subgroup, copy.loads * ofLoad), begin);
  Value target = emitView(builder, loc, copy.to, number * ofLoad);
  Type element = cast<MemRefType>(copy.to.getType()).getElementType();
  amdgpu::GatherToLDSOp::create(
      builder, loc, source, indices, target, first,
      TypeAttr::get(copy.width == 1
                        ? element
                        : Type(VectorType::get(copy.width, element))));
  return true;
}

/// The memory of which `memory` is a part with a constant offset, and that
/// offset in bytes.
static std::pair<Value, int64_t> splitView(Value memory) {
  auto view = memory.getDefiningOp<memref::SubViewOp>();
  if (!view || ShapedType::isDynamicShape(view.getStaticOffsets()))
    return {memory, 0};
  auto type = cast<MemRefType>(view.getSource().getType());
  SmallVector<int64_t> strides;
  int64_t offset, bytes = 0;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return {memory, 0};
  for (auto [index, stride] : llvm::zip(view.getStaticOffsets(), strides)) {
    if (ShapedType::isDynamic(stride))
      return {memory, 0};
    bytes += index * stride;
  }
  return {view.getSource(), bytes * getElementBytes(type.getElementType())};
}

/// The address of the element of `memory` at `indices` less its base pointer,
/// in bytes.
static Value emitByteOffset(OpBuilder &builder, Location loc, Value memory,
                            ValueRange indices) {
  IndexMath math(builder, loc);
  auto type = cast<MemRefType>(memory.getType());
  auto data = memref::ExtractStridedMetadataOp::create(builder, loc, memory);
  Value sum = getValueOrCreateConstantIndexOp(builder, loc,
                                              data.getConstifiedMixedOffset());
  for (auto [index, stride] :
       llvm::zip(indices, data.getConstifiedMixedStrides()))
    sum = math.add(sum, math.mul(index, getValueOrCreateConstantIndexOp(
                                            builder, loc, stride)));
  return math.mul(sum, getElementBytes(type.getElementType()));
}

/// `index` as the sum of a value and a constant. The steps of a loop body
/// differ by constants.
static std::pair<Value, int64_t> splitConstant(const IndexMath &math,
                                               Value index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return {math.constant(0), *known};
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    auto [left, leftConstant] = splitConstant(math, sum.getLhs());
    auto [right, rightConstant] = splitConstant(math, sum.getRhs());
    if (leftConstant != 0 || rightConstant != 0)
      return {math.add(left, right), leftConstant + rightConstant};
  }
  if (auto product = index.getDefiningOp<arith::MulIOp>())
    if (std::optional<int64_t> factor = getConstantIntValue(product.getRhs())) {
      auto [value, constant] = splitConstant(math, product.getLhs());
      if (constant != 0)
        return {math.mul(value, *factor), constant * *factor};
    }
  return {index, 0};
}

namespace {
/// The address of an element: a base, which is a buffer's, and offsets in
/// bytes.
struct BufferAddress {
  Value base, vector;
  int64_t scalar = 0;
};
} // namespace

/// The address of the element of `tile`, part of a memory, at `indices`. If all
/// of the memory is in reach, it is the buffer, which is then the same in all
/// steps of a loop.
static BufferAddress emitAddress(ImplicitLocOpBuilder &builder,
                                 memref::SubViewOp tile, ValueRange indices) {
  Location loc = builder.getLoc();
  IndexMath math(builder);
  Value memory = tile.getSource();
  auto type = tile.getSourceType();
  SmallVector<int64_t> strides;
  int64_t offset, bytes = getElementBytes(type.getElementType()), reach = 0;
  bool isWhole = type.hasStaticShape() &&
                 succeeded(type.getStridesAndOffset(strides, offset)) &&
                 llvm::all_of(strides, [](int64_t stride) {
                   return !ShapedType::isDynamic(stride) && stride >= 0;
                 });
  if (isWhole)
    for (auto [size, stride] : llvm::zip(type.getShape(), strides))
      reach += size * stride;
  isWhole &= reach * bytes <= mostBytes;
  BufferAddress address;
  if (!isWhole)
    memory = tile;
  address.base =
      math.add(memref::ExtractAlignedPointerAsIndexOp::create(builder, memory),
               emitByteOffset(builder, loc, memory, {}));
  auto tileStrides = tile.getType().getStridesAndOffset().first;
  address.vector = math.constant(0);
  for (auto [index, stride] : llvm::zip(indices, tileStrides))
    address.vector = math.add(address.vector, math.mul(index, stride * bytes));
  if (!isWhole)
    return address;
  for (auto [origin, stride] : llvm::zip(tile.getMixedOffsets(), strides)) {
    auto [value, constant] = splitConstant(
        math, getValueOrCreateConstantIndexOp(builder, loc, origin));
    address.vector = math.add(address.vector, math.mul(value, stride * bytes));
    address.scalar += constant * stride * bytes;
  }
  return address;
}

/// Lowers `load` from the tile of `buffer`, `sourceBytes` after its indices.
static void lowerLdsLoad(amdgpu::GatherToLDSOp load, memref::SubViewOp tile,
                         amdgpu::FatRawBufferCastOp buffer,
                         int64_t sourceBytes) {
  ImplicitLocOpBuilder builder(load.getLoc(), load);
  Location loc = load.getLoc();
  IndexMath math(builder);
  Type i32 = builder.getI32Type();
  auto cast = [&](Type type, Value index) -> Value {
    return arith::IndexCastOp::create(builder, type, index);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, i32, value);
  };
  auto getPointer = [&](unsigned space, Value integer) -> Value {
    return LLVM::IntToPtrOp::create(
        builder, LLVM::LLVMPointerType::get(builder.getContext(), space),
        integer);
  };

  BufferAddress from = emitAddress(builder, tile, load.getSrcIndices());
  Value resource = ROCDL::MakeBufferRsrcOp::create(
      builder, LLVM::LLVMPointerType::get(builder.getContext(), resourceSpace),
      getPointer(globalSpace, cast(builder.getI64Type(), from.base)),
      arith::ConstantIntOp::create(builder, builder.getI16Type(), 0),
      buffer.getValidBytes(), constant(bufferFlags));

  auto [target, targetBytes] = splitView(load.getDst());
  // The immediate is added to both addresses.
  int64_t scalar = from.scalar + sourceBytes,
          immediate = targetBytes % (mostImmediate + 1);
  if (immediate > scalar)
    immediate = 0;
  Value to = math.add(
      math.add(memref::ExtractAlignedPointerAsIndexOp::create(builder, target),
               emitByteOffset(builder, loc, target, load.getDstIndices())),
      targetBytes - immediate);

  Type moved = load.getTransferType();
  auto vector = dyn_cast<VectorType>(moved);
  int64_t bytes = (vector ? vector.getNumElements() : 1) *
                  getElementBytes(getElementTypeOrSelf(moved));
  ROCDL::RawPtrBufferLoadLdsOp::create(
      builder, resource,
      getPointer(ROCDL::ROCDLDialect::kSharedMemoryAddressSpace, cast(i32, to)),
      constant(bytes), cast(i32, from.vector), constant(scalar - immediate),
      constant(immediate), /*aux=*/constant(0), ArrayAttr(), ArrayAttr(),
      ArrayAttr());
  load.erase();
}

void mlir::tessera::lowerLdsLoads(Operation *kernel) {
  kernel->walk([](amdgpu::GatherToLDSOp load) {
    auto [source, bytes] = splitView(load.getSrc());
    auto buffer = source.getDefiningOp<amdgpu::FatRawBufferCastOp>();
    if (!buffer)
      return;
    if (auto tile = buffer.getSource().getDefiningOp<memref::SubViewOp>())
      lowerLdsLoad(load, tile, buffer, bytes);
  });
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
