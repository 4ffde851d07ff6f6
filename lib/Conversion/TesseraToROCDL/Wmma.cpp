//===- Wmma.cpp - v_wmma --------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "RDNA3 Instruction Set Architecture", section 7.9. Accumulators of 16 bits
// use every other half of their registers there; the operand op_sel selects the
// half, and the other one is unchanged. RDNA4 packs them.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

/// Integers of 4 bits, eight to a register.
static Value emitOfNibbles(OpBuilder &builder, Location loc,
                           const MatrixInstruction &row, MmaOp op, Value a,
                           Value b, Value acc) {
  Type i32 = builder.getI32Type();
  auto pack = [&](Value value) -> Value {
    int64_t words = cast<VectorType>(value.getType()).getNumElements() / 8;
    Value packed = vector::BitCastOp::create(
        builder, loc, VectorType::get(words, i32), value);
    return words == 1
               ? vector::ExtractOp::create(builder, loc, packed, 0).getResult()
               : packed;
  };
  bool signA = !op.getUnsignedA(), signB = !op.getUnsignedB();
  Value wordsA = pack(a), wordsB = pack(b);
  if (row.k == 32)
    return ROCDL::wmma_i32_16x16x32_iu4::create(
        builder, loc, acc.getType(), signA, wordsA, signB, wordsB, acc,
        /*clamp=*/false);
  return ROCDL::wmma_i32_16x16x16_iu4::create(builder, loc, acc.getType(),
                                              signA, wordsA, signB, wordsB, acc,
                                              /*clamp=*/false);
}

Value mlir::tessera::emitWmma(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, MmaOp op, Value a,
                              Value b, Value acc) {
  // Upstream's op would have vectors of i4, which are not yet words.
  if (row.aType == "i4")
    return emitOfNibbles(builder, loc, row, op, a, b, acc);
  auto type = cast<VectorType>(acc.getType());
  // RDNA3 is known by its operands, which lanes 16 to 31 repeat.
  bool isHalf = type.getElementTypeBitWidth() == 16 &&
                row.aMap.getReplicatedLaneBits() != 0;
  int64_t count = type.getNumElements();
  Value sums = acc;
  if (isHalf) {
    // The contents of the other halves are ignored.
    SmallVector<int64_t> spread(2 * count, vector::ShuffleOp::kPoisonIndex);
    for (int64_t i = 0; i < count; ++i)
      spread[2 * i] = i;
    sums = vector::ShuffleOp::create(builder, loc, acc, acc, spread);
  }
  sums = amdgpu::WMMAOp::create(builder, loc, sums.getType(), row.m, row.n,
                                row.k, a, b, sums, /*subwordOffset=*/0,
                                op.getUnsignedA(), op.getUnsignedB(),
                                /*clamp=*/false);
  if (!isHalf)
    return sums;
  SmallVector<int64_t> even;
  for (int64_t i = 0; i < count; ++i)
    even.push_back(2 * i);
  return vector::ShuffleOp::create(builder, loc, sums, sums, even);
}
