//===- Wmma.cpp - v_wmma --------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "RDNA3 Instruction Set Architecture", section 7.9. Accumulators of 16 bits
// take every other half of their registers there; the operand op_sel says which
// one, and the other stays what it was. RDNA4 packs them.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

Value mlir::tessera::emitWmma(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, MmaOp op, Value a,
                              Value b, Value acc) {
  auto type = cast<VectorType>(acc.getType());
  // RDNA3 is known by its operands, which lanes 16 to 31 repeat.
  bool isHalf = type.getElementTypeBitWidth() == 16 &&
                row.aMap.getReplicatedLaneBits() != 0;
  int64_t count = type.getNumElements();
  Value sums = acc;
  if (isHalf) {
    // What is in the other halves is of no interest.
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
