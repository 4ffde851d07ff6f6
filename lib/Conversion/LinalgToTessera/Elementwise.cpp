//===- Elementwise.cpp - Element-wise linalg ops --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tessera;

/// The most ops of a cheap body.
static constexpr size_t maxCheapOps = 16;

bool mlir::tessera::isScalarArithmetic(Operation &op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op.getDialect()) &&
         isPure(&op) && llvm::all_of(op.getResultTypes(), [](Type type) {
           return type.isIntOrIndexOrFloat();
         });
}

bool mlir::tessera::isElementwise(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      op->getNumRegions() != 1 || op->getNumResults() != 1)
    return false;
  Block *block = op.getBlock();
  if (!block || block->getNumArguments() != op->getNumOperands() ||
      block->getTerminator()->getNumOperands() != 1)
    return false;
  return llvm::all_of(block->without_terminator(), isScalarArithmetic) &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation();
}

bool mlir::tessera::isCheap(linalg::LinalgOp op) {
  auto isCheapOp = [](Operation &nested) {
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
               math::FloorOp, math::FmaOp, math::RoundOp, math::RoundEvenOp,
               math::TruncOp>(nested) ||
           (isa<arith::ArithDialect>(nested.getDialect()) &&
            !isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                 arith::RemFOp>(nested));
  };
  auto body = op.getBlock()->without_terminator();
  return llvm::range_size(body) <= maxCheapOps && llvm::all_of(body, isCheapOp);
}
