//===- Vector.cpp - The vector dialect, in part ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera::reference;

/// load and store of a vector's shape at indices of a memref's last dimensions.
template <typename F>
static bool forEachElement(const Frame &frame, Operation *op,
                           const View &memory, ArrayRef<Slot> indices,
                           ArrayRef<int64_t> shape, F touch) {
  int64_t at = 0;
  size_t leading = indices.size() - shape.size();
  return forEachIndex(shape, [&](ArrayRef<int64_t> point) {
    int64_t address = memory.offset;
    for (size_t i = 0; i < indices.size(); ++i) {
      int64_t index =
          frame.integer(indices[i]) + (i >= leading ? point[i - leading] : 0);
      if (index < 0 || index >= memory.sizes[i])
        return frame.run->error(
            op, "index " + Twine(index) + " is out of bounds: dimension " +
                    Twine(i) + " has size " + Twine(memory.sizes[i]));
      address += index * memory.strides[i];
    }
    touch(address, at++);
    return true;
  });
}

static InstrPtr compileLoad(vector::LoadOp op, Scope &scope) {
  auto type = cast<VectorType>(op.getType());
  if (type.isScalable() ||
      isa<VectorType>(getElementTypeOrSelf(op.getBase())) ||
      type.getRank() > static_cast<int64_t>(op.getIndices().size()))
    return nullptr;
  Slot memory = scope.slot(op.getBase());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  SmallVector<int64_t> shape(type.getShape());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    ViewRef vector = View::make(*view.format, shape);
    bool good = forEachElement(frame, operation, view, indices, shape,
                               [&](int64_t address, int64_t at) {
                                 vector->store(at, view.load(address));
                               });
    frame.view(result) = std::move(vector);
    return good;
  });
}

static InstrPtr compileStore(vector::StoreOp op, Scope &scope) {
  auto type = cast<VectorType>(op.getValueToStore().getType());
  if (type.isScalable() ||
      isa<VectorType>(getElementTypeOrSelf(op.getBase())) ||
      type.getRank() > static_cast<int64_t>(op.getIndices().size()))
    return nullptr;
  Slot memory = scope.slot(op.getBase());
  Slot value = scope.slot(op.getValueToStore());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  SmallVector<int64_t> shape(type.getShape());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory), &vector = *frame.view(value);
    return forEachElement(frame, operation, view, indices, shape,
                          [&](int64_t address, int64_t at) {
                            view.store(address,
                                       vector.load(vector.addressOf(at)));
                          });
  });
}

/// transfer_read and transfer_write without a mask; elements out of bounds are
/// padding. `dims` has the dimension of the vector along each of the memory; -1
/// for none.
template <typename F>
static bool forEachTransfer(const Frame &frame, const View &memory,
                            ArrayRef<Slot> indices, ArrayRef<int64_t> dims,
                            ArrayRef<int64_t> shape, F touch) {
  int64_t at = 0;
  return forEachIndex(shape, [&](ArrayRef<int64_t> point) {
    int64_t address = memory.offset;
    bool inside = true;
    for (size_t i = 0; i < indices.size(); ++i) {
      int64_t index =
          frame.integer(indices[i]) + (dims[i] >= 0 ? point[dims[i]] : 0);
      inside = inside && index >= 0 && index < memory.sizes[i];
      address += index * memory.strides[i];
    }
    touch(inside, address, at++);
    return true;
  });
}

/// The `dims` of `forEachTransfer`; absent for a form that the reference does
/// not know. A dimension of the vector along none of the memory repeats its
/// elements.
static std::optional<SmallVector<int64_t>>
getTransferDims(VectorTransferOpInterface op) {
  if (op.getMask() || op.getVectorType().isScalable() ||
      isa<VectorType>(op.getShapedType().getElementType()))
    return std::nullopt;
  SmallVector<int64_t> dims(op.getIndices().size(), -1);
  for (auto [i, expr] : llvm::enumerate(op.getPermutationMap().getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      dims[dim.getPosition()] = static_cast<int64_t>(i);
  return dims;
}

static InstrPtr compileTransferRead(vector::TransferReadOp op, Scope &scope) {
  std::optional<SmallVector<int64_t>> dims = getTransferDims(op);
  if (!dims)
    return nullptr;
  Slot memory = scope.slot(op.getBase()), padding = scope.slot(op.getPadding());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  SmallVector<int64_t> shape(op.getVectorType().getShape());
  Slot result = scope.define(op.getVector());
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    ViewRef vector = View::make(*view.format, shape);
    forEachTransfer(frame, view, indices, *dims, shape,
                    [&](bool inside, int64_t address, int64_t at) {
                      vector->store(at, inside ? view.load(address)
                                               : frame.number(padding));
                    });
    frame.view(result) = std::move(vector);
    return true;
  });
}

static InstrPtr compileTransferWrite(vector::TransferWriteOp op, Scope &scope) {
  std::optional<SmallVector<int64_t>> dims = getTransferDims(op);
  if (!dims)
    return nullptr;
  Code::Use target = scope.use(op.getBaseMutable());
  Slot value = scope.slot(op.getVector());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  SmallVector<int64_t> shape(op.getVectorType().getShape());
  std::optional<Slot> result;
  if (op.getResult())
    result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    ViewRef view =
        result ? takeForUpdate(frame, target) : frame.view(target.slot);
    const View &vector = *frame.view(value);
    forEachTransfer(frame, *view, indices, *dims, shape,
                    [&](bool inside, int64_t address, int64_t at) {
                      if (inside)
                        view->store(address, vector.load(vector.addressOf(at)));
                    });
    if (result)
      frame.view(*result) = std::move(view);
    return true;
  });
}

/// A scalar, or a vector of trailing dimensions, to a vector.
static InstrPtr compileBroadcast(vector::BroadcastOp op, Scope &scope) {
  auto type = cast<VectorType>(op.getType());
  auto from = dyn_cast<VectorType>(op.getSourceType());
  const Format *format = getFormat(type);
  if (type.isScalable() || !format)
    return nullptr;
  Slot source = scope.slot(op.getSource());
  Slot result = scope.define(op.getVector());
  SmallVector<int64_t> shape(type.getShape());
  bool isScalar = !from;
  return makeInstr([=](Frame &frame) {
    ViewRef vector = View::make(*format, shape);
    int64_t at = 0;
    forEachIndex(shape, [&](ArrayRef<int64_t> point) {
      if (isScalar) {
        vector->store(at++, frame.number(source));
        return true;
      }
      const View &view = *frame.view(source);
      int64_t address = view.offset;
      size_t leading = point.size() - view.sizes.size();
      for (size_t i = 0; i < view.sizes.size(); ++i)
        if (view.sizes[i] != 1)
          address += point[leading + i] * view.strides[i];
      vector->store(at++, view.load(address));
      return true;
    });
    frame.view(result) = std::move(vector);
    return true;
  });
}

/// The part of a view at leading indices.
static ViewRef takePart(const View &view, ArrayRef<int64_t> position) {
  auto part = llvm::makeIntrusiveRefCnt<View>();
  part->storage = view.storage;
  part->format = view.format;
  part->offset = view.offset;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    if (i < position.size()) {
      part->offset += position[i] * view.strides[i];
    } else {
      part->sizes.push_back(view.sizes[i]);
      part->strides.push_back(view.strides[i]);
    }
  }
  return part;
}

static bool checkPosition(const Frame &frame, Operation *op, const View &view,
                          ArrayRef<int64_t> position) {
  for (size_t i = 0; i < position.size(); ++i)
    if (position[i] < 0 || position[i] >= view.sizes[i])
      return frame.run->error(op, "index " + Twine(position[i]) +
                                      " is out of bounds of the vector");
  return true;
}

static InstrPtr compileExtract(vector::ExtractOp op, Scope &scope) {
  Slot source = scope.slot(op.getSource());
  MixedList position(scope, op.getStaticPosition(), op.getDynamicPosition());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(source);
    SmallVector<int64_t, 4> at = position.get(frame);
    if (!checkPosition(frame, operation, view, at))
      return false;
    ViewRef part = takePart(view, at);
    if (result.isView)
      frame.view(result) = cloneView(*part);
    else
      frame.number(result) = part->load(part->offset);
    return true;
  });
}

static InstrPtr compileInsert(vector::InsertOp op, Scope &scope) {
  Slot value = scope.slot(op.getValueToStore());
  Code::Use target = scope.use(op.getDestMutable());
  MixedList position(scope, op.getStaticPosition(), op.getDynamicPosition());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    ViewRef view = takeForUpdate(frame, target);
    SmallVector<int64_t, 4> at = position.get(frame);
    if (!checkPosition(frame, operation, *view, at))
      return false;
    ViewRef part = takePart(*view, at);
    if (value.isView)
      copyElements(*frame.view(value), *part);
    else
      part->store(part->offset, frame.number(value));
    frame.view(result) = std::move(view);
    return true;
  });
}

void tessera::reference::addVectorHandlers(Registry &registry) {
  registry.add<vector::LoadOp>(compileLoad);
  registry.add<vector::StoreOp>(compileStore);
  registry.add<vector::TransferReadOp>(compileTransferRead);
  registry.add<vector::TransferWriteOp>(compileTransferWrite);
  registry.add<vector::BroadcastOp>(compileBroadcast);
  registry.add<vector::ExtractOp>(compileExtract);
  registry.add<vector::InsertOp>(compileInsert);
  registry.addNamed("vector.fma", [](Operation *op, Scope &scope) {
    return makeElementwise(op, scope, fuseMultiplyAdd);
  });
}
