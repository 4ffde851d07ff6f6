//===- InterpreterTest.cpp - Host programs --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTest.h"

#include <algorithm>
#include <chrono>

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

class InterpreterTest : public ReferenceTest {};

TEST_F(InterpreterTest, MatmulOnMemRefs) {
  SmallVector<Array> args = {integers(f32(), {37, 530}, 1),
                             integers(f32(), {530, 41}, 2),
                             integers(f32(), {37, 41}, 3)};
  Array before = args[2].clone();
  Outcome outcome = runSource(R"(
    func.func @main(%a: memref<37x530xf32>, %b: memref<530x41xf32>,
                    %c: memref<37x41xf32>) {
      linalg.matmul ins(%a, %b : memref<37x530xf32>, memref<530x41xf32>)
                    outs(%c : memref<37x41xf32>)
      return
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t j = 0; j < 41; ++j) {
      EXPECT_EQ(args[2].getDouble(i * 41 + j),
                before.getDouble(i * 41 + j) +
                    dot(args[0], i * 530, 1, args[1], j, 41, 530));
      EXPECT_EQ(args[2].getError(i * 41 + j), 0);
    }
}

TEST_F(InterpreterTest, TransposedAndBatched) {
  SmallVector<Array> args = {integers(f32(), {3, 20, 9}, 1),
                             integers(f32(), {3, 11, 20}, 2)};
  // C[b][m][n] = A[b][k][m] * B[b][n][k], with an epilogue.
  Outcome outcome = runSource(R"(
    func.func @main(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>)
        -> tensor<?x?x?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %zero = arith.constant 0.0 : f32
      %batch = tensor.dim %a, %c0 : tensor<?x?x?xf32>
      %m = tensor.dim %a, %c2 : tensor<?x?x?xf32>
      %n = tensor.dim %b, %c1 : tensor<?x?x?xf32>
      %e = tensor.empty(%batch, %m, %n) : tensor<?x?x?xf32>
      %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>)
          -> tensor<?x?x?xf32>
      %r = linalg.generic {
          indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>,
                           affine_map<(b, m, n, k) -> (b, n, k)>,
                           affine_map<(b, m, n, k) -> (b, m, n)>],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>)
          outs(%i : tensor<?x?x?xf32>) {
      ^bb0(%x: f32, %y: f32, %s: f32):
        %p = arith.mulf %x, %y : f32
        %q = arith.addf %s, %p : f32
        linalg.yield %q : f32
      } -> tensor<?x?x?xf32>
      %relu = linalg.generic {
          indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>,
                           affine_map<(b, m, n) -> (b, m, n)>],
          iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%r : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
      ^bb0(%x: f32, %y: f32):
        %j = linalg.index 2 : index
        %o = arith.maximumf %x, %zero : f32
        %k = arith.index_cast %j : index to i32
        %f = arith.sitofp %k : i32 to f32
        %z = arith.addf %o, %f : f32
        linalg.yield %z : f32
      } -> tensor<?x?x?xf32>
      return %relu : tensor<?x?x?xf32>
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  const Array &result = outcome.results[0];
  ASSERT_EQ(result.shape, (SmallVector<int64_t>{3, 9, 11}));
  for (int64_t b = 0; b < 3; ++b)
    for (int64_t m = 0; m < 9; ++m)
      for (int64_t n = 0; n < 11; ++n)
        EXPECT_EQ(result.getDouble((b * 9 + m) * 11 + n),
                  std::max(0.0, dot(args[0], b * 180 + m, 9, args[1],
                                    b * 220 + n * 20, 1, 20)) +
                      n);
}

TEST_F(InterpreterTest, UnsignedBytes) {
  SmallVector<Array> args = {integers(i8(), {12, 40}, 1, -128, 127),
                             integers(i8(), {40, 10}, 2, -128, 127)};
  Outcome outcome = runSource(R"(
    func.func @main(%a: tensor<12x40xi8>, %b: tensor<40x10xi8>)
        -> (tensor<12x10xi32>, tensor<12x10xi32>) {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<12x10xi32>
      %i = linalg.fill ins(%zero : i32) outs(%e : tensor<12x10xi32>)
          -> tensor<12x10xi32>
      %s = linalg.matmul ins(%a, %b : tensor<12x40xi8>, tensor<40x10xi8>)
                         outs(%i : tensor<12x10xi32>) -> tensor<12x10xi32>
      %u = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
          ins(%a, %b : tensor<12x40xi8>, tensor<40x10xi8>)
          outs(%i : tensor<12x10xi32>) -> tensor<12x10xi32>
      return %s, %u : tensor<12x10xi32>, tensor<12x10xi32>
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t j = 0; j < 10; ++j) {
      int32_t asSigned = 0, asUnsigned = 0;
      for (int64_t k = 0; k < 40; ++k) {
        auto x = static_cast<int8_t>(args[0].integers()[i * 40 + k]);
        auto y = static_cast<int8_t>(args[1].integers()[k * 10 + j]);
        asSigned += x * y;
        asUnsigned += static_cast<uint8_t>(x) * static_cast<uint8_t>(y);
      }
      EXPECT_EQ(outcome.results[0].integers()[i * 10 + j], asSigned);
      EXPECT_EQ(outcome.results[1].integers()[i * 10 + j], asUnsigned);
    }
}

TEST_F(InterpreterTest, IntegersWrap) {
  // Sums beyond 2 to the 53 take another path than small ones.
  Array a = Array::zeros(i32(), {1, 300}), b = Array::zeros(i32(), {300, 16});
  for (int64_t &value : a.integers())
    value = 2147483647;
  for (int64_t &value : b.integers())
    value = 2147483629;
  SmallVector<Array> args = {a, b, Array::zeros(i32(), {1, 16})};
  Outcome outcome = runSource(R"(
    func.func @main(%a: memref<1x300xi32>, %b: memref<300x16xi32>,
                    %c: memref<1x16xi32>) {
      linalg.matmul ins(%a, %b : memref<1x300xi32>, memref<300x16xi32>)
                    outs(%c : memref<1x16xi32>)
      return
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  uint32_t expected = 300u * (2147483647u * 2147483629u);
  EXPECT_EQ(args[2].integers()[3], static_cast<int32_t>(expected));
}

TEST_F(InterpreterTest, Convolution) {
  SmallVector<Array> args = {integers(f32(), {2, 9, 8, 3}, 1),
                             integers(f32(), {3, 2, 3, 5}, 2),
                             Array::zeros(f32(), {2, 4, 7, 5})};
  Outcome outcome = runSource(R"(
    func.func @main(%x: memref<2x9x8x3xf32>, %w: memref<3x2x3x5xf32>,
                    %y: memref<2x4x7x5xf32>) {
      linalg.conv_2d_nhwc_hwcf
          {strides = dense<[2, 1]> : tensor<2xi64>,
           dilations = dense<1> : tensor<2xi64>}
          ins(%x, %w : memref<2x9x8x3xf32>, memref<3x2x3x5xf32>)
          outs(%y : memref<2x4x7x5xf32>)
      return
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t h = 0; h < 4; ++h)
      for (int64_t w = 0; w < 7; ++w)
        for (int64_t f = 0; f < 5; ++f) {
          double sum = 0;
          for (int64_t i = 0; i < 3; ++i)
            for (int64_t j = 0; j < 2; ++j)
              for (int64_t c = 0; c < 3; ++c)
                sum += args[0].getDouble(((n * 9 + h * 2 + i) * 8 + w + j) * 3 +
                                         c) *
                       args[1].getDouble(((i * 2 + j) * 3 + c) * 5 + f);
          EXPECT_EQ(args[2].getDouble(((n * 4 + h) * 7 + w) * 5 + f), sum);
        }
}

TEST_F(InterpreterTest, ScalarsLoopsAndCalls) {
  SmallVector<Array> args = {Array::scalar(index(), int64_t(10)),
                             Array::scalar(f32(), 0.5)};
  Outcome outcome = runSource(R"(
    func.func private @square(%x: f32) -> f32 {
      %y = arith.mulf %x, %x : f32
      return %y : f32
    }
    func.func @main(%n: index, %x: f32) -> (f32, index, tensor<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %two = arith.constant 2.0 : f32
      %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %two)
          -> (f32, f32) {
        %y = func.call @square(%t) : (f32) -> f32
        %odd = arith.remui %i, %c1 : index
        scf.yield %t, %s : f32, f32
      }
      %w:2 = scf.while (%i = %n, %k = %c0) : (index, index) -> (index, index) {
        %go = arith.cmpi sgt, %i, %c1 : index
        scf.condition(%go) %i, %k : index, index
      } do {
      ^bb0(%i: index, %k: index):
        %c2 = arith.constant 2 : index
        %h = arith.divui %i, %c2 : index
        %l = arith.addi %k, %c1 : index
        scf.yield %h, %l : index, index
      }
      %e = tensor.empty() : tensor<4xf32>
      %c4 = arith.constant 4 : index
      %f = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %e) -> (tensor<4xf32>) {
        %j = arith.index_cast %i : index to i32
        %v = arith.sitofp %j : i32 to f32
        %q = func.call @square(%v) : (f32) -> f32
        %big = arith.cmpf ogt, %q, %two : f32
        %z = scf.if %big -> f32 {
          scf.yield %q : f32
        } else {
          %neg = arith.negf %q : f32
          scf.yield %neg : f32
        }
        %b = tensor.insert %z into %a[%i] : tensor<4xf32>
        scf.yield %b : tensor<4xf32>
      }
      return %sum#0, %w#1, %f : f32, index, tensor<4xf32>
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  // The two values have been swapped ten times.
  EXPECT_EQ(outcome.results[0].getDouble(0), 0.5);
  EXPECT_EQ(outcome.results[1].getDouble(0), 3);
  const Array &squares = outcome.results[2];
  EXPECT_EQ(squares.getDouble(1), -1);
  EXPECT_EQ(squares.getDouble(2), 4);
  EXPECT_EQ(squares.getDouble(3), 9);
}

TEST_F(InterpreterTest, Assertions) {
  StringRef source = R"(
    func.func @main(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
      %c4 = arith.constant 4 : index
      %equal = arith.cmpi eq, %n, %c4 : index
      cf.assert %equal, "n is not 4"
      return %x : tensor<4xf32>
    })";
  Array x = integers(f32(), {4}, 1);
  SmallVector<Array> args = {x, integers(index(), {}, 1, 4, 4)};
  EXPECT_TRUE(runSource(source, args).succeeded()) << diagnostics;
  args = {x, integers(index(), {}, 1, 3, 3)};
  EXPECT_FALSE(runSource(source, args).succeeded());
  EXPECT_NE(diagnostics.find("an assertion fails: n is not 4"),
            std::string::npos)
      << diagnostics;
}

TEST_F(InterpreterTest, SlicesAndShapes) {
  SmallVector<Array> args = {integers(f32(), {6, 8}, 1),
                             integers(f32(), {6, 8}, 2)};
  Outcome outcome = runSource(R"(
    memref.global "private" constant @table : memref<3xf32> = dense<[1.0, 2.0, 3.0]>
    func.func @main(%t: tensor<6x8xf32>, %m: memref<6x8xf32>)
        -> (tensor<2x2x8xf32>, tensor<8x9xf32>, f32) {
      %c1 = arith.constant 1 : index
      %s = tensor.extract_slice %t[1, 2] [4, 4] [1, 1]
          : tensor<6x8xf32> to tensor<4x4xf32>
      %i = tensor.insert_slice %s into %t[2, 4] [4, 4] [1, 1]
          : tensor<4x4xf32> into tensor<6x8xf32>
      %u = tensor.extract_slice %i[0, 0] [4, 8] [1, 1]
          : tensor<6x8xf32> to tensor<4x8xf32>
      %e = tensor.expand_shape %u [[0, 1], [2]] output_shape [2, 2, 8]
          : tensor<4x8xf32> into tensor<2x2x8xf32>
      %pad = arith.constant 7.0 : f32
      %p = tensor.pad %t low[2, 0] high[0, 1] {
      ^bb0(%x: index, %y: index):
        tensor.yield %pad : f32
      } : tensor<6x8xf32> to tensor<8x9xf32>
      %v = memref.subview %m[1, 1] [2, 3] [2, 2]
          : memref<6x8xf32> to memref<2x3xf32, strided<[16, 2], offset: 9>>
      %tr = memref.transpose %v (i, j) -> (j, i)
          : memref<2x3xf32, strided<[16, 2], offset: 9>> to memref<3x2xf32, strided<[2, 16], offset: 9>>
      %c2 = arith.constant 2 : index
      %l = memref.load %tr[%c2, %c1] : memref<3x2xf32, strided<[2, 16], offset: 9>>
      %g = memref.get_global @table : memref<3xf32>
      %k = memref.load %g[%c2] : memref<3xf32>
      memref.store %k, %m[%c1, %c2] : memref<6x8xf32>
      return %e, %p, %l : tensor<2x2x8xf32>, tensor<8x9xf32>, f32
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  auto t = [&](int64_t r, int64_t c) { return args[0].getDouble(r * 8 + c); };
  // Row 2 has the slice's first row from column 4.
  EXPECT_EQ(outcome.results[0].getDouble(2 * 8 + 5), t(1, 3));
  EXPECT_EQ(outcome.results[0].getDouble(2 * 8 + 3), t(2, 3));
  EXPECT_EQ(outcome.results[1].getDouble(0), 7);
  EXPECT_EQ(outcome.results[1].getDouble(2 * 9), t(0, 0));
  EXPECT_EQ(outcome.results[1].getDouble(3 * 9 + 8), 7);
  EXPECT_EQ(outcome.results[2].getDouble(0), args[1].getDouble(3 * 8 + 5));
  EXPECT_EQ(args[1].getDouble(8 + 2), 3);
}

TEST_F(InterpreterTest, AffineParallelAndVectors) {
  SmallVector<Array> args = {integers(f32(), {8, 8}, 1),
                             Array::zeros(f32(), {8, 8})};
  Outcome outcome = runSource(R"(
    func.func @main(%in: memref<8x8xf32>, %out: memref<8x8xf32>) -> (f32, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c6 = arith.constant 6 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      affine.for %i = 0 to 8 {
        affine.for %j = 0 to min affine_map<(d0) -> (d0 + 1, 6)>(%i) {
          %x = affine.load %in[%j, 7 - %i] : memref<8x8xf32>
          affine.if affine_set<(d0, d1) : (d0 - d1 - 2 >= 0)>(%i, %j) {
            affine.store %x, %out[%i, %j] : memref<8x8xf32>
          }
        }
      }
      %sum = scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c4)
          init (%zero) -> f32 {
        %x = memref.load %in[%i, %j] : memref<8x8xf32>
        scf.reduce(%x : f32) {
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          scf.reduce.return %s : f32
        }
      }
      // Two rows of four stick out by two.
      %v = vector.transfer_read %in[%c6, %c6], %zero : memref<8x8xf32>, vector<2x4xf32>
      %w = arith.addf %v, %v : vector<2x4xf32>
      vector.transfer_write %w, %out[%c0, %c4] : vector<2x4xf32>, memref<8x8xf32>
      %y = affine.max affine_map<(d0) -> (d0 floordiv 4, 3 mod 2)>(%c6)
      return %sum, %y : f32, index
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  auto in = [&](int64_t r, int64_t c) { return args[0].getDouble(r * 8 + c); };
  double sum = 0;
  for (int64_t i = 0; i < 8; ++i) {
    sum += in(i, 0) + in(i, 4);
    for (int64_t j = 0; j < 8; ++j) {
      double expected =
          i >= j + 2 && j < std::min<int64_t>(i + 1, 6) ? in(j, 7 - i) : 0;
      if (i < 2 && j >= 4)
        expected = j < 6 ? 2 * in(6 + i, j + 2) : 0;
      EXPECT_EQ(args[1].getDouble(i * 8 + j), expected) << i << ", " << j;
    }
  }
  EXPECT_EQ(outcome.results[0].getDouble(0), sum);
  EXPECT_EQ(outcome.results[1].getDouble(0), 1);
}

TEST_F(InterpreterTest, Tosa) {
  SmallVector<Array> args = {integers(f32(), {1, 6, 5}, 1),
                             integers(f32(), {1, 5, 4}, 2),
                             integers(f32(), {1, 1, 4}, 3)};
  Outcome outcome = runSource(R"(
    func.func @main(%a: tensor<1x6x5xf32>, %b: tensor<1x5x4xf32>, %bias: tensor<1x1x4xf32>)
        -> tensor<1x6x4xf32> {
      %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
      %0 = tosa.matmul %a, %b, %zero, %zero
          : (tensor<1x6x5xf32>, tensor<1x5x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x4xf32>
      %1 = tosa.add %0, %bias : (tensor<1x6x4xf32>, tensor<1x1x4xf32>) -> tensor<1x6x4xf32>
      %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 9.0 : f32}
          : (tensor<1x6x4xf32>) -> tensor<1x6x4xf32>
      return %2 : tensor<1x6x4xf32>
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 4; ++j)
      EXPECT_EQ(outcome.results[0].getDouble(i * 4 + j),
                std::clamp(dot(args[0], i * 5, 1, args[1], j, 4, 5) +
                               args[2].getDouble(j),
                           0.0, 9.0));
  // The source is as it was.
  EXPECT_TRUE(StringRef(moduleText()).contains("tosa.matmul"));
}

TEST_F(InterpreterTest, ReducedPrecision) {
  const char *source = R"(
    func.func @main(%a: memref<1x64xf32>, %b: memref<64x16xf32>, %c: memref<1x16xf32>) {
      linalg.matmul ins(%a, %b : memref<1x64xf32>, memref<64x16xf32>)
                    outs(%c : memref<1x16xf32>)
      return
    })";
  SmallVector<Array> args = {fractions(f32(), {1, 64}, 1),
                             fractions(f32(), {64, 16}, 2),
                             Array::zeros(f32(), {1, 16})};
  SmallVector<Array> others = {args[0], args[1], args[2].clone()};
  Options options;
  options.flags.allowTf32 = true;
  ASSERT_TRUE(runSource(source, args).succeeded());
  ASSERT_TRUE(runSource(source, others, options).succeeded());
  // The values are the same, the bounds are not.
  EXPECT_EQ(args[2].getDouble(3), others[2].getDouble(3));
  EXPECT_LT(args[2].getError(3), 1e-4);
  EXPECT_GT(others[2].getError(3), 1e-3);
  EXPECT_LT(others[2].getError(3), 0.1);
  // tf32 holds small integers.
  others = {integers(f32(), {1, 64}, 1), integers(f32(), {64, 16}, 2),
            Array::zeros(f32(), {1, 16})};
  ASSERT_TRUE(runSource(source, others, options).succeeded());
  EXPECT_EQ(others[2].getError(3), 0);
}

TEST_F(InterpreterTest, OpenDecisions) {
  // 0.1 + 0.2 may or may not equal 0.3: a value selected by the comparison may
  // be either.
  SmallVector<Array> args = {Array::scalar(f32(), 0.1),
                             Array::scalar(f32(), 0.2),
                             Array::scalar(f32(), 0.1 + 0.2)};
  Outcome outcome = runSource(R"(
    func.func @main(%x: f32, %y: f32, %z: f32) -> f32 {
      %five = arith.constant 5.0 : f32
      %seven = arith.constant 7.0 : f32
      %s = arith.addf %x, %y : f32
      %c = arith.cmpf olt, %s, %z : f32
      %r = arith.select %c, %five, %seven : f32
      return %r : f32
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  EXPECT_EQ(outcome.results[0].getError(0), 2);
}

TEST_F(InterpreterTest, MathAndErrors) {
  SmallVector<Array> args = {Array::scalar(f32(), 0.7)};
  Outcome outcome = runSource(R"(
    func.func @main(%x: f32) -> (f32, f32, f32, i32, f16) {
      %e = math.exp %x : f32
      %s = arith.mulf %x, %x : f32
      %d = arith.subf %s, %s : f32
      %k = arith.constant 10.0 : f32
      %t = arith.mulf %e, %k : f32
      %i = arith.fptosi %t : f32 to i32
      %h = arith.truncf %x : f32 to f16
      return %e, %s, %d, %i, %h : f32, f32, f32, i32, f16
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  EXPECT_EQ(outcome.results[0].getDouble(0), std::exp(0.7));
  EXPECT_GT(outcome.results[0].getError(0), 0);
  EXPECT_LT(outcome.results[0].getError(0), 1e-5);
  // The interpreter does not round the result, but a program's result is
  // rounded.
  EXPECT_EQ(outcome.results[1].getDouble(0), 0.7 * 0.7);
  EXPECT_GE(outcome.results[1].getError(0),
            std::fabs(0.7 * 0.7 - static_cast<float>(0.7 * 0.7)));
  EXPECT_GT(outcome.results[2].getError(0), 0);
  EXPECT_EQ(outcome.results[3].integers()[0], 20);
  EXPECT_EQ(outcome.results[3].getError(0), 0);
  // Asked for, so not an error.
  EXPECT_EQ(outcome.results[4].getError(0), 0);
  EXPECT_NE(outcome.results[4].getDouble(0), 0.7);
}

TEST_F(InterpreterTest, UninitializedMemoryIsNaN) {
  Outcome outcome = runSource(R"(
    func.func @main() -> tensor<2xf32> {
      %e = tensor.empty() : tensor<2xf32>
      return %e : tensor<2xf32>
    })",
                              {});
  ASSERT_TRUE(outcome.succeeded());
  EXPECT_TRUE(std::isnan(outcome.results[0].getDouble(1)));
}

TEST_F(InterpreterTest, UnknownOp) {
  SmallVector<Array> args = {Array::zeros(f32(), {4})};
  Outcome outcome = runSource(R"(
    func.func @main(%m: memref<4xf32>) {
      %c = complex.constant [0.1, -1.0] : complex<f64>
      return
    })",
                              args);
  EXPECT_EQ(outcome.status, Status::Failed);
  EXPECT_EQ(diagnostics, "the reference does not support 'complex.constant'\n");
}

TEST_F(InterpreterTest, OutOfBounds) {
  SmallVector<Array> args = {Array::zeros(f32(), {4}),
                             Array::scalar(index(), int64_t(4))};
  Outcome outcome = runSource(R"(
    func.func @main(%m: memref<4xf32>, %i: index) {
      %x = memref.load %m[%i] : memref<4xf32>
      return
    })",
                              args);
  EXPECT_EQ(outcome.status, Status::Failed);
  EXPECT_EQ(outcome.message,
            "index 4 is out of bounds: dimension 0 has size 4");
}

TEST_F(InterpreterTest, DivisionByZero) {
  SmallVector<Array> args = {Array::scalar(i32(), int64_t(0))};
  Outcome outcome = runSource(R"(
    func.func @main(%x: i32) -> i32 {
      %y = arith.divsi %x, %x : i32
      return %y : i32
    })",
                              args);
  EXPECT_EQ(outcome.message, "division by zero");
}

TEST_F(InterpreterTest, WrongArguments) {
  SmallVector<Array> args = {Array::zeros(f32(), {5})};
  Outcome outcome =
      runSource("func.func @main(%m: memref<4xf32>) { return }", args);
  EXPECT_EQ(outcome.status, Status::Failed);
  outcome = runSource("func.func @main() { return }", args);
  EXPECT_EQ(outcome.message, "'main' takes 0 arguments, not 1");
}

TEST_F(InterpreterTest, ShapesThatDoNotAgree) {
  SmallVector<Array> args = {integers(f32(), {4, 5}), integers(f32(), {6, 7}),
                             integers(f32(), {4, 7})};
  Outcome outcome = runSource(R"(
    func.func @main(%a: memref<?x?xf32>, %b: memref<?x?xf32>,
                    %c: memref<?x?xf32>) {
      linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>)
                    outs(%c : memref<?x?xf32>)
      return
    })",
                              args);
  EXPECT_EQ(outcome.message, "the operand shapes do not match: dimension 2 "
                             "has size 5 and size 6");
}

TEST_F(InterpreterTest, Budget) {
  SmallVector<Array> args = {Array::scalar(index(), int64_t(1) << 60)};
  Options options;
  options.maxWork = 1'000'000;
  Outcome outcome = runSource(R"(
    func.func @main(%n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
      }
      return
    })",
                              args, options);
  EXPECT_EQ(outcome.status, Status::TooLarge);
  EXPECT_TRUE(diagnostics.empty());
}

TEST_F(InterpreterTest, LargeMatmulTakesSeconds) {
  SmallVector<Array> args = {fractions(f16(), {1024, 1024}, 1),
                             fractions(f16(), {1024, 1024}, 2),
                             Array::zeros(f32(), {1024, 1024})};
  auto start = std::chrono::steady_clock::now();
  Outcome outcome = runSource(R"(
    func.func @main(%a: memref<1024x1024xf16>, %b: memref<1024x1024xf16>,
                    %c: memref<1024x1024xf32>) {
      linalg.matmul ins(%a, %b : memref<1024x1024xf16>, memref<1024x1024xf16>)
                    outs(%c : memref<1024x1024xf32>)
      return
    })",
                              args);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(outcome.succeeded());
  RecordProperty("milliseconds", static_cast<int>(time.count() * 1000));
  EXPECT_NEAR(args[2].getDouble(1024 * 1023 + 5),
              dot(args[0], 1024 * 1023, 1, args[1], 5, 1024, 1024), 1e-10);
}

} // namespace
