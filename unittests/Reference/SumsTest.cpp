//===- SumsTest.cpp - Faults in sums of products are found ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of 32 rows and 32 columns is computed here as devices compute it,
// with the accumulators that the compiler chooses. The reference must accept
// the result, and must find each of three faults: a step of 32 along K that a
// tile of 16x16 lacks, a row of zeros, and two rows that are swapped.
//
// TESSERA_ALL_SEEDS=1 in the environment runs 100 seeds for each length of K.
//
//===----------------------------------------------------------------------===//

#include "Reference/Compare.h"
#include "Reference/Numeric.h"
#include "ReferenceTest.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

constexpr int64_t size = 32, tile = 16, step = 32;

/// How a device sums.
enum class Unit {
  /// In f32, by one of four orders.
  Single,
  /// In f16, rounded after each 16 products.
  Half,
  /// In 14 bits, of which each 128 products are added in f32.
  Apart,
  /// In 14 bits.
  Fourteen,
  /// In i32.
  Integer,
};

struct Config {
  const char *name;
  /// Element types of the operands and the output, and what the program sums
  /// in.
  const char *in, *out, *sum;
  Unit unit;
  /// The largest K whose faults can be told from rounding.
  int64_t longest = 65536;
  /// The same for a lacking step, which is a small part of a long sum.
  int64_t longestStep = 65536;
};

const Config configs[] = {
    {"f16 to f16", "f16", "f16", "f16", Unit::Single},
    {"f16 to f32", "f16", "f32", "f32", Unit::Single},
    {"bf16 to f32", "bf16", "f32", "f32", Unit::Single},
    {"bf16 to f16", "bf16", "f16", "f32", Unit::Single},
    {"f8E4M3FN to f32", "f8E4M3FN", "f32", "f32", Unit::Single},
    {"f8E5M2 to f16", "f8E5M2", "f16", "f16", Unit::Single},
    {"f8E4M3FN to f32, sums apart", "f8E4M3FN", "f32", "f32", Unit::Apart},
    {"f8E5M2 to f16, sums apart", "f8E5M2", "f16", "f16", Unit::Apart},
    {"f8E4M3FN to f32, 14 bits", "f8E4M3FN", "f32", "f32", Unit::Fourteen,
     65536, 16384},
    {"f16 to f16, f16 sums", "f16", "f16", "f16", Unit::Half, 4096, 1024},
    {"i8 to i32", "i8", "i32", "i32", Unit::Integer},
};

double truncateTo(double value, int bits) {
  if (value == 0)
    return 0;
  int exponent;
  double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, bits)), exponent - bits);
}

/// The sum of products and an accumulator, all of them aligned to the largest
/// and cut off.
double addAligned(double accumulator, ArrayRef<double> products) {
  double largest = std::fabs(accumulator);
  for (double product : products)
    largest = std::max(largest, std::fabs(product));
  if (largest == 0)
    return 0;
  double scale = std::ldexp(1.0, 13 - std::ilogb(largest));
  double sum = std::trunc(accumulator * scale);
  for (double product : products)
    sum += std::trunc(product * scale);
  return truncateTo(sum / scale, 14);
}

/// The sum of the products of two rows of `length` elements, of which those
/// from `skipped` on (-1: none) are left out.
double addUp(Unit unit, unsigned order, const double *a, const double *b,
             int64_t length, int64_t skipped, const Format &half) {
  int64_t width = unit == Unit::Single && order == 1           ? 1
                  : unit == Unit::Single && order == 2         ? 8
                  : unit == Unit::Single || unit == Unit::Half ? 16
                                                               : 32;
  double sum = 0, apart = 0, parts[4] = {};
  for (int64_t k = 0; k < length; k += width) {
    if (skipped >= 0 && k >= skipped && k < skipped + step)
      continue;
    double products[32], exact = 0;
    for (int64_t i = 0; i < width; ++i) {
      products[i] = a[k + i] * b[k + i];
      exact += products[i];
    }
    switch (unit) {
    case Unit::Single:
      if (order == 2)
        sum = truncateTo(sum + exact, 24);
      else if (order == 3)
        parts[k * 4 / length] =
            static_cast<float>(parts[k * 4 / length] + exact);
      else
        sum = static_cast<float>(sum + exact);
      break;
    case Unit::Half:
      sum = half.round(sum + exact);
      break;
    case Unit::Apart:
      apart = addAligned(apart, ArrayRef(products, width));
      if ((k + width) % 128 == 0 || k + width == length) {
        sum = static_cast<float>(sum + apart);
        apart = 0;
      }
      break;
    case Unit::Fourteen:
      sum = addAligned(sum, ArrayRef(products, width));
      break;
    case Unit::Integer:
      sum += exact;
      break;
    }
  }
  if (unit == Unit::Single && order == 3)
    for (double part : parts)
      sum = static_cast<float>(sum + part);
  return sum;
}

class SumsTest : public ReferenceTest,
                 public ::testing::WithParamInterface<int64_t> {
protected:
  Type getType(StringRef name) { return parseType(name); }
  Type parseType(StringRef name) {
    return llvm::StringSwitch<Type>(name)
        .Case("f16", f16())
        .Case("bf16", bf16())
        .Case("f32", f32())
        .Case("f8E4M3FN", Float8E4M3FNType::get(&context))
        .Case("f8E5M2", Float8E5M2Type::get(&context))
        .Case("i8", i8())
        .Case("i32", i32());
  }

  static std::string
  replaceAll(std::string text, ArrayRef<std::pair<StringRef, std::string>> by) {
    for (const auto &[name, value] : by)
      for (size_t at; (at = text.find(name)) != std::string::npos;)
        text.replace(at, name.size(), value);
    return text;
  }
  static std::string makeSource(const Config &config, int64_t length) {
    std::string text = R"(
      func.func @main(%a: tensor<32xKxIN>, %b: tensor<Kx32xIN>) -> tensor<32x32xOUT> {
        %zero = arith.constant ZERO : SUM
        %e = tensor.empty() : tensor<32x32xSUM>
        %i = linalg.fill ins(%zero : SUM) outs(%e : tensor<32x32xSUM>) -> tensor<32x32xSUM>
        %p = linalg.matmul ins(%a, %b : tensor<32xKxIN>, tensor<Kx32xIN>)
                           outs(%i : tensor<32x32xSUM>) -> tensor<32x32xSUM>
        ROUND
        return %r : tensor<32x32xOUT>
      })";
    bool rounds = StringRef(config.sum) != config.out;
    text = replaceAll(
        text, {{"ROUND", rounds ? "%r = arith.truncf %p : tensor<32x32xSUM> to "
                                  "tensor<32x32xOUT>"
                                : ""},
               {"ZERO", config.unit == Unit::Integer ? "0" : "0.0"},
               {"SUM", config.sum},
               {"OUT", config.out},
               {"xKx", "x" + std::to_string(length) + "x"},
               {"<Kx", "<" + std::to_string(length) + "x"},
               {"IN", config.in}});
    return rounds ? text : replaceAll(text, {{"%r ", "%p "}});
  }

  void check(const Config &config, int64_t length, bool random, unsigned seeds);
};

void SumsTest::check(const Config &config, int64_t length, bool random,
                     unsigned seeds) {
  SCOPED_TRACE(std::string(config.name) + ", K = " + std::to_string(length) +
               (random ? ", random" : ", integers"));
  func::FuncOp entry = parse(makeSource(config, length));
  ASSERT_TRUE(entry);
  Type in = parseType(config.in), out = parseType(config.out);
  const Format &inFormat = *Format::get(in), &outFormat = *Format::get(out);
  const Format &half = *Format::ofPrecision(11);
  bool isInteger = config.unit == Unit::Integer;

  Options options;
  if (!isInteger) {
    CompiledSum sum;
    sum.bits = config.unit == Unit::Half ? 11 : 24;
    if (config.unit == Unit::Apart || config.unit == Unit::Fourteen)
      sum.unitBits = 14;
    sum.unitLength = config.unit == Unit::Apart ? 128 : 0;
    options.sums.push_back(sum);
  }
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937_64 generator(seed * 1000003 + length);
    Array a = Array::zeros(in, {size, length}),
          b = Array::zeros(in, {length, size});
    std::vector<double> left(size * length), right(size * length);
    auto draw = [&] {
      uint64_t bits = generator();
      if (isInteger)
        return static_cast<double>(random ? static_cast<int8_t>(bits)
                                          : static_cast<int>(bits % 7) - 3);
      if (!random)
        return static_cast<double>(static_cast<int>(bits % 7) - 3);
      return inFormat.round(std::ldexp(static_cast<double>(bits >> 11), -52) -
                            1);
    };
    auto set = [&](Array &array, int64_t at, double value) {
      if (isInteger)
        array.integers()[at] = static_cast<int64_t>(value);
      else
        array.floats()[at] = value;
    };
    for (int64_t i = 0; i < size; ++i)
      for (int64_t k = 0; k < length; ++k) {
        set(a, i * length + k, left[i * length + k] = draw());
        set(b, k * size + i, right[i * length + k] = draw());
      }

    SmallVector<Array> arguments = {a, b};
    Outcome outcome = run(entry, arguments, options);
    ASSERT_TRUE(outcome.succeeded());
    const Array &reference = outcome.results[0];
    auto compute = [&](int64_t i, int64_t j, int64_t skipped) {
      double sum = addUp(config.unit, seed % 4, &left[i * length],
                         &right[j * length], length, skipped, half);
      return isInteger ? sum : outFormat.round(sum);
    };
    std::vector<double> good(size * size);
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < size; ++j)
        good[i * size + j] = compute(i, j, -1);
    auto compareTo = [&](const std::vector<double> &got) {
      return compare([&](int64_t at) { return got[at]; }, reference);
    };
    Comparison comparison = compareTo(good);
    ASSERT_TRUE(comparison.ok)
        << "seed " << seed << ": " << comparison.describe();
    ASSERT_EQ(comparison.unverifiedCount, 0);

    std::vector<double> bad = good;
    auto row = static_cast<int64_t>(generator() % size);
    std::fill_n(bad.begin() + row * size, size, 0.0);
    ASSERT_FALSE(compareTo(bad).ok)
        << "seed " << seed << ": row " << row << " of zeros";
    bad = good;
    int64_t other = (row + 1 + generator() % (size - 1)) % size;
    std::swap_ranges(bad.begin() + row * size, bad.begin() + (row + 1) * size,
                     bad.begin() + other * size);
    ASSERT_FALSE(compareTo(bad).ok)
        << "seed " << seed << ": rows " << row << " and " << other;
    if (length > config.longestStep)
      continue;
    bad = good;
    int64_t skipped = step * (generator() % (length / step)),
            top = tile * (generator() % 2), left0 = tile * (generator() % 2);
    for (int64_t i = top; i < top + tile; ++i)
      for (int64_t j = left0; j < left0 + tile; ++j)
        bad[i * size + j] = compute(i, j, skipped);
    ASSERT_FALSE(compareTo(bad).ok)
        << "seed " << seed << ": no step from " << skipped;
  }
}

TEST_P(SumsTest, FaultsAreFound) {
  int64_t length = GetParam();
  unsigned seeds = length <= 1024 ? 100 : length <= 4096 ? 10 : 65536 / length;
  if (std::getenv("TESSERA_ALL_SEEDS"))
    seeds = 100;
  for (const Config &config : configs)
    for (bool random : {true, false})
      if (length <= config.longest)
        check(config, length, random, seeds);
}

INSTANTIATE_TEST_SUITE_P(Lengths, SumsTest,
                         ::testing::Values(64, 1024, 4096, 16384, 65536));

using CompiledSumsTest = ReferenceTest;

// The accumulator of one contraction, and of all others.
TEST_F(CompiledSumsTest, ByLocation) {
  const char *source = R"(
    func.func @main(%a: tensor<8x4096xf16>, %b: tensor<4096x8xf16>)
        -> (tensor<8x8xf16>, tensor<8x8xf16>) {
      %zero = arith.constant 0.0 : f16
      %e = tensor.empty() : tensor<8x8xf16>
      %i = linalg.fill ins(%zero : f16) outs(%e : tensor<8x8xf16>) -> tensor<8x8xf16>
      %p = linalg.matmul ins(%a, %b : tensor<8x4096xf16>, tensor<4096x8xf16>)
                         outs(%i : tensor<8x8xf16>) -> tensor<8x8xf16> loc("p.mlir":3:5)
      %q = linalg.matmul ins(%a, %b : tensor<8x4096xf16>, tensor<4096x8xf16>)
                         outs(%i : tensor<8x8xf16>) -> tensor<8x8xf16> loc("p.mlir":5:5)
      return %p, %q : tensor<8x8xf16>, tensor<8x8xf16>
    })";
  SmallVector<Array> arguments = {fractions(f16(), {8, 4096}, 1),
                                  fractions(f16(), {4096, 8}, 2)};
  auto getErrors = [&](ArrayRef<CompiledSum> sums) {
    Options options;
    options.sums.assign(sums.begin(), sums.end());
    Outcome outcome = runSource(source, arguments, options);
    EXPECT_TRUE(outcome.succeeded()) << diagnostics;
    return std::pair(outcome.results[0].getError(0),
                     outcome.results[1].getError(0));
  };
  auto [first, second] = getErrors({});
  EXPECT_EQ(first, second);
  EXPECT_GT(first, 5);
  auto [wide, narrow] = getErrors({{"p.mlir:3:5", 24, 0, 0}});
  EXPECT_LT(wide, 0.1);
  EXPECT_EQ(narrow, second);
  // Those of a program that was compiled from another file, or with other
  // lines, count for all: the least precise of them.
  auto [all, others] =
      getErrors({{"q.mlir:3:5", 24, 0, 0}, {"q.mlir:4:5", 53, 0, 0}});
  EXPECT_EQ(all, wide);
  EXPECT_EQ(others, wide);
  auto [least, least2] = getErrors({{"", 24, 0, 0}, {"q.mlir:4:5", 11, 0, 0}});
  EXPECT_EQ(least, first);
  EXPECT_EQ(least2, first);
}

} // namespace
