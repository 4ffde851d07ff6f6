//===- KernelBodies.cpp - Bodies of kernels by upstream's patterns --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/IndexToSPIRV/IndexToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/UBToSPIRV/UBToSPIRV.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// A function of f16 or f32 that upstream's patterns lack.
template <typename Op, typename SpirvOp>
struct FunctionPattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<SpirvOp>(op, adaptor.getOperand());
    return success();
  }
};

/// trunc(x) = floor(|x|), with the sign of x.
struct TruncPattern : OpConversionPattern<math::TruncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(math::TruncOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value magnitude = math::AbsFOp::create(rewriter, loc, adaptor.getOperand());
    rewriter.replaceOpWithNewOp<math::CopySignOp>(
        op, math::FloorOp::create(rewriter, loc, magnitude),
        adaptor.getOperand());
    return success();
  }
};

} // namespace

LogicalResult
mlir::tessera::convertBodies(spirv::ModuleOp module, spirv::TargetEnvAttr env,
                             const SpirvEnvironment &environment) {
  MLIRContext *context = module.getContext();
  SPIRVConversionOptions options;
  options.use64bitIndex = true;
  options.emulateLT32BitScalarTypes = false;
  SPIRVTypeConverter converter(env, options);
  std::unique_ptr<ConversionTarget> target = SPIRVConversionTarget::get(env);
  target->addLegalOp<UnrealizedConversionCastOp>();
  RewritePatternSet patterns(context);
  ScfToSPIRVContext scfContext;
  arith::populateArithToSPIRVPatterns(converter, patterns);
  populateMathToSPIRVPatterns(converter, patterns);
  populateSCFToSPIRVPatterns(converter, scfContext, patterns);
  index::populateIndexToSPIRVPatterns(converter, patterns);
  if (environment.isKernel)
    populateKernelMath(converter, patterns);
  else
    patterns.add<FunctionPattern<math::Exp2Op, spirv::GLExp2Op>,
                 FunctionPattern<math::Log2Op, spirv::GLLog2Op>>(converter,
                                                                 context);
  patterns.add<TruncPattern>(converter, context);
  ub::populateUBToSPIRVConversionPatterns(converter, patterns);
  return applyFullConversion(module, *target, std::move(patterns));
}
