//===- Mfma.cpp - v_mfma --------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "AMD Instinct MI300 Instruction Set Architecture", chapter 7. Integers are
// signed: an unsigned form does not exist.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

/// Operands of one register element are scalars.
static Value unwrap(OpBuilder &builder, Location loc, Value value) {
  if (cast<VectorType>(value.getType()).getNumElements() > 1)
    return value;
  return vector::ExtractOp::create(builder, loc, value, 0);
}

static Value emitOne(OpBuilder &builder, Location loc,
                     const MatrixInstruction &row, Value a, Value b,
                     Value acc) {
  Value c = unwrap(builder, loc, acc);
  Value sum = amdgpu::MFMAOp::create(
      builder, loc, c.getType(), row.m, row.n, row.k, /*blocks=*/1,
      unwrap(builder, loc, a), unwrap(builder, loc, b), c,
      /*cbsz=*/0, /*abid=*/0, amdgpu::MFMAPermB::none,
      /*reducePrecision=*/row.tf32, /*negateA=*/false, /*negateB=*/false,
      /*negateC=*/false);
  if (sum.getType() == acc.getType())
    return sum;
  return vector::BroadcastOp::create(builder, loc, acc.getType(), sum);
}

/// `value & bits` of bytes.
static Value emitAnd(OpBuilder &builder, Location loc, Value value,
                     uint8_t bits) {
  auto type = cast<VectorType>(value.getType());
  Value mask = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, APInt(8, bits, /*isSigned=*/false)));
  return arith::AndIOp::create(builder, loc, value, mask);
}

/// Inverts all bits: -1 - value.
static Value emitNot(OpBuilder &builder, Location loc, Value value) {
  Value ones = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<VectorType>(value.getType()),
                             APInt::getAllOnes(32)));
  return arith::XOrIOp::create(builder, loc, value, ones);
}

Value mlir::tessera::emitMfma(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, MmaOp op, Value a,
                              Value b, Value acc) {
  bool isUnsignedA = op.getUnsignedA(), isUnsignedB = op.getUnsignedB();
  if (!isUnsignedA && !isUnsignedB)
    return emitOne(builder, loc, row, a, b, acc);

  // An unsigned byte is its low seven bits minus the value of its top bit as a
  // sign: u = low - top, where top is -128 or 0. Negative terms are subtracted
  // as ~(~acc + x) = acc - x.
  Value aLow = isUnsignedA ? emitAnd(builder, loc, a, 0x7f) : a,
        aTop = isUnsignedA ? emitAnd(builder, loc, a, 0x80) : Value(),
        bLow = isUnsignedB ? emitAnd(builder, loc, b, 0x7f) : b,
        bTop = isUnsignedB ? emitAnd(builder, loc, b, 0x80) : Value();
  acc = emitOne(builder, loc, row, aLow, bLow, acc);
  if (aTop && bTop)
    acc = emitOne(builder, loc, row, aTop, bTop, acc);
  acc = emitNot(builder, loc, acc);
  if (aTop)
    acc = emitOne(builder, loc, row, aTop, bLow, acc);
  if (bTop)
    acc = emitOne(builder, loc, row, aLow, bTop, acc);
  return emitNot(builder, loc, acc);
}
