//===- MatmulWorkTest.cpp - Operations and bytes of matmuls ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/MatmulWork.h"
#include "ProgramTest.h"

using namespace tessera::execution;

namespace {

using MatmulWorkTest = ProgramTest;

/// A dynamic matmul of f16 with an f32 result.
const char *const dynamicMatmul = R"(
func.func @main(%a: tensor<?x?xf16>, %b: tensor<?x24xf16>) -> tensor<?x24xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %empty = tensor.empty(%m) : tensor<?x24xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x24xf16>)
      outs(%empty : tensor<?x24xf32>) -> tensor<?x24xf32>
  return %c : tensor<?x24xf32>
})";

runtime::HostArray makeArray(std::vector<int64_t> shape) {
  return runtime::HostArray::create(runtime::ElementType::F16, std::move(shape))
      .take();
}

TEST_F(MatmulWorkTest, CountsStaticMatmul) {
  Entry entry = parse(R"(
func.func @main(%a: tensor<7x5xf32>, %b: tensor<5x3xf32>, %c: tensor<7x3xf32>) -> tensor<7x3xf32> {
  %d = linalg.matmul ins(%a, %b : tensor<7x5xf32>, tensor<5x3xf32>)
      outs(%c : tensor<7x3xf32>) -> tensor<7x3xf32>
  return %d : tensor<7x3xf32>
})");
  std::vector<MatmulWork> work = collectWork(entry, {});
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0].operations, 2.0 * 7 * 5 * 3);
  EXPECT_EQ(work[0].bytes, 4.0 * (7 * 5 + 5 * 3 + 7 * 3));
  EXPECT_EQ(work[0].location, "test.mlir:3:8");
  EXPECT_EQ(countOperations(entry, {}), 2.0 * 7 * 5 * 3);
}

TEST_F(MatmulWorkTest, TakesDynamicSizesFromArguments) {
  Entry entry = parse(dynamicMatmul);
  std::vector<MatmulWork> unknown = collectWork(entry, {});
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_FALSE(unknown[0].operations);
  EXPECT_FALSE(unknown[0].bytes);
  EXPECT_FALSE(countOperations(entry, {}));

  std::vector<runtime::HostArray> arguments;
  arguments.push_back(makeArray({10, 6}));
  arguments.push_back(makeArray({6, 24}));
  std::vector<MatmulWork> known = collectWork(entry, arguments);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].operations, 2.0 * 10 * 6 * 24);
  EXPECT_EQ(known[0].bytes, 2.0 * (10 * 6 + 6 * 24) + 4.0 * 10 * 24);
}

TEST_F(MatmulWorkTest, CountsBatchesAndTosa) {
  Entry entry = parse(R"(
func.func @main(%a: tensor<2x4x8xi8>, %b: tensor<2x8x3xi8>, %c: tensor<2x4x3xi32>, %z: tensor<1xi8>)
    -> (tensor<2x4x3xi32>, tensor<2x4x3xi32>) {
  %d = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xi8>, tensor<2x8x3xi8>)
      outs(%c : tensor<2x4x3xi32>) -> tensor<2x4x3xi32>
  %e = tosa.matmul %a, %b, %z, %z : (tensor<2x4x8xi8>, tensor<2x8x3xi8>, tensor<1xi8>, tensor<1xi8>)
      -> tensor<2x4x3xi32>
  return %d, %e : tensor<2x4x3xi32>, tensor<2x4x3xi32>
})");
  std::vector<MatmulWork> work = collectWork(entry, {});
  ASSERT_EQ(work.size(), 2u);
  for (const MatmulWork &matmul : work) {
    EXPECT_EQ(matmul.operations, 2.0 * 2 * 4 * 8 * 3);
    EXPECT_EQ(matmul.bytes, 2.0 * 4 * 8 + 2.0 * 8 * 3 + 4.0 * 2 * 4 * 3);
  }
  EXPECT_EQ(countOperations(entry, {}), 2.0 * 2.0 * 2 * 4 * 8 * 3);
}

TEST_F(MatmulWorkTest, CountsAttentions) {
  auto parseAttention = [&](const std::string &causal) {
    return parse(R"(
func.func @main(%q: tensor<4x6x32xf16>, %k: tensor<4x10x32xf16>, %v: tensor<4x10x48xf16>,
                %o: tensor<4x6x48xf16>) -> tensor<4x6x48xf16> {
  %r = tessera.attention
      ins(%q, %k, %v : tensor<4x6x32xf16>, tensor<4x10x32xf16>, tensor<4x10x48xf16>)
      outs(%o : tensor<4x6x48xf16>)
      maps [affine_map<(h, m, n, d, e) -> (h, m, d)>, affine_map<(h, m, n, d, e) -> (h, n, d)>,
            affine_map<(h, m, n, d, e) -> (h, n, e)>, affine_map<(h, m, n, d, e) -> (h, m, e)>]
      scale 0.125)" +
                 causal + R"( -> tensor<4x6x48xf16>
  return %r : tensor<4x6x48xf16>
})");
  };
  Entry all = parseAttention("");
  std::vector<MatmulWork> work = collectWork(all, {});
  ASSERT_EQ(work.size(), 1u);
  EXPECT_EQ(work[0].operations, 2.0 * 4 * 6 * 10 * (32 + 48));
  EXPECT_EQ(work[0].bytes, 2.0 * 4 * (6 * 32 + 10 * 32 + 10 * 48 + 6 * 48));
  EXPECT_EQ(countOperations(all, {}), work[0].operations);
  // Queries see 0 to 5 keys, and then 7, 8, 9, and three times 10.
  Entry few = parseAttention(" causal -1");
  EXPECT_EQ(countOperations(few, {}), 2.0 * 4 * 15 * (32 + 48));
  Entry more = parseAttention(" causal 6");
  EXPECT_EQ(countOperations(more, {}),
            2.0 * 4 * (7 + 8 + 9 + 3 * 10) * (32 + 48));
}

TEST_F(MatmulWorkTest, CountsConvolutions) {
  Entry entry = parse(R"(
func.func @main(%x: tensor<2x9x9x8xf16>, %k: tensor<3x3x8x16xf16>, %c: tensor<2x4x4x16xf32>,
                %d: tensor<3x3x8xf16>, %e: tensor<2x7x7x8xf32>, %w: tensor<2x2xf32>,
                %p: tensor<2x2x2x16xf32>)
    -> (tensor<2x4x4x16xf32>, tensor<2x7x7x8xf32>, tensor<2x2x2x16xf32>) {
  %f = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %k : tensor<2x9x9x8xf16>, tensor<3x3x8x16xf16>)
      outs(%c : tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
  %g = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %d : tensor<2x9x9x8xf16>, tensor<3x3x8xf16>)
      outs(%e : tensor<2x7x7x8xf32>) -> tensor<2x7x7x8xf32>
  %h = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%f, %w : tensor<2x4x4x16xf32>, tensor<2x2xf32>)
      outs(%p : tensor<2x2x2x16xf32>) -> tensor<2x2x2x16xf32>
  return %f, %g, %h : tensor<2x4x4x16xf32>, tensor<2x7x7x8xf32>, tensor<2x2x2x16xf32>
})");
  std::vector<MatmulWork> work = collectWork(entry, {});
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].operations, 2.0 * (2 * 4 * 4 * 16) * (3 * 3 * 8));
  EXPECT_EQ(work[0].bytes, 2.0 * (2 * 9 * 9 * 8) + 2.0 * (3 * 3 * 8 * 16) +
                               4.0 * 2 * 4 * 4 * 16);
  EXPECT_EQ(work[1].operations, 2.0 * (2 * 7 * 7 * 8) * (3 * 3));
}

TEST_F(MatmulWorkTest, CountsConvolutionsOfTosa) {
  Entry entry = parse(R"(
func.func @main(%x: tensor<2x9x9x8xf32>, %k: tensor<16x3x3x8xf32>, %b: tensor<16xf32>,
                %d: tensor<3x3x8x2xf32>, %z: tensor<1xf32>)
    -> (tensor<2x7x7x16xf32>, tensor<2x7x7x16xf32>) {
  %f = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<2x9x9x8xf32>, tensor<16x3x3x8xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<2x7x7x16xf32>
  %g = tosa.depthwise_conv2d %x, %d, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<2x9x9x8xf32>, tensor<3x3x8x2xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<2x7x7x16xf32>
  return %f, %g : tensor<2x7x7x16xf32>, tensor<2x7x7x16xf32>
})");
  std::vector<MatmulWork> work = collectWork(entry, {});
  ASSERT_EQ(work.size(), 2u);
  double outputs = 2 * 7 * 7 * 16;
  EXPECT_EQ(work[0].operations, 2 * outputs * (3 * 3 * 8));
  EXPECT_EQ(work[1].operations, 2 * outputs * (3 * 3));
  EXPECT_EQ(work[1].bytes, 4.0 * (2 * 9 * 9 * 8 + 3 * 3 * 8 * 2 + outputs));
}

// The number of iterations is not known, so that a total would be wrong.
TEST_F(MatmulWorkTest, HasNoTotalForLoopsAndWithoutMatmuls) {
  Entry entry = parse(R"(
func.func @main(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %c: memref<4x4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  scf.for %i = %zero to %ten step %one {
    linalg.matmul ins(%a, %b : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  }
  return
})");
  EXPECT_EQ(collectWork(entry, {}).size(), 1u);
  EXPECT_FALSE(countOperations(entry, {}));
  Entry other = parse(R"(
func.func @main(%a: memref<4x4xf32>, %b: memref<4x4xf32>) {
  linalg.exp ins(%a : memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  return
})");
  EXPECT_FALSE(countOperations(other, {}));
}

} // namespace
