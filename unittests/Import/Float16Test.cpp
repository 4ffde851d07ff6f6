//===- Float16Test.cpp ----------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Float16.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

using namespace llvm;
using namespace mlir::tessera::onnx;

namespace {

struct FormatCase {
  const char *name;
  Format16 format;
  const fltSemantics &semantics;
};

double decode(const fltSemantics &semantics, uint16_t bits) {
  APFloat value(semantics, APInt(16, bits));
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

uint16_t encode(const fltSemantics &semantics, double value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

class Float16Test : public testing::TestWithParam<FormatCase> {
protected:
  Format16 format = GetParam().format;
  const fltSemantics &semantics = GetParam().semantics;
};

TEST_P(Float16Test, ConvertsEachNumber) {
  unsigned decoded = 0, encoded = 0;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    double value = decode(semantics, half);
    if (std::optional<double> got = decodeNormal(format, bits)) {
      ASSERT_EQ(*got, value) << bits;
      ASSERT_EQ(std::signbit(*got), std::signbit(value)) << bits;
      ++decoded;
    }
    if (std::optional<uint64_t> got = encodeNormal(format, value)) {
      ASSERT_EQ(*got, bits);
      ++encoded;
    }
  }
  // All but subnormal numbers, infinities and what is not a number.
  unsigned normal =
      2 * (1 + (format.getMaxExponent() - 1) * (1u << format.mantissaBits));
  EXPECT_EQ(decoded, normal);
  EXPECT_EQ(encoded, normal);
}

TEST_P(Float16Test, RoundsNumbersBetween) {
  // A number, the middle between it and the next one, and a bit to its sides.
  for (uint32_t bits = 0; bits < 0x7fff; ++bits) {
    double low = decode(semantics, static_cast<uint16_t>(bits));
    double high = decode(semantics, static_cast<uint16_t>(bits + 1));
    if (!std::isfinite(low) || !std::isfinite(high))
      continue;
    double middle = (low + high) / 2;
    for (double value :
         {middle, std::nextafter(middle, low), std::nextafter(middle, high)})
      for (double with : {value, -value})
        if (std::optional<uint64_t> got = encodeNormal(format, with))
          ASSERT_EQ(*got, encode(semantics, with)) << with;
  }
}

TEST_P(Float16Test, ScalesEachNumber) {
  std::vector<double> factors = {1,      -1,      0,       0.5,  2,
                                 1. / 3, 0x1p-14, -0x1p-9, 1.25, 1023.0 / 1024};
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> exponents(-20, 8);
  for (int i = 0; i < 20; ++i)
    factors.push_back((i % 2 ? -1 : 1) * std::exp2(exponents(generator)));

  unsigned scaled = 0;
  for (double factor : factors) {
    std::vector<uint16_t> from, expected;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      auto half = static_cast<uint16_t>(bits);
      double product = decode(semantics, half) * factor;
      uint16_t result = encode(semantics, product);
      if (!std::isfinite(product) ||
          !std::isfinite(decode(semantics, result))) {
        // It is rejected, alone as well.
        uint16_t ignored;
        bool isScaled = scaleNumbers(
            format, reinterpret_cast<const char *>(&half),
            reinterpret_cast<char *>(&ignored), /*count=*/1, factor);
        if (!std::isfinite(decode(semantics, half)))
          ASSERT_FALSE(isScaled) << bits << " by " << factor;
        else
          ASSERT_TRUE(!isScaled || ignored == result)
              << bits << " by " << factor;
        continue;
      }
      from.push_back(half);
      expected.push_back(result);
    }
    std::vector<uint16_t> got(from.size());
    ASSERT_TRUE(
        scaleNumbers(format, reinterpret_cast<const char *>(from.data()),
                     reinterpret_cast<char *>(got.data()), from.size(), factor))
        << factor;
    for (size_t i = 0; i < from.size(); ++i)
      ASSERT_EQ(got[i], expected[i]) << from[i] << " by " << factor;
    scaled += from.size();
  }
  EXPECT_GT(scaled, 0x10000u * factors.size() / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, Float16Test,
    testing::Values(FormatCase{"f16", formatF16, APFloat::IEEEhalf()},
                    FormatCase{"bf16", formatBF16, APFloat::BFloat()}),
    [](const testing::TestParamInfo<FormatCase> &info) {
      return info.param.name;
    });

} // namespace
