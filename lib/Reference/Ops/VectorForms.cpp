//===- VectorForms.cpp - Rearrangements and reductions of vectors ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// Rearrangements
//===----------------------------------------------------------------------===//

namespace {
/// Where an element of a result comes from: the operand, and the element of it
/// in row-major order. An operand of -1: the element is poison.
struct Origin {
  int operand;
  int64_t element;
};
} // namespace

/// Each element of a result is an element of an operand. `getOrigin` maps its
/// place in row-major order.
template <typename F>
static InstrPtr makeRearrangement(Operation *op, Scope &scope, F getOrigin) {
  SmallVector<Slot> operands = scope.slots(op->getOperands());
  struct Result {
    Slot slot;
    const Format *format;
    SmallVector<int64_t> shape;
    SmallVector<Origin> origins;
  };
  SmallVector<Result> results;
  for (OpResult value : op->getResults()) {
    auto type = dyn_cast<VectorType>(value.getType());
    if (!type || type.isScalable() || !getFormat(type))
      return nullptr;
    Result result = {scope.define(value),
                     getFormat(type),
                     SmallVector<int64_t>(type.getShape()),
                     {}};
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      result.origins.push_back(getOrigin(value.getResultNumber(), i));
    results.push_back(std::move(result));
  }
  return makeInstr([=](Frame &frame) {
    for (const Result &result : results) {
      ViewRef vector = View::makePoison(*result.format, result.shape);
      for (auto [at, origin] : llvm::enumerate(result.origins)) {
        if (origin.operand < 0)
          continue;
        Slot slot = operands[static_cast<size_t>(origin.operand)];
        if (!slot.isView) {
          vector->store(static_cast<int64_t>(at), frame.number(slot));
          continue;
        }
        const View &view = *frame.view(slot);
        vector->store(static_cast<int64_t>(at),
                      view.load(view.addressOf(origin.element)));
      }
      frame.view(result.slot) = std::move(vector);
    }
    return true;
  });
}

static SmallVector<int64_t> getStrides(Value vector) {
  return computeStrides(cast<VectorType>(vector.getType()).getShape());
}

static InstrPtr compileTranspose(vector::TransposeOp op, Scope &scope) {
  SmallVector<int64_t> from = getStrides(op.getVector()),
                       to = getStrides(op.getResult());
  return makeRearrangement(op, scope, [&](unsigned, int64_t i) {
    SmallVector<int64_t> point = delinearize(i, to);
    int64_t element = 0;
    for (auto [at, dimension] : llvm::zip_equal(point, op.getPermutation()))
      element += at * from[static_cast<size_t>(dimension)];
    return Origin{0, element};
  });
}

static InstrPtr compileShapeCast(vector::ShapeCastOp op, Scope &scope) {
  return makeRearrangement(op, scope,
                           [](unsigned, int64_t i) { return Origin{0, i}; });
}

static InstrPtr compileFromElements(vector::FromElementsOp op, Scope &scope) {
  return makeRearrangement(op, scope, [](unsigned, int64_t i) {
    return Origin{static_cast<int>(i), 0};
  });
}

/// Selects along the first dimension of both operands, one after the other.
static InstrPtr compileShuffle(vector::ShuffleOp op, Scope &scope) {
  VectorType first = op.getV1VectorType();
  if (first.getRank() == 0)
    return nullptr;
  int64_t rows = first.getDimSize(0);
  int64_t length = first.getNumElements() / rows;
  return makeRearrangement(op, scope, [&](unsigned, int64_t i) {
    int64_t row = op.getMask()[static_cast<size_t>(i / length)];
    if (row < 0)
      return Origin{-1, 0};
    return row < rows ? Origin{0, row * length + i % length}
                      : Origin{1, (row - rows) * length + i % length};
  });
}

static InstrPtr compileInterleave(vector::InterleaveOp op, Scope &scope) {
  return makeRearrangement(op, scope, [](unsigned, int64_t i) {
    return Origin{static_cast<int>(i % 2), i / 2};
  });
}

static InstrPtr compileDeinterleave(vector::DeinterleaveOp op, Scope &scope) {
  return makeRearrangement(op, scope, [](unsigned result, int64_t i) {
    return Origin{0, 2 * i + result};
  });
}

/// The place of an element of a slice in the vector that it is a slice of.
/// Trailing dimensions without an offset are whole.
static int64_t getSliceElement(ArrayRef<int64_t> point, ArrayAttr offsets,
                               ArrayRef<int64_t> strides) {
  size_t leading = strides.size() - point.size();
  int64_t element = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    int64_t at = i < leading ? 0 : point[i - leading];
    if (i < offsets.size())
      at += cast<IntegerAttr>(offsets[i]).getInt();
    element += at * strides[i];
  }
  return element;
}

static InstrPtr compileExtractSlice(vector::ExtractStridedSliceOp op,
                                    Scope &scope) {
  if (op.hasNonUnitStrides())
    return nullptr;
  SmallVector<int64_t> from = getStrides(op.getSource()),
                       to = getStrides(op.getResult());
  return makeRearrangement(op, scope, [&](unsigned, int64_t i) {
    return Origin{0,
                  getSliceElement(delinearize(i, to), op.getOffsets(), from)};
  });
}

static InstrPtr compileInsertSlice(vector::InsertStridedSliceOp op,
                                   Scope &scope) {
  if (op.hasNonUnitStrides())
    return nullptr;
  SmallVector<int64_t> from = getStrides(op.getValueToStore()),
                       to = getStrides(op.getResult());
  llvm::DenseMap<int64_t, int64_t> inserted;
  for (int64_t i = 0; i < op.getSourceVectorType().getNumElements(); ++i)
    inserted[getSliceElement(delinearize(i, from), op.getOffsets(), to)] = i;
  return makeRearrangement(op, scope, [&](unsigned, int64_t i) {
    auto found = inserted.find(i);
    return found == inserted.end() ? Origin{1, i} : Origin{0, found->second};
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static Elementwise::Function getFunction(vector::CombiningKind kind,
                                         bool isFloat) {
  switch (kind) {
  case vector::CombiningKind::ADD:
    return isFloat ? addFloats : addIntegers;
  case vector::CombiningKind::MUL:
    return isFloat ? multiplyFloats : multiplyIntegers;
  case vector::CombiningKind::MINSI:
    return minimumSigned;
  case vector::CombiningKind::MINUI:
    return minimumUnsigned;
  case vector::CombiningKind::MAXSI:
    return maximumSigned;
  case vector::CombiningKind::MAXUI:
    return maximumUnsigned;
  case vector::CombiningKind::AND:
    return andIntegers;
  case vector::CombiningKind::OR:
    return orIntegers;
  case vector::CombiningKind::XOR:
    return xorIntegers;
  case vector::CombiningKind::MINNUMF:
    return minimumNumber;
  case vector::CombiningKind::MAXNUMF:
    return maximumNumber;
  case vector::CombiningKind::MINIMUMF:
    return minimumFloat;
  case vector::CombiningKind::MAXIMUMF:
    return maximumFloat;
  }
  return nullptr;
}

namespace {
/// Sums of terms into an accumulator.
struct Reduction {
  Elementwise combine, multiply;
  /// One number or a vector each. `other` has the factors by which elements of
  /// the source are multiplied, if there are any.
  Slot source, result;
  std::optional<Slot> other, accumulator;
  SmallVector<int64_t> shape;
  /// For each point of the loops: the elements of the source, of the second
  /// factor and of the result.
  struct Step {
    int64_t source, other, result;
  };
  SmallVector<Step> steps;

  /// False for types that the reference does not know.
  bool setTypes(Operation *op, vector::CombiningKind kind, Value from,
                Value to) {
    const Format *format = getFormat(to.getType());
    if (!format || getFormat(from.getType()) != format)
      return false;
    for (Elementwise *element : {&combine, &multiply}) {
      element->op = op;
      element->result = format;
      element->inputs = {format, format, nullptr};
    }
    combine.function = getFunction(kind, format->isFloat);
    multiply.function = format->isFloat ? multiplyFloats : multiplyIntegers;
    if (auto vector = dyn_cast<VectorType>(to.getType()))
      shape.assign(vector.getShape().begin(), vector.getShape().end());
    return combine.function != nullptr;
  }

  static Number load(const Frame &frame, Slot slot, int64_t element) {
    if (!slot.isView)
      return frame.number(slot);
    const View &view = *frame.view(slot);
    return view.load(view.addressOf(element));
  }

  bool run(Frame &frame) const {
    int64_t count = computeProduct(shape);
    SmallVector<std::optional<Number>> totals(static_cast<size_t>(count));
    if (accumulator)
      for (int64_t i = 0; i < count; ++i)
        totals[static_cast<size_t>(i)] = load(frame, *accumulator, i);
    for (const Step &step : steps) {
      Number term = load(frame, source, step.source);
      if (other) {
        Number factors[2] = {term, load(frame, *other, step.other)};
        if (!multiply.function(multiply, factors, term, *frame.run))
          return false;
      }
      std::optional<Number> &total = totals[static_cast<size_t>(step.result)];
      if (!total) {
        total = term;
        continue;
      }
      Number in[2] = {*total, term};
      if (!combine.function(combine, in, *total, *frame.run))
        return false;
    }
    if (!result.isView) {
      frame.number(result) = *totals.front();
      return true;
    }
    ViewRef vector = View::make(*combine.result, shape);
    for (auto [at, total] : llvm::enumerate(totals))
      vector->store(static_cast<int64_t>(at), *total);
    frame.view(result) = std::move(vector);
    return true;
  }
};
} // namespace

static InstrPtr makeReduction(Reduction reduction) {
  return makeInstr([reduction = std::move(reduction)](Frame &frame) {
    return reduction.run(frame);
  });
}

static InstrPtr compileReduction(vector::ReductionOp op, Scope &scope) {
  Reduction reduction;
  if (op.getSourceVectorType().isScalable() ||
      !reduction.setTypes(op, op.getKind(), op.getVector(), op.getDest()))
    return nullptr;
  reduction.source = scope.slot(op.getVector());
  if (op.getAcc())
    reduction.accumulator = scope.slot(op.getAcc());
  reduction.result = scope.define(op.getDest());
  for (int64_t i = 0; i < op.getSourceVectorType().getNumElements(); ++i)
    reduction.steps.push_back({i, 0, 0});
  return makeReduction(std::move(reduction));
}

static InstrPtr compileMultiReduction(vector::MultiDimReductionOp op,
                                      Scope &scope) {
  Reduction reduction;
  VectorType type = op.getSourceVectorType();
  if (type.isScalable() ||
      !reduction.setTypes(op, op.getKind(), op.getSource(), op.getDest()))
    return nullptr;
  reduction.source = scope.slot(op.getSource());
  reduction.accumulator = scope.slot(op.getAcc());
  reduction.result = scope.define(op.getDest());
  SmallVector<int64_t> from = computeStrides(type.getShape());
  SmallVector<bool> isReduced = op.getReductionMask();
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    int64_t to = 0;
    for (auto [at, size, reduced] :
         llvm::zip_equal(delinearize(i, from), type.getShape(), isReduced))
      if (!reduced)
        to = to * size + at;
    reduction.steps.push_back({i, 0, to});
  }
  return makeReduction(std::move(reduction));
}

/// The element of a vector at a map's results, in row-major order.
static int64_t getElement(AffineMap map, ArrayRef<int64_t> point, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return 0;
  int64_t element = 0;
  for (auto [at, size] : llvm::zip_equal(map.compose(point), vector.getShape()))
    element = element * size + at;
  return element;
}

static InstrPtr compileContract(vector::ContractionOp op, Scope &scope) {
  Reduction reduction;
  if (op.getLhsType().isScalable() || op.getRhsType().isScalable() ||
      getFormat(op.getRhsType()) != getFormat(op.getLhsType()) ||
      !reduction.setTypes(op, op.getKind(), op.getLhs(), op.getResult()))
    return nullptr;
  reduction.source = scope.slot(op.getLhs());
  reduction.other = scope.slot(op.getRhs());
  reduction.accumulator = scope.slot(op.getAcc());
  reduction.result = scope.define(op.getResult());
  SmallVector<int64_t> bounds;
  op.getIterationBounds(bounds);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  forEachIndex(bounds, [&](ArrayRef<int64_t> point) {
    reduction.steps.push_back({getElement(maps[0], point, op.getLhsType()),
                               getElement(maps[1], point, op.getRhsType()),
                               getElement(maps[2], point, op.getResultType())});
    return true;
  });
  return makeReduction(std::move(reduction));
}

static InstrPtr compileOuterProduct(vector::OuterProductOp op, Scope &scope) {
  Reduction reduction;
  VectorType type = op.getResultVectorType();
  if (type.isScalable() ||
      !reduction.setTypes(op, op.getKind(), op.getLhs(), op.getResult()))
    return nullptr;
  reduction.source = scope.slot(op.getLhs());
  reduction.other = scope.slot(op.getRhs());
  if (op.getAcc())
    reduction.accumulator = scope.slot(op.getAcc());
  reduction.result = scope.define(op.getResult());
  // The second factor may be one number.
  int64_t length = type.getRank() == 2 ? type.getDimSize(1) : 1;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    reduction.steps.push_back({i / length, i % length, i});
  return makeReduction(std::move(reduction));
}

void tessera::reference::addVectorFormHandlers(Registry &registry) {
  registry.add<vector::TransposeOp>(compileTranspose);
  registry.add<vector::ShapeCastOp>(compileShapeCast);
  registry.add<vector::FromElementsOp>(compileFromElements);
  registry.add<vector::ShuffleOp>(compileShuffle);
  registry.add<vector::InterleaveOp>(compileInterleave);
  registry.add<vector::DeinterleaveOp>(compileDeinterleave);
  registry.add<vector::ExtractStridedSliceOp>(compileExtractSlice);
  registry.add<vector::InsertStridedSliceOp>(compileInsertSlice);
  registry.add<vector::ReductionOp>(compileReduction);
  registry.add<vector::MultiDimReductionOp>(compileMultiReduction);
  registry.add<vector::ContractionOp>(compileContract);
  registry.add<vector::OuterProductOp>(compileOuterProduct);
}
