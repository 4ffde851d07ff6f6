//===- Pack.cpp - linalg.pack and linalg.unpack ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../PreparedCode.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {
/// How a tensor is cut into tiles: the packed one has its dimensions divided by
/// the tile sizes, in an order of their own, and then those of the tiles.
struct Packing {
  SmallVector<int64_t> tiledDims, outerOrder;

  /// Where element `point` of the packed tensor comes from; false when that is
  /// padding.
  bool find(const View &packed, const View &plain, ArrayRef<int64_t> point,
            int64_t &address) const {
    SmallVector<int64_t, 6> index(plain.rank());
    for (int64_t i = 0; i < plain.rank(); ++i)
      index[outerOrder.empty() ? i : outerOrder[i]] = point[i];
    for (auto [i, dim] : llvm::enumerate(tiledDims)) {
      size_t inner = plain.rank() + i;
      index[dim] = index[dim] * packed.sizes[inner] + point[inner];
    }
    address = plain.offset;
    for (int64_t i = 0; i < plain.rank(); ++i) {
      if (index[i] >= plain.sizes[i])
        return false;
      address += index[i] * plain.strides[i];
    }
    return true;
  }
};
} // namespace

static InstrPtr compilePack(linalg::PackOp op, Scope &scope) {
  Packing packing{SmallVector<int64_t>(op.getInnerDimsPos()),
                  SmallVector<int64_t>(op.getOuterDimsPerm())};
  Slot source = scope.slot(op.getSource()), dest = scope.slot(op.getDest());
  std::optional<Slot> padding;
  if (op.getPaddingValue())
    padding = scope.slot(op.getPaddingValue());
  Slot result = scope.define(op->getResult(0));
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &plain = *frame.view(source);
    ViewRef packed = View::make(*plain.format, frame.view(dest)->sizes);
    if (!frame.run->spend(packed->getNumElements() * 4, operation))
      return false;
    int64_t at = 0;
    bool good = forEachIndex(packed->sizes, [&](ArrayRef<int64_t> point) {
      int64_t address;
      if (packing.find(*packed, plain, point, address))
        packed->store(at++, plain.load(address));
      else if (padding)
        packed->store(at++, frame.number(*padding));
      else
        return frame.run->error(operation,
                                "the tile sizes do not divide the source, and "
                                "no padding value is given");
      return true;
    });
    frame.view(result) = std::move(packed);
    return good;
  });
}

static InstrPtr compileUnPack(linalg::UnPackOp op, Scope &scope) {
  Packing packing{SmallVector<int64_t>(op.getInnerDimsPos()),
                  SmallVector<int64_t>(op.getOuterDimsPerm())};
  Slot source = scope.slot(op.getSource()), dest = scope.slot(op.getDest());
  Slot result = scope.define(op->getResult(0));
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &packed = *frame.view(source);
    ViewRef plain = View::makePoison(*packed.format, frame.view(dest)->sizes);
    if (!frame.run->spend(packed.getNumElements() * 4, operation))
      return false;
    int64_t at = 0;
    forEachIndex(packed.sizes, [&](ArrayRef<int64_t> point) {
      int64_t address, from = packed.addressOf(at++);
      if (packing.find(packed, *plain, point, address))
        plain->store(address, packed.load(from));
      return true;
    });
    frame.view(result) = std::move(plain);
    return true;
  });
}

void tessera::reference::addPackHandlers(Registry &registry) {
  registry.add<linalg::PackOp>(compilePack);
  registry.add<linalg::UnPackOp>(compileUnPack);
}
