//===- SubgroupMmaToTessera.cpp - Upstream's matrix ops, raised -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   !gpu.mma_matrix<MxNxT, "AOp">      !tessera.fragment<MxNxT, a>
//   gpu.subgroup_mma_load_matrix       tessera.load
//   gpu.subgroup_mma_store_matrix      tessera.store
//   gpu.subgroup_mma_constant_matrix   tessera.fill
//   gpu.subgroup_mma_compute           tessera.mma
//   gpu.subgroup_mma_elementwise       tessera.map
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Conversion/PortableLaunch.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTSUBGROUPMMATOTESSERA
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-subgroup-mma-to-tessera"

STATISTIC(numRaisedLaunches, "Number of launches with gpu.subgroup_mma raised");

using namespace mlir;
using namespace mlir::tessera;

static FragmentType getFragmentType(gpu::MMAMatrixType type) {
  Role role = type.getOperand() == "AOp"   ? Role::A
              : type.getOperand() == "BOp" ? Role::B
                                           : Role::Acc;
  Type element = type.getElementType();
  if (element.isInteger(8))
    element = IntegerType::get(type.getContext(), 8);
  if (type.getShape().size() != 2 || !FragmentType::isValidElementType(element))
    return {};
  return FragmentType::get(type.getShape()[0], type.getShape()[1], element,
                           role);
}

namespace {

/// The address of a matrix: a memref and two indices such that rows are its
/// second-last dimension.
struct Position {
  Value memory;
  SmallVector<Value> indices;
};

/// The op's own leading dimension may differ from the memref's stride. In that
/// case the address is in a view of its own.
Position getPosition(OpBuilder &builder, Location loc, Value memory,
                     ValueRange indices, int64_t leadDimension,
                     ArrayRef<int64_t> shape, bool transpose) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getRank() >= 2 &&
      succeeded(type.getStridesAndOffset(strides, offset)) &&
      strides[type.getRank() - 2] == leadDimension && strides.back() == 1)
    return {memory, llvm::to_vector(indices)};

  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memory);
  Value linear = metadata.getOffset();
  for (auto [index, stride] : llvm::zip(indices, metadata.getStrides()))
    linear = arith::AddIOp::create(
        builder, loc, linear,
        arith::MulIOp::create(builder, loc, index, stride));
  SmallVector<int64_t> sizes(shape);
  if (transpose)
    std::swap(sizes[0], sizes[1]);
  auto view = memref::ReinterpretCastOp::create(
      builder, loc,
      MemRefType::get(sizes, type.getElementType(),
                      StridedLayoutAttr::get(builder.getContext(),
                                             ShapedType::kDynamic,
                                             {leadDimension, 1}),
                      type.getMemorySpace()),
      metadata.getBaseBuffer(), OpFoldResult(linear),
      ArrayRef<OpFoldResult>{builder.getIndexAttr(sizes[0]),
                             builder.getIndexAttr(sizes[1])},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(leadDimension),
                             builder.getIndexAttr(1)});
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return {view, {zero, zero}};
}

template <typename Op> using Pattern = OpConversionPattern<Op>;

struct LoadPattern : Pattern<gpu::SubgroupMmaLoadMatrixOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::SubgroupMmaLoadMatrixOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto matrix = cast<gpu::MMAMatrixType>(op.getType());
    FragmentType type = getFragmentType(matrix);
    if (!type)
      return rewriter.notifyMatchFailure(op, "no fragment has such elements");
    bool transpose = op.getTranspose().value_or(false);
    Position position = getPosition(
        rewriter, op.getLoc(), adaptor.getSrcMemref(), adaptor.getIndices(),
        op.getLeadDimension().getSExtValue(), matrix.getShape(), transpose);
    rewriter.replaceOpWithNewOp<LoadOp>(op, type, position.memory,
                                        position.indices, transpose,
                                        /*inBounds=*/true);
    return success();
  }
};

struct StorePattern : Pattern<gpu::SubgroupMmaStoreMatrixOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::SubgroupMmaStoreMatrixOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    bool transpose = op.getTranspose().value_or(false);
    Position position = getPosition(
        rewriter, op.getLoc(), adaptor.getDstMemref(), adaptor.getIndices(),
        op.getLeadDimension().getSExtValue(),
        cast<gpu::MMAMatrixType>(op.getSrc().getType()).getShape(), transpose);
    rewriter.replaceOpWithNewOp<StoreOp>(op, adaptor.getSrc(), position.memory,
                                         position.indices, transpose,
                                         /*inBounds=*/true,
                                         /*atomicAdd=*/false);
    return success();
  }
};

struct ConstantPattern : Pattern<gpu::SubgroupMmaConstantMatrixOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::SubgroupMmaConstantMatrixOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = getFragmentType(cast<gpu::MMAMatrixType>(op.getType()));
    if (!type || adaptor.getValue().getType() != type.getElementType())
      return rewriter.notifyMatchFailure(op, "no fragment has such elements");
    rewriter.replaceOpWithNewOp<FillOp>(op, type, adaptor.getValue());
    return success();
  }
};

struct ComputePattern : Pattern<gpu::SubgroupMmaComputeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(gpu::SubgroupMmaComputeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // a_transpose and b_transpose repeat how the operands were loaded.
    auto isUnsigned = [](Value matrix) {
      return cast<gpu::MMAMatrixType>(matrix.getType())
          .getElementType()
          .isUnsignedInteger();
    };
    rewriter.replaceOpWithNewOp<MmaOp>(
        op, adaptor.getOpC().getType(), adaptor.getOpA(), adaptor.getOpB(),
        adaptor.getOpC(), isUnsigned(op.getOpA()), isUnsigned(op.getOpB()),
        Precision::Ieee);
    return success();
  }
};

struct ElementwisePattern : Pattern<gpu::SubgroupMmaElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;

  static Value emit(OpBuilder &b, Location loc, gpu::MMAElementwiseOp kind,
                    ValueRange x, Type result) {
    using Kind = gpu::MMAElementwiseOp;
    switch (kind) {
    case Kind::ADDF:
      return arith::AddFOp::create(b, loc, x[0], x[1]);
    case Kind::MULF:
      return arith::MulFOp::create(b, loc, x[0], x[1]);
    case Kind::SUBF:
      return arith::SubFOp::create(b, loc, x[0], x[1]);
    case Kind::MAXF:
      return arith::MaximumFOp::create(b, loc, x[0], x[1]);
    case Kind::MINF:
      return arith::MinimumFOp::create(b, loc, x[0], x[1]);
    case Kind::DIVF:
      return arith::DivFOp::create(b, loc, x[0], x[1]);
    case Kind::ADDI:
      return arith::AddIOp::create(b, loc, x[0], x[1]);
    case Kind::MULI:
      return arith::MulIOp::create(b, loc, x[0], x[1]);
    case Kind::SUBI:
      return arith::SubIOp::create(b, loc, x[0], x[1]);
    case Kind::DIVS:
      return arith::DivSIOp::create(b, loc, x[0], x[1]);
    case Kind::DIVU:
      return arith::DivUIOp::create(b, loc, x[0], x[1]);
    case Kind::NEGATEF:
      return arith::NegFOp::create(b, loc, x[0]);
    case Kind::NEGATES: {
      Value zero =
          arith::ConstantOp::create(b, loc, b.getIntegerAttr(result, 0));
      return arith::SubIOp::create(b, loc, zero, x[0]);
    }
    case Kind::EXTF:
      return arith::ExtFOp::create(b, loc, result, x[0]);
    }
    return {};
  }

  LogicalResult
  matchAndRewrite(gpu::SubgroupMmaElementwiseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    FragmentType type = getFragmentType(cast<gpu::MMAMatrixType>(op.getType()));
    if (!type)
      return rewriter.notifyMatchFailure(op, "no fragment has such elements");
    auto map = MapOp::create(rewriter, loc, type, adaptor.getArgs());
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&map.getBody());
    for (Value argument : adaptor.getArgs())
      body->addArgument(cast<FragmentType>(argument.getType()).getElementType(),
                        loc);
    Value value = emit(rewriter, loc, op.getOpType(), body->getArguments(),
                       type.getElementType());
    if (!value)
      return rewriter.notifyMatchFailure(op, "unknown element-wise operation");
    YieldOp::create(rewriter, loc, value);
    rewriter.replaceOp(op, map);
    return success();
  }
};

struct ConvertSubgroupMmaToTesseraPass
    : public tessera::impl::ConvertSubgroupMmaToTesseraBase<
          ConvertSubgroupMmaToTesseraPass> {
  using ConvertSubgroupMmaToTesseraBase::ConvertSubgroupMmaToTesseraBase;

  static bool isSubgroupMma(Operation *op) {
    return isa<gpu::SubgroupMmaLoadMatrixOp, gpu::SubgroupMmaStoreMatrixOp,
               gpu::SubgroupMmaConstantMatrixOp, gpu::SubgroupMmaComputeOp,
               gpu::SubgroupMmaElementwiseOp>(op);
  }

  void runOnOperation() override {
    llvm::SetVector<gpu::LaunchOp> launches;
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (!isSubgroupMma(op))
        return WalkResult::advance();
      if (auto launch = op->getParentOfType<gpu::LaunchOp>()) {
        launches.insert(launch);
        return WalkResult::advance();
      }
      if (op->getParentOfType<gpu::GPUFuncOp>()) {
        op->emitError() << "cannot raise gpu.subgroup_mma ops in an outlined "
                           "kernel, whose block size is fixed: write the "
                           "kernel as a gpu.launch";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (gpu::LaunchOp launch : launches) {
      LDBG() << launch.getLoc() << ": for subgroups of "
             << subgroupSize.getValue();
      ++numRaisedLaunches;
      if (failed(makePortable(launch, subgroupSize, "gpu.subgroup_mma")))
        return signalPassFailure();
    }

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](gpu::MMAMatrixType type) -> std::optional<Type> {
      FragmentType fragment = getFragmentType(type);
      return fragment ? Type(fragment) : Type();
    });
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    target.addIllegalOp<
        gpu::SubgroupMmaLoadMatrixOp, gpu::SubgroupMmaStoreMatrixOp,
        gpu::SubgroupMmaConstantMatrixOp, gpu::SubgroupMmaComputeOp,
        gpu::SubgroupMmaElementwiseOp, gpu::SubgroupMmaExtractThreadLocalOp,
        gpu::SubgroupMmaInsertThreadLocalOp>();
    RewritePatternSet patterns(&getContext());
    patterns.add<LoadPattern, StorePattern, ConstantPattern, ComputePattern,
                 ElementwisePattern>(converter, &getContext());
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
