//===- HoistConstantLaunches.cpp - Launches that run once -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch moves to the loader if all that it reads is constant and all that it
// writes is written by such launches only. Both sets are found together, by
// removing members until nothing changes.
//
//===----------------------------------------------------------------------===//

#include "Graph/Constants.h"
#include "Graph/Passes.h"
#include "Loader.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAHOISTCONSTANTLAUNCHES
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-hoist-constant-launches"

STATISTIC(numHoistedLaunches, "Number of launches moved to the loader");

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Memory of launches
//===----------------------------------------------------------------------===//

/// The memory that `memory` is a view of; null if there are several.
static Value getRoot(Value memory) {
  while (Operation *op = memory.getDefiningOp()) {
    Value source;
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType())) {
        if (source)
          return nullptr;
        source = operand;
      }
    if (!source)
      return memory;
    if (!isMemoryEffectFree(op))
      return nullptr;
    memory = source;
  }
  return memory;
}

namespace {

/// The memory outside of a launch, or of another op, that it accesses.
struct Accesses {
  llvm::SmallSetVector<Value, 4> reads, writes;
  /// Whether it may access memory in ways that are not known.
  bool isUnknown = false;
};

} // namespace

/// Adds the accesses of `inner`, which is `top` or an op within it.
static void addAccesses(Operation *inner, Operation *top, Accesses &accesses) {
  auto add = [&](Value memory, bool isWrite) {
    Value root = getRoot(memory);
    if (!root) {
      accesses.isUnknown = true;
      return;
    }
    // The launch's own memory is not the function's.
    if (top->isAncestor(root.getParentBlock()->getParentOp())) {
      accesses.isUnknown |=
          isa_and_nonnull<memref::GetGlobalOp>(root.getDefiningOp());
      return;
    }
    (isWrite ? accesses.writes : accesses.reads).insert(root);
  };
  if (isa<CallOpInterface, gpu::PrintfOp>(inner) && inner != top)
    accesses.isUnknown = true;
  bool hasMemory = llvm::any_of(inner->getOperandTypes(), [](Type type) {
    return isa<BaseMemRefType>(type);
  });
  // Barriers order accesses, and have none.
  if (!hasMemory || isMemoryEffectFree(inner))
    return;
  auto interface = dyn_cast<MemoryEffectOpInterface>(inner);
  if (!interface) {
    accesses.isUnknown = true;
    return;
  }
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance &effect : effects) {
    if (!effect.getValue() || !isa<MemRefType>(effect.getValue().getType())) {
      accesses.isUnknown = true;
      return;
    }
    bool isRead = isa<MemoryEffects::Read>(effect.getEffect());
    add(effect.getValue(), !isRead);
  }
}

static Accesses findAccesses(Operation *top) {
  Accesses accesses;
  top->walk([&](Operation *inner) { addAccesses(inner, top, accesses); });
  return accesses;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

namespace {

/// Which launches of a function can move, and which buffers become constants.
class Choice {
public:
  Choice(func::FuncOp function, ModuleOp module)
      : block(function.getBody().front()), symbols(module) {}

  void make() {
    unsigned position = 0;
    for (Operation &op : block) {
      positions[&op] = position++;
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        if (isSimple(alloc))
          buffers.insert(alloc);
    }
    for (Operation &op : block)
      addOp(&op);
    while (removeLaunch() || removeBuffer()) {
    }
  }

  llvm::SetVector<Value> buffers;
  llvm::SetVector<Operation *> launches;

  /// Whether a value can be computed again in the loader: it follows from
  /// constants without accesses to memory.
  bool isRepeatable(Value value) {
    auto [known, isNew] = repeatable.try_emplace(value, false);
    if (!isNew)
      return known->second;
    Operation *op = value.getDefiningOp();
    bool result = op && op->getBlock() == &block && op->getNumRegions() == 0;
    if (auto get = dyn_cast_or_null<memref::GetGlobalOp>(op))
      result &= isConstant(get);
    else if (!buffers.contains(value))
      result &= op && isMemoryEffectFree(op) &&
                llvm::all_of(op->getOperands(), [&](Value operand) {
                  return isRepeatable(operand);
                });
    return repeatable[value] = result;
  }

private:
  static bool isSimple(memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    Type element = type.getElementType();
    return type.hasStaticShape() && type.getLayout().isIdentity() &&
           !type.getMemorySpace() &&
           (element.isIndex() || (element.isIntOrFloat() &&
                                  element.getIntOrFloatBitWidth() % 8 == 0)) &&
           alloc.getAlignment().value_or(1) <= 256;
  }

  bool isConstant(memref::GetGlobalOp get) {
    auto global = symbols.lookup<memref::GlobalOp>(get.getName());
    return global && isConstantGlobal(global);
  }

  void addOp(Operation *op) {
    if (isa<memref::DeallocOp, memref::AllocOp>(op))
      return;
    bool isLaunch = isa<gpu::LaunchOp>(op);
    // Memory that an op is given and does not only access.
    bool isAccess =
        op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() &&
        (isMemoryEffectFree(op) || isa<MemoryEffectOpInterface>(op));
    if (!isLaunch && !isAccess)
      return escape(op);
    Accesses own = findAccesses(op);
    if (own.isUnknown)
      return escape(op);
    // One with a token has later work that waits for it.
    if (isLaunch && op->getNumResults() == 0)
      launches.insert(op);
    accesses[op] = std::move(own);
  }

  /// No buffer that is used in `op` is a constant.
  void escape(Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<BaseMemRefType>(operand.getType())) {
          if (Value root = getRoot(operand))
            buffers.remove(root);
          else
            buffers.clear();
        }
    });
  }

  bool canMove(Operation *launch) {
    const Accesses &own = accesses[launch];
    auto isConstantRoot = [&](Value root) {
      if (auto get = root.getDefiningOp<memref::GetGlobalOp>())
        return isConstant(get);
      return buffers.contains(root);
    };
    if (!llvm::all_of(own.reads, isConstantRoot) ||
        !llvm::all_of(own.writes,
                      [&](Value root) { return buffers.contains(root); }))
      return false;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(launch->getRegions(), captured);
    captured.insert(launch->operand_begin(), launch->operand_end());
    repeatable.clear();
    return llvm::all_of(captured,
                        [&](Value value) { return isRepeatable(value); });
  }

  bool removeLaunch() {
    for (Operation *launch : launches)
      if (!canMove(launch)) {
        launches.remove(launch);
        return true;
      }
    return false;
  }

  /// A buffer is a constant if the launches that move write it, and all others
  /// read it after them.
  bool isConstantBuffer(Value buffer) {
    int last = -1;
    for (const auto &[op, own] : accesses)
      if (own.writes.contains(buffer)) {
        if (!launches.contains(op))
          return false;
        last = static_cast<int>(positions[op]);
      }
    if (last < 0)
      return false;
    return llvm::all_of(accesses, [&](const auto &entry) {
      return launches.contains(entry.first) ||
             !entry.second.reads.contains(buffer) ||
             static_cast<int>(positions[entry.first]) > last;
    });
  }

  bool removeBuffer() {
    for (Value buffer : buffers)
      if (!isConstantBuffer(buffer)) {
        buffers.remove(buffer);
        return true;
      }
    return false;
  }

  Block &block;
  SymbolTable symbols;
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::MapVector<Operation *, Accesses> accesses;
  llvm::DenseMap<Value, bool> repeatable;
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct HoistConstantLaunchesPass
    : public tessera::impl::TesseraHoistConstantLaunchesBase<
          HoistConstantLaunchesPass> {
  void runOnOperation() override {
    if (!hasLiftedConstants(getOperation()))
      return;
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal() || function.getName() == loaderName)
        continue;
      Choice choice(function, getOperation());
      choice.make();
      if (!choice.launches.empty())
        move(choice);
    }
  }

  void move(Choice &choice) {
    func::FuncOp loader = getLoader(getOperation());
    OpBuilder builder(loader.getBody().front().getTerminator());
    IRMapping mapping;
    SmallVector<std::pair<Operation *, std::string>> names;
    for (Value buffer : choice.buffers) {
      auto alloc = buffer.getDefiningOp<memref::AllocOp>();
      std::string name =
          addComputedGlobal(getOperation(), alloc.getLoc(), alloc.getType());
      mapping.map(buffer, memref::GetGlobalOp::create(builder, alloc.getLoc(),
                                                      alloc.getType(), name)
                              .getResult());
      names.emplace_back(alloc, name);
    }
    for (Operation *launch : choice.launches) {
      LDBG() << launch->getLoc() << ": moved to the loader";
      ++numHoistedLaunches;
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(launch->getRegions(), captured);
      captured.insert(launch->operand_begin(), launch->operand_end());
      for (Value value : captured)
        repeat(value, mapping, builder);
      builder.clone(*launch, mapping);
      launch->erase();
    }
    for (const auto &[alloc, name] : names) {
      for (Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
        if (isa<memref::DeallocOp>(user))
          user->erase();
      OpBuilder own(alloc);
      alloc->replaceAllUsesWith(memref::GetGlobalOp::create(
          own, alloc->getLoc(), alloc->getResult(0).getType(), name));
      alloc->erase();
    }
  }

  /// Computes a value again, with what it follows from.
  static void repeat(Value value, IRMapping &mapping, OpBuilder &builder) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      repeat(operand, mapping, builder);
    builder.clone(*op, mapping);
  }
};

} // namespace
