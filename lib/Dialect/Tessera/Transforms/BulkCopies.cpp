//===- BulkCopies.cpp - What a bulk copy engine takes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asked twice of the same kernel: before it is outlined, since copies that the
// engine brings are not to be pipelined otherwise, and by the conversion.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/BulkCopies.h"

#include "Dialect/Tessera/Transforms/Schedule.h"
#include "Dialect/Tessera/Transforms/Utils.h"
#include "Dialect/Tessera/Transforms/Window.h"

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
    return "what is copied is no argument of the kernel";
  if (op.isGather()) {
    std::string why = "not by windows of known extents";
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
    return *what + " is of another rank or type than the engine takes";
  ArrayRef<int64_t> shape = op.getShape();
  ValueRange at =
      (isOutput ? op.getSourceIndices() : op.getTargetIndices()).take_back(2);
  for (int d : {0, 1})
    if (getConstantIntValue(at[d]) != int64_t(0) ||
        tile.getShape().take_back(2)[d] != shape[d])
      return "a copy is of a part of its workgroup memory only";
  if ((!op.isGather() && shape[0] > engine.maxRows) ||
      shape[0] * shape[1] * bits / 8 % swizzlePatternBytes)
    return "tiles of " + std::to_string(shape[0]) + "x" +
           std::to_string(shape[1]) + " have more than " +
           std::to_string(engine.maxRows) + " rows, or no whole pattern of " +
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
    return "rows of " + *what + " are not known to begin at multiples of " +
           std::to_string(engine.alignment) + " bytes";
  return "";
}

std::string mlir::tessera::explainNotBulk(CopyOp op, const Chip &chip) {
  return explain(op, chip);
}

std::string mlir::tessera::explainNotBulk(AsyncCopyOp op, const Chip &chip) {
  return explain(op, chip);
}

/// The nearest barrier of the block before or after `op`, where nothing with an
/// effect is between them but what `skip` names.
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

/// Whether what else is in workgroup memory, beside the step's tiles, is
/// guarded by barriers that are not the step's: stores, a barrier, copies to
/// the outside, and in a loop a barrier before the stores.
static bool guardsOutputs(StagingStep &step, ArrayRef<Operation *> others) {
  if (others.empty())
    return true;
  Block *block = others.front()->getBlock();
  Block *top = step.loops.empty() ? step.copies.front()->getBlock()
                                  : step.loops.front()->getBlock();
  bool guarded = block == top, stored = false;
  auto next = others.begin();
  for (Operation &op : *block) {
    if (auto barrier = dyn_cast<gpu::BarrierOp>(op)) {
      if (barrier != step.before && barrier != step.after)
        guarded = true;
      continue;
    }
    if (next == others.end() || *next != &op)
      continue;
    ++next;
    // It synchronizes by itself, once.
    if (isa<SumPartsOp>(op) && block == top)
      continue;
    if (auto store = dyn_cast<StoreOp>(op)) {
      if (!guarded || !step.outputs.empty())
        return false;
      stored = true;
      continue;
    }
    auto copy = dyn_cast<CopyOp>(op);
    if (!copy || isWorkgroupMemory(copy.getTargetType()) || !stored)
      return false;
    // A barrier stands between it and the last store.
    if (step.outputs.empty() &&
        !findBarrier(
            copy, [](Operation *op) { return op->getPrevNode(); },
            [](Operation *) { return false; }))
      return false;
    step.outputs.push_back(copy);
  }
  return next == others.end();
}

/// Bytes of workgroup memory with a slot of `memories` for each stage, and with
/// the barriers, which fit into one pattern.
static int64_t countBytes(Operation *kernel,
                          const llvm::SmallPtrSetImpl<void *> &memories,
                          int64_t stages) {
  ArrayRef<BlockArgument> buffers;
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
    buffers = launch.getWorkgroupAttributions();
  else if (auto function = dyn_cast<gpu::GPUFuncOp>(kernel))
    buffers = function.getWorkgroupAttributions();
  int64_t bytes = swizzlePatternBytes;
  for (BlockArgument buffer : buffers) {
    auto type = cast<MemRefType>(buffer.getType());
    int64_t bits =
        type.hasStaticShape()
            ? type.getNumElements() * getElementBits(type.getElementType())
            : 0;
    if (memories.contains(buffer.getAsOpaquePointer()))
      bits *= stages;
    bytes += llvm::alignTo(llvm::divideCeil(bits, 8), swizzlePatternBytes);
  }
  return bytes;
}

/// Registers of a thread that hold accumulators.
static int64_t countAccumulators(Operation *kernel, const Chip &chip) {
  auto schedule = kernel->getAttrOfType<ScheduleAttr>(getScheduleAttrName());
  int64_t group = schedule ? schedule.getGroup() : getFragmentGroup(kernel),
          bytes = 0;
  kernel->walk([&](MmaOp op) {
    // Products that follow each other have one accumulator.
    if (op.getAcc().getDefiningOp<MmaOp>())
      return;
    FragmentType type = op.getAcc().getType();
    bytes += type.getRows() * type.getCols() *
             getElementBytes(type.getElementType());
  });
  return bytes / (4 * group * chip.subgroupSize);
}

int64_t mlir::tessera::countProducerThreads(int64_t threads, const Chip &chip) {
  int64_t group = chip.bulkCopies->registerGroup;
  return threads > group && threads % group == 0 ? group : chip.subgroupSize;
}

std::optional<StagingStep>
mlir::tessera::matchBulkStep(Operation *kernel, int64_t stages, int64_t threads,
                             const Chip &chip, std::string &why) {
  auto isNot = [&](const Twine &message) {
    why = message.str();
    return std::nullopt;
  };
  why.clear();
  StagingStep step;
  SmallVector<Operation *> others;
  llvm::SmallPtrSet<void *, 4> memories;
  kernel->walk([&](CopyOp op) {
    if (!isWorkgroupMemory(op.getTargetType()))
      return;
    step.copies.push_back(op);
    memories.insert(op.getTarget().getAsOpaquePointer());
  });
  if (step.copies.empty())
    return std::nullopt;
  for (CopyOp op : step.copies)
    if (std::string reason = explainNotBulk(op, chip); !reason.empty())
      return isNot(reason);

  Block *block = step.copies.front()->getBlock();
  bool simple = memories.size() == step.copies.size();
  for (CopyOp op : step.copies)
    simple &= op->getBlock() == block && isa<BlockArgument>(op.getTarget()) &&
              op.getTargetType().getRank() == 2;
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
    // Tiles are read where they were brought.
    if (isStaged && !llvm::is_contained(step.copies, op))
      simple &= isa<LoadOp>(op) && op->getBlock() == block &&
                step.copies.back()->isBeforeInBlock(op);
    simple &= !isa<AsyncCopyOp, WaitOp>(op);
  });
  if (!simple)
    return isNot("copies and loads are no one step of a loop");
  auto isCopy = [&](Operation *op) {
    return llvm::is_contained(step.copies, op);
  };
  step.before = findBarrier(
      step.copies.front(), [](Operation *op) { return op->getPrevNode(); },
      isCopy);
  step.after = findBarrier(
      step.copies.back(), [](Operation *op) { return op->getNextNode(); },
      isCopy);
  if (!step.before || !step.after)
    return isNot("no barriers guard the copies");
  for (Operation *parent = block->getParentOp(); parent != kernel;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return isNot("copies are made under a condition");
    step.loops.insert(step.loops.begin(), loop);
  }
  // The producer may run ahead of all that is not the step's.
  if (!guardsOutputs(step, others))
    return isNot("workgroup memory is used for more than the step's tiles");
  if (stages < 1)
    return isNot("the kernel has no number of stages");
  if (threads % chip.subgroupSize != 0 ||
      threads + countProducerThreads(threads, chip) > chip.maxThreads)
    return isNot("a workgroup of " + Twine(threads) +
                 " threads has no room for a subgroup that copies");
  // What a thread begins with is all that the kernel is compiled for.
  int64_t all = threads + countProducerThreads(threads, chip),
          accumulators = countAccumulators(kernel, chip);
  if (chip.registersPerWorkgroup && accumulators &&
      accumulators + registersBesideAccumulators >
          chip.registersPerWorkgroup / all / 8 * 8)
    return isNot(Twine(accumulators) +
                 " accumulators of a thread leave no "
                 "registers for " +
                 Twine(all - threads) + " threads that copy");
  if (int64_t bytes = countBytes(kernel, memories, stages);
      bytes > chip.workgroupMemoryBytes)
    return isNot("tiles and barriers need " + Twine(bytes) +
                 " bytes of workgroup memory, " + chip.name + " has " +
                 Twine(chip.workgroupMemoryBytes));
  return step;
}
