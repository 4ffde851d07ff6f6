//===- ContractTest.cpp - tessera.contract, gathers, swizzles -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Verify.h"
#include "ReferenceTest.h"

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

class ContractTest : public ReferenceTest {
protected:
  /// By samples: right as it is, and wrong with one element changed.
  void checkBySamples(ArrayRef<Array> args, const Array &result) {
    func::FuncOp entry = module->lookupSymbol<func::FuncOp>("main");
    VerifyOptions options;
    options.forceSampling = true;
    options.rows = options.columns = 2;
    options.projections = 2;
    SmallVector<ComputedOutput> outputs = {{true, 0, result.clone()}};
    Verification verification = verify(entry, args, outputs, options);
    EXPECT_EQ(verification.status, Status::Done) << verification.message;
    EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
    EXPECT_FALSE(verification.isComplete);
    outputs[0].array.floats()[result.getNumElements() / 2] += 1;
    EXPECT_FALSE(verify(entry, args, outputs, options).ok);
  }
};

/// A convolution of stride 2 and padding 1, whose map reaches outside.
TEST_F(ContractTest, PaddedConvolution) {
  const char *source = R"(
    func.func @main(%x: tensor<2x9x8x3xf16>, %w: tensor<3x3x3x5xf16>) -> tensor<2x5x4x5xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<2x5x4x5xf32>
      %r = tessera.contract ins(%x, %w : tensor<2x9x8x3xf16>, tensor<3x3x3x5xf16>)
          init(%zero : f32) outs(%e : tensor<2x5x4x5xf32>)
          maps [affine_map<(n, y, x, f, r, s, c) -> (n, y * 2 + r - 1, x * 2 + s - 1, c)>,
                affine_map<(n, y, x, f, r, s, c) -> (r, s, c, f)>,
                affine_map<(n, y, x, f, r, s, c) -> (n, y, x, f)>]
          accumulate f32 {
      ^bb0(%acc: f32):
        tessera.yield %acc : f32
      } -> tensor<2x5x4x5xf32>
      return %r : tensor<2x5x4x5xf32>
    })";
  SmallVector<Array> args = {integers(f16(), {2, 9, 8, 3}, 1),
                             integers(f16(), {3, 3, 3, 5}, 2)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t y = 0; y < 5; ++y)
      for (int64_t x = 0; x < 4; ++x)
        for (int64_t f = 0; f < 5; ++f) {
          double sum = 0;
          for (int64_t r = 0; r < 3; ++r)
            for (int64_t s = 0; s < 3; ++s)
              for (int64_t c = 0; c < 3; ++c) {
                int64_t row = 2 * y + r - 1, column = 2 * x + s - 1;
                if (row >= 0 && row < 9 && column >= 0 && column < 8)
                  sum +=
                      args[0].getDouble(((n * 9 + row) * 8 + column) * 3 + c) *
                      args[1].getDouble(((r * 3 + s) * 3 + c) * 5 + f);
              }
          EXPECT_EQ(outcome.results[0].getDouble(((n * 5 + y) * 4 + x) * 5 + f),
                    sum);
        }
  checkBySamples(args, outcome.results[0]);
}

/// Weights with a scale and an offset for each group of 4 rows; two K.
TEST_F(ContractTest, Producers) {
  const char *source = R"(
    func.func @main(%a: tensor<6x2x8xf16>, %w: tensor<2x8x7xi8>, %s: tensor<2x7xf16>)
        -> tensor<6x7xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<6x7xf32>
      %r = tessera.contract ins(%a, %w : tensor<6x2x8xf16>, tensor<2x8x7xi8>)
          init(%zero : f32) rhs_inputs(%s : tensor<2x7xf16>) outs(%e : tensor<6x7xf32>)
          maps [affine_map<(m, n, g, k) -> (m, g, k)>, affine_map<(m, n, g, k) -> (g, k, n)>,
                affine_map<(m, n, g, k) -> (m, n)>, affine_map<(m, n, g, k) -> (k floordiv 4, n)>]
          accumulate f32 rhs_producer {
      ^bb0(%x: i8, %y: f16):
        %f = arith.sitofp %x : i8 to f16
        %g = arith.mulf %f, %y : f16
        tessera.yield %g : f16
      } {
      ^bb0(%acc: f32):
        tessera.yield %acc : f32
      } -> tensor<6x7xf32>
      return %r : tensor<6x7xf32>
    })";
  SmallVector<Array> args = {integers(f16(), {6, 2, 8}, 1),
                             integers(i8(), {2, 8, 7}, 2),
                             integers(f16(), {2, 7}, 3)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t m = 0; m < 6; ++m)
    for (int64_t n = 0; n < 7; ++n) {
      double sum = 0;
      for (int64_t g = 0; g < 2; ++g)
        for (int64_t k = 0; k < 8; ++k)
          sum += args[0].getDouble((m * 2 + g) * 8 + k) *
                 args[1].getDouble((g * 8 + k) * 7 + n) *
                 args[2].getDouble(k / 4 * 7 + n);
      EXPECT_EQ(outcome.results[0].getDouble(m * 7 + n), sum);
    }
  checkBySamples(args, outcome.results[0]);
}

/// A swizzled load reads what a swizzled copy wrote; in memory, the chunks of
/// 16 bytes of rows of 64 bytes are permuted every second row.
TEST_F(ContractTest, GatherAndSwizzle) {
  const char *source = R"(
    func.func @main(%x: memref<10x16xf32>, %raw: memref<8x16xf32>, %y: memref<8x16xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
                 workgroup(%w : memref<8x16xf32, #gpu.address_space<workgroup>>) {
        tessera.copy %x[], %w[%c0, %c0] shape [8, 16] contiguous 4 swizzled gather {
        ^bb0(%i: index, %j: index):
          %at = arith.subi %i, %c1 : index
          %inside = arith.cmpi ult, %at, %c8 : index
          tessera.yield %at, %j, %inside : index, index, i1
        } : memref<10x16xf32>, memref<8x16xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        %f = tessera.load %w[%c0, %c0] swizzled
            : memref<8x16xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<8x16xf32, acc>
        tessera.store %f, %y[%c0, %c0] : !tessera.fragment<8x16xf32, acc>, memref<8x16xf32>
        %g = tessera.load %w[%c0, %c0]
            : memref<8x16xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<8x16xf32, acc>
        tessera.store %g, %raw[%c0, %c0] : !tessera.fragment<8x16xf32, acc>, memref<8x16xf32>
        gpu.terminator
      }
      return
    })";
  SmallVector<Array> args = {integers(f32(), {10, 16}, 1, 1, 99),
                             Array::zeros(f32(), {8, 16}),
                             Array::zeros(f32(), {8, 16})};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 16; ++j) {
      double expected = i == 0 ? 0 : args[0].getDouble((i - 1) * 16 + j);
      EXPECT_EQ(args[2].getDouble(i * 16 + j), expected);
      int64_t chunk = (j / 4) ^ (i / 2 % 4);
      EXPECT_EQ(args[1].getDouble(i * 16 + chunk * 4 + j % 4), expected);
    }
}

/// A tile that is partly out of bounds.
TEST_F(ContractTest, Tile) {
  const char *source = R"(
    func.func @main(%x: memref<10x16xf32>, %y: memref<8x8xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
        %t = tessera.tile %x[%c4, %c1] : memref<10x16xf32> -> memref<8x8xf32>
        %f = tessera.load %t[%c0, %c0] in_bounds
            : memref<8x8xf32> -> !tessera.fragment<8x8xf32, acc>
        tessera.store %f, %y[%c0, %c0] : !tessera.fragment<8x8xf32, acc>, memref<8x8xf32>
        gpu.terminator
      }
      return
    })";
  SmallVector<Array> args = {integers(f32(), {10, 16}, 1, 1, 99),
                             Array::zeros(f32(), {8, 8})};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 8; ++j)
      EXPECT_EQ(args[1].getDouble(i * 8 + j),
                i < 6 ? args[0].getDouble((i + 4) * 16 + j + 1) : 0);
}

} // namespace
