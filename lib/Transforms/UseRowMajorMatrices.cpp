//===- UseRowMajorMatrices.cpp - Matrices of intrinsics by rows -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM selects the layout by a global option of its lowering, which a library
// cannot set for one program alone. Transposed operands need no option.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAUSEROWMAJORMATRICES
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-row-major-matrices"

STATISTIC(numTransposedMatrixOps, "Number of ops on matrices stored by rows");

using namespace mlir;
using namespace mlir::tessera;

static void exchangeSizes(LLVM::MatrixTransposeOp op) {
  IntegerAttr rows = op.getRowsAttr();
  op.setRowsAttr(op.getColumnsAttr());
  op.setColumnsAttr(rows);
}

/// Memory holds the columns of the matrix with either option.
static void transposeLoaded(LLVM::MatrixColumnMajorLoadOp op) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  auto rows = LLVM::MatrixTransposeOp::create(
      builder, op.getLoc(), op.getRes().getType(), op.getRes(),
      op.getRowsAttr(), op.getColumnsAttr());
  op.getRes().replaceAllUsesExcept(rows, rows);
}

static void transposeStored(LLVM::MatrixColumnMajorStoreOp op) {
  OpBuilder builder(op);
  op.getMatrixMutable().assign(LLVM::MatrixTransposeOp::create(
      builder, op.getLoc(), op.getMatrix().getType(), op.getMatrix(),
      op.getColumnsAttr(), op.getRowsAttr()));
}

static void transposeProduct(LLVM::MatrixMultiplyOp op) {
  Value lhs = op.getLhs();
  op.getLhsMutable().assign(op.getRhs());
  op.getRhsMutable().assign(lhs);
  IntegerAttr rows = op.getLhsRowsAttr();
  op.setLhsRowsAttr(op.getRhsColumnsAttr());
  op.setRhsColumnsAttr(rows);
}

namespace {
struct UseRowMajorMatricesPass
    : public tessera::impl::TesseraUseRowMajorMatricesBase<
          UseRowMajorMatricesPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<LLVM::MatrixMultiplyOp, LLVM::MatrixTransposeOp,
              LLVM::MatrixColumnMajorLoadOp, LLVM::MatrixColumnMajorStoreOp>(
              op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      LDBG() << op->getLoc() << ": vectors hold rows";
      ++numTransposedMatrixOps;
      if (auto product = dyn_cast<LLVM::MatrixMultiplyOp>(op))
        transposeProduct(product);
      else if (auto transpose = dyn_cast<LLVM::MatrixTransposeOp>(op))
        exchangeSizes(transpose);
      else if (auto load = dyn_cast<LLVM::MatrixColumnMajorLoadOp>(op))
        transposeLoaded(load);
      else
        transposeStored(cast<LLVM::MatrixColumnMajorStoreOp>(op));
    }
  }
};
} // namespace
