//===- RedundantBarriers.cpp - Barriers that order nothing ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each conversion through workgroup memory has a subgroup barrier before its
// stores, since its memory may still be read, and one before its loads. A
// barrier orders nothing if no memory that is written on one of its sides, up
// to the next barrier, is accessed on the other one:
//
//   store A;  barrier;  load A;  [barrier]  store B;  barrier;  load B
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-tessera-to-spirv"

STATISTIC(numErasedBarriers, "Number of redundant subgroup barriers");

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// The workgroup memory that some ops access.
struct Accesses {
  llvm::SmallDenseSet<Value> reads, writes;
  /// Whether they may access any.
  bool any = false;

  bool isOrderedWith(const Accesses &other) const {
    auto meets = [](const llvm::SmallDenseSet<Value> &x,
                    const llvm::SmallDenseSet<Value> &y) {
      return llvm::any_of(x, [&](Value memory) { return y.contains(memory); });
    };
    return any || other.any || meets(writes, other.writes) ||
           meets(writes, other.reads) || meets(reads, other.writes);
  }
  void add(Value memory, bool isWrite);
  void add(Operation *op);
};
} // namespace

void Accesses::add(Value memory, bool isWrite) {
  // A matrix's pointer, from memory and indices.
  if (auto cast = memory.getDefiningOp<UnrealizedConversionCastOp>())
    memory = cast.getInputs().front();
  if (isa<spirv::PointerType>(memory.getType())) {
    any = true;
    return;
  }
  while (Operation *view = memory.getDefiningOp()) {
    auto viewLike = dyn_cast<ViewLikeOpInterface>(view);
    if (!viewLike)
      break;
    memory = viewLike.getViewSource();
  }
  auto type = cast<MemRefType>(memory.getType());
  if (!isa_and_nonnull<gpu::AddressSpaceAttr>(type.getMemorySpace()))
    return;
  (isWrite ? writes : reads).insert(memory);
}

void Accesses::add(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    add(load.getMemRef(), /*isWrite=*/false);
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    add(store.getMemRef(), /*isWrite=*/true);
  else if (auto load = dyn_cast<vector::LoadOp>(op))
    add(load.getBase(), /*isWrite=*/false);
  else if (auto store = dyn_cast<vector::StoreOp>(op))
    add(store.getBase(), /*isWrite=*/true);
  else if (auto load = dyn_cast<spirv::KHRCooperativeMatrixLoadOp>(op))
    add(load.getPointer(), /*isWrite=*/false);
  else if (auto store = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op))
    add(store.getPointer(), /*isWrite=*/true);
  else if (op->getNumRegions() != 0)
    any |= op->walk([](Operation *inner) {
               return isMemoryEffectFree(inner) || inner->getNumRegions() != 0
                          ? WalkResult::advance()
                          : WalkResult::interrupt();
             }).wasInterrupted();
  else
    any |= !isMemoryEffectFree(op);
}

static bool isAnyBarrier(Operation *op) {
  return isa<gpu::BarrierOp, spirv::ControlBarrierOp>(op);
}

/// Whether `op` is a barrier of a subgroup for workgroup memory alone.
static bool isSubgroupBarrier(Operation *op) {
  auto barrier = dyn_cast<spirv::ControlBarrierOp>(op);
  auto global = spirv::MemorySemantics::UniformMemory |
                spirv::MemorySemantics::CrossWorkgroupMemory;
  return barrier && barrier.getExecutionScope() == spirv::Scope::Subgroup &&
         (barrier.getMemorySemantics() & global) ==
             spirv::MemorySemantics::None;
}

void mlir::tessera::eraseRedundantBarriers(gpu::GPUFuncOp kernel) {
  SmallVector<Operation *> barriers;
  kernel.walk([&](spirv::ControlBarrierOp op) {
    if (isSubgroupBarrier(op))
      barriers.push_back(op);
  });
  for (Operation *barrier : barriers) {
    Accesses before, after;
    // Accesses before or after the block are not known.
    Operation *op = barrier->getPrevNode();
    for (; op && !isAnyBarrier(op); op = op->getPrevNode())
      before.add(op);
    before.any |= !op;
    op = barrier->getNextNode();
    for (; op && !isAnyBarrier(op); op = op->getNextNode())
      after.add(op);
    after.any |= !op;
    if (before.isOrderedWith(after))
      continue;
    LDBG() << barrier->getLoc() << ": a barrier orders nothing";
    ++numErasedBarriers;
    barrier->erase();
  }
}
