//===- Tensor.cpp - The tensor and bufferization dialects -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Shapes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static InstrPtr compileExtract(tensor::ExtractOp op, Scope &scope) {
  Slot source = scope.slot(op.getTensor());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(source);
    int64_t address;
    if (!getAddress(frame, operation, view, indices, address))
      return false;
    frame.number(result) = view.load(address);
    return true;
  });
}

static InstrPtr compileInsert(tensor::InsertOp op, Scope &scope) {
  Code::Use target = scope.use(op.getDestMutable());
  Slot value = scope.slot(op.getScalar());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    ViewRef view = takeForUpdate(frame, target);
    int64_t address;
    if (!getAddress(frame, operation, *view, indices, address))
      return false;
    view->store(address, frame.number(value));
    frame.view(result) = std::move(view);
    return true;
  });
}

static InstrPtr compileSplat(tensor::SplatOp op, Scope &scope) {
  Slot value = scope.slot(op.getInput());
  MixedList sizes = getSizes(scope, op.getType(), op.getDynamicSizes());
  const Format *format = getFormat(op.getType());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    SmallVector<int64_t, 4> extents = sizes.get(frame);
    if (!checkSizes(*frame.run, operation, extents))
      return false;
    ViewRef view = View::make(*format, extents);
    for (int64_t i = 0, e = view->storage->size(); i < e; ++i)
      view->store(i, frame.number(value));
    frame.view(result) = std::move(view);
    return true;
  });
}

static InstrPtr compileFromElements(tensor::FromElementsOp op, Scope &scope) {
  SmallVector<Slot> values = scope.slots(op.getElements());
  SmallVector<int64_t> shape(op.getType().getShape());
  const Format *format = getFormat(op.getType());
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    ViewRef view = View::make(*format, shape);
    for (size_t i = 0; i < values.size(); ++i)
      view->store(static_cast<int64_t>(i), frame.number(values[i]));
    frame.view(result) = std::move(view);
    return true;
  });
}

/// Fills `view` with what `body` yields at each point.
static bool generate(Frame &frame, Operation *op, const Code &body,
                     const View &view) {
  int64_t at = 0;
  return forEachIndex(view.sizes, [&](ArrayRef<int64_t> point) {
    if (!frame.run->spend(body.cost(), op))
      return false;
    for (size_t i = 0; i < point.size(); ++i)
      frame.setInt(body.arguments[i], point[i]);
    if (!body.run(frame))
      return false;
    view.store(at++, frame.number(body.yields[0].slot));
    return true;
  });
}

static InstrPtr compileGenerate(tensor::GenerateOp op, Scope &scope) {
  MixedList sizes =
      getSizes(scope, cast<ShapedType>(op.getType()), op.getDynamicExtents());
  const Format *format = getFormat(op.getType());
  auto body = std::make_shared<Code>(scope.compile(op.getBody().front()));
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    SmallVector<int64_t, 4> extents = sizes.get(frame);
    if (!checkSizes(*frame.run, operation, extents))
      return false;
    ViewRef view = View::make(*format, extents);
    if (!generate(frame, operation, *body, *view))
      return false;
    frame.view(result) = std::move(view);
    return true;
  });
}

static InstrPtr compilePad(tensor::PadOp op, Scope &scope) {
  Slot source = scope.slot(op.getSource());
  MixedList low(scope, op.getStaticLow(), op.getLow());
  MixedList high(scope, op.getStaticHigh(), op.getHigh());
  auto body = std::make_shared<Code>(scope.compile(op.getRegion().front()));
  const Format *format = getFormat(op.getType());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source);
    SmallVector<int64_t, 4> before = low.get(frame), after = high.get(frame);
    SmallVector<int64_t, 4> extents;
    for (int64_t i = 0; i < from.rank(); ++i)
      extents.push_back(before[i] + from.sizes[i] + after[i]);
    if (!checkSizes(*frame.run, operation, extents))
      return false;
    ViewRef view = View::make(*format, extents);
    if (!generate(frame, operation, *body, *view))
      return false;
    // Where the padding is negative, the source is cut off.
    forEachIndex(from.sizes, [&](ArrayRef<int64_t> point) {
      int64_t read = from.offset, write = 0;
      for (size_t i = 0; i < point.size(); ++i) {
        int64_t target = point[i] + before[i];
        if (target < 0 || target >= extents[i])
          return true;
        read += point[i] * from.strides[i];
        write += target * view->strides[i];
      }
      view->store(write, from.load(read));
      return true;
    });
    frame.view(result) = std::move(view);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Slices and shapes
//===----------------------------------------------------------------------===//

static InstrPtr compileExtractSlice(tensor::ExtractSliceOp op, Scope &scope) {
  Slot source = scope.slot(op.getSource());
  MixedList offsets(scope, op.getStaticOffsets(), op.getOffsets());
  MixedList sizes(scope, op.getStaticSizes(), op.getSizes());
  MixedList strides(scope, op.getStaticStrides(), op.getStrides());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(source);
    SmallVector<int64_t, 4> from = offsets.get(frame),
                            extent = sizes.get(frame), by = strides.get(frame);
    if (!checkWindow(*frame.run, operation, view.sizes, from, extent, by))
      return false;
    ViewRef window = makeWindow(view, from, extent, by, dropped);
    if (!frame.run->spend(window->getNumElements(), operation))
      return false;
    frame.view(result) = cloneView(*window);
    return true;
  });
}

static InstrPtr compileInsertSlice(tensor::InsertSliceOp op, Scope &scope) {
  Slot source = scope.slot(op.getSource());
  Code::Use target = scope.use(op.getDestMutable());
  MixedList offsets(scope, op.getStaticOffsets(), op.getOffsets());
  MixedList sizes(scope, op.getStaticSizes(), op.getSizes());
  MixedList strides(scope, op.getStaticStrides(), op.getStrides());
  llvm::SmallBitVector dropped = op.getDroppedDims();
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const ViewRef &from = frame.view(source);
    ViewRef into = takeForUpdate(frame, target);
    SmallVector<int64_t, 4> at = offsets.get(frame), extent = sizes.get(frame),
                            by = strides.get(frame);
    if (!checkWindow(*frame.run, operation, into->sizes, at, extent, by))
      return false;
    ViewRef window = makeWindow(*into, at, extent, by, dropped);
    if (window->sizes != from->sizes)
      return frame.run->error(operation, "the source does not have the size of "
                                         "the slice");
    if (!frame.run->spend(window->getNumElements(), operation))
      return false;
    copyElements(*from, *window);
    frame.view(result) = std::move(into);
    return true;
  });
}

/// A dense view of the same elements in another shape.
static ViewRef reshape(const View &source, ArrayRef<int64_t> sizes) {
  auto view = llvm::makeIntrusiveRefCnt<View>();
  view->storage = source.storage;
  view->format = source.format;
  view->offset = source.offset;
  view->sizes.assign(sizes.begin(), sizes.end());
  view->strides = denseStrides(sizes);
  return view;
}

static InstrPtr compileExpand(tensor::ExpandShapeOp op, Scope &scope) {
  Slot source = scope.slot(op.getSrc());
  MixedList sizes(scope, op.getStaticOutputShape(), op.getOutputShape());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    ViewRef view = reshape(*frame.view(source), sizes.get(frame));
    if (view->getNumElements() != frame.view(source)->getNumElements())
      return frame.run->error(operation,
                              "the sizes do not multiply to the source's");
    frame.view(result) = std::move(view);
    return true;
  });
}

static InstrPtr compileCollapse(tensor::CollapseShapeOp op, Scope &scope) {
  Slot source = scope.slot(op.getSrc());
  auto groups = op.getReassociationIndices();
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source);
    SmallVector<int64_t, 4> sizes;
    for (const auto &group : groups) {
      int64_t size = 1;
      for (int64_t dim : group)
        size *= from.sizes[dim];
      sizes.push_back(size);
    }
    frame.view(result) = reshape(from, sizes);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// bufferization
//===----------------------------------------------------------------------===//

/// A copy: of memory that may change, or to memory that may be changed.
static InstrPtr makeClone(Operation *op, Slot source, Slot result) {
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(source);
    if (!frame.run->spend(view.getNumElements(), op))
      return false;
    frame.view(result) = cloneView(view);
    return true;
  });
}

static InstrPtr compileAllocTensor(bufferization::AllocTensorOp op,
                                   Scope &scope) {
  if (op.getCopy())
    return makeClone(op, scope.slot(op.getCopy()),
                     scope.define(op.getResult()));
  return makeAllocation(
      op, getSizes(scope, cast<ShapedType>(op.getType()), op.getDynamicSizes()),
      getFormat(op.getType()), scope.define(op.getResult()));
}

static InstrPtr compileMaterialize(bufferization::MaterializeInDestinationOp op,
                                   Scope &scope) {
  Slot source = scope.slot(op.getSource());
  if (isa<MemRefType>(op.getDest().getType()))
    return makeMemoryCopy(op, source, scope.slot(op.getDest()));
  return makeAlias(source, scope.define(op->getResult(0)));
}

void tessera::reference::addTensorHandlers(Registry &registry) {
  registry.add<tensor::EmptyOp>([](tensor::EmptyOp op, Scope &scope) {
    return makeAllocation(
        op, getSizes(scope, op.getType(), op.getDynamicSizes()),
        getFormat(op.getType()), scope.define(op.getResult()));
  });
  registry.add<tensor::ExtractOp>(compileExtract);
  registry.add<tensor::InsertOp>(compileInsert);
  registry.add<tensor::SplatOp>(compileSplat);
  registry.add<tensor::FromElementsOp>(compileFromElements);
  registry.add<tensor::GenerateOp>(compileGenerate);
  registry.add<tensor::PadOp>(compilePad);
  registry.add<tensor::ExtractSliceOp>(compileExtractSlice);
  registry.add<tensor::InsertSliceOp>(compileInsertSlice);
  registry.add<tensor::ExpandShapeOp>(compileExpand);
  registry.add<tensor::CollapseShapeOp>(compileCollapse);
  registry.add<tensor::DimOp>([](tensor::DimOp op, Scope &scope) {
    return makeDim(op, scope.slot(op.getSource()), scope.slot(op.getIndex()),
                   scope.define(op.getResult()));
  });
  registry.add<tensor::CastOp>([](tensor::CastOp op, Scope &scope) {
    return makeCheckedCast(op, cast<ShapedType>(op.getType()),
                           scope.slot(op.getSource()),
                           scope.define(op.getResult()));
  });
  registry.add<bufferization::ToTensorOp>(
      [](bufferization::ToTensorOp op, Scope &scope) {
        return makeClone(op, scope.slot(op.getBuffer()),
                         scope.define(op.getResult()));
      });
  registry.add<bufferization::ToBufferOp>(
      [](bufferization::ToBufferOp op, Scope &scope) {
        return makeClone(op, scope.slot(op.getTensor()),
                         scope.define(op.getResult()));
      });
  registry.add<bufferization::CloneOp>(
      [](bufferization::CloneOp op, Scope &scope) {
        return makeClone(op, scope.slot(op.getInput()),
                         scope.define(op.getOutput()));
      });
  registry.add<bufferization::AllocTensorOp>(compileAllocTensor);
  registry.add<bufferization::MaterializeInDestinationOp>(compileMaterialize);
  registry.addNamed("bufferization.dealloc_tensor", [](Operation *, Scope &) {
    return makeInstr([](Frame &) { return true; });
  });
  // The lowering of TOSA leaves these behind, unused.
  registry.addNamed("tosa.const_shape", [](Operation *op, Scope &scope) {
    scope.define(op->getResults());
    return makeInstr([](Frame &) { return true; });
  });
}
