//===- CopyProducer.cpp - A subgroup that does nothing but copy -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With a subgroup that does nothing but copy, those that compute wait for data
// alone, each for itself:
//
//   producer:  copies of the first steps
//              for each later step:  wait until its slot has been read;  copy
//   others:    for each step:  wait for its copies;  products;  arrive
//
//===----------------------------------------------------------------------===//

#include "BulkPipelines.h"

#include "Conversion/TensorMaps.h"
#include "Dialect/Tessera/Transforms/IndexMath.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether `op` goes to the others: it stands behind the first copy, or in the
/// loop.
static bool isOthers(Operation *op, scf::ForOp loop, Operation *first) {
  return (loop && op->getBlock() == loop.getBody()) ||
         (op->getBlock() == first->getBlock() && !op->isBeforeInBlock(first));
}

/// Whether the producer can compute `value` for itself, given the loop's step.
static bool canRepeat(Value value, scf::ForOp loop, Operation *first) {
  if (loop && value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return !loop || cast<BlockArgument>(value).getOwner() != loop.getBody();
  if (!isOthers(op, loop, first))
    return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return canRepeat(operand, loop, first);
         });
}

/// Clones what `value` is computed from, for the producer.
static void repeat(OpBuilder &builder, Value value, scf::ForOp loop,
                   Operation *first, IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (!op || mapping.contains(value) || !isOthers(op, loop, first))
    return;
  for (Value operand : op->getOperands())
    repeat(builder, operand, loop, first, mapping);
  builder.clone(*op, mapping);
}

static bool writesWorkgroupMemory(Operation *op) {
  auto isShared = [](Type type) {
    auto memory = dyn_cast<MemRefType>(type);
    return memory && isWorkgroupMemory(memory);
  };
  return op->getNumRegions() == 0 &&
         llvm::any_of(op->getOperandTypes(), isShared) &&
         !isMemoryEffectFree(op) && !hasSingleEffect<MemoryEffects::Read>(op);
}

static SmallVector<Value> getCopyIndices(AsyncCopyOp op) {
  SmallVector<Value> values(op.getSourceIndices());
  values.push_back(op.getTargetIndices()[0]);
  return values;
}

std::optional<ProducerParts>
BulkPipelines::matchProducer(const Pipeline &pipeline) {
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  if (pipelines.size() != 1 || !size || (*size)[1] != 1 || (*size)[2] != 1 ||
      (*size)[0] % chip.subgroupSize ||
      (*size)[0] + chip.subgroupSize > chip.maxThreads)
    return {};
  AsyncCopyOp first = pipeline.copies.front();
  Block *block = first->getBlock();
  if (block != &kernel.getBody().front())
    return {};
  ProducerParts parts;
  for (AsyncCopyOp op : pipeline.copies) {
    auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
    if (op->getBlock() == block && !parts.loop)
      parts.before.push_back(op);
    else if (!loop || loop->getBlock() != block ||
             (parts.loop && parts.loop != loop))
      return {};
    else
      parts.within.push_back(op);
    if (op->getBlock() != block)
      parts.loop = loop;
  }
  int64_t memories = pipeline.memories.size();
  if (!parts.loop || getConstantIntValue(parts.loop.getLowerBound()) != 0 ||
      getConstantIntValue(parts.loop.getStep()) != 1 ||
      static_cast<int64_t>(parts.within.size()) != memories ||
      static_cast<int64_t>(parts.before.size()) !=
          memories * (pipeline.getNumSlots() - 1))
    return {};
  for (AsyncCopyOp op : pipeline.copies)
    for (Value value : getCopyIndices(op))
      if (!canRepeat(value, op->getBlock() == block ? scf::ForOp() : parts.loop,
                     first))
        return {};
  if (!canRepeat(parts.loop.getUpperBound(), {}, first))
    return {};
  // Each wait but perhaps the last has its barrier, which is for the copies
  // alone where nothing else writes what the workgroup shares; there are no
  // others.
  for (WaitOp op : pipeline.waits)
    if (auto barrier = dyn_cast_or_null<gpu::BarrierOp>(op->getNextNode()))
      parts.barriers.push_back(barrier);
  bool onlyThese = true;
  for (Operation *op = first; op; op = op->getNextNode())
    op->walk([&](Operation *inner) {
      if (isa<gpu::BarrierOp>(inner))
        onlyThese &= llvm::is_contained(parts.barriers, inner);
      onlyThese &=
          isa<AsyncCopyOp, WaitOp>(inner) || !writesWorkgroupMemory(inner);
    });
  return onlyThese ? std::make_optional(std::move(parts)) : std::nullopt;
}

void BulkPipelines::specialize(Pipeline &pipeline, ProducerParts &parts) {
  AsyncCopyOp first = pipeline.copies.front();
  Location loc = first.getLoc();
  int64_t slots = pipeline.getNumSlots();
  int32_t readers = kernel.getKnownBlockSize()->front();
  pipeline.barriers = addBarriers(loc, slots);
  pipeline.read = addBarriers(loc, slots);

  OpBuilder builder(first);
  emitSetUp(builder, loc, pipeline);
  IndexMath math(builder, loc);
  Value thread = emitLinearThread(builder, kernel);
  Value limit = math.constant(readers);
  Value isProducer = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::uge, thread, limit);
  Value isIssuer = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         thread, limit);
  auto roles = scf::IfOp::create(builder, loc, isProducer,
                                 /*withElseRegion=*/true);

  // The producer.
  OpBuilder producer = roles.getThenBodyBuilder();
  auto issuer = scf::IfOp::create(producer, loc, isIssuer,
                                  /*withElseRegion=*/false);
  OpBuilder issue = issuer.getThenBodyBuilder();
  IRMapping mapping;
  for (AsyncCopyOp op : parts.before) {
    for (Value value : getCopyIndices(op))
      repeat(issue, value, {}, first, mapping);
    emitCopy(issue, pipeline, op, mapping);
  }
  repeat(issue, parts.loop.getUpperBound(), {}, first, mapping);
  IndexMath issueMath(issue, loc);
  auto steps =
      scf::ForOp::create(issue, loc, issueMath.constant(0),
                         mapping.lookupOrDefault(parts.loop.getUpperBound()),
                         issueMath.constant(1));
  OpBuilder body(steps.getBody()->getTerminator());
  mapping.map(parts.loop.getInductionVar(), steps.getInductionVar());
  Value step = IndexMath(body, loc).add(steps.getInductionVar(), slots - 1);
  // The phase before the first is over: what a slot never held is read.
  emitWait(body, loc, pipeline.read, slots, step, /*turnsBefore=*/1);
  for (AsyncCopyOp op : parts.within) {
    for (Value value : getCopyIndices(op))
      repeat(body, value, parts.loop, first, mapping);
    emitCopy(body, pipeline, op, mapping);
  }

  // The others.
  OpBuilder end(parts.loop.getBody()->getTerminator());
  Value slot = IndexMath(end, loc).rem(parts.loop.getInductionVar(),
                                       IndexMath(end, loc).constant(slots));
  emitArrival(end, loc, pipeline.read, slot);
  for (gpu::BarrierOp barrier : parts.barriers)
    barrier.erase();
  for (WaitOp op : pipeline.waits)
    convert(pipeline, op);
  Block &rest = roles.getElseRegion().front();
  Operation *terminator = kernel.getBody().front().getTerminator();
  while (roles->getNextNode() != terminator)
    roles->getNextNode()->moveBefore(rest.getTerminator());
  for (AsyncCopyOp op : pipeline.copies)
    op.erase();

  Builder attributes(kernel.getContext());
  int32_t all = readers + static_cast<int32_t>(chip.subgroupSize);
  kernel.setKnownBlockSizeAttr(attributes.getDenseI32ArrayAttr({all, 1, 1}));
  kernel->setAttr(getProducerThreadsAttrName(),
                  attributes.getI64IntegerAttr(chip.subgroupSize));
}
