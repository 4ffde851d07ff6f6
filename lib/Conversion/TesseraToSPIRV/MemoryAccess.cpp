//===- MemoryAccess.cpp - Loads and stores by SPIR-V pointers -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryLowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"

using namespace mlir;
using namespace mlir::tessera;
using mlir::spirv::StorageClass;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Removes the terms defined in regions deeper than the function's body from
/// `sum` and returns them: those that a loop may change.
static LinearSum takeVarying(LinearSum &sum) {
  LinearSum fixed, varying;
  for (auto [value, factor] : sum.terms) {
    Operation *parent = value.getParentRegion()->getParentOp();
    LinearSum &side = isa<gpu::GPUFuncOp>(parent) ? fixed : varying;
    side.terms[value] = factor;
  }
  sum.terms = std::move(fixed.terms);
  return varying;
}

Type mlir::tessera::getRawType(MLIRContext *context, int64_t bytes) {
  Type word = IntegerType::get(context, 32);
  return bytes == 4 ? word : VectorType::get(bytes / 4, word);
}

Value MemoryLowering::getElement(const Memory &memory, ValueRange indices) {
  Value sum = memory.offset;
  for (auto [position, stride] : llvm::zip(indices, memory.strides))
    sum = add(sum, mul(position, stride));
  return sum;
}

Value MemoryLowering::emitSum(const LinearSum &sum, int64_t divisor,
                              Type type) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
  };
  Value result = constant(0);
  for (auto [value, factor] : sum.terms) {
    if (type != value.getType())
      value = b.createOrFold<arith::IndexCastOp>(type, value);
    result = add(result, mul(value, constant(factor / divisor)));
  }
  return result;
}

/// Addresses that differ by a constant share the rest of the computation, and
/// loop-invariant terms are separate from the others.
Value MemoryLowering::getPointer(const Memory &memory, Value element,
                                 Type pointee) {
  int64_t bytes = getStorageBytes(memory.element);
  auto type = spirv::PointerType::get(pointee, memory.storage);
  LinearSum sum;
  sum.add(element, 1);
  if (isGlobal(memory)) {
    LinearSum varying = takeVarying(sum);
    Value address = environment.isKernel ? i64(0) : memory.base;
    for (const LinearSum *part : {&sum, &varying}) {
      Value distance = b.createOrFold<arith::IndexCastOp>(
          b.getI64Type(), emitSum(*part, 1, b.getIndexType()));
      address = add(address, mul(distance, i64(bytes)));
    }
    address = add(address, i64(sum.constant * bytes));
    if (!environment.isKernel)
      return spirv::ConvertUToPtrOp::create(b, type, address);
    // Bytes from a pointer, rather than an address: it stays known which
    // buffer this is.
    Value position =
        spirv::PtrAccessChainOp::create(b, memory.base, address, ValueRange());
    return type == position.getType()
               ? position
               : spirv::BitcastOp::create(b, type, position).getResult();
  }
  // Memory of a workgroup or of a thread is small: 32 bits. A multiple of the
  // unit is divided term by term.
  int64_t ratio = memory.unitBytes / bytes;
  Type word = b.getI32Type();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  LinearSum rest, whole;
  for (auto [value, factor] : sum.terms)
    (factor % ratio ? rest : whole).terms[value] = factor;
  rest.constant = (sum.constant % ratio + ratio) % ratio;
  Value position = emitSum(whole, ratio, word);
  if (!rest.terms.empty())
    position =
        add(position, b.createOrFold<arith::ShRSIOp>(
                          add(emitSum(rest, 1, word), constant(rest.constant)),
                          constant(llvm::Log2_64(uint64_t(ratio)))));
  position = add(position, constant((sum.constant - rest.constant) / ratio));
  return spirv::AccessChainOp::create(b, memory.base, ValueRange{position});
}

/// The memory operands of an access of `bytes` bytes to `memory`.
static std::pair<spirv::MemoryAccessAttr, IntegerAttr>
getAccess(ImplicitLocOpBuilder &b, const SpirvEnvironment &environment,
          StorageClass storage, int64_t bytes) {
  if (storage == environment.global)
    return {spirv::MemoryAccessAttr::get(b.getContext(),
                                         spirv::MemoryAccess::Aligned),
            b.getI32IntegerAttr(bytes)};
  // Other threads of the workgroup see the write after a barrier.
  if (storage == StorageClass::Workgroup && environment.saysVisible)
    return {spirv::MemoryAccessAttr::get(
                b.getContext(), spirv::MemoryAccess::NonPrivatePointer),
            IntegerAttr()};
  return {};
}

Value MemoryLowering::loadRaw(const Memory &memory, Value element, Type type,
                              int64_t bytes) {
  auto [access, alignment] = getAccess(b, environment, memory.storage, bytes);
  return spirv::LoadOp::create(b, getPointer(memory, element, type), access,
                               alignment);
}

void MemoryLowering::storeRaw(const Memory &memory, Value element, Value value,
                              int64_t bytes) {
  auto [access, alignment] = getAccess(b, environment, memory.storage, bytes);
  spirv::StoreOp::create(b, getPointer(memory, element, value.getType()), value,
                         access, alignment);
}

Value MemoryLowering::loadScalar(const Memory &memory, Value element) {
  Type storage = getStorage(memory.element);
  Value value =
      loadRaw(memory, element, storage, getStorageBytes(memory.element));
  if (memory.element.isIndex())
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  if (memory.element.isInteger(1))
    return arith::TruncIOp::create(b, b.getI1Type(), value);
  if (storage != memory.element)
    return arith::BitcastOp::create(b, memory.element, value);
  return value;
}

void MemoryLowering::storeScalar(const Memory &memory, Value element,
                                 Value value) {
  Type storage = getStorage(memory.element);
  if (memory.element.isIndex())
    value = arith::IndexCastOp::create(b, storage, value);
  else if (memory.element.isInteger(1))
    value = arith::ExtUIOp::create(b, storage, value);
  else if (storage != memory.element)
    value = arith::BitcastOp::create(b, storage, value);
  storeRaw(memory, element, value, getStorageBytes(memory.element));
}

int64_t MemoryLowering::getChunk(const Memory &memory, int64_t bytes,
                                 int64_t alignment) const {
  int64_t elementBytes = getStorageBytes(memory.element);
  if (memory.element.isInteger(1) || memory.element.isIndex())
    return 0;
  if (!isGlobal(memory))
    return memory.unitBytes > elementBytes ? memory.unitBytes : 0;
  int64_t chunk = std::min<int64_t>(16, std::min(alignment, bytes & -bytes));
  return chunk >= 4 && chunk > elementBytes ? chunk : 0;
}

Value MemoryLowering::loadVector(const Memory &memory, Value element,
                                 VectorType type, int64_t alignment) {
  int64_t elementBytes = getStorageBytes(memory.element);
  int64_t bytes = type.getNumElements() * elementBytes;
  int64_t chunk = getChunk(memory, bytes, alignment);
  SmallVector<Value> parts;
  if (!chunk) {
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      parts.push_back(loadScalar(memory, add(element, index(i))));
    return vector::FromElementsOp::create(b, type, parts);
  }
  Type raw = getRawType(b.getContext(), chunk);
  auto words = VectorType::get(bytes / 4, b.getI32Type());
  Value all;
  for (int64_t i = 0; i < bytes / chunk; ++i) {
    Value part = loadRaw(memory, add(element, index(i * chunk / elementBytes)),
                         raw, chunk);
    if (bytes == chunk && chunk > 4) {
      all = part;
      break;
    }
    for (int64_t j = 0; j < chunk / 4; ++j)
      parts.push_back(chunk == 4
                          ? part
                          : vector::ExtractOp::create(b, part, j).getResult());
  }
  if (!all)
    all = vector::FromElementsOp::create(b, words, parts);
  return words == type ? all : vector::BitCastOp::create(b, type, all);
}

void MemoryLowering::storeVector(const Memory &memory, Value element,
                                 Value value, int64_t alignment) {
  auto type = cast<VectorType>(value.getType());
  int64_t elementBytes = getStorageBytes(memory.element);
  int64_t bytes = type.getNumElements() * elementBytes;
  int64_t chunk = getChunk(memory, bytes, alignment);
  if (!chunk) {
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      storeScalar(memory, add(element, index(i)),
                  vector::ExtractOp::create(b, value, i));
    return;
  }
  auto words = VectorType::get(bytes / 4, b.getI32Type());
  if (words != type)
    value = b.createOrFold<vector::BitCastOp>(words, value);
  for (int64_t i = 0; i < bytes / chunk; ++i) {
    Value part = value;
    if (chunk == 4) {
      part = vector::ExtractOp::create(b, value, i);
    } else if (bytes != chunk) {
      SmallVector<Value> lanes;
      for (int64_t j = 0; j < chunk / 4; ++j)
        lanes.push_back(vector::ExtractOp::create(b, value, i * chunk / 4 + j));
      part = vector::FromElementsOp::create(
          b, cast<VectorType>(getRawType(b.getContext(), chunk)), lanes);
    }
    storeRaw(memory, add(element, index(i * chunk / elementBytes)), part,
             chunk);
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult MemoryLowering::lower(memref::LoadOp op) {
  FailureOr<Memory> memory = require(op, op.getMemref());
  if (failed(memory))
    return failure();
  op.getResult().replaceAllUsesWith(
      loadScalar(*memory, getElement(*memory, op.getIndices())));
  return success();
}

LogicalResult MemoryLowering::lower(memref::StoreOp op) {
  FailureOr<Memory> memory = require(op, op.getMemref());
  if (failed(memory))
    return failure();
  storeScalar(*memory, getElement(*memory, op.getIndices()),
              op.getValueToStore());
  return success();
}

LogicalResult MemoryLowering::lower(vector::LoadOp op) {
  FailureOr<Memory> memory = require(op, op.getBase());
  if (failed(memory))
    return failure();
  op.getResult().replaceAllUsesWith(loadVector(
      *memory, getElement(*memory, op.getIndices()), op.getVectorType(),
      getAccessAlignment(op, getStorageBytes(memory->element))));
  return success();
}

LogicalResult MemoryLowering::lower(vector::StoreOp op) {
  FailureOr<Memory> memory = require(op, op.getBase());
  if (failed(memory))
    return failure();
  storeVector(*memory, getElement(*memory, op.getIndices()),
              op.getValueToStore(),
              getAccessAlignment(op, getStorageBytes(memory->element)));
  return success();
}

LogicalResult MemoryLowering::lower(vector::MaskedLoadOp op) {
  FailureOr<Memory> memory = require(op, op.getBase());
  if (failed(memory))
    return failure();
  Value first = getElement(*memory, op.getIndices());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < op.getVectorType().getNumElements(); ++i) {
    Value mask = vector::ExtractOp::create(b, op.getMask(), i);
    Value other = vector::ExtractOp::create(b, op.getPassThru(), i);
    auto branch = scf::IfOp::create(b, TypeRange{memory->element}, mask,
                                    /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(b, loadScalar(*memory, add(first, index(i))));
    b.setInsertionPointToStart(&branch.getElseRegion().front());
    scf::YieldOp::create(b, other);
    elements.push_back(branch.getResult(0));
  }
  op.getResult().replaceAllUsesWith(
      vector::FromElementsOp::create(b, op.getVectorType(), elements));
  return success();
}

LogicalResult MemoryLowering::lower(vector::MaskedStoreOp op) {
  FailureOr<Memory> memory = require(op, op.getBase());
  if (failed(memory))
    return failure();
  Value first = getElement(*memory, op.getIndices());
  for (int64_t i = 0; i < op.getVectorType().getNumElements(); ++i) {
    Value mask = vector::ExtractOp::create(b, op.getMask(), i);
    Value value = vector::ExtractOp::create(b, op.getValueToStore(), i);
    auto branch = scf::IfOp::create(b, mask, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    storeScalar(*memory, add(first, index(i)), value);
  }
  return success();
}
