//===- ErrorBoundsTest.cpp - Bounds that hold, and that are tight ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each program is computed a second time here, in the types that it names and
// in another order, as a device would. The result must lie within the bounds,
// and mistakes of a kind that compilers make must not.
//
//===----------------------------------------------------------------------===//

#include "Reference/Compare.h"
#include "ReferenceTest.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

class ErrorBoundsTest : public ReferenceTest {
protected:
  /// The largest bound of an array.
  static double largestError(const Array &array) {
    double largest = 0;
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      largest = std::max(largest, array.getError(i));
    return largest;
  }
  static Comparison compareTo(const Array &reference,
                              ArrayRef<float> computed) {
    return compare([&](int64_t i) { return computed[i]; }, reference);
  }
};

// A divisor that the ops make positive is not near zero, however far it is off.
TEST_F(ErrorBoundsTest, PositiveDivisors) {
  // x is off by about 30: a difference of large sums in f16.
  auto getBound = [&](StringRef divisor) {
    std::string source = R"(
      func.func @main(%a: tensor<1x2048xf16>, %b: tensor<2048x1xf16>) -> tensor<1x1xf32> {
        %zero = arith.constant 0.0 : f32
        %one = arith.constant 1.0 : f32
        %minus = arith.constant -1.0 : f32
        %most = arith.constant 20.0 : f32
        %least = arith.constant -20.0 : f32
        %half = arith.constant 0.0 : f16
        %e = tensor.empty() : tensor<1x1xf16>
        %i = linalg.fill ins(%half : f16) outs(%e : tensor<1x1xf16>) -> tensor<1x1xf16>
        %p = linalg.matmul ins(%a, %b : tensor<1x2048xf16>, tensor<2048x1xf16>)
                           outs(%i : tensor<1x1xf16>) -> tensor<1x1xf16>
        %o = tensor.empty() : tensor<1x1xf32>
        %r = linalg.map ins(%p : tensor<1x1xf16>) outs(%o : tensor<1x1xf32>)
          (%v: f16, %out: f32) {
            %x = arith.extf %v : f16 to f32
            DIVISOR
            %q = arith.divf %one, %d : f32
            linalg.yield %q : f32
          }
        return %r : tensor<1x1xf32>
      })";
    source.replace(source.find("DIVISOR"), 7, divisor.str());
    SmallVector<Array> arguments = {fractions(f16(), {1, 2048}, 1),
                                    fractions(f16(), {2048, 1}, 2)};
    Outcome outcome = runSource(source, arguments);
    EXPECT_TRUE(outcome.succeeded()) << diagnostics;
    return outcome.results[0].getError(0);
  };
  const char *clamp = R"(%c = arith.maximumf %x, %least : f32
            %n = arith.minimumf %c, %most : f32
            %y = math.exp %n : f32
            %d = arith.addf %y, %one : f32)";
  EXPECT_LE(getBound(clamp), 1.5);
  EXPECT_LE(getBound(R"(%y = arith.mulf %x, %x : f32
            %d = arith.addf %one, %y : f32)"),
            1.5);
  EXPECT_LE(getBound(R"(%y = math.absf %x : f32
            %d = arith.maximumf %y, %one : f32)"),
            1.5);
  // One that may be zero has no bound.
  EXPECT_EQ(getBound("%d = arith.addf %x, %one : f32"), INFINITY);
  EXPECT_EQ(getBound(R"(%y = math.absf %x : f32
            %d = arith.addf %y, %minus : f32)"),
            INFINITY);
  EXPECT_EQ(getBound("%d = arith.mulf %x, %x : f32"), INFINITY);
}

constexpr int64_t queries = 5, keys = 77, depth = 32;

/// The faults of a simulated device.
enum class Mistake { None, NoScale, KeyForgotten, MaskIgnored, StaleMaximum };

float roundToHalf(float value) {
  bool losesInfo;
  llvm::APFloat half(value);
  half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven,
               &losesInfo);
  half.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
               &losesInfo);
  return half.convertToFloat();
}

/// As flash attention does it: blocks of 16 keys, a running maximum.
SmallVector<float> attend(const Array &q, const Array &k, const Array &v,
                          bool rounds, Mistake mistake) {
  SmallVector<float> result;
  for (int64_t i = 0; i < queries; ++i) {
    float largest = -INFINITY, sum = 0;
    SmallVector<float> row(depth, 0.0f);
    for (int64_t block = 0; block < keys; block += 16) {
      float scores[16], blockLargest = largest;
      for (int64_t j = 0; j < 16; ++j) {
        scores[j] = -INFINITY;
        bool exists = block + j < keys;
        if (mistake == Mistake::KeyForgotten && block + j == keys - 1)
          exists = false;
        if (!exists && !(mistake == Mistake::MaskIgnored && block + 16 > keys))
          continue;
        float product = 0;
        for (int64_t d = depth; exists && d-- > 0;)
          product += static_cast<float>(q.getDouble(i * depth + d)) *
                     static_cast<float>(k.getDouble((block + j) * depth + d));
        scores[j] =
            mistake == Mistake::NoScale ? product : product * 0.17677669f;
        blockLargest = std::max(blockLargest, scores[j]);
      }
      float shrink = mistake == Mistake::StaleMaximum
                         ? 1.0f
                         : std::exp(largest - blockLargest);
      sum *= shrink;
      for (float &value : row)
        value *= shrink;
      for (int64_t j = 0; j < 16; ++j) {
        float p = std::exp(scores[j] - blockLargest);
        sum += p;
        if (block + j < keys)
          for (int64_t d = 0; d < depth; ++d)
            row[d] += (rounds ? roundToHalf(p) : p) *
                      static_cast<float>(v.getDouble((block + j) * depth + d));
      }
      largest = blockLargest;
    }
    for (float value : row)
      result.push_back(value / sum);
  }
  return result;
}

/// Q K^T / sqrt(32), then `softmax`, from %s to %p, then times V.
std::string attention(StringRef softmax) {
  return R"(
  func.func @main(%q: tensor<5x32xf16>, %k: tensor<77x32xf16>, %v: tensor<77x32xf16>)
      -> tensor<5x32xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %scale = arith.constant 0.17677669 : f32
    %e = tensor.empty() : tensor<5x77xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<5x77xf32>) -> tensor<5x77xf32>
    %qk = linalg.matmul
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                         affine_map<(m, n, k) -> (m, n)>]
        ins(%q, %k : tensor<5x32xf16>, tensor<77x32xf16>)
        outs(%i : tensor<5x77xf32>) -> tensor<5x77xf32>
    %s = linalg.map ins(%qk : tensor<5x77xf32>) outs(%e : tensor<5x77xf32>) (%x: f32, %o: f32) {
      %y = arith.mulf %x, %scale : f32
      linalg.yield %y : f32
    })" + softmax.str() +
         R"(
    %f = tensor.empty() : tensor<5x32xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<5x32xf32>) -> tensor<5x32xf32>
    %r = linalg.matmul ins(%p, %v : tensor<5x77xf16>, tensor<77x32xf16>)
                       outs(%j : tensor<5x32xf32>) -> tensor<5x32xf32>
    return %r : tensor<5x32xf32>
  })";
}

const char *asOneOp = R"(
    %g = linalg.softmax dimension(1) ins(%s : tensor<5x77xf32>) outs(%e : tensor<5x77xf32>) -> tensor<5x77xf32>
    %p = arith.truncf %g : tensor<5x77xf32> to tensor<5x77xf16>)";

const char *inSteps = R"(
    %1 = tensor.empty() : tensor<5xf32>
    %2 = linalg.fill ins(%low : f32) outs(%1 : tensor<5xf32>) -> tensor<5xf32>
    %max = linalg.reduce {arith.maximumf} ins(%s : tensor<5x77xf32>) outs(%2 : tensor<5xf32>) dimensions = [1]
    %wide = linalg.broadcast ins(%max : tensor<5xf32>) outs(%e : tensor<5x77xf32>) dimensions = [1]
    %below = arith.subf %s, %wide : tensor<5x77xf32>
    %power = math.exp %below : tensor<5x77xf32>
    %3 = linalg.fill ins(%zero : f32) outs(%1 : tensor<5xf32>) -> tensor<5xf32>
    %sum = linalg.reduce {arith.addf} ins(%power : tensor<5x77xf32>) outs(%3 : tensor<5xf32>) dimensions = [1]
    %all = linalg.broadcast ins(%sum : tensor<5xf32>) outs(%e : tensor<5x77xf32>) dimensions = [1]
    %g = arith.divf %power, %all : tensor<5x77xf32>
    %p = arith.truncf %g : tensor<5x77xf32> to tensor<5x77xf16>)";

const char *asAttention = R"(
  func.func @main(%q: tensor<5x32xf16>, %k: tensor<77x32xf16>, %v: tensor<77x32xf16>)
      -> tensor<5x32xf32> {
    %e = tensor.empty() : tensor<5x32xf32>
    %r = tessera.attention
        ins(%q, %k, %v : tensor<5x32xf16>, tensor<77x32xf16>, tensor<77x32xf16>)
        outs(%e : tensor<5x32xf32>)
        maps [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>,
              affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>]
        scale 0.17677669 -> tensor<5x32xf32>
    return %r : tensor<5x32xf32>
  })";

TEST_F(ErrorBoundsTest, Attention) {
  for (const std::string &source :
       {attention(asOneOp), attention(inSteps), std::string(asAttention)}) {
    // Scores that differ by a few units, and by hundredths.
    for (double factor : {4.0, 0.25}) {
      SmallVector<Array> args = {fractions(f16(), {queries, depth}, 1),
                                 fractions(f16(), {keys, depth}, 2),
                                 fractions(f16(), {keys, depth}, 3)};
      for (double &value : args[0].floats())
        value *= factor;
      Outcome outcome = runSource(source, args);
      ASSERT_TRUE(outcome.succeeded()) << diagnostics;
      const Array &result = outcome.results[0];
      // The rounding of P to f16 comes with the program: about 2^-11 of a
      // result that is an average of numbers up to 1.
      EXPECT_LT(largestError(result), 2e-3) << source;
      EXPECT_GT(largestError(result), 1e-6);
      for (bool rounds : {true, false}) {
        Comparison good = compareTo(
            result, attend(args[0], args[1], args[2], rounds, Mistake::None));
        EXPECT_TRUE(good.ok) << good.describe();
        EXPECT_EQ(good.unboundedCount, 0);
      }
      for (Mistake mistake : {Mistake::NoScale, Mistake::KeyForgotten,
                              Mistake::MaskIgnored, Mistake::StaleMaximum}) {
        Comparison bad =
            compareTo(result, attend(args[0], args[1], args[2], true, mistake));
        EXPECT_FALSE(bad.ok) << static_cast<int>(mistake) << " " << factor
                             << " " << bad.describe();
      }
    }
  }
}

TEST_F(ErrorBoundsTest, SoftmaxOfExactNumbers) {
  const char *source = R"(
    func.func @main(%x: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
      %e = tensor.empty() : tensor<3x4x5xf32>
      %y = linalg.softmax dimension(1) ins(%x : tensor<3x4x5xf32>) outs(%e : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
      return %y : tensor<3x4x5xf32>
    })";
  SmallVector<Array> args = {integers(f32(), {3, 4, 5}, 1, -8, 8)};
  // A masked element, and a row with only one visible element.
  args[0].floats()[2] = -INFINITY;
  for (int64_t j = 0; j < 3; ++j)
    args[0].floats()[40 + j * 5 + 3] = -INFINITY;
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  const Array &result = outcome.results[0];
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t c = 0; c < 5; ++c) {
      double sum = 0;
      for (int64_t j = 0; j < 4; ++j)
        sum += std::exp(args[0].getDouble(i * 20 + j * 5 + c));
      for (int64_t j = 0; j < 4; ++j) {
        int64_t at = i * 20 + j * 5 + c;
        double expected = std::exp(args[0].getDouble(at)) / sum;
        EXPECT_NEAR(result.getDouble(at), expected, 1e-15);
        EXPECT_LE(result.getError(at), 2e-5 * expected);
      }
    }
  EXPECT_EQ(result.getDouble(2), 0);
  EXPECT_EQ(result.getError(2), 0);
  EXPECT_EQ(result.getDouble(40 + 3 * 5 + 3), 1);
}

/// A sigmoid in f16 whose power overflows: its reciprocal has a bound.
TEST_F(ErrorBoundsTest, ReciprocalOfOverflow) {
  const char *source = R"(
    func.func @main(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
      %one = arith.constant 1.0 : f16
      %big = arith.constant 60000.0 : f16
      %e = tensor.empty() : tensor<4xf16>
      %y, %z = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
        ins(%x : tensor<4xf16>) outs(%e, %e : tensor<4xf16>, tensor<4xf16>) {
      ^bb0(%v: f16, %o: f16, %p: f16):
        %power = math.exp %v : f16
        %sum = arith.addf %power, %one : f16
        %r = arith.divf %one, %sum : f16
        %lower = arith.subf %sum, %big : f16
        linalg.yield %r, %lower : f16, f16
      } -> (tensor<4xf16>, tensor<4xf16>)
      return %y, %z : tensor<4xf16>, tensor<4xf16>
    })";
  SmallVector<Array> args = {integers(f16(), {4}, 1, 0, 1)};
  // The second power is close to the largest number and may overflow.
  double inputs[] = {20, 11.0859375, 12, 1};
  llvm::copy(inputs, args[0].floats().begin());
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  const Array &result = outcome.results[0];
  // As with an infinity, and as f32 computes it.
  float asInfinite[] = {0, 0, 0, 0.26894142f}, asFloats[4];
  for (int64_t i = 0; i < 4; ++i)
    asFloats[i] = 1 / (std::exp(static_cast<float>(inputs[i])) + 1);
  for (ArrayRef<float> computed : {ArrayRef(asInfinite), ArrayRef(asFloats)}) {
    Comparison good = compareTo(result, computed);
    EXPECT_TRUE(good.ok) << good.describe();
    EXPECT_EQ(good.unboundedCount, 0);
  }
  // The bound is tight.
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_LT(result.getError(i), 2e-5) << i;
  float wrong[] = {1e-3f, 1e-3f, 1e-3f, 0.26894142f};
  EXPECT_EQ(compareTo(result, wrong).mismatchCount, 3);
  // A difference to an overflow does not.
  EXPECT_EQ(outcome.results[1].getError(0), INFINITY);
  EXPECT_EQ(outcome.results[1].getError(1), INFINITY);
  EXPECT_LT(outcome.results[1].getError(3), 100);
}

/// A matmul, and GELU in one of its forms.
std::string gelu(StringRef form) {
  return R"(
  func.func @main(%a: tensor<64x96xf16>, %b: tensor<96x48xf16>) -> tensor<64x48xf32> {
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %c = arith.constant 0.79788456 : f32
    %d = arith.constant 0.044715 : f32
    %e = tensor.empty() : tensor<64x48xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
    %p = linalg.matmul ins(%a, %b : tensor<64x96xf16>, tensor<96x48xf16>)
                       outs(%i : tensor<64x48xf32>) -> tensor<64x48xf32>
    %r = linalg.map ins(%p : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) (%x: f32, %o: f32) {
)" + form.str() +
         R"(
      %w = arith.mulf %x, %half : f32
      %y = arith.mulf %w, %u : f32
      linalg.yield %y : f32
    }
    return %r : tensor<64x48xf32>
  })";
}

// 9 * 29 + 1 = 262 is a bf16 number, and 261 is not: a device rounds 9 * 29 to
// 260 and then 261 to 260.
TEST_F(ErrorBoundsTest, SumsOfRoundedNumbersAreRounded) {
  const char *source = R"(
    func.func @main(%x: tensor<1xbf16>) -> tensor<1xbf16> {
      %factor = arith.constant 29.0 : bf16
      %one = arith.constant 1.0 : bf16
      %e = tensor.empty() : tensor<1xbf16>
      %y = linalg.generic {
        indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}
        ins(%x : tensor<1xbf16>) outs(%e : tensor<1xbf16>) {
      ^bb0(%v: bf16, %o: bf16):
        %product = arith.mulf %v, %factor : bf16
        %sum = arith.addf %product, %one : bf16
        linalg.yield %sum : bf16
      } -> tensor<1xbf16>
      return %y : tensor<1xbf16>
    })";
  SmallVector<Array> args = {integers(bf16(), {1}, 1, 0, 1)};
  args[0].floats()[0] = 9;
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  EXPECT_TRUE(compareTo(outcome.results[0], {260.0f}).ok);
  EXPECT_FALSE(compareTo(outcome.results[0], {256.0f}).ok);
}

TEST_F(ErrorBoundsTest, Gelu) {
  const char *byErf = R"(
      %s = arith.mulf %x, %root : f32
      %t = math.erf %s : f32
      %u = arith.addf %t, %one : f32)";
  const char *byTanh = R"(
      %x2 = arith.mulf %x, %x : f32
      %x3 = arith.mulf %x2, %x : f32
      %dx = arith.mulf %x3, %d : f32
      %in = arith.addf %x, %dx : f32
      %s = arith.mulf %in, %c : f32
      %t = math.tanh %s : f32
      %u = arith.addf %t, %one : f32)";
  SmallVector<Array> args = {fractions(f16(), {64, 96}, 1),
                             fractions(f16(), {96, 48}, 2)};
  for (bool isErf : {true, false}) {
    Outcome outcome = runSource(gelu(isErf ? byErf : byTanh), args);
    ASSERT_TRUE(outcome.succeeded()) << diagnostics;
    const Array &result = outcome.results[0];
    EXPECT_LT(largestError(result), 2e-4);
    auto compute = [&](bool isSloppy) {
      SmallVector<float> computed;
      for (int64_t i = 0; i < 64; ++i)
        for (int64_t j = 0; j < 48; ++j) {
          float x = 0;
          for (int64_t k = 0; k < 96; ++k)
            x += static_cast<float>(args[0].getDouble(i * 96 + k)) *
                 static_cast<float>(args[1].getDouble(k * 48 + j));
          float t = isErf
                        ? std::erf(x * 0.70710678f)
                        : std::tanh(0.79788456f * (x + 0.044715f * x * x * x));
          // The other form, by a compiler that thinks them to be the same.
          if (isSloppy)
            t = isErf ? std::tanh(0.79788456f * (x + 0.044715f * x * x * x))
                      : std::erf(x * 0.70710678f);
          computed.push_back(0.5f * x * (t + 1));
        }
      return computed;
    };
    Comparison good = compareTo(result, compute(false));
    EXPECT_TRUE(good.ok) << good.describe();
    EXPECT_EQ(good.unboundedCount, 0);
    Comparison bad = compareTo(result, compute(true));
    EXPECT_FALSE(bad.ok) << bad.describe();
    // Many of them, not just the worst.
    EXPECT_GT(bad.mismatchCount, 1000);
  }
}

/// Weights of 8 bits with a scale for each group of 16, multiplied as f16.
TEST_F(ErrorBoundsTest, DequantizedWeights) {
  const char *source = R"(
    func.func @main(%a: tensor<20x64xf16>, %b: tensor<64x24xi8>, %s: tensor<4x24xf16>)
        -> tensor<20x24xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x24xf16>
      %w = linalg.generic {
        indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (k floordiv 16, n)>,
                         affine_map<(k, n) -> (k, n)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%b, %s : tensor<64x24xi8>, tensor<4x24xf16>) outs(%e : tensor<64x24xf16>) {
      ^bb0(%x: i8, %y: f16, %o: f16):
        %f = arith.sitofp %x : i8 to f16
        %g = arith.mulf %f, %y : f16
        linalg.yield %g : f16
      } -> tensor<64x24xf16>
      %f = tensor.empty() : tensor<20x24xf32>
      %i = linalg.fill ins(%zero : f32) outs(%f : tensor<20x24xf32>) -> tensor<20x24xf32>
      %r = linalg.matmul ins(%a, %w : tensor<20x64xf16>, tensor<64x24xf16>)
                         outs(%i : tensor<20x24xf32>) -> tensor<20x24xf32>
      return %r : tensor<20x24xf32>
    })";
  SmallVector<Array> args = {fractions(f16(), {20, 64}, 1),
                             integers(i8(), {64, 24}, 2, -128, 127),
                             fractions(f16(), {4, 24}, 3)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  const Array &result = outcome.results[0];
  // With the right group, and with the next one.
  for (int64_t shift : {0, 1}) {
    SmallVector<float> computed;
    for (int64_t i = 0; i < 20; ++i)
      for (int64_t j = 0; j < 24; ++j) {
        float sum = 0;
        for (int64_t k = 64; k-- > 0;) {
          int64_t group = std::min<int64_t>((k + shift) / 16, 3);
          float weight = roundToHalf(
              static_cast<float>(args[1].getDouble(k * 24 + j)) *
              static_cast<float>(args[2].getDouble(group * 24 + j)));
          sum += static_cast<float>(args[0].getDouble(i * 64 + k)) * weight;
        }
        computed.push_back(sum);
      }
    Comparison comparison = compareTo(result, computed);
    EXPECT_EQ(comparison.ok, shift == 0) << comparison.describe();
  }
}

/// Reductions of the rows: in the order in which the reference takes them none
/// of the first two rows rounds, or at its last step alone; others round more.
TEST_F(ErrorBoundsTest, AnyOrder) {
  constexpr int64_t length = 7;
  struct Case {
    StringRef step;
    float start;
    SmallVector<float> rows;
    /// The bound that each order stays below, and a mistake does not: 0 where
    /// no order rounds.
    float bounds[3];
  };
  const float big = 33554426; // 2^25 - 6.
  const Case cases[] = {
      {"arith.addf",
       0,
       {1,  1,   1, 1,   1,  1,    big, //
        3,  3,   3, 3,   -5, -big, big, //
        16, -32, 1, 1e6, 64, -7,   2000},
       {16, 30, 0}},
      {"arith.mulf",
       1,
       {97, 89, 83, 23, 3,  1,  5,    //
        -3, 97, 5,  7,  2,  4,  1e7f, //
        3,  5,  7,  11, 13, 17, 19},
       {104, 340000, 0}},
  };
  for (const Case &c : cases) {
    std::string source = R"(
      func.func @main(%x: tensor<3x7xf32>, %o: tensor<3xf32>) -> tensor<3xf32> {
        %r = linalg.reduce {)" +
                         c.step.str() + R"(} ins(%x : tensor<3x7xf32>)
            outs(%o : tensor<3xf32>) dimensions = [1]
        return %r : tensor<3xf32>
      })";
    SmallVector<Array> args = {integers(f32(), {3, length}),
                               integers(f32(), {3})};
    for (int64_t i = 0; i < 3 * length; ++i)
      args[0].floats()[i] = c.rows[i];
    for (int64_t i = 0; i < 3; ++i)
      args[1].floats()[i] = c.start;
    Outcome outcome = runSource(source, args);
    ASSERT_TRUE(outcome.succeeded()) << diagnostics;
    const Array &result = outcome.results[0];
    for (int64_t row = 0; row < 3; ++row) {
      EXPECT_LE(result.getError(row), c.bounds[row]) << row;
      EXPECT_EQ(result.getError(row) == 0, c.bounds[row] == 0) << row;
      SmallVector<float> terms(ArrayRef(c.rows).slice(row * length, length));
      llvm::sort(terms);
      double furthest = 0;
      do {
        float folded = c.start;
        for (float term : terms)
          folded = c.step == "arith.addf" ? folded + term : folded * term;
        furthest = std::max(furthest,
                            std::fabs(double(folded) - result.getDouble(row)));
      } while (std::next_permutation(terms.begin(), terms.end()));
      EXPECT_LE(furthest, result.getError(row)) << row;
      EXPECT_EQ(furthest == 0, c.bounds[row] == 0) << row;
    }
  }
}

} // namespace
