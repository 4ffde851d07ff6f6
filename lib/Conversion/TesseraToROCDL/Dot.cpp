//===- Dot.cpp - v_dot2, v_dot4 -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dot products of a few elements of K in one lane ("AMD Instinct MI50 Vega 7nm
// Instruction Set Architecture", V_DOT2_F32_F16, V_DOT4_I32_I8), on chips
// without a matrix unit.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

/// The registers of a lane from `first` on that hold the elements of K.
static Value extractRun(OpBuilder &builder, Location loc, Value operand,
                        int64_t first, int64_t k) {
  Value run = vector::ExtractStridedSliceOp::create(
      builder, loc, operand, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{k},
      ArrayRef<int64_t>{1});
  if (!getElementTypeOrSelf(operand.getType()).isInteger(8))
    return run;
  Value word = vector::BitCastOp::create(
      builder, loc, VectorType::get(1, builder.getI32Type()), run);
  return vector::ExtractOp::create(builder, loc, word, 0);
}

/// The register of lane 0 that holds the element; -1 where none does.
static int64_t findRegister(const LaneMap &map, int64_t row, int64_t col) {
  for (int64_t reg = 0; reg < map.getNumRegisters(); ++reg)
    if (map.at(0, reg) == std::pair(row, col))
      return reg;
  return -1;
}

Value mlir::tessera::emitDot(OpBuilder &builder, Location loc,
                             const MatrixInstruction &row, Value a, Value b,
                             Value acc) {
  StringRef name = row.aType == "f16" && row.k == 2  ? "llvm.amdgcn.fdot2"
                   : row.aType == "i8" && row.k == 4 ? "llvm.amdgcn.sdot4"
                                                     : "";
  // The elements of K must be consecutive in registers.
  if (name.empty() || row.aMap.getContiguous(1) < row.k ||
      row.bMap.getContiguous(0) < row.k)
    return {};
  auto type = cast<VectorType>(acc.getType());
  Value noClamp = arith::ConstantIntOp::create(builder, loc, 0, 1);
  SmallVector<Value> sums;
  for (int64_t reg = 0; reg < type.getNumElements(); ++reg) {
    auto [i, j] = row.accMap.at(0, reg);
    int64_t aFirst = findRegister(row.aMap, i, 0),
            bFirst = findRegister(row.bMap, 0, j);
    if (aFirst < 0 || bFirst < 0)
      return {};
    Value sum = vector::ExtractOp::create(builder, loc, acc, reg);
    sums.push_back(LLVM::CallIntrinsicOp::create(
                       builder, loc, sum.getType(), builder.getStringAttr(name),
                       ValueRange{extractRun(builder, loc, a, aFirst, row.k),
                                  extractRun(builder, loc, b, bFirst, row.k),
                                  sum, noClamp})
                       .getResult(0));
  }
  return vector::FromElementsOp::create(builder, loc, type, sums);
}
