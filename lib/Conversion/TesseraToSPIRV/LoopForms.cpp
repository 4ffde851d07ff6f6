//===- LoopForms.cpp - Loops as SPIR-V and drivers expect them ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tessera;

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
    body->splitBlock(body->getTerminator());
    OpBuilder b = OpBuilder::atBlockEnd(body);
    spirv::BranchOp::create(b, loop.getLoc(), body->getNextNode());
  });
}
