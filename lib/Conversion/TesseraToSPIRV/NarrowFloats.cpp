//===- NarrowFloats.cpp - Arithmetic of bf16 and f16 in f32 ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices have no arithmetic of bf16, and those of OpenCL may lack that of f16
// (cl_khr_fp16). Operands are then converted to f32 and results rounded to
// nearest even, by integer arithmetic on their bits.
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::isComputedWide(Type type, const Chip &chip) {
  return type.isBF16() || (type.isF16() && !chip.hasF16);
}

static void widenArithmetic(Operation *root, const Chip &chip) {
  auto isNarrow = [&](Type type) {
    return isComputedWide(getElementTypeOrSelf(type), chip);
  };
  SmallVector<Operation *> operations;
  root->walk([&](Operation *op) {
    if (OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1 &&
        !isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::SelectOp>(
            op) &&
        (llvm::any_of(op->getOperandTypes(), isNarrow) ||
         isNarrow(op->getResult(0).getType())))
      operations.push_back(op);
  });
  for (Operation *op : operations) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto widen = [&](Type type) -> Type {
      if (auto vector = dyn_cast<VectorType>(type))
        return vector.clone(b.getF32Type());
      return b.getF32Type();
    };
    for (OpOperand &operand : op->getOpOperands())
      if (isNarrow(operand.get().getType()))
        operand.set(arith::ExtFOp::create(
            b, loc, widen(operand.get().getType()), operand.get()));
    Value result = op->getResult(0);
    Type type = result.getType();
    if (!isNarrow(type))
      continue;
    result.setType(widen(type));
    b.setInsertionPointAfter(op);
    Value rounded = arith::TruncFOp::create(b, loc, type, result);
    result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
  }
}

namespace {

/// Arithmetic on i32 and f32, scalar or vector like `shape`.
struct Emitter {
  Emitter(OpBuilder &builder, Location loc, Type shape)
      : b(loc, builder), i16(like(shape, b.getI16Type())),
        i32(like(shape, b.getI32Type())), f32(like(shape, b.getF32Type())),
        f16(like(shape, b.getF16Type())) {}

  static Type like(Type shape, Type element) {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value integer(uint32_t value) {
    TypedAttr attr = b.getI32IntegerAttr(static_cast<int32_t>(value));
    if (auto vector = dyn_cast<VectorType>(i32))
      attr = SplatElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(b, attr);
  }
  Value add(Value l, Value r) { return arith::AddIOp::create(b, l, r); }
  Value sub(Value l, Value r) { return arith::SubIOp::create(b, l, r); }
  Value bitAnd(Value l, uint32_t r) {
    return arith::AndIOp::create(b, l, integer(r));
  }
  Value bitOr(Value l, Value r) { return arith::OrIOp::create(b, l, r); }
  Value left(Value l, uint32_t by) {
    return arith::ShLIOp::create(b, l, integer(by));
  }
  Value right(Value l, uint32_t by) {
    return arith::ShRUIOp::create(b, l, integer(by));
  }
  Value ifLess(Value l, uint32_t r, Value yes, Value no) {
    Value isLess =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, l, integer(r));
    return arith::SelectOp::create(b, isLess, yes, no);
  }
  Value toReal(Value bits) { return arith::BitcastOp::create(b, f32, bits); }
  Value toBits(Value real) { return arith::BitcastOp::create(b, i32, real); }

  ImplicitLocOpBuilder b;
  Type i16, i32, f32, f16;
};

// f16: 5 bits of exponent with a bias of 15, 10 of mantissa; f32: 8, 127, 23
// (IEEE 754-2019, 3.6).

struct ExpandHalfExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn().getType()).isF16())
      return rewriter.notifyMatchFailure(op, "not of f16");
    Emitter e(rewriter, op.getLoc(), op.getType());
    Value bits = arith::ExtUIOp::create(
        e.b, e.i32, arith::BitcastOp::create(e.b, e.i16, op.getIn()));
    Value magnitude = e.bitAnd(bits, 0x7fff);
    Value fields = e.left(magnitude, 13);
    Value normal = e.add(fields, e.integer((127 - 15) << 23));
    // Without an implicit one: computed as if it had one, which is subtracted
    // again.
    Value one = e.integer((127 - 14) << 23);
    Value subnormal = e.toBits(arith::SubFOp::create(
        e.b, e.toReal(e.add(fields, one)), e.toReal(one)));
    Value infinite = e.bitOr(fields, e.integer(0x7f800000));
    Value result = e.ifLess(magnitude, 0x0400, subnormal,
                            e.ifLess(magnitude, 0x7c00, normal, infinite));
    Value value = e.toReal(e.bitOr(result, e.left(e.bitAnd(bits, 0x8000), 16)));
    if (value.getType() != op.getType())
      value = arith::ExtFOp::create(e.b, op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ExpandHalfTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF16())
      return rewriter.notifyMatchFailure(op, "not to f16");
    Emitter e(rewriter, op.getLoc(), op.getType());
    Value in = op.getIn();
    if (in.getType() != e.f32)
      in = arith::TruncFOp::create(e.b, e.f32, in);
    Value bits = e.toBits(in);
    Value magnitude = e.bitAnd(bits, 0x7fffffff);
    // Normal: half of the last kept bit more, less one if that bit is even.
    Value odd = e.bitAnd(e.right(magnitude, 13), 1);
    Value rounded = e.add(magnitude, e.add(odd, e.integer((1 << 12) - 1)));
    Value normal = e.sub(e.right(rounded, 13), e.integer((127 - 15) << 10));
    // Subnormal: an addition aligns the last kept bit with f32's last.
    Value half = e.integer(126 << 23);
    Value subnormal = e.sub(e.toBits(arith::AddFOp::create(
                                e.b, e.toReal(magnitude), e.toReal(half))),
                            half);
    // From halfway between the largest number and the next one on: infinity.
    Value finite = e.ifLess(magnitude, (127 - 14) << 23, subnormal, normal);
    Value result = e.ifLess(
        magnitude, 0x477ff000, finite,
        e.ifLess(magnitude, 0x7f800001, e.integer(0x7c00), e.integer(0x7e00)));
    result = e.bitOr(result, e.bitAnd(e.right(bits, 16), 0x8000));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(
        op, op.getType(), arith::TruncIOp::create(e.b, e.i16, result));
    return success();
  }
};

} // namespace

void mlir::tessera::widenNarrowFloats(Operation *root, const Chip &chip) {
  widenArithmetic(root, chip);
  RewritePatternSet expansions(root->getContext());
  arith::populateExpandBFloat16Patterns(expansions);
  if (!chip.hasF16)
    expansions.add<ExpandHalfExtF, ExpandHalfTruncF>(root->getContext());
  walkAndApplyPatterns(root, std::move(expansions));
}
