//===- ConvolutionTest.cpp - Convolutions, pooling, padding ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Verify.h"
#include "ReferenceTest.h"

#include <chrono>
#include <map>

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

/// Comparison by a few rows and columns, and by `projections` projections.
VerifyOptions bySamples(unsigned projections) {
  VerifyOptions options;
  options.forceSampling = true;
  options.rows = options.columns = 2;
  options.projections = projections;
  return options;
}

/// A convolution by name, computed here point by point: each operand's
/// dimensions are letters. `y` and `x` are the output's, `h` and `w` the
/// window's, `Y` and `X` are y * stride + h * dilation and the corresponding
/// sum.
struct Case {
  const char *name;
  const char *image, *kernel, *output;
  bool isQuantized = false;
};

class ConvolutionTest : public ReferenceTest,
                        public ::testing::WithParamInterface<Case> {
protected:
  static constexpr int64_t stride[2] = {2, 1}, dilation[2] = {1, 2};

  int64_t sizeOf(char letter) const {
    static const std::map<char, int64_t> sizes = {{'n', 2}, {'g', 3}, {'c', 5},
                                                  {'f', 4}, {'m', 2}, {'y', 4},
                                                  {'x', 6}, {'h', 3}, {'w', 2}};
    if (letter == 'Y')
      return (sizeOf('y') - 1) * stride[0] + (sizeOf('h') - 1) * dilation[0] +
             1;
    if (letter == 'X')
      return (sizeOf('x') - 1) * stride[1] + (sizeOf('w') - 1) * dilation[1] +
             1;
    return sizes.at(letter);
  }
  SmallVector<int64_t> shapeOf(StringRef letters) const {
    SmallVector<int64_t> shape;
    for (char letter : letters)
      shape.push_back(sizeOf(letter));
    return shape;
  }
  int64_t indexOf(StringRef letters, std::map<char, int64_t> &at) const {
    at['Y'] = at['y'] * stride[0] + at['h'] * dilation[0];
    at['X'] = at['x'] * stride[1] + at['w'] * dilation[1];
    int64_t index = 0;
    for (char letter : letters)
      index = index * sizeOf(letter) + at[letter];
    return index;
  }
  static std::string typeOf(ArrayRef<int64_t> shape, StringRef element) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + element.str() + ">";
  }
  /// The module.
  std::string sourceOf(const Case &test, StringRef from, StringRef to) const {
    bool is2d = StringRef(test.output).contains('y');
    std::string a = typeOf(shapeOf(test.image), from),
                b = typeOf(shapeOf(test.kernel), from),
                c = typeOf(shapeOf(test.output), to);
    std::string zeros = test.isQuantized ? ", %za, %zb" : "";
    std::string zeroTypes = test.isQuantized ? ", i32, i32" : "";
    std::string window =
        is2d ? "dense<[2, 1]> : tensor<2xi64>" : "dense<1> : tensor<1xi64>";
    std::string spread =
        is2d ? "dense<[1, 2]> : tensor<2xi64>" : "dense<2> : tensor<1xi64>";
    return "func.func @main(%a: " + a + ", %b: " + b + ", %c: " + c + ") -> " +
           c + " {\n  %za = arith.constant 3 : i32\n" +
           "  %zb = arith.constant -2 : i32\n  %r = linalg." + test.name +
           " {strides = " + window + ", dilations = " + spread +
           "} ins(%a, %b" + zeros + " : " + a + ", " + b + zeroTypes +
           ") outs(%c : " + c + ") -> " + c + "\n  return %r : " + c + "\n}";
  }
  SmallVector<double> expect(const Case &test, ArrayRef<Array> args) const {
    SmallVector<double> result;
    for (int64_t i = 0; i < args[2].getNumElements(); ++i)
      result.push_back(args[2].getDouble(i));
    std::string letters = test.output;
    for (char letter : std::string("hwc"))
      if (StringRef(test.kernel).contains(letter) &&
          !StringRef(letters).contains(letter))
        letters += letter;
    std::map<char, int64_t> at;
    std::function<void(size_t)> loop = [&](size_t level) {
      if (level == letters.size()) {
        double x = args[0].getDouble(indexOf(test.image, at)),
               w = args[1].getDouble(indexOf(test.kernel, at));
        if (test.isQuantized) {
          x -= 3;
          w += 2;
        }
        result[indexOf(test.output, at)] += x * w;
        return;
      }
      for (int64_t i = 0; i < sizeOf(letters[level]); ++i) {
        at[letters[level]] = i;
        loop(level + 1);
      }
    };
    loop(0);
    return result;
  }
};

TEST_P(ConvolutionTest, EveryElement) {
  const Case &test = GetParam();
  for (bool isFloat : {true, false}) {
    if (isFloat && test.isQuantized)
      continue;
    Type from = isFloat ? f16() : i8(), to = isFloat ? f32() : i32();
    SmallVector<Array> args = {integers(from, shapeOf(test.image), 1, -9, 9),
                               integers(from, shapeOf(test.kernel), 2, -9, 9),
                               integers(to, shapeOf(test.output), 3)};
    std::string source =
        sourceOf(test, isFloat ? "f16" : "i8", isFloat ? "f32" : "i32");
    Outcome outcome = runSource(source, args);
    ASSERT_TRUE(outcome.succeeded()) << diagnostics << source;
    SmallVector<double> expected = expect(test, args);
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(outcome.results[0].getDouble(i), expected[i]) << i;
      ASSERT_EQ(outcome.results[0].getError(i), 0);
    }
    // Computed as matmuls: much less work than interpreting the body.
    EXPECT_LT(outcome.work, 60'000) << test.name;

    // By samples, and with an element that is wrong.
    Array got = Array::zeros(to, shapeOf(test.output));
    auto set = [&](size_t i, double value) {
      if (isFloat)
        got.floats()[i] = value;
      else
        got.integers()[i] = static_cast<int64_t>(value);
    };
    for (size_t i = 0; i < expected.size(); ++i)
      set(i, expected[i]);
    auto entry = module->lookupSymbol<func::FuncOp>("main");
    VerifyOptions options = bySamples(/*projections=*/0);
    SmallVector<ComputedOutput> outputs = {{true, 0, got}};
    Verification verification = verify(entry, args, outputs, options);
    EXPECT_EQ(verification.status, Status::Done) << verification.message;
    EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
    EXPECT_FALSE(verification.isComplete);
    // The last element is always among them.
    set(expected.size() - 1, expected.back() + 1);
    verification = verify(entry, args, outputs, options);
    EXPECT_FALSE(verification.ok);
    // Any other is found by projections.
    set(expected.size() - 1, expected.back());
    set(expected.size() / 2 + 1, expected[expected.size() / 2 + 1] + 1);
    options.projections = 2;
    verification = verify(entry, args, outputs, options);
    EXPECT_FALSE(verification.ok) << test.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvolutionTest,
    ::testing::Values(
        Case{"conv_1d_nwc_wcf", "nXc", "wcf", "nxf"},
        Case{"conv_1d_ncw_fcw", "ncX", "fcw", "nfx"},
        Case{"conv_2d_nhwc_hwcf", "nYXc", "hwcf", "nyxf"},
        Case{"conv_2d_nhwc_fhwc", "nYXc", "fhwc", "nyxf"},
        Case{"conv_2d_nchw_fchw", "ncYX", "fchw", "nfyx"},
        Case{"conv_2d_ngchw_fgchw", "ngcYX", "fgchw", "ngfyx"},
        Case{"conv_2d_ngchw_gfchw", "ngcYX", "gfchw", "ngfyx"},
        Case{"conv_2d_nhwgc_gfhwc", "nYXgc", "gfhwc", "nyxgf"},
        Case{"depthwise_conv_1d_nwc_wc", "nXc", "wc", "nxc"},
        Case{"depthwise_conv_1d_ncw_cw", "ncX", "cw", "ncx"},
        Case{"depthwise_conv_1d_nwc_wcm", "nXc", "wcm", "nxcm"},
        Case{"depthwise_conv_2d_nhwc_hwc", "nYXc", "hwc", "nyxc"},
        Case{"depthwise_conv_2d_nhwc_hwcm", "nYXc", "hwcm", "nyxcm"},
        Case{"depthwise_conv_2d_nchw_chw", "ncYX", "chw", "ncyx"},
        Case{"conv_2d_nhwc_hwcf_q", "nYXc", "hwcf", "nyxf", true},
        Case{"conv_2d_nhwc_fhwc_q", "nYXc", "fhwc", "nyxf", true},
        Case{"conv_2d_nchw_fchw_q", "ncYX", "fchw", "nfyx", true},
        Case{"conv_2d_ngchw_gfchw_q", "ngcYX", "gfchw", "ngfyx", true},
        Case{"depthwise_conv_2d_nhwc_hwc_q", "nYXc", "hwc", "nyxc", true},
        Case{"depthwise_conv_2d_nhwc_hwcm_q", "nYXc", "hwcm", "nyxcm", true}),
    [](const auto &info) { return std::string(info.param.name); });

/// Padding, a convolution of stride 2, padding and another one.
const char *two = R"(
  func.func @main(%x: tensor<2x13x12x3xf16>, %w: tensor<3x3x3x4xf16>, %u: tensor<3x3x4x5xf32>)
      -> tensor<2x7x6x5xf32> {
    %z = arith.constant 0.0 : f16
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%0: index, %1: index, %2: index, %3: index):
      tensor.yield %z : f16
    } : tensor<2x13x12x3xf16> to tensor<2x15x14x3xf16>
    %e = tensor.empty() : tensor<2x7x6x4xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x6x4xf32>) -> tensor<2x7x6x4xf32>
    %y = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
        ins(%p, %w : tensor<2x15x14x3xf16>, tensor<3x3x3x4xf16>)
        outs(%i : tensor<2x7x6x4xf32>) -> tensor<2x7x6x4xf32>
    %q = tensor.pad %y low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%0: index, %1: index, %2: index, %3: index):
      %one = arith.constant 1.0 : f32
      tensor.yield %one : f32
    } : tensor<2x7x6x4xf32> to tensor<2x9x8x4xf32>
    %f = tensor.empty() : tensor<2x7x6x5xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x7x6x5xf32>) -> tensor<2x7x6x5xf32>
    %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
        ins(%q, %u : tensor<2x9x8x4xf32>, tensor<3x3x4x5xf32>)
        outs(%j : tensor<2x7x6x5xf32>) -> tensor<2x7x6x5xf32>
    return %r : tensor<2x7x6x5xf32>
  })";

using PaddedTest = ReferenceTest;

TEST_F(PaddedTest, TwoConvolutions) {
  SmallVector<Array> args = {integers(f16(), {2, 13, 12, 3}, 1),
                             integers(f16(), {3, 3, 3, 4}, 2),
                             integers(f32(), {3, 3, 4, 5}, 3)};
  Outcome outcome = runSource(two, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  // Element (1, 0, 5, 2), by hand.
  auto first = [&](int64_t n, int64_t y, int64_t x, int64_t f) {
    double sum = 0;
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t w = 0; w < 3; ++w) {
        int64_t row = 2 * y + h - 1, column = 2 * x + w - 1;
        if (row < 0 || row >= 13 || column < 0 || column >= 12)
          continue;
        for (int64_t c = 0; c < 3; ++c)
          sum += args[0].getDouble(((n * 13 + row) * 12 + column) * 3 + c) *
                 args[1].getDouble(((h * 3 + w) * 3 + c) * 4 + f);
      }
    return sum;
  };
  double expected = 0;
  for (int64_t h = 0; h < 3; ++h)
    for (int64_t w = 0; w < 3; ++w)
      for (int64_t c = 0; c < 4; ++c) {
        int64_t row = h - 1, column = 5 + w - 1;
        bool isInside = row >= 0 && column < 6;
        expected += (isInside ? first(1, row, column, c) : 1.0) *
                    args[2].getDouble(((h * 3 + w) * 4 + c) * 5 + 2);
      }
  EXPECT_EQ(outcome.results[0].getDouble(((1 * 7 + 0) * 6 + 5) * 5 + 2),
            expected);

  // In parts, from just those parts of the first that they need.
  auto entry = module->lookupSymbol<func::FuncOp>("main");
  VerifyOptions options = bySamples(/*projections=*/0);
  SmallVector<ComputedOutput> outputs = {{true, 0, outcome.results[0].clone()}};
  Verification verification = verify(entry, args, outputs, options);
  EXPECT_EQ(verification.status, Status::Done) << verification.message;
  EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
  outputs[0].array.floats()[(6 * 6 + 5) * 5 + 4] += 1;
  EXPECT_FALSE(verify(entry, args, outputs, options).ok);
}

/// Wall time of a call, in seconds.
double timeOf(function_ref<void()> call) {
  auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

TEST_F(PaddedTest, ResNetSizedConvolutionIsSampled) {
  const char *source = R"(
    func.func @main(%x: tensor<32x56x56x64xf16>, %w: tensor<3x3x64x64xf16>)
        -> tensor<32x56x56x64xf32> {
      %z = arith.constant 0.0 : f16
      %zero = arith.constant 0.0 : f32
      %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
      ^bb0(%0: index, %1: index, %2: index, %3: index):
        tensor.yield %z : f16
      } : tensor<32x56x56x64xf16> to tensor<32x58x58x64xf16>
      %e = tensor.empty() : tensor<32x56x56x64xf32>
      %i = linalg.fill ins(%zero : f32) outs(%e : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
      %y = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
          ins(%p, %w : tensor<32x58x58x64xf16>, tensor<3x3x64x64xf16>)
          outs(%i : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
      return %y : tensor<32x56x56x64xf32>
    })";
  // One pixel in each image, whose neighbours see one row of the kernel.
  SmallVector<Array> args = {Array::zeros(f16(), {32, 56, 56, 64}),
                             integers(f16(), {3, 3, 64, 64}, 2)};
  Array got = Array::zeros(f32(), {32, 56, 56, 64});
  for (int64_t n = 0; n < 32; ++n) {
    int64_t row = n, column = 55 - n, channel = n;
    args[0].floats()[((n * 56 + row) * 56 + column) * 64 + channel] = 2;
    for (int64_t h = 0; h < 3; ++h)
      for (int64_t w = 0; w < 3; ++w) {
        int64_t y = row + 1 - h, x = column + 1 - w;
        if (y < 0 || y >= 56 || x < 0 || x >= 56)
          continue;
        for (int64_t f = 0; f < 64; ++f)
          got.floats()[((n * 56 + y) * 56 + x) * 64 + f] =
              2 * args[1].getDouble(((h * 3 + w) * 64 + channel) * 64 + f);
      }
  }
  func::FuncOp entry = parse(source);
  VerifyOptions options;
  options.evaluation.maxWork = 2'000'000'000;
  SmallVector<ComputedOutput> outputs = {{true, 0, got}};
  Verification verification;
  double seconds =
      timeOf([&] { verification = verify(entry, args, outputs, options); });
  EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
  EXPECT_EQ(verification.checked,
            "16 rows and 16 columns in full of 4 of 1792 matrices, 4 random "
            "projections");
  // A second or two when nothing else runs. That it is sampled shows in
  // `checked` and in `maxWork`, and not in the time.
  RecordProperty("seconds", std::to_string(seconds));
  got.floats()[((20 * 56 + 20) * 56 + 35) * 64 + 7] += 1;
  EXPECT_FALSE(verify(entry, args, outputs, options).ok);
}

TEST_F(PaddedTest, Pooling) {
  const char *source = R"(
    func.func @main(%x: tensor<2x9x8x3xf32>) -> (tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>) {
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %k = tensor.empty() : tensor<3x4xf32>
      %e = tensor.empty() : tensor<2x4x3x3xf32>
      %i = linalg.fill ins(%low : f32) outs(%e : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
      %j = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
      %m = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
          ins(%x, %k : tensor<2x9x8x3xf32>, tensor<3x4xf32>)
          outs(%i : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
      %s = linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
          ins(%x, %k : tensor<2x9x8x3xf32>, tensor<3x4xf32>)
          outs(%j : tensor<2x4x3x3xf32>) -> tensor<2x4x3x3xf32>
      return %m, %s : tensor<2x4x3x3xf32>, tensor<2x4x3x3xf32>
    })";
  SmallVector<Array> args = {integers(f32(), {2, 9, 8, 3}, 1, -50, 50)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t y = 0; y < 4; ++y)
      for (int64_t x = 0; x < 3; ++x)
        for (int64_t c = 0; c < 3; ++c) {
          double largest = -100, sum = 0;
          for (int64_t h = 0; h < 3; ++h)
            for (int64_t w = 0; w < 4; ++w) {
              double value = args[0].getDouble(
                  ((n * 9 + 2 * y + h) * 8 + 2 * x + w) * 3 + c);
              largest = std::max(largest, value);
              sum += value;
            }
          int64_t at = ((n * 4 + y) * 3 + x) * 3 + c;
          EXPECT_EQ(outcome.results[0].getDouble(at), largest);
          EXPECT_EQ(outcome.results[1].getDouble(at), sum);
        }
  auto entry = module->lookupSymbol<func::FuncOp>("main");
  VerifyOptions options = bySamples(VerifyOptions().projections);
  SmallVector<ComputedOutput> outputs = {{true, 0, outcome.results[0].clone()},
                                         {true, 1, outcome.results[1]}};
  Verification verification = verify(entry, args, outputs, options);
  EXPECT_TRUE(verification.ok) << verification.message;
  outputs[0].array.floats()[0] += 1;
  EXPECT_FALSE(verify(entry, args, outputs, options).ok);
}

} // namespace
