//===- LinalgToTessera.cpp - linalg contractions to tessera.contract ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     transpose   extf                  matmul, batch_matmul, contract, generic
//          \       |                    whose body is  acc + ext(a) * ext(b)
//           v      v
//   fill -> contraction -> add bias -> relu -> truncf
//     |          |             \________|________/
//     v          v                      v
//   init, ins and maps           epilogue and extras      of tessera.contract
//
// This file recognizes the product and what feeds it; FuseEpilogue.cpp takes up
// what follows.
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToTessera.h"
#include "Source.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTLINALGTOTESSERA
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

namespace {
/// A value, without the casts that widen it.
struct Widened {
  Value source;
  bool isUnsigned = false;
};
} // namespace

/// Looks through extf, extsi and extui. Integers widened in two ways are not
/// looked through.
static Widened lookThroughWidening(Value value) {
  Widened result{value};
  bool isSigned = false;
  while (Operation *op = result.source.getDefiningOp()) {
    if (isa<arith::ExtSIOp>(op) && !result.isUnsigned)
      isSigned = true;
    else if (isa<arith::ExtUIOp>(op) && !isSigned)
      result.isUnsigned = true;
    else if (!isa<arith::ExtFOp>(op))
      break;
    result.source = op->getOperand(0);
  }
  return result;
}

/// Looks through changes between floating-point types: the sum is taken in the
/// accumulator's type whatever the body says, and rounded once at the end.
static Value lookThroughFloatCasts(Value value) {
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

namespace {
/// What a body `acc + ext(x) * ext(y)` says about its operands.
struct ProductBody {
  Widened operands[2];
  /// The type in which the body adds.
  Type sumType;
};
} // namespace

/// Matches the body of `op`, of two inputs and one output.
static std::optional<ProductBody> matchBody(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op->getNumRegions() != 1)
    return {};
  Block *block = op.getBlock();
  if (!block || block->getNumArguments() != 3 ||
      block->getTerminator()->getNumOperands() != 1)
    return {};
  Value lhs = block->getArgument(0), rhs = block->getArgument(1),
        out = block->getArgument(2);

  Operation *add = lookThroughFloatCasts(block->getTerminator()->getOperand(0))
                       .getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return {};
  Operation *mul = nullptr;
  for (unsigned i : {0, 1})
    if (lookThroughFloatCasts(add->getOperand(1 - i)) == out)
      mul = lookThroughFloatCasts(add->getOperand(i)).getDefiningOp();
  if (!mul || mul->getBlock() != block ||
      !(isa<arith::AddFOp>(add) ? isa<arith::MulFOp>(mul)
                                : isa<arith::MulIOp>(mul)))
    return {};

  ProductBody body;
  body.sumType = add->getResult(0).getType();
  for (unsigned i : {0, 1}) {
    Widened operand = lookThroughWidening(mul->getOperand(i));
    if (operand.source == lhs)
      body.operands[0] = operand;
    else if (operand.source == rhs)
      body.operands[1] = operand;
  }
  if (!body.operands[0].source || !body.operands[1].source)
    return {};
  return body;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::optional<Source> mlir::tessera::lookThroughProducer(const Source &use,
                                                         bool mayWiden,
                                                         bool widened) {
  auto producer = use.value.getDefiningOp<linalg::LinalgOp>();
  if (!producer || !producer.hasPureTensorSemantics() ||
      producer.getNumDpsInputs() != 1 || producer.getNumDpsInits() != 1 ||
      producer.getNumParallelLoops() != producer.getNumLoops() ||
      producer->getNumRegions() != 1 || !producer.getBlock())
    return {};
  OpOperand *input = producer.getDpsInputOperand(0);
  Block *block = producer.getBlock();
  if (!isa<RankedTensorType>(input->get().getType()) ||
      block->getTerminator()->getNumOperands() != 1)
    return {};
  Value yielded = block->getTerminator()->getOperand(0);
  Widened source = mayWiden ? lookThroughWidening(yielded) : Widened{yielded};
  if (source.source != block->getArgument(0))
    return {};
  Type from = source.source.getType();
  if (from != yielded.getType() && from.isInteger()) {
    // Two widenings are to be of one kind. Only 8 bits make a product.
    if (!from.isSignlessInteger(8) ||
        (widened && use.isUnsigned != source.isUnsigned))
      return {};
  }
  AffineMap in = producer.getMatchingIndexingMap(input);
  AffineMap out =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  if (!in.isProjectedPermutation() || !out.isPermutation())
    return {};
  Source result;
  result.value = input->get();
  result.map = in.compose(inversePermutation(out)).compose(use.map);
  result.isUnsigned =
      from != yielded.getType() ? source.isUnsigned : use.isUnsigned;
  return result;
}

Source mlir::tessera::lookThroughMoves(Source use) {
  while (std::optional<Source> next =
             lookThroughProducer(use, /*mayWiden=*/false, /*widened=*/false))
    use = *next;
  return use;
}

LogicalResult mlir::tessera::checkProductMaps(AffineMap lhs, AffineMap rhs,
                                              AffineMap out, std::string *why) {
  auto fail = [&](const Twine &reason) -> LogicalResult {
    if (why)
      *why = reason.str();
    return failure();
  };
  for (AffineMap map : {lhs, rhs, out})
    if (!map.isProjectedPermutation())
      return fail("an operand's indexing map is no projected permutation");
  bool anyMOrN = false;
  unsigned k = 0;
  for (unsigned d = 0; d < out.getNumDims(); ++d) {
    bool l = lhs.isFunctionOfDim(d), r = rhs.isFunctionOfDim(d),
         o = out.isFunctionOfDim(d);
    if (!o && !(l && r))
      return fail("a dimension is summed over one operand only");
    anyMOrN |= o && l != r;
    k += !o;
  }
  if (k > 1)
    return fail("it has " + Twine(k) + " K dimensions, and one is supported");
  if (k == 0)
    return fail("it sums over no dimension");
  if (!anyMOrN)
    return fail("it has neither an M nor an N dimension");
  return success();
}

/// The type in which products of `element` are summed.
static Type getAccumulatorType(Type element) {
  Builder builder(element.getContext());
  if (element.isF64())
    return element;
  if (isa<FloatType>(element))
    return builder.getF32Type();
  return builder.getI32Type();
}

FailureOr<LinalgProduct> mlir::tessera::matchLinalgProduct(linalg::LinalgOp op,
                                                           std::string *why) {
  auto fail = [&](const Twine &reason) -> FailureOr<LinalgProduct> {
    if (why)
      *why = reason.str();
    return failure();
  };
  if (!op.hasPureTensorSemantics() && !op.hasPureBufferSemantics())
    return failure();
  std::optional<ProductBody> body = matchBody(op);
  if (!body || op.getNumReductionLoops() == 0)
    return failure();
  for (OpOperand &operand : op->getOpOperands())
    if (!isa<RankedTensorType, MemRefType>(operand.get().getType()))
      return fail("an operand is no ranked tensor or memref");

  LinalgProduct product;
  product.outMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  Source sources[2];
  for (unsigned i : {0, 1}) {
    OpOperand *operand = op.getDpsInputOperand(i);
    sources[i] = {operand->get(), op.getMatchingIndexingMap(operand),
                  body->operands[i].isUnsigned};
  }
  if (failed(checkProductMaps(sources[0].map, sources[1].map, product.outMap,
                              why)))
    return failure();

  // Take up what produces the operands, as far as it stays a contraction of
  // types that have a product.
  auto accept = [&](const Source &lhs, const Source &rhs) {
    Type a = getElementTypeOrSelf(lhs.value),
         b = getElementTypeOrSelf(rhs.value);
    return isValidProduct(a, b, getAccumulatorType(a));
  };
  bool widened[2];
  for (unsigned i : {0, 1})
    widened[i] = body->operands[i].source.getType() != body->sumType;
  SmallVector<Source> best(sources, sources + 2);
  bool found = accept(sources[0], sources[1]);
  for (bool progress = true; progress;) {
    progress = false;
    for (unsigned i : {0, 1}) {
      std::optional<Source> next =
          lookThroughProducer(sources[i], /*mayWiden=*/true, widened[i]);
      if (!next)
        continue;
      Source candidate[2] = {sources[0], sources[1]};
      candidate[i] = *next;
      if (failed(checkProductMaps(candidate[0].map, candidate[1].map,
                                  product.outMap)))
        continue;
      widened[i] |= getElementTypeOrSelf(next->value) !=
                    getElementTypeOrSelf(sources[i].value);
      sources[i] = *next;
      progress = true;
      if (accept(sources[0], sources[1])) {
        best.assign(sources, sources + 2);
        found = true;
      }
    }
  }
  Type a = getElementTypeOrSelf(best[0].value),
       b = getElementTypeOrSelf(best[1].value);
  if (!found) {
    std::string reason;
    llvm::raw_string_ostream(reason)
        << "there is no matrix product of " << a << " and " << b;
    return fail(reason);
  }
  product.accumulatorType = getAccumulatorType(a);
  Type out = getElementTypeOrSelf(op.getDpsInits()[0]);
  for (Type type : {out, body->sumType})
    if (type.getIntOrFloatBitWidth() >
            product.accumulatorType.getIntOrFloatBitWidth() ||
        isa<FloatType>(type) != isa<FloatType>(product.accumulatorType)) {
      std::string reason;
      llvm::raw_string_ostream(reason)
          << "it sums in " << type << ", and products of " << a << " and " << b
          << " are summed in " << product.accumulatorType;
      return fail(reason);
    }
  if (!FragmentType::isValidElementType(out)) {
    std::string reason;
    llvm::raw_string_ostream(reason)
        << "its output holds " << out << ", which no fragment holds";
    return fail(reason);
  }
  product.lhs = best[0].value;
  product.rhs = best[1].value;
  product.lhsMap = best[0].map;
  product.rhsMap = best[1].map;
  product.unsignedA = a.isInteger() && best[0].isUnsigned;
  product.unsignedB = b.isInteger() && best[1].isUnsigned;
  return product;
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

/// The fill that sets all of memref `output` for `op`, with nothing in between
/// that could see or change it.
static linalg::FillOp findFillBefore(linalg::LinalgOp op, Value output) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    auto fill = dyn_cast<linalg::FillOp>(before);
    if (fill && fill.getOutputs()[0] == output)
      return fill;
    if (!isMemoryEffectFree(before))
      return {};
  }
  return {};
}

/// The memref that `value` is a view of.
static Value getViewedMemory(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

namespace {
/// Where the sum starts: `init`, or the old value of `output`, or zero and
/// `addend` in the epilogue.
struct Start {
  Value init;
  Value output;
  std::optional<Source> addend;
};
} // namespace

static Start findStart(linalg::LinalgOp op, const LinalgProduct &product,
                       RewriterBase &rewriter) {
  Location loc = op.getLoc();
  Type acc = product.accumulatorType;
  Value output = op.getDpsInits()[0];
  Type element = getElementTypeOrSelf(output.getType());
  auto fromScalar = [&](Value scalar) {
    // As fill does: first to the output's type, and then as the sum needs it.
    scalar = convertScalarToDtype(rewriter, loc, scalar, element,
                                  /*isUnsignedCast=*/false);
    return convertScalarToDtype(rewriter, loc, scalar, acc,
                                /*isUnsignedCast=*/false);
  };
  if (isa<MemRefType>(output.getType())) {
    linalg::FillOp fill = findFillBefore(op, output);
    if (!fill)
      return {{}, output, {}};
    Value memory = getViewedMemory(output);
    if (getViewedMemory(product.lhs) == memory ||
        getViewedMemory(product.rhs) == memory)
      return {{}, output, {}};
    Value init = fromScalar(fill.getInputs()[0]);
    rewriter.eraseOp(fill);
    return {init, output, {}};
  }

  if (auto fill = output.getDefiningOp<linalg::FillOp>())
    return {fromScalar(fill.getInputs()[0]), fill.getOutputs()[0], {}};

  auto emptyLike = [&](Value value) -> Value {
    return tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, value), element);
  };
  DenseElementsAttr splat;
  if (matchPattern(output, m_Constant(&splat)) && splat.isSplat()) {
    Value scalar = arith::ConstantOp::create(
        rewriter, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    return {fromScalar(scalar), emptyLike(output), {}};
  }
  // A bias that was broadcast to become the initial value.
  Source source = lookThroughMoves({output, product.outMap});
  if (source.value == output)
    return {{}, output, {}};
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(acc));
  return {zero, emptyLike(output), source};
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

namespace {
struct ConvertContraction : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  ConvertContraction(MLIRContext *context, bool allowTf32)
      : OpInterfaceRewritePattern(context), allowTf32(allowTf32) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<LinalgProduct> product = matchLinalgProduct(op);
    if (failed(product))
      return failure();
    Location loc = op.getLoc();
    Type acc = product->accumulatorType;
    Start start = findStart(op, *product, rewriter);

    SmallVector<AffineMap> maps{product->lhsMap, product->rhsMap,
                                product->outMap};
    SmallVector<Value> extras;
    if (start.addend) {
      maps.push_back(start.addend->map);
      extras.push_back(start.addend->value);
    }
    Precision precision = Precision::Ieee;
    if (getElementTypeOrSelf(product->lhs.getType()).isF32() &&
        (allowTf32 || op->hasAttr("tessera.allow_tf32")))
      precision = Precision::Tf32;
    auto schedule = op->getAttrOfType<ScheduleAttr>("tessera.schedule");
    auto outputType = cast<ShapedType>(start.output.getType());
    auto contract = ContractOp::create(
        rewriter, loc, op->getResultTypes(), product->lhs, product->rhs,
        start.init, extras, /*lhsInputs=*/ValueRange(),
        /*rhsInputs=*/ValueRange(), start.output,
        rewriter.getAffineMapArrayAttr(maps), acc, product->unsignedA,
        product->unsignedB, precision, schedule);

    OpBuilder::InsertionGuard guard(rewriter);
    Block *block = rewriter.createBlock(&contract.getEpilogue());
    Value result = block->addArgument(acc, loc);
    if (start.addend) {
      Value addend = block->addArgument(
          getElementTypeOrSelf(start.addend->value.getType()), loc);
      addend = convertScalarToDtype(rewriter, loc, addend, acc, false);
      result =
          isa<FloatType>(acc)
              ? arith::AddFOp::create(rewriter, loc, result, addend).getResult()
              : arith::AddIOp::create(rewriter, loc, result, addend)
                    .getResult();
    }
    result = convertScalarToDtype(rewriter, loc, result,
                                  outputType.getElementType(), false);
    YieldOp::create(rewriter, loc, result);
    rewriter.replaceOp(op, contract->getResults());
    return success();
  }

private:
  bool allowTf32;
};

struct ConvertLinalgToTesseraPass
    : public tessera::impl::ConvertLinalgToTesseraBase<
          ConvertLinalgToTesseraPass> {
  using ConvertLinalgToTesseraBase::ConvertLinalgToTesseraBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateLinalgToTesseraPatterns(patterns, allowTf32);
    populateFuseEpiloguePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation()->walk([](linalg::LinalgOp op) {
      std::string why;
      if (failed(matchLinalgProduct(op, &why)) && !why.empty())
        op->emitRemark("stays without matrix instructions: ") << why;
    });
  }
};
} // namespace

void mlir::tessera::populateLinalgToTesseraPatterns(RewritePatternSet &patterns,
                                                    bool allowTf32) {
  patterns.add<ConvertContraction>(patterns.getContext(), allowTf32);
}
