//===- TransposingReads.cpp - Transposing reads of tiles ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ds_read_b64_tr_b16 and ds_read_b64_tr_b8 (CDNA4 ISA): each lane provides the
// address of 64 bits of a row in LDS, P elements. In a group of 16 lanes these
// are P rows of 16 columns: lane l has row l / (16 / P), columns P * (l % (16 /
// P)) and following. Lane l receives the P elements of column l. For 16 bits:
//
//   lane       gives the address of      receives
//   0          r0c0  r0c1  r0c2  r0c3    r0c0  r1c0  r2c0  r3c0
//   1          r0c4  r0c5  r0c6  r0c7    r0c1  r1c1  r2c1  r3c1
//   4          r1c0  r1c1  r1c2  r1c3    r0c4  r1c4  r2c4  r3c4
//   15         r3c12 r3c13 r3c14 r3c15   r0c15 r1c15 r2c15 r3c15
//
// For 8 bits:
//
//   lane       gives the address of      receives
//   0          r0c0  r0c1  ... r0c7      r0c0  r1c0  ... r7c0
//   1          r0c8  r0c9  ... r0c15     r0c1  r1c1  ... r7c1
//   2          r1c0  r1c1  ... r1c7      r0c2  r1c2  ... r7c2
//   15         r7c8  r7c9  ... r7c15     r0c15 r1c15 ... r7c15
//
// docs/AMD.md has the sources of these assignments.
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

/// Lanes that exchange, and bits of each.
static constexpr int64_t groupLanes = 16, laneBits = 64;

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
  if ((bits & chip.transposingReadBits) == 0)
    return {};
  int64_t perLane = laneBits / bits, perRow = groupLanes / perLane;
  unsigned laneSteps = llvm::Log2_64(groupLanes),
           registerSteps = llvm::Log2_64(perLane);
  if (!isWorkgroupMemory(type) || alignment < laneBits / 8 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || lanes.size() < laneSteps ||
      registers.size() < registerSteps ||
      !runsAlong(lanes.take_front(laneSteps), fast) ||
      !runsAlong(registers.take_front(registerSteps), slow))
    return {};

  // The origin of this lane's group, and the address that this lane provides.
  IndexMath math(builder, loc);
  Value lane = getLane(builder, op);
  Value inGroup =
      arith::AndIOp::create(builder, loc, lane, math.constant(groupLanes - 1));
  std::array<Value, 2> first =
      layout.getLaneOffset(builder, loc, math.sub(lane, inGroup));
  first[slow] = math.add(first[slow], math.div(inGroup, math.constant(perRow)));
  first[fast] = math.add(
      first[fast], math.mul(math.rem(inGroup, math.constant(perRow)), perLane));

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
