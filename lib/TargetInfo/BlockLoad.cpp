//===- BlockLoad.cpp - Block loads of matrix operands ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Block sizes are those of cl_intel_subgroup_2d_block_io, section 5.2.X of its
// changes to the SPIR-V environment, for subgroups of 16 lanes:
//
//   instruction              element   columns   rows          side by side
//   2DBlockLoad              1         32        1, 2 .. 32    1, 2
//                            2         16        1, 2 .. 32    1, 2
//                            4         8         1, 2 .. 32    1, 2
//                            4         16        1, 2 .. 32    1
//   2DBlockLoadTransform     1         16        32            1, 2, 4
//                            2         16        16, 32        1, 2
//   2DBlockLoadTranspose     4         8         16, 32        1
//
// "Mapping Block Data to Invocations" of SPV_INTEL_2d_block_io defines the data
// of each lane (unittests/Target/IntelLayoutTest.cpp). For dpas:
//
//   a        rows of 32 bytes: all columns of a tile
//   b        packed, a column in each lane; for f32, rows of 16 lanes, which do
//            not need packing
//   b, column-major
//            32 bits of a column are one element, so that rows of these become
//            the packed columns. With 32 rows a lane would have two columns
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/BlockLoad.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir::tessera;

/// The size in bytes of an element, by the name of its type; 0 if elements
/// share a byte.
static int64_t getBytes(llvm::StringRef type) {
  return llvm::StringSwitch<int64_t>(type)
      .Case("f64", 8)
      .Cases({"f32", "i32"}, 4)
      .Cases({"f16", "bf16"}, 2)
      .Case("i4", 0)
      .Default(1);
}

std::optional<BlockLoad>
mlir::tessera::findBlockLoad(const Chip &chip, const MatrixInstruction &row,
                             Role role, bool transposed) {
  constexpr int64_t lanes = 16, rowBytes = 32, mostHeight = 32;
  if (!chip.blockLoads || !row.matrixUnit || row.opaque ||
      chip.subgroupSize != lanes || row.subgroups != 1)
    return std::nullopt;
  int64_t bytes = getBytes(role == Role::A ? row.aType : row.bType);
  if (bytes == 0 || bytes > 4 || row.k * bytes != rowBytes)
    return std::nullopt;
  using Kind = BlockLoad::Kind;
  if (role == Role::A) {
    // Lanes that replicate others' elements would get none.
    if (transposed || row.aMap.getReplicatedLaneBits())
      return std::nullopt;
    return BlockLoad{Kind::Rows, bytes, row.k, row.m, mostHeight, 2};
  }
  if (role != Role::B || row.n != lanes)
    return std::nullopt;
  if (transposed)
    return BlockLoad{Kind::Transposed, 4, rowBytes / 4, lanes, lanes, 1};
  if (bytes == 4)
    return BlockLoad{Kind::Rows, bytes, lanes, row.k, mostHeight, 1};
  return BlockLoad{Kind::Packed, bytes,      lanes,
                   row.k,        mostHeight, bytes == 1 ? 4 : 2};
}
