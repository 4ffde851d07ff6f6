//===- LiftBranches.cpp - Branches as structured control flow -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's transformation of a graph of blocks into nested regions does the
// work; its pass is for functions only. Values that it leaves undefined become
// zero, so that a program computes the same in each run, and its switches,
// which the reference and conversions lack, become conditions.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERALIFTBRANCHES
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-lift-branches"

using namespace mlir;
using namespace mlir::tessera;

STATISTIC(numLifted, "Number of regions whose branches became structured");

namespace {
struct BranchTransformation : public ControlFlowToSCFTransformation {
  Value getUndefValue(Location loc, OpBuilder &builder, Type type) override {
    if (TypedAttr zero = builder.getZeroAttr(type))
      return arith::ConstantOp::create(builder, loc, zero);
    return ControlFlowToSCFTransformation::getUndefValue(loc, builder, type);
  }

  FailureOr<Operation *> createUnreachableTerminator(Location loc, OpBuilder &,
                                                     Region &) override {
    return emitError(loc)
           << "this loop has no exit, so that structured control "
              "flow cannot express it";
  }
};
} // namespace

/// Replaces a switch by conditions, one in the alternative of another.
static void expandSwitch(scf::IndexSwitchOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  scf::IfOp outer;
  auto moveInto = [&](Region &from, Block *to) {
    to->getOperations().splice(to->end(), from.front().getOperations());
  };
  for (auto [value, region] :
       llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
    Value isCase = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, op.getArg(),
        arith::ConstantIndexOp::create(builder, loc, value));
    auto branch = scf::IfOp::create(builder, loc, op.getResultTypes(), isCase,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    moveInto(region, branch.thenBlock());
    if (!outer)
      outer = branch;
    else
      scf::YieldOp::create(builder, loc, branch.getResults());
    builder.setInsertionPointToStart(branch.elseBlock());
  }
  if (!outer)
    return;
  moveInto(op.getDefaultRegion(), builder.getInsertionBlock());
  op.replaceAllUsesWith(outer.getResults());
  op.erase();
}

/// Whether a region has blocks that branch to each other by ops of `cf`.
static bool hasBranches(Region &region) {
  return llvm::any_of(region, [](Block &block) {
    return block.mightHaveTerminator() &&
           isa<cf::BranchOp, cf::CondBranchOp, cf::SwitchOp>(
               block.getTerminator());
  });
}

namespace {
struct LiftBranchesPass
    : public tessera::impl::TesseraLiftBranchesBase<LiftBranchesPass> {
  void runOnOperation() override {
    // Inner regions first.
    SmallVector<Region *> regions;
    getOperation()->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        if (hasBranches(region))
          regions.push_back(&region);
    });
    BranchTransformation transformation;
    for (Region *region : regions) {
      DominanceInfo dominance(region->getParentOp());
      LDBG() << region->getLoc() << ": branches become structured";
      if (failed(transformCFGToSCF(*region, transformation, dominance)))
        return signalPassFailure();
      ++numLifted;
    }
    SmallVector<scf::IndexSwitchOp> switches;
    getOperation()->walk(
        [&](scf::IndexSwitchOp op) { switches.push_back(op); });
    for (scf::IndexSwitchOp op : switches)
      expandSwitch(op);
  }
};
} // namespace
