//===- Recurrent.cpp - RNN, GRU and LSTM ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One matmul multiplies the inputs of all time steps by the weights. Then a
// loop over the steps, scf.for of host code or unrolled, multiplies the hidden
// state by the recurrence weights and applies the gates.
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// Loops of at most this many steps are unrolled.
static constexpr int64_t mostUnrolled = 4;

namespace {

/// Applies operators; after one that fails, the others are skipped.
class Steps {
public:
  explicit Steps(Lowering &l) : l(l) {}

  bool hasFailed() const { return failed_; }

  Tensor call(StringRef op, ArrayRef<Tensor> inputs) {
    return take([&] { return l.call(op, inputs); });
  }
  Tensor add(const Tensor &x, const Tensor &y) { return call("Add", {x, y}); }
  Tensor multiply(const Tensor &x, const Tensor &y) {
    return call("Mul", {x, y});
  }
  Tensor reshape(const Tensor &x, ArrayRef<int64_t> shape) {
    return take([&] { return l.reshape(x, shape); });
  }
  Tensor transpose(const Tensor &x, ArrayRef<int64_t> order) {
    return take([&] { return l.transpose(x, order); });
  }
  Tensor concat(ArrayRef<Tensor> parts, int64_t axis) {
    if (parts.size() == 1)
      return parts[0];
    return take([&] { return l.concat(parts, axis); });
  }
  /// The elements from `offset` on along an axis.
  Tensor slice(const Tensor &x, int64_t axis, int64_t offset, int64_t size) {
    SmallVector<int64_t> offsets(x.shape.size(), 0), sizes = x.shape,
                                                     steps(x.shape.size(), 1);
    if (failed_)
      return {};
    offsets[axis] = offset;
    sizes[axis] = size;
    return take([&] { return l.slice(x, offsets, sizes, steps); });
  }
  /// Part `index` of several equal ones along the last axis.
  Tensor getGate(const Tensor &x, int64_t index, int64_t size) {
    return slice(x, x.rank() - 1, index * size, size);
  }
  Tensor elementwise(ArrayRef<Tensor> inputs, const ScalarBody &body) {
    if (failed_)
      return {};
    return take([&] { return l.elementwise(inputs, inputs[0].type, body); });
  }

private:
  Tensor take(function_ref<FailureOr<Tensor>()> make) {
    if (failed_)
      return {};
    FailureOr<Tensor> made = make();
    failed_ = failed(made);
    return failed_ ? Tensor() : *made;
  }

  Lowering &l;
  bool failed_ = false;
};

enum class Cell { RNN, GRU, LSTM };

/// The operands of one direction.
struct Direction {
  bool isReversed;
  /// [input, gates * hidden], [hidden, gates * hidden].
  Tensor weights, recurrence;
  /// [gates * hidden]; absent for zeros.
  std::optional<Tensor> inputBias, recurrentBias;
  /// LSTM: the weights of the cell for the gates i, o and f; may be absent.
  std::optional<Tensor> peepholes;
  /// H, and C of LSTM: [batch, hidden].
  SmallVector<Tensor> states;
  SmallVector<std::string> activations;
};

class Recurrent {
public:
  Recurrent(Lowering &l, Cell cell)
      : l(l), s(l), cell(cell), gates(cell == Cell::RNN   ? 1
                                      : cell == Cell::GRU ? 3
                                                          : 4) {}

  LogicalResult run();

private:
  LogicalResult readShapes();
  LogicalResult readActivations();
  /// Part `index` of an input along its first axis, without that axis.
  Tensor getPart(size_t input, int64_t index);
  Direction readDirection(int64_t index);
  SmallVector<Tensor> step(const Direction &direction, const Tensor &x,
                           ArrayRef<Tensor> states);
  Tensor activate(const Direction &direction, size_t index, const Tensor &x) {
    return s.call(direction.activations[index], x);
  }
  /// `next` where the sequence has not ended before the step, else `last`.
  Tensor choose(const Tensor &time, const Tensor &next, const Tensor &last);
  /// The outputs of all steps, [steps, batch, hidden], and the last states.
  SmallVector<Tensor> runDirection(const Direction &direction);
  /// The states after a step, and its output.
  SmallVector<Tensor> runStep(const Direction &direction, const Tensor &x,
                              ArrayRef<Tensor> states, const Tensor &time);
  SmallVector<Tensor> runLoop(const Direction &direction, const Tensor &x);

  Lowering &l;
  Steps s;
  Cell cell;
  int64_t gates;
  int64_t numSteps = 0, batch = 0, inputSize = 0, hidden = 0, directions = 1;
  bool isBatchFirst = false, resetsAfter = false;
  std::string order;
  std::vector<std::string> activations;
  /// [steps, batch, input].
  Tensor x;
  /// [batch, 1]; absent for whole sequences.
  std::optional<Tensor> lengths;
};

} // namespace

LogicalResult Recurrent::readShapes() {
  isBatchFirst = l.getInt("layout", 0) != 0;
  resetsAfter = l.getInt("linear_before_reset", 0) != 0;
  order = l.getString("direction", "forward");
  x = l.getInput(0);
  const Tensor &w = l.getInput(1), &r = l.getInput(2);
  if (!x.isStatic() || !w.isStatic() || !r.isStatic() || x.rank() != 3 ||
      w.rank() != 3 || r.rank() != 3 || !isFloat(x.type))
    return l.fail("expected static tensors of rank 3");
  if (isBatchFirst)
    x = s.transpose(x, {1, 0, 2});
  if (s.hasFailed())
    return failure();
  numSteps = x.shape[0];
  batch = x.shape[1];
  inputSize = x.shape[2];
  hidden = r.shape[2];
  directions = order == "bidirectional" ? 2 : 1;
  if (order != "forward" && order != "reverse" && directions == 1)
    return l.fail("direction '" + order + "' is not supported");
  auto hasShape = [&](size_t i, ArrayRef<int64_t> shape) {
    return !l.hasInput(i) || ArrayRef<int64_t>(l.getInput(i).shape) == shape;
  };
  SmallVector<int64_t> ofStates = {directions, batch, hidden};
  if (isBatchFirst)
    std::swap(ofStates[0], ofStates[1]);
  if (hidden < 1 || numSteps < 1 || l.getInt("hidden_size", hidden) != hidden ||
      !hasShape(1, {directions, gates * hidden, inputSize}) ||
      !hasShape(2, {directions, gates * hidden, hidden}) ||
      !hasShape(3, {directions, 2 * gates * hidden}) || !hasShape(4, {batch}) ||
      !hasShape(5, ofStates) || !hasShape(6, ofStates) ||
      !hasShape(7, {directions, 3 * hidden}))
    return l.fail("its inputs do not have the shapes of " + Twine(directions) +
                  " directions, " + Twine(batch) + " sequences and " +
                  Twine(hidden) + " hidden units");
  if (l.getFloat("clip", 0) != 0 || l.getInt("input_forget", 0) != 0)
    return l.fail("clip and input_forget are not supported");
  if (l.hasInput(4)) {
    FailureOr<Tensor> wide = l.convert(l.getInput(4), DataType::I64);
    if (failed(wide))
      return failure();
    lengths = s.reshape(*wide, {batch, 1});
  }
  return readActivations();
}

LogicalResult Recurrent::readActivations() {
  std::vector<std::string> given = l.getStrings("activations");
  if (!l.getFloats("activation_alpha").empty() ||
      !l.getFloats("activation_beta").empty())
    return l.fail("activation_alpha and activation_beta are not supported");
  ArrayRef<const char *> usual;
  static const char *const ofRNN[] = {"Tanh"};
  static const char *const ofGRU[] = {"Sigmoid", "Tanh"};
  static const char *const ofLSTM[] = {"Sigmoid", "Tanh", "Tanh"};
  usual = cell == Cell::RNN   ? ArrayRef(ofRNN)
          : cell == Cell::GRU ? ArrayRef<const char *>(ofGRU)
                              : ArrayRef<const char *>(ofLSTM);
  for (int64_t d = 0; d < directions; ++d)
    activations.insert(activations.end(), usual.begin(), usual.end());
  if (given.empty())
    return success();
  static const char *const known[] = {"Relu",        "Tanh",     "Sigmoid",
                                      "HardSigmoid", "Elu",      "Softsign",
                                      "Softplus",    "LeakyRelu"};
  if (given.size() != activations.size())
    return l.fail("expected " + Twine(activations.size()) + " activations");
  for (const std::string &name : given)
    if (!llvm::is_contained(known, name))
      return l.fail("the activation '" + name + "' is not supported");
  activations = given;
  return success();
}

Tensor Recurrent::getPart(size_t input, int64_t index) {
  const Tensor &whole = l.getInput(input);
  Tensor part = s.slice(whole, 0, index, 1);
  return s.reshape(part, ArrayRef(whole.shape).drop_front());
}

Direction Recurrent::readDirection(int64_t index) {
  Direction direction;
  direction.isReversed = order == "reverse" || index == 1;
  direction.weights = s.transpose(getPart(1, index), {1, 0});
  direction.recurrence = s.transpose(getPart(2, index), {1, 0});
  if (l.hasInput(3)) {
    Tensor both = getPart(3, index);
    direction.inputBias = s.slice(both, 0, 0, gates * hidden);
    direction.recurrentBias = s.slice(both, 0, gates * hidden, gates * hidden);
  }
  if (l.hasInput(7))
    direction.peepholes = getPart(7, index);
  for (size_t i = 5; i < (cell == Cell::LSTM ? 7U : 6U); ++i) {
    if (!l.hasInput(i))
      direction.states.push_back(l.makeSplat(x.type, {batch, hidden}, 0));
    else if (isBatchFirst)
      direction.states.push_back(
          s.reshape(s.slice(l.getInput(i), 1, index, 1), {batch, hidden}));
    else
      direction.states.push_back(getPart(i, index));
  }
  auto count = static_cast<int64_t>(activations.size()) / directions;
  for (int64_t i = 0; i < count; ++i)
    direction.activations.push_back(activations[index * count + i]);
  return direction;
}

SmallVector<Tensor> Recurrent::step(const Direction &direction, const Tensor &x,
                                    ArrayRef<Tensor> states) {
  const Tensor &h = states[0];
  auto addBias = [&](const Tensor &sum, int64_t from, int64_t count) {
    if (!direction.recurrentBias)
      return sum;
    return s.add(sum, s.slice(*direction.recurrentBias, 0, from * hidden,
                              count * hidden));
  };
  auto getGate = [&](const Tensor &of, int64_t i) {
    return s.getGate(of, i, hidden);
  };
  if (cell == Cell::GRU) {
    // The sums of z and r come first: that of h may depend on r.
    Tensor both = s.slice(direction.recurrence, 1, 0, 2 * hidden);
    Tensor ofH = s.slice(direction.recurrence, 1, 2 * hidden, hidden);
    Tensor sums = s.add(s.slice(x, 1, 0, 2 * hidden),
                        addBias(s.call("MatMul", {h, both}), 0, 2));
    Tensor opened = activate(direction, 0, sums);
    Tensor z = getGate(opened, 0), r = getGate(opened, 1);
    Tensor recurrent =
        resetsAfter ? s.multiply(r, addBias(s.call("MatMul", {h, ofH}), 2, 1))
                    : addBias(s.call("MatMul", {s.multiply(r, h), ofH}), 2, 1);
    Tensor candidate = activate(direction, 1, s.add(getGate(x, 2), recurrent));
    return {s.elementwise(
        {z, candidate, h}, [](ScalarBuilder &b, ValueRange v) -> Value {
          // (1 - z) * candidate + z * h
          Value change = arith::SubFOp::create(b, v[2], v[1]);
          return arith::AddFOp::create(b, v[1],
                                       arith::MulFOp::create(b, v[0], change));
        })};
  }
  Tensor sums =
      s.add(x, addBias(s.call("MatMul", {h, direction.recurrence}), 0, gates));
  if (cell == Cell::RNN)
    return {activate(direction, 0, sums)};
  // The gates are i, o, f and c.
  const Tensor &c = states[1];
  auto addCell = [&](const Tensor &sum, int64_t peephole, const Tensor &state) {
    if (!direction.peepholes)
      return sum;
    Tensor weights =
        s.slice(*direction.peepholes, 0, peephole * hidden, hidden);
    return s.add(sum, s.multiply(weights, state));
  };
  Tensor i = activate(direction, 0, addCell(getGate(sums, 0), 0, c));
  Tensor f = activate(direction, 0, addCell(getGate(sums, 2), 2, c));
  Tensor candidate = activate(direction, 1, getGate(sums, 3));
  Tensor next = s.add(s.multiply(f, c), s.multiply(i, candidate));
  Tensor o = activate(direction, 0, addCell(getGate(sums, 1), 1, next));
  return {s.multiply(o, activate(direction, 2, next)), next};
}

Tensor Recurrent::choose(const Tensor &time, const Tensor &next,
                         const Tensor &last) {
  return s.elementwise({next, last, time, *lengths},
                       [](ScalarBuilder &b, ValueRange v) -> Value {
                         Value runs = arith::CmpIOp::create(
                             b, arith::CmpIPredicate::slt, v[2], v[3]);
                         return arith::SelectOp::create(b, runs, v[0], v[1]);
                       });
}

SmallVector<Tensor> Recurrent::runStep(const Direction &direction,
                                       const Tensor &x, ArrayRef<Tensor> states,
                                       const Tensor &time) {
  SmallVector<Tensor> next = step(direction, x, states);
  Tensor output = next[0];
  if (lengths) {
    output = choose(time, output, l.makeSplat(output.type, {}, 0));
    for (auto [to, from] : llvm::zip_equal(next, states))
      to = choose(time, to, from);
  }
  next.push_back(output);
  return next;
}

SmallVector<Tensor> Recurrent::runLoop(const Direction &direction,
                                       const Tensor &x) {
  ImplicitLocOpBuilder &b = l.b;
  // The constants and weights of all steps must be ahead of the loop.
  Direction outside = direction;
  for (Tensor *tensor : {&outside.weights, &outside.recurrence})
    *tensor = l.makeTensor(l.materialize(*tensor), tensor->type);
  SmallVector<Value> starts;
  for (const Tensor &state : direction.states)
    starts.push_back(l.materialize(state));
  Type element = l.getElementType(x.type);
  starts.push_back(tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{numSteps, batch, hidden}, element));
  Value source = l.materialize(x);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value zero = index(0), one = index(1), bound = index(numSteps),
        last = index(numSteps - 1);
  auto loop = scf::ForOp::create(b, zero, bound, one, starts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value position = loop.getInductionVar();
  if (direction.isReversed)
    position = arith::SubIOp::create(b, last, position);
  auto makeSizes = [&](int64_t columns) {
    return SmallVector<OpFoldResult>{b.getIndexAttr(1), b.getIndexAttr(batch),
                                     b.getIndexAttr(columns)};
  };
  SmallVector<OpFoldResult> offsets = {position, b.getIndexAttr(0),
                                       b.getIndexAttr(0)},
                            unit(3, b.getIndexAttr(1));
  auto sliceType = RankedTensorType::get({batch, gates * hidden}, element);
  Tensor part = l.makeTensor(
      tensor::ExtractSliceOp::create(b, sliceType, source, offsets,
                                     makeSizes(gates * hidden), unit),
      x.type);
  SmallVector<Tensor> states;
  for (Value argument : loop.getRegionIterArgs().drop_back())
    states.push_back(l.makeTensor(argument, x.type));
  Tensor time;
  if (lengths) {
    Value wide = arith::IndexCastOp::create(b, b.getI64Type(), position);
    time = l.makeTensor(l.makeFilled({}, wide), DataType::I64);
  }
  SmallVector<Tensor> next = runStep(outside, part, states, time);
  if (s.hasFailed())
    return {};
  SmallVector<Value> yields;
  for (const Tensor &state : ArrayRef(next).drop_back())
    yields.push_back(l.materialize(state));
  yields.push_back(tensor::InsertSliceOp::create(
      b, l.materialize(next.back()), loop.getRegionIterArgs().back(), offsets,
      makeSizes(hidden), unit));
  scf::YieldOp::create(b, yields);
  SmallVector<Tensor> results = {
      l.makeTensor(loop.getResults().back(), x.type)};
  for (Value value : loop.getResults().drop_back())
    results.push_back(l.makeTensor(value, x.type));
  return results;
}

SmallVector<Tensor> Recurrent::runDirection(const Direction &direction) {
  Tensor flat = s.reshape(x, {numSteps * batch, inputSize});
  Tensor sums = s.call("MatMul", {flat, direction.weights});
  if (direction.inputBias)
    sums = s.add(sums, *direction.inputBias);
  sums = s.reshape(sums, {numSteps, batch, gates * hidden});
  if (s.hasFailed())
    return {};
  if (numSteps > mostUnrolled)
    return runLoop(direction, sums);
  SmallVector<Tensor> states = direction.states, outputs;
  for (int64_t i = 0; i < numSteps; ++i) {
    int64_t time = direction.isReversed ? numSteps - 1 - i : i;
    Tensor part = s.reshape(s.slice(sums, 0, time, 1), {batch, gates * hidden});
    SmallVector<Tensor> next =
        runStep(direction, part, states, l.makeInts(time, Shape()));
    Tensor output = s.reshape(next.pop_back_val(), {1, batch, hidden});
    outputs.insert(direction.isReversed ? outputs.begin() : outputs.end(),
                   output);
    states = next;
  }
  SmallVector<Tensor> results = {s.concat(outputs, 0)};
  llvm::append_range(results, states);
  return results;
}

LogicalResult Recurrent::run() {
  if (failed(readShapes()))
    return failure();
  // For each output, the parts of the directions.
  SmallVector<SmallVector<Tensor>> parts(cell == Cell::LSTM ? 3 : 2);
  for (int64_t d = 0; d < directions; ++d) {
    SmallVector<Tensor> results = runDirection(readDirection(d));
    if (s.hasFailed())
      return failure();
    parts[0].push_back(s.reshape(results[0], {numSteps, 1, batch, hidden}));
    for (size_t i = 1; i < parts.size(); ++i)
      parts[i].push_back(s.reshape(results[i], {1, batch, hidden}));
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    Tensor whole = s.concat(parts[i], i == 0 ? 1 : 0);
    if (isBatchFirst)
      whole = i == 0 ? s.transpose(whole, {2, 0, 1, 3})
                     : s.transpose(whole, {1, 0, 2});
    l.setResult(i, whole);
  }
  return failure(s.hasFailed());
}

template <Cell cell> static LogicalResult lowerRecurrent(Lowering &l) {
  return Recurrent(l, cell).run();
}

ArrayRef<Operator> mlir::tessera::onnx::getRecurrentOperators() {
  static const char *const limits =
      "static shapes only; no clip, input_forget or parameters of activations";
  static const Operator operators[] = {
      {"GRU", 7, 3, 6, lowerRecurrent<Cell::GRU>, limits},
      {"LSTM", 7, 3, 8, lowerRecurrent<Cell::LSTM>, limits},
      {"RNN", 7, 3, 6, lowerRecurrent<Cell::RNN>, limits},
  };
  return operators;
}
