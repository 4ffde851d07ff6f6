//===- MemoryAtomics.cpp - Atomic accesses by SPIR-V pointers -------------===//
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

Value MemoryLowering::addByExchange(Value pointer, Value value,
                                    spirv::Scope scope) {
  Type type = value.getType(),
       bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  auto storage = cast<spirv::PointerType>(pointer.getType()).getStorageClass();
  pointer = spirv::BitcastOp::create(b, spirv::PointerType::get(bits, storage),
                                     pointer);
  auto none = spirv::MemorySemantics::None;
  Value first = spirv::LoadOp::create(b, pointer);
  auto loop = scf::WhileOp::create(
      b, TypeRange{bits}, ValueRange{first},
      [&](OpBuilder &, Location, ValueRange seen) {
        Value sum = arith::AddFOp::create(
            b, arith::BitcastOp::create(b, type, seen[0]), value);
        Value found = spirv::AtomicCompareExchangeOp::create(
            b, bits, pointer, scope, none, none,
            arith::BitcastOp::create(b, bits, sum), seen[0]);
        Value another =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ne, found, seen[0]);
        scf::ConditionOp::create(b, another, found);
      },
      [&](OpBuilder &, Location, ValueRange found) {
        scf::YieldOp::create(b, found);
      });
  b.setInsertionPointAfter(loop);
  return arith::BitcastOp::create(b, type, loop.getResult(0));
}

Value MemoryLowering::combineByte(Value pointer, Value byte, bool isOr,
                                  spirv::Scope scope) {
  auto storage = cast<spirv::PointerType>(pointer.getType()).getStorageClass();
  Type i32 = b.getI32Type();
  Value address = spirv::ConvertPtrToUOp::create(b, b.getI64Type(), pointer);
  Value start = arith::AndIOp::create(b, address, i64(~int64_t(3)));
  Value word = spirv::ConvertUToPtrOp::create(
      b, spirv::PointerType::get(i32, storage), start);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  Value shift = arith::MulIOp::create(
      b,
      arith::TruncIOp::create(b, i32, arith::SubIOp::create(b, address, start)),
      constant(8));
  Value bits =
      arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i32, byte), shift);
  auto none = spirv::MemorySemantics::None;
  Value old;
  if (isOr) {
    old = spirv::AtomicOrOp::create(b, i32, word, scope, none, bits);
  } else {
    Value others = arith::XOrIOp::create(
        b, arith::ShLIOp::create(b, constant(0xff), shift), constant(-1));
    old = spirv::AtomicAndOp::create(b, i32, word, scope, none,
                                     arith::OrIOp::create(b, bits, others));
  }
  return arith::TruncIOp::create(b, byte.getType(),
                                 arith::ShRUIOp::create(b, old, shift));
}

LogicalResult MemoryLowering::lower(memref::AtomicRMWOp op) {
  FailureOr<Memory> memory = require(op, op.getMemref());
  if (failed(memory))
    return failure();
  Type type = memory->element;
  Value pointer = getPointer(*memory, getElement(*memory, op.getIndices()),
                             getStorage(type));
  auto semantics = spirv::MemorySemantics::None;
  auto scope = memory->storage == StorageClass::Workgroup
                   ? spirv::Scope::Workgroup
                   : spirv::Scope::Device;
  Value value = op.getValue(), result;
  switch (op.getKind()) {
  case arith::AtomicRMWKind::addf:
    if ((type.isF32() && !chip.hasAtomicF32) ||
        (type.isF64() && !chip.hasAtomicF64))
      result = addByExchange(pointer, value, scope);
    else if (type.isF32() || type.isF64())
      result = spirv::EXTAtomicFAddOp::create(b, type, pointer, scope,
                                              semantics, value);
    break;
  case arith::AtomicRMWKind::addi:
    if (type.isInteger(32) || type.isInteger(64))
      result = spirv::AtomicIAddOp::create(b, type, pointer, scope, semantics,
                                           value);
    break;
  case arith::AtomicRMWKind::andi:
  case arith::AtomicRMWKind::ori:
    // Pointers to a variable have no addresses for Vulkan.
    if (type.isInteger(8) && (isGlobal(*memory) || environment.isKernel))
      result = combineByte(pointer, value,
                           op.getKind() == arith::AtomicRMWKind::ori, scope);
    break;
  default:
    break;
  }
  if (!result) {
    InFlightDiagnostic diagnostic = op.emitError();
    diagnostic << "target " << environment.target << " does not support ";
    // Two of which share a byte: they are written by these.
    if (type.isInteger(8) && (op.getKind() == arith::AtomicRMWKind::andi ||
                              op.getKind() == arith::AtomicRMWKind::ori))
      diagnostic << "writes of i4 elements to workgroup memory, which need "
                    "atomics of bytes; write i8";
    else
      diagnostic << "atomic " << arith::stringifyAtomicRMWKind(op.getKind())
                 << " of " << type;
    return diagnostic;
  }
  op.getResult().replaceAllUsesWith(result);
  return success();
}
