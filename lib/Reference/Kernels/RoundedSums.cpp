//===- RoundedSums.cpp - How sums of products are rounded -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Full precision. Each addition to the accumulator loses up to a unit of the
// partial sum. These losses are independent where additions round to nearest,
// and add up like a random walk; where they truncate, they drift by one step
// for each few terms, since a matrix unit adds up those at once.
//
// Reduced precision. A matrix unit that keeps few bits aligns all terms of an
// instruction and the partial sum to the largest of them, and truncates each of
// them to a grid of `unitBits` bits. A term loses up to one step of that grid
// towards zero, half a step on average. So the losses drift by half a step for
// each term that has the sign of the majority, and vary by a random walk around
// that. A unit that adds up only `unitLength` terms in this way has the grid of
// these, which is much finer.
//
//===----------------------------------------------------------------------===//

#include "RoundedSums.h"

#include "../PreparedCode.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

bool SumFormat::isExact(double largestProduct, double largestInitial,
                        int64_t length) const {
  double bound = largestProduct * static_cast<double>(length) + largestInitial;
  if (bound > std::ldexp(1.0, accumulator->precision) ||
      bound > accumulator->largest)
    return false;
  if (!isReduced())
    return true;
  double unitBound =
      isAllReduced(length)
          ? bound
          : largestProduct * static_cast<double>(std::min(length, unitLength));
  return unitBound <= std::ldexp(1.0, unitBits);
}

double SumFormat::getError(const SumFacts &facts) const {
  double error = accumulationError(*accumulator, facts.length, facts.magnitude,
                                   facts.peak);
  if (!isReduced())
    return error;
  double unit = std::ldexp(1.0, -unitBits);
  auto terms = static_cast<double>(facts.length);
  if (!isAllReduced(facts.length))
    return error + unit * (static_cast<double>(unitLength) / 2 * facts.peak +
                           6 * facts.pieces);
  // Peaks are seen now and then only, and may be higher between.
  double peak = facts.peak + 3 * facts.pieces / std::sqrt(std::max(terms, 1.0));
  double worst = 2 * unit * (terms + 1) * (facts.magnitude + facts.peak);
  double likely = unit * peak * (facts.signs + 4 * std::sqrt(terms) + 8);
  return error + std::min(worst, likely);
}

EmulatedUnit SumFormat::getUnit(Run &run, int64_t length) const {
  constexpr int64_t step = 32;
  CoarseSums order = run.options.coarseSums;
  EmulatedUnit unit;
  if (order == CoarseSums::WithoutStep) {
    // A rounding to 53 bits changes no double.
    unit.bits = 53;
    if (length >= 2 * step) {
      unit.skipBegin = length / (2 * step) * step;
      unit.skipEnd = unit.skipBegin + step;
      run.leftOutStep.store(true, std::memory_order_relaxed);
    }
    return unit;
  }
  unit.bits = getCoarseBits();
  unit.isAligned = isAligned();
  unit.isReversed = order == CoarseSums::EmulatedBackward;
  // Units add up 4 to 64 terms at once, and code without a matrix unit one.
  if (unit.isReversed)
    unit.width = unit.isAligned ? 4 : 1;
  else
    unit.width = unit.isAligned ? 32 : 16;
  return unit;
}

std::string tessera::reference::getSourceLocation(Operation *op) {
  auto file = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (!file)
    return "";
  return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
          Twine(file.getColumn()))
      .str();
}

/// Whether `a` is less precise than `b`.
static bool isLessPrecise(const CompiledSum &a, const CompiledSum &b) {
  if (a.bits != b.bits)
    return a.bits < b.bits;
  // If the unit has no bits of its own, it keeps all; without a length, it adds
  // all terms.
  auto bitsOf = [](const CompiledSum &sum) {
    return sum.unitBits ? sum.unitBits : sum.bits;
  };
  if (bitsOf(a) != bitsOf(b))
    return bitsOf(a) < bitsOf(b);
  return b.unitLength != 0 &&
         (a.unitLength == 0 || a.unitLength > b.unitLength);
}

SumFormat tessera::reference::findSumFormat(const Run &run, Operation *op,
                                            const Format &operand,
                                            const Format &arithmetic) {
  SumFormat format;
  format.arithmetic = format.accumulator = &arithmetic;
  if (!arithmetic.isFloat)
    return format;
  const CompiledSum *found = nullptr;
  auto add = [&](const CompiledSum &sum) {
    // f64 is never summed in anything else, nor anything else in f64.
    if ((sum.bits >= 53) == (arithmetic.precision >= 53))
      found = !found || isLessPrecise(sum, *found) ? &sum : found;
  };
  if (!run.options.sums.empty()) {
    std::string location = getSourceLocation(op);
    for (const CompiledSum &sum : run.options.sums)
      if (!location.empty() && sum.location == location)
        add(sum);
  }
  if (!found)
    for (const CompiledSum &sum : run.unplacedSums)
      add(sum);
  const Format *accumulator =
      found ? Format::ofPrecision(found->bits) : nullptr;
  if (accumulator) {
    format.accumulator = accumulator;
    format.unitBits = found->unitBits;
    format.unitLength = found->unitLength;
  } else if (operand.isFloat && operand.width == 8 &&
             arithmetic.precision == 24) {
    // Nothing is known: some matrix units keep few bits of such sums.
    format.unitBits = 14;
  }
  return format;
}
