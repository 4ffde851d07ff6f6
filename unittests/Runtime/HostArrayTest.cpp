//===- HostArrayTest.cpp - Arrays of any element type ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/HostArray.h"

#include "Runtime/Npy.h"
#include "TestUtils.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <unistd.h>

using namespace tessera::runtime;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan_ = std::numeric_limits<double>::quiet_NaN();

constexpr ElementType allTypes[] = {
    ElementType::F16,        ElementType::BF16,       ElementType::F32,
    ElementType::F64,        ElementType::I1,         ElementType::I8,
    ElementType::U8,         ElementType::I16,        ElementType::I32,
    ElementType::I64,        ElementType::F8E4M3FN,   ElementType::F8E5M2,
    ElementType::F8E4M3FNUZ, ElementType::F8E5M2FNUZ, ElementType::Index};

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

struct Format {
  ElementType type;
  int bits, exponentBits, mantissaBits;
  bool hasInfinity;
  bool isFnuz = false;
};
const Format formats[] = {{ElementType::F16, 16, 5, 10, true},
                          {ElementType::BF16, 16, 8, 7, true},
                          {ElementType::F8E4M3FN, 8, 4, 3, false},
                          {ElementType::F8E5M2, 8, 5, 2, true},
                          {ElementType::F8E4M3FNUZ, 8, 4, 3, false, true},
                          {ElementType::F8E5M2FNUZ, 8, 5, 2, false, true}};

/// The value of a pattern by the definition of the format.
double reference(const Format &format, unsigned bits) {
  unsigned mantissa = bits & ((1u << format.mantissaBits) - 1);
  unsigned exponent =
      bits >> format.mantissaBits & ((1u << format.exponentBits) - 1);
  bool negative = bits >> (format.bits - 1);
  int bias = (1 << (format.exponentBits - 1)) - !format.isFnuz;
  bool ones = !format.isFnuz && exponent == (1u << format.exponentBits) - 1;
  double value;
  if (format.isFnuz && bits == 1u << (format.bits - 1))
    return -nan_;
  if (ones && format.hasInfinity)
    value = mantissa ? nan_ : infinity;
  else if (ones && mantissa == (1u << format.mantissaBits) - 1)
    value = nan_;
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - bias - format.mantissaBits);
  else
    value = std::ldexp((1u << format.mantissaBits) + mantissa,
                       static_cast<int>(exponent) - bias - format.mantissaBits);
  return negative ? -value : value;
}

TEST(FloatTest, EveryPatternDecodesAndComesBack) {
  for (const Format &format : formats)
    for (unsigned bits = 0; bits < (1u << format.bits); ++bits) {
      double value = decodeFloat(format.type, bits);
      double expected = reference(format, bits);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(value)) << bits;
      } else {
        ASSERT_EQ(value, expected) << bits;
      }
      ASSERT_EQ(std::signbit(value), bits >> (format.bits - 1)) << bits;
      ASSERT_EQ(encodeFloat(format.type, value), bits)
          << elementTypeName(format.type);
    }
}

TEST(FloatTest, RoundsToNearestTiesToEven) {
  // Between each two neighbours: the middle, and just beside it.
  for (const Format &format : formats)
    for (unsigned bits = 0; bits + 1 < (1u << (format.bits - 1)); ++bits) {
      double low = reference(format, bits), high = reference(format, bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high))
        continue;
      double middle = (low + high) / 2;
      unsigned even = bits & 1 ? bits + 1 : bits;
      unsigned sign = 1u << (format.bits - 1);
      ASSERT_EQ(encodeFloat(format.type, middle), even);
      ASSERT_EQ(encodeFloat(format.type, -middle),
                format.isFnuz && even == 0 ? 0 : even | sign);
      ASSERT_EQ(encodeFloat(format.type, std::nextafter(middle, low)), bits);
      ASSERT_EQ(encodeFloat(format.type, std::nextafter(middle, high)),
                bits + 1);
    }
}

TEST(FloatTest, Overflow) {
  struct {
    ElementType type;
    double largest, tie;
    unsigned largestBits, overflowBits;
  } cases[] = {
      {ElementType::F16, 65504, 65520, 0x7BFF, 0x7C00},
      {ElementType::BF16, 0x1.FEp127, 0x1.FFp127, 0x7F7F, 0x7F80},
      {ElementType::F8E5M2, 57344, 61440, 0x7B, 0x7C},
  };
  for (const auto &test : cases) {
    EXPECT_EQ(encodeFloat(test.type, test.largest), test.largestBits);
    EXPECT_EQ(encodeFloat(test.type, std::nextafter(test.tie, 0)),
              test.largestBits);
    // A tie goes to the even one, which is infinity.
    EXPECT_EQ(encodeFloat(test.type, test.tie), test.overflowBits);
    EXPECT_EQ(encodeFloat(test.type, infinity), test.overflowBits);
    EXPECT_EQ(encodeFloat(test.type, 1e300), test.overflowBits);
  }
  // No infinity here: NaN. The tie goes down to 448, whose pattern is even.
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FN, 448), 0x7Eu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FN, 464), 0x7Eu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FN, std::nextafter(464, 500)),
            0x7Fu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FN, -1e300), 0xFFu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FN, infinity), 0x7Fu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FN, nan_), 0x7Fu);
  // All patterns except 0x80 are numbers: the smallest value that becomes NaN
  // is halfway to the next number.
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FNUZ, 240), 0x7Fu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FNUZ, std::nextafter(248, 0)),
            0x7Fu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FNUZ, 248), 0x80u);
  EXPECT_EQ(encodeFloat(ElementType::F8E5M2FNUZ, -57344), 0xFFu);
  EXPECT_EQ(encodeFloat(ElementType::F8E5M2FNUZ, -61440), 0x80u);
  for (ElementType type : {ElementType::F8E4M3FNUZ, ElementType::F8E5M2FNUZ})
    for (double value : {infinity, -infinity, nan_, 1e300, -1e300})
      EXPECT_EQ(encodeFloat(type, value), 0x80u);
}

TEST(FloatTest, Underflow) {
  for (const Format &format : formats) {
    double smallest = reference(format, 1);
    EXPECT_EQ(encodeFloat(format.type, smallest / 2), 0u);
    EXPECT_EQ(encodeFloat(format.type, std::nextafter(smallest / 2, 1)), 1u);
    EXPECT_EQ(encodeFloat(format.type, smallest / 4), 0u);
    EXPECT_EQ(encodeFloat(format.type, 5e-324), 0u);
    EXPECT_EQ(encodeFloat(format.type, -0.0),
              format.isFnuz ? 0u : 1u << (format.bits - 1));
    EXPECT_EQ(encodeFloat(format.type, -smallest / 2),
              format.isFnuz ? 0u : 1u << (format.bits - 1));
  }
}

TEST(FloatTest, NaNsStayNaNs) {
  // A payload that the narrow type cannot hold.
  uint64_t bits = 0x7FF0000000000001;
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  EXPECT_TRUE(std::isnan(
      decodeFloat(ElementType::F16, encodeFloat(ElementType::F16, value))));
  EXPECT_TRUE(std::isnan(decodeFloat(ElementType::F8E5M2,
                                     encodeFloat(ElementType::F8E5M2, value))));
}

TEST(FloatTest, KnownValues) {
  EXPECT_EQ(encodeFloat(ElementType::F16, 1.0), 0x3C00u);
  EXPECT_EQ(encodeFloat(ElementType::F16, 1.0 / 3), 0x3555u);
  EXPECT_EQ(encodeFloat(ElementType::BF16, 1.0), 0x3F80u);
  EXPECT_EQ(encodeFloat(ElementType::BF16, 3.141592653589793), 0x4049u);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FN, 1.0), 0x38u);
  EXPECT_EQ(encodeFloat(ElementType::F8E5M2, 1.0), 0x3Cu);
  EXPECT_EQ(encodeFloat(ElementType::F8E4M3FNUZ, 1.0), 0x40u);
  EXPECT_EQ(encodeFloat(ElementType::F8E5M2FNUZ, 1.0), 0x40u);
  EXPECT_EQ(encodeFloat(ElementType::F32, 1.0), 0x3F800000u);
  EXPECT_EQ(encodeFloat(ElementType::F64, 1.0), 0x3FF0000000000000u);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

HostArray makeZeros(ElementType type, std::vector<int64_t> shape) {
  Expected<HostArray> array = HostArray::create(type, std::move(shape));
  EXPECT_TRUE(array.ok()) << array.status().message();
  return array.take();
}

TEST(HostArrayTest, TypesHaveNames) {
  for (ElementType type : allTypes) {
    Expected<ElementType> parsed = parseElementType(elementTypeName(type));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, type);
  }
  EXPECT_TRUE(contains(parseElementType("f12").status().message(),
                       "'f12'; known: f16, bf16, f32"));
}

TEST(HostArrayTest, Create) {
  HostArray array = makeZeros(ElementType::F16, {2, 3});
  EXPECT_EQ(array.size(), 6);
  EXPECT_EQ(array.data.size(), 12u);
  EXPECT_EQ(array.getDouble(5), 0);
  EXPECT_EQ(makeZeros(ElementType::I64, {}).size(), 1);
  EXPECT_EQ(makeZeros(ElementType::I64, {INT64_MAX, 0}).size(), 0);
  EXPECT_EQ(HostArray::create(ElementType::I8, {-1}).status().code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(HostArray::create(ElementType::I8, {INT64_MAX, 3}).status().code(),
            StatusCode::InvalidArgument);
}

TEST(HostArrayTest, SmallNumbersGoInAndOut) {
  for (ElementType type : allTypes) {
    HostArray array = makeZeros(type, {4});
    array.setInt(1, 1);
    array.setDouble(2, 1.0);
    EXPECT_EQ(array.getInt(1), 1);
    EXPECT_EQ(array.getDouble(1), 1);
    EXPECT_EQ(array.getInt(2), 1);
    EXPECT_EQ(array.getInt(0), 0);
    EXPECT_EQ(array.getInt(3), 0);
    double values[3];
    array.toDoubles(1, 3, values);
    EXPECT_EQ(values[0], 1);
    EXPECT_EQ(values[1], 1);
    EXPECT_EQ(values[2], 0);
  }
}

TEST(HostArrayTest, DoublesBecomeIntegers) {
  auto stored = [](ElementType type, double value) {
    HostArray array = makeZeros(type, {1});
    array.setDouble(0, value);
    return array.getInt(0);
  };
  EXPECT_EQ(stored(ElementType::I8, 2.5), 2);
  EXPECT_EQ(stored(ElementType::I8, 3.5), 4);
  EXPECT_EQ(stored(ElementType::I8, -2.6), -3);
  EXPECT_EQ(stored(ElementType::I8, 200), 127);
  EXPECT_EQ(stored(ElementType::I8, -infinity), -128);
  EXPECT_EQ(stored(ElementType::U8, -5), 0);
  EXPECT_EQ(stored(ElementType::U8, 1e9), 255);
  EXPECT_EQ(stored(ElementType::I64, 1e30), INT64_MAX);
  EXPECT_EQ(stored(ElementType::I64, -1e30), INT64_MIN);
  EXPECT_EQ(stored(ElementType::I32, nan_), 0);
  EXPECT_EQ(stored(ElementType::I1, 0.25), 1);
  // And from floating-point elements to integers.
  EXPECT_EQ(stored(ElementType::F32, -2.75), -2);
  EXPECT_EQ(stored(ElementType::F64, 1e30), INT64_MAX);
  EXPECT_EQ(stored(ElementType::F64, nan_), 0);
}

TEST(HostArrayTest, IntegersAreRoundedOnce) {
  HostArray array = makeZeros(ElementType::BF16, {1});
  // Just above a tie of bf16, and exactly one after rounding to double.
  int64_t value = (int64_t(0x101) << 54) + 1;
  array.setInt(0, value);
  EXPECT_EQ(array.getDouble(0), std::ldexp(0x102, 54));
  array.setInt(0, -value);
  EXPECT_EQ(array.getDouble(0), -std::ldexp(0x102, 54));
  array.setInt(0, value - 1);
  EXPECT_EQ(array.getDouble(0), std::ldexp(0x100, 54));
  HostArray single = makeZeros(ElementType::F32, {1});
  for (int64_t number : {INT64_MAX, INT64_MIN, int64_t(16777217),
                         (int64_t(1) << 54) + (int64_t(1) << 30) + 1}) {
    single.setInt(0, number);
    EXPECT_EQ(single.getDouble(0), static_cast<float>(number));
  }
  HostArray wide = makeZeros(ElementType::I64, {1});
  wide.setInt(0, INT64_MAX - 1);
  EXPECT_EQ(wide.getInt(0), INT64_MAX - 1);
}

TEST(HostArrayTest, IntegersKeepTheLowBits) {
  HostArray array = makeZeros(ElementType::I8, {3});
  array.setInt(1, 0x1234);
  EXPECT_EQ(array.getInt(0), 0);
  EXPECT_EQ(array.getInt(1), 0x34);
  EXPECT_EQ(array.getInt(2), 0);
  HostArray flags = makeZeros(ElementType::I1, {1});
  flags.setInt(0, 0x100);
  EXPECT_EQ(flags.getInt(0), 1);
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

HostArray filled(ElementType type, const std::vector<int64_t> &shape,
                 const std::string &text, uint64_t defaultSeed = 0) {
  Expected<FillSpec> spec = parseFillSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  Expected<HostArray> array = makeArray(type, shape, *spec, defaultSeed);
  EXPECT_TRUE(array.ok()) << array.status().message();
  return array.take();
}

std::string rejection(ElementType type, const std::vector<int64_t> &shape,
                      const std::string &text) {
  Expected<FillSpec> spec = parseFillSpec(text);
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  Expected<HostArray> array = makeArray(type, shape, *spec);
  EXPECT_EQ(array.status().code(), StatusCode::InvalidArgument);
  return array.status().message();
}

TEST(HostArrayTest, TwoNibblesInAByte) {
  Expected<HostArray> array = HostArray::create(ElementType::I4, {3, 3});
  ASSERT_TRUE(array.ok());
  EXPECT_EQ(array->size(), 9);
  EXPECT_EQ(array->data.size(), 5u);
  for (int64_t i = 0; i < 9; ++i)
    array->setInt(i, i - 8);
  EXPECT_EQ(array->data[0], std::byte(0x98));
  EXPECT_EQ(array->data[4], std::byte(0x00));
  for (int64_t i = 0; i < 9; ++i)
    EXPECT_EQ(array->getInt(i), i - 8);
  array->setDouble(1, 100);
  EXPECT_EQ(array->getInt(0), -8);
  EXPECT_EQ(array->getInt(1), 7);
  array->setInt(2, 15);
  EXPECT_EQ(array->getInt(2), -1);
  EXPECT_EQ(elementBits(ElementType::I4), 4u);
  EXPECT_EQ(elementBits(ElementType::F16), 16u);
}

TEST(FillTest, TheGeneratorIsSplitMix64) {
  // The first outputs for the seed 1234567 are published; the upper 32 bits
  // scaled to 256 give these bytes.
  const uint64_t outputs[] = {6457827717110365317u, 3203168211198807973u,
                              9817491932198370423u, 4593380528125082431u,
                              16408922859458223821u};
  HostArray array = filled(ElementType::U8, {5}, "random:1234567");
  for (int64_t index = 0; index < 5; ++index)
    EXPECT_EQ(array.getInt(index), static_cast<int64_t>(outputs[index] >> 56));
  HostArray doubles = filled(ElementType::F64, {5}, "random:1234567");
  for (int64_t index = 0; index < 5; ++index)
    EXPECT_EQ(doubles.getDouble(index),
              static_cast<double>(outputs[index] >> 11) * 0x1p-52 - 1);
}

TEST(FillTest, IntIsSmallAndTakesAllValues) {
  for (ElementType type : allTypes) {
    bool isUnsigned = type == ElementType::U8 || type == ElementType::Index;
    int64_t most = isFloat(type) ? 3 : type == ElementType::I1 ? 1 : 8;
    int64_t least = isUnsigned || type == ElementType::I1 ? 0 : -most;
    HostArray array = filled(type, {5000}, "int:3");
    std::set<double> seen;
    for (int64_t index = 0; index < array.size(); ++index)
      seen.insert(array.getDouble(index));
    EXPECT_EQ(*seen.begin(), least) << elementTypeName(type);
    EXPECT_EQ(*seen.rbegin(), most) << elementTypeName(type);
    EXPECT_EQ(seen.size(), static_cast<size_t>(most - least + 1));
  }
}

TEST(FillTest, AllFloatsGetTheSameIntegers) {
  HostArray wide = filled(ElementType::F64, {1000}, "int:9");
  for (ElementType type : allTypes)
    if (isFloat(type)) {
      HostArray array = filled(type, {1000}, "int:9");
      for (int64_t index = 0; index < 1000; ++index)
        ASSERT_EQ(array.getDouble(index), wide.getDouble(index));
    }
}

TEST(FillTest, RandomStaysInItsRange) {
  for (ElementType type : allTypes) {
    HostArray array = filled(type, {20000}, "random");
    double least = 1e9, most = -1e9, sum = 0;
    for (int64_t index = 0; index < array.size(); ++index) {
      double value = array.getDouble(index);
      least = std::min(least, value);
      most = std::max(most, value);
      sum += value;
    }
    double mean = sum / static_cast<double>(array.size());
    if (isFloat(type)) {
      EXPECT_GE(least, -1);
      EXPECT_LE(most, 1);
      EXPECT_LT(least, -0.9);
      EXPECT_GT(most, 0.9);
      EXPECT_LT(std::fabs(mean), 0.02) << elementTypeName(type);
    } else if (type == ElementType::I8) {
      EXPECT_EQ(least, -128);
      EXPECT_EQ(most, 127);
    } else if (type == ElementType::U8) {
      EXPECT_EQ(least, 0);
      EXPECT_EQ(most, 255);
    }
  }
}

TEST(FillTest, SeedsDistinguishArrays) {
  HostArray first = filled(ElementType::F32, {100}, "random:1");
  EXPECT_EQ(first.data, filled(ElementType::F32, {100}, "random:1").data);
  EXPECT_EQ(first.data, filled(ElementType::F32, {100}, "random", 1).data);
  EXPECT_NE(first.data, filled(ElementType::F32, {100}, "random:2").data);
  EXPECT_NE(first.data, filled(ElementType::F32, {100}, "random", 2).data);
}

TEST(FillTest, Iota) {
  for (ElementType type : allTypes) {
    HostArray array = filled(type, {300}, "iota");
    int64_t period = 300;
    for (int64_t index = 1; index < 300; ++index)
      if (array.getInt(index) == 0) {
        period = index;
        break;
      }
    for (int64_t index = 0; index < 300; ++index)
      ASSERT_EQ(array.getInt(index), index % period);
    if (type == ElementType::F8E4M3FN || type == ElementType::F8E4M3FNUZ) {
      EXPECT_EQ(period, 13);
    } else if (type == ElementType::F8E5M2 || type == ElementType::F8E5M2FNUZ) {
      EXPECT_EQ(period, 7);
    } else if (type == ElementType::BF16) {
      EXPECT_EQ(period, 251);
    } else if (type == ElementType::F16) {
      EXPECT_EQ(period, 300);
    }
  }
}

TEST(FillTest, Constants) {
  EXPECT_EQ(filled(ElementType::F16, {2, 2}, "fill:-1.5").getDouble(3), -1.5);
  EXPECT_EQ(filled(ElementType::I8, {3}, "fill:-128").getInt(2), -128);
  EXPECT_EQ(filled(ElementType::I64, {1}, "fill:9223372036854775807").getInt(0),
            INT64_MAX);
  EXPECT_EQ(filled(ElementType::I32, {1}, "fill:1e3").getInt(0), 1000);
  EXPECT_EQ(filled(ElementType::F32, {1}, "fill:-inf").getDouble(0), -infinity);
  EXPECT_TRUE(
      std::isnan(filled(ElementType::F8E4M3FN, {1}, "fill:nan").getDouble(0)));
  EXPECT_TRUE(
      std::signbit(filled(ElementType::F16, {1}, "fill:-0").getDouble(0)));
  EXPECT_EQ(filled(ElementType::F16, {}, "2.5").getDouble(0), 2.5);
  EXPECT_EQ(filled(ElementType::BF16, {8}, "zeros").getDouble(7), 0);

  EXPECT_TRUE(contains(rejection(ElementType::I8, {1}, "fill:128"),
                       "128 does not fit i8"));
  EXPECT_TRUE(contains(rejection(ElementType::U8, {1}, "fill:-1"), "fit ui8"));
  EXPECT_TRUE(
      contains(rejection(ElementType::I32, {1}, "fill:2.5"), "not an integer"));
  EXPECT_TRUE(
      contains(rejection(ElementType::I32, {1}, "fill:nan"), "not an integer"));
  EXPECT_TRUE(contains(rejection(ElementType::F16, {1}, "fill:1e6"),
                       "1000000 is too large for f16"));
  EXPECT_TRUE(contains(rejection(ElementType::F8E4M3FN, {1}, "fill:inf"),
                       "inf cannot be represented in f8E4M3FN"));
  EXPECT_TRUE(contains(rejection(ElementType::F16, {2, 2}, "2.5"),
                       "shape 2x2; use fill:X to fill an array"));
}

TEST(FillTest, DynamicShapes) {
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(filled(ElementType::F16, {-1, -1}, "int:4x6").shape, (Shape{4, 6}));
  EXPECT_EQ(filled(ElementType::F16, {-1, 6}, "int:3:4x6").shape,
            (Shape{4, 6}));
  EXPECT_EQ(filled(ElementType::F16, {-1}, "random:16x").shape, Shape{16});
  EXPECT_EQ(filled(ElementType::F16, {-1}, "random:5:16").shape, Shape{16});
  EXPECT_EQ(filled(ElementType::F16, {-1}, "iota:16").shape, Shape{16});
  EXPECT_EQ(filled(ElementType::F16, {-1}, "fill:2:16").shape, Shape{16});
  EXPECT_EQ(filled(ElementType::F16, {-1}, "zeros:0").shape, Shape{0});
  EXPECT_TRUE(contains(rejection(ElementType::F16, {-1, 6}, "int"),
                       "the shape ?x6 has a dynamic dimension"));
  EXPECT_TRUE(contains(rejection(ElementType::F16, {-1, 6}, "int:4x5"),
                       "4x5 is given, but ?x6 is required"));
  EXPECT_TRUE(contains(rejection(ElementType::F16, {-1, 6}, "int:6x"),
                       "6 is given, but ?x6 is required"));
}

TEST(FillTest, MalformedSpecs) {
  for (const char *text : {"",
                           "int:",
                           "int:x",
                           "int:-1",
                           "int:1:2:3",
                           "int:4xx4",
                           "int:4x-1",
                           "integer",
                           "iota:",
                           "iota:a",
                           "fill",
                           "fill:",
                           "fill:two",
                           "fill:1:",
                           "@",
                           "1.5x",
                           "1 2",
                           " 1",
                           "int:18446744073709551616",
                           "zeros:9223372036854775808"}) {
    Expected<FillSpec> spec = parseFillSpec(text);
    EXPECT_EQ(spec.status().code(), StatusCode::InvalidArgument) << text;
    EXPECT_TRUE(
        contains(spec.status().message(), "'" + std::string(text) + "': "));
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

class HostArrayFileTest : public testing::Test {
protected:
  void SetUp() override {
    path = testing::TempDir() + "tessera-array-" + std::to_string(getpid()) +
           ".npy";
  }
  void TearDown() override { unlink(path.c_str()); }
  std::string path;
};

TEST_F(HostArrayFileTest, RoundTrip) {
  for (ElementType type : allTypes) {
    HostArray array = filled(type, {5, 7}, "random");
    ASSERT_TRUE(saveNpy(path, array).ok());
    HostArray loaded = filled(type, {5, -1}, "@" + path);
    EXPECT_EQ(loaded.type, type);
    EXPECT_EQ(loaded.shape, array.shape);
    EXPECT_EQ(loaded.data, array.data);
  }
}

TEST_F(HostArrayFileTest, TypesHaveToAgree) {
  ASSERT_TRUE(saveNpy(path, filled(ElementType::F32, {2, 3}, "int")).ok());
  EXPECT_TRUE(contains(rejection(ElementType::F16, {2, 3}, "@" + path),
                       "type '<f4', but f16 needs '<f2'"));
  EXPECT_TRUE(contains(rejection(ElementType::F32, {3, 2}, "@" + path),
                       "the array has shape 2x3, but 3x2 is required"));
  EXPECT_TRUE(contains(rejection(ElementType::F32, {6}, "@" + path), "2x3"));
  ASSERT_TRUE(saveNpy(path, filled(ElementType::I8, {2}, "int")).ok());
  EXPECT_TRUE(contains(rejection(ElementType::BF16, {2}, "@" + path),
                       "'|i1', but bf16 needs '|V2' or a floating-point"));
}

TEST_F(HostArrayFileTest, WhatNumPyLacksIsRounded) {
  HostArray wide = filled(ElementType::F32, {100}, "random");
  ASSERT_TRUE(saveNpy(path, wide).ok());
  for (ElementType type :
       {ElementType::BF16, ElementType::F8E4M3FN, ElementType::F8E5M2,
        ElementType::F8E4M3FNUZ, ElementType::F8E5M2FNUZ}) {
    HostArray array = filled(type, {100}, "@" + path);
    for (int64_t index = 0; index < 100; ++index)
      ASSERT_EQ(array.getDouble(index),
                decodeFloat(type, encodeFloat(type, wide.getDouble(index))));
  }
}

TEST_F(HostArrayFileTest, TruthIsZeroOrOne) {
  const unsigned char bytes[] = {0, 1, 2, 255};
  ASSERT_TRUE(writeNpy(path, "|b1", {4}, bytes).ok());
  HostArray array = filled(ElementType::I1, {4}, "@" + path);
  EXPECT_EQ(array.data, (std::vector<std::byte>{std::byte(0), std::byte(1),
                                                std::byte(1), std::byte(1)}));
}

} // namespace
