//===- LazyResults.cpp - Evaluating parts of results ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LazyResults.h"

#include "../Entry.h"
#include "../Ops/AffineEval.h"
#include "../Ops/Softmax.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;
using namespace mlir::tessera::reference;

/// The sizes of a part.
static SmallVector<int64_t, 4> getPartSizes(const View &whole,
                                            const Indices &indices) {
  SmallVector<int64_t, 4> sizes(whole.sizes);
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (indices[dim])
      sizes[dim] = static_cast<int64_t>(indices[dim]->size());
  return sizes;
}

ViewRef tessera::reference::gatherElements(const View &source,
                                           const Indices &indices) {
  SmallVector<int64_t, 4> sizes = getPartSizes(source, indices);
  ViewRef result = View::make(*source.format, sizes);
  int64_t at = 0;
  forEachIndex(sizes, [&](ArrayRef<int64_t> point) {
    int64_t address = source.offset;
    for (size_t dim = 0; dim < point.size(); ++dim)
      address += (indices[dim] ? (*indices[dim])[point[dim]] : point[dim]) *
                 source.strides[dim];
    result->store(at++, source.load(address));
    return true;
  });
  return result;
}

static bool isAll(const Indices &indices) {
  return llvm::none_of(indices, [](const auto &list) { return list; });
}

//===----------------------------------------------------------------------===//
// The graph
//===----------------------------------------------------------------------===//

LazyProgram::LazyProgram(func::FuncOp entry, ArrayRef<Array> arguments)
    : entry(entry), arguments(arguments), scope(program, function, nullptr) {}

bool LazyProgram::isArray(Value value) const {
  return isa<RankedTensorType, MemRefType>(value.getType());
}

bool LazyProgram::reject(Operation *op) {
  reason = "'" + op->getName().getStringRef().str() +
           "' cannot be evaluated in slices";
  return false;
}

LazyProgram::Node *LazyProgram::makeNode(Operation *op, ViewRef shape) {
  Node &node = nodes.emplace_back();
  node.op = op;
  node.value = std::move(shape);
  return &node;
}

LazyProgram::Node *LazyProgram::lookup(Value value) const {
  if (isa<RankedTensorType>(value.getType()))
    return tensors.lookup(value);
  auto alias = aliases.find(value);
  return memory.lookup(alias == aliases.end() ? value : alias->second);
}

void LazyProgram::setTensor(Value value, Node *node) {
  tensors[value] = node;
  // For tensor.dim and the like.
  owner->frame.view(scope.slot(value)) = node->value;
}

/// Ops after which nothing is different.
static bool isNothing(Operation *op) {
  return isa<memref::DeallocOp, bufferization::DeallocTensorOp, gpu::DeallocOp>(
             op) ||
         (isa<gpu::WaitOp>(op) && op->getNumResults() == 0) ||
         op->getName().getStringRef() == "tosa.const_shape";
}

/// Ops whose result is their first operand.
static bool isAlias(Operation *op) {
  return isa<memref::CastOp, memref::MemorySpaceCastOp,
             memref::AssumeAlignmentOp, tensor::CastOp,
             bufferization::ToTensorOp, bufferization::ToBufferOp,
             bufferization::CloneOp>(op);
}

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

/// Other ops of tensors are evaluated as a whole, if the result's size is
/// known.
static bool isWhole(Operation *op) {
  auto type = op->getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                  : RankedTensorType();
  return type && type.hasStaticShape() && isMemoryEffectFree(op);
}

/// The arrays that an op uses, in its regions, too.
static SmallVector<Value> findArrays(Operation *op) {
  llvm::SetVector<Value> arrays;
  auto add = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      arrays.insert(value);
  };
  for (Value value : op->getOperands())
    add(value);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    add(value);
  return arrays.takeVector();
}

/// Makes the slots and the code for an op of the entry function.
bool LazyProgram::prepare(Operation *op) {
  if (isNothing(op))
    return true;
  Step step;
  step.op = op;
  for (Value value : op->getOperands())
    if (isa<ShapedType>(value.getType()) && !isArray(value))
      return reject(op);
  for (Type type :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!getFormat(type))
      return reject(op);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    step.structured = makeStructuredOp(linalgOp, scope);
    scope.define(op->getResults());
    if (!step.structured || linalgOp.getNumDpsInits() != 1 ||
        !step.structured->maps.back().isProjectedPermutation())
      return reject(op);
  } else if (auto contract = dyn_cast<ContractOp>(op)) {
    step.contract = makeContractCode(op, scope);
    scope.define(op->getResults());
    // A reduced row is needed as a whole.
    if (!step.contract || contract.reducesRows())
      return reject(op);
  } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    step.sizes = getSizes(scope, empty.getType(), empty.getDynamicSizes());
    scope.define(op->getResults());
  } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    step.sizes = getSizes(scope, alloc.getType(), alloc.getDynamicSizes());
    scope.define(op->getResults());
  } else if (auto alloc = dyn_cast<gpu::AllocOp>(op)) {
    step.sizes = getSizes(scope, alloc.getType(), alloc.getDynamicSizes());
    scope.define(op->getResults());
  } else if (isAlias(op)) {
    scope.define(op->getResults());
  } else if (isa<memref::CopyOp, gpu::MemcpyOp,
                 bufferization::MaterializeInDestinationOp>(op)) {
    scope.define(op->getResults());
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    step.sizes = MixedList(scope, expand.getStaticOutputShape(),
                           expand.getOutputShape());
    scope.define(op->getResults());
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    step.offsets =
        MixedList(scope, slice.getStaticOffsets(), slice.getOffsets());
    step.sizes = MixedList(scope, slice.getStaticSizes(), slice.getSizes());
    step.strides =
        MixedList(scope, slice.getStaticStrides(), slice.getStrides());
    scope.define(op->getResults());
  } else if (isa<tensor::CollapseShapeOp, linalg::SoftmaxOp>(op)) {
    scope.define(op->getResults());
  } else if (auto pad = dyn_cast<tensor::PadOp>(op);
             pad && pad.getConstantPaddingValue()) {
    step.offsets = MixedList(scope, pad.getStaticLow(), pad.getLow());
    step.sizes = MixedList(scope, pad.getStaticHigh(), pad.getHigh());
    // The padding value, which may be defined in the body.
    Value value = pad.getConstantPaddingValue();
    if (value.getParentBlock() == &pad.getRegion().front())
      step.instr = scope.compileOp(value.getDefiningOp());
    scope.slot(value);
    scope.define(op->getResults());
  } else if (isa<func::ReturnOp>(op)) {
    // Nothing to prepare.
  } else if (isElementwise(op) || isa<arith::ConstantOp>(op) ||
             isa<memref::GetGlobalOp>(op)) {
    step.instr = scope.compileOp(op);
  } else if (op->getNumRegions() == 0 &&
             (isa<tensor::DimOp, memref::DimOp>(op) ||
              llvm::none_of(op->getOperands(),
                            [&](Value v) { return isArray(v); })) &&
             llvm::none_of(op->getResults(),
                           [&](Value v) { return isArray(v); })) {
    step.instr = scope.compileOp(op);
  } else if (isWhole(op)) {
    step.instr = scope.compileOp(op);
  } else {
    return reject(op);
  }
  steps.push_back(std::move(step));
  return true;
}

bool LazyProgram::build(Run &run) {
  Block &block = entry.getBody().front();
  function.code.arguments = scope.define(block.getArguments());
  for (Operation &op : block)
    if (!prepare(&op))
      return false;
  Frame host;
  host.run = &run;
  owner.emplace(function, host);
  enterArguments(owner->frame, function, arguments);
  for (auto [argument, array] :
       llvm::zip_equal(block.getArguments(), arguments)) {
    if (!isArray(argument))
      continue;
    Node *node = makeNode(nullptr, makeView(array));
    node->isKnown = true;
    (isa<MemRefType>(argument.getType()) ? memory : tensors)[argument] = node;
  }
  for (const Step &step : steps)
    if (!execute(run, step))
      return false;
  for (BlockArgument argument : block.getArguments())
    finalArguments.push_back(isArray(argument) ? lookup(argument) : nullptr);
  return true;
}

/// Evaluates an op on scalars, or makes a node for it.
bool LazyProgram::execute(Run &run, const Step &step) {
  Operation *op = step.op;
  Frame &frame = owner->frame;
  auto setMemory = [&](Value value, Node *node) {
    auto alias = aliases.find(value);
    memory[alias == aliases.end() ? value : alias->second] = node;
  };
  auto shapeOf = [](const Node &node) {
    auto shape = llvm::makeIntrusiveRefCnt<View>();
    shape->format = node.value->format;
    shape->sizes = node.value->sizes;
    return shape;
  };
  auto sameShape = [&](Node *a, Node *b) {
    return a && b && a->value->sizes == b->value->sizes;
  };

  if (step.structured || step.contract) {
    // tessera.contract: in the order of the maps.
    SmallVector<Value> operands;
    Value output;
    if (auto contract = dyn_cast<ContractOp>(op)) {
      output = contract.getOutput();
      operands = contract.getMappedOperands();
    } else {
      llvm::append_range(operands, op->getOperands());
      output = op->getOperands().back();
    }
    Node *target = lookup(output);
    if (!target)
      return reject(op);
    Node *node = makeNode(op, shapeOf(*target));
    node->structured = step.structured;
    node->contract = step.contract;
    for (Value value : operands) {
      node->operands.push_back(isArray(value) ? lookup(value) : nullptr);
      node->slots.push_back(scope.slot(value));
      if (isArray(value) && !node->operands.back())
        return reject(op);
    }
    if (auto contract = dyn_cast<ContractOp>(op))
      if (contract.getInit())
        node->init = scope.slot(contract.getInit());
    if (op->getNumResults() == 1)
      setTensor(op->getResult(0), node);
    else
      setMemory(output, node);
    return true;
  }
  if (isa<tensor::EmptyOp, memref::AllocOp, gpu::AllocOp>(op)) {
    auto shape = llvm::makeIntrusiveRefCnt<View>();
    shape->format = getFormat(op->getResult(0).getType());
    shape->sizes = step.sizes.get(frame);
    // The size of an operand that is never computed as a whole does not matter.
    for (int64_t size : shape->sizes)
      if (size < 0)
        return run.error(op, "a size is negative: " + Twine(size));
    Node *node = makeNode(op, std::move(shape));
    node->isPoison = true;
    Value value = op->getResult(0);
    if (isa<MemRefType>(value.getType())) {
      memory[value] = node;
      frame.view(scope.slot(value)) = node->value;
    } else {
      setTensor(value, node);
    }
    return true;
  }
  if (isAlias(op)) {
    Value source = op->getOperand(0), result = op->getResult(0);
    Node *node = lookup(source);
    if (!node)
      return reject(op);
    if (isa<RankedTensorType>(result.getType())) {
      setTensor(result, node);
    } else {
      bool isSame =
          isa<MemRefType>(source.getType()) && !isa<bufferization::CloneOp>(op);
      if (isSame) {
        auto alias = aliases.find(source);
        aliases[result] = alias == aliases.end() ? source : alias->second;
      } else {
        memory[result] = node;
      }
      frame.view(scope.slot(result)) = node->value;
    }
    return true;
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    if (!sameShape(lookup(copy.getSource()), lookup(copy.getTarget())))
      return reject(op);
    setMemory(copy.getTarget(), lookup(copy.getSource()));
    return true;
  }
  if (auto copy = dyn_cast<gpu::MemcpyOp>(op)) {
    if (op->getNumResults() != 0 ||
        !sameShape(lookup(copy.getSrc()), lookup(copy.getDst())))
      return reject(op);
    setMemory(copy.getDst(), lookup(copy.getSrc()));
    return true;
  }
  if (auto copy = dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
    if (!sameShape(lookup(copy.getSource()), lookup(copy.getDest())))
      return reject(op);
    if (isa<MemRefType>(copy.getDest().getType()))
      setMemory(copy.getDest(), lookup(copy.getSource()));
    else
      setTensor(op->getResult(0), lookup(copy.getSource()));
    return true;
  }
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp>(op))
    return executeReshape(step);
  if (auto pad = dyn_cast<tensor::PadOp>(op);
      pad && pad.getConstantPaddingValue())
    return executePad(run, step);
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op)) {
    Node *node = makeSoftmax(op);
    if (!node)
      return reject(op);
    if (op->getNumResults() == 1)
      setTensor(op->getResult(0), node);
    else
      setMemory(softmax.getOutput(), node);
    return true;
  }
  if (isa<func::ReturnOp>(op)) {
    for (Value value : op->getOperands())
      results.push_back(isArray(value) ? lookup(value) : nullptr);
    return true;
  }
  if (isElementwise(op)) {
    Node *first = nullptr;
    SmallVector<Node *> operands;
    for (Value value : op->getOperands()) {
      operands.push_back(isArray(value) ? lookup(value) : nullptr);
      if (isArray(value) && !operands.back())
        return reject(op);
      if (!first)
        first = operands.back();
    }
    if (!first)
      return reject(op);
    auto shape = shapeOf(*first);
    shape->format = getFormat(op->getResult(0).getType());
    Node *node = makeNode(op, shape);
    node->operands = std::move(operands);
    node->slots = scope.slots(op->getOperands());
    node->result = scope.slot(op->getResult(0));
    node->elementwise = step.instr;
    setTensor(op->getResult(0), node);
    return true;
  }
  if (isWhole(op) && !isa<arith::ConstantOp>(op))
    return executeWhole(step);
  // Scalars and constants.
  if (!step.instr->run(frame))
    return false;
  if (op->getNumResults() == 1 && isArray(op->getResult(0))) {
    Value value = op->getResult(0);
    Node *node = makeNode(op, frame.view(scope.slot(value)));
    node->isKnown = true;
    if (isa<RankedTensorType>(value.getType()))
      setTensor(value, node);
    else
      memory[value] = node;
  }
  return true;
}

/// The elements of a dense view in another shape.
static ViewRef withSizes(const ViewRef &source, ArrayRef<int64_t> sizes) {
  auto view = llvm::makeIntrusiveRefCnt<View>(*source);
  view->sizes.assign(sizes.begin(), sizes.end());
  view->strides = denseStrides(sizes);
  return view;
}

/// A list, or all there are.
static SmallVector<int64_t>
listAll(const std::optional<SmallVector<int64_t>> &list, int64_t size) {
  if (list)
    return *list;
  SmallVector<int64_t> all;
  for (int64_t i = 0; i < size; ++i)
    all.push_back(i);
  return all;
}

bool LazyProgram::executeReshape(const Step &step) {
  Operation *op = step.op;
  Node *source = lookup(op->getOperand(0));
  if (!source)
    return reject(op);
  auto shape = llvm::makeIntrusiveRefCnt<View>();
  shape->format = source->value->format;
  Node *node = makeNode(op, shape);
  ArrayRef<int64_t> from = source->value->sizes;

  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    shape->sizes = step.sizes.get(owner->frame);
    auto groups = expand.getReassociationIndices();
    for (size_t i = 0; i < groups.size(); ++i) {
      int64_t matmul = 1;
      for (int64_t dim : groups[i])
        matmul *= shape->sizes[dim];
      if (matmul != from[i])
        return reject(op);
    }
    // Lists of the dimensions of a group make a list of the one.
    node->reshape = [=](Run &run, const Indices &indices) -> ViewRef {
      Indices part;
      for (const auto &group : groups) {
        bool all = llvm::none_of(group, [&](int64_t d) { return indices[d]; });
        part.push_back(std::nullopt);
        if (all)
          continue;
        SmallVector<int64_t> list = {0};
        for (int64_t dim : group) {
          SmallVector<int64_t> next;
          for (int64_t outer : list)
            for (int64_t i : listAll(indices[dim], shape->sizes[dim]))
              next.push_back(outer * shape->sizes[dim] + i);
          list = std::move(next);
        }
        part.back() = std::move(list);
      }
      ViewRef view = evaluate(run, *source, part);
      return view ? withSizes(view, getPartSizes(*shape, indices)) : nullptr;
    };
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    auto groups = collapse.getReassociationIndices();
    for (const auto &group : groups) {
      int64_t matmul = 1;
      for (int64_t dim : group)
        matmul *= from[dim];
      shape->sizes.push_back(matmul);
    }
    // A list stays one where only one dimension of the group is not 1;
    // otherwise all of the group is evaluated.
    node->reshape = [=](Run &run, const Indices &indices) -> ViewRef {
      Indices part(source->rank());
      Indices rest(indices);
      for (size_t i = 0; i < groups.size(); ++i) {
        std::optional<int64_t> only;
        unsigned others = 0;
        for (int64_t dim : groups[i])
          if (source->value->sizes[dim] != 1) {
            ++others;
            only = dim;
          }
        if (indices[i] && others == 1) {
          part[*only] = indices[i];
          rest[i] = std::nullopt;
        }
      }
      ViewRef view = evaluate(run, *source, part);
      if (!view)
        return nullptr;
      SmallVector<int64_t, 4> sizes;
      for (const auto &group : groups) {
        int64_t matmul = 1;
        for (int64_t dim : group)
          matmul *= view->sizes[dim];
        sizes.push_back(matmul);
      }
      view = withSizes(view, sizes);
      return isAll(rest) ? view : gatherElements(*view, rest);
    };
  } else {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    auto offsets = step.offsets.get(owner->frame);
    auto sizes = step.sizes.get(owner->frame);
    auto strides = step.strides.get(owner->frame);
    for (size_t dim = 0; dim < from.size(); ++dim) {
      int64_t last = offsets[dim] + (sizes[dim] - 1) * strides[dim];
      if (sizes[dim] <= 0 || strides[dim] <= 0 || offsets[dim] < 0 ||
          last >= from[dim])
        return reject(op);
    }
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (size_t dim = 0; dim < from.size(); ++dim)
      if (!dropped.test(dim))
        shape->sizes.push_back(sizes[dim]);
    node->reshape = [=](Run &run, const Indices &indices) -> ViewRef {
      Indices part;
      size_t next = 0;
      for (size_t dim = 0; dim < offsets.size(); ++dim) {
        SmallVector<int64_t> list = dropped.test(dim)
                                        ? SmallVector<int64_t>{0}
                                        : listAll(indices[next], sizes[dim]);
        next += !dropped.test(dim);
        for (int64_t &index : list)
          index = offsets[dim] + index * strides[dim];
        part.push_back(std::move(list));
      }
      ViewRef view = evaluate(run, *source, part);
      return view ? withSizes(view, getPartSizes(*shape, indices)) : nullptr;
    };
  }
  setTensor(op->getResult(0), node);
  return true;
}

bool LazyProgram::executePad(Run &run, const Step &step) {
  auto pad = cast<tensor::PadOp>(step.op);
  Node *source = lookup(pad.getSource());
  if (!source || (step.instr && !step.instr->run(owner->frame)))
    return reject(pad);
  Number value = owner->frame.number(scope.slot(pad.getConstantPaddingValue()));
  SmallVector<int64_t, 4> low = step.offsets.get(owner->frame),
                          high = step.sizes.get(owner->frame);
  auto shape = llvm::makeIntrusiveRefCnt<View>();
  shape->format = source->value->format;
  for (auto [before, size, after] :
       llvm::zip_equal(low, source->value->sizes, high))
    shape->sizes.push_back(before + size + after);
  if (!checkSizes(run, pad, shape->sizes))
    return false;
  Node *node = makeNode(pad, shape);
  node->reshape = [=](Run &run, const Indices &indices) -> ViewRef {
    // Per dimension, the source's indices, and their positions in the result.
    Indices part;
    SmallVector<SmallVector<int64_t>> positions;
    bool isEmpty = false;
    for (size_t dim = 0; dim < low.size(); ++dim) {
      SmallVector<int64_t> inside, &position = positions.emplace_back();
      auto list = listAll(indices[dim], shape->sizes[dim]);
      for (auto [at, index] : llvm::enumerate(list)) {
        int64_t from = index - low[dim];
        if (from < 0 || from >= source->value->sizes[dim])
          continue;
        inside.push_back(from);
        position.push_back(static_cast<int64_t>(at));
      }
      isEmpty |= inside.empty();
      bool isAllOfIt =
          static_cast<int64_t>(inside.size()) == source->value->sizes[dim] &&
          llvm::is_sorted(inside);
      part.push_back(std::nullopt);
      if (!isAllOfIt)
        part.back() = std::move(inside);
    }
    ViewRef result = View::make(*shape->format, getPartSizes(*shape, indices));
    result->fill(value);
    if (isEmpty)
      return result;
    ViewRef view = evaluate(run, *source, part);
    if (!view)
      return nullptr;
    forEachIndex(view->sizes, [&](ArrayRef<int64_t> point) {
      int64_t from = view->offset, to = 0;
      for (size_t i = 0; i < point.size(); ++i) {
        from += point[i] * view->strides[i];
        to += positions[i][point[i]] * result->strides[i];
      }
      result->store(to, view->load(from));
      return true;
    });
    return result;
  };
  setTensor(pad.getResult(), node);
  return true;
}

LazyProgram::Node *LazyProgram::makeSoftmax(Operation *op) {
  auto softmax = cast<linalg::SoftmaxOp>(op);
  Node *source = lookup(softmax.getInput());
  Node *output = lookup(softmax.getOutput());
  auto dim = static_cast<int64_t>(softmax.getDimension());
  if (!source || !output || source->value->sizes != output->value->sizes)
    return nullptr;
  auto shape = llvm::makeIntrusiveRefCnt<View>();
  shape->format = output->value->format;
  shape->sizes = output->value->sizes;
  Node *node = makeNode(op, shape);
  node->reshape = [=](Run &run, const Indices &indices) -> ViewRef {
    // Whole rows.
    Indices part(indices), rest(indices.size());
    std::swap(part[dim], rest[dim]);
    ViewRef view = evaluate(run, *source, part);
    if (!view)
      return nullptr;
    ViewRef result = View::make(*shape->format, view->sizes);
    if (!evaluateSoftmax(run, op, *view, *result, dim))
      return nullptr;
    return isAll(rest) ? result : gatherElements(*result, rest);
  };
  return node;
}

bool LazyProgram::executeWhole(const Step &step) {
  Operation *op = step.op;
  Value result = op->getResult(0);
  auto shape = llvm::makeIntrusiveRefCnt<View>();
  shape->format = getFormat(result.getType());
  llvm::append_range(shape->sizes,
                     cast<RankedTensorType>(result.getType()).getShape());
  Node *node = makeNode(op, shape);
  SmallVector<std::pair<Node *, Slot>> inputs;
  for (Value value : findArrays(op)) {
    inputs.push_back({lookup(value), scope.slot(value)});
    if (!inputs.back().first)
      return reject(op);
  }
  Slot slot = scope.slot(result);
  std::shared_ptr<Instr> instr = step.instr;
  node->reshape = [=](Run &run, const Indices &indices) -> ViewRef {
    if (!node->isKnown) {
      SmallVector<ViewRef> views;
      for (auto [input, inputSlot] : inputs) {
        views.push_back(evaluate(run, *input, Indices(input->rank())));
        if (!views.back())
          return nullptr;
      }
      Frame &frame = owner->frame;
      frame.run = &run;
      for (auto [input, view] : llvm::zip_equal(inputs, views))
        frame.view(input.second) = view;
      if (!instr->run(frame))
        return nullptr;
      node->value = frame.view(slot);
      node->isKnown = true;
    }
    return isAll(indices) ? node->value : gatherElements(*node->value, indices);
  };
  setTensor(result, node);
  return true;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

ViewRef LazyProgram::evaluate(Run &run, Node &node, const Indices &indices) {
  if (node.isKnown)
    return isAll(indices) ? node.value : gatherElements(*node.value, indices);
  for (const auto &[known, view] : node.parts)
    if (known == indices)
      return view;
  ViewRef result = compute(run, node, indices);
  if (result)
    node.parts.push_back({indices, result});
  return result;
}

ViewRef LazyProgram::compute(Run &run, Node &node, const Indices &indices) {
  owner->frame.run = &run;
  if (node.isPoison)
    return View::makePoison(*node.value->format,
                            getPartSizes(*node.value, indices));
  if (node.reshape)
    return node.reshape(run, indices);
  if (node.structured)
    return computeStructured(run, node, indices);
  if (node.contract)
    return computeContract(run, node, indices);
  return computeElementwise(run, node, indices);
}

/// The operands' shapes; null for scalars.
static SmallVector<const View *> getShapes(const LazyProgram::Node &node) {
  SmallVector<const View *> shapes;
  for (LazyProgram::Node *operand : node.operands)
    shapes.push_back(operand ? operand->value.get() : nullptr);
  return shapes;
}

/// The lists as an evaluation takes them.
static SmallVector<ArrayRef<int64_t>> getShown(const Indices &lists) {
  SmallVector<ArrayRef<int64_t>> shown;
  for (const auto &list : lists)
    shown.push_back(list ? ArrayRef<int64_t>(*list) : ArrayRef<int64_t>());
  return shown;
}

/// The numbers that an expression takes for some indices of its dimensions, in
/// order; none where it takes nearly all.
static std::optional<SmallVector<int64_t>>
findNumbers(AffineExpr expr, unsigned numDims, const Indices &lists,
            ArrayRef<int64_t> extents, int64_t size) {
  SmallVector<unsigned> dims;
  SmallVector<int64_t> counts;
  int64_t points = 1;
  bool isPart = false;
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (expr.isFunctionOfDim(dim)) {
      dims.push_back(dim);
      counts.push_back(lists[dim] ? static_cast<int64_t>(lists[dim]->size())
                                  : extents[dim]);
      points *= counts.back();
      isPart |= lists[dim].has_value();
    }
  if (!isPart || points > 1'000'000)
    return std::nullopt;
  std::set<int64_t> numbers;
  SmallVector<int64_t> values(numDims, 0);
  bool isInside = forEachIndex(counts, [&](ArrayRef<int64_t> point) {
    for (auto [dim, i] : llvm::zip_equal(dims, point))
      values[dim] = lists[dim] ? (*lists[dim])[i] : i;
    std::optional<int64_t> number = evaluate(expr, values, {});
    if (!number || *number < 0 || *number >= size)
      return false;
    numbers.insert(*number);
    return true;
  });
  if (!isInside || static_cast<int64_t>(numbers.size()) * 2 > size)
    return std::nullopt;
  return llvm::to_vector(numbers);
}

/// The part of an operand that is used where the iteration dimensions take
/// these indices. A dimension of the operand that is indexed by a sum is as
/// large as ever, with zeros where nothing is used.
ViewRef LazyProgram::evaluateOperand(Run &run, Node &operand, AffineMap map,
                                     const Indices &lists,
                                     ArrayRef<int64_t> extents) {
  llvm::SmallBitVector summed = getSummedDims(map);
  Indices part, spread(operand.rank());
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && !summed.test(dim.getPosition())) {
      part.push_back(lists[dim.getPosition()]);
      continue;
    }
    part.push_back(std::nullopt);
    if (!operand.isKnown)
      part.back() = spread[i] = findNumbers(expr, map.getNumDims(), lists,
                                            extents, operand.value->sizes[i]);
  }
  ViewRef view = evaluate(run, operand, part);
  if (!view || isAll(spread))
    return view;
  SmallVector<int64_t, 4> sizes(view->sizes);
  for (size_t i = 0; i < spread.size(); ++i)
    if (spread[i])
      sizes[i] = operand.value->sizes[i];
  ViewRef whole = View::make(*view->format, sizes);
  if (view->format->isFloat)
    std::fill_n(whole->storage->floats(), whole->storage->size(), 0.0);
  else
    std::fill_n(whole->storage->integers(), whole->storage->size(), 0);
  forEachIndex(view->sizes, [&](ArrayRef<int64_t> point) {
    int64_t from = view->offset, to = 0;
    for (size_t i = 0; i < point.size(); ++i) {
      from += point[i] * view->strides[i];
      to += (spread[i] ? (*spread[i])[point[i]] : point[i]) * whole->strides[i];
    }
    whole->store(to, view->load(from));
    return true;
  });
  return whole;
}

ViewRef LazyProgram::computeStructured(Run &run, Node &node,
                                       const Indices &indices) {
  const StructuredOp &structured = *node.structured;
  Indices lists(structured.isParallel.size());
  AffineMap outputMap = structured.maps.back();
  for (auto [expr, list] : llvm::zip_equal(outputMap.getResults(), indices))
    lists[cast<AffineDimExpr>(expr).getPosition()] = list;
  SmallVector<int64_t> extents;
  if (!structured.getExtents(run, getShapes(node), extents))
    return nullptr;
  SmallVector<ViewRef> views;
  SmallVector<Number> scalars;
  for (auto [i, operand] : llvm::enumerate(node.operands)) {
    scalars.push_back(operand ? Number::ofInt(0)
                              : owner->frame.number(node.slots[i]));
    if (!operand) {
      views.push_back(nullptr);
      continue;
    }
    bool isOutput = i == structured.numInputs;
    if (isOutput && !structured.readsOutput[0]) {
      views.push_back(View::make(*operand->value->format,
                                 getPartSizes(*operand->value, indices)));
      continue;
    }
    ViewRef view =
        evaluateOperand(run, *operand, structured.maps[i], lists, extents);
    if (!view)
      return nullptr;
    views.push_back(isOutput ? cloneView(*view) : view);
  }
  SmallVector<ArrayRef<int64_t>> shown;
  for (const auto &list : lists)
    shown.push_back(list ? ArrayRef<int64_t>(*list) : ArrayRef<int64_t>());
  owner->frame.run = &run;
  return structured.evaluate(owner->frame, views, scalars, shown) ? views.back()
                                                                  : nullptr;
}

ViewRef LazyProgram::computeContract(Run &run, Node &node,
                                     const Indices &indices) {
  const ContractCode &code = *node.contract;
  Indices lists(code.maps.front().getNumDims());
  for (auto [expr, list] : llvm::zip_equal(code.maps[2].getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      lists[dim.getPosition()] = list;
  SmallVector<int64_t> extents;
  if (!code.getExtents(run, getShapes(node), extents))
    return nullptr;
  SmallVector<ViewRef> views;
  for (auto [i, operand] : llvm::enumerate(node.operands)) {
    if (i == 2 && node.init) {
      views.push_back(View::make(*operand->value->format,
                                 getPartSizes(*operand->value, indices)));
      continue;
    }
    ViewRef view = evaluateOperand(run, *operand, code.maps[i], lists, extents);
    if (!view)
      return nullptr;
    views.push_back(i == 2 ? cloneView(*view) : view);
  }
  owner->frame.run = &run;
  std::optional<Number> init;
  if (node.init)
    init = owner->frame.number(*node.init);
  return code.evaluate(owner->frame, views, init, getShown(lists)) ? views[2]
                                                                   : nullptr;
}

ViewRef LazyProgram::computeElementwise(Run &run, Node &node,
                                        const Indices &indices) {
  SmallVector<ViewRef> views;
  for (Node *operand : node.operands) {
    views.push_back(operand ? evaluate(run, *operand, indices) : nullptr);
    if (operand && !views.back())
      return nullptr;
  }
  // The instruction sees parts in place of the shapes.
  Frame &frame = owner->frame;
  frame.run = &run;
  for (auto [slot, view] : llvm::zip_equal(node.slots, views))
    if (view)
      frame.view(slot) = view;
  bool good = node.elementwise->run(frame);
  return good ? frame.view(node.result) : nullptr;
}

//===----------------------------------------------------------------------===//
// Projections
//===----------------------------------------------------------------------===//

bool LazyProgram::findProduct(Run &run, Node &node, Contraction &c,
                              SmallVectorImpl<ViewRef> &owned) {
  const StructuredOp &structured = *node.structured;
  Node *left = node.operands[structured.factorA];
  Node *right = node.operands[structured.factorB];
  SmallVector<int64_t> extents;
  if (!left || !right || !structured.getExtents(run, getShapes(node), extents))
    return false;
  for (Node *operand : {left, right, node.operands.back()}) {
    owned.push_back(evaluate(run, *operand, Indices(operand->rank())));
    if (!owned.back())
      return false;
  }
  SmallVector<Number> scalars;
  for (auto [operand, slot] : llvm::zip_equal(node.operands, node.slots))
    scalars.push_back(operand ? Number::ofInt(0) : owner->frame.number(slot));
  structured.setFactors(c, scalars);
  c.tf32 = structured.mayUseTf32 && run.options.permitsTf32();
  c.extents.assign(extents.begin(), extents.end());
  return getAccess(*owned[0], structured.maps[structured.factorA], c.a) &&
         getAccess(*owned[1], structured.maps[structured.factorB], c.b) &&
         getAccess(*owned[2], structured.maps.back(), c.output);
}

bool LazyProgram::findContract(Run &run, Node &node, Contraction &c,
                               SmallVectorImpl<ViewRef> &owned) {
  const ContractCode &code = *node.contract;
  SmallVector<int64_t> extents;
  if (!code.getExtents(run, getShapes(node), extents))
    return false;
  SmallVector<ViewRef> views;
  for (auto [i, operand] : llvm::enumerate(node.operands)) {
    bool isUnused = i == 2 && node.init;
    views.push_back(isUnused
                        ? operand->value
                        : evaluate(run, *operand, Indices(operand->rank())));
    if (!views.back())
      return false;
  }
  ViewRef initial = View::make(*code.accumulator, node.value->sizes);
  if (node.init)
    initial->fill(owner->frame.number(*node.init));
  else if (views[2]->format->isFloat != code.accumulator->isFloat)
    return false;
  else
    copyElements(*views[2], *initial);
  owner->frame.run = &run;
  c.extents.assign(extents.begin(), extents.end());
  if (!code.setFactors(owner->frame, views, extents, {}, c, owned))
    return false;
  llvm::append_range(owned, views);
  owned.push_back(initial);
  return getAccess(*initial, code.maps[2], c.output);
}

std::optional<Comparison> LazyProgram::project(Run &run, Node &output,
                                               const View &got, int64_t count,
                                               uint64_t seed, double slack) {
  // The result may have been rounded.
  Node *node = &output;
  while (node->elementwise && isa<arith::TruncFOp, arith::ExtFOp>(node->op))
    node = node->operands[0];
  Contraction c;
  SmallVector<ViewRef> owned;
  bool isProduct = node->structured && node->structured->isContraction
                       ? findProduct(run, *node, c, owned)
                       : node->contract && node->contract->isPlain &&
                             findContract(run, *node, c, owned);
  if (!isProduct)
    return std::nullopt;
  const View &old = *c.output.view;
  if (old.offset != 0 || !old.isDense() || !got.isDense() || got.offset != 0 ||
      got.format->isFloat != c.arithmetic->isFloat)
    return std::nullopt;
  return projectContraction(run, node->op, c, got, count, seed, slack);
}
