//===- ResolveSubgroups.cpp - Subgroup queries ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "TargetInfo/Chip.h"
#include "TargetInfo/TargetInfo.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERARESOLVESUBGROUPS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-resolve-subgroups"

using namespace mlir;
using namespace mlir::tessera;

namespace {

struct ResolveSubgroupsPass
    : public tessera::impl::TesseraResolveSubgroupsBase<ResolveSubgroupsPass> {
  using TesseraResolveSubgroupsBase::TesseraResolveSubgroupsBase;
  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation());
    if (failed(found))
      return signalPassFailure();
    int64_t chipLanes = (*found)->subgroupSize;
    SmallVector<Operation *> sizes, queries, exchanges;
    getOperation()->walk([&](Operation *op) {
      if (isa<gpu::SubgroupSizeOp>(op))
        sizes.push_back(op);
      else if (isa<gpu::SubgroupIdOp, gpu::NumSubgroupsOp>(op) ||
               (isa<gpu::LaneIdOp>(op) && chipLanes == 1))
        queries.push_back(op);
      else if (chipLanes == 1 && isExchange(op))
        exchanges.push_back(op);
    });
    LDBG() << getOperation()->getLoc() << ": subgroups of " << chipLanes
           << " lanes, in " << sizes.size() + queries.size() << " queries";
    if (chipLanes == 1 && (failed(checkLanes(sizes, queries, exchanges)) ||
                           failed(checkExchanges(exchanges))))
      return signalPassFailure();
    llvm::SmallPtrSet<Operation *, 4> exchanging;
    for (Operation *op : exchanges)
      exchanging.insert(getKernel(op));
    // A program that does not ask for the size assumes one.
    if (chipLanes == 1 && sizes.empty())
      for (Operation *op : queries)
        if (Operation *kernel = getKernel(op);
            kernel && isa<gpu::LaneIdOp>(op) && !findFragment(kernel))
          exchanging.insert(kernel);
    auto getLanes = [&](Operation *op) {
      return exchanging.contains(getKernel(op)) ? exchangeLanes : chipLanes;
    };
    // Sizes first: launches then have constant sizes, once folded.
    for (Operation *op : sizes) {
      OpBuilder builder(op);
      replace(op, arith::ConstantIndexOp::create(builder, op->getLoc(),
                                                 getLanes(op)));
    }
    getOperation()->walk([](gpu::LaunchOp launch) { foldSizes(launch); });
    if (failed(checkSizes()))
      return signalPassFailure();
    for (Operation *op : queries) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      int64_t lanes = getLanes(op);
      if (isa<gpu::LaneIdOp>(op)) {
        if (lanes == 1)
          replace(op, arith::ConstantIndexOp::create(builder, loc, 0));
        else
          replace(op, arith::RemUIOp::create(
                          builder, loc, emitLinearThread(builder, op),
                          arith::ConstantIndexOp::create(builder, loc, lanes)));
        continue;
      }
      Value value = isa<gpu::NumSubgroupsOp>(op)
                        ? emitNumThreads(builder, op)
                        : emitLinearThread(builder, op);
      if (lanes > 1) {
        Value size = arith::ConstantIndexOp::create(builder, loc, lanes);
        value =
            isa<gpu::SubgroupIdOp>(op)
                ? Value(arith::DivUIOp::create(builder, loc, value, size))
                : Value(arith::CeilDivUIOp::create(builder, loc, value, size));
      }
      replace(op, value);
    }
    for (Operation *kernel : exchanging)
      lowerReductions(kernel, exchangeLanes);
    lowerReductions(getOperation(), chipLanes);
  }

  /// The kernel that `op` is in; null for none.
  static Operation *getKernel(Operation *op) {
    if (auto launch = op->getParentOfType<gpu::LaunchOp>())
      return launch;
    return op->getParentOfType<gpu::GPUFuncOp>();
  }

  /// Whether lanes of a subgroup receive values of others by `op`, so that its
  /// kernel cannot have subgroups of one thread.
  static bool isExchange(Operation *op) {
    if (auto reduce = dyn_cast<gpu::SubgroupReduceOp>(op))
      return reduce.getClusterSize().value_or(1) > 1;
    return isa<gpu::ShuffleOp>(op);
  }

  /// The first op of a kernel that computes with fragments; null for none.
  static Operation *findFragment(Operation *kernel) {
    Operation *fragment = nullptr;
    kernel->walk([&](Operation *inner) {
      if (!fragment && isa_and_present<TesseraDialect>(inner->getDialect()) &&
          llvm::any_of(llvm::concat<const Type>(
                           SmallVector<Type>(inner->getOperandTypes()),
                           SmallVector<Type>(inner->getResultTypes())),
                       llvm::IsaPred<FragmentType>))
        fragment = inner;
    });
    return fragment;
  }

  /// Rejects exchanges beside fragments: a fragment is held by a subgroup of
  /// one thread then.
  static LogicalResult checkExchanges(ArrayRef<Operation *> exchanges) {
    for (Operation *op : exchanges) {
      Operation *kernel = getKernel(op);
      Operation *fragment = kernel ? findFragment(kernel) : nullptr;
      if (!fragment)
        continue;
      InFlightDiagnostic diag = op->emitError();
      diag << op->getName()
           << " next to matrices of a subgroup is not supported on a chip with "
              "subgroups of one thread: emulate a chip "
              "(--target=cpu:emulate=CHIP)";
      diag.attachNote(fragment->getLoc()) << "a matrix is used here";
      return diag;
    }
    return success();
  }

  /// Rejects queries and exchanges beside ops whose lanes are threads of the
  /// program: these have subgroups that a chip with subgroups of one thread
  /// does not have.
  static LogicalResult checkLanes(ArrayRef<Operation *> sizes,
                                  ArrayRef<Operation *> queries,
                                  ArrayRef<Operation *> exchanges) {
    for (Operation *query :
         llvm::concat<Operation *const>(sizes, queries, exchanges)) {
      Operation *kernel = getKernel(query);
      Operation *laneOp = nullptr;
      if (kernel)
        kernel->walk([&](Operation *op) {
          if (!laneOp && findDialectOwner(op->getName().getDialectNamespace()))
            laneOp = op;
        });
      if (!laneOp)
        continue;
      InFlightDiagnostic diag = query->emitError();
      diag << query->getName() << " next to " << laneOp->getName()
           << " is not supported on a chip with subgroups of one thread: "
              "compute it from the thread id, or emulate a chip that has the "
              "op (--target=cpu:emulate=CHIP)";
      diag.attachNote(laneOp->getLoc()) << laneOp->getName() << " is here";
      return diag;
    }
    return success();
  }

  /// Rejects workgroups without threads, so that later divisions by the thread
  /// count are safe.
  LogicalResult checkSizes() {
    auto check = [](Operation *op, unsigned dim, int64_t size) {
      if (size >= 1)
        return WalkResult::advance();
      op->emitError() << "a workgroup must have at least one thread in each "
                         "dimension, but here "
                      << size << " in " << "xyz"[dim];
      return WalkResult::interrupt();
    };
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (auto launch = dyn_cast<gpu::LaunchOp>(op)) {
        gpu::KernelDim3 sizes = launch.getBlockSizeOperandValues();
        const Value values[] = {sizes.x, sizes.y, sizes.z};
        for (auto [dim, size] : llvm::enumerate(values))
          if (std::optional<int64_t> constant = getConstantIntValue(size))
            if (check(op, dim, *constant).wasInterrupted())
              return WalkResult::interrupt();
      }
      if (auto kernel = dyn_cast<gpu::GPUFuncOp>(op))
        if (std::optional<ArrayRef<int32_t>> known = kernel.getKnownBlockSize())
          for (auto [dim, size] : llvm::enumerate(*known))
            if (check(op, dim, size).wasInterrupted())
              return WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  void lowerReductions(Operation *root, int64_t lanes) {
    if (lanes == 1) {
      root->walk([](gpu::SubgroupReduceOp op) {
        if (op.getClusterSize().value_or(1) == 1)
          replace(op, op.getValue());
      });
      return;
    }
    RewritePatternSet patterns(&getContext());
    // Shuffles of 64 bits are broken up later.
    for (unsigned bits : {32, 64}) {
      populateGpuLowerSubgroupReduceToShufflePatterns(patterns, lanes, bits,
                                                      64 / bits);
      populateGpuLowerClusteredSubgroupReduceToShufflePatterns(patterns, lanes,
                                                               bits, 64 / bits);
    }
    walkAndApplyPatterns(root, std::move(patterns));
  }

  static void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  /// Folds multiplications of constants in a launch's block sizes, so that the
  /// kernel's block size is known.
  static void foldSizes(gpu::LaunchOp launch) {
    OpBuilder builder(launch);
    for (OpOperand &operand : launch->getOpOperands()) {
      if (!operand.get().getType().isIndex() ||
          getConstantIntValue(operand.get()))
        continue;
      if (std::optional<int64_t> value = evaluate(operand.get(), 8))
        operand.set(
            arith::ConstantIndexOp::create(builder, launch.getLoc(), *value));
    }
  }

  static std::optional<int64_t> evaluate(Value value, int depth) {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return constant;
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0 || !isa<arith::MulIOp, arith::AddIOp>(op))
      return std::nullopt;
    std::optional<int64_t> l = evaluate(op->getOperand(0), depth - 1);
    std::optional<int64_t> r = evaluate(op->getOperand(1), depth - 1);
    if (!l || !r)
      return std::nullopt;
    int64_t folded;
    bool overflows = isa<arith::MulIOp>(op)
                         ? __builtin_mul_overflow(*l, *r, &folded)
                         : __builtin_add_overflow(*l, *r, &folded);
    return overflows ? std::nullopt : std::optional<int64_t>(folded);
  }
};

} // namespace
