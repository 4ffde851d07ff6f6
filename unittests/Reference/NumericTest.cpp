//===- NumericTest.cpp - Numbers and their types --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Numeric.h"
#include "Reference/Kernels/Gemm.h"
#include "ReferenceTest.h"

#include <random>

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

class NumericTest : public ReferenceTest {};

TEST_F(NumericTest, RoundsLikeAPFloat) {
  SmallVector<Type> types = {f16(),
                             bf16(),
                             f32(),
                             Float8E4M3FNType::get(&context),
                             Float8E5M2Type::get(&context),
                             Float8E4M3FNUZType::get(&context)};
  std::mt19937_64 generator(7);
  std::uniform_real_distribution<double> exponent(-30, 20);
  for (Type type : types) {
    const Format *format = Format::get(type);
    ASSERT_TRUE(format);
    for (int i = 0; i < 5000; ++i) {
      double value = std::exp2(exponent(generator));
      if (i % 2)
        value = -value;
      llvm::APFloat exact(value);
      bool losesInfo;
      exact.convert(*format->semantics, llvm::APFloat::rmNearestTiesToEven,
                    &losesInfo);
      if (exact.isNaN()) {
        EXPECT_TRUE(std::isnan(format->round(value))) << value;
      } else {
        double expected = exact.convertToDouble();
        EXPECT_EQ(format->round(value), expected) << value;
        EXPECT_TRUE(std::isinf(expected) || format->rounding(expected) == 0 ||
                    std::fabs(expected) < format->smallestNormal);
        if (std::isfinite(expected))
          EXPECT_LE(std::fabs(expected - value), format->rounding(value));
      }
    }
  }
}

TEST_F(NumericTest, CountsUlps) {
  // Bits of one sign count the numbers from zero up to the infinity.
  for (Type type : {f16(), bf16(), Type(Float8E5M2Type::get(&context))}) {
    const Format *format = Format::get(type);
    ASSERT_TRUE(format);
    unsigned width = format->width;
    uint64_t infinity = llvm::APFloat::getInf(*format->semantics)
                            .bitcastToAPInt()
                            .getZExtValue();
    auto decode = [&](uint64_t bits) {
      llvm::APFloat value(*format->semantics, llvm::APInt(width, bits));
      return value.convertToDouble();
    };
    for (uint64_t bits = 0; bits <= infinity; ++bits) {
      double value = decode(bits);
      EXPECT_EQ(format->ulps(0, value), bits);
      EXPECT_EQ(format->ulps(-value, value), 2 * bits);
      if (bits > 0)
        EXPECT_EQ(format->ulps(-value, -decode(bits - 1)), 1) << value;
    }
  }
  const Format *wide = Format::get(f64());
  EXPECT_EQ(wide->ulps(1, std::nextafter(1, 2)), 1);
  EXPECT_EQ(wide->ulps(-1e300, std::nextafter(-1e300, 0)), 1);
  EXPECT_EQ(wide->ulps(0, 5e-324), 1);
  EXPECT_EQ(wide->ulps(-1.7e308, 1.7e308),
            2 * static_cast<double>(0x7FEE42D130773B76));
  EXPECT_EQ(Format::get(i8())->ulps(-7, 3), 10);
}

TEST_F(NumericTest, WrapsIntegers) {
  const Format *byte = Format::get(i8());
  EXPECT_EQ(byte->wrap(200), -56);
  EXPECT_EQ(byte->unsignedValue(-56), 200u);
  const Format *bit = Format::get(IntegerType::get(&context, 1));
  EXPECT_EQ(bit->wrap(-1), 1);
  EXPECT_EQ(bit->signedValue(1), -1);
  EXPECT_FALSE(Format::get(IntegerType::get(&context, 128)));
  EXPECT_FALSE(Format::get(Float128Type::get(&context)));
}

TEST_F(NumericTest, DecodesAndEncodes) {
  for (Type type : {f16(), bf16(), f32(), f64(), i8(), i32(), index()}) {
    Array array = integers(type, {3, 5});
    FailureOr<SmallVector<char>> bytes = array.encode();
    ASSERT_TRUE(succeeded(bytes));
    FailureOr<Array> back = Array::decode(type, {3, 5}, *bytes);
    ASSERT_TRUE(succeeded(back));
    for (int64_t i = 0; i < 15; ++i)
      EXPECT_EQ(back->getDouble(i), array.getDouble(i));
    EXPECT_TRUE(failed(Array::decode(type, {3, 6}, *bytes)));
  }
}

TEST_F(NumericTest, TwoNibblesInAByte) {
  Type i4 = IntegerType::get(&context, 4);
  char bytes[] = {0x21, static_cast<char>(0xF8), 0x07};
  FailureOr<Array> array = Array::decode(i4, {5}, bytes);
  ASSERT_TRUE(succeeded(array));
  EXPECT_EQ(ArrayRef<int64_t>(array->integers()),
            ArrayRef<int64_t>({1, 2, -8, -1, 7}));
  FailureOr<SmallVector<char>> back = array->encode();
  ASSERT_TRUE(succeeded(back));
  EXPECT_EQ(ArrayRef<char>(*back), ArrayRef<char>(bytes));
  EXPECT_TRUE(failed(Array::decode(i4, {7}, bytes)));
}

TEST_F(NumericTest, MultipliesTiles) {
  // Sizes that are multiples of nothing.
  constexpr int64_t m = 37, n = 29, k = 531;
  Array a = integers(f64(), {k, m}, 1), b = integers(f64(), {n, k}, 2);
  std::vector<int64_t> aRows(m), aColumns(k), bRows(k), bColumns(n);
  for (int64_t i = 0; i < m; ++i)
    aRows[i] = i;
  for (int64_t i = 0; i < n; ++i)
    bColumns[i] = i * k;
  for (int64_t i = 0; i < k; ++i) {
    aColumns[i] = i * m;
    bRows[i] = i;
  }
  GatheredMatrix left, right;
  left.floats = a.floats().data();
  left.rows = aRows.data();
  left.columns = aColumns.data();
  right.floats = b.floats().data();
  right.rows = bRows.data();
  right.columns = bColumns.data();
  std::vector<double> result(30 * 20);
  multiplyTile(left, right, 5, 30, 3, 20, k, result.data());
  for (int64_t i = 0; i < 30; ++i)
    for (int64_t j = 0; j < 20; ++j)
      EXPECT_EQ(result[i * 20 + j], dot(a, i + 5, m, b, (j + 3) * k, 1, k));
}

} // namespace
