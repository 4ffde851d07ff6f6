//===- ScalarTable.cpp - Matmuls without a matrix unit --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::tessera;

using Step = LaneMap::Step;

llvm::ArrayRef<std::array<const char *, 3>> mlir::tessera::getScalarMatmuls() {
  static const std::array<const char *, 3> matmuls[] = {
      {"f32", "f32", "f32"},
      {"f64", "f64", "f64"},
      {"f16", "f16", "f32"},
      {"f16", "f16", "f16"},
      {"bf16", "bf16", "f32"},
      {"i8", "i8", "i32"},
      {"f8E4M3FN", "f8E4M3FN", "f32"},
      {"f8E4M3FN", "f8E5M2", "f32"},
      {"f8E5M2", "f8E4M3FN", "f32"},
      {"f8E5M2", "f8E5M2", "f32"},
      {"f8E4M3FN", "f8E4M3FN", "f16"},
      {"f8E4M3FN", "f8E5M2", "f16"},
      {"f8E5M2", "f8E4M3FN", "f16"},
      {"f8E5M2", "f8E5M2", "f16"},
      {"f8E4M3FNUZ", "f8E4M3FNUZ", "f32"},
      {"f8E4M3FNUZ", "f8E5M2FNUZ", "f32"},
      {"f8E5M2FNUZ", "f8E4M3FNUZ", "f32"},
      {"f8E5M2FNUZ", "f8E5M2FNUZ", "f32"},
  };
  return matmuls;
}

/// An instruction of mxnxk by `rows` times `cols` lanes; the lanes of a row are
/// adjacent, each with a block of the accumulator of its own. Further lanes
/// replicate the elements of these. A lane holds all of K: operands that are
/// stored along K are read by wide accesses.
static MatrixInstruction makeBlocks(int64_t lanes, int64_t m, int64_t n,
                                    int64_t rows, int64_t cols, int64_t k = 1) {
  MatrixInstruction row;
  row.m = m;
  row.n = n;
  row.k = k;
  row.matrixUnit = false;
  llvm::SmallVector<Step, 6> a, b, acc;
  for (int64_t lane = 1; lane < lanes; lane *= 2) {
    Step step{0, 0};
    if (lane < cols)
      step = {0, static_cast<int32_t>(n / cols * lane)};
    else if (lane < rows * cols)
      step = {static_cast<int32_t>(m / rows * (lane / cols)), 0};
    acc.push_back(step);
    a.push_back({step[0], 0});
    b.push_back({0, step[1]});
  }
  llvm::SmallVector<Step, 6> aRegisters, bRegisters, accRegisters;
  for (int32_t col = 1; col < n / cols; col *= 2)
    bRegisters.push_back({0, col});
  for (int32_t r = 1; r < m / rows; r *= 2)
    aRegisters.push_back({r, 0});
  accRegisters = bRegisters;
  accRegisters.append(aRegisters);
  for (int32_t step = 1; step < k; step *= 2) {
    aRegisters.push_back({0, step});
    bRegisters.push_back({step, 0});
  }
  row.aMap = LaneMap(a, aRegisters);
  row.bMap = LaneMap(b, bRegisters);
  row.accMap = LaneMap(acc, accRegisters);
  return row;
}

void mlir::tessera::addScalarInstructions(Chip &chip) {
  int64_t lanes = chip.subgroupSize;
  int64_t rows = lanes / 8;
  // Four elements of K are one access of 16 bytes. An operand that is read by
  // elements takes as much time as the FMAs.
  const MatrixInstruction longShapes[] = {
      makeBlocks(lanes, 4 * rows, 32, rows, 8, /*k=*/4),
      makeBlocks(lanes, 16, 16, rows, 8, /*k=*/4),
  };
  std::vector<MatrixInstruction> shapes = {
      makeBlocks(lanes, 4 * rows, 32, rows, 8),
      makeBlocks(lanes, 16, 16, rows, 8),
      makeBlocks(lanes, 8, 8, rows, 8),
  };
  // A row or a column of elements, for fragments of odd shapes; half of them in
  // 64 lanes, for smaller fragments.
  for (int64_t length = lanes; length >= std::min<int64_t>(lanes, 32);
       length /= 2) {
    shapes.push_back(makeBlocks(lanes, 1, length, 1, length));
    shapes.push_back(makeBlocks(lanes, length, 1, length, 1));
  }
  // One element, replicated in every lane: fits any shape, and wastes lanes.
  shapes.push_back(makeBlocks(lanes, 1, 1, 1, 1));
  auto add = [&](MatrixInstruction row, llvm::StringRef a, llvm::StringRef b,
                 llvm::StringRef acc) {
    row.name = "fma" + (lanes == 32 ? "" : llvm::utostr(lanes)) + ".m" +
               llvm::utostr(row.m) + "n" + llvm::utostr(row.n) + "k" +
               llvm::utostr(row.k) + "." + acc.str() + "." + a.str();
    if (a != b)
      row.name += "." + b.str();
    row.aType = a;
    row.bType = b;
    row.accType = acc;
    chip.instructions.push_back(row);
  };
  for (const MatrixInstruction &row : longShapes)
    add(row, "f32", "f32", "f32");
  for (const MatrixInstruction &row : shapes)
    for (auto [a, b, acc] : getScalarMatmuls())
      add(row, a, b, acc);
}
