//===- Window.cpp - Windows over an image ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Window.h"

#include "Dialect/Tessera/IR/ContractMaps.h"

using namespace mlir;
using namespace mlir::tessera;

WindowAttr mlir::tessera::getWindow(ContractOp op, const MatrixForm &form,
                                    unsigned side) {
  if (!form.gather[side] || isStoredTransposed(op, form, side))
    return {};
  ArrayRef<unsigned> rows = form.getRows(side), cols = form.getCols(side);
  AffineMap map = op.getMap(side);
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> positions(map.getNumDims());
  std::array<SmallVector<int64_t>, 2> extents;
  unsigned number = 0;
  for (unsigned part : {0, 1})
    for (unsigned d : part == 0 ? rows : cols) {
      extents[part].push_back(getStaticExtent(op, d));
      positions[d] = getAffineDimExpr(number++, context);
    }
  auto isKnown = [](int64_t extent) { return extent > 0; };
  if (rows.empty() || cols.empty() || !llvm::all_of(extents[0], isKnown) ||
      !llvm::all_of(extents[1], isKnown))
    return {};
  // The others have one index only, or are not the operand's.
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    if (!positions[d]) {
      if (map.isFunctionOfDim(d) && getStaticExtent(op, d) != 1)
        return {};
      positions[d] = getAffineConstantExpr(0, context);
    }
  AffineMap moved =
      map.replaceDimsAndSymbols(positions, /*symReplacements=*/{}, number, 0);
  if (!llvm::all_of(moved.getResults(), isPositiveSum))
    return {};
  return WindowAttr::get(context, extents[0], extents[1], moved);
}
