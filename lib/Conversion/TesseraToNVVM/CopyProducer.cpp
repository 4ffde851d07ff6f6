//===- CopyProducer.cpp - A subgroup that does nothing but copy -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workgroup memory of a step becomes a ring of slots, each with two
// mbarriers:
//
//   the producer                        the others
//   for each step                       for each step
//     wait until the slot is empty        wait until the slot is full
//     copy                                products
//     the next slot                       say that it is empty;  the next slot
//
// A phase of a "full" barrier is over when the producer has announced the
// step's bytes and these are there; one of an "empty" barrier, when each
// subgroup of the others has arrived. Both sides count slots, and the parity of
// the turn around the ring, through all loops that the step stands in: so
// copies for the next tile run while this one's results are stored. A wait for
// the parity before the first is over at once: all slots begin empty.
//
// The others meet at a barrier of theirs, which leaves the producer alone.
//
//===----------------------------------------------------------------------===//

#include "CopyProducer.h"
#include "BulkInstructions.h"
#include "NvidiaTarget.h"

#include "Conversion/TensorMaps.h"
#include "Dialect/Tessera/Transforms/IndexMath.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tessera;

/// The barrier of those that do not copy; 0 is that of all.
static constexpr int32_t readersBarrier = 1;

namespace {

/// Where in the ring of slots a subgroup is.
struct Place {
  /// Index, and i32 0 or 1.
  Value slot, parity;
};

class Specializer {
public:
  Specializer(gpu::GPUFuncOp kernel, const StagingStep &step, int64_t stages,
              const Chip &chip)
      : kernel(kernel), step(step), stages(stages), chip(chip),
        loc(kernel.getLoc()), instructions(kernel, chip) {}

  bool canRun();
  void run();
  ArrayRef<Attribute> getMaps() const { return instructions.getMaps(); }

private:
  Block &top() { return kernel.getBody().front(); }
  /// The first op of the kernel that is not for all.
  Operation *findFirst();
  bool isOthers(Operation *op) const;
  bool canRepeat(Value value) const;
  /// Clones what `value` is computed from, for the producer.
  Value repeat(OpBuilder &builder, Value value);

  Value number(OpBuilder &builder, int64_t value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Place getStart(OpBuilder &builder) {
    return {IndexMath(builder, loc).constant(0), number(builder, 0)};
  }
  Place emitNext(OpBuilder &builder, Place place);
  /// The number of a slot's "empty" barrier; that of the "full" one is its own.
  Value emitEmpty(OpBuilder &builder, Value slot) {
    return IndexMath(builder, loc).add(slot, stages);
  }

  void emitSetUp(OpBuilder &builder);
  void shiftRegisters(scf::IfOp roles);
  Place emitProducer(OpBuilder &builder, size_t depth, Place place);
  void convertStep(Place place);
  Place carryPlace();
  void convertOutputs();
  void convertBarriers(Region &region);

  gpu::GPUFuncOp kernel;
  StagingStep step;
  int64_t stages;
  const Chip &chip;
  Location loc;
  BulkInstructions instructions;
  /// Where the roles divide, until the others' loops are made anew.
  Operation *first = nullptr;
  int32_t readers = 0, producers = 0;
  Value barriers;
  /// The rings, in the order of the step's copies.
  SmallVector<Value> rings;
  /// What the producer has for values of the others.
  IRMapping mapping;
};

} // namespace

//===----------------------------------------------------------------------===//
// What the producer needs
//===----------------------------------------------------------------------===//

Operation *Specializer::findFirst() {
  Operation *last =
      step.loops.empty() ? step.before.getOperation() : step.loops.front();
  for (Operation &op : top())
    if (&op == last || !isMemoryEffectFree(&op))
      return &op;
  return last;
}

bool Specializer::isOthers(Operation *op) const {
  Operation *ancestor = first->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && !ancestor->isBeforeInBlock(first);
}

bool Specializer::canRepeat(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    return parent == kernel || llvm::any_of(step.loops, [&](scf::ForOp loop) {
             return loop.getInductionVar() == argument;
           });
  }
  Operation *op = value.getDefiningOp();
  return !isOthers(op) || (op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
                           llvm::all_of(op->getOperands(), [&](Value operand) {
                             return canRepeat(operand);
                           }));
}

Value Specializer::repeat(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  if (mapping.contains(value) || !op || !isOthers(op))
    return mapping.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    repeat(builder, operand);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

bool Specializer::canRun() {
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  if (!kernel.getBody().hasOneBlock() || !size || (*size)[1] != 1 ||
      (*size)[2] != 1)
    return false;
  readers = size->front();
  producers = static_cast<int32_t>(countProducerThreads(readers, chip));
  first = findFirst();
  SmallVector<Value> needed;
  for (CopyOp op : step.copies)
    llvm::append_range(needed, op.getSourceIndices());
  for (scf::ForOp loop : step.loops)
    needed.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  return llvm::all_of(needed, [&](Value value) { return canRepeat(value); });
}

//===----------------------------------------------------------------------===//
// The roles
//===----------------------------------------------------------------------===//

Place Specializer::emitNext(OpBuilder &builder, Place place) {
  IndexMath math(builder, loc);
  Value next = math.add(place.slot, 1);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       next, math.constant(stages));
  Value other =
      arith::XOrIOp::create(builder, loc, place.parity, number(builder, 1));
  return {arith::SelectOp::create(builder, loc, isLast, math.constant(0), next),
          arith::SelectOp::create(builder, loc, isLast, other, place.parity)};
}

void Specializer::emitSetUp(OpBuilder &builder) {
  auto setUp = scf::IfOp::create(builder, loc, emitIsThread(builder, kernel, 0),
                                 /*withElseRegion=*/false);
  OpBuilder one = setUp.getThenBodyBuilder();
  for (int64_t slot = 0; slot < stages; ++slot) {
    instructions.emitInit(one, loc, barriers, slot, 1);
    instructions.emitInit(one, loc, barriers, stages + slot,
                          readers / chip.subgroupSize);
  }
  NVVM::FenceMbarrierInitOp::create(one, loc);
  gpu::BarrierOp::create(builder, loc);
}

/// Hands registers of the producer's over to the others (PTX ISA,
/// "setmaxnreg"). A workgroup begins with as many for each thread as there is
/// room for, in units of 8, and has no more later: who takes what nobody gives
/// waits for ever. That each role is one of whole warpgroups also lets ptxas
/// keep the addresses of a step in uniform registers, even where few are
/// needed.
void Specializer::shiftRegisters(scf::IfOp roles) {
  constexpr int64_t unit = 8, most = 240;
  int64_t group = chip.bulkCopies->registerGroup,
          least = chip.bulkCopies->leastRegisters,
          threads = readers + producers,
          first = chip.registersPerWorkgroup / threads / unit * unit;
  if (producers != group || least >= first)
    return;
  int64_t taken = std::min(most, (first * threads - least * producers) /
                                     readers / unit * unit);
  if (taken <= first)
    return;
  OpBuilder give = OpBuilder::atBlockBegin(roles.thenBlock()),
            take = OpBuilder::atBlockBegin(roles.elseBlock());
  NVVM::SetMaxRegisterOp::create(give, loc, static_cast<uint32_t>(least),
                                 NVVM::SetMaxRegisterAction::decrease);
  NVVM::SetMaxRegisterOp::create(take, loc, static_cast<uint32_t>(taken),
                                 NVVM::SetMaxRegisterAction::increase);
  // So ptxas has the workgroup begin with that many.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  give.getI32IntegerAttr(1));
}

Place Specializer::emitProducer(OpBuilder &builder, size_t depth, Place place) {
  if (depth < step.loops.size()) {
    scf::ForOp loop = step.loops[depth];
    Value begin = repeat(builder, loop.getLowerBound()),
          end = repeat(builder, loop.getUpperBound()),
          stride = repeat(builder, loop.getStep());
    auto copy = scf::ForOp::create(builder, loc, begin, end, stride,
                                   ValueRange{place.slot, place.parity});
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    OpBuilder body = OpBuilder::atBlockEnd(copy.getBody());
    Place next = emitProducer(
        body, depth + 1,
        {copy.getRegionIterArgs()[0], copy.getRegionIterArgs()[1]});
    scf::YieldOp::create(body, loc, ValueRange{next.slot, next.parity});
    return {copy.getResult(0), copy.getResult(1)};
  }
  Value before =
      arith::XOrIOp::create(builder, loc, place.parity, number(builder, 1));
  instructions.emitWait(builder, loc, barriers, emitEmpty(builder, place.slot),
                        before);
  int64_t bytes = 0;
  for (CopyOp op : step.copies)
    bytes += getTileBytes(op);
  instructions.emitExpectation(builder, loc, barriers, place.slot, bytes);
  for (auto [op, ring] : llvm::zip(step.copies, rings)) {
    SmallVector<Value> indices;
    for (Value index : op.getSourceIndices())
      indices.push_back(repeat(builder, index));
    instructions.emitLoad(builder, op, indices, ring, place.slot, barriers,
                          place.slot);
  }
  return emitNext(builder, place);
}

/// The step of the others: waits instead of copies, loads from the ring.
void Specializer::convertStep(Place place) {
  OpBuilder builder(step.after);
  instructions.emitWait(builder, loc, barriers, place.slot, place.parity);
  Block *block = step.after->getBlock();
  Operation *last = step.after;
  for (auto [op, ring] : llvm::zip(step.copies, rings))
    for (Operation *user :
         llvm::make_early_inc_range(op.getTarget().getUsers())) {
      auto load = dyn_cast<LoadOp>(user);
      if (!load)
        continue;
      SmallVector<Value> indices{place.slot};
      llvm::append_range(indices, load.getIndices());
      load.getMemoryMutable().assign(ring);
      load.getIndicesMutable().assign(indices);
      // The instruction may read the memory where the product stands.
      for (Operation *reader : load->getUsers())
        if (Operation *ancestor = block->findAncestorOpInBlock(*reader);
            ancestor && last->isBeforeInBlock(ancestor))
          last = ancestor;
      if (last->isBeforeInBlock(load))
        last = load;
    }
  builder.setInsertionPointAfter(last);
  instructions.emitArrival(builder, loc, barriers,
                           emitEmpty(builder, place.slot));
  for (CopyOp op : step.copies)
    op.erase();
  step.before.erase();
  step.after.erase();
}

/// Carries the place through the loops of the others. Gives that of the step.
Place Specializer::carryPlace() {
  OpBuilder before(first);
  Place place = getStart(before);
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForOp &loop : step.loops) {
    rewriter.setInsertionPoint(loop);
    auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
      return SmallVector<Value>(arguments.begin(), arguments.end());
    };
    auto wider =
        cast<scf::ForOp>((*loop.replaceWithAdditionalYields(
                              rewriter, ValueRange{place.slot, place.parity},
                              /*replaceInitOperandUsesInLoop=*/false, keep))
                             .getOperation());
    loop = wider;
    auto arguments = wider.getRegionIterArgs().take_back(2);
    place = {arguments[0], arguments[1]};
  }
  // From the inside to the outside.
  ValueRange inner;
  for (scf::ForOp loop : llvm::reverse(step.loops)) {
    Operation *yield = loop.getBody()->getTerminator();
    OpBuilder builder(yield);
    Place next =
        inner.empty() ? emitNext(builder, place) : Place{inner[0], inner[1]};
    unsigned count = yield->getNumOperands();
    yield->setOperand(count - 2, next.slot);
    yield->setOperand(count - 1, next.parity);
    inner = loop.getResults().take_back(2);
  }
  return place;
}

/// Bulk copies of the output, by the first thread.
void Specializer::convertOutputs() {
  bool anyBulk = false;
  llvm::SmallPtrSet<Block *, 2> waited;
  for (CopyOp op : step.outputs) {
    if (!explainNotBulk(op, chip).empty()) {
      op->setAttr(getCopyThreadsAttrName(),
                  Builder(kernel.getContext()).getI64IntegerAttr(readers));
      continue;
    }
    anyBulk = true;
    auto emitByFirst = [&](OpBuilder &builder) {
      auto branch =
          scf::IfOp::create(builder, loc, emitIsThread(builder, kernel, 0),
                            /*withElseRegion=*/false);
      return branch.getThenBodyBuilder();
    };
    // Where tiles follow each other, what is stored next waits at a barrier
    // until the copies before have read the memory.
    if (op->getBlock() != &top() && waited.insert(op->getBlock()).second)
      for (Operation &inner : *op->getBlock())
        if (auto barrier = dyn_cast<gpu::BarrierOp>(inner)) {
          OpBuilder builder(barrier);
          OpBuilder one = emitByFirst(builder);
          instructions.emitStoreWait(one, loc);
          break;
        }
    OpBuilder builder(op);
    OpBuilder one = emitByFirst(builder);
    instructions.emitStore(one, op);
    op.erase();
  }
  if (!anyBulk)
    return;
  // Workgroup memory is to live until it has been read.
  OpBuilder end(top().getTerminator());
  auto branch = scf::IfOp::create(end, loc, emitIsThread(end, kernel, 0),
                                  /*withElseRegion=*/false);
  OpBuilder one = branch.getThenBodyBuilder();
  instructions.emitStoreWait(one, loc);
}

void Specializer::convertBarriers(Region &region) {
  SmallVector<gpu::BarrierOp> all;
  region.walk([&](gpu::BarrierOp op) { all.push_back(op); });
  for (gpu::BarrierOp op : all) {
    OpBuilder builder(op);
    emitProxyFence(builder, op.getLoc());
    NVVM::BarrierOp::create(
        builder, op.getLoc(), TypeRange(), number(builder, readersBarrier),
        number(builder, readers), NVVM::BarrierReductionAttr(), Value());
    op.erase();
  }
}

void Specializer::run() {
  barriers = instructions.addBarriers(loc, 2 * stages);
  for (CopyOp op : step.copies) {
    MemRefType type = op.getTargetType();
    SmallVector<int64_t> shape{stages};
    llvm::append_range(shape, type.getShape());
    rings.push_back(kernel.addWorkgroupAttribution(
        MemRefType::get(shape, type.getElementType(),
                        MemRefLayoutAttrInterface(), type.getMemorySpace()),
        loc));
  }

  OpBuilder builder(first);
  emitSetUp(builder);
  IndexMath math(builder, loc);
  Value isProducer = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::uge,
      emitLinearThread(builder, kernel), math.constant(readers));
  auto roles = scf::IfOp::create(builder, loc, isProducer,
                                 /*withElseRegion=*/true);
  OpBuilder producer = roles.getThenBodyBuilder();
  auto issuer =
      scf::IfOp::create(producer, loc, emitIsThread(producer, kernel, readers),
                        /*withElseRegion=*/false);
  OpBuilder issue = issuer.getThenBodyBuilder();
  emitProducer(issue, 0, getStart(issue));

  convertStep(carryPlace());
  convertOutputs();
  Block &rest = roles.getElseRegion().front();
  Operation *terminator = top().getTerminator();
  while (roles->getNextNode() != terminator)
    roles->getNextNode()->moveBefore(rest.getTerminator());
  convertBarriers(roles.getElseRegion());
  shiftRegisters(roles);

  // The memory of one step alone is used no more.
  for (unsigned i = kernel.getNumWorkgroupAttributions(); i-- > 0;)
    if (BlockArgument buffer = kernel.getWorkgroupAttributions()[i];
        buffer.use_empty()) {
      top().eraseArgument(buffer.getArgNumber());
      kernel->setAttr(
          kernel.getNumWorkgroupAttributionsAttrName(),
          builder.getI64IntegerAttr(kernel.getNumWorkgroupAttributions() - 1));
    }
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({readers + producers, 1, 1}));
  kernel->setAttr(getProducerThreadsAttrName(),
                  builder.getI64IntegerAttr(producers));
}

bool mlir::tessera::specializeSubgroups(gpu::GPUFuncOp kernel,
                                        const StagingStep &step, int64_t stages,
                                        const Chip &chip,
                                        SmallVectorImpl<Attribute> &maps) {
  Specializer specializer(kernel, step, stages, chip);
  if (!specializer.canRun())
    return false;
  specializer.run();
  llvm::append_range(maps, specializer.getMaps());
  return true;
}
