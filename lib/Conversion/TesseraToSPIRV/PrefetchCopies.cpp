//===- PrefetchCopies.cpp - Load the next step before the matmuls ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device of Vulkan has no asynchronous copies, and a driver's compiler does
// not move loads across a barrier. In a loop over steps of copies and matmuls,
//
//   for i:  barrier;  x = load(i);  store x;  barrier;  matmuls
//
// the loads of the next step are issued before the matmuls of this one:
//
//   x = load(0)
//   for i:  barrier;  store x;  barrier;  x = load(min(i + 1, last));  matmuls
//
// Selections between loaded data and zeros, and casts, stay at the store: they
// use the data, and would wait for it before the matmuls.
//
// On an H200 this is 1.25 times as fast, and a driver that unrolls the loop
// loses a third of that (docs/benchmarks/h200-vulkan.md). The last step loads
// its own tile again, and the data is not used.
//
// With few accumulators, registers suffice for loads two steps ahead, in a loop
// of two steps: otherwise the data of one step would be moved to the registers
// of the other one, and the move would wait for it. A 3x3 convolution of 32
// images of 28x28x256 by a stride of 2 takes 50.5 us that way, and 54.1
// without.
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::tessera;

/// The largest number of bytes that are loaded ahead, since they occupy
/// registers of a thread.
static constexpr int64_t maxBytesAhead = 256;

static spirv::StorageClass getStorage(Value pointer) {
  return cast<spirv::PointerType>(pointer.getType()).getStorageClass();
}

static bool isGlobal(Value pointer) {
  return getStorage(pointer) == spirv::StorageClass::PhysicalStorageBuffer;
}

static bool isGlobalLoad(Operation *op) {
  auto load = dyn_cast<spirv::LoadOp>(op);
  return load && isGlobal(load.getPtr());
}

/// Whether `op` may be done once more, elsewhere: a load, or no effect at all.
static bool isRepeatable(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    WalkResult result = branch.walk([&](Operation *inner) {
      bool fine = inner == op || isa<scf::YieldOp>(inner) ||
                  isa<scf::IfOp>(inner) || isRepeatable(inner);
      return fine ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }
  return isGlobalLoad(op) || isa<spirv::ConvertUToPtrOp>(op) ||
         (op->getNumRegions() == 0 && isPure(op) &&
          !op->hasTrait<OpTrait::IsTerminator>());
}

/// Whether all threads of the workgroup meet at `op`.
static bool isBarrier(Operation *op) {
  auto barrier = dyn_cast<spirv::ControlBarrierOp>(op);
  return isa<gpu::BarrierOp>(op) ||
         (barrier && barrier.getExecutionScope() == spirv::Scope::Workgroup);
}

/// Whether something in `root` may write to global memory, before `end` if that
/// is not null.
static bool writesGlobal(Operation *root, Operation *end = nullptr) {
  bool ended = false;
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    ended |= op == end;
    if (ended)
      return WalkResult::skip();
    if (op == root || isa<gpu::BarrierOp, spirv::ControlBarrierOp>(op) ||
        op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() ||
        isa<spirv::LoadOp, spirv::KHRCooperativeMatrixLoadOp,
            spirv::ConvertUToPtrOp>(op) ||
        isPure(op))
      return WalkResult::advance();
    if (auto store = dyn_cast<spirv::StoreOp>(op))
      return isGlobal(store.getPtr()) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    if (auto store = dyn_cast<spirv::KHRCooperativeMatrixStoreOp>(op))
      return isGlobal(store.getPointer()) ? WalkResult::interrupt()
                                          : WalkResult::advance();
    // Arithmetic of matrices and the like.
    for (Value operand : op->getOperands())
      if (isa<spirv::PointerType, BaseMemRefType>(operand.getType()))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {

class Prefetcher {
public:
  explicit Prefetcher(scf::ForOp loop) : loop(loop) {}
  /// False where the loop is none of these, or its loads cannot be ahead.
  bool run();

private:
  bool match();
  /// Adds the ops that compute `value` in the loop; false if they cannot be
  /// repeated.
  bool addSlice(Value value);
  /// Adds the values that the loop carries for the stored `value`, and the ops
  /// between them and the store; false if these cannot be carried.
  bool addStored(Value value);
  /// The number of steps that loads are ahead: two where registers suffice.
  int64_t chooseDepth();
  /// Loads the data that step `step` stores.
  SmallVector<Value> load(OpBuilder &builder, Value step);
  SmallVector<Value> loadFirst(OpBuilder &builder);
  /// The step `distance` after `step`, or `step` if there is none.
  Value getLaterStep(OpBuilder &builder, Value step, int64_t distance);

  scf::ForOp loop;
  /// The barrier between copies and matmuls.
  Operation *last = nullptr;
  SmallVector<spirv::StoreOp> stores;
  /// The data that is loaded ahead, and its conditions.
  llvm::SetVector<Value> values;
  llvm::SmallPtrSet<Operation *, 32> slice;
  /// Ops that use `values` at the store.
  llvm::SetVector<Operation *> late;
  int64_t bits = 0;
  /// The number of steps that loads are ahead.
  int64_t depth = 1;
};

} // namespace

bool Prefetcher::addSlice(Value value) {
  if (!loop.getRegion().isAncestor(value.getParentRegion()) ||
      value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || !isRepeatable(op))
    return false;
  if (!slice.insert(op).second)
    return true;
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return llvm::all_of(used, [&](Value operand) { return addSlice(operand); });
}

bool Prefetcher::addStored(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && op->getBlock() == loop.getBody() &&
      isa<arith::SelectOp, arith::ConstantOp, vector::BitCastOp>(op)) {
    late.insert(op);
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return addStored(operand); });
  }
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Type element = getElementTypeOrSelf(value.getType());
  if (!element.isIntOrFloat() || !addSlice(value))
    return false;
  if (!values.insert(value))
    return true;
  auto vector = dyn_cast<VectorType>(value.getType());
  bits += std::max<int64_t>(element.getIntOrFloatBitWidth() *
                                (vector ? vector.getNumElements() : 1),
                            32);
  return true;
}

bool Prefetcher::match() {
  Operation *first = nullptr;
  bool multiplies = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    multiplies |= isa<spirv::KHRCooperativeMatrixMulAddOp>(op);
    if (isBarrier(&op)) {
      if (last)
        return false;
      (first ? last : first) = &op;
    } else if (first && !last) {
      auto store = dyn_cast<spirv::StoreOp>(op);
      if (store && getStorage(store.getPtr()) == spirv::StorageClass::Workgroup)
        stores.push_back(store);
      else if (!isRepeatable(&op))
        return false;
    }
  }
  if (!last || !multiplies || writesGlobal(loop))
    return false;
  for (spirv::StoreOp store : stores)
    if (!addStored(store.getValue()))
      return false;
  return bits <= 8 * maxBytesAhead && llvm::any_of(slice, [](Operation *op) {
           return op
               ->walk([](Operation *inner) {
                 return isGlobalLoad(inner) ? WalkResult::interrupt()
                                            : WalkResult::advance();
               })
               .wasInterrupted();
         });
}

int64_t Prefetcher::chooseDepth() {
  // With twice the matrices, 32 images of 56x56x64 by 3x3 filters took 51 us
  // instead of 45 on an H200 (docs/benchmarks/h200-vulkan.md).
  constexpr int64_t mostMatrices = 4, mostBytes = 128;
  std::optional<APInt> trips = loop.getStaticTripCount();
  int64_t matrices = llvm::count_if(loop.getInitArgs(), [](Value value) {
    return isa<spirv::CooperativeMatrixType>(value.getType());
  });
  // The loop is unrolled by the depth.
  return trips && trips->getZExtValue() % 2 == 0 && trips->uge(4) &&
                 matrices <= mostMatrices && bits <= 8 * mostBytes
             ? 2
             : 1;
}

SmallVector<Value> Prefetcher::load(OpBuilder &builder, Value step) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), step);
  for (Operation &op : loop.getBody()->without_terminator())
    if (slice.contains(&op))
      builder.clone(op, mapping);
  return llvm::map_to_vector(
      values, [&](Value value) { return mapping.lookupOrDefault(value); });
}

Value Prefetcher::getLaterStep(OpBuilder &builder, Value step,
                               int64_t distance) {
  Location loc = loop.getLoc();
  Value next = step;
  for (int64_t i = 0; i < distance; ++i)
    next = arith::AddIOp::create(builder, loc, next, loop.getStep());
  Value more =
      arith::CmpIOp::create(builder, loc,
                            loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                            next, loop.getUpperBound());
  return arith::SelectOp::create(builder, loc, more, next, step);
}

SmallVector<Value> Prefetcher::loadFirst(OpBuilder &builder) {
  Location loc = loop.getLoc();
  // Another thread's earlier writes are visible only after a barrier. A loop
  // around this one may have made them after it.
  auto kernel = loop->getParentOfType<gpu::GPUFuncOp>();
  bool repeats = loop->getParentOfType<LoopLikeOpInterface>() != nullptr;
  if (writesGlobal(kernel, repeats ? nullptr : loop.getOperation()))
    gpu::BarrierOp::create(builder, loc);
  auto loadSteps = [&](OpBuilder &inner) {
    SmallVector<Value> all = load(inner, loop.getLowerBound());
    for (int64_t i = 1; i < depth; ++i)
      llvm::append_range(
          all, load(inner, getLaterStep(inner, loop.getLowerBound(), i)));
    return all;
  };
  std::optional<APInt> trips = loop.getStaticTripCount();
  if (trips && !trips->isZero())
    return loadSteps(builder);
  Value runs =
      arith::CmpIOp::create(builder, loc,
                            loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                                  : arith::CmpIPredicate::slt,
                            loop.getLowerBound(), loop.getUpperBound());
  auto branch = scf::IfOp::create(
      builder, loc, runs,
      [&](OpBuilder &nested, Location) {
        scf::YieldOp::create(nested, loc, loadSteps(nested));
      },
      [&](OpBuilder &nested, Location) {
        SmallVector<Value> zeros;
        for (int64_t i = 0; i < depth; ++i)
          for (Value value : values)
            zeros.push_back(arith::ConstantOp::create(
                nested, loc, nested.getZeroAttr(value.getType())));
        scf::YieldOp::create(nested, loc, zeros);
      });
  return SmallVector<Value>(branch.getResults());
}

bool Prefetcher::run() {
  if (!match())
    return false;
  depth = chooseDepth();
  IRRewriter rewriter(loop);
  SmallVector<Value> before = loadFirst(rewriter);
  auto addNext = [&](OpBuilder &builder, Location loc,
                     ArrayRef<BlockArgument> carried) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(last);
    Value step = loop.getInductionVar();
    // The data of later steps moves up, and that of another one is loaded.
    SmallVector<Value> carriedOn(carried.drop_front(values.size()));
    llvm::append_range(carriedOn,
                       load(builder, getLaterStep(builder, step, depth)));
    SmallVector<Operation *> users(late.begin(), late.end());
    users.append(stores.begin(), stores.end());
    for (Operation *user : users)
      for (OpOperand &operand : user->getOpOperands())
        if (const auto *found = llvm::find(values, operand.get());
            found != values.end())
          operand.set(carried[found - values.begin()]);
    return carriedOn;
  };
  FailureOr<LoopLikeOpInterface> made = loop.replaceWithAdditionalYields(
      rewriter, before, /*replaceInitOperandUsesInLoop=*/false, addNext);
  if (failed(made))
    return false;
  // Erases the previously stored values, and unused ops.
  for (Operation &op : llvm::make_early_inc_range(
           llvm::reverse(*cast<scf::ForOp>(**made).getBody())))
    if (op.use_empty() && (slice.contains(&op) || isOpTriviallyDead(&op)))
      op.erase();
  // The data of both steps stay in their registers.
  if (depth > 1)
    return succeeded(loopUnrollByFactor(cast<scf::ForOp>(**made),
                                        static_cast<uint64_t>(depth)));
  return true;
}

void mlir::tessera::prefetchCopies(gpu::GPUFuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    Prefetcher(loop).run();
}
