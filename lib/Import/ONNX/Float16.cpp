//===- Float16.cpp - Floats of 16 bits, in large numbers ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float16.h"

#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>

using namespace mlir;

std::optional<double> tessera::onnx::decodeNormal(Format16 format,
                                                  uint64_t bits) {
  uint64_t sign = bits >> 15 << 63, magnitude = bits & 0x7fff;
  if (magnitude == 0)
    return llvm::bit_cast<double>(sign);
  uint64_t exponent = magnitude >> format.mantissaBits;
  if (exponent == 0 || exponent == format.getMaxExponent())
    return std::nullopt;
  return llvm::bit_cast<double>(
      sign |
      ((magnitude << (52 - format.mantissaBits)) + (format.getRebias() << 52)));
}

std::optional<uint64_t> tessera::onnx::encodeNormal(Format16 format,
                                                    double value) {
  auto bits = llvm::bit_cast<uint64_t>(value);
  uint64_t sign = bits >> 63 << 15, magnitude = bits << 1 >> 1;
  if (magnitude == 0)
    return sign;
  uint64_t exponent = magnitude >> 52;
  if (exponent <= format.getRebias() ||
      exponent >= format.getRebias() + format.getMaxExponent())
    return std::nullopt;
  magnitude -= format.getRebias() << 52;
  unsigned dropped = 52 - format.mantissaBits;
  uint64_t odd = magnitude >> dropped & 1;
  magnitude += (uint64_t{1} << (dropped - 1)) - 1 + odd;
  return sign | magnitude >> dropped;
}

// The loop has no branch and integers of 32 bits, so that compilers make
// vectors of it.
bool tessera::onnx::scaleNumbers(Format16 format, const char *from, char *to,
                                 size_t count, double factor) {
  unsigned mantissaBits = format.mantissaBits;
  auto maxExponent = static_cast<uint32_t>(format.getMaxExponent());
  // The half of an f64 that begins with its sign has 20 bits of its mantissa.
  constexpr unsigned upperBits = 20;
  unsigned dropped = upperBits - mantissaBits;
  auto rebias = static_cast<uint32_t>(format.getRebias());
  float scale = llvm::bit_cast<float>((254 - maxExponent / 2) << 23);
  // In a sum with this the last bit is the smallest number of the format.
  double shift =
      llvm::bit_cast<double>((uint64_t{rebias} + 1 + 52 - mantissaBits) << 52);
  uint32_t isOther = 0;
  for (size_t i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, from + i * sizeof(half), sizeof(half));
    uint32_t number = half & 0x7fff;
    isOther |= uint32_t(number >= (maxExponent << mantissaBits));
    float value = llvm::bit_cast<float>(number << (23 - mantissaBits)) * scale;
    double product = static_cast<double>(value) * factor;
    auto bits = llvm::bit_cast<uint64_t>(product);
    // The last bit of the upper half stands for all after it.
    uint32_t upper = static_cast<uint32_t>(bits >> 32) |
                     uint32_t(static_cast<uint32_t>(bits) != 0);
    uint32_t magnitude = upper & 0x7fffffff;
    uint32_t normal = magnitude - (rebias << upperBits);
    normal += (1u << (dropped - 1)) - 1 + (normal >> dropped & 1);
    normal >>= dropped;
    auto subnormal = static_cast<uint32_t>(
        llvm::bit_cast<uint64_t>(std::fabs(product) + shift));
    uint32_t result =
        magnitude < ((rebias + 1) << upperBits) ? subnormal : normal;
    isOther |= uint32_t(result > (maxExponent << mantissaBits));
    half = static_cast<uint16_t>(((upper >> 16 ^ half) & 0x8000) | result);
    std::memcpy(to + i * sizeof(half), &half, sizeof(half));
  }
  return isOther == 0;
}
