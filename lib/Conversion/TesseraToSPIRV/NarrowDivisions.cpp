//===- NarrowDivisions.cpp - Divisions of 64 bits -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indices have 64 bits and are small. A device divides 64 bits by a long series
// of instructions, and NVIDIA's driver (580.159) miscompiles some of them: `(x
// / 27) % 2` was 0 for all x. So, for unsigned numbers,
//
//   x / 2^n, x % 2^n    a shift, a mask
//   x / y               of 32 bits if x and y have no more, else bit by bit
//   x % y               x - x / y * y
//
// and for signed ones the same except the first: those that fit are not
// negative. That driver merges the two paths: with a 64-bit division in the
// path that was not taken it also miscompiled `(x / 3) % 2`, so no such
// division is left there. OpenCL's compilers are not known for this, and divide
// 64 bits.
//
// If bounds are known at compile time (upstream's integer ranges), the run-time
// check is omitted; dynamic shapes require it.
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Quotients that exist already.
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

/// The quotient of unsigned 64-bit numbers by subtracting and shifting, one bit
/// in each of 64 iterations.
static Value divideByBits(OpBuilder &builder, Location loc, Value lhs,
                          Value rhs) {
  Type type = lhs.getType();
  Value zero = constant(builder, loc, type, 0),
        one = constant(builder, loc, type, 1),
        top = constant(builder, loc, type, 63);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto loop = scf::ForOp::create(
      builder, loc, index(0), index(64), index(1), ValueRange{lhs, zero},
      [&](OpBuilder &b, Location, Value, ValueRange carried) {
        // The rest of the dividend is shifted out at the top, and bits of the
        // quotient in at the bottom.
        Value value = carried[0], rest = carried[1];
        auto shift = [&](Value number, Value bit) -> Value {
          Value twice = arith::ShLIOp::create(b, loc, number, one);
          return arith::OrIOp::create(b, loc, twice, bit);
        };
        auto isTopSet = [&](Value number) -> Value {
          return arith::ShRUIOp::create(b, loc, number, top);
        };
        auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
          return arith::CmpIOp::create(b, loc, predicate, x, y).getResult();
        };
        using P = arith::CmpIPredicate;
        Value wraps = compare(P::ne, isTopSet(rest), zero);
        Value next = shift(rest, isTopSet(value));
        Value fits =
            arith::OrIOp::create(b, loc, wraps, compare(P::uge, next, rhs));
        Value less = arith::SubIOp::create(b, loc, next, rhs);
        Value bit = arith::SelectOp::create(b, loc, fits, one, zero);
        scf::YieldOp::create(
            b, loc,
            ValueRange{shift(value, bit),
                       arith::SelectOp::create(b, loc, fits, less, next)});
      });
  return loop.getResult(0);
}

/// The quotient of any numbers of 64 bits, of signed ones rounded towards zero:
/// by the device's own division if it `trusts` that, else bit by bit.
static Value divideWide(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                        bool isSigned, bool trusts) {
  if (trusts)
    return isSigned
               ? arith::DivSIOp::create(builder, loc, lhs, rhs).getResult()
               : arith::DivUIOp::create(builder, loc, lhs, rhs).getResult();
  if (!isSigned)
    return divideByBits(builder, loc, lhs, rhs);
  Value zero = constant(builder, loc, lhs.getType(), 0);
  auto isNegative = [&](Value value) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value,
                                 zero);
  };
  auto negateIf = [&](Value condition, Value value) -> Value {
    Value other = arith::SubIOp::create(builder, loc, zero, value);
    return arith::SelectOp::create(builder, loc, condition, other, value);
  };
  Value ofLhs = isNegative(lhs), ofRhs = isNegative(rhs);
  Value quotient =
      divideByBits(builder, loc, negateIf(ofLhs, lhs), negateIf(ofRhs, rhs));
  return negateIf(arith::XOrIOp::create(builder, loc, ofLhs, ofRhs), quotient);
}

static Value divideNarrow(OpBuilder &builder, Location loc, Value lhs,
                          Value rhs) {
  Type narrow = builder.getI32Type();
  Value quotient =
      arith::DivUIOp::create(builder, loc, cast(builder, loc, lhs, narrow),
                             cast(builder, loc, rhs, narrow));
  return cast(builder, loc, quotient, lhs.getType());
}

static Value divide(OpBuilder &builder, Location loc, Value lhs, Value rhs,
                    bool isSigned, bool trusts) {
  Type type = lhs.getType();
  constexpr int64_t limit = int64_t(1) << 32;
  std::optional<int64_t> known;
  if (APInt value; matchPattern(rhs, m_ConstantInt(&value)))
    known = value.getSExtValue();
  Value both = lhs;
  if (!known || *known < 0 || *known >= limit)
    both = arith::OrIOp::create(builder, loc, lhs, rhs);
  Value isNarrow =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, both,
                            constant(builder, loc, type, limit));
  auto branch = scf::IfOp::create(
      builder, loc, isNarrow,
      [&](OpBuilder &b, Location) {
        scf::YieldOp::create(b, loc, divideNarrow(b, loc, lhs, rhs));
      },
      [&](OpBuilder &b, Location) {
        scf::YieldOp::create(b, loc,
                             divideWide(b, loc, lhs, rhs, isSigned, trusts));
      });
  return branch.getResult(0);
}

/// The operands of `ops` that fit in 32 bits.
static llvm::DenseSet<Value> findNarrow(gpu::GPUFuncOp kernel,
                                        ArrayRef<Operation *> ops) {
  llvm::DenseSet<Value> narrow;
  DataFlowSolver solver;
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<dataflow::IntegerRangeAnalysis>();
  if (failed(solver.initializeAndRun(kernel)))
    return narrow;
  for (Operation *op : ops)
    for (Value value : op->getOperands()) {
      auto *range =
          solver.lookupState<dataflow::IntegerValueRangeLattice>(value);
      if (range && !range->getValue().isUninitialized() &&
          range->getValue().getValue().umax().isIntN(32))
        narrow.insert(value);
    }
  return narrow;
}

void mlir::tessera::narrowDivisions(gpu::GPUFuncOp kernel, bool trustsWide) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp>(
            op) &&
        (op->getResult(0).getType().isIndex() ||
         op->getResult(0).getType().isInteger(64)))
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  llvm::DenseSet<Value> narrow = findNarrow(kernel, ops);
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
        quotient = narrow.contains(lhs) && narrow.contains(rhs)
                       ? divideNarrow(builder, loc, lhs, rhs)
                       : divide(builder, loc, lhs, rhs, isSigned, trustsWide);
      result = isDivision
                   ? quotient
                   : arith::SubIOp::create(
                         builder, loc, lhs,
                         arith::MulIOp::create(builder, loc, quotient, rhs))
                         .getResult();
    }
    // Another value may later have the address of the op's.
    if (narrow.erase(op->getResult(0)))
      narrow.insert(result);
    op->replaceAllUsesWith(ValueRange(result));
    // The users already have the replacement: only the op is erased.
    op->erase();
  }
}
