//===- FragmentProbe.cpp - Probes of fragments in a kernel ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/FragmentProbe.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/raw_ostream.h"

using namespace ::tessera::execution;
namespace execution = ::tessera::execution;
using namespace mlir;

namespace {
/// Index arithmetic at a position of the program.
class Indices {
public:
  Indices(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  template <typename Op> Value make(Value lhs, Value rhs) {
    return Op::create(builder, loc, lhs, rhs);
  }
  Value add(Value lhs, Value rhs) { return make<arith::AddIOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return make<arith::SubIOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) { return make<arith::MulIOp>(lhs, rhs); }
  Value product(gpu::KernelDim3 sizes) {
    return mul(mul(sizes.x, sizes.y), sizes.z);
  }

private:
  OpBuilder &builder;
  Location loc;
};
} // namespace

//===----------------------------------------------------------------------===//
// Ops to probe
//===----------------------------------------------------------------------===//

llvm::SmallVector<Operation *>
execution::findFragmentOps(gpu::LaunchOp launch) {
  llvm::SmallVector<Operation *> ops;
  launch.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() == 1 &&
        isa<mlir::tessera::FragmentType>(op->getResult(0).getType()) &&
        !isa<RegionBranchOpInterface, mlir::tessera::VThreadOp>(op))
      ops.push_back(op);
  });
  return ops;
}

/// The op's ancestors within the kernel, outermost first.
static llvm::SmallVector<Operation *> getAncestors(Operation *op,
                                                   gpu::LaunchOp launch) {
  llvm::SmallVector<Operation *> ancestors;
  for (Operation *parent = op->getParentOp(); parent != launch;
       parent = parent->getParentOp())
    ancestors.insert(ancestors.begin(), parent);
  return ancestors;
}

/// A value of the kernel that is known before the launch, too.
static bool isKnownBefore(Value value, gpu::LaunchOp launch) {
  return matchPattern(value, m_Constant()) ||
         !launch.getBody().isAncestor(value.getParentRegion());
}

/// Whether a probe has a dimension for the loop `op`: the number of its
/// iterations is known before the launch.
static bool isCounted(Operation *op, gpu::LaunchOp launch) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop.getInductionVar().getType().isIndex() &&
         isKnownBefore(loop.getLowerBound(), launch) &&
         isKnownBefore(loop.getUpperBound(), launch) &&
         isKnownBefore(loop.getStep(), launch);
}

int64_t execution::countElements(Operation *op, gpu::LaunchOp launch,
                                 bool eachIteration) {
  auto type = cast<mlir::tessera::FragmentType>(op->getResult(0).getType());
  // If the launch's sizes are not known: the usual sizes of kernels.
  constexpr int64_t someWorkgroups = 64, someSubgroups = 8;
  auto getConstant = [](Value value, int64_t other) {
    APInt constant;
    return matchPattern(value, m_ConstantInt(&constant))
               ? constant.getSExtValue()
               : other;
  };
  int64_t count = type.getNumElements() * someSubgroups *
                  getConstant(launch.getGridSizeX(), someWorkgroups) *
                  getConstant(launch.getGridSizeY(), 1) *
                  getConstant(launch.getGridSizeZ(), 1);
  for (Operation *ancestor : getAncestors(op, launch)) {
    if (auto vthreads = dyn_cast<mlir::tessera::VThreadOp>(ancestor))
      count *= vthreads.getNumVThreads();
    else if (eachIteration && isCounted(ancestor, launch))
      count *= cast<scf::ForOp>(ancestor)
                   .getStaticTripCount()
                   .value_or(APInt(64, 1))
                   .getSExtValue();
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Probing
//===----------------------------------------------------------------------===//

/// How often the loop runs, computed where `builder` is, before the launch.
static Value countIterations(scf::ForOp loop, OpBuilder &builder) {
  Indices indices(builder, loop.getLoc());
  auto materialize = [&](Value value) {
    APInt constant;
    return matchPattern(value, m_ConstantInt(&constant))
               ? indices.constant(constant.getSExtValue())
               : value;
  };
  Value lower = materialize(loop.getLowerBound()),
        upper = materialize(loop.getUpperBound());
  Value length = indices.make<arith::MaxSIOp>(indices.sub(upper, lower),
                                              indices.constant(0));
  return indices.make<arith::CeilDivSIOp>(length, materialize(loop.getStep()));
}

/// The workgroup's number, in the order of the grid.
static Value numberWorkgroup(OpBuilder &builder, Location loc) {
  Indices indices(builder, loc);
  auto id = [&](gpu::Dimension dimension) -> Value {
    return gpu::BlockIdOp::create(builder, loc, dimension);
  };
  auto size = [&](gpu::Dimension dimension) -> Value {
    return gpu::GridDimOp::create(builder, loc, dimension);
  };
  Value rows =
      indices.add(indices.mul(id(gpu::Dimension::z), size(gpu::Dimension::y)),
                  id(gpu::Dimension::y));
  return indices.add(indices.mul(rows, size(gpu::Dimension::x)),
                     id(gpu::Dimension::x));
}

/// The ops that a probe has dimensions for before the workgroup's.
static llvm::SmallVector<Operation *>
getLoops(Operation *op, gpu::LaunchOp launch, bool eachIteration) {
  return llvm::filter_to_vector(
      getAncestors(op, launch), [&](Operation *ancestor) {
        return isa<mlir::tessera::VThreadOp>(ancestor) ||
               (eachIteration && isCounted(ancestor, launch));
      });
}

static Value allocateProbe(OpBuilder &builder, Operation *op,
                           gpu::LaunchOp launch, ArrayRef<Operation *> loops,
                           Value workgroups, Value subgroups) {
  auto type = cast<mlir::tessera::FragmentType>(op->getResult(0).getType());
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Value> sizes;
  for (Operation *loop : loops) {
    if (auto vthreads = dyn_cast<mlir::tessera::VThreadOp>(loop)) {
      llvm::append_range(shape, vthreads.getGrid());
      continue;
    }
    shape.push_back(ShapedType::kDynamic);
    sizes.push_back(countIterations(cast<scf::ForOp>(loop), builder));
  }
  shape.append({ShapedType::kDynamic, ShapedType::kDynamic, type.getRows(),
                type.getCols()});
  sizes.append({workgroups, subgroups});
  return memref::AllocOp::create(builder, launch.getLoc(),
                                 MemRefType::get(shape, type.getElementType()),
                                 sizes);
}

static void storeProbe(Operation *op, Value probe,
                       ArrayRef<Operation *> loops) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Location loc = op->getLoc();
  Indices indices(builder, loc);
  llvm::SmallVector<Value> position;
  for (Operation *loop : loops) {
    if (auto vthreads = dyn_cast<mlir::tessera::VThreadOp>(loop)) {
      llvm::append_range(position, vthreads.getBody().getArguments().take_front(
                                       vthreads.getGrid().size()));
      continue;
    }
    auto counted = cast<scf::ForOp>(loop);
    position.push_back(indices.make<arith::DivSIOp>(
        indices.sub(counted.getInductionVar(), counted.getLowerBound()),
        counted.getStep()));
  }
  position.push_back(numberWorkgroup(builder, loc));
  position.push_back(
      gpu::SubgroupIdOp::create(builder, loc, /*upper_bound=*/nullptr));
  Value zero = indices.constant(0);
  position.append({zero, zero});
  mlir::tessera::StoreOp::create(builder, loc, op->getResult(0), probe,
                                 position);
}

llvm::SmallVector<Value> execution::addProbes(gpu::LaunchOp launch,
                                              bool eachIteration,
                                              ArrayRef<Operation *> ops) {
  OpBuilder builder(launch);
  Indices indices(builder, launch.getLoc());
  Value lanes = gpu::SubgroupSizeOp::create(builder, launch.getLoc(),
                                            /*upper_bound=*/nullptr);
  Value workgroups = indices.product(launch.getGridSizeOperandValues());
  Value subgroups = indices.make<arith::CeilDivSIOp>(
      indices.product(launch.getBlockSizeOperandValues()), lanes);
  llvm::SmallVector<Value> probes;
  for (Operation *op : ops) {
    llvm::SmallVector<Operation *> loops = getLoops(op, launch, eachIteration);
    probes.push_back(
        allocateProbe(builder, op, launch, loops, workgroups, subgroups));
    storeProbe(op, probes.back(), loops);
  }
  return probes;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The op's number among all of its region.
static int64_t numberInRegion(Operation *op) {
  int64_t number = 0;
  for (Block &block : *op->getParentRegion()) {
    if (&block == op->getBlock())
      return number + std::distance(block.begin(), op->getIterator());
    number += static_cast<int64_t>(block.getOperations().size());
  }
  return number;
}

llvm::SmallVector<int64_t> execution::getTime(Operation *op,
                                              gpu::LaunchOp launch,
                                              bool eachIteration,
                                              ArrayRef<int64_t> position) {
  llvm::SmallVector<int64_t> time;
  for (Operation *ancestor : getAncestors(op, launch)) {
    time.push_back(numberInRegion(ancestor));
    // Virtual threads are not ordered.
    if (auto vthreads = dyn_cast<mlir::tessera::VThreadOp>(ancestor)) {
      position = position.drop_front(vthreads.getGrid().size());
    } else if (eachIteration && isCounted(ancestor, launch)) {
      time.push_back(position.front());
      position = position.drop_front();
    }
  }
  time.push_back(numberInRegion(op));
  return time;
}

std::string execution::describeElement(Operation *op, gpu::LaunchOp launch,
                                       bool eachIteration,
                                       ArrayRef<int64_t> position) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto take = [&] {
    int64_t index = position.front();
    position = position.drop_front();
    return index;
  };
  for (Operation *ancestor : getAncestors(op, launch)) {
    if (auto vthreads = dyn_cast<mlir::tessera::VThreadOp>(ancestor)) {
      os << "vthread [";
      llvm::interleaveComma(position.take_front(vthreads.getGrid().size()), os);
      os << "], ";
      position = position.drop_front(vthreads.getGrid().size());
    } else if (eachIteration && isCounted(ancestor, launch)) {
      os << "iteration " << take() << ", ";
    } else if (isa<LoopLikeOpInterface>(ancestor)) {
      os << "last iteration, ";
    }
  }
  os << "workgroup " << take();
  os << ", subgroup " << take() << ", element [" << position[0] << ", "
     << position[1] << "]";
  return text;
}

void execution::eraseWhatFollows(Operation *op, gpu::LaunchOp launch) {
  // The probe's store comes after the op.
  Operation *store = op;
  while (!isa<mlir::tessera::StoreOp>(store))
    store = store->getNextNode();
  for (Region *region = &launch.getBody();;) {
    Operation *ancestor = region->findAncestorOpInRegion(*store);
    // An op with results is erased once its results are unused.
    for (Operation &op : llvm::make_early_inc_range(llvm::make_range(
             std::next(ancestor->getIterator()), ancestor->getBlock()->end())))
      if (op.getNumResults() == 0 && !op.hasTrait<OpTrait::IsTerminator>())
        op.erase();
    if (ancestor == store || isa<LoopLikeOpInterface>(ancestor))
      return;
    for (Region &inner : ancestor->getRegions())
      if (inner.isAncestor(store->getParentRegion()))
        region = &inner;
  }
}
