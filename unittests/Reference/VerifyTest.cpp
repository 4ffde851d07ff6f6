//===- VerifyTest.cpp - Verification of results ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Verify.h"
#include "ReferenceTest.h"

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

class VerifyTest : public ReferenceTest {
protected:
  /// Runs the program for its outputs, lets `damage` change them, and verifies
  /// them by samples.
  Verification check(
      StringRef source, ArrayRef<Array> arguments,
      function_ref<void(SmallVectorImpl<ComputedOutput> &)> damage =
          [](SmallVectorImpl<ComputedOutput> &) {}) {
    SmallVector<Array> copies;
    for (const Array &array : arguments)
      copies.push_back(array.clone());
    Outcome outcome = runSource(source, copies);
    EXPECT_TRUE(outcome.succeeded()) << diagnostics;
    func::FuncOp entry = module->lookupSymbol<func::FuncOp>("main");
    SmallVector<ComputedOutput> outputs;
    for (auto [i, array] : llvm::enumerate(outcome.results))
      outputs.push_back({true, static_cast<unsigned>(i), array.clone()});
    if (outcome.results.empty())
      outputs.push_back(
          {false, static_cast<unsigned>(copies.size() - 1), copies.back()});
    // As a device would have them.
    for (ComputedOutput &output : outputs)
      output.array = *Array::decode(output.array.elementType,
                                    output.array.shape, *output.array.encode());
    damage(outputs);
    VerifyOptions options;
    options.forceSampling = true;
    options.rows = rows;
    options.columns = columns;
    options.projections = projections;
    return verify(entry, arguments, outputs, options);
  }
  int64_t rows = 4, columns = 4, projections = 0;
};

const char *chain = R"(
  func.func @main(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>,
                  %bias: tensor<?xf32>) -> tensor<?x?xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %m = tensor.dim %a, %c0 : tensor<?x?xf16>
    %k = tensor.dim %b, %c1 : tensor<?x?xf16>
    %n = tensor.dim %c, %c1 : tensor<?x?xf16>
    %e = tensor.empty(%m, %k) : tensor<?x?xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    %p = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
                       outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
    %h = arith.truncf %p : tensor<?x?xf32> to tensor<?x?xf16>
    %f = tensor.empty(%m, %n) : tensor<?x?xf32>
    %j = linalg.fill ins(%zero : f32) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
    %q = linalg.matmul ins(%h, %c : tensor<?x?xf16>, tensor<?x?xf16>)
                       outs(%j : tensor<?x?xf32>) -> tensor<?x?xf32>
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>,
                         affine_map<(m, n) -> (m, n)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%q, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %row = linalg.index 0 : index
      %w = arith.index_cast %row : index to i32
      %z = arith.sitofp %w : i32 to f32
      %s = arith.addf %x, %y : f32
      %t = arith.maximumf %s, %z : f32
      linalg.yield %t : f32
    } -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  })";

TEST_F(VerifyTest, Everything) {
  SmallVector<Array> args = {
      integers(f16(), {20, 30}, 1), integers(f16(), {30, 25}, 2),
      integers(f16(), {25, 18}, 3), integers(f32(), {18}, 4)};
  Outcome outcome = runSource(chain, args);
  SmallVector<ComputedOutput> outputs = {{true, 0, outcome.results[0].clone()}};
  func::FuncOp entry = module->lookupSymbol<func::FuncOp>("main");
  Verification verification = verify(entry, args, outputs);
  EXPECT_EQ(verification.status, Status::Done);
  EXPECT_TRUE(verification.ok && verification.isComplete);
  EXPECT_EQ(verification.checked, "every element");
  outputs[0].array.floats()[100] += 1;
  verification = verify(entry, args, outputs);
  EXPECT_FALSE(verification.ok);
  EXPECT_EQ(verification.comparisons[0].worstIndex, 100);
}

TEST_F(VerifyTest, RowsAndColumnsOfAChain) {
  SmallVector<Array> args = {
      integers(f16(), {40, 30}, 1), integers(f16(), {30, 25}, 2),
      integers(f16(), {25, 35}, 3), integers(f32(), {35}, 4)};
  projections = 2;
  Verification verification = check(chain, args);
  EXPECT_EQ(verification.status, Status::Done) << verification.message;
  EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
  EXPECT_FALSE(verification.isComplete);
  EXPECT_EQ(verification.checked, "4 rows and 4 columns in full");
  EXPECT_EQ(verification.comparisons[0].count, 4 * 35 + 4 * 40);

  // The last row and column are always among them.
  verification = check(chain, args, [](SmallVectorImpl<ComputedOutput> &out) {
    out[0].array.floats()[39 * 35 + 17] += 0.5;
  });
  EXPECT_FALSE(verification.ok);
  EXPECT_EQ(verification.comparisons[0].worstPosition,
            (SmallVector<int64_t>{39, 17}));
}

TEST_F(VerifyTest, Projections) {
  const char *source = R"(
    func.func @main(%a: memref<70x50xf16>, %b: memref<60x50xf16>,
                    %c: memref<70x60xf32>) {
      linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                         affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<70x50xf16>, memref<60x50xf16>) outs(%c : memref<70x60xf32>) {
      ^bb0(%x: f16, %y: f16, %z: f32):
        %u = arith.extf %x : f16 to f32
        %v = arith.extf %y : f16 to f32
        %p = arith.mulf %u, %v : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
      }
      return
    })";
  for (bool exact : {true, false}) {
    SmallVector<Array> args = {
        exact ? integers(f16(), {70, 50}, 1) : fractions(f16(), {70, 50}, 1),
        exact ? integers(f16(), {60, 50}, 2) : fractions(f16(), {60, 50}, 2),
        integers(f32(), {70, 60}, 3)};
    rows = columns = 1;
    projections = 4;
    Verification verification = check(source, args);
    EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
    EXPECT_EQ(verification.checked,
              "1 row and 1 column in full, 4 random projections");
    // Far from the rows and columns that are compared.
    verification =
        check(source, args, [](SmallVectorImpl<ComputedOutput> &out) {
          out[0].array.floats()[13 * 60 + 31] += 0.01;
        });
    EXPECT_FALSE(verification.ok);
    EXPECT_EQ(verification.comparisons[0].tolerance,
              "a random projection of row 13 differs");
  }
}

TEST_F(VerifyTest, IntegerProjections) {
  const char *source = R"(
    func.func @main(%a: tensor<3x33x40xi8>, %b: tensor<3x40x21xi8>)
        -> tensor<3x33x21xi32> {
      %zero = arith.constant 0 : i32
      %e = tensor.empty() : tensor<3x33x21xi32>
      %i = linalg.fill ins(%zero : i32) outs(%e : tensor<3x33x21xi32>) -> tensor<3x33x21xi32>
      %p = linalg.batch_matmul ins(%a, %b : tensor<3x33x40xi8>, tensor<3x40x21xi8>)
                               outs(%i : tensor<3x33x21xi32>) -> tensor<3x33x21xi32>
      return %p : tensor<3x33x21xi32>
    })";
  SmallVector<Array> args = {integers(i8(), {3, 33, 40}, 1, -128, 127),
                             integers(i8(), {3, 40, 21}, 2, -128, 127)};
  rows = columns = 2;
  projections = 1;
  Verification verification = check(source, args);
  EXPECT_TRUE(verification.ok);
  EXPECT_EQ(verification.checked, "2 rows and 2 columns in full of 2 of 3 "
                                  "matrices, 1 random projection");
  verification = check(source, args, [](SmallVectorImpl<ComputedOutput> &out) {
    out[0].array.integers()[33 * 21 + 5 * 21 + 5] += 1;
  });
  EXPECT_FALSE(verification.ok);
}

TEST_F(VerifyTest, MemRefsWrittenTwice) {
  // The copy has the contents before the relu.
  const char *source = R"(
    func.func @main(%a: memref<16x16xf32>, %c: memref<16x16xf32>) {
      %zero = arith.constant 0.0 : f32
      %t = memref.alloc() : memref<16x16xf32>
      linalg.fill ins(%zero : f32) outs(%t : memref<16x16xf32>)
      linalg.matmul ins(%a, %a : memref<16x16xf32>, memref<16x16xf32>)
                    outs(%t : memref<16x16xf32>)
      memref.copy %t, %c : memref<16x16xf32> to memref<16x16xf32>
      linalg.fill ins(%zero : f32) outs(%t : memref<16x16xf32>)
      linalg.add ins(%c, %t : memref<16x16xf32>, memref<16x16xf32>)
                 outs(%c : memref<16x16xf32>)
      memref.dealloc %t : memref<16x16xf32>
      return
    })";
  SmallVector<Array> args = {integers(f32(), {16, 16}, 1),
                             Array::zeros(f32(), {16, 16})};
  Verification verification = check(source, args);
  EXPECT_TRUE(verification.ok) << verification.message;
  EXPECT_EQ(verification.checked, "4 rows and 4 columns in full");
}

TEST_F(VerifyTest, ConvolutionAndContract) {
  SmallVector<Array> args = {integers(f32(), {1, 9, 8, 3}, 1),
                             integers(f32(), {3, 2, 3, 5}, 2),
                             integers(f32(), {5, 6}, 3)};
  const char *source = R"(
    func.func @main(%x: tensor<1x9x8x3xf32>, %w: tensor<3x2x3x5xf32>, %b: tensor<5x6xf32>)
        -> (tensor<1x7x7x5xf32>, tensor<5x5xf32>) {
      %zero = arith.constant 0.0 : f32
      %c = arith.constant dense<1.0> : tensor<1x7x7x5xf32>
      %y = linalg.conv_2d_nhwc_hwcf
          {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
          ins(%x, %w : tensor<1x9x8x3xf32>, tensor<3x2x3x5xf32>)
          outs(%c : tensor<1x7x7x5xf32>) -> tensor<1x7x7x5xf32>
      %e = tensor.empty() : tensor<5x5xf32>
      %r = tessera.contract ins(%b, %b : tensor<5x6xf32>, tensor<5x6xf32>)
          init(%zero : f32) outs(%e : tensor<5x5xf32>)
          maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                affine_map<(m, n, k) -> (m, n)>] accumulate f32 {
      ^bb0(%acc: f32):
        tessera.yield %acc : f32
      } -> tensor<5x5xf32>
      return %y, %r : tensor<1x7x7x5xf32>, tensor<5x5xf32>
    })";
  rows = columns = 2;
  projections = 1;
  Verification verification = check(source, args);
  EXPECT_EQ(verification.status, Status::Done) << verification.message;
  EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
  EXPECT_EQ(verification.checked,
            "output 0: 2 rows and 2 columns in full of 2 of 7 matrices, 1 "
            "random projection; output 1: 2 rows and 2 columns in full, 1 "
            "random projection");
}

TEST_F(VerifyTest, ShapesAndSlices) {
  const char *source = R"(
    func.func @main(%a: tensor<64x96xf32>, %b: tensor<96x40xf32>) -> tensor<8x9x22xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<64x20xf32>
      %i = linalg.fill ins(%z : f32) outs(%e : tensor<64x20xf32>) -> tensor<64x20xf32>
      %s = tensor.extract_slice %b[0, 1][96, 20][1, 2] : tensor<96x40xf32> to tensor<96x20xf32>
      %a4 = tensor.expand_shape %a [[0, 1], [2]] output_shape [4, 16, 96]
          : tensor<64x96xf32> into tensor<4x16x96xf32>
      %a5 = tensor.collapse_shape %a4 [[0, 1], [2]] : tensor<4x16x96xf32> into tensor<64x96xf32>
      %r = linalg.matmul ins(%a5, %s : tensor<64x96xf32>, tensor<96x20xf32>)
                         outs(%i : tensor<64x20xf32>) -> tensor<64x20xf32>
      %x = tensor.expand_shape %r [[0, 1], [2]] output_shape [8, 8, 20]
          : tensor<64x20xf32> into tensor<8x8x20xf32>
      %p = tensor.pad %x low[0, 1, 1] high[0, 0, 1] {
      ^bb0(%0: index, %1: index, %2: index):
        tensor.yield %z : f32
      } : tensor<8x8x20xf32> to tensor<8x9x22xf32>
      return %p : tensor<8x9x22xf32>
    })";
  SmallVector<Array> args = {integers(f32(), {64, 96}, 1),
                             integers(f32(), {96, 40}, 2)};
  Verification verification = check(source, args);
  EXPECT_TRUE(verification.ok) << verification.message;
  EXPECT_EQ(verification.checked,
            "4 rows and 4 columns in full of 2 of 8 matrices");
}

TEST_F(VerifyTest, Workgroups) {
  const char *source = R"(
    func.func @main(%in: memref<1000xf32>, %out: memref<1000xf32>) {
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %c10 = arith.constant 10 : index
      %c100 = arith.constant 100 : index
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c100, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c10, %sy = %c1, %sz = %c1) {
        %i = gpu.global_id x
        %x = memref.load %in[%i] : memref<1000xf32>
        %y = arith.addf %x, %x : f32
        memref.store %y, %out[%i] : memref<1000xf32>
        gpu.terminator
      }
      return
    })";
  SmallVector<Array> args = {integers(f32(), {1000}, 1),
                             Array::zeros(f32(), {1000})};
  Verification verification = check(source, args);
  EXPECT_TRUE(verification.ok) << verification.message;
  EXPECT_EQ(verification.comparisons[0].count, 640);
  EXPECT_EQ(verification.checked,
            "640 elements, which 64 of 100 workgroups computed");
  verification = check(source, args, [](SmallVectorImpl<ComputedOutput> &out) {
    out[0].array.floats()[999] = 77;
  });
  EXPECT_FALSE(verification.ok);
}

TEST_F(VerifyTest, TooLarge) {
  const char *source = R"(
    func.func @main(%n: index, %m: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
      }
      return
    })";
  SmallVector<Array> args = {Array::scalar(index(), int64_t(1) << 60),
                             Array::zeros(f32(), {4})};
  func::FuncOp entry = parse(source);
  VerifyOptions options;
  options.evaluation.maxWork = 1000;
  SmallVector<ComputedOutput> outputs = {{false, 1, args[1]}};
  Verification verification = verify(entry, args, outputs, options);
  EXPECT_EQ(verification.status, Status::TooLarge);
  EXPECT_FALSE(verification.ok);
  EXPECT_EQ(
      verification.message,
      "too large to verify in full (it requires at least about 1.0e+03 "
      "operations), and no part of it can be verified by itself: 'scf.for' "
      "cannot be evaluated in slices, and it is not a single kernel");
}

TEST_F(VerifyTest, LargeMatmulIsSampled) {
  constexpr int64_t size = 2048;
  const char *source = R"(
    func.func @main(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>) {
      linalg.matmul ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>)
                    outs(%c : memref<?x?xf32>)
      return
    })";
  func::FuncOp entry = parse(source);
  // A matmul with a known result: with a diagonal matrix.
  SmallVector<Array> args = {Array::zeros(f16(), {size, size}),
                             integers(f16(), {size, size}, 2),
                             Array::zeros(f32(), {size, size})};
  Array got = Array::zeros(f32(), {size, size});
  for (int64_t i = 0; i < size; ++i) {
    args[0].floats()[i * size + i] = static_cast<double>(i % 5);
    for (int64_t j = 0; j < size; ++j)
      got.floats()[i * size + j] =
          static_cast<double>(i % 5) * args[1].getDouble(i * size + j);
  }
  SmallVector<ComputedOutput> outputs = {{false, 2, got}};
  Verification verification = verify(entry, args, outputs);
  EXPECT_TRUE(verification.ok) << verification.comparisons[0].describe();
  EXPECT_EQ(verification.checked,
            "16 rows and 16 columns in full, 4 random projections");
  got.floats()[1234567] += 1;
  verification = verify(entry, args, outputs);
  EXPECT_FALSE(verification.ok);
}

} // namespace
