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
//===----------------------------------------------------------------------===//

#include "Simt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

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

private:
  bool visit(Block &block) {
    return llvm::all_of(block.without_terminator(),
                        [&](Operation &op) { return visit(op); });
  }
  bool visit(Operation &op);
  bool visit(memref::LoadOp load);
  bool visit(scf::ForOp loop);

  bool dependsOnLane(Value value) const {
    return isLane(value) || wide.contains(value);
  }
  void add(Value value) { changed |= wide.insert(value).second; }

  Block &body;
  unsigned dim;
  DenseSet<Value> wide;
  llvm::SetVector<memref::LoadOp> loads;
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

bool WideValues::visit(Operation &op) {
  if (isa<linalg::IndexOp>(op))
    return true;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return visit(load);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visit(loop);
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
  return width;
}

namespace {
/// Clones a body for the points of several positions at once: their loops are
/// one, so that LLVM sees which elements they share.
class LoopCloner {
public:
  LoopCloner(ImplicitLocOpBuilder &builder, Block &body,
             ArrayRef<Position> positions, MutableArrayRef<IRMapping> mappings)
      : builder(builder), positions(positions), mappings(mappings),
        values(body, positions.front().along) {
    assert(values.isSupported() && "getVectorWidthOfLoops rejects this body");
  }

  void clone(Block &block) {
    for (Operation &op : block.without_terminator())
      clone(op);
  }

private:
  void clone(Operation &op);
  void clone(memref::LoadOp load);
  void clone(scf::ForOp loop);
  /// Clones the body of `loop` once for each iteration, if they are few.
  bool unroll(scf::ForOp loop);
  /// The clones of `value` for each position.
  Value getNarrow(Value value, size_t i) {
    return mappings[i].lookupOrDefault(value);
  }
  Value getWide(Value value, size_t i);
  /// The values that a loop carries, those of the first position first.
  SmallVector<Value> getCarried(ValueRange values, scf::ForOp loop);
  void setCarried(ValueRange values, ValueRange clones);

  ImplicitLocOpBuilder &builder;
  ArrayRef<Position> positions;
  MutableArrayRef<IRMapping> mappings;
  WideValues values;
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
      clones.push_back(values.contains(argument) ? getWide(value, i)
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

bool LoopCloner::unroll(scf::ForOp loop) {
  // A window of 3x3: threads then wait for the loads of all rows at once.
  constexpr int64_t mostIterations = 8, mostOfWindow = 9;
  std::optional<APInt> count = loop.getStaticTripCount();
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                         step = getConstantIntValue(loop.getStep()),
                         all = countIterations(loop);
  if (!count || count->ugt(mostIterations) || !first || !step || !all ||
      *all > mostOfWindow)
    return false;
  SmallVector<Value> carried = getCarried(loop.getInitArgs(), loop);
  for (int64_t n = 0; n < count->getSExtValue(); ++n) {
    Value index = arith::ConstantIndexOp::create(builder, *first + n * *step);
    for (IRMapping &mapping : mappings)
      mapping.map(loop.getInductionVar(), index);
    setCarried(loop.getRegionIterArgs(), carried);
    clone(*loop.getBody());
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

void LoopCloner::clone(Operation &op) {
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    for (auto [position, mapping] : llvm::zip_equal(positions, mappings))
      mapping.map(index.getResult(), position.index[index.getDim()]);
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return clone(loop);
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
                      MutableArrayRef<IRMapping> mappings) {
  LoopCloner(builder, body, positions, mappings).clone(body);
}
