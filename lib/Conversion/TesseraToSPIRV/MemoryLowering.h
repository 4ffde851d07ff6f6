//===- MemoryLowering.h - Memrefs to SPIR-V pointers ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOSPIRV_MEMORYLOWERING_H
#define CONVERSION_TESSERATOSPIRV_MEMORYLOWERING_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/LinearSum.h"
#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {

/// A memref in lowered code. Offset, sizes and strides count elements.
struct Memory {
  spirv::StorageClass storage;
  /// The start: an i64, a pointer to bytes, or one to the variable.
  Value base;
  Value offset;
  SmallVector<Value> sizes, strides;
  Type element;
  /// The element type of the variable's array.
  Type unit;
  int64_t unitBytes = 0;
};

class MemoryLowering {
public:
  MemoryLowering(gpu::GPUFuncOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip),
        environment(*getSpirvEnvironment(chip.target)),
        b(kernel.getLoc(), kernel.getContext()) {}
  LogicalResult run();

private:
  LogicalResult lowerParameters();
  LogicalResult lowerVariables();
  /// Lowers an op that uses memory; leaves all other ops.
  LogicalResult lower(Operation *op);

  // Accesses (MemoryAccess.cpp).
  LogicalResult lower(memref::LoadOp op);
  LogicalResult lower(memref::StoreOp op);
  LogicalResult lower(vector::LoadOp op);
  LogicalResult lower(vector::StoreOp op);
  LogicalResult lower(vector::MaskedLoadOp op);
  LogicalResult lower(vector::MaskedStoreOp op);

  // Atomics (MemoryAtomics.cpp).
  LogicalResult lower(memref::AtomicRMWOp op);
  /// Adds `value`, a float, to memory by compare-and-swap; returns the old
  /// value.
  Value addByExchange(Value pointer, Value value, spirv::Scope scope);
  /// Combines `byte` with the byte at `pointer` by an atomic op on the word of
  /// 4 bytes around it, whose other bytes stay as they are: by a bitwise or, or
  /// by an and. Returns the old byte.
  Value combineByte(Value pointer, Value byte, bool isOr, spirv::Scope scope);

  // Views (MemoryViews.cpp).
  LogicalResult lower(memref::DimOp op);
  LogicalResult lower(memref::ReinterpretCastOp op);
  LogicalResult lower(memref::ExtractStridedMetadataOp op);
  LogicalResult lower(memref::CastOp op);
  LogicalResult lower(memref::MemorySpaceCastOp op);
  LogicalResult lower(memref::TransposeOp op);
  LogicalResult lower(memref::AssumeAlignmentOp op);
  LogicalResult lower(memref::DeallocOp) { return success(); }
  LogicalResult lower(UnrealizedConversionCastOp op);
  /// Passes pointers to the loads and stores of a cooperative matrix.
  LogicalResult lowerMatrixPointer(UnrealizedConversionCastOp op,
                                   const Memory &memory);

  /// The memory of a value, or null.
  Memory *find(Value value) {
    auto found = memories.find(value);
    return found == memories.end() ? nullptr : &found->second;
  }
  /// The memory of a value that `op` uses; emits an error if it is unknown. A
  /// copy: adding to the table moves its entries.
  FailureOr<Memory> require(Operation *op, Value value);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value i64(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 64);
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }

  /// The static sizes of `type`, or the results of `dynamic`.
  void setShape(Memory &memory, MemRefType type,
                function_ref<Value()> getOffset,
                function_ref<Value(unsigned)> getSize,
                function_ref<Value(unsigned)> getStride);
  /// The number of the element at `indices`, from the base.
  Value getElement(const Memory &memory, ValueRange indices);
  /// A pointer to `pointee` at an element; `bytes` of it make a unit.
  Value getPointer(const Memory &memory, Value element, Type pointee);
  /// The sum of the terms, without the constant; every factor is a multiple of
  /// `divisor`. Computed in `type`, an index or an integer.
  Value emitSum(const LinearSum &sum, int64_t divisor, Type type);
  Value loadScalar(const Memory &memory, Value element);
  void storeScalar(const Memory &memory, Value element, Value value);
  Value loadRaw(const Memory &memory, Value element, Type type, int64_t bytes);
  void storeRaw(const Memory &memory, Value element, Value value,
                int64_t bytes);
  Value loadVector(const Memory &memory, Value element, VectorType type,
                   int64_t alignment);
  void storeVector(const Memory &memory, Value element, Value value,
                   int64_t alignment);
  /// The width in bytes of accesses to `bytes` bytes; 0: element by element.
  int64_t getChunk(const Memory &memory, int64_t bytes,
                   int64_t alignment) const;
  /// Prevents loads of a copy from waiting for its stores: the stores to
  /// workgroup memory follow the loads from other memory, in groups.
  void groupCopies();
  /// The widest unit that all accesses to `root` keep to, in bytes.
  int64_t getUnitBytes(Value root, Type element);

  /// The storage type of an element; an integer for f16 if the chip lacks it.
  Type getStorage(Type element) const {
    if (element.isF16() && !chip.hasF16)
      return IntegerType::get(element.getContext(), 16);
    return getStorageType(element);
  }
  bool isGlobal(const Memory &memory) const {
    return memory.storage == environment.global;
  }
  /// A placeholder for argument `position` of the launch as a value of `type`;
  /// `from` is the kernel's parameter that it belongs to.
  Value readField(int64_t position, Type type, Value from);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  const SpirvEnvironment &environment;
  ImplicitLocOpBuilder b;
  llvm::DenseMap<Value, Memory> memories;
  SmallVector<Operation *> erased;
  int64_t workgroupBytes = 0;
  unsigned numVariables = 0;
};

/// The alignment in bytes that an access has by its attribute.
int64_t getAccessAlignment(Operation *op, int64_t elementBytes);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOSPIRV_MEMORYLOWERING_H
