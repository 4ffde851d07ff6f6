//===- LowerVectors.cpp - Vector transfers and higher-rank vectors --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   contractions, reductions, ..       vectors of rank 1
//   transfers of several dimensions    transfers of rank 1, unrolled:
//   upstream's
//                                      default keeps vectors in memory, which
//                                      SPIR-V cannot
//   transfers of rank 1                vector.load | vector.maskedload | a loop
//                                      over elements that are not contiguous
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorTransforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERALOWERVECTORS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-lower-vectors"

using namespace mlir;
using namespace mlir::tessera;

/// Whether `op` is one that this pass lowers.
static bool isLowered(Operation *op) {
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    return broadcast.getResultVectorType().getRank() > 1;
  if (auto elements = dyn_cast<vector::FromElementsOp>(op))
    return elements.getType().getRank() > 1;
  if (auto print = dyn_cast<vector::PrintOp>(op))
    return print.getSource() && isa<VectorType>(print.getPrintType());
  return isa<vector::TransferReadOp, vector::TransferWriteOp, vector::MaskOp,
             vector::ContractionOp, vector::OuterProductOp,
             vector::MultiDimReductionOp, vector::TransposeOp>(op);
}

namespace {

struct LowerVectorsPass
    : public tessera::impl::TesseraLowerVectorsBase<LowerVectorsPass> {
  using Patterns = llvm::function_ref<void(RewritePatternSet &)>;

  LogicalResult apply(Patterns populate) {
    RewritePatternSet patterns(&getContext());
    populate(patterns);
    return applyToFixedPoint(getOperation(), std::move(patterns),
                             "vector lowering");
  }

  void runOnOperation() override {
    // Most kernels have none of these: they stay as they are.
    bool any = false;
    getOperation()->walk([&](Operation *op) { any |= isLowered(op); });
    if (!any) {
      LDBG() << getOperation()->getLoc() << ": has no such ops";
      return;
    }
    auto lowerOps = [](RewritePatternSet &patterns) {
      vector::populateVectorMaskOpLoweringPatterns(patterns);
      vector::populateVectorContractLoweringPatterns(
          patterns, vector::VectorContractLowering::OuterProduct);
      vector::populateVectorOuterProductLoweringPatterns(patterns);
      vector::populateVectorMultiReductionLoweringPatterns(
          patterns, vector::VectorMultiReductionLowering::InnerParallel);
      vector::populateVectorTransposeLoweringPatterns(
          patterns, vector::VectorTransposeLowering::EltWise);
      vector::populateVectorBroadcastLoweringPatterns(patterns);
      vector::populateVectorFromElementsUnrollPatterns(patterns);
      vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    };
    auto unrollTransfers = [](RewritePatternSet &patterns) {
      VectorTransferToSCFOptions options;
      options.enableFullUnroll();
      populateVectorToSCFConversionPatterns(patterns, options);
    };
    auto lowerTransfers = [](RewritePatternSet &patterns) {
      vector::populateVectorMaskMaterializationPatterns(
          patterns, /*force32BitVectorIndices=*/true);
      vector::populateVectorTransferLoweringPatterns(patterns,
                                                     /*maxTransferRank=*/1);
    };
    if (failed(apply(lowerOps)) || failed(apply(unrollTransfers)) ||
        failed(apply(lowerTransfers)))
      return signalPassFailure();
    getOperation()->walk([&](Operation *op) {
      if (!isa<vector::TransferReadOp, vector::TransferWriteOp>(op))
        return;
      op->emitError() << "this transfer cannot be lowered to loads and stores: "
                         "use a transfer of vectors of scalars from or to a "
                         "memref";
      signalPassFailure();
    });
  }
};

} // namespace
