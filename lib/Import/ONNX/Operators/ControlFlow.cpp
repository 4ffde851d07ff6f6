//===- ControlFlow.cpp - If, Loop, Scan -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conditions and numbers of iterations that are constant, or fold, decide at
// import. Others are read by host code, which waits for the device. Short loops
// are unrolled; so their tensors may change their shapes.
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// Loops of at most this many nodes in all iterations are unrolled.
static constexpr int64_t mostUnrolled = 512;

static int64_t countNodes(const Graph &graph) {
  auto count = static_cast<int64_t>(graph.nodes.size());
  for (const Node &node : graph.nodes)
    for (const NodeAttribute &attribute : node.attributes)
      if (attribute.graph)
        count += countNodes(*attribute.graph);
  return count;
}

static std::string describe(Lowering &l, const Tensor &tensor) {
  std::string text;
  llvm::raw_string_ostream(text) << l.getType(tensor);
  return text;
}

/// The only element of a tensor, in host code.
static FailureOr<Value> readScalar(Lowering &l, const Tensor &tensor) {
  FailureOr<Tensor> scalar = l.reshape(tensor, {});
  if (failed(scalar))
    return failure();
  Value value = l.materialize(*scalar);
  return tensor::ExtractOp::create(l.b, value, ValueRange()).getResult();
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

static LogicalResult lowerIf(Lowering &l) {
  const Tensor &condition = l.getInput(0);
  const Graph *graphs[] = {l.getGraph("then_branch"),
                           l.getGraph("else_branch")};
  if (!graphs[0] || !graphs[1])
    return l.fail("a branch is missing");
  if (condition.type != DataType::Bool || condition.count() != 1)
    return l.fail("the condition must be one bool");
  if (condition.constant) {
    const Graph &taken = *graphs[condition.constant->getInt(0) ? 0 : 1];
    FailureOr<SmallVector<Tensor>> outputs = l.importGraph(taken, {});
    if (failed(outputs))
      return failure();
    for (auto [i, tensor] : llvm::enumerate(*outputs))
      l.setResult(i, tensor);
    return success();
  }
  FailureOr<Value> scalar = readScalar(l, condition);
  if (failed(scalar))
    return failure();
  // The types of its results are those of the branches.
  auto draft = scf::IfOp::create(l.b, TypeRange(), *scalar,
                                 /*withElseRegion=*/true);
  SmallVector<Tensor> results[2];
  SmallVector<Value> yields[2];
  for (unsigned i : {0, 1}) {
    Block *block = i == 0 ? draft.thenBlock() : draft.elseBlock();
    block->getTerminator()->erase();
    FailureOr<SmallVector<Tensor>> outputs =
        l.importGraph(*graphs[i], {}, block);
    if (failed(outputs))
      return failure();
    results[i] = std::move(*outputs);
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(block);
    for (const Tensor &tensor : results[i])
      yields[i].push_back(l.materialize(tensor));
    scf::YieldOp::create(l.b, yields[i]);
  }
  if (results[0].size() != results[1].size())
    return l.fail("its branches have " + Twine(results[0].size()) + " and " +
                  Twine(results[1].size()) + " outputs");
  for (auto [x, y] : llvm::zip_equal(results[0], results[1]))
    if (x.type != y.type || x.shape != y.shape)
      return l.fail("its branches compute " + describe(l, x) + " and " +
                    describe(l, y) +
                    "; a condition that is not constant requires equal types");
  auto branch = scf::IfOp::create(l.b, ValueRange(yields[0]).getTypes(),
                                  *scalar, /*withElseRegion=*/true);
  branch.getThenRegion().takeBody(draft.getThenRegion());
  branch.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  for (auto [i, value] : llvm::enumerate(branch.getResults()))
    l.setResult(i, l.makeTensor(value, results[0][i].type));
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// A list of results, one of each iteration, along an axis.
struct Collected {
  int64_t axis = 0;
  bool isReversed = false;
};

/// The body of a Loop or Scan.
struct LoopBody {
  const Graph &graph;
  /// The values that iterations pass on, before the first one.
  SmallVector<Tensor> states;
  /// The inputs of the body ahead of the states; the iteration's number is a
  /// constant, or a value of type index.
  function_ref<FailureOr<SmallVector<Tensor>>(OpFoldResult)> getFirstInputs;
  /// The inputs behind the states.
  function_ref<FailureOr<SmallVector<Tensor>>(OpFoldResult)> getLastInputs;
  /// Outputs ahead of the states.
  unsigned numFirstOutputs = 0;
  SmallVector<Collected> collected;
};
} // namespace

/// Imports the body into a block; returns its outputs.
static FailureOr<SmallVector<Tensor>>
importBody(Lowering &l, const LoopBody &body, ArrayRef<Tensor> states,
           OpFoldResult iteration, Block *block) {
  FailureOr<SmallVector<Tensor>> first = body.getFirstInputs(iteration);
  FailureOr<SmallVector<Tensor>> last = body.getLastInputs(iteration);
  if (failed(first) || failed(last))
    return failure();
  SmallVector<Tensor> inputs(*first);
  llvm::append_range(inputs, states);
  llvm::append_range(inputs, *last);
  FailureOr<SmallVector<Tensor>> outputs =
      l.importGraph(body.graph, inputs, block);
  if (failed(outputs))
    return failure();
  size_t expected =
      body.numFirstOutputs + states.size() + body.collected.size();
  if (outputs->size() != expected)
    return l.fail("its body has " + Twine(outputs->size()) +
                  " outputs; expected " + Twine(expected));
  return outputs;
}

/// A result of one iteration as a part of the list.
static FailureOr<Tensor> makePart(Lowering &l, const Tensor &tensor,
                                  int64_t axis) {
  Shape shape = tensor.shape;
  if (axis < -(tensor.rank() + 1) || axis > tensor.rank())
    return l.fail("axis " + Twine(axis) + " is out of range");
  axis += axis < 0 ? tensor.rank() + 1 : 0;
  shape.insert(shape.begin() + axis, 1);
  return l.reshape(tensor, shape);
}

static LogicalResult unroll(Lowering &l, LoopBody &body, int64_t count) {
  SmallVector<SmallVector<Tensor>> lists(body.collected.size());
  for (int64_t i = 0; i < count; ++i) {
    FailureOr<SmallVector<Tensor>> outputs = importBody(
        l, body, body.states, OpFoldResult(l.b.getIndexAttr(i)), nullptr);
    if (failed(outputs))
      return failure();
    ArrayRef<Tensor> rest = ArrayRef(*outputs).drop_front(body.numFirstOutputs);
    for (auto [k, how] : llvm::enumerate(body.collected)) {
      FailureOr<Tensor> part =
          makePart(l, rest[body.states.size() + k], how.axis);
      if (failed(part))
        return failure();
      lists[k].insert(how.isReversed ? lists[k].begin() : lists[k].end(),
                      *part);
    }
    body.states.assign(rest.begin(), rest.begin() + body.states.size());
  }
  size_t result = 0;
  for (const Tensor &state : body.states)
    l.setResult(result++, state);
  for (auto [how, list] : llvm::zip_equal(body.collected, lists)) {
    if (list.empty())
      return l.fail("lists of no iterations are not supported");
    int64_t axis = how.axis < 0 ? how.axis + list[0].rank() : how.axis;
    FailureOr<Tensor> all = l.concat(list, axis);
    if (failed(all))
      return failure();
    l.setResult(result++, *all);
  }
  return success();
}

/// A loop without iterations, whose body is imported into its block. The types
/// of what it passes on and collects follow from that.
static FailureOr<SmallVector<Tensor>>
draftBody(Lowering &l, const LoopBody &body, scf::ForOp draft) {
  Block *block = draft.getBody();
  block->getTerminator()->erase();
  SmallVector<Tensor> states;
  for (const Tensor &state : body.states) {
    Value argument = block->addArgument(l.getType(state), l.b.getLoc());
    states.push_back(l.makeTensor(argument, state.type));
  }
  OpBuilder::InsertionGuard guard(l.b);
  l.b.setInsertionPointToEnd(block);
  FailureOr<SmallVector<Tensor>> outputs =
      importBody(l, body, states, draft.getInductionVar(), block);
  if (failed(outputs))
    return failure();
  for (auto [i, state] : llvm::enumerate(body.states)) {
    const Tensor &next = (*outputs)[body.numFirstOutputs + i];
    if (next.type != state.type || next.shape != state.shape)
      return l.fail("state " + Twine(i) + " is " + describe(l, state) +
                    " at first and " + describe(l, next) +
                    " after an iteration; a loop that is not unrolled requires "
                    "equal types");
  }
  for (Tensor &output : *outputs)
    output.value = l.materialize(output);
  return outputs;
}

/// scf.for, of a number of iterations that is a constant if there are lists.
static LogicalResult lowerFor(Lowering &l, LoopBody &body, OpFoldResult count) {
  Value zero = arith::ConstantIndexOp::create(l.b, 0);
  Value one = arith::ConstantIndexOp::create(l.b, 1);
  Value bound = getValueOrCreateConstantIndexOp(l.b, l.b.getLoc(), count);
  auto draft = scf::ForOp::create(l.b, zero, bound, one);
  FailureOr<SmallVector<Tensor>> outputs = draftBody(l, body, draft);
  if (failed(outputs))
    return failure();
  ArrayRef<Tensor> rest = ArrayRef(*outputs).drop_front(body.numFirstOutputs);
  size_t numStates = body.states.size();
  SmallVector<Value> starts, yields;
  for (auto [i, state] : llvm::enumerate(body.states)) {
    starts.push_back(l.materialize(state));
    yields.push_back(rest[i].value);
  }
  Block *block = draft.getBody();
  for (auto [k, how] : llvm::enumerate(body.collected)) {
    const Tensor &element = rest[numStates + k];
    if (!element.isStatic())
      return l.fail("a list of tensors with dynamic sizes is not supported");
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(block);
    FailureOr<Tensor> part = makePart(l, element, how.axis);
    if (failed(part))
      return failure();
    int64_t axis = how.axis < 0 ? how.axis + part->rank() : how.axis;
    Shape shape = part->shape;
    shape[axis] = *getConstantIntValue(count);
    if (failed(l.checkShape(shape)))
      return failure();
    auto type = RankedTensorType::get(shape, l.getElementType(element.type));
    l.b.setInsertionPoint(draft);
    starts.push_back(tensor::EmptyOp::create(l.b, type, ValueRange()));
    l.b.setInsertionPointToEnd(block);
    Value list = block->addArgument(type, l.b.getLoc());
    Value position = draft.getInductionVar();
    if (how.isReversed) {
      Value last = arith::ConstantIndexOp::create(l.b, shape[axis] - 1);
      position = arith::SubIOp::create(l.b, last, position);
    }
    SmallVector<OpFoldResult> offsets(shape.size(), l.b.getIndexAttr(0)), sizes,
        steps(shape.size(), l.b.getIndexAttr(1));
    for (int64_t size : part->shape)
      sizes.push_back(l.b.getIndexAttr(size));
    offsets[axis] = position;
    yields.push_back(tensor::InsertSliceOp::create(
        l.b, l.materialize(*part), list, offsets, sizes, steps));
  }
  auto loop = scf::ForOp::create(l.b, zero, bound, one, starts);
  loop.getRegion().takeBody(draft.getRegion());
  {
    OpBuilder::InsertionGuard guard(l.b);
    l.b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(l.b, yields);
  }
  draft.erase();
  for (auto [i, value] : llvm::enumerate(loop.getResults()))
    l.setResult(i, l.makeTensor(value, rest[i].type));
  return success();
}

/// scf.while, of a condition and a number of iterations, which may be null.
static LogicalResult lowerWhile(Lowering &l, LoopBody &body,
                                const Tensor &condition, Value count) {
  Value zero = arith::ConstantIndexOp::create(l.b, 0);
  Value one = arith::ConstantIndexOp::create(l.b, 1);
  auto draft = scf::ForOp::create(l.b, zero, zero, one);
  FailureOr<SmallVector<Tensor>> outputs = draftBody(l, body, draft);
  if (failed(outputs))
    return failure();
  const Tensor &after = outputs->front();
  if (after.type != DataType::Bool || after.count() != 1)
    return l.fail("the condition of its body must be one bool");
  FailureOr<Tensor> start = l.reshape(condition, {});
  if (failed(start))
    return failure();
  SmallVector<Value> starts = {zero, l.materialize(*start)}, passed = {zero};
  for (const Tensor &state : body.states) {
    starts.push_back(l.materialize(state));
    passed.push_back(starts.back());
  }
  auto loop = scf::WhileOp::create(l.b, ValueRange(passed).getTypes(), starts);
  SmallVector<Location> locations(starts.size(), l.b.getLoc());
  OpBuilder::InsertionGuard guard(l.b);
  Block *before = l.b.createBlock(&loop.getBefore(), {},
                                  ValueRange(starts).getTypes(), locations);
  Value holds =
      tensor::ExtractOp::create(l.b, before->getArgument(1), ValueRange());
  if (count) {
    Value isInside = arith::CmpIOp::create(l.b, arith::CmpIPredicate::slt,
                                           before->getArgument(0), count);
    holds = arith::AndIOp::create(l.b, isInside, holds);
  }
  SmallVector<Value> arguments(before->getArguments());
  arguments.erase(arguments.begin() + 1);
  scf::ConditionOp::create(l.b, holds, arguments);
  loop.getAfter().takeBody(draft.getRegion());
  Block *inner = &loop.getAfter().front();
  l.b.setInsertionPointToEnd(inner);
  FailureOr<Tensor> next = l.reshape(after, {});
  if (failed(next))
    return failure();
  SmallVector<Value> yields = {
      arith::AddIOp::create(l.b, inner->getArgument(0), one),
      l.materialize(*next)};
  for (size_t i = 0; i < body.states.size(); ++i)
    yields.push_back((*outputs)[i + 1].value);
  scf::YieldOp::create(l.b, yields);
  draft.erase();
  for (auto [i, state] : llvm::enumerate(body.states))
    l.setResult(i, l.makeTensor(loop.getResult(static_cast<unsigned>(i) + 1),
                                state.type));
  return success();
}

/// The condition that the body of a Loop computes where that does not depend on
/// the iteration: the one it is given, which is true, or a constant.
static std::optional<bool> findCondition(const Graph &graph) {
  if (graph.outputs.empty() || graph.inputs.size() < 2)
    return std::nullopt;
  StringRef name = graph.outputs.front().name;
  for (const Node &node : llvm::reverse(graph.nodes)) {
    if (node.outputs.empty() || node.outputs.front() != name)
      continue;
    if (node.op == "Identity" && !node.inputs.empty())
      name = node.inputs.front();
    else if (node.op == "Constant" && node.attributes.size() == 1 &&
             node.attributes[0].tensor &&
             node.attributes[0].tensor->type == DataType::Bool &&
             node.attributes[0].tensor->bytes.size() == 1)
      return node.attributes[0].tensor->bytes[0] != 0;
    else
      return std::nullopt;
  }
  if (name == graph.inputs[1].name)
    return true;
  for (const TensorData &data : graph.initializers)
    if (data.name == name && data.type == DataType::Bool &&
        data.bytes.size() == 1)
      return data.bytes[0] != 0;
  return std::nullopt;
}

static LogicalResult lowerLoop(Lowering &l) {
  const Graph *graph = l.getGraph("body");
  if (!graph)
    return l.fail("the body is missing");
  size_t numStates = l.getNumInputs() > 2 ? l.getNumInputs() - 2 : 0;
  if (graph->inputs.size() != numStates + 2 ||
      graph->outputs.size() < numStates + 1)
    return l.fail("its body has " + Twine(graph->inputs.size()) +
                  " inputs and " + Twine(graph->outputs.size()) +
                  " outputs, which do not fit " + Twine(numStates) + " states");
  auto getIteration =
      [&](OpFoldResult iteration) -> FailureOr<SmallVector<Tensor>> {
    Tensor holds = l.makeInts(1, Shape(), DataType::Bool);
    if (std::optional<int64_t> known = getConstantIntValue(iteration))
      return SmallVector<Tensor>{l.makeInts(*known, Shape()), holds};
    Value wide = arith::IndexCastOp::create(l.b, l.b.getI64Type(),
                                            cast<Value>(iteration));
    Value filled = l.makeFilled({}, wide);
    return SmallVector<Tensor>{l.makeTensor(filled, DataType::I64), holds};
  };
  auto getNothing = [](OpFoldResult) -> FailureOr<SmallVector<Tensor>> {
    return SmallVector<Tensor>();
  };
  LoopBody body = {*graph, {}, getIteration, getNothing, 1, {}};
  for (size_t i = 0; i < numStates; ++i) {
    if (!l.hasInput(i + 2))
      return l.fail("state " + Twine(i) + " is missing");
    body.states.push_back(l.getInput(i + 2));
  }
  body.collected.resize(graph->outputs.size() - numStates - 1);

  std::optional<int64_t> count;
  Value bound;
  if (l.hasInput(0)) {
    const Tensor &given = l.getInput(0);
    if (given.type != DataType::I64 || given.count() != 1)
      return l.fail("the number of iterations must be one int64");
    if (given.constant)
      count = std::max<int64_t>(given.constant->getInt(0), 0);
  }
  std::optional<bool> holds = true;
  if (l.hasInput(1)) {
    const Tensor &given = l.getInput(1);
    if (given.type != DataType::Bool || given.count() != 1)
      return l.fail("the condition must be one bool");
    holds = given.constant ? std::optional(given.constant->getInt(0) != 0)
                           : std::nullopt;
  }
  if (holds == false)
    count = 0;
  std::optional<bool> next = l.hasInput(1) ? findCondition(*graph) : true;
  // After the first iteration, if there is one.
  if (holds && next == false) {
    if (count)
      count = std::min<int64_t>(*count, 1);
    else if (!l.hasInput(0))
      count = 1;
    else
      next = std::nullopt;
  }
  bool isWhile = !holds || (!next && count != 0);
  if (!isWhile && count &&
      *count <= mostUnrolled / std::max<int64_t>(countNodes(*graph), 1))
    return unroll(l, body, *count);
  if (!body.collected.empty() && (isWhile || !count))
    return l.fail("the number of iterations and the condition must be constant "
                  "for lists of results");
  if (count && !isWhile)
    return lowerFor(l, body, l.b.getIndexAttr(*count));
  if (count) {
    bound = arith::ConstantIndexOp::create(l.b, *count);
  } else if (l.hasInput(0)) {
    FailureOr<Value> scalar = readScalar(l, l.getInput(0));
    if (failed(scalar))
      return failure();
    bound = arith::IndexCastOp::create(l.b, l.b.getIndexType(), *scalar);
  } else if (!isWhile) {
    return l.fail("the loop does not end");
  }
  if (!isWhile)
    return lowerFor(l, body, bound);
  Tensor start =
      l.hasInput(1) ? l.getInput(1) : l.makeInts(1, Shape(), DataType::Bool);
  return lowerWhile(l, body, start, bound);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// The slice of an input for an iteration, without its axis.
static FailureOr<Tensor> sliceInput(Lowering &l, const Tensor &input,
                                    int64_t axis, bool isReversed,
                                    OpFoldResult iteration) {
  Shape shape = input.shape;
  int64_t count = shape[axis];
  shape.erase(shape.begin() + axis);
  if (std::optional<int64_t> known = getConstantIntValue(iteration)) {
    SmallVector<int64_t> offsets(input.shape.size(), 0),
        sizes = input.shape, steps(offsets.size(), 1);
    offsets[axis] = isReversed ? count - 1 - *known : *known;
    sizes[axis] = 1;
    FailureOr<Tensor> part = l.slice(input, offsets, sizes, steps);
    if (failed(part))
      return failure();
    return l.reshape(*part, shape);
  }
  Tensor source = l.makeTensor(l.materialize(input), input.type);
  auto position = cast<Value>(iteration);
  if (isReversed) {
    Value last = arith::ConstantIndexOp::create(l.b, count - 1);
    position = arith::SubIOp::create(l.b, last, position);
  }
  SmallVector<OpFoldResult> offsets(input.shape.size(), l.b.getIndexAttr(0)),
      steps(offsets.size(), l.b.getIndexAttr(1)), sizes = l.getSizes(source);
  offsets[axis] = position;
  sizes[axis] = l.b.getIndexAttr(1);
  auto type = RankedTensorType::get(shape, l.getElementType(input.type));
  return l.makeTensor(tensor::ExtractSliceOp::create(l.b, type, source.value,
                                                     offsets, sizes, steps),
                      input.type);
}

static LogicalResult lowerScan(Lowering &l) {
  const Graph *graph = l.getGraph("body");
  auto numSlices = l.getInt("num_scan_inputs", 0);
  auto numInputs = static_cast<int64_t>(l.getNumInputs());
  if (!graph || numSlices < 1 || numSlices > numInputs)
    return l.fail("its body or its number of scanned inputs is missing");
  auto numStates = static_cast<size_t>(numInputs - numSlices);
  for (size_t i = 0; i < l.getNumInputs(); ++i)
    if (!l.hasInput(i))
      return l.fail("input " + Twine(i) + " is missing");
  if (graph->outputs.size() < numStates)
    return l.fail("its body has fewer outputs than states");
  size_t numLists = graph->outputs.size() - numStates;
  auto getList = [&](StringRef name, size_t count,
                     SmallVector<int64_t> &values) -> LogicalResult {
    values = l.getInts(name);
    if (values.empty())
      values.assign(count, 0);
    return values.size() == count
               ? success()
               : l.fail(name + " has " + Twine(values.size()) +
                        " elements; expected " + Twine(count));
  };
  SmallVector<int64_t> inputAxes, inputOrders, listAxes, listOrders;
  auto slices = static_cast<size_t>(numSlices);
  if (failed(getList("scan_input_axes", slices, inputAxes)) ||
      failed(getList("scan_input_directions", slices, inputOrders)) ||
      failed(getList("scan_output_axes", numLists, listAxes)) ||
      failed(getList("scan_output_directions", numLists, listOrders)))
    return failure();
  int64_t count = -1;
  for (size_t i = 0; i < slices; ++i) {
    const Tensor &input = l.getInput(numStates + i);
    if (failed(l.normalizeAxis(inputAxes[i], input.rank())))
      return failure();
    int64_t size = input.shape[inputAxes[i]];
    if (ShapedType::isDynamic(size) || (count >= 0 && size != count))
      return l.fail("the scanned dimensions must be static and equal");
    count = size;
  }
  auto getSlices =
      [&](OpFoldResult iteration) -> FailureOr<SmallVector<Tensor>> {
    SmallVector<Tensor> parts;
    for (size_t i = 0; i < slices; ++i) {
      FailureOr<Tensor> part =
          sliceInput(l, l.getInput(numStates + i), inputAxes[i],
                     inputOrders[i] != 0, iteration);
      if (failed(part))
        return failure();
      parts.push_back(*part);
    }
    return parts;
  };
  auto getNothing = [](OpFoldResult) -> FailureOr<SmallVector<Tensor>> {
    return SmallVector<Tensor>();
  };
  LoopBody body = {*graph, {}, getNothing, getSlices, 0, {}};
  for (size_t i = 0; i < numStates; ++i)
    body.states.push_back(l.getInput(i));
  for (auto [axis, order] : llvm::zip_equal(listAxes, listOrders))
    body.collected.push_back({axis, order != 0});
  if (count <= mostUnrolled / std::max<int64_t>(countNodes(*graph), 1))
    return unroll(l, body, count);
  return lowerFor(l, body, l.b.getIndexAttr(count));
}

ArrayRef<Operator> mlir::tessera::onnx::getControlFlowOperators() {
  static const Operator operators[] = {
      {"If", 7, 1, 1, lowerIf,
       "branches of equal types unless the condition is constant"},
      {"Loop", 7, 0, anyNumber, lowerLoop,
       "states of constant types and no lists of results unless the number of "
       "iterations is constant"},
      {"Scan", 9, 1, anyNumber, lowerScan, "a static number of iterations"},
  };
  return operators;
}
