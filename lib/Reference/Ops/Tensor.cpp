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
    view->fill(frame.number(value));
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
  bool isConstant = op.getConstantPaddingValue() != nullptr;
  const Format *format = getFormat(op.getType());
  SmallVector<int64_t> stated(op.getType().getShape());
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
    for (auto [dim, size] : llvm::enumerate(stated))
      if (!ShapedType::isDynamic(size) && size != extents[dim])
        return frame.run->error(operation,
                                "the padded size of dimension " + Twine(dim) +
                                    " is " + Twine(extents[dim]) +
                                    ", and the type states " + Twine(size));
    ViewRef view = View::make(*format, extents);
    if (isConstant) {
      if (!frame.run->spend(view->getNumElements(), operation) ||
          !body->run(frame))
        return false;
      view->fill(frame.number(body->yields[0].slot));
    } else if (!generate(frame, operation, *body, *view)) {
      return false;
    }
    // Where the padding is negative, the source is cut off.
    ViewRef read = from.alias(), write = view->alias();
    read->strides = from.strides;
    write->strides = view->strides;
    for (int64_t i = 0; i < from.rank(); ++i) {
      int64_t first = std::max<int64_t>(0, -before[i]);
      int64_t last = std::min(from.sizes[i], extents[i] - before[i]);
      read->sizes.push_back(std::max<int64_t>(0, last - first));
      read->offset += first * from.strides[i];
      write->offset += (first + before[i]) * view->strides[i];
    }
    write->sizes = read->sizes;
    copyElements(*read, *write);
    frame.view(result) = std::move(view);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Slices and shapes
//===----------------------------------------------------------------------===//

static InstrPtr compileExtractSlice(tensor::ExtractSliceOp op, Scope &scope) {
  Slot source = scope.slot(op.getSource());
  Window window(scope, op, op.getDroppedDims());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    ViewRef part = window.get(frame, *frame.view(source));
    if (!part || !frame.run->spend(part->getNumElements(), operation))
      return false;
    frame.view(result) = cloneView(*part);
    return true;
  });
}

/// Copies `from` to the part of `into` that a slice names.
static bool copyToWindow(Frame &frame, Operation *op, const View &from,
                         const Window &window, const View &into) {
  ViewRef part = window.get(frame, into);
  if (!part)
    return false;
  if (part->sizes != from.sizes)
    return frame.run->error(op,
                            "the source size does not match the slice size");
  if (!frame.run->spend(part->getNumElements(), op))
    return false;
  copyElements(from, *part);
  return true;
}

static InstrPtr compileInsertSlice(tensor::InsertSliceOp op, Scope &scope) {
  Slot source = scope.slot(op.getSource());
  Code::Use target = scope.use(op.getDestMutable());
  Window window(scope, op, op.getDroppedDims());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const ViewRef &from = frame.view(source);
    ViewRef into = takeForUpdate(frame, target);
    if (!copyToWindow(frame, operation, *from, window, *into))
      return false;
    frame.view(result) = std::move(into);
    return true;
  });
}

/// Into the shared output itself: the iterations see one tensor.
static InstrPtr compileParallelInsertSlice(tensor::ParallelInsertSliceOp op,
                                           Scope &scope) {
  Slot source = scope.slot(op.getSource());
  Slot target = scope.slot(op.getDest());
  Window window(scope, op, op.getDroppedDims());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    return copyToWindow(frame, operation, *frame.view(source), window,
                        *frame.view(target));
  });
}

static InstrPtr compileReshape(tensor::ReshapeOp op, Scope &scope) {
  if (!isa<RankedTensorType>(op.getSource().getType()) ||
      !isa<RankedTensorType>(op.getType()))
    return nullptr;
  Slot source = scope.slot(op.getSource()), shape = scope.slot(op.getShape());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source), &list = *frame.view(shape);
    SmallVector<int64_t, 4> sizes;
    for (int64_t i = 0; i < list.sizes.front(); ++i)
      sizes.push_back(list.load(list.offset + i * list.strides.front()).i);
    if (!checkSizes(*frame.run, operation, sizes))
      return false;
    ViewRef copy = cloneView(from);
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= size;
    if (count != copy->getNumElements())
      return frame.run->error(operation,
                              "the new shape has another number of elements");
    copy->sizes = sizes;
    copy->strides = denseStrides(sizes);
    frame.view(result) = std::move(copy);
    return true;
  });
}

static InstrPtr compileConcat(tensor::ConcatOp op, Scope &scope) {
  SmallVector<Slot> sources = scope.slots(op.getInputs());
  auto dim = static_cast<int64_t>(op.getDim());
  const Format *format = getFormat(op.getType());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    SmallVector<int64_t, 4> sizes(frame.view(sources.front())->sizes);
    sizes[dim] = 0;
    for (Slot source : sources) {
      const View &from = *frame.view(source);
      for (int64_t i = 0; i < from.rank(); ++i)
        if (i != dim && from.sizes[i] != sizes[i])
          return frame.run->error(operation, "the operand shapes do not match");
      sizes[dim] += from.sizes[dim];
    }
    if (!checkSizes(*frame.run, operation, sizes))
      return false;
    ViewRef whole = View::make(*format, sizes);
    if (!frame.run->spend(whole->getNumElements(), operation))
      return false;
    ViewRef part = whole->alias();
    part->sizes = sizes;
    part->strides = whole->strides;
    for (Slot source : sources) {
      const View &from = *frame.view(source);
      part->sizes[dim] = from.sizes[dim];
      copyElements(from, *part);
      part->offset += from.sizes[dim] * whole->strides[dim];
    }
    frame.view(result) = std::move(whole);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Indexed slices
//===----------------------------------------------------------------------===//

namespace {
/// The slices of a tensor that coordinates name.
struct IndexedSlices {
  SmallVector<int64_t> dims;

  /// Calls `visit` with the slice of `whole` and that of `slices` for each
  /// vector of coordinates in the last dimension of `indices`.
  bool forEach(Run &run, Operation *op, const View &whole, const View &slices,
               const View &indices,
               function_ref<void(const View &, const View &)> visit) const {
    int64_t numBatch = indices.rank() - 1;
    bool isReduced = slices.rank() != numBatch + whole.rank();
    auto batch = ArrayRef<int64_t>(indices.sizes).drop_back();
    if (ArrayRef<int64_t>(slices.sizes).take_front(numBatch) != batch)
      return run.error(op, "the operand shapes do not match");
    return forEachIndex(batch, [&](ArrayRef<int64_t> point) {
      ViewRef part = whole.alias(), slice = slices.alias();
      int64_t from = indices.offset;
      for (int64_t i = 0; i < numBatch; ++i) {
        from += point[i] * indices.strides[i];
        slice->offset += point[i] * slices.strides[i];
      }
      SmallVector<bool> isIndexed(whole.rank(), false);
      for (auto [i, dim] : llvm::enumerate(dims)) {
        isIndexed[dim] = true;
        int64_t at =
            indices
                .load(from + static_cast<int64_t>(i) * indices.strides.back())
                .i;
        if (at < 0 || at >= whole.sizes[dim])
          return run.error(
              op, "index " + Twine(at) + " is out of bounds: dimension " +
                      Twine(dim) + " has size " + Twine(whole.sizes[dim]));
        part->offset += at * whole.strides[dim];
      }
      int64_t next = numBatch;
      for (int64_t dim = 0; dim < whole.rank(); ++dim) {
        if (isIndexed[dim]) {
          next += isReduced ? 0 : 1;
          continue;
        }
        if (slices.sizes[next] != whole.sizes[dim])
          return run.error(op, "the operand shapes do not match");
        part->sizes.push_back(whole.sizes[dim]);
        part->strides.push_back(whole.strides[dim]);
        slice->sizes.push_back(slices.sizes[next]);
        slice->strides.push_back(slices.strides[next++]);
      }
      visit(*part, *slice);
      return true;
    });
  }
};
} // namespace

static InstrPtr compileGather(tensor::GatherOp op, Scope &scope) {
  IndexedSlices indexed{SmallVector<int64_t>(op.getGatherDims())};
  Slot source = scope.slot(op.getSource());
  Slot indices = scope.slot(op.getIndices());
  const Format *format = getFormat(op.getType());
  int64_t resultRank = op.getResultType().getRank();
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source), &at = *frame.view(indices);
    bool isReduced = resultRank != at.rank() - 1 + from.rank();
    SmallVector<int64_t, 4> sizes(at.sizes.begin(), at.sizes.end() - 1);
    for (int64_t dim = 0; dim < from.rank(); ++dim)
      if (!llvm::is_contained(indexed.dims, dim))
        sizes.push_back(from.sizes[dim]);
      else if (!isReduced)
        sizes.push_back(1);
    if (!checkSizes(*frame.run, operation, sizes))
      return false;
    ViewRef into = View::make(*format, sizes);
    if (!frame.run->spend(into->getNumElements(), operation) ||
        !indexed.forEach(*frame.run, operation, from, *into, at, copyElements))
      return false;
    frame.view(result) = std::move(into);
    return true;
  });
}

static InstrPtr compileScatter(tensor::ScatterOp op, Scope &scope) {
  IndexedSlices indexed{SmallVector<int64_t>(op.getScatterDims())};
  Slot source = scope.slot(op.getSource());
  Slot indices = scope.slot(op.getIndices());
  Code::Use target = scope.use(op.getDestMutable());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    // The target may be one of them, and its slot is empty afterwards.
    ViewRef from(frame.view(source).get()), at(frame.view(indices).get());
    ViewRef into = takeForUpdate(frame, target);
    if (!frame.run->spend(from->getNumElements(), operation) ||
        !indexed.forEach(*frame.run, operation, *into, *from, *at,
                         [](const View &whole, const View &slice) {
                           copyElements(slice, whole);
                         }))
      return false;
    frame.view(result) = std::move(into);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// bufferization
//===----------------------------------------------------------------------===//

/// A copy of memory that may change, or to memory that may be changed.
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
  registry.add<tensor::ExtractOp>([](tensor::ExtractOp op, Scope &scope) {
    return makeElementLoad(op, scope.slot(op.getTensor()),
                           scope.slots(op.getIndices()),
                           scope.define(op.getResult()));
  });
  registry.add<tensor::InsertOp>(compileInsert);
  registry.add<tensor::SplatOp>(compileSplat);
  registry.add<tensor::FromElementsOp>(compileFromElements);
  registry.add<tensor::GenerateOp>(compileGenerate);
  registry.add<tensor::PadOp>(compilePad);
  registry.add<tensor::ConcatOp>(compileConcat);
  registry.add<tensor::ReshapeOp>(compileReshape);
  registry.add<tensor::GatherOp>(compileGather);
  registry.add<tensor::ScatterOp>(compileScatter);
  registry.add<tensor::ExtractSliceOp>(compileExtractSlice);
  registry.add<tensor::InsertSliceOp>(compileInsertSlice);
  registry.add<tensor::ParallelInsertSliceOp>(compileParallelInsertSlice);
  registry.add<tensor::ExpandShapeOp>(
      [](tensor::ExpandShapeOp op, Scope &scope) {
        return makeExpand(
            op, scope.slot(op.getSrc()),
            MixedList(scope, op.getStaticOutputShape(), op.getOutputShape()),
            op.getReassociationIndices(), scope.define(op.getResult()));
      });
  registry.add<tensor::CollapseShapeOp>(
      [](tensor::CollapseShapeOp op, Scope &scope) {
        return makeCollapse(op, scope.slot(op.getSrc()),
                            op.getReassociationIndices(),
                            scope.define(op.getResult()));
      });
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
