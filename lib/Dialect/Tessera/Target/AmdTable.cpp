//===- AmdTable.cpp - AMD's matrix instructions ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shapes, types and layouts are those of "AMD Instinct MI300 Instruction Set
// Architecture", section 7.1.4, and of "RDNA3 Instruction Set Architecture",
// section 7.9.
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

using namespace mlir::tessera;

namespace {

/// The operand maps of one shape.
struct Shape {
  const char *name;
  int64_t m, n, k;
  LaneMap a, b, acc;
};

} // namespace

static const Shape mfma32x32x8 = {
    "m32n32k8",
    32,
    32,
    8,
    {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 4}}, {{0, 1}, {0, 2}}},
    {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {4, 0}}, {{1, 0}, {2, 0}}},
    {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {4, 0}},
     {{1, 0}, {2, 0}, {8, 0}, {16, 0}}}};

static const Shape mfma16x16x16 = {
    "m16n16k16",
    16,
    16,
    16,
    {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 4}, {0, 8}}, {{0, 1}, {0, 2}}},
    {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {4, 0}, {8, 0}}, {{1, 0}, {2, 0}}},
    {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {4, 0}, {8, 0}}, {{1, 0}, {2, 0}}}};

/// Lanes 16 to 31 hold of a and b what lanes 0 to 15 hold.
static const Shape wmma16x16x16 = {
    "m16n16k16",
    16,
    16,
    16,
    {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 0}},
     {{0, 1}, {0, 2}, {0, 4}, {0, 8}}},
    {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 0}},
     {{1, 0}, {2, 0}, {4, 0}, {8, 0}}},
    {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {1, 0}}, {{2, 0}, {4, 0}, {8, 0}}}};

static MatrixInstruction makeInstruction(const char *family, const Shape &shape,
                                         const char *a, const char *b,
                                         const char *acc) {
  MatrixInstruction row;
  row.name = std::string(family) + "." + shape.name + "." + acc + "." + a;
  row.m = shape.m;
  row.n = shape.n;
  row.k = shape.k;
  row.aType = a;
  row.bType = b;
  row.accType = acc;
  row.aMap = shape.a;
  row.bMap = shape.b;
  row.accMap = shape.acc;
  return row;
}

void mlir::tessera::addAmdChips(std::vector<Chip> &chips) {
  for (const char *name : {"gfx942", "gfx1100"}) {
    bool cdna = llvm::StringRef(name) == "gfx942";
    Chip chip;
    chip.name = name;
    chip.target = "hip";
    chip.subgroupSize = cdna ? 64 : 32;
    chip.workgroupMemoryBytes = 64 * 1024;
    chip.maxThreads = 1024;
    chip.accessBytes = 16;
    chip.alignedAccess = true;
    chip.rowPaddingBytes = 16;
    chip.asyncCopy = false;
    chip.registersPerThread = cdna ? 512 : 256;
    chip.processors = cdna ? 304 : 96;
    chip.matrixDefaults = {{128, 128}, {64, 64}, 64, 1};
    chip.scalarDefaults = {{64, 64}, {32, 32}, 64, 1};
    chip.simt = {256, 1, 512, 4};
    if (cdna) {
      chip.instructions.push_back(
          makeInstruction("mfma", mfma32x32x8, "f16", "f16", "f32"));
      chip.instructions.push_back(
          makeInstruction("mfma", mfma16x16x16, "f16", "f16", "f32"));
    } else {
      chip.instructions.push_back(
          makeInstruction("wmma", wmma16x16x16, "f16", "f16", "f32"));
    }
    addScalarInstructions(chip);
    chips.push_back(std::move(chip));
  }
}
