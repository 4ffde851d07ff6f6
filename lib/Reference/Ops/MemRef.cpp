//===- MemRef.cpp - The memref dialect ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "Shapes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <mutex>

using namespace mlir;
using namespace mlir::tessera::reference;

template <typename OpT> static InstrPtr compileAlloc(OpT op, Scope &scope) {
  if (!op.getSymbolOperands().empty())
    return nullptr;
  MixedList sizes = getSizes(scope, op.getType(), op.getDynamicSizes());
  return makeAllocation(op, sizes, getFormat(op.getType()),
                        scope.define(op.getMemref()));
}

InstrPtr tessera::reference::makeElementLoad(Operation *op, Slot source,
                                             const SmallVector<Slot> &indices,
                                             Slot result) {
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(source);
    int64_t address;
    if (!getAddress(frame, op, view, indices, address))
      return false;
    frame.number(result) = view.load(address);
    return true;
  });
}

static InstrPtr compileStore(memref::StoreOp op, Scope &scope) {
  Slot memory = scope.slot(op.getMemRef());
  Slot value = scope.slot(op.getValueToStore());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    int64_t address;
    if (!getAddress(frame, operation, view, indices, address))
      return false;
    view.store(address, frame.number(value));
    return true;
  });
}

InstrPtr tessera::reference::makeMemoryCopy(Operation *op, Slot source,
                                            Slot target) {
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source);
    const View &to = *frame.view(target);
    if (from.sizes != to.sizes)
      return frame.run->error(op, "source and target differ in shape");
    if (!frame.run->spend(from.getNumElements(), op))
      return false;
    if (from.storage == to.storage)
      copyElements(*cloneView(from), to);
    else
      copyElements(from, to);
    return true;
  });
}

InstrPtr tessera::reference::makeFill(Operation *op, Slot target, Slot value) {
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(target);
    int64_t count = view.getNumElements();
    if (!frame.run->spend(count, op))
      return false;
    for (int64_t i = 0; i < count; ++i)
      view.store(view.addressOf(i), frame.number(value));
    return true;
  });
}

InstrPtr tessera::reference::makeAlias(Slot source, Slot result) {
  return makeInstr([=](Frame &frame) {
    assign(frame, result, frame, source);
    return true;
  });
}

InstrPtr tessera::reference::makeAllocation(Operation *op,
                                            const MixedList &sizes,
                                            const Format *format, Slot result) {
  auto allocate = [=](Frame &frame) {
    SmallVector<int64_t, 4> extents = sizes.get(frame);
    if (!checkSizes(*frame.run, op, extents))
      return false;
    int64_t count = 1;
    for (int64_t extent : extents)
      count *= extent;
    if (!frame.run->spend(count, op))
      return false;
    frame.view(result) =
        View::makePoison(*format, extents, frame.run->noteUnspecified(op));
    return true;
  };
  if (!isWorkgroupAllocation(op))
    return makeInstr(allocate);
  // One for the workgroup, and for each of a thread's virtual threads.
  return makeCollective([=](ArrayRef<Frame *> frames) {
    const Frame &first = *frames.front();
    if (first.group && static_cast<int64_t>(frames.size()) !=
                           first.group->numThreads * first.replicas)
      return first.run->error(op, "not all threads of the workgroup reach this "
                                  "allocation of workgroup memory");
    size_t own = first.group ? first.replicas : frames.size();
    for (size_t i = 0; i < frames.size(); ++i)
      if (i >= own)
        frames[i]->view(result) = frames[i % own]->view(result);
      else if (!allocate(*frames[i]))
        return false;
    return true;
  });
}

InstrPtr tessera::reference::makeCheckedCast(Operation *op, ShapedType type,
                                             Slot source, Slot result) {
  if (!type.hasRank())
    return makeAlias(source, result);
  SmallVector<int64_t> shape(type.getShape());
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(source);
    bool fits = shape.size() == view.sizes.size();
    for (size_t i = 0; fits && i < shape.size(); ++i)
      fits = ShapedType::isDynamic(shape[i]) || shape[i] == view.sizes[i];
    if (!fits)
      return frame.run->error(
          op, "the value's shape does not match the result type of the cast");
    frame.view(result) = frame.view(source);
    return true;
  });
}

Window::Window(Scope &scope, OffsetSizeAndStrideOpInterface op,
               llvm::SmallBitVector dropped)
    : op(op), offsets(scope, op.getStaticOffsets(), op.getOffsets()),
      sizes(scope, op.getStaticSizes(), op.getSizes()),
      strides(scope, op.getStaticStrides(), op.getStrides()),
      dropped(std::move(dropped)) {}

ViewRef Window::get(const Frame &frame, const View &source) const {
  Run &run = *frame.run;
  SmallVector<int64_t, 4> starts = offsets.get(frame),
                          extents = sizes.get(frame),
                          steps = strides.get(frame);
  ViewRef view = source.alias();
  for (size_t i = 0; i < starts.size(); ++i) {
    if (extents[i] < 0) {
      run.error(op, "a size is negative: " + Twine(extents[i]));
      return nullptr;
    }
    int64_t first = starts[i], last = first + (extents[i] - 1) * steps[i];
    if (extents[i] > 0 && (std::min(first, last) < 0 ||
                           std::max(first, last) >= source.sizes[i])) {
      run.error(op, "the window is out of bounds: dimension " + Twine(i) +
                        " has size " + Twine(source.sizes[i]) +
                        ", the window spans " + Twine(first) + " to " +
                        Twine(last));
      return nullptr;
    }
    view->offset += first * source.strides[i];
    if (dropped.test(i))
      continue;
    view->sizes.push_back(extents[i]);
    view->strides.push_back(steps[i] * source.strides[i]);
  }
  return view;
}

static InstrPtr compileSubView(memref::SubViewOp op, Scope &scope) {
  Slot source = scope.slot(op.getSource());
  Window window(scope, op, op.getDroppedDims());
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    ViewRef view = window.get(frame, *frame.view(source));
    frame.view(result) = view;
    return view != nullptr;
  });
}

static InstrPtr compileReinterpretCast(memref::ReinterpretCastOp op,
                                       Scope &scope) {
  Slot source = scope.slot(op.getSource());
  MixedList offsets(scope, op.getStaticOffsets(), op.getOffsets());
  MixedList sizes(scope, op.getStaticSizes(), op.getSizes());
  MixedList strides(scope, op.getStaticStrides(), op.getStrides());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    ViewRef view = frame.view(source)->alias();
    view->offset = offsets.get(frame).front();
    view->sizes = sizes.get(frame);
    view->strides = strides.get(frame);
    int64_t low = view->offset, high = view->offset;
    bool isEmpty = false;
    for (size_t i = 0; i < view->sizes.size(); ++i) {
      isEmpty |= view->sizes[i] <= 0;
      int64_t span = (view->sizes[i] - 1) * view->strides[i];
      (span < 0 ? low : high) += span;
    }
    if (!checkSizes(*frame.run, operation, view->sizes))
      return false;
    if (!isEmpty && (low < 0 || high >= view->storage->size()))
      return frame.run->error(operation, "the result is out of bounds of the "
                                         "memory");
    frame.view(result) = std::move(view);
    return true;
  });
}

static InstrPtr compileReshape(memref::ReshapeOp op, Scope &scope) {
  // The reference has no views of unranked memory.
  if (!isa<MemRefType>(op.getResult().getType()) ||
      !isa<MemRefType>(op.getSource().getType()))
    return nullptr;
  Slot source = scope.slot(op.getSource()), shape = scope.slot(op.getShape());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &memory = *frame.view(source);
    const View &sizes = *frame.view(shape);
    ViewRef view = memory.alias();
    for (int64_t i = 0; i < sizes.getNumElements(); ++i)
      view->sizes.push_back(sizes.load(sizes.addressOf(i)).i);
    view->strides = denseStrides(view->sizes);
    if (!checkSizes(*frame.run, operation, view->sizes))
      return false;
    if (!memory.isDense() || view->getNumElements() != memory.getNumElements())
      return frame.run->error(operation,
                              "the source must be contiguous, with as many "
                              "elements as the result");
    frame.view(result) = std::move(view);
    return true;
  });
}

static InstrPtr compileMetadata(memref::ExtractStridedMetadataOp op,
                                Scope &scope) {
  Slot source = scope.slot(op.getSource());
  Slot base = scope.define(op.getBaseBuffer());
  Slot offset = scope.define(op.getOffset());
  SmallVector<Slot> sizes = scope.define(op.getSizes());
  SmallVector<Slot> strides = scope.define(op.getStrides());
  return makeInstr([=](Frame &frame) {
    const ViewRef &view = frame.view(source);
    ViewRef whole = view->alias();
    whole->offset = 0;
    frame.view(base) = std::move(whole);
    frame.setInt(offset, view->offset);
    for (size_t i = 0; i < sizes.size(); ++i) {
      frame.setInt(sizes[i], view->sizes[i]);
      frame.setInt(strides[i], view->strides[i]);
    }
    return true;
  });
}

static InstrPtr compileTranspose(memref::TransposeOp op, Scope &scope) {
  Slot source = scope.slot(op.getIn());
  Slot result = scope.define(op.getResult());
  SmallVector<unsigned> order;
  for (AffineExpr expr : op.getPermutation().getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source);
    ViewRef view = from.alias();
    for (unsigned dim : order) {
      view->sizes.push_back(from.sizes[dim]);
      view->strides.push_back(from.strides[dim]);
    }
    frame.view(result) = std::move(view);
    return true;
  });
}

InstrPtr tessera::reference::makeExpand(
    Operation *op, Slot source, const MixedList &sizes,
    const SmallVector<ReassociationIndices> &groups, Slot result) {
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source);
    ViewRef view = from.alias();
    view->sizes = sizes.get(frame);
    view->strides.assign(view->sizes.size(), 1);
    for (size_t i = 0; i < groups.size(); ++i) {
      int64_t stride = from.strides[i], count = 1;
      for (int64_t dim : llvm::reverse(groups[i])) {
        view->strides[dim] = stride;
        stride *= view->sizes[dim];
        count *= view->sizes[dim];
      }
      if (count != from.sizes[i])
        return frame.run->error(
            op, "the product of the sizes does not match the source size");
    }
    frame.view(result) = std::move(view);
    return true;
  });
}

InstrPtr tessera::reference::makeCollapse(
    Operation *op, Slot source, const SmallVector<ReassociationIndices> &groups,
    Slot result) {
  return makeInstr([=](Frame &frame) {
    const View &from = *frame.view(source);
    ViewRef view = from.alias();
    for (const auto &group : groups) {
      int64_t size = 1, stride = 1;
      bool first = true;
      for (int64_t dim : llvm::reverse(group)) {
        if (from.sizes[dim] == 1)
          continue;
        if (first)
          stride = from.strides[dim];
        else if (from.strides[dim] != stride * size)
          return frame.run->error(op, "the dimensions are not contiguous");
        first = false;
        size *= from.sizes[dim];
      }
      view->sizes.push_back(size);
      view->strides.push_back(stride);
    }
    frame.view(result) = std::move(view);
    return true;
  });
}

static InstrPtr compileGlobal(memref::GetGlobalOp op, Scope &scope) {
  auto global =
      scope.program.getSymbols().lookupNearestSymbolFrom<memref::GlobalOp>(
          op, op.getNameAttr());
  const Format *format = getFormat(op.getType());
  auto type = dyn_cast<MemRefType>(op.getType());
  if (!global || !format || !type || !type.hasStaticShape())
    return nullptr;
  DenseElementsAttr elements;
  if (std::optional<Attribute> initial = global.getInitialValue()) {
    elements = dyn_cast<DenseElementsAttr>(*initial);
    if (!elements && !isa<UnitAttr>(*initial))
      return nullptr;
  }
  SmallVector<int64_t> shape(type.getShape());
  Slot result = scope.define(op.getResult());
  Operation *symbol = global, *operation = op;
  if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type))
    return makeInstr([=](Frame &frame) {
      if (!frame.group)
        return frame.run->error(operation, "must be inside a kernel");
      ViewRef &memory = frame.group->globals[symbol];
      if (!memory)
        memory = View::makePoison(*format, shape,
                                  frame.run->noteUnspecified(symbol));
      frame.view(result) = memory;
      return true;
    });
  return makeInstr([=](Frame &frame) {
    bool isOther = !elements && frame.run->noteUnspecified(symbol);
    frame.view(result) = frame.run->getGlobal(symbol, [&] {
      return elements ? makeDense(elements)
                      : View::makePoison(*format, shape, isOther);
    });
    return true;
  });
}

InstrPtr tessera::reference::makeDim(Operation *op, Slot source, Slot index,
                                     Slot result) {
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(source);
    int64_t dim = frame.integer(index);
    if (dim < 0 || dim >= view.rank())
      return frame.run->error(op, "dimension out of range: " + Twine(dim));
    frame.setInt(result, view.sizes[dim]);
    return true;
  });
}

/// The function that an atomic update computes; null for an unknown kind.
static Elementwise::Function getUpdate(arith::AtomicRMWKind kind) {
  using K = arith::AtomicRMWKind;
  switch (kind) {
  case K::addf:
    return addFloats;
  case K::mulf:
    return multiplyFloats;
  case K::maximumf:
    return maximumFloat;
  case K::minimumf:
    return minimumFloat;
  case K::maxnumf:
    return maximumNumber;
  case K::minnumf:
    return minimumNumber;
  case K::addi:
    return addIntegers;
  case K::muli:
    return multiplyIntegers;
  default:
    return nullptr;
  }
}

bool tessera::reference::updateAtomically(const Elementwise &element,
                                          const View &view, int64_t address,
                                          const Number &value, Run &run,
                                          Number *old) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  Number in[2] = {view.load(address), value}, out;
  if (!element.function(element, in, out, run))
    return false;
  view.store(address, out);
  if (old)
    *old = in[0];
  return true;
}

static InstrPtr compileAtomic(memref::AtomicRMWOp op, Scope &scope) {
  Elementwise element;
  element.function = getUpdate(op.getKind());
  if (!element.function)
    return nullptr;
  element.op = op;
  element.result = getFormat(op.getType());
  element.inputs = {element.result, element.result, nullptr};
  Slot memory = scope.slot(op.getMemref());
  Slot value = scope.slot(op.getValue());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  Slot result = scope.define(op.getResult());
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    int64_t address;
    Number old;
    if (!getAddress(frame, element.op, view, indices, address) ||
        !updateAtomically(element, view, address, frame.number(value),
                          *frame.run, &old))
      return false;
    // Which threads came before is not defined.
    frame.number(result) = old;
    frame.number(result).error = unbounded;
    frame.number(result).errorIfFinite = unbounded;
    return true;
  });
}

void tessera::reference::addMemRefHandlers(Registry &registry) {
  registry.add<memref::AllocOp>(compileAlloc<memref::AllocOp>);
  registry.add<memref::AllocaOp>(compileAlloc<memref::AllocaOp>);
  registry.addNamed("memref.dealloc", [](Operation *, Scope &) {
    return makeInstr([](Frame &) { return true; });
  });
  registry.add<memref::LoadOp>([](memref::LoadOp op, Scope &scope) {
    return makeElementLoad(op, scope.slot(op.getMemRef()),
                           scope.slots(op.getIndices()),
                           scope.define(op.getResult()));
  });
  registry.add<memref::StoreOp>(compileStore);
  registry.add<memref::CopyOp>([](memref::CopyOp op, Scope &scope) {
    return makeMemoryCopy(op, scope.slot(op.getSource()),
                          scope.slot(op.getTarget()));
  });
  registry.add<memref::CastOp>([](memref::CastOp op, Scope &scope) {
    return makeCheckedCast(op, cast<ShapedType>(op.getType()),
                           scope.slot(op.getSource()),
                           scope.define(op.getResult()));
  });
  registry.add<memref::MemorySpaceCastOp>([](memref::MemorySpaceCastOp op,
                                             Scope &scope) {
    return makeAlias(scope.slot(op.getSource()), scope.define(op.getResult()));
  });
  registry.add<memref::AssumeAlignmentOp>([](memref::AssumeAlignmentOp op,
                                             Scope &scope) {
    return makeAlias(scope.slot(op.getMemref()), scope.define(op.getResult()));
  });
  registry.add<memref::DimOp>([](memref::DimOp op, Scope &scope) {
    return makeDim(op, scope.slot(op.getSource()), scope.slot(op.getIndex()),
                   scope.define(op.getResult()));
  });
  registry.add<memref::SubViewOp>(compileSubView);
  registry.add<memref::ReinterpretCastOp>(compileReinterpretCast);
  registry.add<memref::ReshapeOp>(compileReshape);
  registry.add<memref::ExtractStridedMetadataOp>(compileMetadata);
  registry.add<memref::TransposeOp>(compileTranspose);
  registry.add<memref::ExpandShapeOp>(
      [](memref::ExpandShapeOp op, Scope &scope) {
        return makeExpand(
            op, scope.slot(op.getSrc()),
            MixedList(scope, op.getStaticOutputShape(), op.getOutputShape()),
            op.getReassociationIndices(), scope.define(op.getResult()));
      });
  registry.add<memref::CollapseShapeOp>(
      [](memref::CollapseShapeOp op, Scope &scope) {
        return makeCollapse(op, scope.slot(op.getSrc()),
                            op.getReassociationIndices(),
                            scope.define(op.getResult()));
      });
  registry.add<memref::GetGlobalOp>(compileGlobal);
  registry.add<memref::AtomicRMWOp>(compileAtomic);
}
