//===- BulkCopies.cpp - Kernels with bulk copies (TMA) --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tessera-pipeline-copies decides before a kernel is outlined, since copies by
// TMA must not be pipelined in another way, and writes the decision to the
// copies (`tessera.bulk`). The conversion finds the plan again. If registers
// or layouts, which are known only then, do not permit it, all threads copy,
// and the report of the kernel states the reason.
//
//===----------------------------------------------------------------------===//

#include "Target/NVIDIA/BulkCopies.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/IR/Swizzle.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Target/NVIDIA/BulkWindows.h"
#include "TargetInfo/Chip.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

/// The number of the kernel's argument that `memory` is, or will be once the
/// kernel is outlined, as text; nothing where it is none.
static std::optional<std::string> nameArgument(Value memory, Operation *user) {
  if (auto launch = user->getParentOfType<gpu::LaunchOp>()) {
    if (launch.getBody().isAncestor(memory.getParentRegion()))
      return std::nullopt;
    return "an operand";
  }
  auto kernel = user->getParentOfType<gpu::GPUFuncOp>();
  auto argument = dyn_cast<BlockArgument>(memory);
  if (!kernel || !argument ||
      argument.getOwner() != &kernel.getBody().front() ||
      argument.getArgNumber() >= kernel.getNumArguments())
    return std::nullopt;
  return "argument " + std::to_string(argument.getArgNumber()) +
         " of the kernel";
}

template <typename CopyLike>
static std::string explain(CopyLike op, const Chip &chip) {
  if (!chip.bulkCopies)
    return chip.name + " has no bulk copies";
  bool isOutput = isWorkgroupMemory(op.getSourceType());
  Value memory = isOutput ? op.getTarget() : op.getSource();
  MemRefType type = cast<MemRefType>(memory.getType()),
             tile = isOutput ? op.getSourceType() : op.getTargetType();
  std::optional<std::string> what = nameArgument(memory, op);
  if (!what)
    return "the copied memory is not a kernel argument";
  if (op.isGather()) {
    std::string why = "it is not indexed by a window of static extents";
    if (!op.getWindow() ||
        !matchBulkWindow(*op.getWindow(), type, op.getShape(), chip, why))
      return *what + " is gathered: " + why;
  }
  const BulkCopyEngine &engine = *chip.bulkCopies;
  int64_t bits = getElementBits(type.getElementType());
  if (!(isOutput ? op.getFromSwizzled() : op.getSwizzled()) ||
      getSwizzlePhases(tile) < 2)
    return "the tiles are not swizzled";
  if (type.getRank() < 2 || type.getRank() > engine.maxRank || bits < 8)
    return *what + " has a rank or type that TMA does not support";
  if (rotatesSwizzlePhases(bits))
    return "tiles of 64-bit elements have a swizzle that TMA does not support";
  ArrayRef<int64_t> shape = op.getShape();
  ValueRange at =
      (isOutput ? op.getSourceIndices() : op.getTargetIndices()).take_back(2);
  for (int d : {0, 1})
    if (getConstantIntValue(at[d]) != int64_t(0) ||
        tile.getShape().take_back(2)[d] != shape[d])
      return "a copy does not fill its workgroup memory buffer";
  if ((!op.isGather() && shape[0] > engine.maxRows) ||
      shape[0] * shape[1] * bits / 8 % swizzlePatternBytes)
    return "tiles of " + std::to_string(shape[0]) + "x" +
           std::to_string(shape[1]) + " have more than " +
           std::to_string(engine.maxRows) +
           " rows, or are not a multiple of the swizzle pattern of " +
           std::to_string(swizzlePatternBytes) + " bytes";
  int64_t offset;
  SmallVector<int64_t> strides;
  auto isAligned = [&](int64_t distance) {
    return ShapedType::isStatic(distance) &&
           distance * bits % (8 * engine.alignment) == 0;
  };
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || !isAligned(offset) ||
      !llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
        return stride > 0 && isAligned(stride);
      }))
    return "rows of " + *what + " are not known to be aligned to " +
           std::to_string(engine.alignment) + " bytes";
  return "";
}

std::optional<std::array<int64_t, 2>>
mlir::tessera::getSharedBox(std::array<int64_t, 2> shape, int64_t bits,
                            int64_t parts) {
  // TMA permutes the pieces of a row by the bits of its address, so that a part
  // may begin within a pattern of eight rows, at a multiple of 128 bytes.
  constexpr int64_t lineBytes = 128;
  int64_t pitch = getSwizzlePanelBytes(shape[1] * bits / 8),
          columns = pitch * 8 / bits;
  // Rows that cannot be swizzled.
  if (columns == 0)
    return std::nullopt;
  int64_t panels = shape[1] / columns;
  if (panels % parts == 0)
    return std::array{shape[0], columns};
  if (shape[0] % parts == 0 && shape[0] / parts * pitch % lineBytes == 0)
    return std::array{shape[0] / parts, columns};
  return std::nullopt;
}

std::string mlir::tessera::explainNotBulk(CopyOp op, const Chip &chip) {
  return explain(op, chip);
}

std::string mlir::tessera::explainNotBulk(AsyncCopyOp op, const Chip &chip) {
  return explain(op, chip);
}

/// The nearest barrier of the block before or after `op`, with no op with side
/// effects in between, except those that `skip` selects.
template <typename NextFn>
static gpu::BarrierOp findBarrier(Operation *op, NextFn next,
                                  function_ref<bool(Operation *)> skip) {
  for (op = next(op); op; op = next(op)) {
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op))
      return barrier;
    if (!skip(op) && !isMemoryEffectFree(op))
      return {};
  }
  return {};
}

/// Whether the memory that `op` fills leaves the workgroup again.
static bool leavesAgain(CopyOp op) {
  return llvm::any_of(op.getTarget().getUsers(), [&](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    return copy && copy.getSource() == op.getTarget();
  });
}

bool mlir::tessera::isStagingCopy(CopyOp op) {
  return isWorkgroupMemory(op.getTargetType()) && !leavesAgain(op);
}

/// Whether accesses to workgroup memory other than the staged tiles are guarded
/// by barriers that do not belong to the steps: stores, a barrier, copies to
/// global memory, and in a loop a barrier before the stores. Copies from global
/// memory, a barrier, and loads may precede the stores.
static bool guardsOutputs(StagingPlan &plan, Block *top,
                          ArrayRef<Operation *> others) {
  if (others.empty())
    return true;
  Block *block = others.front()->getBlock();
  bool guarded = block == top, stored = false, arrives = false;
  auto next = others.begin();
  for (Operation &op : *block) {
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op)) {
      if (llvm::none_of(plan.steps, [&](const StagingStep &step) {
            return barrier == step.before || barrier == step.after;
          })) {
        guarded = true;
        arrives = false;
      }
      continue;
    }
    if (next == others.end() || *next != &op)
      continue;
    ++next;
    // It synchronizes on its own, once.
    if (isa<SumPartsOp>(op) && block == top)
      continue;
    if (auto store = dyn_cast<StoreOp>(op)) {
      if (!guarded || arrives || !plan.outputs.empty())
        return false;
      stored = true;
      continue;
    }
    if (isa<LoadOp>(op) && !plan.inputs.empty() && plan.outputs.empty() &&
        !arrives)
      continue;
    auto copy = dyn_cast<CopyOp>(op);
    if (copy && isWorkgroupMemory(copy.getTargetType())) {
      if (!guarded || stored || !plan.outputs.empty())
        return false;
      plan.inputs.push_back(copy);
      arrives = true;
      continue;
    }
    if (!copy || !stored)
      return false;
    // A barrier must separate it from the last store.
    if (plan.outputs.empty() &&
        !findBarrier(
            copy, [](Operation *op) { return op->getPrevNode(); },
            [](Operation *) { return false; }))
      return false;
    plan.outputs.push_back(copy);
  }
  return next == others.end();
}

int64_t mlir::tessera::countWorkgroupBytes(Operation *kernel,
                                           const StagingPlan &plan) {
  ArrayRef<BlockArgument> buffers;
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
    buffers = launch.getWorkgroupAttributions();
  else if (auto function = dyn_cast<gpu::GPUFuncOp>(kernel))
    buffers = function.getWorkgroupAttributions();
  // The barriers fit into one pattern.
  int64_t bytes = swizzlePatternBytes;
  for (BlockArgument buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    // Barriers other than those of the slots.
    if (type.getElementType().isInteger(64))
      continue;
    int64_t bits =
        type.hasStaticShape()
            ? type.getNumElements() * getElementBits(type.getElementType())
            : 0;
    for (const TileSet &tiles : plan.tiles)
      if (llvm::is_contained(tiles.memories, buffer))
        bits *= tiles.slots;
    bytes += llvm::alignTo(llvm::divideCeil(bits, 8), swizzlePatternBytes);
  }
  return bytes;
}

/// The bytes of the accumulators in `block` that are live at one of its
/// matmuls. A matmul's result takes the registers of its accumulator.
static int64_t countLiveBytes(Block &block) {
  struct Range {
    int64_t bytes, begin, end;
  };
  llvm::DenseMap<Operation *, int64_t> position;
  for (Operation &op : block)
    position.try_emplace(&op, position.size());
  SmallVector<Range> ranges;
  auto add = [&](Value value, int64_t begin) {
    auto type = dyn_cast<FragmentType>(value.getType());
    // Zeros are not in registers.
    if (!type || type.getRole() != Role::Acc || value.getDefiningOp<FillOp>())
      return;
    int64_t end = begin;
    for (Operation *user : value.getUsers())
      if (Operation *at = block.findAncestorOpInBlock(*user))
        end = std::max(end, position.lookup(at));
    ranges.push_back({type.getRows() * type.getCols() *
                          getElementBytes(type.getElementType()),
                      begin, end});
  };
  for (Value argument : block.getArguments())
    add(argument, -1);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result, position.lookup(&op));
  int64_t most = 0;
  for (auto op : block.getOps<MmaOp>()) {
    int64_t at = position.lookup(op), sum = 0;
    for (const Range &range : ranges)
      if (range.begin == at || (range.begin < at && range.end > at))
        sum += range.bytes;
    most = std::max(most, sum);
  }
  return most;
}

/// The registers of a thread that hold accumulators at a matmul.
static int64_t countAccumulators(Operation *kernel, const Chip &chip) {
  auto schedule = kernel->getAttrOfType<ScheduleAttr>(
      TesseraDialect::ScheduleAttrHelper::getNameStr());
  int64_t group = schedule ? schedule.getSubgroupsPerFragment()
                           : getFragmentGroup(kernel),
          most = 0;
  kernel->walk(
      [&](Block *block) { most = std::max(most, countLiveBytes(*block)); });
  return most / (4 * group * chip.subgroupSize);
}

int64_t mlir::tessera::countProducerThreads(int64_t threads, const Chip &chip,
                                            bool carries) {
  int64_t group = chip.bulkCopies->registerGroup,
          least = (carries ? 2 : 1) * chip.subgroupSize;
  return threads > group && threads % group == 0 ? group : least;
}

RegisterShares mlir::tessera::shareRegisters(int64_t threads, int64_t producers,
                                             int64_t reserve,
                                             const Chip &chip) {
  // PTX ISA, "setmaxnreg".
  constexpr int64_t unit = 8, most = 240;
  int64_t all = threads + producers,
          first = chip.registersPerWorkgroup / all / unit * unit,
          least = chip.bulkCopies->leastRegisters + reserve;
  RegisterShares shares{first, least, first};
  if (producers == chip.bulkCopies->registerGroup && least < first)
    shares.taken =
        std::max(first, std::min(most, (first * all - least * producers) /
                                           threads / unit * unit));
  return shares;
}

bool StagingPlan::isStagingLoop(Operation *op) const {
  return isa<scf::ForOp>(op) &&
         llvm::any_of(steps, [&](const StagingStep &step) {
           return op->isProperAncestor(step.copies.front());
         });
}

/// Puts copies between the same barriers together. False: some have none.
static bool findSteps(ArrayRef<CopyOp> copies, StagingPlan &plan) {
  auto isCopy = [&](Operation *op) {
    return llvm::is_contained(copies, dyn_cast<CopyOp>(op));
  };
  for (CopyOp op : copies) {
    gpu::BarrierOp before = findBarrier(
        op, [](Operation *op) { return op->getPrevNode(); }, isCopy);
    gpu::BarrierOp after = findBarrier(
        op, [](Operation *op) { return op->getNextNode(); }, isCopy);
    if (!before || !after)
      return false;
    if (plan.steps.empty() || plan.steps.back().before != before)
      plan.steps.push_back({{}, before, after});
    plan.steps.back().copies.push_back(op);
  }
  return true;
}

/// The indices of the steps that load tiles to `memory`.
static SmallVector<size_t> findStepsOf(Value memory, const StagingPlan &plan) {
  SmallVector<size_t> numbers;
  for (auto [i, step] : llvm::enumerate(plan.steps))
    for (CopyOp op : step.copies)
      if (op.getTarget() == memory)
        numbers.push_back(i);
  return numbers;
}

/// Loops between the kernel and `op`; -1 where other ops are.
static int64_t countLoops(Operation *op, Operation *kernel) {
  int64_t loops = 0;
  for (Operation *parent = op->getParentOp(); parent != kernel;
       parent = parent->getParentOp(), ++loops)
    if (!isa<scf::ForOp>(parent))
      return -1;
  return loops;
}

/// Collects tiles that are loaded together, with their number of slots.
static void findTiles(Operation *kernel, int64_t stages, StagingPlan &plan) {
  int64_t deepest = 0;
  SmallVector<std::pair<SmallVector<size_t>, TileSet>> found;
  for (const StagingStep &step : plan.steps) {
    deepest = std::max(deepest, countLoops(step.copies.front(), kernel));
    for (CopyOp op : step.copies) {
      SmallVector<size_t> numbers = findStepsOf(op.getTarget(), plan);
      auto known = llvm::find_if(
          found, [&](const auto &entry) { return entry.first == numbers; });
      if (known == found.end())
        known = found.insert(found.end(), {numbers, TileSet{{}, 1}});
      if (!llvm::is_contained(known->second.memories, op.getTarget()))
        known->second.memories.push_back(op.getTarget());
    }
  }
  for (auto &[numbers, tiles] : found) {
    for (size_t i : numbers)
      if (countLoops(plan.steps[i].copies.front(), kernel) == deepest)
        tiles.slots = stages;
    plan.tiles.push_back(tiles);
  }
}

/// Finds the step that loads the tile which `load` reads: the last one before
/// it, such that no other step can follow.
static bool findSupplier(LoadOp load, StagingPlan &plan) {
  std::optional<size_t> supplier;
  SmallVector<size_t> numbers = findStepsOf(load.getMemory(), plan);
  auto findAncestor = [&](const StagingStep &step) {
    return step.after->getBlock()->findAncestorOpInBlock(*load);
  };
  for (size_t i : numbers) {
    Operation *ancestor = findAncestor(plan.steps[i]);
    if (ancestor && plan.steps[i].after->isBeforeInBlock(ancestor))
      supplier = i;
  }
  if (!supplier)
    return false;
  for (size_t i : numbers) {
    if (i == *supplier)
      continue;
    Operation *other = plan.steps[i].copies.front();
    // In a loop around the load that the supplier is not in.
    for (Operation *loop = other->getParentOp(); loop;
         loop = loop->getParentOp())
      if (isa<scf::ForOp>(loop) && loop->isProperAncestor(load) &&
          !loop->isProperAncestor(plan.steps[*supplier].copies.front()))
        return false;
    // Between the two, in a loop that the load is not in.
    Block *block = plan.steps[*supplier].after->getBlock();
    Operation *ancestor = block->findAncestorOpInBlock(*other);
    if (i > *supplier && ancestor &&
        ancestor->isBeforeInBlock(block->findAncestorOpInBlock(*load)))
      return false;
  }
  plan.suppliers[load] = *supplier;
  return true;
}

std::optional<StagingPlan> mlir::tessera::matchBulkSteps(Operation *kernel,
                                                         int64_t stages,
                                                         int64_t threads,
                                                         const Chip &chip,
                                                         std::string &why) {
  auto isNot = [&](const Twine &message) {
    why = message.str();
    return std::nullopt;
  };
  why.clear();
  SmallVector<CopyOp> copies;
  llvm::SmallPtrSet<void *, 4> memories;
  kernel->walk([&](CopyOp op) {
    if (!isStagingCopy(op))
      return;
    copies.push_back(op);
    memories.insert(op.getTarget().getAsOpaquePointer());
  });
  if (copies.empty())
    return std::nullopt;
  for (CopyOp op : copies)
    if (std::string reason = explainNotBulk(op, chip); !reason.empty())
      return isNot(reason);

  StagingPlan plan;
  if (!findSteps(copies, plan))
    return isNot("the copies are not guarded by barriers");
  bool simple = true;
  for (const StagingStep &step : plan.steps) {
    if (countLoops(step.copies.front(), kernel) < 0)
      return isNot("copies are made under a condition");
    llvm::SmallPtrSet<void *, 4> targets;
    for (CopyOp op : step.copies)
      simple &= targets.insert(op.getTarget().getAsOpaquePointer()).second;
  }
  for (CopyOp op : copies)
    simple &=
        isa<BlockArgument>(op.getTarget()) && op.getTargetType().getRank() == 2;
  SmallVector<Operation *> others;
  kernel->walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp>(op) || op == kernel ||
        isMemoryEffectFree(op))
      return;
    bool isShared = false, isStaged = false;
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<MemRefType>(operand.getType());
          type && isWorkgroupMemory(type))
        (memories.contains(operand.getAsOpaquePointer()) ? isStaged
                                                         : isShared) = true;
    if (isShared)
      others.push_back(op);
    // Tiles are read after the step that loads them.
    auto load = dyn_cast<LoadOp>(op);
    if (isStaged && !llvm::is_contained(copies, dyn_cast<CopyOp>(op)))
      simple &= load && findSupplier(load, plan);
    simple &= !isa<AsyncCopyOp, WaitOp>(op);
  });
  if (!simple)
    return isNot("copies and loads do not form a staged loop");
  findTiles(kernel, stages, plan);
  // The producer may run ahead of all that is not the steps'.
  if (!guardsOutputs(plan, &kernel->getRegion(0).front(), others))
    return isNot(
        "workgroup memory is also used for other data than the staged tiles");
  if (stages < 1)
    return isNot("the number of stages is not set on the kernel");
  int64_t producers = countProducerThreads(
      threads, chip, !plan.inputs.empty() || !plan.outputs.empty());
  if (threads % chip.subgroupSize != 0 || threads + producers > chip.maxThreads)
    return isNot("a workgroup of " + Twine(threads) +
                 " threads has no room for a subgroup that copies");
  int64_t accumulators = countAccumulators(kernel, chip);
  if (chip.registersPerWorkgroup && accumulators &&
      accumulators + registersBesideAccumulators >
          shareRegisters(threads, producers, reserveOfClusters, chip).taken)
    return isNot(Twine(accumulators) +
                 " accumulator registers for each thread leave no "
                 "registers for " +
                 Twine(producers) + " copying threads");
  if (int64_t bytes = countWorkgroupBytes(kernel, plan);
      bytes > chip.workgroupMemoryBytes)
    return isNot("tiles and barriers require " + Twine(bytes) +
                 " bytes of workgroup memory, but " + chip.name + " has " +
                 Twine(chip.workgroupMemoryBytes));
  return plan;
}
