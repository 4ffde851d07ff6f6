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
#include "mlir/Dialect/Utils/IndexingUtils.h"
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
  if (auto shuffle = dyn_cast<vector::ShuffleOp>(op))
    return shuffle.getResultVectorType().getRank() > 1;
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return load.getVectorType().getRank() > 1;
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return store.getVectorType().getRank() > 1;
  if (auto print = dyn_cast<vector::PrintOp>(op))
    return print.getSource() && isa<VectorType>(print.getPrintType());
  return isa<vector::TransferReadOp, vector::TransferWriteOp, vector::MaskOp,
             vector::ContractionOp, vector::OuterProductOp,
             vector::MultiDimReductionOp, vector::TransposeOp,
             vector::InterleaveOp, vector::DeinterleaveOp,
             vector::ConstantMaskOp, vector::CreateMaskOp>(op);
}

namespace {

/// A shuffle of rows: each is extracted and inserted.
struct UnrollShuffle : OpRewritePattern<vector::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getResultVectorType();
    if (type.getRank() < 2)
      return rewriter.notifyMatchFailure(op, "shuffles single elements");
    Location loc = op.getLoc();
    int64_t rows = op.getV1VectorType().getDimSize(0);
    Value result =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    for (auto [at, row] : llvm::enumerate(op.getMask())) {
      if (row == vector::ShuffleOp::kPoisonIndex)
        continue;
      Value part = vector::ExtractOp::create(
          rewriter, loc, row < rows ? op.getV1() : op.getV2(),
          row < rows ? row : row - rows);
      result = vector::InsertOp::create(rewriter, loc, part, result,
                                        static_cast<int64_t>(at));
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// Calls `emit(position, indices)` for each row of a vector in memory: the
/// row's position in the vector, and the indices of its first element.
template <typename F>
void forEachRow(PatternRewriter &rewriter, Location loc, VectorType type,
                ValueRange indices, F emit) {
  ArrayRef<int64_t> outer = type.getShape().drop_back();
  int64_t first = static_cast<int64_t>(indices.size()) - type.getRank();
  for (int64_t row = 0, rows = computeProduct(outer); row < rows; ++row) {
    SmallVector<int64_t> position = delinearize(row, computeStrides(outer));
    SmallVector<Value> at(indices);
    for (auto [d, by] : llvm::enumerate(position))
      if (by != 0)
        at[first + d] = arith::AddIOp::create(
            rewriter, loc, at[first + d],
            arith::ConstantIndexOp::create(rewriter, loc, by));
    emit(position, at);
  }
}

/// A load of several dimensions: each row is loaded.
struct UnrollLoad : OpRewritePattern<vector::LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::LoadOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    if (type.getRank() < 2 ||
        isa<VectorType>(op.getMemRefType().getElementType()))
      return rewriter.notifyMatchFailure(op, "loads one row");
    Location loc = op.getLoc();
    auto row = VectorType::get(type.getShape().back(), type.getElementType());
    Value result =
        arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
    forEachRow(rewriter, loc, type, op.getIndices(),
               [&](ArrayRef<int64_t> position, ValueRange indices) {
                 Value part = vector::LoadOp::create(rewriter, loc, row,
                                                     op.getBase(), indices);
                 result = vector::InsertOp::create(rewriter, loc, part, result,
                                                   position);
               });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A store of several dimensions: each row is stored.
struct UnrollStore : OpRewritePattern<vector::StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::StoreOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType();
    if (type.getRank() < 2 ||
        isa<VectorType>(op.getMemRefType().getElementType()))
      return rewriter.notifyMatchFailure(op, "stores one row");
    Location loc = op.getLoc();
    forEachRow(rewriter, loc, type, op.getIndices(),
               [&](ArrayRef<int64_t> position, ValueRange indices) {
                 Value part = vector::ExtractOp::create(
                     rewriter, loc, op.getValueToStore(), position);
                 vector::StoreOp::create(rewriter, loc, part, op.getBase(),
                                         indices);
               });
    rewriter.eraseOp(op);
    return success();
  }
};

/// Even and odd elements, as a shuffle each.
struct DeinterleaveToShuffle : OpRewritePattern<vector::DeinterleaveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::DeinterleaveOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getResultVectorType();
    if (type.getRank() != 1 || type.isScalable())
      return rewriter.notifyMatchFailure(op, "not a fixed vector of rank 1");
    SmallVector<Value> halves;
    for (int64_t first : {0, 1}) {
      SmallVector<int64_t> mask;
      for (int64_t i = 0; i < type.getNumElements(); ++i)
        mask.push_back(2 * i + first);
      halves.push_back(vector::ShuffleOp::create(
          rewriter, op.getLoc(), op.getSource(), op.getSource(), mask));
    }
    rewriter.replaceOp(op, halves);
    return success();
  }
};

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
      vector::populateVectorInterleaveLoweringPatterns(patterns);
      vector::populateVectorInterleaveToShufflePatterns(patterns);
      patterns
          .add<UnrollShuffle, UnrollLoad, UnrollStore, DeinterleaveToShuffle>(
              patterns.getContext());
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
