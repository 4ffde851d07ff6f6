//===- MapLinalgToSimt.cpp - linalg ops to kernels of scalar threads ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is not a contraction becomes a kernel too, one per op. On a GPU each
// thread computes one point of the parallel iteration space, the last dimension
// running fastest over the threads:
//
//   linear = block * 256 + thread;  (i, j) = (linear / J, linear % J)
//
// Where a subgroup has one lane, a workgroup is one thread that walks through
// about 4096 points; its inner loop runs along the last parallel dimension, so
// that it can be vectorized. Reduction dimensions are loops inside the thread.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAMAPLINALGTOSIMT
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// Threads of a workgroup on a GPU, and points of a workgroup of one thread.
static constexpr int64_t threadsPerWorkgroup = 256;
static constexpr int64_t pointsPerThread = 4096;

namespace {
/// Maps one linalg op.
class Mapper {
public:
  Mapper(linalg::LinalgOp op, const Chip &chip)
      : op(op), chip(chip), builder(op.getLoc(), op) {}

  void run();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value mul(Value a, Value b) {
    return builder.createOrFold<arith::MulIOp>(a, b);
  }
  Value ceilDiv(Value value, Value divisor) {
    Value one = constant(1);
    return builder.createOrFold<arith::DivUIOp>(
        builder.createOrFold<arith::AddIOp>(
            value, builder.createOrFold<arith::SubIOp>(divisor, one)),
        divisor);
  }

  /// Sets `index` of the parallel dimensions `dims` from their linear index.
  void delinearize(Value linear, ArrayRef<unsigned> dims);
  gpu::LaunchOp createLaunch(Value gridX, Value gridY, Value threads);
  void launchThreads();
  void launchChunks();

  SmallVector<Value> indicesOf(OpOperand &operand);
  /// The op at the parallel indices that are set.
  void emitPoint();
  /// One run of the body. `carried` are the outputs' values so far; null where
  /// they are in memory.
  SmallVector<Value> emitBody(ArrayRef<Value> carried);

  linalg::LinalgOp op;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  /// Extents of the iteration dimensions, and the current indices.
  SmallVector<Value> sizes, index;
  SmallVector<unsigned> parallel, reduction;
};
} // namespace

void Mapper::delinearize(Value linear, ArrayRef<unsigned> dims) {
  for (unsigned d : llvm::reverse(dims)) {
    if (d == dims.front()) {
      index[d] = linear;
    } else {
      index[d] = builder.createOrFold<arith::RemUIOp>(linear, sizes[d]);
      linear = builder.createOrFold<arith::DivUIOp>(linear, sizes[d]);
    }
  }
}

gpu::LaunchOp Mapper::createLaunch(Value gridX, Value gridY, Value threads) {
  Value one = constant(1);
  auto launch =
      gpu::LaunchOp::create(builder, gridX, gridY, one, threads, one, one);
  builder.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(builder);
  builder.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

/// A thread for each point.
void Mapper::launchThreads() {
  Value total = constant(1);
  for (unsigned d : parallel)
    total = mul(total, sizes[d]);
  Value threads =
      constant(std::min<int64_t>(threadsPerWorkgroup, chip.maxThreads));
  gpu::LaunchOp launch =
      createLaunch(ceilDiv(total, threads), constant(1), threads);
  Value linear = arith::AddIOp::create(
      builder, mul(launch.getBlockIds().x, threads), launch.getThreadIds().x);
  Value inside =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, linear, total);
  auto guard = scf::IfOp::create(builder, inside, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guard.thenBlock());
  delinearize(linear, parallel);
  emitPoint();
}

/// Workgroups of one thread: x runs over rows (the parallel dimensions but the
/// last, linearized), y over pieces of the last.
void Mapper::launchChunks() {
  Value one = constant(1);
  if (parallel.empty()) {
    createLaunch(one, one, one);
    emitPoint();
    return;
  }
  unsigned inner = parallel.back();
  ArrayRef<unsigned> outer = ArrayRef<unsigned>(parallel).drop_back();
  Value numRows = one;
  for (unsigned d : outer)
    numRows = mul(numRows, sizes[d]);
  // As many rows as make up the points wanted.
  Value points = constant(pointsPerThread);
  Value rows = builder.createOrFold<arith::MaxUIOp>(
      builder.createOrFold<arith::DivUIOp>(
          points, builder.createOrFold<arith::MaxUIOp>(sizes[inner], one)),
      one);
  gpu::LaunchOp launch =
      createLaunch(ceilDiv(numRows, rows), ceilDiv(sizes[inner], points), one);
  auto chunk = [&](Value block, Value step, Value end) {
    Value begin = mul(block, step);
    return std::make_pair(
        begin, arith::MinUIOp::create(
                   builder, arith::AddIOp::create(builder, begin, step), end)
                   .getResult());
  };
  auto [rowBegin, rowEnd] = chunk(launch.getBlockIds().x, rows, numRows);
  auto [begin, end] = chunk(launch.getBlockIds().y, points, sizes[inner]);
  if (!outer.empty()) {
    auto loop = scf::ForOp::create(builder, rowBegin, rowEnd, one);
    builder.setInsertionPointToStart(loop.getBody());
    delinearize(loop.getInductionVar(), outer);
  }
  auto loop = scf::ForOp::create(builder, begin, end, one);
  builder.setInsertionPointToStart(loop.getBody());
  index[inner] = loop.getInductionVar();
  emitPoint();
}

SmallVector<Value> Mapper::indicesOf(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<Value> indices;
  for (AffineExpr result : map.getResults())
    indices.push_back(affine::expandAffineExpr(builder, op.getLoc(), result,
                                               index, /*symbolValues=*/{}));
  return indices;
}

SmallVector<Value> Mapper::emitBody(ArrayRef<Value> carried) {
  Block *body = op.getBlock();
  IRMapping mapping;
  // Not every op's body has an argument for each output.
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    if (i >= body->getNumArguments() || body->getArgument(i).use_empty())
      continue;
    Value value = operand.get();
    if (op.isDpsInit(&operand) && carried[i - op.getNumDpsInputs()])
      value = carried[i - op.getNumDpsInputs()];
    else if (isa<MemRefType>(value.getType()))
      value = memref::LoadOp::create(builder, value, indicesOf(operand));
    mapping.map(body->getArgument(i), value);
  }
  for (Operation &nested : body->without_terminator()) {
    if (auto indexOp = dyn_cast<linalg::IndexOp>(nested)) {
      mapping.map(indexOp.getResult(), index[indexOp.getDim()]);
      continue;
    }
    Operation *copy = builder.clone(nested, mapping);
    SmallVector<linalg::IndexOp> inner;
    copy->walk([&](linalg::IndexOp indexOp) { inner.push_back(indexOp); });
    for (linalg::IndexOp indexOp : inner) {
      indexOp.replaceAllUsesWith(index[indexOp.getDim()]);
      indexOp.erase();
    }
  }
  SmallVector<Value> results;
  for (Value value : body->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

void Mapper::emitPoint() {
  unsigned numOutputs = op.getNumDpsInits();
  auto storeOutputs = [&](ValueRange values) {
    for (auto [value, output] : llvm::zip(values, op.getDpsInitsMutable()))
      memref::StoreOp::create(builder, value, output.get(), indicesOf(output));
  };
  if (reduction.empty()) {
    storeOutputs(emitBody(SmallVector<Value>(numOutputs)));
    return;
  }

  // Outputs that do not move with the reduction stay in registers.
  bool carry = llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &output) {
    AffineMap map = op.getMatchingIndexingMap(&output);
    return llvm::none_of(reduction,
                         [&](unsigned d) { return map.isFunctionOfDim(d); });
  });
  Value zero = constant(0), one = constant(1);
  SmallVector<Value> values;
  if (carry)
    for (OpOperand &output : op.getDpsInitsMutable())
      values.push_back(
          memref::LoadOp::create(builder, output.get(), indicesOf(output)));
  SmallVector<scf::ForOp> loops;
  for (unsigned d : reduction) {
    auto loop = scf::ForOp::create(builder, zero, sizes[d], one, values);
    loops.push_back(loop);
    builder.setInsertionPointToStart(loop.getBody());
    index[d] = loop.getInductionVar();
    values.assign(loop.getRegionIterArgs().begin(),
                  loop.getRegionIterArgs().end());
  }
  if (!carry) {
    storeOutputs(emitBody(SmallVector<Value>(numOutputs)));
    return;
  }
  SmallVector<Value> results = emitBody(values);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, results);
    results.assign(loop.getResults().begin(), loop.getResults().end());
    builder.setInsertionPointAfter(loop);
  }
  storeOutputs(results);
}

void Mapper::run() {
  for (Range range : op.createLoopRanges(builder, op.getLoc()))
    sizes.push_back(
        getValueOrCreateConstantIndexOp(builder, op.getLoc(), range.size));
  index.resize(sizes.size());
  op.getParallelDims(parallel);
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (!llvm::is_contained(parallel, d))
      reduction.push_back(d);
  if (chip.subgroupSize == 1)
    launchChunks();
  else
    launchThreads();
  op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// `copy` as a linalg op.
static linalg::LinalgOp toLinalg(memref::CopyOp copy) {
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  auto type = cast<MemRefType>(copy.getSource().getType());
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange{copy.getSource()}, ValueRange{copy.getTarget()},
      ArrayRef<AffineMap>{map, map}, iterators,
      [](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(builder, loc, arguments[0]);
      });
  copy.erase();
  return cast<linalg::LinalgOp>(generic.getOperation());
}

/// Whether `op` runs on the device.
static bool isInKernel(Operation *op) {
  return op->getParentOfType<gpu::LaunchOp>() ||
         op->getParentOfType<gpu::GPUFuncOp>();
}

/// Stops at a load or store on the host, but for memory on its stack.
static WalkResult checkHostAccess(Operation *op) {
  if (isa<gpu::LaunchOp, gpu::GPUModuleOp>(op))
    return WalkResult::skip();
  Value memory;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    memory = load.getMemRef();
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    memory = store.getMemRef();
  else
    return WalkResult::advance();
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  if (memory.getDefiningOp<memref::AllocaOp>())
    return WalkResult::advance();
  op->emitError() << (isa<memref::LoadOp>(op) ? "reads" : "writes")
                  << " an element on the host, where the data is not: put it "
                     "into a linalg op, or pass a scalar argument";
  return WalkResult::interrupt();
}

namespace {
struct TesseraMapLinalgToSimtPass
    : public tessera::impl::TesseraMapLinalgToSimtBase<
          TesseraMapLinalgToSimtPass> {
  using TesseraMapLinalgToSimtBase::TesseraMapLinalgToSimtBase;

  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      if (!isInKernel(copy) && isa<MemRefType>(copy.getSource().getType()) &&
          isa<MemRefType>(copy.getTarget().getType()))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies)
      toLinalg(copy);

    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isInKernel(op) && op.hasPureBufferSemantics() &&
          op->getNumRegions() == 1 && op.getBlock())
        ops.push_back(op);
    });
    if (!ops.empty()) {
      FailureOr<const Chip *> found = getChip(getOperation(), target, chip);
      if (failed(found))
        return signalPassFailure();
      for (linalg::LinalgOp op : ops)
        Mapper(op, **found).run();
    }
    WalkResult result =
        getOperation()->walk<WalkOrder::PreOrder>(checkHostAccess);
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
