//===- VendorExpansion.cpp - Portable code for vendors' ops ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nvgpu.mma.sync, amdgpu.mfma, amdgpu.wmma:
//     memory = the elements of a, row by row, and of b, column by column
//     barrier
//     for k: acc[r] += a[row of r][k] * b[column of r][k]   own registers r
//     barrier
//   nvgpu.ldmatrix:
//     memory[lane] = the row at the lane's address
//     barrier
//     result = words of the rows of other lanes
//     barrier
//   nvgpu.device_async_copy          loads and stores
//   ..._create_group, ..._wait       nothing: the copies are complete
//   amdgpu.raw_buffer_load, ..._store   loads and stores of elements in bounds
//   amdgpu.lds_barrier, sched_barrier   gpu.barrier, nothing
//
// The lanes are the threads of a workgroup, by their linear number. Rows and
// columns of registers are those of the instruction's row in the chips' tables.
//
//===----------------------------------------------------------------------===//

#include "VendorExpansion.h"

#include "Dialect/Tessera/Utils/Threads.h"
#include "Dialect/Tessera/Utils/VendorOps.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

static Value emitIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

static Value emitSum(OpBuilder &builder, Location loc, Value left,
                     int64_t right) {
  if (right == 0)
    return left;
  return builder.createOrFold<arith::AddIOp>(loc, left,
                                             emitIndex(builder, loc, right));
}

/// The offset of a lane's first element, if a row is `strides[0]` from the next
/// and a column `strides[1]`: each bit of the lane adds its step.
static Value emitLaneOffset(OpBuilder &builder, Location loc, Value lane,
                            const LaneMap &map,
                            std::array<int64_t, 2> strides) {
  auto getStep = [&](const LaneMap::Step &step) {
    return step[0] * strides[0] + step[1] * strides[1];
  };
  ArrayRef<LaneMap::Step> steps = map.getLanes();
  Value offset = emitIndex(builder, loc, 0);
  for (size_t first = 0, end; first < steps.size(); first = end) {
    // Bits whose steps double are one number.
    int64_t step = getStep(steps[first]);
    for (end = first + 1;
         end < steps.size() && getStep(steps[end]) == step << (end - first);)
      ++end;
    if (step == 0)
      continue;
    Value bits = lane;
    if (first > 0)
      bits = arith::ShRUIOp::create(
          builder, loc, bits,
          emitIndex(builder, loc, static_cast<int64_t>(first)));
    if (end < steps.size())
      bits = arith::AndIOp::create(
          builder, loc, bits,
          emitIndex(builder, loc, (int64_t(1) << (end - first)) - 1));
    bits = builder.createOrFold<arith::MulIOp>(loc, bits,
                                               emitIndex(builder, loc, step));
    offset = builder.createOrFold<arith::AddIOp>(loc, offset, bits);
  }
  return offset;
}

/// The type of an operand's elements in memory: i4 takes a byte.
static Type getStoredType(Value operand) {
  Type element = getElementTypeOrSelf(operand);
  return element.isInteger(4) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

/// `value`, a scalar or a vector, with elements of the type `sum`.
static Value emitExtended(OpBuilder &builder, Location loc, Value value,
                          Type sum, bool isUnsigned) {
  Type type = sum;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(sum);
  if (type == value.getType())
    return value;
  if (isa<FloatType>(sum))
    return arith::ExtFOp::create(builder, loc, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, type, value);
  return arith::ExtSIOp::create(builder, loc, type, value);
}

void VendorExpansion::reserve(Operation *op, const MatrixInstruction *row,
                              int64_t lanes) {
  if (row) {
    reserve(Buffer::A, getStoredType(op->getOperand(0)), lanes,
            row->m * row->k);
    reserve(Buffer::B, getStoredType(op->getOperand(1)), lanes,
            row->k * row->n);
  } else if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op)) {
    auto type = cast<VectorType>(load.getType());
    // A row of eight words of 16 bits from each lane.
    reserve(Buffer::Rows, type.getElementType(), lanes,
            lanes * 128 / type.getElementTypeBitWidth());
  } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
    reserve(Buffer::Values, shuffle.getValue().getType(), lanes, lanes);
  }
}

void VendorExpansion::allocate() {
  Attribute space = gpu::AddressSpaceAttr::get(kernel->getContext(),
                                               gpu::AddressSpace::Workgroup);
  for (auto &[key, buffer] : buffers) {
    auto type = MemRefType::get({buffer.subgroups, buffer.elements}, key.second,
                                MemRefLayoutAttrInterface(), space);
    if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
      buffer.memory = launch.addWorkgroupAttribution(type, kernel->getLoc());
    else
      buffer.memory = cast<gpu::GPUFuncOp>(kernel).addWorkgroupAttribution(
          type, kernel->getLoc());
  }
}

VendorExpansion::Lanes VendorExpansion::getLanes(OpBuilder &builder,
                                                 Operation *op,
                                                 int64_t lanes) const {
  Location loc = op->getLoc();
  Value thread = emitLinearThread(builder, op);
  if (numThreads == lanes)
    return {thread, emitIndex(builder, loc, 0)};
  Value count = emitIndex(builder, loc, lanes);
  return {arith::RemUIOp::create(builder, loc, thread, count),
          arith::DivUIOp::create(builder, loc, thread, count)};
}

/// The elements of a lane's value as a vector of one dimension.
static Value emitFlat(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return vector::FromElementsOp::create(
        builder, loc, VectorType::get({1}, value.getType()), value);
  if (type.getRank() == 1)
    return value;
  return vector::ShapeCastOp::create(
      builder, loc,
      VectorType::get({type.getNumElements()}, type.getElementType()), value);
}

/// Stores a lane's elements of an operand. Where several lanes have the same
/// elements, one of them stores.
void VendorExpansion::storeOperand(OpBuilder &builder, Location loc,
                                   const Lanes &lanes, Value operand,
                                   const LaneMap &map, Buffer::Use use,
                                   bool isUnsigned,
                                   std::array<int64_t, 2> strides) {
  Type element = getStoredType(operand);
  Value flat = emitExtended(builder, loc, emitFlat(builder, loc, operand),
                            element, isUnsigned);
  Value memory = buffers[{use, element}].memory;
  OpBuilder::InsertionGuard guard(builder);
  if (int64_t bits = map.getReplicatedLaneBits()) {
    Value same = arith::AndIOp::create(builder, loc, lanes.lane,
                                       emitIndex(builder, loc, bits));
    Value isFirst =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, same,
                              emitIndex(builder, loc, 0));
    auto branch = scf::IfOp::create(builder, loc, isFirst);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  Value offset = emitLaneOffset(builder, loc, lanes.lane, map, strides);
  int64_t run = map.getContiguous(strides[1] == 1 ? 1 : 0);
  for (int64_t reg = 0; reg < map.getNumRegisters(); reg += run) {
    auto [row, col] = map.at(/*lane=*/0, reg);
    Value index =
        emitSum(builder, loc, offset, row * strides[0] + col * strides[1]);
    Value part = vector::ExtractStridedSliceOp::create(
        builder, loc, flat, ArrayRef<int64_t>{reg}, ArrayRef<int64_t>{run},
        ArrayRef<int64_t>{1});
    vector::StoreOp::create(builder, loc, part, memory,
                            ValueRange{lanes.subgroup, index});
  }
}

void VendorExpansion::expandMatmul(Operation *op,
                                   const MatrixInstruction &row) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  LaneMatmul matmul = *getLaneMatmul(op);
  Value a = op->getOperand(0), b = op->getOperand(1), acc = op->getOperand(2);
  Lanes lanes = getLanes(builder, op, row.accMap.getNumLanes());
  // Both operands have K in consecutive elements.
  storeOperand(builder, loc, lanes, a, row.aMap, Buffer::A, matmul.unsignedA,
               {row.k, 1});
  storeOperand(builder, loc, lanes, b, row.bMap, Buffer::B, matmul.unsignedB,
               {1, row.k});
  gpu::BarrierOp::create(builder, loc);

  Type accElement = getElementTypeOrSelf(acc),
       sum = accElement.isF16() || accElement.isBF16()
                 ? Type(builder.getF32Type())
                 : accElement;
  int64_t numRegisters = row.accMap.getNumRegisters();
  Value flat = emitFlat(builder, loc, acc);
  SmallVector<Value> sums;
  for (int64_t reg = 0; reg < numRegisters; ++reg)
    sums.push_back(emitExtended(
        builder, loc, vector::ExtractOp::create(builder, loc, flat, reg), sum,
        /*isUnsigned=*/false));

  Value rowOffset =
            emitLaneOffset(builder, loc, lanes.lane, row.accMap, {row.k, 0}),
        colOffset =
            emitLaneOffset(builder, loc, lanes.lane, row.accMap, {0, row.k});
  constexpr int64_t mostPerStep = 8;
  int64_t perStep = std::min(row.k, mostPerStep);
  auto loop = scf::ForOp::create(builder, loc, emitIndex(builder, loc, 0),
                                 emitIndex(builder, loc, row.k),
                                 emitIndex(builder, loc, perStep), sums);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    // Consecutive elements of K of one row of a, or one column of b.
    llvm::DenseMap<int64_t, Value> rows, cols;
    auto load = [&](llvm::DenseMap<int64_t, Value> &loaded, int64_t line,
                    Value operand, Buffer::Use use, Value offset,
                    bool isUnsigned) {
      Value &value = loaded[line];
      if (value)
        return value;
      Type element = getStoredType(operand);
      Value index = arith::AddIOp::create(
          builder, loc, emitSum(builder, loc, offset, line * row.k),
          loop.getInductionVar());
      value = vector::LoadOp::create(
          builder, loc, VectorType::get({perStep}, element),
          buffers[{use, element}].memory, ValueRange{lanes.subgroup, index});
      return value = emitExtended(builder, loc, value, sum, isUnsigned);
    };
    SmallVector<Value> next(loop.getRegionIterArgs());
    for (auto [reg, value] : llvm::enumerate(next)) {
      auto [line, column] =
          row.accMap.at(/*lane=*/0, static_cast<int64_t>(reg));
      Value left = load(rows, line, a, Buffer::A, rowOffset, matmul.unsignedA);
      Value right =
          load(cols, column, b, Buffer::B, colOffset, matmul.unsignedB);
      for (int64_t k = 0; k < perStep; ++k) {
        Value x = vector::ExtractOp::create(builder, loc, left, k),
              y = vector::ExtractOp::create(builder, loc, right, k);
        if (isa<FloatType>(sum))
          value = math::FmaOp::create(builder, loc, x, y, value);
        else
          value = arith::AddIOp::create(
              builder, loc, value, arith::MulIOp::create(builder, loc, x, y));
      }
    }
    scf::YieldOp::create(builder, loc, next);
  }
  gpu::BarrierOp::create(builder, loc);

  SmallVector<Value> results(loop.getResults());
  if (sum != accElement)
    for (Value &value : results)
      value = arith::TruncFOp::create(builder, loc, accElement, value);
  Value result = vector::FromElementsOp::create(
      builder, loc, VectorType::get({numRegisters}, accElement), results);
  Type type = op->getResult(0).getType();
  if (type != result.getType())
    result = vector::ShapeCastOp::create(builder, loc, type, result);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

/// Each lane passes the address of a row of eight 16-bit words: lane 8 t + r
/// that of row r of tile t. Lane l receives two words of row l / 4 of each
/// tile, or of column l / 4 if it is transposed (PTX ISA, "ldmatrix").
void VendorExpansion::expandLdMatrix(nvgpu::LdMatrixOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  constexpr int64_t numLanes = 32, rowsOfTile = 8;
  auto type = cast<VectorType>(op.getType());
  Type element = type.getElementType();
  int64_t perRow = 128 / type.getElementTypeBitWidth(), perWord = perRow / 4;
  auto numTiles = static_cast<int64_t>(op.getNumTiles());
  Lanes lanes = getLanes(builder, op, numLanes);
  Value memory = buffers[{Buffer::Rows, element}].memory;
  {
    // The addresses of the other lanes are not used, and may be invalid.
    OpBuilder::InsertionGuard guard(builder);
    if (numTiles * rowsOfTile < numLanes) {
      Value isUsed = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::ult, lanes.lane,
          emitIndex(builder, loc, numTiles * rowsOfTile));
      auto branch = scf::IfOp::create(builder, loc, isUsed);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    Value row =
        vector::LoadOp::create(builder, loc, VectorType::get({perRow}, element),
                               op.getSrcMemref(), op.getIndices());
    Value index = arith::MulIOp::create(builder, loc, lanes.lane,
                                        emitIndex(builder, loc, perRow));
    vector::StoreOp::create(builder, loc, row, memory,
                            ValueRange{lanes.subgroup, index});
  }
  gpu::BarrierOp::create(builder, loc);
  Value four = emitIndex(builder, loc, 4),
        quad = arith::DivUIOp::create(builder, loc, lanes.lane, four),
        inQuad = arith::RemUIOp::create(builder, loc, lanes.lane, four);
  // The distance of a lane's first word from that of lane 0.
  Value major = op.getTranspose() ? inQuad : quad,
        minor = op.getTranspose() ? quad : inQuad;
  int64_t majorStep = op.getTranspose() ? 2 * perRow : perRow,
          minorStep = op.getTranspose() ? 1 : perWord;
  Value offset = arith::AddIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, major,
                            emitIndex(builder, loc, majorStep)),
      arith::MulIOp::create(builder, loc, minor,
                            emitIndex(builder, loc, minorStep)));
  SmallVector<Value> elements;
  for (int64_t tile = 0; tile < numTiles; ++tile)
    for (int64_t i = 0; i < perWord; ++i) {
      int64_t distance =
          tile * rowsOfTile * perRow + i * (op.getTranspose() ? perRow : 1);
      elements.push_back(memref::LoadOp::create(
          builder, loc, memory,
          ValueRange{lanes.subgroup, emitSum(builder, loc, offset, distance)}));
    }
  gpu::BarrierOp::create(builder, loc);
  Value result = vector::FromElementsOp::create(builder, loc, type, elements);
  op.getRes().replaceAllUsesWith(result);
  op.erase();
}

void VendorExpansion::expandCopy(nvgpu::DeviceAsyncCopyOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Type element = cast<MemRefType>(op.getSrc().getType()).getElementType();
  auto type = VectorType::get({op.getDstElements().getSExtValue()}, element);
  Value value;
  if (Value count = op.getSrcElements()) {
    // Elements beyond the count are zero, and are not read.
    SmallVector<Value> elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      Value isRead =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, count,
                                emitIndex(builder, loc, i));
      auto branch = scf::IfOp::create(
          builder, loc, isRead,
          [&](OpBuilder &inner, Location loc) {
            SmallVector<Value> indices(op.getSrcIndices());
            indices.back() = emitSum(inner, loc, indices.back(), i);
            scf::YieldOp::create(
                inner, loc,
                memref::LoadOp::create(inner, loc, op.getSrc(), indices)
                    .getResult());
          },
          [&](OpBuilder &inner, Location loc) {
            scf::YieldOp::create(inner, loc,
                                 arith::ConstantOp::create(
                                     inner, loc, inner.getZeroAttr(element))
                                     .getResult());
          });
      elements.push_back(branch.getResult(0));
    }
    value = vector::FromElementsOp::create(builder, loc, type, elements);
  } else {
    value = vector::LoadOp::create(builder, loc, type, op.getSrc(),
                                   op.getSrcIndices());
  }
  vector::StoreOp::create(builder, loc, value, op.getDst(), op.getDstIndices());
}

void VendorExpansion::expandShuffle(gpu::ShuffleOp op, int64_t numLanes) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Lanes lanes = getLanes(builder, op, numLanes);
  Value memory = buffers[{Buffer::Values, op.getValue().getType()}].memory;
  memref::StoreOp::create(builder, loc, op.getValue(), memory,
                          ValueRange{lanes.subgroup, lanes.lane});
  gpu::BarrierOp::create(builder, loc);
  Value lane = arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                            lanes.lane);
  auto [from, isValid] = emitShuffleSource(builder, op, lane);
  Value index =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), from);
  Value result = memref::LoadOp::create(builder, loc, memory,
                                        ValueRange{lanes.subgroup, index});
  gpu::BarrierOp::create(builder, loc);
  op.getShuffleResult().replaceAllUsesWith(result);
  op.getValid().replaceAllUsesWith(isValid);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Ops of one thread
//===----------------------------------------------------------------------===//

bool mlir::tessera::isVendorThreadOp(Operation *op) {
  return isa<amdgpu::LDSBarrierOp, amdgpu::SchedBarrierOp,
             amdgpu::RawBufferLoadOp, amdgpu::RawBufferStoreOp>(op);
}

namespace {

/// The elements of a memref that an op accesses, one after the other.
struct BufferAccess {
  /// The memref in one dimension, its length, and the first element.
  Value memory, length, first;
};

} // namespace

/// Fails, with an error, if the memory is not contiguous.
template <typename OpT>
static FailureOr<BufferAccess> emitAccess(OpBuilder &builder, OpT op) {
  Location loc = op.getLoc();
  Value memory = op.getMemref();
  auto type = cast<MemRefType>(memory.getType());
  if (!type.getLayout().isIdentity() || type.getMemorySpace())
    return op.emitOpError()
           << "is supported on memrefs in global memory without strides only, "
              "where it is not an instruction of the chip";
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      value);
  };
  BufferAccess access;
  access.first = emitIndex(builder, loc, op.getIndexOffset().value_or(0));
  if (op.getSgprOffset())
    access.first = builder.createOrFold<arith::AddIOp>(
        loc, access.first, toIndex(op.getSgprOffset()));
  access.length = emitIndex(builder, loc, 1);
  for (int64_t d = type.getRank() - 1; d >= 0; --d) {
    Value index = builder.createOrFold<arith::MulIOp>(
        loc, toIndex(op.getIndices()[d]), access.length);
    access.first =
        builder.createOrFold<arith::AddIOp>(loc, access.first, index);
    Value size = type.isDynamicDim(d)
                     ? memref::DimOp::create(builder, loc, memory, d)
                     : emitIndex(builder, loc, type.getDimSize(d));
    access.length =
        builder.createOrFold<arith::MulIOp>(loc, access.length, size);
  }
  int64_t length =
      type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
  OpFoldResult size = type.hasStaticShape()
                          ? OpFoldResult(builder.getIndexAttr(length))
                          : OpFoldResult(access.length),
               zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  access.memory = memref::ReinterpretCastOp::create(
      builder, loc, MemRefType::get({length}, type.getElementType()), memory,
      zero, ArrayRef<OpFoldResult>(size), ArrayRef<OpFoldResult>(one));
  return access;
}

/// Calls `emit(builder, index)` for element `i` of an access, in a branch for
/// elements in bounds, which has results of `types`; else they are zero.
template <typename F>
static scf::IfOp emitInBounds(OpBuilder &builder, Location loc,
                              const BufferAccess &access, int64_t i,
                              TypeRange types, F emit) {
  Value index = emitSum(builder, loc, access.first, i);
  // A negative index is a large one without a sign.
  Value isInBounds = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, index, access.length);
  auto branch = scf::IfOp::create(builder, loc, types, isInBounds,
                                  /*withElseRegion=*/!types.empty());
  OpBuilder then = OpBuilder::atBlockBegin(branch.thenBlock());
  emit(then, index);
  if (types.empty())
    return branch;
  OpBuilder otherwise = OpBuilder::atBlockBegin(branch.elseBlock());
  scf::YieldOp::create(otherwise, loc,
                       arith::ConstantOp::create(
                           otherwise, loc, otherwise.getZeroAttr(types.front()))
                           .getResult());
  return branch;
}

LogicalResult mlir::tessera::expandVendorThreadOp(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  if (isa<amdgpu::LDSBarrierOp>(op)) {
    gpu::BarrierOp::create(builder, loc);
  } else if (auto load = dyn_cast<amdgpu::RawBufferLoadOp>(op)) {
    FailureOr<BufferAccess> access = emitAccess(builder, load);
    if (failed(access))
      return failure();
    Type type = load.getType(), element = getElementTypeOrSelf(type);
    SmallVector<Value> elements;
    for (int64_t i = 0; i < getNumLaneElements(type); ++i)
      elements.push_back(emitInBounds(builder, loc, *access, i, element,
                                      [&](OpBuilder &inner, Value index) {
                                        Value value = memref::LoadOp::create(
                                            inner, loc, access->memory, index);
                                        scf::YieldOp::create(inner, loc, value);
                                      })
                             .getResult(0));
    load.replaceAllUsesWith(type == element ? elements.front()
                                            : vector::FromElementsOp::create(
                                                  builder, loc, type, elements)
                                                  .getResult());
  } else if (auto store = dyn_cast<amdgpu::RawBufferStoreOp>(op)) {
    FailureOr<BufferAccess> access = emitAccess(builder, store);
    if (failed(access))
      return failure();
    Value flat = emitFlat(builder, loc, store.getValue());
    for (int64_t i = 0; i < getNumLaneElements(store.getValue().getType());
         ++i) {
      Value value = vector::ExtractOp::create(builder, loc, flat, i);
      emitInBounds(builder, loc, *access, i, TypeRange(),
                   [&](OpBuilder &inner, Value index) {
                     memref::StoreOp::create(inner, loc, value, access->memory,
                                             index);
                   });
    }
  }
  op->erase();
  return success();
}
