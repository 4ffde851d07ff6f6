//===- EpilogueCarrier.cpp - A subgroup for the epilogue's tiles ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tile of workgroup memory holds the epilogue's input, and then its output:
//
//   the carrier                         the consumers
//   for each tile                       for each tile
//     copy to the memory                  matmuls
//     wait for the output                 wait for the input
//     copy to global memory               load, compute, store
//     wait until that has been read       signal the output
//
// The input is loaded during the matmuls of its tile, as soon as the previous
// tile has been stored. If there is no input, the carrier signals then that the
// memory is free. Both mbarriers have one phase for each tile. Subgroups do not
// wait for each other, so one may execute its epilogue while another one still
// executes matmuls.
//
// Where matmuls are short, the input would not be loaded by then. If there is
// room, tiles alternate between two slots, with mbarriers of their own:
//
//   for each tile
//     wait until the slot's last output has been read
//     copy to the slot
//     wait for the output of the tile before
//     copy that to global memory
//
//===----------------------------------------------------------------------===//

#include "EpilogueCarrier.h"
#include "NvidiaTarget.h"

#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-use-bulk-copies"

using namespace mlir;
using namespace mlir::tessera;

/// The loops around the epilogue, outermost first; nothing if something else is
/// around it.
static std::optional<SmallVector<scf::ForOp>>
findLoops(const StagingPlan &plan) {
  SmallVector<scf::ForOp> loops;
  for (Operation *parent = CopyOp(plan.outputs.front())->getParentOp();
       !isa<gpu::GPUFuncOp>(parent); parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return std::nullopt;
    loops.insert(loops.begin(), loop);
  }
  return loops;
}

/// Whether the producer of the steps executes these loops too.
static bool areStaging(const StagingPlan &plan) {
  std::optional<SmallVector<scf::ForOp>> loops = findLoops(plan);
  return loops && llvm::all_of(*loops, [&](scf::ForOp loop) {
           return plan.isStagingLoop(loop);
         });
}

/// With fewer registers for each thread, ptxas spills the indices of the
/// memory: five warpgroups have 80.
static constexpr int64_t leastRegisters = 96;

static bool hasRegisters(const StagingPlan &plan, const Chip &chip) {
  auto kernel = CopyOp(plan.outputs.front())->getParentOfType<gpu::GPUFuncOp>();
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  if (!size || !chip.registersPerWorkgroup)
    return true;
  int64_t threads = size->front() +
                    countProducerThreads(size->front(), chip, /*carries=*/true);
  return chip.registersPerWorkgroup / threads >= leastRegisters;
}

bool EpilogueCarrier::canRun(const StagingPlan &plan, const Chip &chip,
                             std::string &why) {
  why.clear();
  auto isBulk = [&](CopyOp op) { return explainNotBulk(op, chip).empty(); };
  if (plan.inputs.empty()) {
    if (plan.outputs.size() != 1 || !isBulk(plan.outputs.front()) ||
        !areStaging(plan))
      return false;
    StringRef kernel =
        plan.outputs.front()->getParentOfType<gpu::GPUFuncOp>().getName();
    // With one tile, nothing would go on meanwhile.
    if (findLoops(plan)->empty()) {
      LDBG() << kernel << ": a workgroup has only one tile to carry";
      return false;
    }
    if (!hasRegisters(plan, chip)) {
      LDBG() << kernel << ": a carrier would leave fewer than "
             << leastRegisters << " registers for each thread";
      return false;
    }
    return true;
  }
  for (ArrayRef<CopyOp> copies : {plan.inputs, plan.outputs})
    for (CopyOp op : copies)
      if (why = explainNotBulk(op, chip); !why.empty())
        return false;
  CopyOp in = plan.inputs.front(), out = plan.outputs.front();
  if (plan.inputs.size() != 1 || plan.outputs.size() != 1 ||
      in.getTarget() != out.getSource() || !areStaging(plan))
    why = "the epilogue does not use a single tile of workgroup memory";
  return why.empty();
}

int64_t EpilogueCarrier::countSlots(const StagingPlan &plan, const Chip &chip) {
  if (plan.inputs.empty())
    return 1;
  CopyOp out = plan.outputs.front();
  auto kernel = out->getParentOfType<gpu::GPUFuncOp>();
  bool isPlain = llvm::all_of(out.getSource().getUsers(), [](Operation *user) {
    return isa<CopyOp, LoadOp, StoreOp>(user);
  });
  int64_t bytes = getTileBytes(out);
  return isPlain && !findLoops(plan)->empty() &&
                 bytes % swizzlePatternBytes == 0 &&
                 countWorkgroupBytes(kernel, plan) + bytes <=
                     chip.workgroupMemoryBytes
             ? 2
             : 1;
}

EpilogueCarrier::EpilogueCarrier(gpu::GPUFuncOp kernel, StagingPlan &plan,
                                 BulkInstructions &instructions, Value barriers,
                                 int64_t firstBarrier, int64_t slots)
    : kernel(kernel), plan(plan), instructions(instructions),
      barriers(barriers), firstBarrier(firstBarrier), slots(slots),
      loc(kernel.getLoc()) {
  if (plan.outputs.empty())
    return;
  memory = CopyOp(plan.outputs.front()).getSource();
  if (slots == 1)
    return;
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> shape{slots};
  llvm::append_range(shape, type.getShape());
  memory = kernel.addWorkgroupAttribution(
      MemRefType::get(shape, type.getElementType(), MemRefLayoutAttrInterface(),
                      type.getMemorySpace()),
      loc);
}

SmallVector<Value> EpilogueCarrier::getNeeded(const StagingPlan &plan) {
  SmallVector<Value> needed(CopyOp(plan.outputs.front()).getTargetIndices());
  for (CopyOp in : plan.inputs)
    llvm::append_range(needed, in.getSourceIndices());
  return needed;
}

Value EpilogueCarrier::number(OpBuilder &builder, int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value EpilogueCarrier::emitNext(OpBuilder &builder, Value tile) {
  if (slots == 1)
    return arith::XOrIOp::create(builder, loc, tile, number(builder, 1));
  return arith::AndIOp::create(
      builder, loc,
      arith::AddIOp::create(builder, loc, tile, number(builder, 1)),
      number(builder, 2 * slots - 1));
}

Value EpilogueCarrier::emitPrevious(OpBuilder &builder, Value tile) {
  return arith::AndIOp::create(
      builder, loc,
      arith::SubIOp::create(builder, loc, tile, number(builder, 1)),
      number(builder, 2 * slots - 1));
}

Value EpilogueCarrier::emitSlot(OpBuilder &builder, Value tile) {
  if (slots == 1)
    return IndexMath(builder, loc).constant(0);
  Value slot =
      arith::AndIOp::create(builder, loc, tile, number(builder, slots - 1));
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      slot);
}

Value EpilogueCarrier::emitParity(OpBuilder &builder, Value tile) {
  if (slots == 1)
    return tile;
  return arith::ShRUIOp::create(builder, loc, tile, number(builder, 1));
}

Value EpilogueCarrier::emitCome(OpBuilder &builder, Value slot) {
  return IndexMath(builder, loc).add(slot, firstBarrier);
}

Value EpilogueCarrier::emitMade(OpBuilder &builder, Value slot) {
  return IndexMath(builder, loc).add(slot, firstBarrier + slots);
}

void EpilogueCarrier::emitSetUp(OpBuilder &one, int64_t subgroups) {
  for (int64_t slot = 0; slot < slots; ++slot)
    instructions.emitInit(one, loc, barriers, firstBarrier + slot, 1);
  for (int64_t slot = 0; slot < slots; ++slot)
    instructions.emitInit(one, loc, barriers, firstBarrier + slots + slot,
                          subgroups);
}

void EpilogueCarrier::emitPending(OpBuilder &builder, const State &state) {
  auto branch = scf::IfOp::create(builder, loc, state[1],
                                  /*withElseRegion=*/false);
  OpBuilder then = branch.getThenBodyBuilder();
  Value tile = emitPrevious(then, state[0]), slot = emitSlot(then, tile);
  instructions.emitWait(then, loc, barriers, emitMade(then, slot),
                        emitParity(then, tile));
  instructions.emitStore(then, plan.outputs[0], ArrayRef(state).drop_front(2),
                         memory, slot);
}

EpilogueCarrier::State EpilogueCarrier::emitTile(OpBuilder &builder,
                                                 size_t depth, State state,
                                                 IRMapping &mapping,
                                                 RepeatFn repeat) {
  SmallVector<scf::ForOp> loops = *findLoops(plan);
  if (depth < loops.size()) {
    scf::ForOp loop = loops[depth];
    Value begin = repeat(builder, loop.getLowerBound()),
          end = repeat(builder, loop.getUpperBound()),
          stride = repeat(builder, loop.getStep());
    auto copy = scf::ForOp::create(builder, loc, begin, end, stride, state);
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    OpBuilder body = OpBuilder::atBlockEnd(copy.getBody());
    State next = emitTile(body, depth + 1, State(copy.getRegionIterArgs()),
                          mapping, repeat);
    scf::YieldOp::create(body, loc, next);
    return State(copy.getResults());
  }
  auto repeatAll = [&](ValueRange values) {
    SmallVector<Value> repeated;
    for (Value value : values)
      repeated.push_back(repeat(builder, value));
    return repeated;
  };
  CopyOp out = plan.outputs[0];
  Value tile = state[0], slot = emitSlot(builder, tile);
  // The last store of this slot.
  if (slots > 1)
    instructions.emitStoreWait(builder, loc);
  if (plan.inputs.empty()) {
    instructions.emitArrival(builder, loc, barriers, emitCome(builder, slot));
  } else {
    CopyOp in = plan.inputs[0];
    instructions.emitExpectation(builder, loc, barriers,
                                 emitCome(builder, slot), getTileBytes(in));
    instructions.emitLoad(builder, in, repeatAll(in.getSourceIndices()), memory,
                          slot, barriers, emitCome(builder, slot));
  }
  SmallVector<Value> target = repeatAll(out.getTargetIndices());
  if (slots > 1) {
    emitPending(builder, state);
    State next = {emitNext(builder, tile)};
    next.push_back(
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)));
    llvm::append_range(next, target);
    return next;
  }
  instructions.emitWait(builder, loc, barriers, emitMade(builder, slot),
                        emitParity(builder, tile));
  instructions.emitStore(builder, out, target, memory, slot);
  instructions.emitStoreWait(builder, loc);
  return {emitNext(builder, tile)};
}

void EpilogueCarrier::emit(OpBuilder &builder, IRMapping &mapping,
                           RepeatFn repeat) {
  LDBG() << kernel.getName() << ": the carrier "
         << (plan.inputs.empty() ? "stores" : "loads and stores")
         << " the epilogue's tile in " << findLoops(plan)->size()
         << " loop(s), in " << slots << " slot(s)";
  State state = {number(builder, 0)};
  if (slots > 1) {
    state.push_back(
        arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false)));
    state.append(CopyOp(plan.outputs[0]).getTargetIndices().size(),
                 IndexMath(builder, loc).constant(0));
  }
  state = emitTile(builder, 0, state, mapping, repeat);
  if (slots > 1) {
    emitPending(builder, state);
    instructions.emitStoreWait(builder, loc);
  }
}

/// The next barrier before or after `op` in its block.
static gpu::BarrierOp findBarrier(Operation *op, bool before) {
  while ((op = before ? op->getPrevNode() : op->getNextNode()))
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op))
      return barrier;
  return {};
}

/// The first op other than `copy` that uses the memory which `copy` stores.
static Operation *findFirstUse(CopyOp copy) {
  Operation *first = copy;
  for (Operation *user : copy.getSource().getUsers())
    if (Operation *op = copy->getBlock()->findAncestorOpInBlock(*user);
        op && op->isBeforeInBlock(first))
      first = op;
  return first;
}

void EpilogueCarrier::convertOthers() {
  SmallVector<scf::ForOp> loops = *findLoops(plan);
  CopyOp out = plan.outputs[0];
  // The start of the epilogue's use of the memory.
  Operation *first = findFirstUse(out);
  OpBuilder before(kernel.getContext());
  if (loops.empty())
    before.setInsertionPoint(first);
  else
    before.setInsertionPoint(loops[0]);
  Value tile = number(before, 0);
  // The enclosing loops carry the tile's number.
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForOp &loop : loops) {
    rewriter.setInsertionPoint(loop);
    auto keep = [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
      return SmallVector<Value>(arguments.begin(), arguments.end());
    };
    loop = cast<scf::ForOp>((*loop.replaceWithAdditionalYields(
                                 rewriter, tile,
                                 /*replaceInitOperandUsesInLoop=*/false, keep))
                                .getOperation());
    tile = loop.getRegionIterArgs().back();
  }
  Value next;
  for (scf::ForOp loop : llvm::reverse(loops)) {
    Operation *yield = loop.getBody()->getTerminator();
    if (!next) {
      OpBuilder builder(yield);
      next = emitNext(builder, tile);
    }
    yield->setOperand(yield->getNumOperands() - 1, next);
    next = loop.getResults().back();
  }

  // In a loop, the memory was guarded by a barrier; the carrier has waited.
  if (gpu::BarrierOp barrier = findBarrier(first, /*before=*/true);
      barrier && !loops.empty())
    barrier.erase();
  gpu::BarrierOp made = findBarrier(out, /*before=*/true);
  Operation *come = first;
  OpBuilder start(first);
  Value slot = emitSlot(start, tile), parity = emitParity(start, tile);
  if (!plan.inputs.empty())
    come = findBarrier(first, /*before=*/false);
  OpBuilder wait(come);
  instructions.emitWait(wait, loc, barriers, emitCome(wait, slot), parity);
  if (come != first)
    come->erase();
  // Stores of all lanes are seen by the copy.
  OpBuilder say(made);
  emitProxyFence(say, loc);
  NVVM::SyncWarpOp::create(say, loc, number(say, -1));
  instructions.emitArrival(say, loc, barriers, emitMade(say, slot));
  made.erase();
  Value single = out.getSource();
  for (CopyOp in : plan.inputs)
    in.erase();
  out.erase();
  if (slots == 1)
    return;
  for (Operation *user : llvm::make_early_inc_range(single.getUsers())) {
    auto moveToSlot = [&](auto op) {
      SmallVector<Value> indices{slot};
      llvm::append_range(indices, op.getIndices());
      op.getMemoryMutable().assign(memory);
      op.getIndicesMutable().assign(indices);
    };
    if (auto load = dyn_cast<LoadOp>(user))
      moveToSlot(load);
    else
      moveToSlot(cast<StoreOp>(user));
  }
}
