//===- CompareTest.cpp - Computed arrays against the reference ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Compare.h"

#include "Reference/Numeric.h"
#include "ReferenceTest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

class CompareTest : public ReferenceTest {};

const char *matmul = R"(
  func.func @main(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>)
      -> tensor<?x?xf32> {
    %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
                       outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  })";

/// a * b in single precision, in the given number of partial sums.
Array computeInSingle(const Array &a, const Array &b, int64_t parts) {
  int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  Array c = Array::zeros(Float32Type::get(a.elementType.getContext()), {m, n});
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float total = 0;
      for (int64_t part = 0; part < parts; ++part) {
        float sum = 0;
        for (int64_t x = part; x < k; x += parts)
          sum += static_cast<float>(a.getDouble(i * k + x)) *
                 static_cast<float>(b.getDouble(x * n + j));
        total += sum;
      }
      c.floats()[i * n + j] = total;
    }
  return c;
}

TEST_F(CompareTest, SmallIntegersAreExact) {
  SmallVector<Array> args = {integers(f16(), {33, 65}, 1),
                             integers(f16(), {65, 20}, 2),
                             Array::zeros(f32(), {33, 20})};
  Outcome outcome = runSource(matmul, args);
  ASSERT_TRUE(outcome.succeeded());
  Array got = computeInSingle(args[0], args[1], 3);
  Comparison same = compare(got, outcome.results[0]);
  EXPECT_TRUE(same.ok);
  EXPECT_EQ(same.exactCount, 33 * 20);
  EXPECT_EQ(same.tolerance, "exact");
  EXPECT_EQ(same.describe(), "660 elements match (exact)");

  got.floats()[45] += 1e-3;
  Comparison other = compare(got, outcome.results[0]);
  EXPECT_FALSE(other.ok);
  EXPECT_EQ(other.mismatchCount, 1);
  EXPECT_EQ(other.worstIndex, 45);
  EXPECT_EQ(other.worstPosition, (SmallVector<int64_t>{2, 5}));
}

TEST_F(CompareTest, Statistics) {
  Array expected = Array::zeros(f16(), {2, 3}), got = expected.clone();
  double values[] = {1, 2, -3, INFINITY, NAN, 6};
  llvm::copy(values, expected.floats().begin());
  llvm::copy(values, got.floats().begin());
  Comparison same = compare(got, expected);
  EXPECT_TRUE(same.ok);
  EXPECT_FALSE(same.first);
  EXPECT_EQ(same.gotNaNs, 1);
  EXPECT_EQ(same.expectedNaNs, 1);
  EXPECT_EQ(same.gotInfinities, 1);
  EXPECT_EQ(same.expectedInfinities, 1);

  // The neighbour of 2, another of -3, and an infinity.
  got.floats()[1] = 2 + 1.0 / 512;
  got.floats()[2] = -3.5;
  got.floats()[5] = -INFINITY;
  Array before = Array::zeros(f16(), {2, 3});
  before.floats()[2] = -3.5;
  CompareOptions options;
  options.before = &before;
  Comparison other = compare(got, expected, options);
  EXPECT_FALSE(other.ok);
  EXPECT_EQ(other.mismatchCount, 3);
  EXPECT_EQ(other.unchangedCount, 1);
  EXPECT_EQ(other.maxAbs, 0.5);
  EXPECT_EQ(other.meanAbs(), (0.5 + 1.0 / 512) / 6);
  EXPECT_EQ(other.maxUlp, 256);
  EXPECT_EQ(other.gotInfinities, 2);
  ASSERT_TRUE(other.first);
  EXPECT_EQ(other.first->position, (SmallVector<int64_t>{0, 1}));
  EXPECT_EQ(other.first->got, 2 + 1.0 / 512);
  EXPECT_EQ(other.worstPosition, (SmallVector<int64_t>{1, 2}));
}

TEST_F(CompareTest, FractionsAreWithinTheBound) {
  // The bound holds, and is tight enough to detect a missing term.
  for (int64_t length : {16, 300, 2000}) {
    SmallVector<Array> args = {fractions(f16(), {8, length}, 1),
                               fractions(f16(), {length, 9}, 2),
                               Array::zeros(f32(), {8, 9})};
    Outcome outcome = runSource(matmul, args);
    ASSERT_TRUE(outcome.succeeded());
    for (int64_t parts : {1, 4, 16}) {
      Array got = computeInSingle(args[0], args[1], parts);
      Comparison comparison = compare(got, outcome.results[0]);
      EXPECT_TRUE(comparison.ok) << comparison.describe();
      EXPECT_LT(comparison.allowed, 0.02);
    }
    double lost =
        args[0].getDouble(length - 1) * args[1].getDouble((length - 1) * 9);
    Array got = computeInSingle(args[0], args[1], 1);
    got.floats()[0] -= lost;
    EXPECT_FALSE(compare(got, outcome.results[0]).ok) << lost;
  }
}

TEST_F(CompareTest, Norms) {
  Array expected = Array::zeros(f32(), {4}), got = Array::zeros(f32(), {4});
  for (auto [i, value] :
       llvm::enumerate(std::vector<double>{1.0, 2.0, 2.0, 4.0})) {
    expected.floats()[i] = value;
    got.floats()[i] = value;
  }
  EXPECT_EQ(compare(got, expected).relativeNorm(), 0);
  // 0.5 of a norm of 5.
  got.floats()[2] = 1.7;
  got.floats()[3] = 4.4;
  Comparison comparison = compare(got, expected);
  EXPECT_NEAR(comparison.relativeNorm(), 0.1, 1e-12);
  EXPECT_TRUE(comparison.hasUsefulBounds());
  EXPECT_EQ(comparison.worstRatio(), std::numeric_limits<double>::infinity());

  // The error is 0.4 of a bound of 1.
  for (int i = 0; i < 4; ++i)
    expected.storage->ensureErrors()[i] = 1;
  comparison = compare(got, expected);
  EXPECT_TRUE(comparison.hasUsefulBounds());
  EXPECT_NEAR(comparison.worstRatio(), 0.4, 1e-3);
  // Bounds of 3, a norm of 6 in all.
  for (int i = 0; i < 4; ++i)
    expected.storage->ensureErrors()[i] = 3;
  EXPECT_FALSE(compare(got, expected).hasUsefulBounds());
  // Without a bound, a NaN does not disappear.
  for (int i = 0; i < 4; ++i)
    expected.storage->ensureErrors()[i] =
        std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isfinite(compare(got, expected).relativeNorm()));
  got.floats()[0] = std::nan("");
  comparison = compare(got, expected);
  EXPECT_TRUE(comparison.ok);
  EXPECT_EQ(comparison.relativeNorm(), std::numeric_limits<double>::infinity());
}

TEST_F(CompareTest, ChainsInHalfPrecision) {
  const char *source = R"(
    func.func @main(%a: tensor<24x128xf16>, %b: tensor<128x96xf16>, %c: tensor<96x20xf16>,
                    %d: tensor<24x96xf16>, %e: tensor<24x20xf16>) -> tensor<24x20xf16> {
      %p = linalg.matmul ins(%a, %b : tensor<24x128xf16>, tensor<128x96xf16>)
                         outs(%d : tensor<24x96xf16>) -> tensor<24x96xf16>
      %q = linalg.matmul ins(%p, %c : tensor<24x96xf16>, tensor<96x20xf16>)
                         outs(%e : tensor<24x20xf16>) -> tensor<24x20xf16>
      return %q : tensor<24x20xf16>
    })";
  const Format &half = *Format::get(f16());
  // Rounded after each addition, or once at the end.
  auto multiply = [&](const Array &a, const Array &b, bool always) {
    int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
    Array c = Array::zeros(f16(), {m, n});
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t x = 0; x < k; ++x) {
          sum += a.getDouble(i * k + x) * b.getDouble(x * n + j);
          sum = always ? half.round(sum) : static_cast<float>(sum);
        }
        c.floats()[i * n + j] = half.round(sum);
      }
    return c;
  };
  for (bool isPositive : {false, true}) {
    SmallVector<Array> args = {
        fractions(f16(), {24, 128}, 1), fractions(f16(), {128, 96}, 2),
        fractions(f16(), {96, 20}, 3), Array::zeros(f16(), {24, 96}),
        Array::zeros(f16(), {24, 20})};
    for (Array &array : args)
      for (double &value : array.floats())
        value = isPositive ? std::fabs(value) : value;
    Outcome outcome = runSource(source, args);
    ASSERT_TRUE(outcome.succeeded()) << diagnostics;
    for (bool always : {false, true}) {
      Array got = multiply(multiply(args[0], args[1], always), args[2], always);
      Comparison comparison = compare(got, outcome.results[0]);
      EXPECT_TRUE(comparison.ok) << comparison.describe();
      // Not so wide that a lost part of the second reduction could hide.
      EXPECT_LT(comparison.allowed, isPositive ? 400 : 20);
    }
  }
}

TEST_F(CompareTest, OptionsOverride) {
  Array reference = Array::zeros(f32(), {4}), got = Array::zeros(f32(), {4});
  reference.floats()[1] = 2;
  got.floats()[1] = 2.01;
  EXPECT_FALSE(compare(got, reference).ok);
  CompareOptions options;
  options.relative = 0.01;
  EXPECT_TRUE(compare(got, reference, options).ok);
  options.exact = true;
  EXPECT_FALSE(compare(got, reference, options).ok);
}

TEST_F(CompareTest, NaNsAndInfinities) {
  Array reference = Array::zeros(f16(), {4}), got = Array::zeros(f16(), {4});
  double infinity = std::numeric_limits<double>::infinity();
  reference.floats()[0] = NAN;
  got.floats()[0] = NAN;
  // As f16, an infinity.
  reference.floats()[1] = 70000;
  got.floats()[1] = infinity;
  EXPECT_TRUE(compare(got, reference).ok);
  got.floats()[2] = NAN;
  got.floats()[3] = -infinity;
  Comparison comparison = compare(got, reference);
  EXPECT_EQ(comparison.mismatchCount, 2);
  EXPECT_EQ(comparison.nanCount, 1);
}

TEST_F(CompareTest, RoundingToNarrowResults) {
  // The sum is rounded once, explicitly; exact sums give exact results.
  const char *source = R"(
    func.func @main(%a: tensor<16x64xf16>, %b: tensor<64x16xf16>)
        -> tensor<16x16xf16> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<16x16xf32>
      %i = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>)
          -> tensor<16x16xf32>
      %r = linalg.matmul ins(%a, %b : tensor<16x64xf16>, tensor<64x16xf16>)
                         outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
      %t = arith.truncf %r : tensor<16x16xf32> to tensor<16x16xf16>
      return %t : tensor<16x16xf16>
    })";
  SmallVector<Array> args = {integers(f16(), {16, 64}, 1, -50, 50),
                             integers(f16(), {64, 16}, 2, -50, 50)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  Array sums = computeInSingle(args[0], args[1], 1);
  sums.elementType = f16();
  Array got = *Array::decode(f16(), {16, 16}, *sums.encode());
  Comparison comparison = compare(got, outcome.results[0]);
  EXPECT_TRUE(comparison.ok) << comparison.describe();
  EXPECT_EQ(comparison.exactCount, 256);

  // With sums that are not exact, one step of f16 is allowed.
  args = {fractions(f16(), {16, 64}, 1), fractions(f16(), {64, 16}, 2)};
  outcome = runSource(source, args);
  sums = computeInSingle(args[0], args[1], 1);
  sums.elementType = f16();
  got = *Array::decode(f16(), {16, 16}, *sums.encode());
  comparison = compare(got, outcome.results[0]);
  EXPECT_TRUE(comparison.ok) << comparison.describe();
  EXPECT_LT(comparison.allowed, 0.02);
}

// A NaN or an infinity that the reference is certain of must be present,
// although the error bound of its row is not a number.
TEST_F(CompareTest, NaNsAndInfinitiesOfMatmuls) {
  SmallVector<Array> args = {fractions(f16(), {4, 64}, 1),
                             fractions(f16(), {64, 4}, 2),
                             Array::zeros(f32(), {4, 4})};
  args[0].floats()[64] = std::nan("");
  args[0].floats()[128] = std::numeric_limits<double>::infinity();
  Outcome outcome = runSource(matmul, args);
  ASSERT_TRUE(outcome.succeeded());
  const Array &reference = outcome.results[0];
  Array got = computeInSingle(args[0], args[1], 2);
  Comparison same = compare(got, reference);
  EXPECT_TRUE(same.ok) << same.describe();
  EXPECT_EQ(same.expectedNaNs, 4);
  EXPECT_EQ(same.expectedInfinities, 4);
  EXPECT_EQ(same.unverifiedCount, 0);
  for (int64_t at : {5, 9}) {
    double infinity = got.getDouble(9);
    for (double value : {0.0, -infinity}) {
      Array bad = got.clone();
      bad.floats()[at] = value;
      Comparison wrong = compare(bad, reference);
      EXPECT_FALSE(wrong.ok) << at << " " << value;
      EXPECT_EQ(wrong.mismatchCount, 1);
      EXPECT_EQ(wrong.worstIndex, at);
    }
  }
}

// Without an error bound, only values equal to the reference are correct.
TEST_F(CompareTest, ElementsWithoutABound) {
  Array reference = Array::zeros(f32(), {3});
  double *errors = reference.storage->ensureErrors();
  errors[0] = errors[1] = std::numeric_limits<double>::infinity();
  errors[2] = std::nan("");
  Array got = Array::zeros(f32(), {3});
  Comparison same = compare(got, reference);
  EXPECT_TRUE(same.ok);
  EXPECT_EQ(same.unboundedCount, 3);
  EXPECT_EQ(same.unverifiedCount, 0);
  got.floats()[1] = got.floats()[2] = 1;
  Comparison other = compare(got, reference);
  EXPECT_TRUE(other.ok);
  EXPECT_EQ(other.unverifiedCount, 2);
  EXPECT_EQ(other.tolerance,
            "exact, not verified: 2 elements without an error bound");
}

// A bound of more than the type has is stated: only NaNs would be found.
TEST_F(CompareTest, BoundsThatPermitEveryNumber) {
  Array reference = Array::zeros(f16(), {2});
  double *errors = reference.storage->ensureErrors();
  errors[0] = 1e6;
  errors[1] = 10;
  Comparison one = compare(reference, reference);
  EXPECT_EQ(one.permissiveCount, 1);
  EXPECT_EQ(one.describePermissive(),
            "; 1 element may be any number of its type");
  errors[1] = 1e6;
  Comparison all = compare(reference, reference);
  EXPECT_EQ(all.permissiveCount, 2);
  EXPECT_EQ(all.describePermissive(),
            "; all elements may be any number of their type");
  errors[0] = errors[1] = 10000;
  Comparison none = compare(reference, reference);
  EXPECT_EQ(none.permissiveCount, 0);
  EXPECT_EQ(none.describePermissive(), "");
}

} // namespace
