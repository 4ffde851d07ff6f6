//===- TileSharing.cpp - Workgroups that share tiles ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cluster of 2x2, with the ranks of its workgroups:
//
//     tiles of lhs (along M) by tiles of rhs (along N)
//
//         | 0 | 2 |
//         | 1 | 3 |
//
// 0 and 2 share their tile of lhs, and each loads a half of it to both; 0 and 1
// share that of rhs. A slot is full when all parts have arrived, from any
// workgroup, and empty for a producer when all workgroups that receive its part
// have read theirs.
//
// A workgroup exits only after all have signalled: the last reader signals it
// to the others.
//
//===----------------------------------------------------------------------===//

#include "TileSharing.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::tessera;

TileSharing::TileSharing(gpu::GPUFuncOp kernel) : kernel(kernel) {
  if (auto sharers = kernel->getAttrOfType<DenseI64ArrayAttr>(
          TesseraDialect::SharersAttrHelper::getNameStr())) {
    m = sharers[0];
    n = sharers[1];
  }
}

void TileSharing::emitSetUp(OpBuilder &builder) {
  if (!isUsed())
    return;
  Location loc = kernel.getLoc();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  Value rank = NVVM::BlockInClusterIdXOp::create(
      builder, loc, builder.getI32Type(), LLVM::ConstantRangeAttr());
  positionM = arith::RemUIOp::create(builder, loc, rank, number(m));
  positionN = arith::DivUIOp::create(builder, loc, rank, number(m));
  auto share = [&](int64_t parts, Value part, int64_t workgroups,
                   Value first) -> SharedTile {
    Value mask = arith::ShLIOp::create(builder, loc, number(workgroups), first);
    return {parts,
            arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                         part),
            arith::TruncIOp::create(builder, loc, builder.getI16Type(), mask)};
  };
  int64_t alongN = 0;
  for (int64_t j = 0; j < n; ++j)
    alongN |= int64_t(1) << (j * m);
  Value column = arith::MulIOp::create(builder, loc, positionN, number(m));
  shares = {share(n, positionN, alongN, positionM),
            share(m, positionM, (int64_t(1) << m) - 1, column)};

  // The lanes' workgroups: those along M, then the others along N.
  Value lane = arith::IndexCastOp::create(
      builder, loc, builder.getI32Type(),
      gpu::LaneIdOp::create(builder, loc, /*upper_bound=*/nullptr));
  if (m == 1 || n == 1) {
    released = lane;
    return;
  }
  Value ofM = arith::AddIOp::create(builder, loc, column, lane);
  Value other = arith::SubIOp::create(builder, loc, lane, number(m));
  Value skip = arith::ExtUIOp::create(
      builder, loc, builder.getI32Type(),
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, other,
                            positionN));
  other = arith::AddIOp::create(builder, loc, other, skip);
  Value ofN = arith::AddIOp::create(
      builder, loc, positionM,
      arith::MulIOp::create(builder, loc, other, number(m)));
  Value isOfM = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                      lane, number(m));
  released = arith::SelectOp::create(builder, loc, isOfM, ofM, ofN);
}

Value TileSharing::emitReleasedMask(OpBuilder &builder) {
  if (!isUsed())
    return {};
  return arith::OrIOp::create(builder, kernel.getLoc(), shares[0].mask,
                              shares[1].mask);
}

std::optional<SharedTile> TileSharing::getShare(CopyOp op) const {
  for (Operation *user : op.getTarget().getUsers())
    if (auto load = dyn_cast<LoadOp>(user)) {
      Role role = load.getResult().getType().getRole();
      const SharedTile &share = shares[role == Role::B];
      if (role != Role::Acc && share.parts > 1)
        return share;
    }
  return std::nullopt;
}

void TileSharing::emitMeeting(OpBuilder &builder, bool aligned) {
  UnitAttr attribute = aligned ? builder.getUnitAttr() : UnitAttr();
  NVVM::ClusterArriveOp::create(builder, kernel.getLoc(), attribute);
  NVVM::ClusterWaitOp::create(builder, kernel.getLoc(), attribute);
}
