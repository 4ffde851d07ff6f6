//===- XeGpu.cpp - Tiles of Intel's ops on subgroups ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each lane of a subgroup holds a tile in full. A descriptor is a view of the
// whole memory whose sizes are followed by the tile's position.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "SubgroupMatrix.h"

#include "mlir/Dialect/XeGPU/IR/XeGPU.h"

using namespace mlir;
using namespace mlir::tessera::reference;

/// Offsets that may be missing.
template <typename OpT>
static MixedList getNdOffsets(Scope &scope, OpT op,
                              std::optional<ArrayRef<int64_t>> statics) {
  return statics ? MixedList(scope, *statics, op.getOffsets())
                 : MixedList(scope,
                             SmallVector<int64_t>(op.getOffsets().size(),
                                                  ShapedType::kDynamic),
                             op.getOffsets());
}

static InstrPtr compileCreateNd(xegpu::CreateNdDescOp op, Scope &scope) {
  auto type = dyn_cast<MemRefType>(op.getSourceType());
  xegpu::TensorDescType tile = op.getType();
  if (!type || type.getRank() != 2 || tile.getRank() != 2 ||
      tile.isScattered() || tile.getArrayLength() != 1 ||
      !op.getShape().empty() || op.getConstShapeAttr())
    return nullptr;
  Slot source = scope.slot(op.getSource());
  MixedList offsets = getNdOffsets(scope, op, op.getConstOffsets());
  Slot result = scope.define(op.getTensorDesc());
  return makeInstr([=](Frame &frame) {
    const View &memory = *frame.view(source);
    ViewRef descriptor = memory.alias();
    descriptor->offset = memory.offset;
    descriptor->strides = memory.strides;
    descriptor->sizes = memory.sizes;
    SmallVector<int64_t, 4> position = offsets.get(frame);
    position.resize(2);
    descriptor->sizes.append(position);
    frame.view(result) = std::move(descriptor);
    return true;
  });
}

static InstrPtr compileUpdateNd(xegpu::UpdateNdOffsetOp op, Scope &scope) {
  Slot source = scope.slot(op.getTensorDesc());
  MixedList offsets(scope, op.getConstOffsets(), op.getOffsets());
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    const View &old = *frame.view(source);
    ViewRef descriptor = old.alias();
    descriptor->offset = old.offset;
    descriptor->strides = old.strides;
    descriptor->sizes = old.sizes;
    for (auto [d, by] : llvm::enumerate(offsets.get(frame)))
      descriptor->sizes[2 + d] += by;
    frame.view(result) = std::move(descriptor);
    return true;
  });
}

/// Calls `touch(address, row, column)` for each element of the tile that is in
/// the bounds of the memory.
template <typename F>
static void forEachOfTile(const View &descriptor, ArrayRef<int64_t> offsets,
                          ArrayRef<int64_t> shape, F touch) {
  std::array<int64_t, 2> first;
  for (size_t d : {0, 1})
    first[d] = descriptor.sizes[2 + d] + (offsets.empty() ? 0 : offsets[d]);
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t col = 0; col < shape[1]; ++col) {
      int64_t at[] = {first[0] + row, first[1] + col};
      if (at[0] >= 0 && at[0] < descriptor.sizes[0] && at[1] >= 0 &&
          at[1] < descriptor.sizes[1])
        touch(descriptor.offset + at[0] * descriptor.strides[0] +
                  at[1] * descriptor.strides[1],
              row, col);
    }
}

static InstrPtr compileLoadNd(xegpu::LoadNdOp op, Scope &scope) {
  VectorType type = op.getType();
  const Format *format = type ? getFormat(type) : nullptr;
  if (!format || type.getRank() != 2 || op.getPacked().value_or(false))
    return nullptr;
  bool transposes =
      op.getTranspose() && *op.getTranspose() == ArrayRef<int64_t>({1, 0});
  SmallVector<int64_t> shape(op.getTensorDescType().getShape());
  Slot descriptor = scope.slot(op.getTensorDesc());
  MixedList offsets = getNdOffsets(scope, op, op.getConstOffsets());
  Slot result = scope.define(op.getValue());
  // All threads load before one stores.
  return makeCollective([=](ArrayRef<Frame *> frames) {
    for (Frame *frame : frames) {
      ViewRef tile = transposes ? View::make(*format, {shape[1], shape[0]})
                                : View::make(*format, shape);
      tile->fill(Number());
      const View &view = *frame->view(descriptor);
      forEachOfTile(view, offsets.get(*frame), shape,
                    [&](int64_t address, int64_t row, int64_t col) {
                      tile->store(transposes ? col * shape[0] + row
                                             : row * shape[1] + col,
                                  view.load(address));
                    });
      frame->view(result) = std::move(tile);
    }
    return true;
  });
}

static InstrPtr compileStoreNd(xegpu::StoreNdOp op, Scope &scope) {
  VectorType type = op.getValueType();
  if (!type || type.getRank() != 2)
    return nullptr;
  SmallVector<int64_t> shape(type.getShape());
  Slot value = scope.slot(op.getValue()),
       descriptor = scope.slot(op.getTensorDesc());
  MixedList offsets = getNdOffsets(scope, op, op.getConstOffsets());
  return makeCollective([=](ArrayRef<Frame *> frames) {
    for (Frame *frame : frames) {
      const View &view = *frame->view(descriptor), &tile = *frame->view(value);
      forEachOfTile(view, offsets.get(*frame), shape,
                    [&](int64_t address, int64_t row, int64_t col) {
                      view.store(address, tile.load(tile.addressOf(
                                              row * shape[1] + col)));
                    });
    }
    return true;
  });
}

static InstrPtr compileDpas(xegpu::DpasOp op, Scope &scope) {
  const Format *format = getFormat(op.getResultType());
  if (!format || op.getLhsType().getRank() != 2 ||
      op.getRhsType().getRank() != 2)
    return nullptr;
  SmallVector<int64_t> shape(op.getResultType().getShape());
  SmallVector<Slot> operands{scope.slot(op.getLhs()), scope.slot(op.getRhs())};
  if (op.getAcc())
    operands.push_back(scope.slot(op.getAcc()));
  return makeMatmul(op, operands, scope.define(op.getResult()), *format, shape);
}

void tessera::reference::addXeGpuHandlers(Registry &registry) {
  registry.add<xegpu::CreateNdDescOp>(compileCreateNd);
  registry.add<xegpu::UpdateNdOffsetOp>(compileUpdateNd);
  registry.add<xegpu::LoadNdOp>(compileLoadNd);
  registry.add<xegpu::StoreNdOp>(compileStoreNd);
  registry.add<xegpu::DpasOp>(compileDpas);
  registry.add<xegpu::PrefetchNdOp>([](xegpu::PrefetchNdOp, Scope &) {
    return makeInstr([](Frame &) { return true; });
  });
}
