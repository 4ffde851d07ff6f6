//===- ReductionLoops.cpp - Reductions whose steps have no order ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReductionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

std::optional<Fold> tessera::reference::matchFold(Block &block, unsigned output,
                                                  BlockArgument old,
                                                  Scope &scope) {
  Operation *step = block.getTerminator()->getOperand(output).getDefiningOp();
  if (!isa_and_present<arith::AddFOp, arith::MulFOp>(step) ||
      step->getBlock() != &block || !old.hasOneUse())
    return std::nullopt;
  Type type = step->getResult(0).getType();
  for (unsigned side = 0; side < 2; ++side)
    if (step->getOperand(side) == old && isNumber(type) && Format::get(type))
      return Fold{scope.slot(step->getOperand(1 - side)),
                  isa<arith::MulFOp>(step), Format::get(type)};
  return std::nullopt;
}

FoldBound::FoldBound(const Fold &fold, const Number &initial)
    : format(fold.format), isProduct(fold.isProduct),
      magnitude(std::fabs(initial.f)), peak(magnitude),
      inherited(initial.error) {
  noteLastBit(initial.f);
}

void FoldBound::noteLastBit(double value) {
  if (value == 0 || !std::isfinite(value))
    return;
  int exponent;
  auto significand =
      static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  lastBit = std::min(lastBit,
                     exponent - 53 +
                         llvm::countr_zero(static_cast<uint64_t>(significand)));
}

void FoldBound::step(const Number &term, const Number &result) {
  ++steps;
  if (isProduct) {
    rounded += !format->holds(result.f);
    return;
  }
  magnitude += std::fabs(term.f);
  peak = std::max(peak, std::fabs(result.f));
  inherited += term.error;
  noteLastBit(term.f);
}

bool FoldBound::isExact() const {
  if (magnitude == 0)
    return true;
  return magnitude <= format->largest &&
         std::ldexp(1.0, lastBit) >= format->smallestNormal &&
         magnitude <= std::ldexp(1.0, lastBit + format->precision);
}

double FoldBound::finish(const Number &result) const {
  if (!std::isfinite(result.f) || !std::isfinite(magnitude))
    return result.error;
  if (isProduct) {
    // A number that the format holds has no factor that it does not hold. For
    // other numbers, every step may round, unless it already does.
    double more = rounded == 0 ? 0.0 : static_cast<double>(steps - rounded);
    return result.error + more * format->unit * std::fabs(result.f);
  }
  if (inherited == 0 && isExact())
    return result.error;
  // No partial sum is larger than all terms' absolute values together.
  double worst = static_cast<double>(steps) * format->unit * magnitude;
  double loss =
      std::min(worst, accumulationError(*format, steps, magnitude, peak));
  return std::max(result.error, inherited + loss);
}
