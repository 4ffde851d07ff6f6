//===- SumsTest.cpp - Detection of faults in matmuls ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul of 32 rows and 32 columns is computed here as devices compute it,
// with the accumulators that the compiler chooses. The reference must accept
// the result, and must detect each of three faults: a step of 32 along K that
// is missing in a tile of 16x16, a row of zeros, and two swapped rows.
//
// TESSERA_ALL_SEEDS=1 in the environment runs 100 seeds for each length of K,
// and TESSERA_ALL_SEEDS=coarse those of the sums in few bits alone.
//
//===----------------------------------------------------------------------===//

#include "Reference/Compare.h"
#include "Reference/Evaluation.h"
#include "Reference/Numeric.h"
#include "ReferenceTest.h"
#include "Sanitizers.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>

using namespace mlir;
using namespace mlir::tessera::reference;
using mlir::tessera::isSanitized;

namespace {

constexpr int64_t size = 32, tile = 16, step = 32;

/// How a device sums.
enum class Unit {
  /// In f32, by one of four orders.
  Single,
  /// In f16, rounded after every 16, 8 or 1 terms, or in four parts.
  Half,
  /// In 14 bits; groups of 128 terms are added in f32.
  Apart,
  /// In 14 bits, aligned anew for each 32, 16 or 8 terms, or in four parts.
  Fourteen,
  /// In i32.
  Integer,
};

struct Config {
  const char *name;
  /// The element types of the operands and the output, and the accumulator type
  /// of the program.
  const char *in, *out, *sum;
  Unit unit;

  bool isCoarse() const { return unit == Unit::Half || unit == Unit::Fourteen; }
  /// The width of an addition.
  int64_t getWidth(unsigned order) const {
    switch (unit) {
    case Unit::Single:
      return order == 1 ? 1 : order == 2 ? 8 : 16;
    case Unit::Half:
      return order == 1 ? 8 : order == 2 ? 1 : 16;
    case Unit::Fourteen:
      return order == 1 ? 16 : order == 2 ? 8 : 32;
    case Unit::Apart:
    case Unit::Integer:
      return 32;
    }
    llvm_unreachable("unit");
  }
  /// Whether a lacking step is more than what rounding changes. In f16 and with
  /// one term at a time, rounding changes more from K = 32768 on.
  bool showsStep(unsigned order, int64_t length) const {
    return unit != Unit::Half || order != 2 || length <= 16384;
  }
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
    {"f8E4M3FN to f32, 14 bits", "f8E4M3FN", "f32", "f32", Unit::Fourteen},
    {"f8E5M2 to f16, 14 bits", "f8E5M2", "f16", "f32", Unit::Fourteen},
    {"f16 to f16, f16 sums", "f16", "f16", "f16", Unit::Half},
    {"i8 to i32", "i8", "i32", "i32", Unit::Integer},
};

/// A number with its first `bits` significant bits. Numbers here are normal.
double truncateTo(double value, int bits) {
  return llvm::bit_cast<double>(llvm::bit_cast<uint64_t>(value) &
                                ~llvm::maskTrailingOnes<uint64_t>(53 - bits));
}

/// 2 to the power of `exponent`, which a normal number has.
double getPower(int exponent) {
  return llvm::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

/// The sum of products and an accumulator, all of them aligned to the largest
/// one and truncated.
double addAligned(double accumulator, ArrayRef<double> products) {
  double largest = std::fabs(accumulator);
  for (double product : products)
    largest = std::max(largest, std::fabs(product));
  if (largest == 0)
    return 0;
  int exponent =
      static_cast<int>(llvm::bit_cast<uint64_t>(largest) >> 52) - 1023;
  double scale = getPower(13 - exponent);
  auto sum = static_cast<int64_t>(accumulator * scale);
  for (double product : products)
    sum += static_cast<int64_t>(product * scale);
  return truncateTo(static_cast<double>(sum) / scale, 14);
}

/// The dot product of two rows of `length` elements, without those from
/// `skipped` on (-1: all are included).
double addUp(const Config &config, unsigned order, const double *a,
             const double *b, int64_t length, int64_t skipped,
             const Format &half) {
  int64_t width = config.getWidth(order);
  double sum = 0, apart = 0, parts[4] = {};
  for (int64_t k = 0; k < length; k += width) {
    if (skipped >= 0 && k >= skipped && k < skipped + step)
      continue;
    double products[32], exact = 0;
    for (int64_t i = 0; i < width; ++i) {
      products[i] = a[k + i] * b[k + i];
      exact += products[i];
    }
    double &part = order == 3 ? parts[k * 4 / length] : sum;
    switch (config.unit) {
    case Unit::Single:
      part = order == 2 ? truncateTo(part + exact, 24)
                        : static_cast<float>(part + exact);
      break;
    case Unit::Half:
      part = half.round(part + exact);
      break;
    case Unit::Apart:
      apart = addAligned(apart, ArrayRef(products, width));
      if ((k + width) % 128 == 0 || k + width == length) {
        sum = static_cast<float>(sum + apart);
        apart = 0;
      }
      break;
    case Unit::Fourteen:
      part = addAligned(part, ArrayRef(products, width));
      break;
    case Unit::Integer:
      part += exact;
      break;
    }
  }
  if (order == 3)
    for (double part : parts) {
      sum += part;
      if (config.unit != Unit::Integer)
        sum = config.unit == Unit::Half ? half.round(sum)
                                        : static_cast<float>(sum);
    }
  return sum;
}

/// Factors of a kind that makes errors drift, or depend on each other.
double drawStructured(StringRef kind, int64_t row, int64_t k, int64_t length,
                      std::mt19937_64 &generator) {
  double fraction = std::ldexp(static_cast<double>(generator() >> 11), -53);
  if (kind == "positive")
    return fraction;
  if (kind == "constant")
    return 0.1;
  if (kind == "equal rows")
    return std::sin(static_cast<double>(k));
  if (kind == "four kinds of rows")
    return std::sin(static_cast<double>(k * (row % 4 + 1)));
  if (kind == "scaled rows")
    return std::ldexp(std::sin(static_cast<double>(k)),
                      static_cast<int>(row % 4));
  if (kind == "smooth")
    return std::sin(0.01 * static_cast<double>(row + k));
  if (kind == "some positive rows")
    return row < 16 ? fraction : 2 * fraction - 1;
  if (kind == "sparse")
    return generator() % 8 ? 0 : 2 * fraction - 1;
  if (kind == "triangular")
    return k <= row * length / size ? 2 * fraction - 1 : 0;
  if (kind == "large rows")
    return std::ldexp(2 * fraction - 1, row % 5 == 0 ? 3 : 0);
  EXPECT_EQ(kind, "decaying");
  return (2 * fraction - 1) *
         std::exp(-8 * static_cast<double>(k) / static_cast<double>(length));
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

  static Options getOptions(const Config &config) {
    Options options;
    if (config.unit == Unit::Integer)
      return options;
    CompiledSum sum;
    sum.bits = config.unit == Unit::Half ? 11 : 24;
    if (config.unit == Unit::Apart || config.unit == Unit::Fourteen)
      sum.unitBits = 14;
    sum.unitLength = config.unit == Unit::Apart ? 128 : 0;
    options.sums.push_back(sum);
    return options;
  }

  void check(const Config &config, int64_t length, bool random, unsigned seeds);
  void accept(const Config &config, int64_t length, StringRef kind,
              unsigned seeds);

  /// A problem, and what the reference makes of it.
  struct Problem {
    /// Rows of the one operand, and columns of the other.
    std::vector<double> left, right;
    Evaluation evaluation;
    std::optional<CoarseLosses> losses;
    /// The elements as a device computes them, without a step of K (-1: all).
    std::function<double(int64_t i, int64_t j, int64_t skipped)> compute;

    std::vector<double> computeAll() const {
      std::vector<double> all;
      for (int64_t at = 0; at < size * size; ++at)
        all.push_back(compute(at / size, at % size, -1));
      return all;
    }
    Comparison compareTo(const std::vector<double> &got) const {
      CompareOptions options;
      options.losses = losses ? &*losses : nullptr;
      return compare([&](int64_t at) { return got[at]; },
                     evaluation.arrays.results[0], options);
    }
  };
  /// `draw` gives the factors of row or column `i`.
  void makeProblem(const Config &config, int64_t length, unsigned order,
                   function_ref<double(int64_t i, int64_t k)> draw,
                   Problem &problem);
};

void SumsTest::makeProblem(const Config &config, int64_t length, unsigned order,
                           function_ref<double(int64_t, int64_t)> draw,
                           Problem &problem) {
  func::FuncOp entry = parse(makeSource(config, length));
  ASSERT_TRUE(entry);
  Type in = parseType(config.in), out = parseType(config.out);
  Array a = Array::zeros(in, {size, length}),
        b = Array::zeros(in, {length, size});
  auto set = [&](Array &array, int64_t at, double value) {
    if (array.isFloat())
      array.floats()[at] = value;
    else
      array.integers()[at] = static_cast<int64_t>(value);
    return value;
  };
  for (int64_t i = 0; i < size; ++i)
    for (int64_t k = 0; k < length; ++k) {
      problem.left.push_back(set(a, i * length + k, draw(i, k)));
      problem.right.push_back(set(b, k * size + i, draw(i, k)));
    }
  problem.evaluation = evaluate(entry, {a, b}, getOptions(config));
  ASSERT_TRUE(problem.evaluation.outcome.succeeded());
  problem.losses = problem.evaluation.getLosses(true, 0);
  const Format &outFormat = *Format::get(out);
  problem.compute = [&problem, &config, &outFormat, length,
                     order](int64_t i, int64_t j, int64_t skipped) {
    double sum = addUp(config, order, &problem.left[i * length],
                       &problem.right[j * length], length, skipped,
                       *Format::ofPrecision(11));
    return outFormat.isFloat ? outFormat.round(sum) : sum;
  };
}

void SumsTest::accept(const Config &config, int64_t length, StringRef kind,
                      unsigned seeds) {
  SCOPED_TRACE(std::string(config.name) + ", K = " + std::to_string(length) +
               ", " + kind.str());
  const Format &format = *Format::get(parseType(config.in));
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937_64 generator(seed * 1000003 + length);
    Problem problem;
    makeProblem(
        config, length, seed % 4,
        [&](int64_t i, int64_t k) {
          return format.round(drawStructured(kind, i, k, length, generator));
        },
        problem);
    ASSERT_FALSE(HasFatalFailure());
    Comparison comparison = problem.compareTo(problem.computeAll());
    EXPECT_TRUE(comparison.ok)
        << "seed " << seed << ": " << comparison.describe();
  }
}

void SumsTest::check(const Config &config, int64_t length, bool random,
                     unsigned seeds) {
  SCOPED_TRACE(std::string(config.name) + ", K = " + std::to_string(length) +
               (random ? ", random" : ", integers"));
  const Format &format = *Format::get(parseType(config.in));
  unsigned hidden = 0, insensitive = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937_64 generator(seed * 1000003 + length);
    auto draw = [&](int64_t, int64_t) {
      uint64_t bits = generator();
      if (!random)
        return static_cast<double>(static_cast<int>(bits % 7) - 3);
      if (!format.isFloat)
        return static_cast<double>(static_cast<int8_t>(bits));
      return format.round(std::ldexp(static_cast<double>(bits >> 11), -52) - 1);
    };
    Problem problem;
    makeProblem(config, length, seed % 4, draw, problem);
    ASSERT_FALSE(HasFatalFailure());
    std::vector<double> good = problem.computeAll();
    Comparison comparison = problem.compareTo(good);
    ASSERT_TRUE(comparison.ok)
        << "seed " << seed << ": " << comparison.describe();
    ASSERT_EQ(comparison.unverifiedCount, 0);

    std::vector<double> bad = good;
    auto row = static_cast<int64_t>(generator() % size);
    std::fill_n(bad.begin() + row * size, size, 0.0);
    ASSERT_FALSE(problem.compareTo(bad).ok)
        << "seed " << seed << ": row " << row << " of zeros";
    bad = good;
    int64_t other = (row + 1 + generator() % (size - 1)) % size;
    std::swap_ranges(bad.begin() + row * size, bad.begin() + (row + 1) * size,
                     bad.begin() + other * size);
    ASSERT_FALSE(problem.compareTo(bad).ok)
        << "seed " << seed << ": rows " << row << " and " << other;
    // The comparison knows which faults it detects. Exact sums are not coarse.
    if (comparison.tileCount) {
      ASSERT_TRUE(comparison.insensitiveTileCount);
      if (config.showsStep(seed % 4, length))
        ASSERT_EQ(*comparison.insensitiveTileCount, 0) << "seed " << seed;
    }
    if (!config.showsStep(seed % 4, length)) {
      ++hidden;
      insensitive += comparison.insensitiveTileCount.value_or(0) > 0;
      continue;
    }
    bad = good;
    int64_t skipped = step * (generator() % (length / step)),
            top = tile * (generator() % 2), left0 = tile * (generator() % 2);
    for (int64_t i = top; i < top + tile; ++i)
      for (int64_t j = left0; j < left0 + tile; ++j)
        bad[i * size + j] = problem.compute(i, j, skipped);
    ASSERT_FALSE(problem.compareTo(bad).ok)
        << "seed " << seed << ": no step from " << skipped;
  }
  EXPECT_EQ(insensitive, hidden);
}

// Correct sums of data whose errors drift, or are not independent.
TEST_P(SumsTest, StructuredDataIsAccepted) {
  int64_t length = GetParam();
  if (length > 4096)
    GTEST_SKIP();
  for (const Config &config : configs)
    for (StringRef kind :
         {"positive", "constant", "equal rows", "four kinds of rows",
          "scaled rows", "smooth", "some positive rows", "sparse", "triangular",
          "large rows", "decaying"})
      if (config.isCoarse())
        accept(config, length, kind, length <= 1024 && !isSanitized ? 12 : 4);
}

TEST_P(SumsTest, FaultsAreFound) {
  int64_t length = GetParam();
  unsigned seeds = length <= 1024 ? 100 : length <= 4096 ? 10 : 65536 / length;
  const char *all = std::getenv("TESSERA_ALL_SEEDS");
  if (all)
    seeds = 100;
  else if (isSanitized && length > 16384)
    GTEST_SKIP() << "longer sums access memory as shorter ones do";
  else if (isSanitized)
    seeds = length <= 1024 ? 4 : 1;
  for (const Config &config : configs)
    for (bool random : {true, false})
      if (config.isCoarse() || !all || StringRef(all) != "coarse")
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
