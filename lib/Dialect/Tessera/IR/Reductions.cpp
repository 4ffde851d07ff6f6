//===- Reductions.cpp - Semantics of reduction kinds ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Reductions.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::isValidReduction(ReductionKind kind, Type type) {
  switch (kind) {
  case ReductionKind::MaxNum:
  case ReductionKind::MinNum:
    return isa<FloatType>(type);
  case ReductionKind::MaxU:
  case ReductionKind::MinU:
    return isa<IntegerType>(type);
  default:
    return isa<FloatType, IntegerType>(type);
  }
}

std::optional<ReductionKind>
mlir::tessera::matchReduction(Operation *combiner) {
  if (isa<arith::AddFOp, arith::AddIOp>(combiner))
    return ReductionKind::Add;
  if (isa<arith::MulFOp, arith::MulIOp>(combiner))
    return ReductionKind::Mul;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(combiner))
    return ReductionKind::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(combiner))
    return ReductionKind::Min;
  if (isa<arith::MaxNumFOp>(combiner))
    return ReductionKind::MaxNum;
  if (isa<arith::MinNumFOp>(combiner))
    return ReductionKind::MinNum;
  if (isa<arith::MaxUIOp>(combiner))
    return ReductionKind::MaxU;
  if (isa<arith::MinUIOp>(combiner))
    return ReductionKind::MinU;
  return std::nullopt;
}

static arith::AtomicRMWKind getArithKind(ReductionKind kind, Type type) {
  using From = ReductionKind;
  using To = arith::AtomicRMWKind;
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case From::Add:
    return isFloat ? To::addf : To::addi;
  case From::Mul:
    return isFloat ? To::mulf : To::muli;
  case From::Max:
    return isFloat ? To::maximumf : To::maxs;
  case From::Min:
    return isFloat ? To::minimumf : To::mins;
  case From::MaxNum:
    return To::maxnumf;
  case From::MinNum:
    return To::minnumf;
  case From::MaxU:
    return To::maxu;
  case From::MinU:
    return To::minu;
  }
  llvm_unreachable("a reduction of another kind");
}

Value mlir::tessera::createReduction(OpBuilder &builder, Location loc,
                                     ReductionKind kind, Value a, Value b) {
  return arith::getReductionOp(
      getArithKind(kind, getElementTypeOrSelf(a.getType())), builder, loc, a,
      b);
}

TypedAttr mlir::tessera::getNeutralElement(OpBuilder &builder,
                                           ReductionKind kind, Type type) {
  switch (kind) {
  case ReductionKind::MaxNum:
  case ReductionKind::MinNum:
    return builder.getFloatAttr(
        type, APFloat::getNaN(cast<FloatType>(type).getFloatSemantics()));
  default:
    return arith::getIdentityValueAttr(getArithKind(kind, type), type, builder,
                                       builder.getUnknownLoc());
  }
}

bool mlir::tessera::isNeutralElement(ReductionKind kind, Attribute element) {
  auto typed = dyn_cast_or_null<TypedAttr>(element);
  if (!typed || !isa<FloatAttr, IntegerAttr>(element) ||
      !isValidReduction(kind, typed.getType()))
    return false;
  if (auto number = dyn_cast<FloatAttr>(element)) {
    if (kind == ReductionKind::MaxNum || kind == ReductionKind::MinNum)
      return number.getValue().isNaN();
    if (kind == ReductionKind::Add)
      return number.getValue().isZero();
  }
  OpBuilder builder(element.getContext());
  return typed == getNeutralElement(builder, kind, typed.getType());
}
