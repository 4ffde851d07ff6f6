//===- ContractSlices.cpp - Parts of a contraction ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractSlices.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

ContractOp mlir::tessera::cloneSlice(OpBuilder &builder, ContractOp op,
                                     unsigned dim, int64_t at, int64_t size) {
  OpBuilder::InsertionGuard guard(builder);
  auto part = cast<ContractOp>(builder.clone(*op));
  builder.setInsertionPoint(part);
  AffineExpr sliced = builder.getAffineDimExpr(dim);
  auto view = [&](OpOperand &operand, AffineMap map) {
    auto type = cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> offsets(type.getRank(), 0), strides(type.getRank(), 1),
        sizes(type.getShape());
    for (auto [r, result] : llvm::enumerate(map.getResults()))
      if (result == sliced) {
        offsets[r] = at;
        sizes[r] = size;
      }
    if (ArrayRef(sizes) != type.getShape())
      operand.set(memref::SubViewOp::create(builder, op.getLoc(), operand.get(),
                                            offsets, sizes, strides));
  };
  view(part.getLhsMutable(), op.getMap(0));
  view(part.getRhsMutable(), op.getMap(1));
  view(part.getOutputMutable(), op.getMap(2));
  for (auto [e, extra] : llvm::enumerate(part.getExtrasMutable()))
    view(extra, op.getMap(3 + e));
  return part;
}

void mlir::tessera::describeSlice(ContractOp part, const Twine &what) {
  StringRef name = TesseraDialect::ScheduleOriginAttrHelper::getNameStr();
  auto known = part->getAttrOfType<StringAttr>(name);
  part->setAttr(name,
                StringAttr::get(part.getContext(),
                                known ? known.getValue() + "; " + what : what));
}
