//===- CopyProducer.cpp - A subgroup that does nothing but copy -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The workgroup memory of tiles that are loaded together becomes a ring of
// slots, each with two mbarriers:
//
//   the producer                        the consumers
//   for each step                       for each step
//     wait until the slot is empty        wait until the slot is full
//     copy                                matmuls
//     the next slot                       release the slot;  the next slot
//
// A phase of a "full" barrier completes when the producer has announced the
// step's bytes and these have arrived; one of an "empty" barrier, when each
// consumer subgroup has arrived. Both sides count slots, and the parity of the
// iteration around the ring, through all loops that contain the ring's steps,
// so that copies for the next tile overlap with the stores of this tile's
// results. A wait for the parity before the first phase returns at once: all
// slots are empty initially.
//
// If workgroups share tiles (TileSharing.h), each loads a part of a tile to
// several workgroups, and the consumers release a slot to several producers.
//
// The consumers synchronize at a barrier of their own, without the producer.
//
//===----------------------------------------------------------------------===//

#include "CopyProducer.h"

#include "BulkInstructions.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "EpilogueCarrier.h"
#include "EpilogueVectors.h"
#include "GroupOrder.h"
#include "NvidiaTarget.h"
#include "StepsInFlight.h"
#include "TensorMemory.h"
#include "TileSharing.h"

#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-use-bulk-copies"

using namespace mlir;
using namespace mlir::tessera;

/// The barrier of those that do not copy; 0 is that of all. Those of groups
/// that issue matmuls in turn.
static constexpr int32_t readersBarrier = 1, groupBarriers = 2;

namespace {

/// Where in the ring of slots a subgroup is.
struct Position {
  /// Index, and i32 0 or 1.
  Value slot, parity;
};

/// A ring of slots for each of the memories, and their barriers.
struct Ring {
  const TileSet *tiles;
  SmallVector<Value> memories;
  /// The number of the first barrier: those of full slots, then those of empty
  /// ones.
  int64_t firstBarrier;

  /// The copies of `step` that fill it.
  SmallVector<CopyOp> findCopies(const StagingStep &step) const {
    SmallVector<CopyOp> copies;
    for (CopyOp op : step.copies)
      if (llvm::is_contained(tiles->memories, op.getTarget()))
        copies.push_back(op);
    return copies;
  }
};

class Specializer {
public:
  Specializer(gpu::GPUFuncOp kernel, const StagingPlan &plan, const Chip &chip)
      : kernel(kernel), plan(plan), chip(chip), loc(kernel.getLoc()),
        instructions(kernel, chip), sharing(kernel) {}

  /// Whether the roles can be divided; the reason in `why` if not.
  bool canRun(std::string &why);
  void run();
  ArrayRef<Attribute> getMaps() const { return instructions.getMaps(); }

private:
  /// Where each ring is; the order is that of `rings`.
  using Positions = SmallVector<Position>;

  Block &top() { return kernel.getBody().front(); }
  /// The first op of the kernel that is not for all.
  Operation *findFirst();
  bool isOthers(Operation *op) const;
  bool canRepeat(Value value) const;
  /// Clones the computation of `value` for the producer.
  Value repeat(OpBuilder &builder, Value value);
  /// The step whose first copy is `op`, or null.
  const StagingStep *findStep(Operation *op) const;
  /// The rings that steps in `loop` fill.
  SmallVector<size_t> findRingsIn(Operation *loop) const;

  Value number(OpBuilder &builder, int64_t value) {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Positions getStart(OpBuilder &builder) {
    return Positions(rings.size(),
                     {IndexMath(builder, loc).constant(0), number(builder, 0)});
  }
  Position emitNext(OpBuilder &builder, const Ring &ring, Position position);
  /// The slot before `slot` in the ring.
  Value emitPrevious(OpBuilder &builder, const Ring &ring, Value slot);
  Value emitFull(OpBuilder &builder, const Ring &ring, Value slot) {
    return IndexMath(builder, loc).add(slot, ring.firstBarrier);
  }
  Value emitEmpty(OpBuilder &builder, const Ring &ring, Value slot) {
    return IndexMath(builder, loc)
        .add(slot, ring.firstBarrier + ring.tiles->slots);
  }

  /// The number of releases of a slot in a workgroup: by each consumer
  /// subgroup, or by the matmuls of each group that one thread issues.
  int64_t countReleases() {
    return readers / chip.subgroupSize /
           (hasIssuers(kernel) ? getFragmentGroup(kernel) : 1);
  }

  void addRings();
  void emitSetUp(OpBuilder &builder, EpilogueCarrier *carrier);
  /// Returns how many each of the others has then.
  int64_t shiftRegisters(scf::IfOp roles, bool carried);
  /// The copies of the steps in `block`, for the producer.
  void emitProducer(OpBuilder &builder, Block &block, Positions &positions);
  void emitCopies(OpBuilder &builder, const StagingStep &step,
                  Positions &positions);
  /// Emits the consumers' side of the steps from `begin` to the end of the
  /// block.
  void convertSteps(Operation *begin, Positions &positions,
                    scf::ForOp before = scf::ForOp());
  /// `before`: the arrival is for the slot of the previous iteration.
  void convertStep(const StagingStep &step, const Ring &ring,
                   Position &position, scf::ForOp before);
  /// The same if one thread of each group issues the readers of the slot, from
  /// `begin` to `last`.
  void convertIssuers(Operation *begin, Operation *last, const Ring &ring,
                      Position &position);
  /// The others signal that a slot is empty. `when` (i1): if so.
  void emitRelease(OpBuilder &builder, const Ring &ring, Value slot,
                   Value when = Value());
  scf::ForOp convertLoop(scf::ForOp loop, Positions &positions);
  void convertOutputs();
  void convertBarriers(Region &region);
  void eraseSteps();

  gpu::GPUFuncOp kernel;
  StagingPlan plan;
  const Chip &chip;
  Location loc;
  BulkInstructions instructions;
  TileSharing sharing;
  /// Where the roles divide, until the others' loops are made anew.
  Operation *first = nullptr;
  /// The last op that all threads execute before the roles diverge.
  Operation *setUp = nullptr;
  int32_t readers = 0, producers = 0;
  /// Whether a second subgroup carries the epilogue's tiles, and why not.
  bool carries = false;
  std::string whyNotCarried;
  Value barriers;
  /// The index of the first mbarrier that does not belong to a ring.
  int64_t carrierBarrier = 0;
  /// The number of the epilogue's tiles in workgroup memory.
  int64_t carrierSlots = 1;
  SmallVector<Ring> rings;
  /// Whether the producer has positions in several rings, in loops in loops.
  bool nestsRings = false;
  /// The producer's counterparts of the consumers' values.
  IRMapping mapping;
};

} // namespace

//===----------------------------------------------------------------------===//
// Inputs of the producer
//===----------------------------------------------------------------------===//

Operation *Specializer::findFirst() {
  for (Operation &op : top())
    if (!isMemoryEffectFree(&op) || plan.isStagingLoop(&op))
      return &op;
  return top().getTerminator();
}

const StagingStep *Specializer::findStep(Operation *op) const {
  for (const StagingStep &step : plan.steps)
    if (step.copies.front() == op)
      return &step;
  return nullptr;
}

SmallVector<size_t> Specializer::findRingsIn(Operation *loop) const {
  SmallVector<size_t> found;
  for (auto [i, ring] : llvm::enumerate(rings))
    for (const StagingStep &step : plan.steps)
      if (!ring.findCopies(step).empty() &&
          loop->isProperAncestor(ring.findCopies(step).front())) {
        found.push_back(i);
        break;
      }
  return found;
}

bool Specializer::isOthers(Operation *op) const {
  Operation *ancestor = first->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && !ancestor->isBeforeInBlock(first);
}

bool Specializer::canRepeat(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    return parent == kernel ||
           (plan.isStagingLoop(parent) &&
            cast<scf::ForOp>(parent).getInductionVar() == argument);
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

bool Specializer::canRun(std::string &why) {
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  if (!kernel.getBody().hasOneBlock() || !size || (*size)[1] != 1 ||
      (*size)[2] != 1) {
    why = "the kernel has several blocks, or a block size that is unknown or "
          "not one-dimensional";
    return false;
  }
  readers = size->front();
  carries = EpilogueCarrier::canRun(plan, chip, whyNotCarried);
  producers =
      static_cast<int32_t>(countProducerThreads(readers, chip, carries));
  first = findFirst();
  SmallVector<Value> needed;
  for (const StagingStep &step : plan.steps)
    for (CopyOp op : step.copies)
      llvm::append_range(needed, op.getSourceIndices());
  if (carries)
    llvm::append_range(needed, EpilogueCarrier::getNeeded(plan));
  kernel.walk([&](scf::ForOp loop) {
    if (plan.isStagingLoop(loop))
      needed.append(
          {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  });
  for (Value value : needed)
    if (!canRepeat(value)) {
      LDBG() << kernel.getName() << ": the producer cannot compute " << value;
      why = "their source indices depend on values that the subgroups compute";
      return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// The roles
//===----------------------------------------------------------------------===//

Position Specializer::emitNext(OpBuilder &builder, const Ring &ring,
                               Position position) {
  IndexMath math(builder, loc);
  Value next = math.add(position.slot, 1);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       next, math.constant(ring.tiles->slots));
  Value other =
      arith::XOrIOp::create(builder, loc, position.parity, number(builder, 1));
  return {
      arith::SelectOp::create(builder, loc, isLast, math.constant(0), next),
      arith::SelectOp::create(builder, loc, isLast, other, position.parity)};
}

Value Specializer::emitPrevious(OpBuilder &builder, const Ring &ring,
                                Value slot) {
  IndexMath math(builder, loc);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        slot, math.constant(0));
  return arith::SelectOp::create(
      builder, loc, isFirst, math.constant(ring.tiles->slots - 1),
      arith::SubIOp::create(builder, loc, slot, math.constant(1)));
}

void Specializer::addRings() {
  int64_t count = 0;
  nestsRings = plan.tiles.size() > 1 &&
               llvm::any_of(plan.steps, [&](const StagingStep &step) {
                 CopyOp op = step.copies.front();
                 return plan.isStagingLoop(op->getParentOp()) &&
                        plan.isStagingLoop(op->getParentOp()->getParentOp());
               });
  for (const TileSet &tiles : plan.tiles) {
    rings.push_back({&tiles, {}, count});
    count += 2 * tiles.slots;
  }
  carrierBarrier = count;
  if (carries) {
    carrierSlots = EpilogueCarrier::countSlots(plan, chip);
    count += EpilogueCarrier::countBarriers(carrierSlots);
  }
  barriers = instructions.addBarriers(loc, count);
  for (Ring &ring : rings)
    for (Value memory : ring.tiles->memories) {
      auto type = cast<MemRefType>(memory.getType());
      SmallVector<int64_t> shape{ring.tiles->slots};
      llvm::append_range(shape, type.getShape());
      ring.memories.push_back(kernel.addWorkgroupAttribution(
          MemRefType::get(shape, type.getElementType(),
                          MemRefLayoutAttrInterface(), type.getMemorySpace()),
          loc));
    }
}

void Specializer::emitSetUp(OpBuilder &builder, EpilogueCarrier *carrier) {
  auto byFirst =
      scf::IfOp::create(builder, loc, emitIsThread(builder, kernel, 0),
                        /*withElseRegion=*/false);
  setUp = byFirst;
  OpBuilder one = byFirst.getThenBodyBuilder();
  for (const Ring &ring : rings)
    for (int64_t slot = 0; slot < ring.tiles->slots; ++slot) {
      int64_t full = ring.firstBarrier + slot;
      instructions.emitInit(one, loc, barriers, full, 1);
      instructions.emitInit(one, loc, barriers, full + ring.tiles->slots,
                            countReleases() * sharing.countReaders());
    }
  if (carrier)
    carrier->emitSetUp(one, readers / chip.subgroupSize);
  NVVM::FenceMbarrierInitOp::create(one, loc);
  if (sharing.isUsed())
    sharing.emitMeeting(builder, /*aligned=*/true);
  else
    gpu::BarrierOp::create(builder, loc);
}

/// Transfers registers of the producer to the consumers (PTX ISA,
/// "setmaxnreg"). A workgroup starts with as many registers for each thread as
/// fit, in units of 8, and its total never grows: a request that no release
/// satisfies waits for ever. Roles of whole warpgroups also allow ptxas to keep
/// the addresses of a step in uniform registers, even if few are needed. Two
/// copying subgroups keep a few more, and so do those of clusters.
int64_t Specializer::shiftRegisters(scf::IfOp roles, bool carried) {
  constexpr int64_t mostRegisters = 255;
  RegisterShares shares = shareRegisters(readers, producers,
                                         sharing.isUsed() ? reserveOfClusters
                                         : nestsRings     ? reserveOfRings
                                         : carried        ? reserveOfCarriers
                                                          : 0,
                                         chip);
  if (!shares.areShifted())
    return std::min(shares.first, mostRegisters);
  OpBuilder give = OpBuilder::atBlockBegin(roles.thenBlock()),
            take = OpBuilder::atBlockBegin(roles.elseBlock());
  NVVM::SetMaxRegisterOp::create(give, loc, static_cast<uint32_t>(shares.least),
                                 NVVM::SetMaxRegisterAction::decrease);
  NVVM::SetMaxRegisterOp::create(take, loc, static_cast<uint32_t>(shares.taken),
                                 NVVM::SetMaxRegisterAction::increase);
  // This makes ptxas start the workgroup with that many registers.
  kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                  give.getI32IntegerAttr(1));
  return shares.taken;
}

void Specializer::emitCopies(OpBuilder &builder, const StagingStep &step,
                             Positions &positions) {
  for (auto [ring, position] : llvm::zip(rings, positions)) {
    SmallVector<CopyOp> copies = ring.findCopies(step);
    if (copies.empty())
      continue;
    Value before = arith::XOrIOp::create(builder, loc, position.parity,
                                         number(builder, 1));
    instructions.emitWait(builder, loc, barriers,
                          emitEmpty(builder, ring, position.slot), before);
    int64_t bytes = 0;
    for (CopyOp op : copies)
      bytes += getTileBytes(op);
    Value full = emitFull(builder, ring, position.slot);
    instructions.emitExpectation(builder, loc, barriers, full, bytes);
    for (CopyOp op : copies) {
      SmallVector<Value> indices;
      for (Value index : op.getSourceIndices())
        indices.push_back(repeat(builder, index));
      auto memory = llvm::find(ring.tiles->memories, op.getTarget());
      std::optional<SharedTile> shared = sharing.getShare(op);
      instructions.emitLoad(
          builder, op, indices,
          ring.memories[memory - ring.tiles->memories.begin()], position.slot,
          barriers, full, shared ? &*shared : nullptr);
    }
    position = emitNext(builder, ring, position);
  }
}

void Specializer::emitProducer(OpBuilder &builder, Block &block,
                               Positions &positions) {
  for (Operation &op : block) {
    if (const StagingStep *step = findStep(&op))
      emitCopies(builder, *step, positions);
    if (!plan.isStagingLoop(&op))
      continue;
    auto loop = cast<scf::ForOp>(op);
    Value begin = repeat(builder, loop.getLowerBound()),
          end = repeat(builder, loop.getUpperBound()),
          stride = repeat(builder, loop.getStep());
    SmallVector<size_t> carried = findRingsIn(loop);
    SmallVector<Value> init;
    for (size_t i : carried)
      init.append({positions[i].slot, positions[i].parity});
    auto copy = scf::ForOp::create(builder, loc, begin, end, stride, init);
    // Values that are cloned into the loop must not be used after it.
    IRMapping outside = mapping;
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    OpBuilder body = OpBuilder::atBlockEnd(copy.getBody());
    Positions inner = positions;
    for (auto [n, i] : llvm::enumerate(carried))
      inner[i] = {copy.getRegionIterArgs()[2 * n],
                  copy.getRegionIterArgs()[2 * n + 1]};
    emitProducer(body, *loop.getBody(), inner);
    SmallVector<Value> yielded;
    for (auto [n, i] : llvm::enumerate(carried)) {
      yielded.append({inner[i].slot, inner[i].parity});
      positions[i] = {copy.getResult(2 * n), copy.getResult(2 * n + 1)};
    }
    scf::YieldOp::create(body, loc, yielded);
    mapping = outside;
  }
}

/// The ops that read the memory of `load`: the load itself, or the matmuls
/// whose instructions read the memory, and the ops that wait for these. Both if
/// no instruction has been chosen.
static SmallVector<Operation *> findReaders(LoadOp load, const Chip &chip) {
  StringAttr name = load.getType().getInstruction();
  const MatrixInstruction *row =
      name ? chip.findInstruction(name.getValue()) : nullptr;
  bool isInMemory = row && row->isInMemory(load.getType().getRole());
  if (row && !isInMemory)
    return {load};
  SmallVector<Operation *> readers;
  if (!isInMemory)
    readers.push_back(load);
  for (Operation *user : load->getUsers()) {
    readers.push_back(user);
    if (user->hasAttr(TesseraDialect::OverlappedAttrHelper::getNameStr()))
      llvm::append_range(readers, user->getUsers());
  }
  return readers;
}

/// The others' side of a step: waits instead of copies, loads from the ring.
void Specializer::convertStep(const StagingStep &step, const Ring &ring,
                              Position &position, scf::ForOp before) {
  Block *block = CopyOp(step.copies.front())->getBlock();
  auto find = [&](Operation *op) { return block->findAncestorOpInBlock(*op); };
  Operation *begin = nullptr, *last = CopyOp(step.copies.back())->getNextNode();
  for (auto [tile, memory] : llvm::zip(ring.tiles->memories, ring.memories))
    for (Operation *user : llvm::make_early_inc_range(tile.getUsers())) {
      auto load = dyn_cast<LoadOp>(user);
      if (!load || &plan.steps[plan.suppliers.lookup(load)] != &step)
        continue;
      SmallVector<Value> indices{position.slot};
      llvm::append_range(indices, load.getIndices());
      load.getMemoryMutable().assign(memory);
      load.getIndicesMutable().assign(indices);
      for (Operation *reader : findReaders(load, chip)) {
        Operation *at = find(reader);
        if (!at)
          continue;
        if (!begin || at->isBeforeInBlock(begin))
          begin = at;
        if (last->isBeforeInBlock(at))
          last = at;
      }
    }
  // Values that are carried to the next iteration have been read at the end of
  // this one.
  if (last == block->getTerminator())
    last = last->getPrevNode();
  // One thread waits for the slot, and its matmuls release it.
  if (auto issuer = dyn_cast_or_null<scf::IfOp>(begin);
      issuer &&
      issuer->hasAttr(TesseraDialect::IssuerAttrHelper::getNameStr())) {
    convertIssuers(begin, last, ring, position);
    return;
  }
  OpBuilder builder(begin ? begin : last);
  instructions.emitWait(builder, loc, barriers,
                        emitFull(builder, ring, position.slot),
                        position.parity);
  builder.setInsertionPointAfter(last);
  if (before) {
    Value isLater =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                              before.getInductionVar(), before.getLowerBound());
    emitRelease(builder, ring, emitPrevious(builder, ring, position.slot),
                isLater);
  } else {
    emitRelease(builder, ring, position.slot);
  }
  // The ring's next step in this block, or in a loop of it, is further down.
  position = emitNext(builder, ring, position);
}

void Specializer::convertIssuers(Operation *begin, Operation *last,
                                 const Ring &ring, Position &position) {
  OpBuilder wait = OpBuilder::atBlockBegin(cast<scf::IfOp>(begin).thenBlock());
  instructions.emitWait(wait, loc, barriers,
                        emitFull(wait, ring, position.slot), position.parity);
  for (Operation *op = begin, *next; op != last; op = next) {
    next = op->getNextNode();
    if (op->hasAttr(TesseraDialect::StepAwaitAttrHelper::getNameStr()))
      op->erase();
  }
  if (Operation *after = last->getNextNode();
      after->hasAttr(TesseraDialect::StepAwaitAttrHelper::getNameStr()))
    after->erase();
  auto issuer = cast<scf::IfOp>(last);
  OpBuilder end(issuer.thenBlock()->getTerminator());
  emitReleaseByCompletion(end, loc, barriers,
                          emitEmpty(end, ring, position.slot),
                          sharing.emitReleasedMask(end));
  OpBuilder builder(last->getNextNode());
  position = emitNext(builder, ring, position);
}

void Specializer::emitRelease(OpBuilder &builder, const Ring &ring, Value slot,
                              Value when) {
  Value empty = emitEmpty(builder, ring, slot);
  if (sharing.isUsed())
    instructions.emitArrivals(builder, loc, barriers, empty,
                              sharing.getReleased(), sharing.countReaders(),
                              when);
  else
    instructions.emitArrival(builder, loc, barriers, empty, when);
}

/// Carries the positions in the rings through a loop of the consumers.
scf::ForOp Specializer::convertLoop(scf::ForOp loop, Positions &positions) {
  SmallVector<size_t> carried = findRingsIn(loop);
  SmallVector<Value> init;
  for (size_t i : carried)
    init.append({positions[i].slot, positions[i].parity});
  MmaOp matmul = findMatmulInFlight(loop, plan, chip, readers);
  IRRewriter rewriter(loop);
  auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
    return SmallVector<Value>(arguments.begin(), arguments.end());
  };
  auto wider =
      cast<scf::ForOp>((*loop.replaceWithAdditionalYields(
                            rewriter, init,
                            /*replaceInitOperandUsesInLoop=*/false, keep))
                           .getOperation());
  ValueRange arguments = wider.getRegionIterArgs().take_back(init.size()),
             results = wider.getResults().take_back(init.size());
  Positions inner = positions;
  for (auto [n, i] : llvm::enumerate(carried))
    inner[i] = {arguments[2 * n], arguments[2 * n + 1]};
  convertSteps(&wider.getBody()->front(), inner, matmul ? wider : scf::ForOp());
  Operation *yield = wider.getBody()->getTerminator();
  unsigned firstNew = yield->getNumOperands() - init.size();
  for (auto [n, i] : llvm::enumerate(carried)) {
    yield->setOperand(firstNew + 2 * n, inner[i].slot);
    yield->setOperand(firstNew + 2 * n + 1, inner[i].parity);
    positions[i] = {results[2 * n], results[2 * n + 1]};
  }
  if (matmul) {
    matmul->setAttr(TesseraDialect::InFlightAttrHelper::getNameStr(),
                    rewriter.getUnitAttr());
    awaitMatmul(wider, cast<BlockArgument>(matmul.getAcc()).getArgNumber() - 1);
    Operation *await = wider->getNextNode();
    OpBuilder afterLoop(kernel.getContext());
    afterLoop.setInsertionPointAfter(await);
    Value any =
        arith::CmpIOp::create(afterLoop, loc, arith::CmpIPredicate::slt,
                              wider.getLowerBound(), wider.getUpperBound());
    for (size_t i : carried)
      emitRelease(afterLoop, rings[i],
                  emitPrevious(afterLoop, rings[i], positions[i].slot), any);
  }
  return wider;
}

void Specializer::convertSteps(Operation *begin, Positions &positions,
                               scf::ForOp before) {
  for (Operation *op = begin; op; op = op->getNextNode()) {
    if (const StagingStep *step = findStep(op)) {
      for (auto [ring, position] : llvm::zip(rings, positions))
        if (!ring.findCopies(*step).empty())
          convertStep(*step, ring, position, before);
    } else if (plan.isStagingLoop(op)) {
      op = convertLoop(cast<scf::ForOp>(op), positions);
    }
  }
}

void Specializer::eraseSteps() {
  llvm::SmallSetVector<Operation *, 8> barriers;
  for (StagingStep &step : plan.steps) {
    for (CopyOp op : step.copies)
      op.erase();
    barriers.insert(step.before);
    barriers.insert(step.after);
  }
  for (Operation *op : barriers)
    op->erase();
}

/// Bulk copies of the output, by the first thread.
void Specializer::convertOutputs() {
  bool anyBulk = false;
  llvm::SmallPtrSet<Block *, 2> waited;
  auto share = [&](CopyOp op) {
    op->setAttr(TesseraDialect::CopyThreadsAttrHelper::getNameStr(),
                Builder(kernel.getContext()).getI64IntegerAttr(readers));
  };
  llvm::for_each(plan.inputs, share);
  for (CopyOp op : plan.outputs) {
    if (!explainNotBulk(op, chip).empty()) {
      share(op);
      continue;
    }
    anyBulk = true;
    auto emitByFirst = [&](OpBuilder &builder) {
      auto branch =
          scf::IfOp::create(builder, loc, emitIsThread(builder, kernel, 0),
                            /*withElseRegion=*/false);
      return branch.getThenBodyBuilder();
    };
    // If tiles follow one another, the next stores wait at a barrier until the
    // previous copies have read the memory.
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
    instructions.emitStore(one, op, op.getTargetIndices(), op.getSource(),
                           IndexMath(one, loc).constant(0));
    op.erase();
  }
  if (!anyBulk)
    return;
  // Workgroup memory must stay allocated until it has been read.
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
  addRings();
  LDBG() << kernel.getName() << ": " << producers << " producer threads, "
         << readers << " consumer threads, " << rings.size()
         << " ring(s) of slots";
  for (const Ring &ring : rings)
    LDBG() << kernel.getName() << ": a ring of " << ring.tiles->slots
           << " slots for " << ring.memories.size() << " tiles";
  LDBG() << kernel.getName() << ": "
         << (carries ? "a second subgroup carries the epilogue's tiles"
                     : "no subgroup carries the epilogue's tiles")
         << (whyNotCarried.empty() ? "" : ": ") << whyNotCarried;
  EpilogueCarrier carrier(kernel, plan, instructions, barriers, carrierBarrier,
                          carrierSlots);
  OpBuilder builder(first);
  sharing.emitSetUp(builder);
  emitSetUp(builder, carries ? &carrier : nullptr);
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
  Positions positions = getStart(issue);
  emitProducer(issue, top(), positions);
  if (carries) {
    auto carry = scf::IfOp::create(
        producer, loc,
        emitIsThread(producer, kernel, readers + chip.subgroupSize),
        /*withElseRegion=*/false);
    OpBuilder body = carry.getThenBodyBuilder();
    mapping.clear();
    carrier.emit(body, mapping,
                 [&](OpBuilder &at, Value value) { return repeat(at, value); });
  }

  OpBuilder others(first);
  positions = getStart(others);
  convertSteps(positions.front().slot.getDefiningOp(), positions);
  eraseSteps();
  if (carries)
    carrier.convertOthers();
  else
    convertOutputs();
  Block &rest = roles.getElseRegion().front();
  Operation *terminator = top().getTerminator();
  while (roles->getNextNode() != terminator)
    roles->getNextNode()->moveBefore(rest.getTerminator());
  convertBarriers(roles.getElseRegion());
  if (nestsRings)
    orderGroups(kernel, roles.getElseRegion(), readers, groupBarriers, chip);
  if (sharing.isUsed()) {
    OpBuilder end(terminator);
    sharing.emitMeeting(end, /*aligned=*/false);
  }
  loadVectorsEarly(kernel, chip, shiftRegisters(roles, carries));

  // Now all maps are known.
  OpBuilder fetch(setUp);
  auto byIssuer =
      scf::IfOp::create(fetch, loc, emitIsThread(fetch, kernel, readers),
                        /*withElseRegion=*/false);
  OpBuilder fetchOne = byIssuer.getThenBodyBuilder();
  instructions.emitPrefetches(fetchOne, loc);

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
  kernel->setAttr(TesseraDialect::ProducerThreadsAttrHelper::getNameStr(),
                  builder.getI64IntegerAttr(producers));
}

bool mlir::tessera::specializeSubgroups(gpu::GPUFuncOp kernel,
                                        const StagingPlan &plan,
                                        const Chip &chip,
                                        SmallVectorImpl<Attribute> &maps,
                                        std::string &why) {
  Specializer specializer(kernel, plan, chip);
  if (!specializer.canRun(why))
    return false;
  specializer.run();
  llvm::append_range(maps, specializer.getMaps());
  return true;
}
