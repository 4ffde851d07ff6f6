//===- LoopForms.cpp - Loops as SPIR-V and drivers expect them ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::tessera;

/// Moves the body of `loop` into the loop that `builder` builds innermost,
/// whose partial results are `carried`. Returns the next ones.
static SmallVector<Value> moveBody(OpBuilder &builder, scf::ParallelOp loop,
                                   ValueRange indices, ValueRange carried) {
  IRRewriter rewriter(builder);
  Block *body = loop.getBody();
  auto reduce = cast<scf::ReduceOp>(body->getTerminator());
  rewriter.inlineBlockBefore(body, builder.getInsertionBlock(),
                             builder.getInsertionPoint(), indices);
  SmallVector<Value> next;
  for (auto [region, operand, partial] :
       llvm::zip_equal(reduce.getReductions(), reduce.getOperands(), carried)) {
    Block &combine = region.front();
    auto result = cast<scf::ReduceReturnOp>(combine.getTerminator());
    rewriter.inlineBlockBefore(&combine, reduce, {partial, operand});
    next.push_back(result.getResult());
    rewriter.eraseOp(result);
  }
  rewriter.eraseOp(reduce);
  return next;
}

void mlir::tessera::sequenceReductions(Operation *root) {
  SmallVector<scf::ParallelOp> loops;
  root->walk([&](scf::ParallelOp loop) {
    if (loop.getNumResults())
      loops.push_back(loop);
  });
  for (scf::ParallelOp loop : loops) {
    OpBuilder builder(loop);
    scf::LoopNest nest = scf::buildLoopNest(
        builder, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
        loop.getStep(), loop.getInitVals(),
        [&](OpBuilder &inner, Location, ValueRange indices,
            ValueRange carried) -> scf::ValueVector {
          SmallVector<Value> next = moveBody(inner, loop, indices, carried);
          return scf::ValueVector(next.begin(), next.end());
        });
    loop.replaceAllUsesWith(ValueRange(nest.results));
    loop.erase();
  }
}

void mlir::tessera::guardLoops(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) {
    std::optional<APInt> trips = loop.getStaticTripCount();
    if (loop.getNumResults() && (!trips || trips->isZero()))
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                           : arith::CmpIPredicate::slt;
    Value runs = arith::CmpIOp::create(b, loc, predicate, loop.getLowerBound(),
                                       loop.getUpperBound());
    auto branch = scf::IfOp::create(b, loc, loop.getResultTypes(), runs,
                                    /*withElseRegion=*/true);
    loop.replaceAllUsesWith(branch.getResults());
    b.setInsertionPointToEnd(&branch.getElseRegion().front());
    scf::YieldOp::create(b, loc, loop.getInitArgs());
    Block &then = branch.getThenRegion().front();
    loop->moveBefore(&then, then.end());
    b.setInsertionPointToEnd(&then);
    scf::YieldOp::create(b, loc, loop.getResults());
  }
}

void mlir::tessera::separateContinues(Operation *root) {
  root->walk([](spirv::LoopOp loop) {
    Block *body = loop.getContinueBlock();
    // Drivers unroll it beyond the capacity of their instruction cache.
    if (!body->getOps<spirv::KHRCooperativeMatrixMulAddOp>().empty())
      loop.setLoopControl(spirv::LoopControl::DontUnroll);
    // Elements of matrices are in registers if their numbers are constants.
    if (llvm::any_of(body->getOps<spirv::AccessChainOp>(), [](auto chain) {
          auto pointer = cast<spirv::PointerType>(chain.getBasePtr().getType());
          return isa<spirv::CooperativeMatrixType>(pointer.getPointeeType());
        }))
      loop.setLoopControl(spirv::LoopControl::Unroll);
    body->splitBlock(body->getTerminator());
    OpBuilder b = OpBuilder::atBlockEnd(body);
    spirv::BranchOp::create(b, loop.getLoc(), body->getNextNode());
  });
}
