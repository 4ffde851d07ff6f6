//===- Float16.h - Floats of 16 bits, in large numbers ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Networks have millions of these numbers, for which APFloat takes seconds.
// Normal numbers and zeros are converted by integer operations here; the caller
// converts the others by APFloat.
//
//===----------------------------------------------------------------------===//

#ifndef IMPORT_ONNX_FLOAT16_H
#define IMPORT_ONNX_FLOAT16_H

#include <cstddef>
#include <cstdint>
#include <optional>

namespace mlir::tessera::onnx {

/// A sign, an exponent and a mantissa, of 16 bits together.
struct Format16 {
  unsigned exponentBits, mantissaBits;

  uint64_t getMaxExponent() const { return (1u << exponentBits) - 1; }
  /// The difference of the bias of f64.
  uint64_t getRebias() const { return 1023 - getMaxExponent() / 2; }
};

constexpr Format16 formatF16{5, 10}, formatBF16{8, 7};

/// The number of these bits, if it is zero or a normal number.
std::optional<double> decodeNormal(Format16 format, uint64_t bits);

/// The bits of the nearest number, if it is zero, a normal number or an
/// infinity that a normal number is rounded to.
std::optional<uint64_t> encodeNormal(Format16 format, double value);

/// Multiplies `count` numbers by a factor, rounded to the nearest, ties to
/// even. False where one of them, or a result before it is rounded, is an
/// infinity or not a number; the contents of `to` are undefined then.
bool scaleNumbers(Format16 format, const char *from, char *to, size_t count,
                  double factor);

} // namespace mlir::tessera::onnx

#endif // IMPORT_ONNX_FLOAT16_H
