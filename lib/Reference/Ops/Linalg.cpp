//===- Linalg.cpp - Structured operations ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Linalg.h"

#include "AffineEval.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

/// Follows casts from a factor of a multiplication back to an argument of the
/// body.
static BlockArgument traceFactor(Value value, Conversion &conversion) {
  while (!isa<BlockArgument>(value)) {
    Operation *cast = value.getDefiningOp();
    if (!isa<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::SIToFPOp, arith::UIToFPOp>(cast))
      return {};
    Value source = cast->getOperand(0);
    Type from = source.getType(), to = value.getType();
    if (!isNumber(from) || !Format::get(from) || !Format::get(to))
      return {};
    // One conversion of each kind; a cast in front of it might undo it.
    if (isa<arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp>(cast)) {
      if (conversion.rounded)
        return {};
      conversion.rounded = Format::get(to);
    }
    if (isa<arith::ExtUIOp, arith::UIToFPOp>(cast)) {
      // Factors are masked to fewer than 64 bits.
      if (conversion.unsignedWidth || from.isIndex() ||
          from.getIntOrFloatBitWidth() >= 64)
        return {};
      conversion.unsignedWidth = from.getIntOrFloatBitWidth();
    }
    if (isa<arith::ExtSIOp, arith::SIToFPOp>(cast) && from.isInteger(1))
      return {};
    value = source;
  }
  return cast<BlockArgument>(value);
}

/// Splits `x - zero point`, where that is an argument of the body or a cast of
/// one.
static Value splitZeroPoint(Value value, Block &block,
                            std::optional<unsigned> &zeroPoint) {
  auto difference = value.getDefiningOp<arith::SubIOp>();
  if (!difference)
    return value;
  Conversion conversion;
  BlockArgument zero = traceFactor(difference.getRhs(), conversion);
  if (!zero || zero.getOwner() != &block || conversion.unsignedWidth)
    return value;
  zeroPoint = zero.getArgNumber();
  return difference.getLhs();
}

/// Recognizes out + a * b.
static void matchContraction(Block &block, StructuredOp &structured) {
  Operation *yield = block.getTerminator();
  if (!yield || yield->getNumOperands() != 1 ||
      structured.maps.size() != structured.numInputs + 1)
    return;
  Operation *sum = yield->getOperand(0).getDefiningOp();
  if (!isa_and_present<arith::AddFOp, arith::AddIOp>(sum) ||
      sum->getBlock() != &block)
    return;
  BlockArgument old = block.getArgument(structured.numInputs);
  for (unsigned side = 0; side < 2; ++side) {
    if (sum->getOperand(side) != old)
      continue;
    Operation *product = sum->getOperand(1 - side).getDefiningOp();
    if (!isa_and_present<arith::MulFOp, arith::MulIOp>(product))
      return;
    Conversion convertA, convertB;
    std::optional<unsigned> zeroA, zeroB;
    BlockArgument a = traceFactor(
        splitZeroPoint(product->getOperand(0), block, zeroA), convertA);
    BlockArgument b = traceFactor(
        splitZeroPoint(product->getOperand(1), block, zeroB), convertB);
    if (!a || !b || a.getOwner() != &block || b.getOwner() != &block ||
        a.getArgNumber() >= structured.numInputs ||
        b.getArgNumber() >= structured.numInputs ||
        (zeroA && *zeroA >= structured.numInputs) ||
        (zeroB && *zeroB >= structured.numInputs) ||
        !isNumber(sum->getResult(0).getType()))
      return;
    structured.isContraction = true;
    structured.factorA = a.getArgNumber();
    structured.factorB = b.getArgNumber();
    structured.convertA = convertA;
    structured.convertB = convertB;
    structured.zeroA = zeroA;
    structured.zeroB = zeroB;
    structured.arithmetic = Format::get(sum->getResult(0).getType());
    structured.mayUseTf32 = sum->getResult(0).getType().isF32() &&
                            a.getType().isF32() && b.getType().isF32();
    return;
  }
}

std::unique_ptr<StructuredOp>
tessera::reference::makeStructuredOp(linalg::LinalgOp op, Scope &scope) {
  auto structured = std::make_unique<StructuredOp>();
  structured->op = op;
  structured->maps = op.getIndexingMapsArray();
  structured->numInputs = op.getNumDpsInputs();
  if (structured->maps.size() != op->getNumOperands())
    return nullptr;
  for (utils::IteratorType type : op.getIteratorTypesArray())
    structured->isParallel.push_back(type == utils::IteratorType::parallel);
  for (AffineMap map : structured->maps)
    if (map.getNumSymbols() != 0)
      return nullptr;
  for (OpOperand &output : op.getDpsInitsMutable())
    structured->readsOutput.push_back(op.payloadUsesValueFromOperand(&output));
  Block &block = *op.getBlock();
  matchContraction(block, *structured);
  structured->body = std::make_unique<Function>();
  Scope inner(scope.program, *structured->body, &scope);
  structured->body->code = inner.compile(block);
  unsigned numOutputs = structured->maps.size() - structured->numInputs;
  if (structured->body->code.yields.size() != numOutputs)
    return nullptr;
  for (unsigned i = 0; i < numOutputs; ++i)
    structured->folds.push_back(matchFold(
        block, i, block.getArgument(structured->numInputs + i), inner));
  if (structured->body->code.instrs.empty() &&
      structured->maps.size() == structured->numInputs + 1) {
    auto argument =
        dyn_cast<BlockArgument>(block.getTerminator()->getOperand(0));
    if (!argument || argument.getOwner() != &block)
      structured->handsOn = -1;
    else if (argument.getArgNumber() < structured->numInputs)
      structured->handsOn = argument.getArgNumber();
  }
  return structured;
}

//===----------------------------------------------------------------------===//
// Iteration space
//===----------------------------------------------------------------------===//

llvm::SmallBitVector tessera::reference::getSummedDims(AffineMap map) {
  llvm::SmallBitVector summed(map.getNumDims());
  for (AffineExpr expr : map.getResults())
    if (!isa<AffineDimExpr>(expr))
      for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
        if (expr.isFunctionOfDim(dim))
          summed.set(dim);
  return summed;
}

bool tessera::reference::getIterationExtents(
    Run &run, Operation *op, ArrayRef<AffineMap> maps,
    ArrayRef<const View *> operands, ArrayRef<ArrayRef<int64_t>> indexLists,
    bool mayReachOutside, SmallVectorImpl<int64_t> &extents) {
  unsigned numDims = maps.front().getNumDims();
  extents.assign(numDims, -1);
  for (unsigned dim = 0; dim < indexLists.size(); ++dim)
    if (!indexLists[dim].empty())
      extents[dim] = static_cast<int64_t>(indexLists[dim].size());
  for (auto [map, view] : llvm::zip_equal(maps, operands)) {
    if (!view)
      continue;
    if (view->sizes.size() != map.getNumResults())
      return run.error(op, "an operand's rank does not match its indexing map");
    llvm::SmallBitVector summed = getSummedDims(map);
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), view->sizes)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      unsigned position = dim.getPosition();
      int64_t &extent = extents[position];
      // All of an operand, of which only some elements are used.
      if (summed.test(position) && extent >= 0 && !indexLists.empty() &&
          !indexLists[position].empty())
        continue;
      if (extent >= 0 && extent != size)
        return run.error(op, "the operand shapes do not match: dimension " +
                                 Twine(position) + " has size " +
                                 Twine(extent) + " and size " + Twine(size));
      extent = size;
    }
  }
  for (int64_t extent : extents)
    if (extent < 0)
      return run.error(op, "cannot infer the extent of a dimension");
  // The other maps must stay inside.
  if (mayReachOutside || llvm::is_contained(extents, 0))
    return true;
  SmallVector<int64_t> lowest(numDims, 0), highest;
  for (int64_t extent : extents)
    highest.push_back(extent - 1);
  for (unsigned dim = 0; dim < indexLists.size(); ++dim)
    if (!indexLists[dim].empty()) {
      lowest[dim] = *llvm::min_element(indexLists[dim]);
      highest[dim] = *llvm::max_element(indexLists[dim]);
    }
  for (auto [map, view] : llvm::zip_equal(maps, operands)) {
    if (!view)
      continue;
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), view->sizes)) {
      SmallVector<int64_t> coefficients(numDims, 0);
      int64_t low = 0;
      if (isa<AffineDimExpr>(expr) || !getLinear(expr, coefficients, low))
        continue;
      int64_t high = low;
      for (unsigned dim = 0; dim < numDims; ++dim) {
        int64_t factor = coefficients[dim];
        low += factor * (factor < 0 ? highest[dim] : lowest[dim]);
        high += factor * (factor < 0 ? lowest[dim] : highest[dim]);
      }
      if (low < 0 || high >= size)
        return run.error(op, "the operand shapes do not match: an index "
                             "reaches " +
                                 Twine(low < 0 ? low : high) +
                                 " in a dimension of size " + Twine(size));
    }
  }
  return true;
}

bool StructuredOp::getExtents(Run &run, ArrayRef<const View *> operands,
                              SmallVectorImpl<int64_t> &extents,
                              ArrayRef<ArrayRef<int64_t>> indexLists) const {
  return getIterationExtents(run, op, maps, operands, indexLists,
                             /*mayReachOutside=*/false, extents);
}

int64_t StructuredOp::getCost(ArrayRef<int64_t> extents) const {
  double points = 1;
  for (int64_t extent : extents)
    points *= static_cast<double>(extent);
  double each = isContraction ? 1.0
                : handsOn     ? 2.0
                              : static_cast<double>(body->code.cost());
  return static_cast<int64_t>(std::min(points * each, 1e18));
}

bool tessera::reference::getAccess(const View &view, AffineMap map,
                                   Access &access,
                                   ArrayRef<ArrayRef<int64_t>> indexLists) {
  unsigned dims = map.getNumDims();
  llvm::SmallBitVector summed = getSummedDims(map);
  if (!indexLists.empty() && summed.any()) {
    access.indices.resize(dims);
    for (unsigned dim : summed.set_bits())
      access.indices[dim] = indexLists[dim];
  }
  access.view = &view;
  access.base = view.offset;
  access.strides.assign(dims, 0);
  access.uses.resize(dims);
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), view.strides)) {
    SmallVector<int64_t> coefficients(dims, 0);
    int64_t constant = 0;
    if (!getLinear(expr, coefficients, constant))
      return false;
    access.base += constant * stride;
    for (unsigned dim = 0; dim < dims; ++dim) {
      access.strides[dim] += coefficients[dim] * stride;
      if (coefficients[dim] != 0)
        access.uses.set(dim);
    }
  }
  return true;
}

bool tessera::reference::getPointAddress(Run &run, Operation *op,
                                         const View &view, AffineMap map,
                                         const llvm::SmallBitVector &summed,
                                         ArrayRef<int64_t> point,
                                         ArrayRef<int64_t> shown,
                                         int64_t &address) {
  address = view.offset;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    std::optional<int64_t> index = dim && !summed.test(dim.getPosition())
                                       ? point[dim.getPosition()]
                                       : evaluate(expr, shown, {});
    if (!index || *index < 0 || *index >= view.sizes[i])
      return run.error(op, "an index is out of bounds: dimension " + Twine(i) +
                               " has size " + Twine(view.sizes[i]));
    address += *index * view.strides[i];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
/// Where one of the host's threads is in an iteration space.
struct Walk {
  Frame &frame;
  /// The indices in the operands, and what linalg.index sees.
  SmallVector<int64_t> point, shown;
  /// Per operand.
  SmallVector<int64_t, 8> addresses;
  /// Per output, of the reduction that is under way.
  SmallVector<FoldBound, 1> bounds;
};

/// The loops around a body.
struct Nest {
  const StructuredOp &structured;
  ArrayRef<ViewRef> views;
  ArrayRef<Number> scalars;
  ArrayRef<ArrayRef<int64_t>> indexLists;
  ArrayRef<int64_t> extents;
  /// Parallel dimensions first.
  SmallVector<unsigned> order;
  unsigned numParallel = 0;
  /// Per operand; where its map is not linear, `isLinear` is false.
  SmallVector<Access> accesses;
  SmallVector<bool> isLinear;
  SmallVector<llvm::SmallBitVector> summed;
  /// Outputs into an element of which all steps of a reduction go.
  SmallVector<unsigned, 1> folded;

  void findFolds();
  bool runPoint(Walk &walk) const;
  void moveTo(unsigned dim, int64_t i, ArrayRef<int64_t> start,
              Walk &walk) const;
  bool runFrom(Walk &walk, unsigned level) const;
  void copyFrom(unsigned level, int64_t source, int64_t target) const;
};
} // namespace

void Nest::findFolds() {
  if (numParallel == order.size())
    return;
  for (unsigned i = 0; i < structured.folds.size(); ++i) {
    unsigned operand = structured.numInputs + i;
    bool moves = false;
    for (unsigned dim : ArrayRef(order).drop_front(numParallel))
      moves |= accesses[operand].uses.test(dim);
    if (structured.folds[i] && isLinear[operand] && !moves)
      folded.push_back(i);
  }
}

bool Nest::runPoint(Walk &walk) const {
  const Code &code = structured.body->code;
  Frame &frame = walk.frame;
  for (unsigned i = 0; i < views.size(); ++i) {
    Number &argument = frame.number(code.arguments[i]);
    if (!views[i]) {
      argument = scalars[i];
      continue;
    }
    if (!isLinear[i] &&
        !getPointAddress(*frame.run, structured.op, *views[i],
                         structured.maps[i], summed[i], walk.point, walk.shown,
                         walk.addresses[i]))
      return false;
    argument = views[i]->load(walk.addresses[i]);
  }
  if (!code.run(frame))
    return false;
  for (unsigned i : folded)
    walk.bounds[i].step(frame.number(structured.folds[i]->term),
                        frame.number(code.yields[i].slot));
  for (unsigned i = structured.numInputs; i < views.size(); ++i)
    views[i]->store(walk.addresses[i],
                    frame.number(code.yields[i - structured.numInputs].slot));
  return true;
}

/// To point `i` of a dimension, from addresses at its point 0.
void Nest::moveTo(unsigned dim, int64_t i, ArrayRef<int64_t> start,
                  Walk &walk) const {
  walk.point[dim] = i;
  walk.shown[dim] =
      indexLists.empty() || indexLists[dim].empty() ? i : indexLists[dim][i];
  for (size_t operand = 0; operand < start.size(); ++operand)
    if (views[operand] && isLinear[operand])
      walk.addresses[operand] =
          start[operand] + accesses[operand].getOffset(dim, i);
}

bool Nest::runFrom(Walk &walk, unsigned level) const {
  if (level == order.size())
    return runPoint(walk);
  auto element = [&](unsigned output) {
    unsigned operand = structured.numInputs + output;
    return std::make_pair(views[operand].get(), walk.addresses[operand]);
  };
  bool isReduction = level == numParallel;
  if (isReduction)
    for (unsigned i : folded) {
      auto [view, address] = element(i);
      walk.bounds[i] = FoldBound(*structured.folds[i], view->load(address));
    }
  unsigned dim = order[level];
  SmallVector<int64_t, 8> start(walk.addresses);
  for (int64_t i = 0; i < extents[dim]; ++i) {
    moveTo(dim, i, start, walk);
    if (!runFrom(walk, level + 1))
      return false;
  }
  walk.addresses = start;
  if (isReduction)
    for (unsigned i : folded) {
      auto [view, address] = element(i);
      Number result = view->load(address);
      result.error = walk.bounds[i].finish(result);
      view->store(address, result);
    }
  return true;
}

/// For a body that hands an input on.
void Nest::copyFrom(unsigned level, int64_t source, int64_t target) const {
  const Access &from = accesses[*structured.handsOn];
  const Access &to = accesses.back();
  if (level == order.size()) {
    to.view->store(target, from.view->load(source));
    return;
  }
  unsigned dim = order[level];
  if (level + 1 < order.size()) {
    for (int64_t i = 0; i < extents[dim]; ++i)
      copyFrom(level + 1, source + from.getOffset(dim, i),
               target + to.getOffset(dim, i));
    return;
  }
  for (int64_t i = 0; i < extents[dim]; ++i)
    to.view->store(target + to.getOffset(dim, i),
                   from.view->load(source + from.getOffset(dim, i)));
}

/// As a batch of matrix products.
bool StructuredOp::evaluateContraction(Frame &frame, ArrayRef<Access> accesses,
                                       ArrayRef<Number> scalars,
                                       ArrayRef<int64_t> extents) const {
  Contraction contraction;
  contraction.extents.assign(extents.begin(), extents.end());
  contraction.a = accesses[factorA];
  contraction.b = accesses[factorB];
  contraction.output = accesses.back();
  setFactors(contraction, scalars);
  contraction.tf32 = mayUseTf32 && frame.run->options.permitsTf32();
  return contract(*frame.run, op, contraction);
}

void StructuredOp::setFactors(Contraction &contraction,
                              ArrayRef<Number> scalars) const {
  contraction.convertA = convertA;
  contraction.convertB = convertB;
  if (zeroA)
    contraction.convertA.zeroPoint = scalars[*zeroA].i;
  if (zeroB)
    contraction.convertB.zeroPoint = scalars[*zeroB].i;
  contraction.arithmetic = arithmetic;
}

bool StructuredOp::evaluate(Frame &frame, ArrayRef<ViewRef> views,
                            ArrayRef<Number> scalars,
                            ArrayRef<ArrayRef<int64_t>> indexLists) const {
  Run &run = *frame.run;
  SmallVector<int64_t> extents;
  if (!getExtents(run, shapesOf(views), extents, indexLists))
    return false;
  if (llvm::is_contained(extents, 0))
    return true;

  Nest nest{*this, views, scalars, indexLists, extents, {}, 0, {}, {}, {}, {}};
  for (auto [map, view] : llvm::zip_equal(maps, views)) {
    Access access;
    nest.isLinear.push_back(!view || getAccess(*view, map, access, indexLists));
    nest.accesses.push_back(std::move(access));
    nest.summed.push_back(getSummedDims(map));
  }
  // Matrix products that are worth the preparation.
  bool isProduct = isContraction && views[factorA] && views[factorB] &&
                   llvm::all_of(nest.isLinear, [](bool b) { return b; }) &&
                   maps.back().isProjectedPermutation();
  for (std::optional<unsigned> zero : {zeroA, zeroB})
    isProduct =
        isProduct && (!zero || (!views[*zero] && scalars[*zero].error == 0));
  if (isProduct) {
    int64_t size = 1;
    for (unsigned dim = 0; dim < extents.size(); ++dim)
      if (!nest.accesses[factorA].uses.test(dim) ||
          !nest.accesses[factorB].uses.test(dim) ||
          !nest.accesses.back().uses.test(dim))
        size *= extents[dim];
    if (size >= 16)
      return evaluateContraction(frame, nest.accesses, scalars, extents);
  }

  if (!run.spend(getCost(extents), op))
    return false;
  for (bool parallel : {true, false})
    for (unsigned dim = 0; dim < extents.size(); ++dim)
      if (isParallel[dim] == parallel)
        nest.order.push_back(dim);
  nest.numParallel = llvm::count(isParallel, true);
  nest.findFolds();
  bool copies = handsOn && *handsOn >= 0 && views[*handsOn] &&
                nest.isLinear[*handsOn] && nest.isLinear.back() &&
                !nest.order.empty();
  bool fills = handsOn && (*handsOn < 0 || !views[*handsOn]) &&
               views.back()->isDense() && maps.back().isProjectedPermutation();
  if (fills) {
    FrameOwner owner(*body, frame);
    Number value = *handsOn < 0 ? owner.frame.number(body->code.yields[0].slot)
                                : scalars[*handsOn];
    views.back()->fill(value);
    return true;
  }

  // The outermost loop is cut into pieces for the host's threads. A nest that
  // reads and writes one memory at other positions is not.
  bool splits = !nest.order.empty() && isParallel[nest.order.front()];
  for (unsigned i = 0; i < numInputs && splits; ++i)
    for (unsigned o = numInputs; o < views.size(); ++o)
      if (views[i] && views[i]->storage == views[o]->storage &&
          maps[i] != maps[o])
        splits = false;
  unsigned outer = splits ? nest.order.front() : 0;
  int64_t pieces =
      splits ? std::min<int64_t>(extents[outer], run.threads * 4) : 1;
  if (getCost(extents) < 100'000)
    pieces = 1;
  SmallVector<int64_t, 8> bases;
  for (const Access &access : nest.accesses)
    bases.push_back(access.base);
  return run.parallel(pieces, [&](int64_t piece) {
    FrameOwner owner(*body, frame);
    Walk walk{owner.frame, SmallVector<int64_t>(extents.size(), 0),
              SmallVector<int64_t>(extents.size(), 0), bases,
              SmallVector<FoldBound, 1>(folds.size())};
    owner.frame.loopIndices = walk.shown.data();
    if (pieces == 1) {
      if (!copies)
        return nest.runFrom(walk, 0);
      nest.copyFrom(0, bases[*handsOn], bases.back());
      return true;
    }
    // The outermost loop here, since its indices do not start at 0.
    int64_t first = extents[outer] * piece / pieces;
    int64_t last = extents[outer] * (piece + 1) / pieces;
    for (int64_t i = first; i < last; ++i) {
      nest.moveTo(outer, i, bases, walk);
      if (copies)
        nest.copyFrom(1, walk.addresses[*handsOn], walk.addresses.back());
      else if (!nest.runFrom(walk, 1))
        return false;
    }
    return true;
  });
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static InstrPtr compileIndex(linalg::IndexOp op, Scope &scope) {
  Slot result = scope.define(op.getResult());
  uint64_t dim = op.getDim();
  return makeInstr([=](Frame &frame) {
    frame.setInt(result, frame.loopIndices[dim]);
    return true;
  });
}

InstrPtr tessera::reference::compileLinalg(Operation *op, Scope &scope) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  std::shared_ptr<StructuredOp> structured = makeStructuredOp(linalgOp, scope);
  if (!structured)
    return nullptr;
  SmallVector<Code::Use> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(scope.use(operand));
  SmallVector<Slot> results = scope.define(op->getResults());
  bool onTensors = linalgOp.hasPureTensorSemantics();
  if (!onTensors && !results.empty())
    return nullptr;
  return makeInstr([=](Frame &frame) {
    SmallVector<ViewRef> views;
    SmallVector<Number> scalars;
    for (unsigned i = 0; i < operands.size(); ++i) {
      Code::Use use = operands[i];
      scalars.push_back(use.slot.isView ? Number::ofInt(0)
                                        : frame.number(use.slot));
      unsigned output = i - structured->numInputs;
      if (!use.slot.isView)
        views.push_back(nullptr);
      else if (i < structured->numInputs || !onTensors)
        views.push_back(frame.view(use.slot));
      else if (structured->readsOutput[output] ||
               !structured->maps[i].isPermutation())
        views.push_back(takeForUpdate(frame, use));
      else
        views.push_back(View::make(*frame.view(use.slot)->format,
                                   frame.view(use.slot)->sizes));
    }
    if (!structured->evaluate(frame, views, scalars))
      return false;
    for (unsigned i = 0; i < results.size(); ++i)
      frame.view(results[i]) = views[structured->numInputs + i];
    return true;
  });
}

void tessera::reference::addLinalgHandlers(Registry &registry) {
  registry.add<linalg::IndexOp>(compileIndex);
}
