//===- Subgroup.cpp - Collectives of a subgroup ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matrix value is held in full by each lane of a subgroup. Lanes whose
// operands are the same share the result.
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"
#include "SubgroupMatrix.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::tessera::reference;

/// The format of a matrix's elements (the sign determines how factors are
/// read).
static const Format *getMatrixFormat(Type type) {
  auto matrix = dyn_cast<gpu::MMAMatrixType>(type);
  return matrix ? Format::get(matrix.getElementType()) : nullptr;
}

static SmallVector<int64_t, 2> getMatrixShape(Type type) {
  return SmallVector<int64_t, 2>(cast<gpu::MMAMatrixType>(type).getShape());
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Calls `touch(address, row, column)` for each element of a matrix at the
/// indices in memory.
template <typename F>
static bool forEachInMemory(const Frame &frame, Operation *op, const View &view,
                            ArrayRef<Slot> indices, int64_t leading,
                            bool transpose, ArrayRef<int64_t> shape, F touch) {
  int64_t start = view.offset, size = view.storage->size();
  for (size_t i = 0; i < indices.size(); ++i)
    start += frame.integer(indices[i]) * view.strides[i];
  for (int64_t r = 0; r < shape[0]; ++r)
    for (int64_t c = 0; c < shape[1]; ++c) {
      int64_t address = start + (transpose ? c * leading + r : r * leading + c);
      if (address < 0 || address >= size)
        return frame.run->error(op,
                                "the matrix is out of bounds of the memory");
      touch(address, r, c);
    }
  return true;
}

static InstrPtr compileLoad(gpu::SubgroupMmaLoadMatrixOp op, Scope &scope) {
  const Format *format = getMatrixFormat(op.getType());
  SmallVector<int64_t, 2> shape = getMatrixShape(op.getType());
  if (!format || isa<VectorType>(getElementTypeOrSelf(op.getSrcMemref())))
    return nullptr;
  Slot memory = scope.slot(op.getSrcMemref());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  int64_t leading = op.getLeadDimension().getSExtValue();
  bool transpose = op.getTranspose().value_or(false);
  Slot result = scope.define(op.getRes());
  Operation *operation = op;
  return makeShared({memory}, indices, result, [=](Frame &frame) {
    const View &view = *frame.view(memory);
    ViewRef matrix = View::make(*format, shape);
    bool good =
        forEachInMemory(frame, operation, view, indices, leading, transpose,
                        shape, [&](int64_t address, int64_t r, int64_t c) {
                          Number number = view.load(address);
                          if (!format->isFloat)
                            number.i = format->wrap(number.i);
                          matrix->store(r * shape[1] + c, number);
                        });
    frame.view(result) = std::move(matrix);
    return good;
  });
}

static InstrPtr compileStore(gpu::SubgroupMmaStoreMatrixOp op, Scope &scope) {
  SmallVector<int64_t, 2> shape = getMatrixShape(op.getSrc().getType());
  if (isa<VectorType>(getElementTypeOrSelf(op.getDstMemref())))
    return nullptr;
  Slot source = scope.slot(op.getSrc()), memory = scope.slot(op.getDstMemref());
  SmallVector<Slot> indices = scope.slots(op.getIndices());
  int64_t leading = op.getLeadDimension().getSExtValue();
  bool transpose = op.getTranspose().value_or(false);
  Operation *operation = op;
  return makeShared({source, memory}, indices, std::nullopt, [=](Frame &frame) {
    const View &view = *frame.view(memory);
    const View &matrix = *frame.view(source);
    return forEachInMemory(frame, operation, view, indices, leading, transpose,
                           shape, [&](int64_t address, int64_t r, int64_t c) {
                             Number number = matrix.load(r * shape[1] + c);
                             if (!view.format->isFloat)
                               number.i = view.format->wrap(number.i);
                             view.store(address, number);
                           });
  });
}

static InstrPtr compileCompute(gpu::SubgroupMmaComputeOp op, Scope &scope) {
  const Format *format = getMatrixFormat(op.getType());
  // The attributes state how the operands were loaded, not what to do with
  // them.
  if (!format)
    return nullptr;
  return makeMatmul(op,
                    {scope.slot(op.getOpA()), scope.slot(op.getOpB()),
                     scope.slot(op.getOpC())},
                    scope.define(op.getRes()), *format,
                    getMatrixShape(op.getType()));
}

static InstrPtr compileConstant(gpu::SubgroupMmaConstantMatrixOp op,
                                Scope &scope) {
  const Format *format = getMatrixFormat(op.getType());
  if (!format)
    return nullptr;
  Slot value = scope.slot(op.getValue());
  return makeFilled(*format, getMatrixShape(op.getType()), value,
                    scope.define(op.getRes()));
}

static bool convertElement(const Elementwise &self, const Number *in,
                           Number &out, Run &) {
  out = self.result->isFloat ? truncateFloat(*self.result, in[0]) : in[0];
  return true;
}

static bool negateInteger(const Elementwise &self, const Number *in,
                          Number &out, Run &run) {
  Number pair[2] = {Number::ofInt(0), in[0]};
  return subtractIntegers(self, pair, out, run);
}

static Elementwise::Function getFunction(gpu::MMAElementwiseOp kind) {
  switch (kind) {
  case gpu::MMAElementwiseOp::ADDF:
    return addFloats;
  case gpu::MMAElementwiseOp::MULF:
    return multiplyFloats;
  case gpu::MMAElementwiseOp::SUBF:
    return subtractFloats;
  case gpu::MMAElementwiseOp::MAXF:
    return maximumFloat;
  case gpu::MMAElementwiseOp::MINF:
    return minimumFloat;
  case gpu::MMAElementwiseOp::DIVF:
    return divideFloats;
  case gpu::MMAElementwiseOp::ADDI:
    return addIntegers;
  case gpu::MMAElementwiseOp::MULI:
    return multiplyIntegers;
  case gpu::MMAElementwiseOp::SUBI:
    return subtractIntegers;
  case gpu::MMAElementwiseOp::DIVS:
    return divideSigned;
  case gpu::MMAElementwiseOp::DIVU:
    return divideUnsigned;
  case gpu::MMAElementwiseOp::NEGATEF:
    return negateFloat;
  case gpu::MMAElementwiseOp::NEGATES:
    return negateInteger;
  case gpu::MMAElementwiseOp::EXTF:
    return convertElement;
  }
  return nullptr;
}

static InstrPtr compileMatrixElementwise(gpu::SubgroupMmaElementwiseOp op,
                                         Scope &scope) {
  Elementwise element;
  element.function = getFunction(op.getOpType());
  element.op = op;
  element.result = getMatrixFormat(op.getType());
  size_t count = op.getArgs().size();
  if (!element.function || !element.result || count == 0 || count > 2)
    return nullptr;
  bool isUnary = element.function == negateFloat ||
                 element.function == negateInteger ||
                 element.function == convertElement;
  if (count != (isUnary ? 1 : 2))
    return nullptr;
  for (size_t i = 0; i < count; ++i) {
    element.inputs[i] = getMatrixFormat(op.getArgs()[i].getType());
    if (!element.inputs[i])
      return nullptr;
  }
  SmallVector<int64_t, 2> shape = getMatrixShape(op.getType());
  SmallVector<Slot> inputs = scope.slots(op.getArgs());
  Slot result = scope.define(op.getRes());
  return makeShared(inputs, {}, result, [=](Frame &frame) {
    ViewRef matrix = View::make(*element.result, shape);
    int64_t size = matrix->storage->size();
    if (!frame.run->spend(size * 4, element.op))
      return false;
    for (int64_t i = 0; i < size; ++i) {
      Number values[2], value;
      for (size_t input = 0; input < inputs.size(); ++input)
        values[input] = frame.view(inputs[input])->load(i);
      if (!element.function(element, values, value, *frame.run))
        return false;
      matrix->store(i, value);
    }
    frame.view(result) = std::move(matrix);
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Lanes ask for values that other lanes have at the same position.
static InstrPtr compileShuffle(gpu::ShuffleOp op, Scope &scope) {
  if (!isNumber(op.getValue().getType()))
    return nullptr;
  Slot value = scope.slot(op.getValue()), offset = scope.slot(op.getOffset());
  Slot width = scope.slot(op.getWidth());
  Slot result = scope.define(op.getShuffleResult());
  Slot valid = scope.define(op.getValid());
  gpu::ShuffleMode mode = op.getMode();
  return makeCollective([=](ArrayRef<Frame *> frames) {
    DenseMap<int64_t, Number> lanes;
    for (Frame *frame : frames)
      lanes[frame->linearThread] = frame->number(value);
    int64_t size = frames.front()->subgroupSize();
    for (Frame *frame : frames) {
      int64_t lane = frame->linearThread % size;
      int64_t base = frame->linearThread - lane;
      int64_t by = frame->integer(offset);
      int64_t limit = std::min(frame->integer(width), size);
      int64_t from = by;
      if (mode == gpu::ShuffleMode::XOR)
        from = lane ^ by;
      else if (mode == gpu::ShuffleMode::UP)
        from = lane - by;
      else if (mode == gpu::ShuffleMode::DOWN)
        from = lane + by;
      auto found = lanes.find(base + from);
      bool isValid = from >= 0 && from < limit && found != lanes.end();
      frame->number(result) = frame->number(value);
      if (isValid) {
        frame->number(result) = found->second;
      } else {
        frame->number(result).error = unbounded;
        frame->number(result).errorIfFinite = unbounded;
      }
      frame->setInt(valid, isValid);
    }
    return true;
  });
}

static Elementwise::Function getFunction(gpu::AllReduceOperation kind) {
  switch (kind) {
  case gpu::AllReduceOperation::ADD:
    return addIntegers;
  case gpu::AllReduceOperation::MUL:
    return multiplyIntegers;
  case gpu::AllReduceOperation::AND:
    return andIntegers;
  case gpu::AllReduceOperation::OR:
    return orIntegers;
  case gpu::AllReduceOperation::XOR:
    return xorIntegers;
  case gpu::AllReduceOperation::MAXSI:
    return maximumSigned;
  case gpu::AllReduceOperation::MINSI:
    return minimumSigned;
  case gpu::AllReduceOperation::MAXUI:
    return maximumUnsigned;
  case gpu::AllReduceOperation::MINUI:
    return minimumUnsigned;
  case gpu::AllReduceOperation::MAXNUMF:
    return maximumNumber;
  case gpu::AllReduceOperation::MINNUMF:
    return minimumNumber;
  case gpu::AllReduceOperation::MAXIMUMF:
    return maximumFloat;
  case gpu::AllReduceOperation::MINIMUMF:
    return minimumFloat;
  default:
    return nullptr;
  }
}

/// A reduction over the threads to which `getGroup` assigns the same number.
template <typename F>
static InstrPtr makeReduction(Operation *op, gpu::AllReduceOperation kind,
                              Scope &scope, F getGroup) {
  if (!isNumber(op->getOperand(0).getType()))
    return nullptr;
  Elementwise element;
  element.op = op;
  element.result = getFormat(op->getResult(0).getType());
  element.inputs = {element.result, element.result, nullptr};
  element.function = getFunction(kind);
  if (element.result->isFloat && kind == gpu::AllReduceOperation::ADD)
    element.function = addFloats;
  if (element.result->isFloat && kind == gpu::AllReduceOperation::MUL)
    element.function = multiplyFloats;
  if (!element.function)
    return nullptr;
  Slot value = scope.slot(op->getOperand(0));
  Slot result = scope.define(op->getResult(0));
  return makeCollective([=](ArrayRef<Frame *> frames) {
    DenseMap<int64_t, Number> totals;
    for (Frame *frame : frames) {
      auto [total, isNew] =
          totals.try_emplace(getGroup(*frame), frame->number(value));
      if (isNew)
        continue;
      Number in[2] = {total->second, frame->number(value)};
      if (!element.function(element, in, total->second, *frame->run))
        return false;
    }
    for (Frame *frame : frames)
      frame->number(result) = totals[getGroup(*frame)];
    return true;
  });
}

/// A reduction over a workgroup whose body combines two values.
static InstrPtr compileBodyReduce(gpu::AllReduceOp op, Scope &scope) {
  if (!isNumber(op.getType()) || !op.getBody().hasOneBlock())
    return nullptr;
  Slot value = scope.slot(op.getValue());
  auto body = std::make_shared<Code>(scope.compile(op.getBody().front()));
  if (body->arguments.size() != 2 || body->yields.size() != 1)
    return nullptr;
  Slot result = scope.define(op.getResult());
  return makeCollective([=](ArrayRef<Frame *> frames) {
    Number total = frames.front()->number(value);
    for (Frame *frame : frames.drop_front()) {
      frame->number(body->arguments[0]) = total;
      frame->number(body->arguments[1]) = frame->number(value);
      if (!body->run(*frame))
        return false;
      total = frame->number(body->yields[0].slot);
    }
    for (Frame *frame : frames)
      frame->number(result) = total;
    return true;
  });
}

static InstrPtr compileAllReduce(gpu::AllReduceOp op, Scope &scope) {
  if (!op.getOp())
    return compileBodyReduce(op, scope);
  return makeReduction(op, *op.getOp(), scope,
                       [](const Frame &) { return int64_t(0); });
}

static InstrPtr compileSubgroupReduce(gpu::SubgroupReduceOp op, Scope &scope) {
  // A cluster is `size` lanes, each `stride` lanes after the one before it. The
  // number of its first lane identifies it.
  if (std::optional<uint32_t> clusterSize = op.getClusterSize()) {
    int64_t size = *clusterSize, stride = op.getClusterStride();
    return makeReduction(op, op.getOp(), scope, [=](const Frame &frame) {
      int64_t lane = frame.linearThread % frame.subgroupSize();
      int64_t first = lane / (size * stride) * (size * stride) + lane % stride;
      return frame.linearThread - lane + first;
    });
  }
  return makeReduction(op, op.getOp(), scope,
                       [](const Frame &frame) { return frame.subgroupOf(); });
}

void tessera::reference::addSubgroupHandlers(Registry &registry) {
  registry.add<gpu::SubgroupMmaLoadMatrixOp>(compileLoad);
  registry.add<gpu::SubgroupMmaStoreMatrixOp>(compileStore);
  registry.add<gpu::SubgroupMmaComputeOp>(compileCompute);
  registry.add<gpu::SubgroupMmaConstantMatrixOp>(compileConstant);
  registry.add<gpu::SubgroupMmaElementwiseOp>(compileMatrixElementwise);
  registry.add<gpu::ShuffleOp>(compileShuffle);
  registry.add<gpu::AllReduceOp>(compileAllReduce);
  registry.add<gpu::SubgroupReduceOp>(compileSubgroupReduce);
}
