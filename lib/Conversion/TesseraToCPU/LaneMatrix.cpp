//===- LaneMatrix.cpp - Vendors' matrix ops, lane by lane -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   nvgpu.mma.sync, amdgpu.mfma, amdgpu.wmma   tessera_cpu_mma, by the maps of
//                                              the instruction's row
//   nvgpu.ldmatrix               an exchange of the rows' addresses, and loads
//   nvgpu.device_async_copy,     tessera_cpu_async_copy, commit, wait
//   create_group, wait
//
// A chip that emulates another has the instructions of its table. The host's
// own chips take those of all tables: their threads are the lanes.
//
//===----------------------------------------------------------------------===//

#include "Emulation.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "Dialect/Tessera/Utils/VendorOps.h"
#include "TargetInfo/Emulation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

/// Stores a lane's value to `memory` as contiguous bits.
static void storeBits(OpBuilder &builder, Location loc, Value value,
                      Value memory) {
  if (auto type = dyn_cast<VectorType>(value.getType())) {
    auto flat = VectorType::get(type.getNumElements(), type.getElementType());
    if (flat != type)
      value = vector::ShapeCastOp::create(builder, loc, flat, value);
    auto bits = VectorType::get(
        flat.getShape(), builder.getIntegerType(flat.getElementTypeBitWidth()));
    if (bits != flat)
      value = vector::BitCastOp::create(builder, loc, bits, value);
  }
  LLVM::StoreOp::create(builder, loc, value, memory, /*alignment=*/8);
}

static Value loadBits(OpBuilder &builder, Location loc, VectorType type,
                      Value memory) {
  auto flat = VectorType::get(type.getNumElements(), type.getElementType());
  auto bits = VectorType::get(
      flat.getShape(), builder.getIntegerType(flat.getElementTypeBitWidth()));
  Value value =
      LLVM::LoadOp::create(builder, loc, bits, memory, /*alignment=*/8);
  if (bits != flat)
    value = vector::BitCastOp::create(builder, loc, flat, value);
  if (flat != type)
    value = vector::ShapeCastOp::create(builder, loc, type, value);
  return value;
}

LogicalResult EmulatedTarget::convertMatmul(Operation *op) const {
  LaneMatmul matmul = *getLaneMatmul(op);
  if (!matmul.unsupported.empty())
    return op->emitOpError()
           << "cannot be executed on the CPU: it has " << matmul.unsupported;
  const MatrixInstruction *row = nullptr;
  if (isEmulated(chip)) {
    row = findInstruction(chip, op);
  } else {
    for (const Chip &other : getAllChips())
      if (!row && other.hasLanes())
        row = findInstruction(other, op);
  }
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value instruction =
      row ? symbols.emitInstruction(builder, loc, *row, matmul.unsignedA,
                                    matmul.unsignedB)
          : Value();
  if (!instruction) {
    InFlightDiagnostic diag = op->emitOpError();
    diag << "is not an instruction of ";
    if (isEmulated(chip))
      diag << getEmulatedName(chip);
    else
      diag << "any chip in the tables";
    return diag << " with this shape and these types";
  }
  OpBuilder entry =
      OpBuilder::atBlockBegin(&cast<gpu::GPUFuncOp>(kernel).getBody().front());
  SmallVector<Value> memory;
  for (Value operand : op->getOperands().take_front(3)) {
    Type element = getElementTypeOrSelf(operand.getType());
    int64_t bytes = llvm::divideCeil(getNumLaneElements(operand.getType()) *
                                         element.getIntOrFloatBitWidth(),
                                     8);
    Value count = LLVM::ConstantOp::create(
        entry, loc, entry.getI64Type(),
        entry.getI64IntegerAttr(std::max<int64_t>(bytes, 8)));
    memory.push_back(LLVM::AllocaOp::create(
        entry, loc, LLVM::LLVMPointerType::get(op->getContext()),
        entry.getI8Type(), count, /*alignment=*/64));
    storeBits(builder, loc, operand, memory.back());
  }
  emitCall(builder, loc, "tessera_cpu_mma",
           {instruction,
            symbols.emitLocation(builder, loc, op->getName().getStringRef()),
            memory[0], memory[1], memory[2]});
  op->getResult(0).replaceAllUsesWith(loadBits(
      builder, loc, cast<VectorType>(op->getResult(0).getType()), memory[2]));
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

/// Each lane passes the address of a row of eight 16-bit words: lane 8 t + r
/// that of row r of tile t. Lane l receives two words of row l / 4 of each
/// tile, or of column l / 4 if it is transposed (PTX ISA, "ldmatrix").
LogicalResult EmulatedTarget::convertLdMatrix(Operation *operation) const {
  auto op = cast<nvgpu::LdMatrixOp>(operation);
  constexpr int64_t lanes = 32, rows = 8;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  if (isEmulated(chip) && !hasInstruction(chip, op))
    return op.emitOpError()
           << "is not an instruction of " << getEmulatedName(chip);
  Type i16 = builder.getI16Type(), i32 = builder.getI32Type(),
       i64 = builder.getI64Type();
  auto pointer = LLVM::LLVMPointerType::get(op.getContext());
  auto number = [&](int64_t value, Type type) -> Value {
    return arith::ConstantIntOp::create(builder, loc, type, value);
  };
  Value lane = arith::IndexCastOp::create(
      builder, loc, i32,
      arith::RemUIOp::create(
          builder, loc, emitLinearThread(builder, op),
          arith::ConstantIndexOp::create(builder, loc, lanes)));
  Value quad = arith::DivUIOp::create(builder, loc, lane, number(4, i32)),
        inQuad = arith::RemUIOp::create(builder, loc, lane, number(4, i32));
  Value own = LLVM::PtrToIntOp::create(
      builder, loc, i64,
      emitAddress(builder, loc, op.getSrcMemref(), op.getIndices()));
  Value place = symbols.emitLocation(builder, loc, "nvgpu.ldmatrix");
  auto exchange = [&](Value value, Value from) {
    return emitCall(builder, loc, "tessera_cpu_shuffle",
                    {place, value, from, number(lanes, i32)}, i64);
  };
  auto load = [&](Value row, Value offset, int64_t bytes, Type type) -> Value {
    Value distance = arith::ExtUIOp::create(
        builder, loc, i64,
        arith::MulIOp::create(builder, loc, offset, number(bytes, i32)));
    Value sum = arith::AddIOp::create(builder, loc, row, distance);
    Value address = LLVM::IntToPtrOp::create(builder, loc, pointer, sum);
    return LLVM::LoadOp::create(builder, loc, type, address,
                                /*alignment=*/static_cast<unsigned>(bytes));
  };
  auto words = VectorType::get(op.getNumTiles(), i32);
  Value result =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(words));
  for (int64_t tile = 0; tile < static_cast<int64_t>(op.getNumTiles());
       ++tile) {
    Value first = number(rows * tile, i32), word;
    if (!op.getTranspose()) {
      Value row =
          exchange(own, arith::AddIOp::create(builder, loc, first, quad));
      word = load(row, inQuad, 4, i32);
    } else {
      Value halves[2];
      for (int64_t half : {0, 1}) {
        Value index = arith::AddIOp::create(
            builder, loc, first,
            arith::MulIOp::create(builder, loc, inQuad, number(2, i32)));
        index = arith::AddIOp::create(builder, loc, index, number(half, i32));
        halves[half] = arith::ExtUIOp::create(
            builder, loc, i32, load(exchange(own, index), quad, 2, i16));
      }
      word = arith::OrIOp::create(
          builder, loc, halves[0],
          arith::ShLIOp::create(builder, loc, halves[1], number(16, i32)));
    }
    result = vector::InsertOp::create(builder, loc, word, result,
                                      ArrayRef<int64_t>{tile});
  }
  // A lane must not overwrite a row that another one is still to read.
  exchange(own, lane);
  auto type = cast<VectorType>(op.getType());
  auto flat = VectorType::get(type.getNumElements(), type.getElementType());
  if (flat != words)
    result = vector::BitCastOp::create(builder, loc, flat, result);
  if (flat != type)
    result = vector::ShapeCastOp::create(builder, loc, type, result);
  op.getRes().replaceAllUsesWith(result);
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult EmulatedTarget::convertAsyncOp(Operation *operation) const {
  OpBuilder builder(operation);
  Location loc = operation->getLoc();
  if (isEmulated(chip) && !hasInstruction(chip, operation))
    return operation->emitOpError()
           << "is not an instruction of " << getEmulatedName(chip);
  if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(operation)) {
    Type element = cast<MemRefType>(copy.getSrc().getType()).getElementType();
    int64_t bits =
        copy.getDstElements().getSExtValue() * getElementBits(element);
    Value all = arith::ConstantIntOp::create(builder, loc, bits / 8, 64),
          some = all;
    if (Value count = copy.getSrcElements()) {
      Value size = arith::ConstantIntOp::create(builder, loc,
                                                getElementBits(element), 64),
            byte = arith::ConstantIntOp::create(builder, loc, 8, 64);
      some =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
      some = arith::DivUIOp::create(
          builder, loc, arith::MulIOp::create(builder, loc, some, size), byte);
    }
    emitCall(builder, loc, "tessera_cpu_async_copy",
             {emitAddress(builder, loc, copy.getDst(), copy.getDstIndices()),
              emitAddress(builder, loc, copy.getSrc(), copy.getSrcIndices()),
              all, some});
  } else if (auto wait = dyn_cast<nvgpu::DeviceAsyncWaitOp>(operation)) {
    emitCall(builder, loc, "tessera_cpu_async_wait",
             {arith::ConstantIntOp::create(
                 builder, loc, wait.getNumGroups().value_or(0), 64)});
  } else {
    emitCall(builder, loc, "tessera_cpu_async_commit", {});
  }
  // Tokens order nothing: a thread's copies are in program order.
  if (operation->getNumResults())
    operation->getResult(0).replaceAllUsesWith(
        arith::ConstantIntOp::create(builder, loc, 0, 32).getResult());
  operation->erase();
  return success();
}

LogicalResult EmulatedTarget::convertVendorOps() const {
  SmallVector<Operation *> ops;
  kernel->walk([&](Operation *op) {
    if (isVendorLaneOp(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return success();
  for (Operation *op : ops) {
    LogicalResult result = getLaneMatmul(op)            ? convertMatmul(op)
                           : isa<nvgpu::LdMatrixOp>(op) ? convertLdMatrix(op)
                                                        : convertAsyncOp(op);
    if (failed(result))
      return failure();
  }
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](nvgpu::DeviceAsyncTokenType type) -> std::optional<Type> {
        return IntegerType::get(type.getContext(), 32);
      });
  replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/false,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return success();
}
