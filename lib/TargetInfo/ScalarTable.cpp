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

/// An instruction of mxnx1 by `rows` times `cols` lanes; the lanes of a row are
/// adjacent, each with a block of the accumulator of its own. Further lanes
/// replicate the elements of these.
static MatrixInstruction makeBlocks(int64_t lanes, int64_t m, int64_t n,
                                    int64_t rows, int64_t cols) {
  MatrixInstruction row;
  row.m = m;
  row.n = n;
  row.k = 1;
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
  row.aMap = LaneMap(a, aRegisters);
  row.bMap = LaneMap(b, bRegisters);
  row.accMap = LaneMap(acc, accRegisters);
  return row;
}

void mlir::tessera::addScalarInstructions(Chip &chip) {
  int64_t lanes = chip.subgroupSize;
  int64_t rows = lanes / 8;
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
  for (MatrixInstruction row : shapes)
    for (auto [a, b, acc] : getScalarMatmuls()) {
      row.name = (lanes == 32 ? "fma.m" : "fma" + llvm::utostr(lanes) + ".m") +
                 llvm::utostr(row.m) + "n" + llvm::utostr(row.n) + "k1." + acc +
                 "." + a;
      if (llvm::StringRef(a) != b)
        row.name += std::string(".") + b;
      row.aType = a;
      row.bType = b;
      row.accType = acc;
      chip.instructions.push_back(row);
    }
}
