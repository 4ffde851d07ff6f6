//===- NarrowDivisions.cpp - Divisions of 64 bits -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indices have 64 bits and are small. A device divides 64 bits by a long series
// of instructions, and NVIDIA's driver (580.159) gets some of them wrong: of
// `(x / 27) % 2` it made 0 for all x. So, of unsigned numbers,
//
//   x / 2^n, x % 2^n    a shift, a mask
//   x / y               of 32 bits if x and y have no more, else of 64
//   x % y               x - x / y * y
//
// and signed ones the same but for the first: those that fit are not negative.
// Upstream's narrowing (arith-int-range-narrowing) is for bounds that are known
// when a kernel is compiled, which those of dynamic shapes are not.
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Quotients that are there already.
using Quotients =
    llvm::DenseMap<std::tuple<Block *, Value, Value, unsigned>, Value>;

} // namespace

static Value constant(OpBuilder &builder, Location loc, Type type,
                      int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

/// `value`, an index or an i64, as i32 or back.
static Value cast(OpBuilder &builder, Location loc, Value value, Type type) {
  if (value.getType().isIndex() || type.isIndex())
    return arith::IndexCastUIOp::create(builder, loc, type, value);
  if (type.isInteger(32))
    return arith::TruncIOp::create(builder, loc, type, value);
  return arith::ExtUIOp::create(builder, loc, type, value);
}

static Value divide(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                    bool isSigned) {
  Type type = lhs.getType();
  constexpr int64_t limit = int64_t(1) << 32;
  std::optional<int64_t> known;
  if (APInt value; matchPattern(rhs, m_ConstantInt(&value)))
    known = value.getSExtValue();
  Value both = lhs;
  if (!known || *known < 0 || *known >= limit)
    both = arith::OrIOp::create(builder, loc, lhs, rhs);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     both, constant(builder, loc, type, limit));
  auto branch = scf::IfOp::create(
      builder, loc, fits,
      [&](OpBuilder &b, Location) {
        Type narrow = b.getI32Type();
        Value quotient = arith::DivUIOp::create(
            b, loc, cast(b, loc, lhs, narrow), cast(b, loc, rhs, narrow));
        scf::YieldOp::create(b, loc, cast(b, loc, quotient, type));
      },
      [&](OpBuilder &b, Location) {
        Value quotient =
            isSigned ? arith::DivSIOp::create(b, loc, lhs, rhs).getResult()
                     : arith::DivUIOp::create(b, loc, lhs, rhs).getResult();
        scf::YieldOp::create(b, loc, quotient);
      });
  return branch.getResult(0);
}

void mlir::tessera::narrowDivisions(gpu::GPUFuncOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(
            op) &&
        (op->getResult(0).getType().isIndex() ||
         op->getResult(0).getType().isInteger(64)))
      ops.push_back(op);
  });
  Quotients quotients;
  for (Operation *op : ops) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value lhs = op->getOperand(0), rhs = op->getOperand(1), result;
    bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op),
         isDivision = isa<arith::DivUIOp, arith::DivSIOp>(op);
    APInt value;
    if (!isSigned && matchPattern(rhs, m_ConstantInt(&value)) &&
        value.isPowerOf2()) {
      Type type = lhs.getType();
      result = isDivision
                   ? arith::ShRUIOp::create(
                         builder, loc, lhs,
                         constant(builder, loc, type, value.logBase2()))
                         .getResult()
                   : arith::AndIOp::create(builder, loc, lhs,
                                           constant(builder, loc, type,
                                                    (value - 1).getSExtValue()))
                         .getResult();
    } else {
      Value &quotient =
          quotients[{op->getBlock(), lhs, rhs, isSigned ? 1U : 0U}];
      if (!quotient)
        quotient = divide(builder, loc, lhs, rhs, isSigned);
      result = isDivision
                   ? quotient
                   : arith::SubIOp::create(
                         builder, loc, lhs,
                         arith::MulIOp::create(builder, loc, quotient, rhs))
                         .getResult();
    }
    op->replaceAllUsesWith(ValueRange(result));
    // Those behind it have the result for an operand: only the op goes.
    op->erase();
  }
}
