//===- InlineAsync.cpp - Regions of the async dialect in program order ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conversion in which a token and a group have no value, and an async value
// is the value that it holds.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Async/IR/Async.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/Statistic.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAINLINEASYNC
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-inline-async"

STATISTIC(numInlinedRegions, "Number of asynchronous regions that run in "
                             "place");

using namespace mlir;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Whether `first` has run whenever `second` runs, or is in the same iteration
/// of some loop ahead of it.
static bool isAhead(Operation *first, Operation *second) {
  for (Operation *outer = second; outer; outer = outer->getParentOp())
    if (Operation *at = outer->getBlock()
                            ? outer->getBlock()->findAncestorOpInBlock(*first)
                            : nullptr)
      return at != outer && at->isBeforeInBlock(outer);
  return false;
}

/// Rejects a wait for tokens that are added to the group later.
static LogicalResult checkWait(async::AwaitAllOp wait) {
  for (Operation *user : wait.getOperand().getUsers()) {
    auto add = dyn_cast<async::AddToGroupOp>(user);
    if (!add || isAhead(add, wait))
      continue;
    InFlightDiagnostic diagnostic =
        wait.emitOpError()
        << "waits for a token that is added to the group later; regions run "
           "in program order, so add it ahead of the wait";
    diagnostic.attachNote(add.getLoc()) << "it is added here";
    return diagnostic;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// All values of operands that are each converted to any number of them.
static SmallVector<Value> flatten(ArrayRef<ValueRange> ranges) {
  SmallVector<Value> values;
  for (ValueRange range : ranges)
    llvm::append_range(values, range);
  return values;
}

namespace {

struct InlineExecute : public OpConversionPattern<async::ExecuteOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::ExecuteOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Block *body = op.getBody();
    auto yield = cast<async::YieldOp>(body->getTerminator());
    SmallVector<Value> yielded(yield.getOperands());
    rewriter.inlineBlockBefore(body, op, flatten(adaptor.getBodyOperands()));
    rewriter.eraseOp(yield);
    // The token has no value.
    SmallVector<SmallVector<Value>> results(1);
    for (Value value : yielded)
      results.push_back({rewriter.getRemappedValue(value)});
    rewriter.replaceOpWithMultiple(op, std::move(results));
    ++numInlinedRegions;
    return success();
  }
};

struct ConvertFunction : public OpConversionPattern<async::FuncOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::FuncOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FunctionType type = op.getFunctionType();
    const TypeConverter &converter = *getTypeConverter();
    TypeConverter::SignatureConversion inputs(type.getNumInputs());
    SmallVector<Type> results;
    if (failed(converter.convertSignatureArgs(type.getInputs(), inputs)) ||
        failed(converter.convertTypes(type.getResults(), results)))
      return rewriter.notifyMatchFailure(op, "of types that are not converted");
    auto function = func::FuncOp::create(
        rewriter, op.getLoc(), op.getName(),
        rewriter.getFunctionType(inputs.getConvertedTypes(), results));
    function.setVisibility(op.getVisibility());
    if (op.isExternal()) {
      rewriter.eraseOp(op);
      return success();
    }
    rewriter.inlineRegionBefore(op.getBody(), function.getBody(),
                                function.end());
    if (failed(rewriter.convertRegionTypes(&function.getBody(), converter,
                                           &inputs)))
      return rewriter.notifyMatchFailure(op, "of types that are not converted");
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertReturn : public OpConversionPattern<async::ReturnOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::ReturnOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<func::ReturnOp>(op,
                                                flatten(adaptor.getOperands()));
    return success();
  }
};

struct ConvertCall : public OpConversionPattern<async::CallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::CallOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, "of types that are not converted");
    auto call = func::CallOp::create(rewriter, op.getLoc(), op.getCallee(),
                                     types, flatten(adaptor.getOperands()));
    SmallVector<SmallVector<Value>> results;
    auto next = call.getResults().begin();
    for (Type type : op.getResultTypes()) {
      results.emplace_back();
      if (isa<async::ValueType>(type))
        results.back().push_back(*next++);
    }
    rewriter.replaceOpWithMultiple(op, std::move(results));
    return success();
  }
};

struct ConvertAwait : public OpConversionPattern<async::AwaitOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::AwaitOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op->getNumResults() == 0)
      rewriter.eraseOp(op);
    else
      rewriter.replaceOp(op, adaptor.getOperand());
    return success();
  }
};

struct EraseAwaitAll : public OpConversionPattern<async::AwaitAllOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::AwaitAllOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

struct EraseGroup : public OpConversionPattern<async::CreateGroupOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::CreateGroupOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, SmallVector<SmallVector<Value>>(1));
    return success();
  }
};

struct EraseAddition : public OpConversionPattern<async::AddToGroupOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(async::AddToGroupOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op->use_empty())
      return rewriter.notifyMatchFailure(op, "its rank in the group is used");
    rewriter.eraseOp(op);
    return success();
  }
};

struct InlineAsyncPass
    : public tessera::impl::TesseraInlineAsyncBase<InlineAsyncPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool hasAsync = false;
    WalkResult result = module.walk([&](Operation *op) {
      if (!isa_and_nonnull<async::AsyncDialect>(op->getDialect()))
        return WalkResult::advance();
      hasAsync = true;
      return check(op);
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    if (!hasAsync)
      return;

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion(
        [](async::ValueType type) -> Type { return type.getValueType(); });
    converter.addConversion(
        [](Type type, SmallVectorImpl<Type> &) -> std::optional<LogicalResult> {
          if (isa<async::TokenType, async::GroupType>(type))
            return success();
          return std::nullopt;
        });
    RewritePatternSet patterns(&getContext());
    patterns.add<InlineExecute, ConvertFunction, ConvertReturn, ConvertCall,
                 ConvertAwait, EraseAwaitAll, EraseGroup, EraseAddition>(
        converter, &getContext());
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    populateBranchOpInterfaceTypeConversionPattern(patterns, converter);
    ConversionTarget target(getContext());
    target.addIllegalDialect<async::AsyncDialect>();
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return converter.isSignatureLegal(op.getFunctionType()) &&
             converter.isLegal(&op.getBody());
    });
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return converter.isLegal(op); });
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    if (failed(applyFullConversion(module, target, std::move(patterns))))
      signalPassFailure();
  }

private:
  WalkResult check(Operation *op) {
    if (auto wait = dyn_cast<async::AwaitAllOp>(op))
      return checkWait(wait);
    if (isa<async::ExecuteOp, async::YieldOp, async::FuncOp, async::CallOp,
            async::ReturnOp, async::AwaitOp, async::CreateGroupOp,
            async::AddToGroupOp>(op))
      return WalkResult::advance();
    op->emitOpError() << "is not supported: regions run in program order, "
                         "without an asynchronous runtime";
    return WalkResult::interrupt();
  }
};

} // namespace
