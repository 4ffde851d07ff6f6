//===- ExpandVThreads.cpp - Replicate the regions of virtual threads ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "VThreadAccesses.h"
#include "VThreadUniformity.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDVTHREADS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-vthreads"

STATISTIC(numExpandedVThreadOps, "Number of tessera.vthread expanded");
STATISTIC(numExpandedVThreads, "Number of virtual threads expanded");

using namespace mlir;
using namespace mlir::tessera;

/// Whether `op` is a loop or a branch of a form that the expansion can write
/// anew with each vthread's values.
static bool isJammable(Operation *op) {
  return isa<RegionBranchOpInterface>(op) &&
         !op->hasTrait<OpTrait::AttrSizedOperandSegments>() &&
         !op->hasTrait<OpTrait::AttrSizedResultSegments>() &&
         llvm::all_of(op->getRegions(), [](Region &region) {
           return region.empty() ||
                  (region.hasOneBlock() &&
                   isa_and_present<RegionBranchTerminatorOpInterface>(
                       region.front().getTerminator()));
         });
}

namespace {

/// Consecutive vthreads, by their linear indices.
struct Range {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

/// Expands one vthread op.
class Expander {
public:
  Expander(VThreadOp op, size_t groupSize, bool shareFragments)
      : op(op), builder(op), maps(op.getNumVThreads()), groupSize(groupSize),
        uniformity(op, shareFragments) {}

  LogicalResult run();

private:
  ArrayRef<IRMapping> at(Range range) const {
    return ArrayRef(maps).slice(range.begin, range.size());
  }
  void mapAll(Range range, Value from, Value to) {
    for (size_t t = range.begin; t < range.end; ++t)
      maps[t].map(from, to);
  }
  /// Maps the values `from` to `to`, with one value for all vthreads of the
  /// range if they are uniform, and otherwise one for each vthread.
  void mapValues(Range range, ValueRange from, ValueRange to);
  /// Adds the vthreads' values of `operand`: one, or one for each.
  void addValues(Range range, Value operand, bool each,
                 SmallVectorImpl<Value> &values) const;
  SmallVector<Value>
  getOperands(Range range, Operation *from,
              const RegionBranchSuccessorMapping &mapping) const;

  void cloneOnce(Operation *inner, Range range);
  void cloneForEach(Operation *inner, Range range);
  LogicalResult expandBlock(Block &block, Range range);
  LogicalResult expandStatement(Operation *inner, Range range);
  LogicalResult jam(RegionBranchOpInterface branch, Range range);
  LogicalResult reject(Operation *inner, Operation *collective);

  VThreadOp op;
  OpBuilder builder;
  SmallVector<IRMapping> maps;
  /// How many vthreads are interleaved.
  size_t groupSize;
  VThreadUniformity uniformity;
};

} // namespace

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Expander::mapValues(Range range, ValueRange from, ValueRange to) {
  size_t next = 0;
  for (Value value : from) {
    if (uniformity.isUniform(value)) {
      mapAll(range, value, to[next++]);
      continue;
    }
    for (size_t t = range.begin; t < range.end; ++t)
      maps[t].map(value, to[next++]);
  }
}

void Expander::addValues(Range range, Value operand, bool each,
                         SmallVectorImpl<Value> &values) const {
  for (const IRMapping &map : each ? at(range) : at(range).take_front())
    values.push_back(map.lookupOrDefault(operand));
}

void Expander::cloneOnce(Operation *inner, Range range) {
  Operation *clone = builder.clone(*inner, maps[range.begin]);
  for (auto [from, to] : llvm::zip(inner->getResults(), clone->getResults()))
    mapAll(range, from, to);
}

void Expander::cloneForEach(Operation *inner, Range range) {
  Operation *clone = nullptr;
  for (size_t t = range.begin; t < range.end; ++t)
    clone = builder.clone(*inner, maps[t]);
  // Fragments that a test option shares are the same for all vthreads.
  for (auto [from, to] : llvm::zip(inner->getResults(), clone->getResults()))
    if (uniformity.isUniform(from))
      mapAll(range, from, to);
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

SmallVector<Value>
Expander::getOperands(Range range, Operation *from,
                      const RegionBranchSuccessorMapping &mapping) const {
  SmallVector<Value> operands;
  for (OpOperand &operand : from->getOpOperands())
    addValues(range, operand.get(),
              uniformity.isForwardedDivergent(operand, mapping), operands);
  return operands;
}

/// A copy of `op` with other operands and results, and with empty regions.
static Operation *createLike(OpBuilder &builder, Operation *op,
                             TypeRange results, ValueRange operands) {
  return builder.insert(Operation::create(
      op->getLoc(), op->getName(), results, operands,
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
      BlockRange(), op->getNumRegions()));
}

/// Creates one loop or branch for all vthreads of the range. Values that differ
/// between vthreads are carried for each of them, other values once.
LogicalResult Expander::jam(RegionBranchOpInterface branch, Range range) {
  RegionBranchSuccessorMapping mapping;
  branch.getSuccessorOperandInputMapping(mapping);
  auto repeat = [&](Value value) {
    return uniformity.isUniform(value) ? 1 : range.size();
  };
  SmallVector<Type> types;
  for (Value result : branch->getResults())
    types.append(repeat(result), result.getType());
  Operation *jammed =
      createLike(builder, branch, types, getOperands(range, branch, mapping));
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), jammed->getRegions())) {
    if (from.empty())
      continue;
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      for (size_t i = 0; i < repeat(argument); ++i)
        block->addArgument(argument.getType(), argument.getLoc());
    mapValues(range, from.getArguments(), block->getArguments());
    if (failed(expandBlock(from.front(), range)))
      return failure();
    Operation *terminator = from.front().getTerminator();
    createLike(builder, terminator, terminator->getResultTypes(),
               getOperands(range, terminator, mapping));
  }
  mapValues(range, branch->getResults(), jammed->getResults());
  return success();
}

/// Explains why the vthreads do not reach `collective` in `inner` together.
LogicalResult Expander::reject(Operation *inner, Operation *collective) {
  InFlightDiagnostic diag = inner->emitError();
  if (!isJammable(inner)) {
    diag << "vthreads do not reach this barrier together: '" << inner->getName()
         << "' cannot be merged over all vthreads (scf.for, scf.while, scf.if "
            "and scf.index_switch can); move the barrier out of it";
  } else {
    diag << "vthreads do not reach this barrier together: the bounds or the "
            "condition depend on the vthread; make them uniform, or move the "
            "barrier out";
    OpOperand *control =
        uniformity.findDivergentControl(cast<RegionBranchOpInterface>(inner));
    if (control)
      diag.attachNote(control->get().getLoc())
          << "this differs between the vthreads";
  }
  diag.attachNote(collective->getLoc()) << "the barrier is here";
  diag.attachNote(op.getLoc()) << "the vthreads are defined here";
  return failure();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult Expander::expandStatement(Operation *inner, Range range) {
  if (auto wait = dyn_cast<WaitOp>(inner)) {
    // One wait, for the copies of all vthreads.
    llvm::SmallSetVector<Value, 8> tokens;
    for (Value token : wait.getTokens())
      for (const IRMapping &map : at(range))
        tokens.insert(map.lookupOrDefault(token));
    WaitOp::create(builder, wait.getLoc(), tokens.getArrayRef(),
                   wait.getPending())
        ->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
    return success();
  }
  if (isCollective(inner) || uniformity.isUniform(inner)) {
    LDBG(2) << inner->getLoc() << ": " << inner->getName()
            << " once for all vthreads";
    cloneOnce(inner, range);
    return success();
  }
  auto branch = dyn_cast<RegionBranchOpInterface>(inner);
  if (branch && isJammable(inner) && !uniformity.findDivergentControl(branch)) {
    LDBG(2) << inner->getLoc() << ": " << inner->getName()
            << " around the ops of all vthreads";
    return jam(branch, range);
  }
  if (Operation *collective = findCollective(inner))
    return reject(inner, collective);
  cloneForEach(inner, range);
  return success();
}

LogicalResult Expander::expandBlock(Block &block, Range range) {
  // Runs one group after the other, from one barrier to the next. Ops that are
  // uniform over all groups are cloned with the first one.
  SmallVector<Operation *> segment;
  auto flush = [&]() -> LogicalResult {
    for (size_t t = range.begin; t < range.end; t += groupSize) {
      Range group{t, std::min(t + groupSize, range.end)};
      for (Operation *inner : segment) {
        bool shared = uniformity.isUniform(inner);
        if (shared && t != range.begin)
          continue;
        if (failed(expandStatement(inner, shared ? range : group)))
          return failure();
      }
    }
    segment.clear();
    return success();
  };
  for (Operation &inner : block.without_terminator()) {
    if (!findCollective(&inner)) {
      segment.push_back(&inner);
      continue;
    }
    if (failed(flush()) || failed(expandStatement(&inner, range)))
      return failure();
  }
  return flush();
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
  }
  Range all{0, maps.size()};
  for (unsigned i = 0; i < op.getNumPrivates(); ++i) {
    Value argument = body.getArgument(grid.size() + i);
    bool alike = uniformity.isUniform(argument);
    for (size_t t = 0; t < maps.size(); ++t)
      maps[t].map(argument, op.getPrivate(i, alike ? maps.size() - 1 : t));
  }
  if (failed(expandBlock(body, all)))
    return failure();
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    addValues(all, value, /*each=*/true, results);
  op.getResults().replaceAllUsesWith(results);
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct ExpandVThreadsPass
    : public tessera::impl::TesseraExpandVThreadsBase<ExpandVThreadsPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    if (flags.vthreadOrder.empty())
      return success();
    forced = dyn_cast_or_null<InterleaveAttr>(parseAttribute(
        "#tessera.interleave<" + flags.vthreadOrder.text + ">", context));
    return success(forced != nullptr);
  }

  void runOnOperation() override {
    bool testShareFragments = flags.testShareFragments;
    // Inner ones first: walk is post-order.
    SmallVector<VThreadOp> ops;
    getOperation()->walk([&](VThreadOp op) { ops.push_back(op); });
    for (VThreadOp op : ops) {
      int64_t count = op.getNumVThreads();
      int64_t groupSize = testShareFragments ? count
                          : forced           ? forced.getGroupSize(count)
                                             : op.getGroupSize();
      assert(groupSize > 0 && "an interleaving of no vthreads");
      LDBG() << op.getLoc() << ": " << count << " vthreads, " << groupSize
             << " at a time";
      ++numExpandedVThreadOps;
      numExpandedVThreads += count;
      if ((!testShareFragments && failed(verifyVThreadAccesses(op))) ||
          failed(Expander(op, groupSize, testShareFragments).run()))
        return signalPassFailure();
    }
  }

private:
  /// The flag `vthread-order`; null to use the order of each op.
  InterleaveAttr forced;
};

} // namespace
