//===- Compare.cpp - Computed arrays against the reference ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Compare.h"

#include "BlockErrors.h"
#include "Numeric.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

/// The permitted difference of an element, or unbounded if it is not known.
static double getAllowed(const Format &format, double expected, double error,
                         const CompareOptions &options) {
  if (options.exact)
    return 0;
  if (options.absolute || options.relative)
    return options.absolute.value_or(0) +
           options.relative.value_or(0) * std::fabs(expected);
  if (error == 0)
    return 0;
  // The bound, and the rounding to the element type. 64-bit results are as
  // inaccurate in the reference itself.
  double factor = format.precision >= 53 ? 2 : 1;
  double allowed = factor * options.slack * error;
  if (format.isFloat)
    allowed += 2 * format.unit * (std::fabs(expected) + error) + format.tiny;
  return allowed;
}

std::string tessera::reference::formatNumber(double value) {
  if (std::isnan(value))
    return "nan";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (std::trunc(value) == value && std::fabs(value) < 1e15)
    os << static_cast<int64_t>(value);
  else
    os << llvm::format("%.9g", value);
  return text;
}

std::string tessera::reference::formatShort(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2g", value);
  return text;
}

Comparison tessera::reference::compare(function_ref<double(int64_t)> gotElement,
                                       const Array &reference,
                                       const CompareOptions &options) {
  Comparison result;
  const Format &format = *Format::get(reference.elementType);
  const uint8_t *written =
      options.onlyWritten ? reference.storage->written() : nullptr;
  bool hasTolerance = options.exact || options.absolute || options.relative;
  double worstRatio = 0, largestAllowed = 0;
  SmallVector<int64_t> strides = computeSuffixProduct(reference.shape);
  for (int64_t i = 0, e = reference.getNumElements(); i < e; ++i) {
    if ((written && !written[i]) || (options.ignored && (*options.ignored)[i]))
      continue;
    ++result.count;
    double got = gotElement(i), wanted = reference.getDouble(i);
    // The value rounded to the element type, perhaps an infinity.
    double rounded = format.isFloat ? format.round(wanted) : wanted;
    double allowed = getAllowed(format, wanted, reference.getError(i), options);
    bool isUnbounded = !(allowed < unbounded);
    // A NaN or an infinity of which the reference is certain.
    if (!std::isfinite(wanted)) {
      double error = hasTolerance ? 0 : reference.getError(i);
      isUnbounded = std::isnan(wanted) ? error == unbounded
                                       : !(std::fabs(error) < unbounded);
      allowed = isUnbounded ? unbounded : 0;
    }
    result.gotNaNs += std::isnan(got);
    result.expectedNaNs += std::isnan(rounded);
    result.gotInfinities += std::isinf(got);
    result.expectedInfinities += std::isinf(rounded);
    result.exactCount += allowed == 0;
    result.unboundedCount += isUnbounded;
    if (!isUnbounded)
      largestAllowed = std::max(largestAllowed, allowed);
    result.permissiveCount += !isUnbounded && format.isFloat &&
                              allowed >= format.largest + std::fabs(wanted);
    result.sumSquaredAllowed += isUnbounded ? unbounded : allowed * allowed;
    if (std::isfinite(wanted))
      result.sumSquaredExpected += wanted * wanted;
    if (got == rounded || (std::isnan(got) && std::isnan(rounded)))
      continue;
    double difference = std::fabs(got - wanted);
    bool isNumber = std::isfinite(difference);
    if (std::isnan(got))
      ++result.nanCount;
    if (isNumber) {
      result.maxAbs = std::max(result.maxAbs, difference);
      result.sumAbs += difference;
      result.maxUlp = std::max(result.maxUlp, format.ulps(got, rounded));
      if (wanted != 0)
        result.maxRel = std::max(result.maxRel, difference / std::fabs(wanted));
    }
    // Close to the largest number, it may have become an infinity or not.
    bool mayOverflow =
        std::isinf(got) && std::isfinite(wanted) &&
        std::copysign(1, got) * wanted + allowed >= format.largest;
    if (isNumber)
      result.sumSquaredError += difference * difference;
    else if (isUnbounded || !mayOverflow)
      result.sumSquaredError = unbounded;
    result.unverifiedCount += isUnbounded;
    if (isUnbounded || mayOverflow)
      continue;
    bool matches = isNumber && difference <= allowed;
    double ratio = !isNumber      ? unbounded
                   : allowed == 0 ? std::max(1e100, difference * 1e200)
                                  : difference / allowed;
    if (!matches) {
      result.ok = false;
      ++result.mismatchCount;
      if (options.before) {
        double old = options.before->getDouble(i);
        result.unchangedCount +=
            got == old || (std::isnan(got) && std::isnan(old));
      }
      if (!result.first)
        result.first = {delinearize(i, strides), got, wanted};
    }
    if (ratio > worstRatio || result.worstIndex < 0) {
      worstRatio = ratio;
      result.worstIndex = i;
      result.got = got;
      result.expected = wanted;
      result.allowed = allowed;
    }
  }
  if (result.worstIndex >= 0)
    result.worstPosition = delinearize(result.worstIndex, strides);
  result.tolerance =
      largestAllowed == 0 ? "exact" : "within " + formatShort(largestAllowed);
  if (result.unverifiedCount)
    result.tolerance +=
        ", not verified: " + std::to_string(result.unverifiedCount) +
        (result.unverifiedCount == 1 ? " element" : " elements") +
        " without an error bound";
  if (options.losses && !hasTolerance)
    compareBlocks(gotElement, reference, options, result);
  if (result.worstBlock && !result.first)
    result.first = result.worstBlock->worst;
  return result;
}

Comparison tessera::reference::compare(const Array &got, const Array &reference,
                                       const CompareOptions &options) {
  if (got.elementType != reference.elementType ||
      got.shape != reference.shape) {
    Comparison result;
    result.ok = false;
    result.tolerance = "the arrays differ in type or shape";
    return result;
  }
  return compare([&](int64_t index) { return got.getDouble(index); }, reference,
                 options);
}

std::string WrongBlock::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "the " << kind << " of " << rows << "x" << columns << " at [";
  llvm::interleaveComma(position, os);
  os << "] differs by " << formatShort(rms)
     << " (root mean square), and sums of few bits lose at most "
     << formatShort(allowed);
  return text;
}

std::string Comparison::describePermissive() const {
  if (permissiveCount == 0)
    return "";
  if (permissiveCount == 1)
    return "; 1 element may be any number of its type";
  return "; " +
         (permissiveCount == count ? "all" : std::to_string(permissiveCount)) +
         " elements may be any number of their type";
}

double Comparison::relativeNorm() const {
  return sumSquaredError == 0 ? 0
                              : std::sqrt(sumSquaredError / sumSquaredExpected);
}

double Comparison::worstRatio() const {
  if (worstIndex < 0 || got == expected)
    return 0;
  double difference = std::fabs(got - expected);
  return std::isfinite(difference) && allowed != 0 ? difference / allowed
                                                   : unbounded;
}

std::string Comparison::describe() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (count == 0 && !ok) {
    os << tolerance;
    return text;
  }
  if (ok)
    os << count - unverifiedCount << " elements match";
  else if (mismatchCount == 0 && worstBlock)
    os << worstBlock->describe();
  else
    os << mismatchCount << " of " << count << " elements differ";
  os << " (" << tolerance << ")";
  if (worstIndex < 0)
    return text;
  os << (ok ? ", largest error at [" : ", worst at [");
  llvm::interleaveComma(worstPosition, os);
  os << "]: " << formatNumber(got) << ", expected " << formatNumber(expected);
  if (allowed != 0)
    os << " within " << formatShort(allowed);
  if (nanCount)
    os << "; " << nanCount << " are NaN";
  return text;
}
