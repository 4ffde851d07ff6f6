//===- PipelineCopies.cpp - Copies of later steps during this one ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With 3 stages, for a loop over steps of copies and matmuls:
//
//   copy 0 -> slot 0;  copy 1 -> slot 1
//   for i:  read the vectors of step i
//           wait for all but the last step's copies;  barrier
//           copy i + 2 -> slot (i + 2) % 3
//           matmuls from slot i % 3
//
// Vectors along K are inputs of the operands' producers (scales, biases), of
// which each lane reads a few elements from global memory. Read where they are
// used, each fragment would wait for them. The scales of weights that are
// narrower than the scales are read one step ahead: the steps of such a kernel
// take less time than a read does.
//
// If the number of steps is known to be that of stages at least, the last
// steps, which have no more copies to issue, are a separate loop, and all
// copies are in bounds. Otherwise copies
// past the last step are out of bounds and read nothing, or their data is not
// used.
//
// With three stages or more, copies that the chip performs asynchronously, of
// whole accesses of wide elements, are issued after the loads of a step's
// fragments. The matmuls wait for these loads, and would otherwise wait for the
// addresses of the copies as well:
//
//           wait for all but the last step's copies;  barrier
//           matmuls from slot i % 3
//           copy i + 2 -> slot (i + 2) % 3
//
// For a chip with `unrollStages`, the loop is unrolled by the number of slots,
// so that each step has a constant slot; the remaining steps follow it. This
// requires a static number of steps, and copies that are in bounds and of whole
// bytes: the address computations, conditions and shifts of other copies would
// be replicated as well. Loops over wide elements, whose matmuls take longer
// than that, are unrolled on every chip with such copies.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/Schedule.h"
#include "Scheduling/ScheduleCheck.h"
#include "Target/NVIDIA/BulkCopies.h"
#include "TargetInfo/Chip.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPIPELINECOPIES
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-pipeline-copies"

STATISTIC(numPipelinedLoops, "Number of loops pipelined");
STATISTIC(numAsyncCopies, "Number of copies made asynchronous");
STATISTIC(numKernelsLeftToTma,
          "Number of kernels whose copies are left to TMA");

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// A loop whose body is: addresses, barrier, copies, barrier, the rest.
struct StagedLoop {
  scf::ForOp loop;
  SmallVector<CopyOp> copies;
  /// The barrier after the copies.
  gpu::BarrierOp barrier;
};

/// Pipelines one loop.
class Pipeliner {
public:
  Pipeliner(const StagedLoop &staged, gpu::LaunchOp launch, int64_t stages,
            const Chip &chip)
      : loop(staged.loop), copies(staged.copies), end(staged.barrier),
        launch(launch), stages(stages), isWide(copiesAsynchronously(chip)),
        unroll(chip.policy.unrollStages), builder(loop.getLoc(), loop) {}

  void run();

private:
  /// Whether all copies are asynchronous accesses of the greatest width, of
  /// elements of at least `wideBits`. Others need registers.
  bool copiesAsynchronously(const Chip &chip) const;
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  /// A step of the loop, and its slot where that is known.
  struct Step {
    Value number;
    std::optional<int64_t> slot;
  };
  Step step(int64_t number) { return {constant(number), number % stages}; }
  Step stepAfter(Step step, int64_t distance);
  Value slotOf(Step step) {
    return step.slot
               ? constant(*step.slot)
               : arith::RemUIOp::create(builder, step.number, constant(stages))
                     .getResult();
  }
  void findVectors();
  /// Begins a step: its number, and the vectors that it reads.
  IRMapping readVectors(Step step);
  /// Reads the vectors of a step, one row or column each.
  SmallVector<Value> readAhead(Step step);
  /// Begins a step whose vectors have been read ahead.
  IRMapping useVectors(Step step, ValueRange vectors);
  /// Begins a step that has `carried` and, where they are read ahead, its
  /// vectors. `carried` becomes those of the loop alone.
  IRMapping begin(Step step, SmallVector<Value> &carried);
  /// Adds the vectors of the step after `step`, where they are read ahead.
  void readNext(Step step, SmallVector<Value> &next);
  void startCopies(Step step, bool inBounds);
  SmallVector<Value> compute(Step step, IRMapping &mapping, ValueRange carried);
  using Body = function_ref<SmallVector<Value>(Step, ValueRange)>;
  SmallVector<Value> forEach(Value begin, Value end, int64_t stride,
                             ValueRange first, Body body);
  SmallVector<Value> forSteps(Value begin, Value end, ValueRange first,
                              Body body);

  scf::ForOp loop;
  SmallVector<CopyOp> copies;
  gpu::BarrierOp end;
  gpu::LaunchOp launch;
  int64_t stages;
  /// Whether the copies are asynchronous and wide.
  bool isWide;
  bool unroll;
  ImplicitLocOpBuilder builder;
  /// The memory of all stages, by that of one.
  DenseMap<Value, Value> buffers;
  /// The reads of vectors, and what their addresses depend on, in order.
  llvm::SetVector<Operation *> vectors;
  /// The reads among them that are made one step ahead.
  SmallVector<BroadcastOp> ahead;
};

} // namespace

static int64_t countBytes(MemRefType type) {
  return llvm::divideCeil(
      type.getNumElements() * getElementBits(type.getElementType()), 8);
}

/// The bytes of the workgroup memory of `launch`.
static int64_t countWorkgroupBytes(gpu::LaunchOp launch) {
  int64_t bytes = 0;
  for (BlockArgument memory : launch.getWorkgroupAttributions())
    bytes += countBytes(cast<MemRefType>(memory.getType()));
  return bytes;
}

/// Whether `copy` reads nothing for elements that its own region excludes.
static bool checksElements(CopyOp copy) {
  return copy.isGather() &&
         !getConstantIntValue(
             copy.getGather().front().getTerminator()->getOperands().back());
}

/// Matches `loop`. Tiles that are used outside of it as well keep their memory
/// for that, in addition to the one of the stages, if `bytes` are enough for
/// both. Such a loop may go through its tiles backwards, so that the step after
/// the last one is before the first element: the copies must check that.
static std::optional<StagedLoop> matchLoop(scf::ForOp loop, int64_t stages,
                                           int64_t bytes) {
  StagedLoop staged{loop, {}, {}};
  auto reject = [&](StringRef why) -> std::optional<StagedLoop> {
    LDBG() << loop.getLoc() << ": not pipelined: " << why;
    return std::nullopt;
  };
  if (getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return reject("does not run from 0 in steps of 1");
  unsigned barriers = 0;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op)) {
      if (++barriers == 2) {
        staged.barrier = barrier;
        break;
      }
    } else if (auto copy = dyn_cast<CopyOp>(op)) {
      if (barriers != 1)
        return reject("a copy is not between the first two barriers");
      staged.copies.push_back(copy);
    } else if (!isMemoryEffectFree(&op)) {
      return reject("another op before the second barrier accesses memory");
    }
  }
  if (!staged.barrier || staged.copies.empty())
    return reject("has no copies between two barriers");
  auto isInRest = [&](Operation *op) {
    Operation *ancestor = loop.getBody()->findAncestorOpInBlock(*op);
    return ancestor && staged.barrier->isBeforeInBlock(ancestor);
  };
  for (CopyOp copy : staged.copies) {
    if (!isa<BlockArgument>(copy.getTarget()) ||
        !isWorkgroupMemory(copy.getTargetType()))
      return reject("copies to other memory than a workgroup attribution");
    int64_t staged = stages * countBytes(copy.getTargetType());
    bool isShared = false;
    for (Operation *user : copy.getTarget().getUsers()) {
      isShared |= !loop->isAncestor(user);
      if (loop->isAncestor(user) && user != copy.getOperation() &&
          !(isa<LoadOp>(user) && isInRest(user)))
        return reject("a tile is used by other ops than loads after the "
                      "second barrier");
    }
    if (isShared && !checksElements(copy))
      return reject("a tile is used outside of the loop, and a copy would read "
                    "out of bounds after the last step");
    bytes -= isShared ? staged : 0;
    if (bytes < 0)
      return reject("a tile is used outside of the loop, and there is no "
                    "memory for both");
  }
  return staged;
}

/// Measured on an H200 in f64: 1000 cubed takes 51.8 us, 49.1 with the copies
/// after the loads, and 40.6 if it is unrolled as well; 1024 cubed 47.4, 45.8
/// and 41.3, 4096 cubed 2378, 2300 and 2250. In f32, by scalar FMAs, the first
/// gains at most 4 %, and unrolled loops take up to 1.8 times as long.
static constexpr int64_t wideBits = 64;

bool Pipeliner::copiesAsynchronously(const Chip &chip) const {
  return chip.asyncCopy && llvm::all_of(copies, [&](CopyOp copy) {
           MemRefType source = copy.getSourceType();
           return !copy.isGather() &&
                  getElementBits(source.getElementType()) >= wideBits &&
                  source.isLastDimUnitStride() &&
                  hasRowsOfMultiple(source, chip.accessBytes);
         });
}

Pipeliner::Step Pipeliner::stepAfter(Step step, int64_t distance) {
  if (distance == 0)
    return step;
  if (step.slot)
    step.slot = (*step.slot + distance) % stages;
  step.number = arith::AddIOp::create(builder, step.number, constant(distance));
  return step;
}

void Pipeliner::startCopies(Step step, bool inBounds) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), step.number);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == end.getOperation())
      break;
    if (isa<gpu::BarrierOp>(op))
      continue;
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy) {
      builder.clone(op, mapping);
      continue;
    }
    SmallVector<Value> sourceIndices, targetIndices{slotOf(step)};
    for (Value index : copy.getSourceIndices())
      sourceIndices.push_back(mapping.lookupOrDefault(index));
    for (Value index : copy.getTargetIndices())
      targetIndices.push_back(mapping.lookupOrDefault(index));
    auto async = AsyncCopyOp::create(
        builder, copy.getLoc(), TokenType::get(builder.getContext()),
        mapping.lookupOrDefault(copy.getSource()), sourceIndices,
        buffers.lookup(copy.getTarget()), targetIndices, copy.getShapeAttr(),
        copy.getInBounds() && inBounds, copy.getAlignmentAttr(),
        copy.getContiguousAttr(), copy.getWindowAttr(), copy.getSwizzled(),
        copy.getFromSwizzled());
    copy.getGather().cloneInto(&async.getGather(), mapping);
  }
}

void Pipeliner::findVectors() {
  Block *body = loop.getBody();
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return op->getBlock() == body; };
  auto isCarried = [&](Value value) {
    return llvm::is_contained(loop.getRegionIterArgs(), value);
  };
  for (auto vector : body->getOps<BroadcastOp>()) {
    // Like the tiles' sources, vectors are not written by the kernel.
    auto memory = dyn_cast<MemRefType>(vector.getSource().getType());
    if (!memory || isWorkgroupMemory(memory))
      continue;
    llvm::SetVector<Operation *> slice;
    Operation *read = vector;
    bool isOfStep = succeeded(getBackwardSlice(read, &slice, options)) &&
                    llvm::all_of(slice, [&](Operation *op) {
                      return llvm::none_of(op->getOperands(), isCarried) &&
                             (op == read || (isMemoryEffectFree(op) &&
                                             op->getNumRegions() == 0));
                    });
    // Addresses are cloned with the tiles' as well.
    if (!isOfStep)
      continue;
    vectors.insert_range(slice);
    if (llvm::any_of(copies, [&](CopyOp copy) {
          return getElementBits(copy.getSourceType().getElementType()) <= 8 &&
                 getElementBits(memory.getElementType()) > 8;
        }))
      ahead.push_back(vector);
  }
  // All of them, or none.
  if (ahead.size() !=
      static_cast<size_t>(llvm::count_if(vectors, llvm::IsaPred<BroadcastOp>)))
    ahead.clear();
}

SmallVector<Value> Pipeliner::readAhead(Step step) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), step.number);
  SmallVector<Value> values;
  for (Operation *op : vectors) {
    auto vector = dyn_cast<BroadcastOp>(op);
    if (!vector) {
      builder.clone(*op, mapping);
      continue;
    }
    FragmentType type = vector.getResult().getType();
    unsigned dropped = vector.getDimension();
    values.push_back(BroadcastOp::create(
        builder, vector.getLoc(),
        FragmentType::get(dropped == 0 ? 1 : type.getRows(),
                          dropped == 1 ? 1 : type.getCols(),
                          type.getElementType(), type.getRole()),
        mapping.lookupOrDefault(vector.getSource()),
        mapping.lookupOrDefault(vector.getIndex()), dropped,
        vector.getInBounds()));
  }
  return values;
}

IRMapping Pipeliner::useVectors(Step step, ValueRange values) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), step.number);
  for (auto [vector, value] : llvm::zip_equal(ahead, values)) {
    auto whole = BroadcastOp::create(
        builder, vector.getLoc(), vector.getResult().getType(), value,
        /*index=*/Value(), vector.getDimension(), /*inBounds=*/false);
    mapping.map(vector.getResult(), whole.getResult());
    mapping.map(vector.getOperation(), whole.getOperation());
  }
  return mapping;
}

IRMapping Pipeliner::begin(Step step, SmallVector<Value> &carried) {
  if (ahead.empty())
    return readVectors(step);
  size_t own = carried.size() - ahead.size();
  IRMapping mapping = useVectors(step, ValueRange(carried).drop_front(own));
  carried.resize(own);
  return mapping;
}

void Pipeliner::readNext(Step step, SmallVector<Value> &next) {
  if (ahead.empty())
    return;
  // The last step reads its own ones again.
  Value last =
            arith::SubIOp::create(builder, loop.getUpperBound(), constant(1)),
        after = arith::AddIOp::create(builder, step.number, constant(1));
  llvm::append_range(
      next,
      readAhead({arith::MinUIOp::create(builder, after, last), std::nullopt}));
}

IRMapping Pipeliner::readVectors(Step step) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), step.number);
  for (Operation *op : vectors)
    builder.clone(*op, mapping);
  return mapping;
}

SmallVector<Value> Pipeliner::compute(Step step, IRMapping &mapping,
                                      ValueRange carried) {
  for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), carried))
    mapping.map(argument, value);
  Value slot = slotOf(step);
  bool afterCopies = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (&op == end.getOperation()) {
      afterCopies = true;
      continue;
    }
    if ((!afterCopies && isa<gpu::BarrierOp, CopyOp>(op)) ||
        mapping.contains(&op))
      continue;
    Operation *copy = builder.clone(op, mapping);
    copy->walk([&](LoadOp load) {
      Value buffer = buffers.lookup(load.getMemory());
      if (!buffer)
        return;
      SmallVector<Value> indices{slot};
      llvm::append_range(indices, load.getIndices());
      load.getMemoryMutable().assign(buffer);
      load.getIndicesMutable().assign(indices);
    });
  }
  SmallVector<Value> results;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

/// A loop from `begin`, whose body receives a step of unknown slot.
SmallVector<Value> Pipeliner::forEach(Value begin, Value end, int64_t stride,
                                      ValueRange first, Body body) {
  auto steps = scf::ForOp::create(builder, begin, end, constant(stride), first);
  steps->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  if (first.empty())
    builder.setInsertionPoint(steps.getBody()->getTerminator());
  else
    builder.setInsertionPointToStart(steps.getBody());
  SmallVector<Value> next =
      body({steps.getInductionVar(), std::nullopt}, steps.getRegionIterArgs());
  if (!first.empty())
    scf::YieldOp::create(builder, next);
  return SmallVector<Value>(steps.getResults());
}

/// Emits `body` for each step from `begin` to `end`, in a loop; with `unroll`,
/// which requires constants, one whose body contains a round of all slots.
SmallVector<Value> Pipeliner::forSteps(Value begin, Value end, ValueRange first,
                                       Body body) {
  if (!unroll)
    return forEach(begin, end, 1, first, body);
  assert(getConstantIntValue(begin) && getConstantIntValue(end) &&
         "only loops of constant bounds are unrolled");
  int64_t from = *getConstantIntValue(begin), to = *getConstantIntValue(end);
  SmallVector<Value> carried(first);
  // As many whole rounds as possible.
  if (to - from >= 2 * stages) {
    int64_t rest = to - (to - from) % stages;
    carried = forEach(begin, constant(rest), stages, carried,
                      [&](Step round, ValueRange values) {
                        SmallVector<Value> next(values);
                        round.slot = from % stages;
                        for (int64_t s = 0; s < stages; ++s)
                          next = body(stepAfter(round, s), next);
                        return next;
                      });
    from = rest;
  }
  for (; from < to; ++from)
    carried = body(step(from), carried);
  return carried;
}

/// A lower bound of the number of steps of `loop`, which begins at 0: the last
/// part of K may have fewer of them than the others.
static int64_t countLeastSteps(scf::ForOp loop) {
  FailureOr<int64_t> least = ValueBoundsConstraintSet::computeConstantBound(
      presburger::BoundType::LB, loop.getUpperBound());
  return failed(least) ? 0 : *least;
}

void Pipeliner::run() {
  assert(stages >= 2 && !copies.empty() && "nothing to pipeline");
  for (CopyOp copy : copies) {
    MemRefType type = copy.getTargetType();
    SmallVector<int64_t> shape{stages};
    llvm::append_range(shape, type.getShape());
    buffers[copy.getTarget()] = launch.addWorkgroupAttribution(
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace()),
        copy.getLoc());
  }
  // The tile before this one may still be read.
  if (loop->getParentOfType<LoopLikeOpInterface>())
    gpu::BarrierOp::create(builder);

  findVectors();
  std::optional<int64_t> steps = getConstantIntValue(loop.getUpperBound());
  bool peel = countLeastSteps(loop) >= stages;
  bool isSimple = llvm::all_of(copies, [](CopyOp copy) {
    return copy.getInBounds() && !copy.isGather() &&
           !isPacked(copy.getSourceType().getElementType());
  });
  unroll = peel && steps && (isWide || (unroll && isSimple));
  // With two stages the next step would wait for copies that have just begun.
  bool copiesLast = isWide && stages > 2;
  LDBG() << loop.getLoc() << ": pipelined: " << copies.size() << " copies, "
         << stages << " stages, " << (peel ? "" : "not ") << "peeled, "
         << (unroll ? "" : "not ") << "unrolled";
  ++numPipelinedLoops;
  numAsyncCopies += copies.size();
  for (int64_t s = 0; s < stages - 1; ++s)
    startCopies({constant(s), s}, peel);
  Value zero = constant(0);
  Value lastCopied = loop.getUpperBound();
  if (peel)
    lastCopied = steps ? constant(*steps - (stages - 1))
                       : arith::SubIOp::create(builder, lastCopied,
                                               constant(stages - 1));
  SmallVector<Value> first(loop.getInitArgs());
  if (!ahead.empty())
    llvm::append_range(first, readAhead({zero, 0}));
  SmallVector<Value> results =
      forSteps(zero, lastCopied, first, [&](Step step, ValueRange values) {
        SmallVector<Value> carried(values), vectorsOfNext;
        IRMapping mapping = begin(step, carried);
        readNext(step, vectorsOfNext);
        // All but the copies of the last stages - 2 steps are complete. After
        // the barrier, all are done with the slot that the next copies go to.
        WaitOp::create(builder, ValueRange(),
                       static_cast<int64_t>(copies.size()) * (stages - 2));
        gpu::BarrierOp::create(builder);
        if (!copiesLast)
          startCopies(stepAfter(step, stages - 1), peel);
        SmallVector<Value> next = compute(step, mapping, carried);
        if (copiesLast)
          startCopies(stepAfter(step, stages - 1), peel);
        llvm::append_range(next, vectorsOfNext);
        return next;
      });
  // Copies of steps that do not exist count as copies too.
  WaitOp::create(builder, ValueRange(), /*pending=*/0);
  if (peel) {
    gpu::BarrierOp::create(builder);
    results = forSteps(lastCopied, loop.getUpperBound(), results,
                       [&](Step step, ValueRange values) {
                         SmallVector<Value> carried(values), vectorsOfNext;
                         IRMapping mapping = begin(step, carried);
                         readNext(step, vectorsOfNext);
                         SmallVector<Value> next =
                             compute(step, mapping, carried);
                         llvm::append_range(next, vectorsOfNext);
                         return next;
                       });
  }
  results.resize(loop.getNumResults());
  loop.replaceAllUsesWith(results);
  loop.erase();
}

/// Removes the workgroup memory of `launch` that nothing uses.
static void dropUnusedMemory(gpu::LaunchOp launch) {
  Block &body = launch.getBody().front();
  unsigned first = launch.getNumConfigRegionAttributes();
  for (unsigned count = launch.getNumWorkgroupAttributions(); count-- > 0;) {
    if (!body.getArgument(first + count).use_empty())
      continue;
    body.eraseArgument(first + count);
    launch->setAttr(gpu::LaunchOp::getNumWorkgroupAttributionsAttrName(),
                    IntegerAttr::get(IntegerType::get(launch.getContext(), 64),
                                     launch.getNumWorkgroupAttributions() - 1));
  }
}

namespace {
struct TesseraPipelineCopiesPass
    : public tessera::impl::TesseraPipelineCopiesBase<
          TesseraPipelineCopiesPass> {
  using TesseraPipelineCopiesBase::TesseraPipelineCopiesBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation());
    if (failed(found))
      return signalPassFailure();
    getOperation()->walk([&](gpu::LaunchOp launch) {
      auto schedule = launch->getAttrOfType<ScheduleAttr>(
          TesseraDialect::ScheduleAttrHelper::getNameStr());
      if (!schedule)
        return;
      // The conversion reads the decision for TMA from the copies.
      auto decide = [&](bool isBulk) {
        launch.walk([&](CopyOp copy) {
          if (isStagingCopy(copy))
            copy->setAttr(TesseraDialect::BulkAttrHelper::getNameStr(),
                          BoolAttr::get(&getContext(), isBulk));
        });
      };
      std::string why;
      int64_t threads = schedule.getNumSubgroups() * (*found)->subgroupSize;
      bool mayBeBulk =
          (*found)->bulkCopies && schedule.getSubgroupsPerFragment() > 1;
      if (mayBeBulk &&
          matchBulkSteps(launch, schedule.getStages(), threads, **found, why)) {
        LDBG() << launch.getLoc() << ": left to TMA";
        ++numKernelsLeftToTma;
        return decide(true);
      }
      if (!why.empty())
        LDBG() << launch.getLoc() << ": no TMA: " << why;
      if (mayBeBulk)
        decide(false);
      if (schedule.getStages() < 2) {
        LDBG() << launch.getLoc() << ": its schedule has fewer than 2 stages";
        return;
      }
      SmallVector<StagedLoop> loops;
      launch.walk([&](scf::ForOp loop) {
        int64_t left =
            (*found)->workgroupMemoryBytes - countWorkgroupBytes(launch);
        if (std::optional<StagedLoop> staged =
                matchLoop(loop, schedule.getStages(), left))
          loops.push_back(*staged);
      });
      for (StagedLoop &staged : loops)
        Pipeliner(staged, launch, schedule.getStages(), **found).run();
      if (!loops.empty())
        dropUnusedMemory(launch);
    });
  }
};
} // namespace
