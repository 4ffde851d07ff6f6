//===- StagedTiles.cpp - Operands in memory and in workgroup memory -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleBuilder.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

using namespace mlir;
using namespace mlir::tessera;

StagedLayout::StagedLayout(ContractOp op, const MatrixForm &form)
    : isTransposed{isStoredTransposed(op, form, 0),
                   isStoredTransposed(op, form, 1)},
      operandBits{getElementBits(getElementTypeOrSelf(op.getLhs().getType())),
                  getElementBits(getElementTypeOrSelf(op.getRhs().getType()))},
      outputBits(
          getElementBits(getElementTypeOrSelf(op.getOutput().getType()))),
      sumBits(getElementBits(op.getAccumulatorType())) {}

StagedTiles StagedLayout::getTiles(const ScheduleFields &fields,
                                   const Chip &chip) const {
  int64_t bm = fields.workgroup[0], bn = fields.workgroup[1], k = fields.k;
  auto [aBits, bBits] = operandBits;
  StagedTiles tiles;
  tiles.a = isTransposed[0] ? std::array<int64_t, 2>{k, bm}
                            : std::array<int64_t, 2>{bm, k};
  tiles.b = isTransposed[1] ? std::array<int64_t, 2>{bn, k}
                            : std::array<int64_t, 2>{k, bn};
  // Those of all matrices, one below the other.
  tiles.a[0] *= fields.batches;
  tiles.b[0] *= fields.batches;
  int64_t padding = fields.swizzle ? 0 : 8 * chip.rowPaddingBytes;
  // Rows of elements that share bytes start at whole bytes.
  auto pad = [&](int64_t length, int64_t bits) {
    int64_t all = length + padding / bits;
    return (bits < 8 && !fields.swizzle ? llvm::alignTo(all, 2) : all) - length;
  };
  tiles.aPadding = pad(tiles.a[1], aBits);
  tiles.bPadding = pad(tiles.b[1], bBits);
  tiles.bytes = fields.stages *
                (tiles.a[0] * (tiles.a[1] + tiles.aPadding) * aBits +
                 tiles.b[0] * (tiles.b[1] + tiles.bPadding) * bBits) /
                8;
  bool addsInCluster =
      fields.splitK > 1 && fields.splitKReduction == SplitReduction::Cluster;
  if (fields.stageOutput || addsInCluster)
    tiles.outputBytes =
        bm * bn * (fields.splitK > 1 ? sumBits : outputBits) / 8;
  return tiles;
}

StagedTiles mlir::tessera::getStagedTiles(ContractOp op, const MatrixForm &form,
                                          const ScheduleFields &fields,
                                          const Chip &chip) {
  return StagedLayout(op, form).getTiles(fields, chip);
}

StagedTiles mlir::tessera::getStagedTiles(ContractOp op, const MatrixForm &form,
                                          ScheduleAttr schedule,
                                          const Chip &chip) {
  return getStagedTiles(op, form, schedule.getFields(), chip);
}

bool mlir::tessera::hasAlignedRows(ContractOp op, unsigned side,
                                   const Chip &chip) {
  return hasRowsOfMultiple(op, side, chip.accessBytes);
}

bool mlir::tessera::hasRowsOfMultiple(ContractOp op, unsigned side,
                                      int64_t bytes) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
  return type && hasRowsOfMultiple(type, bytes);
}

bool mlir::tessera::hasRowsOfMultiple(MemRefType type, int64_t bytes) {
  SmallVector<int64_t> strides;
  if (failed(getStrides(type, strides)))
    return false;
  int64_t bits = getElementBits(type.getElementType());
  return llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
    return ShapedType::isStatic(stride) && stride * bits % (8 * bytes) == 0;
  });
}

bool mlir::tessera::hasMisalignedRows(ContractOp op, unsigned side,
                                      int64_t bytes) {
  auto type = dyn_cast<MemRefType>(op.getMappedOperands()[side].getType());
  SmallVector<int64_t> strides;
  return type && !isPacked(type.getElementType()) &&
         succeeded(getStrides(type, strides)) && strides.size() > 1 &&
         strides.back() == 1 && llvm::none_of(strides, ShapedType::isDynamic) &&
         !hasRowsOfMultiple(op, side, bytes);
}

bool mlir::tessera::hasOrder(ContractOp op, const MatrixForm &form,
                             unsigned side, const MatrixInstruction &row) {
  return row.anyOrder || !row.isInMemory(side ? Role::B : Role::A) ||
         isStoredTransposed(op, form, side) == (side == 1);
}
