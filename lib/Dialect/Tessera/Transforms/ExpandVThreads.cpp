//===- ExpandVThreads.cpp - Replicate the regions of virtual threads ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDVTHREADS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// One for all vthreads, wherever it stands.
static bool isShared(Operation *op) { return isa<gpu::BarrierOp, WaitOp>(op); }

static bool containsShared(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isShared(inner) ? WalkResult::interrupt()
                               : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

/// Expands one vthread op.
class Expander {
public:
  explicit Expander(VThreadOp op)
      : op(op), builder(op), maps(op.getNumVThreads()),
        depthFirst(op.getOrder() == Interleave::DepthFirst) {}

  LogicalResult run();

private:
  /// Whether all vthreads see the same value.
  bool isInvariant(Value value) const {
    Value first = maps[0].lookupOrDefault(value);
    return llvm::all_of(maps, [&](const IRMapping &map) {
      return map.lookupOrDefault(value) == first;
    });
  }
  /// Whether `inner` gives every vthread the same results, so that one copy of
  /// it serves all: it only computes or reads, from the same operands.
  bool isInvariant(Operation *inner) const;
  void cloneOnce(Operation *inner);
  void cloneForEach(Operation *inner) {
    for (IRMapping &map : maps)
      builder.clone(*inner, map);
  }
  LogicalResult expandBlock(Block &block);
  LogicalResult expandStatement(Operation *inner);
  LogicalResult jam(scf::ForOp loop);
  LogicalResult jam(scf::IfOp branch);
  /// The values that a terminator yields, all vthreads' of the first operand,
  /// then of the second.
  SmallVector<Value> getYields(Operation *terminator) const {
    SmallVector<Value> yields;
    for (Value value : terminator->getOperands())
      for (const IRMapping &map : maps)
        yields.push_back(map.lookupOrDefault(value));
    return yields;
  }
  void mapResults(Operation *from, Operation *to) {
    size_t n = maps.size();
    for (unsigned i = 0; i < from->getNumResults(); ++i)
      for (size_t t = 0; t < n; ++t)
        maps[t].map(from->getResult(i), to->getResult(i * n + t));
  }

  VThreadOp op;
  OpBuilder builder;
  SmallVector<IRMapping> maps;
  bool depthFirst;
};

} // namespace

bool Expander::isInvariant(Operation *inner) const {
  if (inner->getNumRegions() || inner->hasTrait<OpTrait::IsTerminator>())
    return false;
  if (!isMemoryEffectFree(inner)) {
    auto interface = dyn_cast<MemoryEffectOpInterface>(inner);
    if (!interface)
      return false;
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects)
      if (!isa<MemoryEffects::Read>(effect.getEffect()))
        return false;
  }
  return llvm::all_of(inner->getOperands(),
                      [&](Value value) { return isInvariant(value); });
}

void Expander::cloneOnce(Operation *inner) {
  Operation *clone = builder.clone(*inner, maps[0]);
  for (IRMapping &map : llvm::drop_begin(maps))
    map.map(inner->getResults(), clone->getResults());
}

LogicalResult Expander::jam(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    for (const IRMapping &map : maps)
      inits.push_back(map.lookupOrDefault(init));
  auto jammed = scf::ForOp::create(
      builder, loop.getLoc(), maps[0].lookupOrDefault(loop.getLowerBound()),
      maps[0].lookupOrDefault(loop.getUpperBound()),
      maps[0].lookupOrDefault(loop.getStep()), inits);
  jammed->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  size_t n = maps.size();
  for (size_t t = 0; t < n; ++t) {
    maps[t].map(loop.getInductionVar(), jammed.getInductionVar());
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      maps[t].map(loop.getRegionIterArg(i), jammed.getRegionIterArg(i * n + t));
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *body = jammed.getBody();
  if (inits.empty())
    body->getTerminator()->erase();
  builder.setInsertionPointToEnd(body);
  if (failed(expandBlock(*loop.getBody())))
    return failure();
  scf::YieldOp::create(builder, loop.getLoc(),
                       getYields(loop.getBody()->getTerminator()));
  mapResults(loop, jammed);
  return success();
}

LogicalResult Expander::jam(scf::IfOp branch) {
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.append(maps.size(), type);
  bool hasElse = !branch.getElseRegion().empty();
  auto jammed =
      scf::IfOp::create(builder, branch.getLoc(), types,
                        maps[0].lookupOrDefault(branch.getCondition()),
                        /*addThenBlock=*/true, hasElse);
  OpBuilder::InsertionGuard guard(builder);
  auto expandInto = [&](Block *from, Block *to) -> LogicalResult {
    to->clear();
    builder.setInsertionPointToEnd(to);
    if (failed(expandBlock(*from)))
      return failure();
    scf::YieldOp::create(builder, branch.getLoc(),
                         getYields(from->getTerminator()));
    return success();
  };
  if (failed(expandInto(branch.thenBlock(), jammed.thenBlock())) ||
      (hasElse && failed(expandInto(branch.elseBlock(), jammed.elseBlock()))))
    return failure();
  mapResults(branch, jammed);
  return success();
}

LogicalResult Expander::expandStatement(Operation *inner) {
  if (auto wait = dyn_cast<WaitOp>(inner)) {
    // One wait, for the copies of all vthreads.
    llvm::SmallSetVector<Value, 8> tokens;
    for (Value token : wait.getTokens())
      for (const IRMapping &map : maps)
        tokens.insert(map.lookupOrDefault(token));
    WaitOp::create(builder, wait.getLoc(), tokens.getArrayRef(),
                   wait.getPending());
    return success();
  }
  if (isShared(inner) || isInvariant(inner)) {
    cloneOnce(inner);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(inner))
    if (isInvariant(loop.getLowerBound()) &&
        isInvariant(loop.getUpperBound()) && isInvariant(loop.getStep()))
      return jam(loop);
  if (auto branch = dyn_cast<scf::IfOp>(inner))
    if (isInvariant(branch.getCondition()))
      return jam(branch);
  if (containsShared(inner)) {
    InFlightDiagnostic diag =
        inner->emitError()
        << "the vthreads do not reach the barrier in here together: the "
           "bounds or the condition depend on the vthread";
    diag.attachNote(op.getLoc()) << "the vthreads are these";
    return diag;
  }
  cloneForEach(inner);
  return success();
}

LogicalResult Expander::expandBlock(Block &block) {
  if (!depthFirst) {
    for (Operation &inner : block.without_terminator())
      if (failed(expandStatement(&inner)))
        return failure();
    return success();
  }
  // One vthread after the other, up to the next barrier.
  SmallVector<Operation *> segment;
  auto flush = [&] {
    for (IRMapping &map : maps)
      for (Operation *inner : segment)
        builder.clone(*inner, map);
    segment.clear();
  };
  for (Operation &inner : block.without_terminator()) {
    if (!containsShared(&inner)) {
      segment.push_back(&inner);
      continue;
    }
    flush();
    if (failed(expandStatement(&inner)))
      return failure();
  }
  flush();
  return success();
}

LogicalResult Expander::run() {
  Block &body = op.getBody().front();
  ArrayRef<int64_t> grid = op.getGrid();
  for (auto [t, map] : llvm::enumerate(maps)) {
    int64_t rest = t;
    for (size_t d = grid.size(); d-- > 0; rest /= grid[d])
      map.map(body.getArgument(d), arith::ConstantIndexOp::create(
                                       builder, op.getLoc(), rest % grid[d])
                                       .getResult());
    for (unsigned i = 0; i < op.getNumPrivates(); ++i)
      map.map(body.getArgument(grid.size() + i), op.getPrivate(i, t));
  }
  if (failed(expandBlock(body)))
    return failure();
  op.getResults().replaceAllUsesWith(getYields(body.getTerminator()));
  op.erase();
  return success();
}

namespace {

struct ExpandVThreadsPass
    : public tessera::impl::TesseraExpandVThreadsBase<ExpandVThreadsPass> {
  void runOnOperation() override {
    // Inner ones first: walk is post-order.
    SmallVector<VThreadOp> ops;
    getOperation()->walk([&](VThreadOp op) { ops.push_back(op); });
    for (VThreadOp op : ops)
      if (failed(Expander(op).run()))
        return signalPassFailure();
  }
};

} // namespace
