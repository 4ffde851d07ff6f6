//===- Barriers.cpp - Scope of barriers -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Barriers.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// An access to a buffer in global memory.
struct Access {
  /// The argument of the kernel; null where it is not known.
  Value buffer;
  bool writes;
  /// The position in the kernel, in the order of the text.
  unsigned position;
};

/// A part of the kernel, as positions.
struct Span {
  unsigned first, last;
};

} // namespace

/// The underlying argument of the kernel of a view; null if there is none.
static Value getBuffer(Value memory, Operation *kernel) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>()) {
    if (view.getViewDest() != memory)
      return {};
    memory = view.getViewSource();
  }
  auto argument = dyn_cast<BlockArgument>(memory);
  return argument && argument.getOwner() == &kernel->getRegion(0).front()
             ? memory
             : Value();
}

/// Appends the accesses of `op` to global memory.
static void collect(Operation *op, Operation *kernel, unsigned position,
                    SmallVectorImpl<Access> &accesses) {
  if (isa<gpu::BarrierOp>(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects) {
    accesses.push_back({Value(), /*writes=*/true, position});
    return;
  }
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  for (const MemoryEffects::EffectInstance &effect : instances) {
    bool writes = isa<MemoryEffects::Write>(effect.getEffect());
    if (!writes && !isa<MemoryEffects::Read>(effect.getEffect()))
      continue;
    Value memory = effect.getValue();
    auto type = memory ? dyn_cast<MemRefType>(memory.getType()) : MemRefType();
    if (type && isWorkgroupMemory(type))
      continue;
    if (memory && memory.getDefiningOp<memref::AllocaOp>())
      continue; // The thread's own.
    accesses.push_back(
        {memory ? getBuffer(memory, kernel) : Value(), writes, position});
  }
}

SmallVector<gpu::BarrierOp> mlir::tessera::findWorkgroupBarriers(
    Operation *kernel, function_ref<bool(Operation *)> touchesNoMemory) {
  SmallVector<Access> accesses;
  SmallVector<std::pair<gpu::BarrierOp, Span>> barriers;
  llvm::DenseMap<Operation *, Span> spans;
  unsigned position = 0;
  // Positions are assigned before and after an op's regions.
  std::function<void(Operation *)> number = [&](Operation *op) {
    unsigned first = position++;
    if (op != kernel && !touchesNoMemory(op))
      collect(op, kernel, first, accesses);
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        number(&inner);
    spans[op] = {first, position};
  };
  number(kernel);
  kernel->walk([&](gpu::BarrierOp barrier) {
    // The outermost loop around the barrier repeats: ops in it are both before
    // and after the barrier.
    Operation *outermost = barrier;
    for (Operation *parent = barrier->getParentOp(); parent != kernel;
         parent = parent->getParentOp())
      outermost = parent;
    barriers.push_back({barrier, spans[outermost]});
  });

  SmallVector<gpu::BarrierOp> found;
  for (auto &[barrier, around] : barriers) {
    auto isBefore = [&, last = around.last](const Access &access) {
      return access.position < last;
    };
    auto isAfter = [&, first = around.first](const Access &access) {
      return access.position >= first;
    };
    // Any access after a write may observe it (RAW, WAW); a later write
    // conflicts only with earlier reads of the same buffer (WAR).
    bool matters = llvm::any_of(accesses, [&](const Access &before) {
      return isBefore(before) &&
             llvm::any_of(accesses, [&](const Access &after) {
               if (!isAfter(after) || (!before.writes && !after.writes))
                 return false;
               return before.writes || !before.buffer || !after.buffer ||
                      before.buffer == after.buffer;
             });
    });
    if (!matters)
      found.push_back(barrier);
  }
  return found;
}
