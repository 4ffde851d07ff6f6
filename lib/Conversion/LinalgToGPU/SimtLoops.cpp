//===- SimtLoops.cpp - Bodies with loops, for several points at once ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a window loops over the elements that it reads:
//
//   %c = linalg.index 3
//   %sum = scf.for ... iter_args(%partial = %zero) -> f32 {
//     %element = memref.load %image[%n, %y, %x, %c]
//     ...
//   }
//
// For several points along dimension 3, a load whose last index is %c reads a
// vector, and so does all that depends on it. Indices, bounds and conditions
// stay scalars.
//
// A short loop over the last index of what it reads, as over the channels of a
// group, reads all elements of its iterations in one access.
//
// If the window slides along the dimension, as with the channels first, the
// points are a strip, and each value is a scalar of one of them. A load whose
// index is known to be within the strip,
//
//   %element = memref.load %image[%n, %c, %y, %x + 1]
//
// reads a vector, which has the elements of the other points and columns of the
// window as well. Those beyond its ends are read alone.
//
// A thread may also have several lines of the output, along which the outer
// loop slides. Its iterations for all of them are in the order of the rows of
// the image, so that each row is read and converted once:
//
//   row 0   line 0, iteration 0
//   row 1   line 0, iteration 1   line 1, iteration 0
//   row 2   line 0, iteration 2   line 1, iteration 1   line 2, iteration 0
//   ...     line 0 ends
//
//===----------------------------------------------------------------------===//

#include "Simt.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

/// Loops of more iterations are not unrolled.
static constexpr int64_t mostIterations = 8;

namespace {
/// Which values of a body are vectors, if it runs for several points along a
/// dimension.
class WideValues {
public:
  WideValues(Block &body, unsigned dim) : body(body), dim(dim) {
    wide.insert_range(body.getArguments());
    // The values that a loop carries may become wide by its body.
    do {
      changed = false;
      supported = visit(body);
    } while (supported && changed);
  }

  bool isSupported() const { return supported; }
  bool contains(Value value) const { return wide.contains(value); }
  /// Whether `value` is the index along the dimension.
  bool isLane(Value value) const {
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && index.getDim() == dim;
  }
  /// The loads of vectors.
  ArrayRef<memref::LoadOp> getLoads() const { return loads.getArrayRef(); }
  /// Bounds with which the index is compared: if all are multiples of the
  /// width, a vector is on one side of them.
  ArrayRef<int64_t> getBounds() const { return bounds; }

private:
  bool visit(Block &block) {
    return llvm::all_of(block.without_terminator(),
                        [&](Operation &op) { return visit(op); });
  }
  bool visit(Operation &op);
  bool visit(memref::LoadOp load);
  bool visit(scf::ForOp loop);
  bool visit(scf::IfOp branch);
  bool isComparedWithBound(Operation &op);

  bool dependsOnLane(Value value) const {
    return isLane(value) || wide.contains(value);
  }
  void add(Value value) { changed |= wide.insert(value).second; }

  Block &body;
  unsigned dim;
  DenseSet<Value> wide;
  llvm::SetVector<memref::LoadOp> loads;
  SmallVector<int64_t> bounds;
  bool changed = false, supported = false;
};
} // namespace

bool WideValues::visit(memref::LoadOp load) {
  OperandRange indices = load.getIndices();
  if (llvm::none_of(indices, [&](Value i) { return dependsOnLane(i); }))
    return true;
  if (llvm::any_of(indices.drop_back(),
                   [&](Value i) { return dependsOnLane(i); }) ||
      !isLane(indices.back()) ||
      body.getParent()->isAncestor(load.getMemRef().getParentRegion()))
    return false;
  loads.insert(load);
  add(load.getResult());
  return true;
}

bool WideValues::visit(scf::ForOp loop) {
  for (Value bound :
       {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (dependsOnLane(bound))
      return false;
  auto carry = [&](ValueRange values) {
    for (auto [value, argument, result] :
         llvm::zip_equal(values, loop.getRegionIterArgs(), loop.getResults()))
      if (dependsOnLane(value) || wide.contains(argument)) {
        add(argument);
        add(result);
      }
  };
  carry(loop.getInitArgs());
  if (!visit(*loop.getBody()))
    return false;
  carry(loop.getYieldedValues());
  return true;
}

bool WideValues::visit(scf::IfOp branch) {
  if (dependsOnLane(branch.getCondition()))
    return false;
  for (Region *region : branch.getRegions()) {
    if (region->empty())
      continue;
    if (!visit(region->front()))
      return false;
    for (auto [value, result] :
         llvm::zip_equal(region->front().getTerminator()->getOperands(),
                         branch.getResults()))
      if (dependsOnLane(value))
        add(result);
  }
  return true;
}

/// Whether `op` compares the index with a constant that all points of a vector
/// are below, or none.
bool WideValues::isComparedWithBound(Operation &op) {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare || !isLane(compare.getLhs()) ||
      (compare.getPredicate() != arith::CmpIPredicate::ult &&
       compare.getPredicate() != arith::CmpIPredicate::slt))
    return false;
  std::optional<int64_t> bound = getConstantIntValue(compare.getRhs());
  if (!bound || *bound <= 0)
    return false;
  bounds.push_back(*bound);
  return true;
}

bool WideValues::visit(Operation &op) {
  if (isa<linalg::IndexOp>(op) || isComparedWithBound(op))
    return true;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return visit(load);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visit(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visit(branch);
  if (op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
    return false;
  if (llvm::none_of(op.getOperands(),
                    [&](Value value) { return dependsOnLane(value); }))
    return true;
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (!OpTrait::hasElementwiseMappableTraits(&op) ||
      !llvm::all_of(op.getOperandTypes(), isScalar) ||
      !llvm::all_of(op.getResultTypes(), isScalar))
    return false;
  for (Value result : op.getResults())
    add(result);
  return true;
}

/// Whether `value` depends on the index along `dim` and on an iteration of a
/// loop, or of `only` that one.
static bool isSliding(Value value, unsigned dim, scf::ForOp only = {}) {
  bool hasDim = false, hasLoop = false;
  llvm::SetVector<Value> list;
  list.insert(value);
  for (size_t i = 0; i < list.size(); ++i) {
    Value next = list[i];
    Operation *op = next.getDefiningOp();
    if (!op) {
      auto loop = dyn_cast<scf::ForOp>(next.getParentBlock()->getParentOp());
      hasLoop |=
          loop && loop.getInductionVar() == next && (!only || loop == only);
    } else if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      hasDim |= index.getDim() == dim;
    } else {
      list.insert_range(op->getOperands());
    }
  }
  return hasDim && hasLoop;
}

std::optional<unsigned> simt::getSlidingDim(Block &body,
                                            ArrayRef<unsigned> dims) {
  SmallVector<memref::LoadOp> loads;
  body.walk([&](memref::LoadOp load) { loads.push_back(load); });
  for (unsigned dim : llvm::reverse(dims))
    for (memref::LoadOp load : loads)
      if (llvm::any_of(load.getIndices(),
                       [&](Value index) { return isSliding(index, dim); }))
        return dim;
  return std::nullopt;
}

std::optional<int64_t> simt::getVectorWidthOfLoops(Block &body, unsigned dim,
                                                   const Chip &chip) {
  if (!llvm::all_of(body.getArgumentTypes(),
                    [](Type type) { return type.isIntOrIndexOrFloat(); }))
    return std::nullopt;
  WideValues values(body, dim);
  if (!values.isSupported())
    return std::nullopt;
  int64_t width = chip.accessBytes;
  for (memref::LoadOp load : values.getLoads()) {
    unsigned rank = load.getMemRefType().getRank();
    Operand operand{load.getMemRef(),
                    AffineMap::getMultiDimIdentityMap(rank, load.getContext())};
    width = std::min(width, getVectorWidth({operand}, rank - 1, chip));
  }
  for (int64_t bound : values.getBounds())
    while (bound % width != 0)
      width /= 2;
  return width;
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

/// Adds the values of `block` that depend on the index along `dim`.
static bool addDependent(Block &block, unsigned dim, DenseSet<Value> &values) {
  bool changed = false;
  auto depends = [&](Value value) { return values.contains(value); };
  auto add = [&](Value value) { changed |= values.insert(value).second; };
  for (Operation &op : block.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      if (index.getDim() == dim)
        add(index.getResult());
      continue;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      changed |= addDependent(*loop.getBody(), dim, values);
      for (auto [init, argument, next, result] :
           llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                           loop.getYieldedValues(), loop.getResults()))
        if (depends(init) || depends(argument) || depends(next)) {
          add(argument);
          add(result);
        }
      continue;
    }
    if (llvm::any_of(op.getOperands(), depends))
      llvm::for_each(op.getResults(), add);
  }
  return changed;
}

/// The values of `body`, its arguments among them, that depend on the index
/// along `dim`.
static DenseSet<Value> getDependent(Block &body, unsigned dim) {
  DenseSet<Value> values;
  values.insert_range(body.getArguments());
  while (addDependent(body, dim, values))
    continue;
  return values;
}

/// The index that `value` is within the bounds that it is clamped to.
static Value skipClamps(Value value) {
  while (true) {
    Operation *op = value.getDefiningOp();
    if (!isa_and_present<arith::MaxSIOp, arith::MinSIOp>(op))
      return value;
    unsigned bound = getConstantIntValue(op->getOperand(0)) ? 0 : 1;
    if (!getConstantIntValue(op->getOperand(bound)))
      return value;
    value = op->getOperand(1 - bound);
  }
}

/// By how much `value` grows with the index along `dim`; nothing if that is not
/// a constant.
static std::optional<int64_t> getSlope(Value value, unsigned dim) {
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return index.getDim() == dim ? 1 : 0;
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return std::nullopt;
  AffineMap map = apply.getAffineMap();
  MLIRContext *context = map.getContext();
  // Operand i is a dimension of its own; those of the index grow by one.
  SmallVector<AffineExpr> dims, symbols, next;
  for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
    AffineExpr expr = getAffineDimExpr(static_cast<unsigned>(i), context);
    (i < map.getNumDims() ? dims : symbols).push_back(expr);
    auto index = operand.getDefiningOp<linalg::IndexOp>();
    next.push_back(index && index.getDim() == dim ? expr + 1 : expr);
  }
  AffineExpr here = map.getResult(0).replaceDimsAndSymbols(dims, symbols);
  AffineExpr step = simplifyAffineExpr(here.replaceDims(next) - here,
                                       next.size(), /*numSymbols=*/0);
  if (auto constant = dyn_cast<AffineConstantExpr>(step))
    return constant.getValue();
  return std::nullopt;
}

bool simt::slidesByOuterLoop(Block &body, unsigned dim) {
  auto loops = body.getOps<scf::ForOp>();
  if (!llvm::hasSingleElement(loops))
    return false;
  scf::ForOp loop = *loops.begin();
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count || count->ule(1) || count->ugt(mostIterations) ||
      !getConstantIntValue(loop.getLowerBound()) ||
      !getConstantIntValue(loop.getStep()))
    return false;
  bool slides = false;
  loop.walk([&](memref::LoadOp load) {
    slides |= llvm::any_of(load.getIndices(), [&](Value index) {
      return isSliding(index, dim, loop);
    });
  });
  return slides;
}

int64_t simt::getSlidingStride(Block &body, unsigned dim) {
  int64_t stride = 1;
  body.walk([&](memref::LoadOp load) {
    for (Value index : load.getIndices())
      if (isSliding(index, dim))
        stride = std::max(stride, getSlope(skipClamps(index), dim).value_or(1));
  });
  return stride;
}

std::optional<int64_t> simt::getStripWidth(Block &body, unsigned dim,
                                           int64_t extent, const Chip &chip) {
  DenseSet<Value> values = getDependent(body, dim);
  auto depends = [&](Value value) { return values.contains(value); };
  int64_t width = chip.accessBytes;
  bool slides = false;
  WalkResult result = body.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      // The columns of the window are known only in loops that are unrolled.
      std::optional<APInt> count = loop.getStaticTripCount();
      bool isInner = loop.getBody()->getOps<scf::ForOp>().empty();
      return count && (!isInner || count->ule(mostIterations)) &&
                     llvm::none_of(loop->getOperands().take_front(3), depends)
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    }
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load)
      return op->getNumRegions() == 0 && (isMemoryEffectFree(op) ||
                                          op->hasTrait<OpTrait::IsTerminator>())
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    OperandRange indices = load.getIndices();
    if (llvm::none_of(indices, depends))
      return WalkResult::advance();
    std::optional<int64_t> slope = getSlope(skipClamps(indices.back()), dim);
    if (llvm::any_of(indices.drop_back(), depends) || !slope || *slope < 1)
      return WalkResult::interrupt();
    unsigned rank = load.getMemRefType().getRank();
    Operand operand{load.getMemRef(),
                    AffineMap::getMultiDimIdentityMap(rank, load.getContext())};
    int64_t widest = getVectorWidth({operand}, rank - 1, chip);
    width = std::min(width, std::max<int64_t>(widest / *slope, 1));
    slides |= isSliding(indices.back(), dim);
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || !slides)
    return std::nullopt;
  width = llvm::bit_floor(static_cast<uint64_t>(width));
  while (width > 1 && extent % width != 0)
    width /= 2;
  return width > 1 ? std::optional<int64_t>(width) : std::nullopt;
}

namespace {
/// The values of a body at one point of a strip that are `scale * first +
/// offset`, where `first` is the index of the strip's first point.
class StripIndices {
public:
  struct Index {
    int64_t scale, offset;
    bool operator==(const Index &other) const {
      return scale == other.scale && offset == other.offset;
    }
  };

  /// The last strip begins at `last`; `number` is that of the point.
  StripIndices(int64_t last, int64_t number) : last(last), number(number) {}

  std::optional<Index> get(Value value) const {
    auto known = indices.find(value);
    return known == indices.end() ? std::nullopt
                                  : std::optional<Index>(known->second);
  }
  /// Notes the result of `op` if it is such a value. `mapping` has the
  /// constants of unrolled loops.
  void visit(Operation &op, unsigned dim, const IRMapping &mapping);
  /// Forgets what was known of `value`, which becomes another one.
  void forget(Value value) { indices.erase(value); }

private:
  std::optional<Index> apply(affine::AffineApplyOp op,
                             const IRMapping &mapping) const;
  std::optional<Index> clamp(Operation &op) const;

  int64_t last, number;
  DenseMap<Value, Index> indices;
};
} // namespace

std::optional<StripIndices::Index>
StripIndices::apply(affine::AffineApplyOp op, const IRMapping &mapping) const {
  AffineMap map = op.getAffineMap();
  AffineExpr first = getAffineDimExpr(0, map.getContext());
  SmallVector<AffineExpr> dims, symbols;
  for (auto [i, operand] : llvm::enumerate(op.getMapOperands())) {
    AffineExpr expr;
    if (std::optional<Index> index = get(operand))
      expr = first * index->scale + index->offset;
    else if (std::optional<int64_t> constant =
                 getConstantIntValue(mapping.lookupOrDefault(operand)))
      expr = getAffineConstantExpr(*constant, map.getContext());
    else
      return std::nullopt;
    (i < map.getNumDims() ? dims : symbols).push_back(expr);
  }
  AffineExpr here = map.getResult(0).replaceDimsAndSymbols(dims, symbols);
  auto scale = dyn_cast<AffineConstantExpr>(
      simplifyAffineExpr(here.replace(first, first + 1) - here, 1, 0));
  auto offset = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      here.replace(first, getAffineConstantExpr(0, map.getContext())), 1, 0));
  if (!scale || !offset)
    return std::nullopt;
  return Index{scale.getValue(), offset.getValue()};
}

std::optional<StripIndices::Index> StripIndices::clamp(Operation &op) const {
  for (unsigned side : {0, 1}) {
    std::optional<Index> index = get(op.getOperand(side));
    std::optional<int64_t> bound = getConstantIntValue(op.getOperand(1 - side));
    if (!index || !bound || index->scale < 0)
      continue;
    bool isInside = isa<arith::MaxSIOp>(op)
                        ? index->offset >= *bound
                        : index->scale * last + index->offset <= *bound;
    return isInside ? index : std::nullopt;
  }
  return std::nullopt;
}

void StripIndices::visit(Operation &op, unsigned dim,
                         const IRMapping &mapping) {
  std::optional<Index> index;
  if (auto lane = dyn_cast<linalg::IndexOp>(op)) {
    if (lane.getDim() == dim)
      index = Index{1, number};
  } else if (auto map = dyn_cast<affine::AffineApplyOp>(op)) {
    index = apply(map, mapping);
  } else if (isa<arith::MaxSIOp, arith::MinSIOp>(op)) {
    index = clamp(op);
  }
  for (Value result : op.getResults())
    forget(result);
  if (index)
    indices[op.getResult(0)] = *index;
}

namespace {
/// Clones a body for the points of several positions at once: their loops are
/// one, so that LLVM sees which elements they share.
class LoopCloner {
public:
  LoopCloner(ImplicitLocOpBuilder &builder, Block &body,
             ArrayRef<Position> positions, MutableArrayRef<IRMapping> mappings,
             const Strip &strip, int64_t mostOfWindow, const Chip &chip)
      : builder(builder), positions(positions), mappings(mappings), chip(chip),
        strip(strip), mostOfWindow(mostOfWindow),
        values(body, positions.front().along) {
    if (strip.width == 1) {
      assert(values.isSupported() && "getVectorWidthOfLoops rejects this body");
      return;
    }
    dependent = getDependent(body, positions.front().along);
    for (size_t i = 0; i < positions.size(); ++i)
      inStrip.emplace_back(strip.extent - strip.width,
                           static_cast<int64_t>(i) % strip.width);
  }

  void clone(Block &block) {
    for (Operation &op : block.without_terminator())
      clone(op);
  }
  /// Clones `body` for lines, each of which has a part of the positions.
  void cloneLines(Block &body, const Lines &lines);

private:
  void clone(Operation &op);
  void clone(memref::LoadOp load);
  void clone(scf::ForOp loop);
  void clone(scf::IfOp branch);
  /// Clones an op for the points of strips.
  void cloneInStrips(Operation &op);
  /// The element that `load` reads at position `i`, from a vector of the
  /// strip's elements; null if it is not known to be one of them.
  Value loadInStrip(memref::LoadOp load, size_t i);
  bool isWide(Value value) const {
    return strip.width == 1 && values.contains(value);
  }
  /// Clones the body of `loop` once for each iteration, if they are few.
  bool unroll(scf::ForOp loop);
  /// Clones the ops of an innermost loop whose results are vectors of all
  /// `width` iterations, and those that are the same in all. Returns them.
  DenseSet<Operation *> cloneAcross(scf::ForOp loop, int64_t width);
  /// The clones of `value` for each position.
  Value getNarrow(Value value, size_t i) {
    return mappings[i].lookupOrDefault(value);
  }
  Value getWide(Value value, size_t i);
  /// The values that a loop carries, those of the first position first.
  SmallVector<Value> getCarried(ValueRange values, scf::ForOp loop);
  void setCarried(ValueRange values, ValueRange clones);
  /// Maps the index and the arguments of `loop`, whose bounds are constants, to
  /// those of iteration `n`.
  void beginIteration(scf::ForOp loop, int64_t n, ValueRange carried);

  ImplicitLocOpBuilder &builder;
  ArrayRef<Position> positions;
  MutableArrayRef<IRMapping> mappings;
  const Chip &chip;
  const Strip &strip;
  /// The most iterations of a loop that is unrolled, and of the loops in it.
  int64_t mostOfWindow;
  /// Without a strip: which values are vectors.
  WideValues values;
  /// With a strip: the values that are not the same at all of its points, and
  /// what is known of these at each position.
  DenseSet<Value> dependent;
  SmallVector<StripIndices> inStrip;
};
} // namespace

Value LoopCloner::getWide(Value value, size_t i) {
  const Position &position = positions[i];
  if (values.isLane(value))
    return emitIndex(builder, position, position.along);
  return broadcast(builder, getNarrow(value, i), position.width);
}

void LoopCloner::clone(memref::LoadOp load) {
  unsigned rank = load.getMemRefType().getRank();
  Operand operand{load.getMemRef(), AffineMap::getMultiDimIdentityMap(
                                        rank, builder.getContext())};
  for (size_t i = 0; i < positions.size(); ++i) {
    Position at{{}, rank - 1, positions[i].width};
    for (Value index : load.getIndices())
      at.index.push_back(getNarrow(index, i));
    mappings[i].map(load.getResult(), emitLoad(builder, operand, at));
  }
}

SmallVector<Value> LoopCloner::getCarried(ValueRange carried, scf::ForOp loop) {
  SmallVector<Value> clones;
  for (size_t i = 0; i < positions.size(); ++i)
    for (auto [value, argument] :
         llvm::zip_equal(carried, loop.getRegionIterArgs()))
      clones.push_back(isWide(argument) ? getWide(value, i)
                                        : getNarrow(value, i));
  return clones;
}

void LoopCloner::setCarried(ValueRange carried, ValueRange clones) {
  for (size_t i = 0; i < positions.size(); ++i)
    mappings[i].map(carried, clones.slice(i * carried.size(), carried.size()));
}

/// The iterations of `loop` and of the loops in it, if they are constant.
static std::optional<int64_t> countIterations(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count)
    return std::nullopt;
  int64_t inner = 1;
  for (auto nested : loop.getBody()->getOps<scf::ForOp>()) {
    std::optional<int64_t> iterations = countIterations(nested);
    if (!iterations)
      return std::nullopt;
    inner = std::max(inner, *iterations);
  }
  return count->getSExtValue() * inner;
}

namespace {
/// Which values of an innermost loop are vectors of its iterations, if a load
/// whose last index is that of the loop reads them all; and which are the same
/// in all iterations.
class ValuesAcross {
public:
  ValuesAcross(scf::ForOp loop, const WideValues &values, int64_t width,
               const Chip &chip)
      : loop(loop), values(values), width(width), chip(chip) {
    for (Operation &op : loop.getBody()->without_terminator())
      visit(op);
  }

  bool isAcross(Value value) const { return across.contains(value); }
  bool isAcross(Operation &op) const {
    return op.getNumResults() == 1 && isAcross(op.getResult(0));
  }
  bool isSame(Operation &op) const {
    return op.getNumResults() != 0 && same.contains(op.getResult(0));
  }

private:
  void visit(Operation &op);
  bool readsAll(memref::LoadOp load);
  bool isSame(Value value) {
    return !values.contains(value) &&
           (same.contains(value) ||
            !loop->isAncestor(value.getParentBlock()->getParentOp()));
  }

  scf::ForOp loop;
  const WideValues &values;
  int64_t width;
  const Chip &chip;
  DenseSet<Value> across, same;
};
} // namespace

bool ValuesAcross::readsAll(memref::LoadOp load) {
  OperandRange indices = load.getIndices();
  if (indices.empty() || indices.back() != loop.getInductionVar() ||
      values.contains(load.getResult()) ||
      !llvm::all_of(indices.drop_back(), [&](Value i) { return isSame(i); }))
    return false;
  unsigned rank = load.getMemRefType().getRank();
  Operand operand{load.getMemRef(),
                  AffineMap::getMultiDimIdentityMap(rank, load.getContext())};
  return getVectorWidth({operand}, rank - 1, chip) >= width;
}

void ValuesAcross::visit(Operation &op) {
  if (op.getNumRegions() != 0 || op.getNumResults() != 1 ||
      values.contains(op.getResult(0)))
    return;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (readsAll(load))
      across.insert(load.getResult());
    return;
  }
  if (!isMemoryEffectFree(&op))
    return;
  auto isKnown = [&](Value value) { return isSame(value) || isAcross(value); };
  if (llvm::all_of(op.getOperands(), [&](Value v) { return isSame(v); }))
    same.insert(op.getResult(0));
  else if (llvm::all_of(op.getOperands(), isKnown) &&
           OpTrait::hasElementwiseMappableTraits(&op) &&
           op.getResult(0).getType().isIntOrIndexOrFloat())
    across.insert(op.getResult(0));
}

/// Whether a load of `loop`, which has no others in it, reads the elements of
/// all iterations.
static bool readsAcross(scf::ForOp loop, const WideValues &values,
                        const Chip &chip) {
  std::optional<APInt> count = loop.getStaticTripCount();
  if (!count || !count->isPowerOf2() || *count == 1 ||
      getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1 ||
      !loop.getBody()->getOps<scf::ForOp>().empty())
    return false;
  ValuesAcross all(loop, values, count->getSExtValue(), chip);
  return llvm::any_of(loop.getBody()->getOps<memref::LoadOp>(),
                      [&](memref::LoadOp load) { return all.isAcross(*load); });
}

DenseSet<Operation *> LoopCloner::cloneAcross(scf::ForOp loop, int64_t width) {
  ValuesAcross all(loop, values, width, chip);
  DenseSet<Operation *> cloned;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (all.isSame(op)) {
      clone(op);
      cloned.insert(&op);
      continue;
    }
    if (!all.isAcross(op))
      continue;
    cloned.insert(&op);
    for (IRMapping &mapping : mappings) {
      if (auto load = dyn_cast<memref::LoadOp>(op)) {
        unsigned rank = load.getMemRefType().getRank();
        Position at{{}, rank - 1, width};
        for (Value index : load.getIndices().drop_back())
          at.index.push_back(mapping.lookupOrDefault(index));
        at.index.push_back(arith::ConstantIndexOp::create(builder, 0));
        Operand operand{load.getMemRef(), AffineMap::getMultiDimIdentityMap(
                                              rank, builder.getContext())};
        mapping.map(load.getResult(), emitLoad(builder, operand, at));
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : op.getOperands())
        operands.push_back(
            broadcast(builder, mapping.lookupOrDefault(operand), width));
      // One condition for all iterations remains one.
      if (auto select = dyn_cast<arith::SelectOp>(op))
        if (Value condition = select.getCondition(); !all.isAcross(condition))
          operands[0] = mapping.lookupOrDefault(condition);
      mapping.map(op.getResults(),
                  cloneWide(builder, op, operands, width)->getResults());
    }
  }
  return cloned;
}

void LoopCloner::beginIteration(scf::ForOp loop, int64_t n,
                                ValueRange carried) {
  int64_t first = *getConstantIntValue(loop.getLowerBound()),
          step = *getConstantIntValue(loop.getStep());
  Value index = arith::ConstantIndexOp::create(builder, first + n * step);
  for (IRMapping &mapping : mappings)
    mapping.map(loop.getInductionVar(), index);
  setCarried(loop.getRegionIterArgs(), carried);
}

void LoopCloner::cloneLines(Block &body, const Lines &lines) {
  scf::ForOp loop = *body.getOps<scf::ForOp>().begin();
  for (Operation &op : llvm::make_range(body.begin(), loop->getIterator()))
    clone(op);
  int64_t iterations = loop.getStaticTripCount()->getSExtValue();
  // By the row of the image, the lines in their order. Windows that are further
  // apart share no rows.
  int64_t stride = std::min(lines.stride, iterations);
  SmallVector<std::pair<int64_t, int64_t>> order;
  for (int64_t row = 0; row < stride * lines.count + iterations; ++row)
    for (int64_t line = 0; line < lines.count; ++line)
      if (int64_t n = row - stride * line; n >= 0 && n < iterations)
        order.push_back({line, n});
  ArrayRef<Position> allPositions = positions;
  MutableArrayRef<IRMapping> allMappings = mappings;
  size_t each = allPositions.size() / static_cast<size_t>(lines.count);
  SmallVector<SmallVector<Value>> carried(static_cast<size_t>(lines.count));
  for (auto [line, n] : order) {
    size_t begin = static_cast<size_t>(line) * each;
    positions = allPositions.slice(begin, each);
    mappings = allMappings.slice(begin, each);
    SmallVector<Value> &ofLine = carried[static_cast<size_t>(line)];
    if (n == 0)
      ofLine = getCarried(loop.getInitArgs(), loop);
    beginIteration(loop, n, ofLine);
    clone(*loop.getBody());
    ofLine = getCarried(loop.getYieldedValues(), loop);
    if (n + 1 != iterations)
      continue;
    setCarried(loop.getResults(), ofLine);
    for (Operation &op :
         llvm::make_range(std::next(loop->getIterator()), body.end()))
      if (!op.hasTrait<OpTrait::IsTerminator>())
        clone(op);
  }
  positions = allPositions;
  mappings = allMappings;
}

bool LoopCloner::unroll(scf::ForOp loop) {
  // A row of a window, with the channels of a group at each position.
  constexpr int64_t mostOfRow = 40;
  std::optional<APInt> count = loop.getStaticTripCount();
  std::optional<int64_t> all = countIterations(loop);
  if (!count || count->ugt(mostIterations) ||
      !getConstantIntValue(loop.getLowerBound()) ||
      !getConstantIntValue(loop.getStep()) || !all)
    return false;
  int64_t width = count->getSExtValue();
  auto reads = [&](scf::ForOp inner) {
    return strip.width == 1 && readsAcross(inner, values, chip);
  };
  bool isRow = !loop.getBody()->getOps<scf::ForOp>().empty() &&
               llvm::all_of(loop.getBody()->getOps<scf::ForOp>(), reads);
  if (*all > (isRow ? mostOfRow : mostOfWindow))
    return false;
  DenseSet<Operation *> cloned;
  SmallVector<IRMapping> vectors;
  if (reads(loop)) {
    cloned = cloneAcross(loop, width);
    llvm::append_range(vectors, mappings);
  }
  SmallVector<Value> carried = getCarried(loop.getInitArgs(), loop);
  for (int64_t n = 0; n < width; ++n) {
    beginIteration(loop, n, carried);
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (!cloned.contains(&op)) {
        clone(op);
        continue;
      }
      for (auto [mapping, vector] : llvm::zip_equal(mappings, vectors))
        for (Value result : op.getResults())
          if (Value all = vector.lookup(result); isa<VectorType>(all.getType()))
            mapping.map(result, vector::ExtractOp::create(builder, all, n));
    }
    carried = getCarried(loop.getYieldedValues(), loop);
  }
  setCarried(loop.getResults(), carried);
  return true;
}

void LoopCloner::clone(scf::ForOp loop) {
  if (unroll(loop))
    return;
  auto copy = scf::ForOp::create(builder, getNarrow(loop.getLowerBound(), 0),
                                 getNarrow(loop.getUpperBound(), 0),
                                 getNarrow(loop.getStep(), 0),
                                 getCarried(loop.getInitArgs(), loop));
  for (IRMapping &mapping : mappings)
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
  setCarried(loop.getRegionIterArgs(), copy.getRegionIterArgs());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(copy.getBody());
  clone(*loop.getBody());
  // A loop without values has its terminator already.
  if (SmallVector<Value> results = getCarried(loop.getYieldedValues(), loop);
      !results.empty())
    scf::YieldOp::create(builder, results);
  setCarried(loop.getResults(), copy.getResults());
}

void LoopCloner::clone(scf::IfOp branch) {
  // One branch for each position.
  ArrayRef<Position> allPositions = positions;
  MutableArrayRef<IRMapping> allMappings = mappings;
  for (size_t i = 0; i < allPositions.size(); ++i) {
    positions = allPositions.slice(i, 1);
    mappings = allMappings.slice(i, 1);
    SmallVector<Type> types;
    for (Value result : branch.getResults())
      types.push_back(
          values.contains(result) && positions[0].width > 1
              ? VectorType::get(positions[0].width, result.getType())
              : result.getType());
    bool hasElse = !branch.getElseRegion().empty();
    auto copy =
        scf::IfOp::create(builder, types, getNarrow(branch.getCondition(), 0),
                          /*addThenBlock=*/true, hasElse);
    OpBuilder::InsertionGuard guard(builder);
    for (auto [from, to] :
         llvm::zip_equal(branch.getRegions(), copy.getRegions())) {
      if (from->empty())
        continue;
      builder.setInsertionPointToStart(&to->front());
      clone(from->front());
      SmallVector<Value> yielded;
      for (auto [value, result] :
           llvm::zip_equal(from->front().getTerminator()->getOperands(),
                           branch.getResults()))
        yielded.push_back(values.contains(result) ? getWide(value, 0)
                                                  : getNarrow(value, 0));
      scf::YieldOp::create(builder, yielded);
    }
    mappings[0].map(branch.getResults(), copy.getResults());
  }
  positions = allPositions;
  mappings = allMappings;
}

Value LoopCloner::loadInStrip(memref::LoadOp load, size_t i) {
  OperandRange indices = load.getIndices();
  if (indices.empty() || !dependent.contains(load.getResult()))
    return nullptr;
  std::optional<StripIndices::Index> index = inStrip[i].get(indices.back());
  if (!index || index->scale < 1 || index->offset < 0)
    return nullptr;
  MemRefType type = load.getMemRefType();
  unsigned rank = type.getRank();
  Operand operand{load.getMemRef(), AffineMap::getMultiDimIdentityMap(
                                        rank, builder.getContext())};
  // Strips begin at multiples of this.
  int64_t step = index->scale * strip.width,
          width = getVectorWidth({operand}, rank - 1, chip);
  while (width > 1 && step % width != 0)
    width /= 2;
  int64_t begin = index->offset / width * width,
          end = index->scale * (strip.extent - strip.width) + begin + width;
  if (width == 1 || type.isDynamicDim(rank - 1) ||
      end > type.getDimSize(rank - 1))
    return nullptr;
  IndexMath math(builder);
  const Position &position = positions[i];
  // The index of the strip's first point.
  Value first = positions[i - i % strip.width].index[position.along];
  Position at{{}, rank - 1, width};
  for (Value other : indices.drop_back())
    at.index.push_back(getNarrow(other, i));
  at.index.push_back(math.add(math.mul(first, index->scale), begin));
  return vector::ExtractOp::create(builder, emitLoad(builder, operand, at),
                                   index->offset - begin);
}

void LoopCloner::cloneInStrips(Operation &op) {
  for (size_t i = 0; i < positions.size(); ++i) {
    inStrip[i].visit(op, positions[i].along, mappings[i]);
    bool isSame = llvm::none_of(op.getResults(),
                                [&](Value v) { return dependent.contains(v); });
    if (isSame && i % strip.width != 0) {
      for (Value result : op.getResults())
        mappings[i].map(result, mappings[i - i % strip.width].lookup(result));
      continue;
    }
    if (auto load = dyn_cast<memref::LoadOp>(op))
      if (Value element = loadInStrip(load, i)) {
        mappings[i].map(load.getResult(), element);
        continue;
      }
    // An index that is inside equals what it was clamped from.
    if (auto compare = dyn_cast<arith::CmpIOp>(op);
        compare && compare.getPredicate() == arith::CmpIPredicate::eq) {
      std::optional<StripIndices::Index> index =
          inStrip[i].get(compare.getLhs());
      if (index && index == inStrip[i].get(compare.getRhs())) {
        mappings[i].map(
            compare.getResult(),
            arith::ConstantOp::create(builder, builder.getBoolAttr(true)));
        continue;
      }
    }
    builder.clone(op, mappings[i]);
  }
}

void LoopCloner::clone(Operation &op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    for (auto [position, mapping] : llvm::zip_equal(positions, mappings))
      mapping.map(index.getResult(), position.index[index.getDim()]);
    for (auto [indices, mapping] : llvm::zip(inStrip, mappings))
      indices.visit(op, positions.front().along, mapping);
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return clone(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return clone(branch);
  if (strip.width > 1)
    return cloneInStrips(op);
  bool isWide = op.getNumResults() != 0 && values.contains(op.getResult(0));
  if (auto load = dyn_cast<memref::LoadOp>(op); load && isWide)
    return clone(load);
  for (size_t i = 0; i < positions.size(); ++i) {
    int64_t width = positions[i].width;
    if (!isWide || width == 1) {
      builder.clone(op, mappings[i]);
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(getWide(operand, i));
    // One condition for all points remains one.
    if (auto select = dyn_cast<arith::SelectOp>(op))
      if (Value condition = select.getCondition(); !values.contains(condition))
        operands[0] = getNarrow(condition, i);
    mappings[i].map(op.getResults(),
                    cloneWide(builder, op, operands, width)->getResults());
  }
}

void simt::cloneLoops(ImplicitLocOpBuilder &builder, Block &body,
                      ArrayRef<Position> positions,
                      MutableArrayRef<IRMapping> mappings, const Strip &strip,
                      const Lines &lines, int64_t mostOfWindow,
                      const Chip &chip) {
  LoopCloner cloner(builder, body, positions, mappings, strip, mostOfWindow,
                    chip);
  if (lines.count > 1)
    cloner.cloneLines(body, lines);
  else
    cloner.clone(body);
}
