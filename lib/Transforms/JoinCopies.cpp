//===- JoinCopies.cpp - One kernel for the copies of a matmul's operands --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy of a small operand takes as long as a kernel takes to start. Two that
// follow each other become one kernel with the workgroups of both:
//
//   copy of lhs: G workgroups        workgroups [0, G):       copy of lhs
//   copy of rhs: H workgroups   ->   workgroups [G, G + H):   copy of rhs
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAJOINCOPIES
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-join-copies"

STATISTIC(numJoinedCopies, "Number of kernels joined with the one before");

using namespace mlir;
using namespace mlir::tessera;

/// The most workgroups of a grid along x.
static constexpr int64_t mostWorkgroups = (int64_t(1) << 31) - 1;

static StringAttr getPurpose(gpu::LaunchOp launch) {
  return launch->getAttrOfType<StringAttr>(
      TesseraDialect::PackingAttrHelper::getNameStr());
}

/// Whether `launch` copies an operand by a grid of one dimension, and each of
/// its threads works by itself.
static bool isSimpleCopy(gpu::LaunchOp launch) {
  auto isOne = [](Value size) { return getConstantIntValue(size) == 1; };
  return getPurpose(launch) && launch.getBody().hasOneBlock() &&
         isOne(launch.getGridSizeY()) && isOne(launch.getGridSizeZ()) &&
         isOne(launch.getBlockSizeY()) && isOne(launch.getBlockSizeZ()) &&
         !launch.getDynamicSharedMemorySize() && !launch.getAsyncToken() &&
         launch.getAsyncDependencies().empty() && !launch.hasClusterSize() &&
         launch.getNumWorkgroupAttributions() == 0 &&
         launch.getNumPrivateAttributions() == 0 &&
         !launch
              .walk([](Operation *op) {
                return isa<gpu::LaunchOp, gpu::TerminatorOp>(op) ||
                               op->getName().getDialectNamespace() != "gpu"
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The buffers that `launch` uses, and those among them that it writes; nothing
/// if some of these are not allocations, which nothing else aliases.
static std::optional<std::pair<DenseSet<Value>, DenseSet<Value>>>
getBuffers(gpu::LaunchOp launch) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(launch.getBody(), captured);
  DenseSet<Value> used, written;
  for (Value value : captured)
    if (auto memory = dyn_cast<MemrefValue>(value))
      used.insert(memref::skipViewLikeOps(memory));
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(launch);
  if (!effects)
    return std::nullopt;
  for (MemoryEffects::EffectInstance &effect : *effects) {
    if (!isa<MemoryEffects::Write>(effect.getEffect()))
      continue;
    auto memory = dyn_cast_if_present<MemrefValue>(effect.getValue());
    Value root = memory ? memref::skipViewLikeOps(memory) : Value();
    if (!root || !root.getDefiningOp<memref::AllocOp>())
      return std::nullopt;
    written.insert(root);
  }
  return std::pair(used, written);
}

/// Whether all buffers that are `used` and not `written` are arguments. A copy
/// of constants, or of what follows from them, moves to the loader later.
static bool readsArguments(const DenseSet<Value> &used,
                           const DenseSet<Value> &written) {
  return llvm::all_of(used, [&](Value root) {
    return written.contains(root) || isa<BlockArgument>(root);
  });
}

/// Whether `first` and `second`, which follows it, may run at the same time,
/// and both run each time.
static bool areIndependent(gpu::LaunchOp first, gpu::LaunchOp second) {
  auto a = getBuffers(first), b = getBuffers(second);
  auto areDisjoint = [](const DenseSet<Value> &l, const DenseSet<Value> &r) {
    return llvm::none_of(l, [&](Value value) { return r.contains(value); });
  };
  return a && b && areDisjoint(a->first, b->second) &&
         areDisjoint(a->second, b->first) &&
         readsArguments(a->first, a->second) &&
         readsArguments(b->first, b->second);
}

/// The copy after `first` that can be joined with it; null if there is none.
static gpu::LaunchOp findPartner(gpu::LaunchOp first) {
  Operation *next = first->getNextNode();
  while (next && !isa<gpu::LaunchOp>(next) && isMemoryEffectFree(next))
    next = next->getNextNode();
  auto second = dyn_cast_if_present<gpu::LaunchOp>(next);
  if (!second || !isSimpleCopy(second))
    return {};
  std::optional<int64_t> g = getConstantIntValue(first.getGridSizeX()),
                         h = getConstantIntValue(second.getGridSizeX()),
                         s = getConstantIntValue(first.getBlockSizeX()),
                         t = getConstantIntValue(second.getBlockSizeX());
  bool fits = g && h && s && s == t && *g + *h <= mostWorkgroups;
  if (!fits || !areIndependent(first, second)) {
    LDBG() << second.getLoc() << ": not joined: "
           << (fits ? "reads constants, or memory of the other one"
                    : "other or unknown sizes");
    return {};
  }
  return second;
}

/// Clones the body of `launch` for the workgroup `x` of its grid.
static void cloneBody(ImplicitLocOpBuilder &builder, gpu::LaunchOp launch,
                      gpu::LaunchOp joined, Value x) {
  IRMapping mapping;
  gpu::KernelDim3 ids = launch.getBlockIds(), grid = launch.getGridSize(),
                  threads = launch.getThreadIds(),
                  block = launch.getBlockSize(), to = joined.getBlockIds(),
                  toGrid = joined.getGridSize(),
                  toThreads = joined.getThreadIds(),
                  toBlock = joined.getBlockSize();
  mapping.map(ids.x, x);
  mapping.map(ids.y, to.y);
  mapping.map(ids.z, to.z);
  mapping.map(grid.x, launch.getGridSizeX());
  mapping.map(grid.y, toGrid.y);
  mapping.map(grid.z, toGrid.z);
  for (auto [from, other] : {std::pair(threads, toThreads), {block, toBlock}}) {
    mapping.map(from.x, other.x);
    mapping.map(from.y, other.y);
    mapping.map(from.z, other.z);
  }
  for (Operation &op : launch.getBody().front().without_terminator())
    builder.clone(op, mapping);
}

/// Makes one kernel of both, in the place of `second`.
static gpu::LaunchOp join(gpu::LaunchOp first, gpu::LaunchOp second) {
  ImplicitLocOpBuilder builder(
      FusedLoc::get(first.getContext(), {first.getLoc(), second.getLoc()}),
      second);
  Value grid = arith::AddIOp::create(builder, first.getGridSizeX(),
                                     second.getGridSizeX());
  auto joined = gpu::LaunchOp::create(
      builder, grid, second.getGridSizeY(), second.getGridSizeZ(),
      second.getBlockSizeX(), second.getBlockSizeY(), second.getBlockSizeZ());
  joined->setDiscardableAttrs(second->getDiscardableAttrDictionary());
  joined->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(),
                  builder.getStringAttr(getPurpose(first).getValue() + "; " +
                                        getPurpose(second).getValue()));
  builder.setInsertionPointToStart(&joined.getBody().front());
  Value x = joined.getBlockIds().x, begin = first.getGridSizeX(),
        isFirst =
            arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, x, begin);
  auto branch = scf::IfOp::create(builder, isFirst, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  cloneBody(builder, first, joined, x);
  builder.setInsertionPointToStart(branch.elseBlock());
  Value rest = arith::SubIOp::create(builder, x, begin);
  cloneBody(builder, second, joined, rest);
  builder.setInsertionPointToEnd(&joined.getBody().front());
  gpu::TerminatorOp::create(builder);
  first.erase();
  second.erase();
  return joined;
}

namespace {
struct TesseraJoinCopiesPass
    : public tessera::impl::TesseraJoinCopiesBase<TesseraJoinCopiesPass> {
  using TesseraJoinCopiesBase::TesseraJoinCopiesBase;

  void runOnOperation() override {
    SmallVector<gpu::LaunchOp> copies;
    getOperation()->walk([&](gpu::LaunchOp launch) {
      if (isSimpleCopy(launch))
        copies.push_back(launch);
    });
    // Those that were joined with the one before are null.
    for (size_t i = 0; i < copies.size(); ++i) {
      gpu::LaunchOp first = copies[i];
      if (!first)
        continue;
      gpu::LaunchOp second = findPartner(first);
      auto *other = llvm::find(copies, second);
      if (!second || other == copies.end())
        continue;
      LDBG() << second.getLoc() << ": joined with the copy before";
      ++numJoinedCopies;
      *other = nullptr;
      // The code of three copies would be long.
      join(first, second);
    }
  }
};
} // namespace
