//===- TransposingReads.cpp - Transposing reads of tiles ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ds_read_b64_tr_b16 (CDNA4 ISA; the assignment to lanes follows Composable
// Kernel's encoding of transposed loads, and AMD's translation of CDNA4's code
// to CDNA3's): each lane provides the address of four elements of a row in LDS.
// In a group of 16 lanes these are four rows of 16 columns, row l / 4, columns
// 4 * (l % 4) and following in lane l; and lane l receives the four elements of
// column l:
//
//   lane       gives the address of      receives
//   0          r0c0  r0c1  r0c2  r0c3    r0c0  r1c0  r2c0  r3c0
//   1          r0c4  r0c5  r0c6  r0c7    r0c1  r1c1  r2c1  r3c1
//   4          r1c0  r1c1  r1c2  r1c3    r0c4  r1c4  r2c4  r3c4
//   15         r3c12 r3c13 r3c14 r3c15   r0c15 r1c15 r2c15 r3c15
//
// That is element l % 4 of the data at the address of lane (l - l % 16) + l %
// 16 / 4 + 4 * j, for j from 0 to 3.
//
//===----------------------------------------------------------------------===//

#include "AmdTarget.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

/// Lanes that exchange, and elements of each.
static constexpr int64_t groupLanes = 16, perLane = 4;

Value AmdTarget::emitTransposingRead(OpBuilder &builder, Location loc,
                                     LoadOp op, const TileLayout &layout,
                                     Value memory, ValueRange indices,
                                     int64_t alignment) const {
  auto type = cast<MemRefType>(memory.getType());
  Type element = type.getElementType();
  SmallVector<int64_t> strides;
  int64_t offset, bits = getElementBits(element);
  unsigned fast = op.getTranspose() ? 0 : 1, slow = 1 - fast;
  ArrayRef<LaneMap::Step> lanes = layout.map.getLanes(),
                          registers = layout.map.getRegisters();
  if (bits != chip.transposingReadBits || !isWorkgroupMemory(type) ||
      alignment < perLane * bits / 8 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || lanes.size() < 4 || registers.size() < 2 ||
      !runsAlong(lanes.take_front(4), fast) ||
      !runsAlong(registers.take_front(2), slow))
    return {};

  // The origin of this lane's group, and the address that this lane provides.
  IndexMath math(builder, loc);
  Value lane = getLane(builder, op);
  Value inGroup =
      arith::AndIOp::create(builder, loc, lane, math.constant(groupLanes - 1));
  std::array<Value, 2> first =
      layout.getLaneOffset(builder, loc, math.sub(lane, inGroup));
  first[slow] =
      math.add(first[slow], math.div(inGroup, math.constant(perLane)));
  first[fast] =
      math.add(first[fast],
               math.mul(math.rem(inGroup, math.constant(perLane)), perLane));

  auto partType = VectorType::get(perLane, element);
  SmallVector<Value> parts;
  for (int64_t reg = 0; reg < layout.map.getNumRegisters(); reg += perLane) {
    SmallVector<Value> position = emitTilePosition(
        builder, loc, op, indices, first, layout.map.at(0, reg));
    parts.push_back(amdgpu::TransposeLoadOp::create(builder, loc, partType,
                                                    memory, position));
  }
  return emitConcatenation(builder, loc, parts);
}
