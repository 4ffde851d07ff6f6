//===- TensorTest.cpp - Operations that move elements ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTest.h"

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

using TensorTest = ReferenceTest;

TEST_F(TensorTest, Concat) {
  const char *source = R"(
    func.func @main(%a: tensor<2x?x3xf32>, %b: tensor<2x4x3xf32>) -> tensor<2x?x3xf32> {
      %r = tensor.concat dim(1) %a, %b, %a
          : (tensor<2x?x3xf32>, tensor<2x4x3xf32>, tensor<2x?x3xf32>) -> tensor<2x?x3xf32>
      return %r : tensor<2x?x3xf32>
    })";
  SmallVector<Array> args = {integers(f32(), {2, 1, 3}, 1),
                             integers(f32(), {2, 4, 3}, 2)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  const Array &result = outcome.results[0];
  EXPECT_EQ(result.shape, (SmallVector<int64_t>{2, 6, 3}));
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 6; ++j)
      for (int64_t k = 0; k < 3; ++k)
        EXPECT_EQ(result.getDouble((i * 6 + j) * 3 + k),
                  j == 0 || j == 5
                      ? args[0].getDouble(i * 3 + k)
                      : args[1].getDouble((i * 4 + j - 1) * 3 + k));
  // An empty part.
  args[0] = Array::zeros(f32(), {2, 0, 3});
  outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  EXPECT_EQ(outcome.results[0].shape, (SmallVector<int64_t>{2, 4, 3}));
  EXPECT_EQ(outcome.results[0].getDouble(23), args[1].getDouble(23));
}

TEST_F(TensorTest, PaddingOfEitherSign) {
  const char *source = R"(
    func.func @main(%x: tensor<4x5xf32>, %n: index) -> (tensor<?x6xf32>, tensor<6x5xf32>) {
      %a = tensor.pad %x low[%n, 2] high[1, -1] {
      ^bb0(%i: index, %j: index):
        %v = arith.constant 7.0 : f32
        tensor.yield %v : f32
      } : tensor<4x5xf32> to tensor<?x6xf32>
      %b = tensor.pad %x low[1, 0] high[1, 0] {
      ^bb0(%i: index, %j: index):
        %w = arith.index_cast %j : index to i32
        %v = arith.sitofp %w : i32 to f32
        tensor.yield %v : f32
      } : tensor<4x5xf32> to tensor<6x5xf32>
      return %a, %b : tensor<?x6xf32>, tensor<6x5xf32>
    })";
  for (int64_t low : {2, -1}) {
    SmallVector<Array> args = {integers(f32(), {4, 5}, 1),
                               Array::scalar(index(), low)};
    Outcome outcome = runSource(source, args);
    ASSERT_TRUE(outcome.succeeded()) << diagnostics;
    const Array &a = outcome.results[0];
    ASSERT_EQ(a.shape, (SmallVector<int64_t>{low + 5, 6}));
    for (int64_t i = 0; i < low + 5; ++i)
      for (int64_t j = 0; j < 6; ++j) {
        bool isInside = i - low >= 0 && i - low < 4 && j >= 2;
        EXPECT_EQ(a.getDouble(i * 6 + j),
                  isInside ? args[0].getDouble((i - low) * 5 + j - 2) : 7);
      }
    for (int64_t j = 0; j < 5; ++j) {
      EXPECT_EQ(outcome.results[1].getDouble(j), j);
      EXPECT_EQ(outcome.results[1].getDouble(5 + j), args[0].getDouble(j));
    }
  }
}

TEST_F(TensorTest, PackAndUnpack) {
  const char *source = R"(
    func.func @main(%x: tensor<5x6xi32>) -> (tensor<3x2x2x4xi32>, tensor<5x6xi32>) {
      %p = arith.constant -9 : i32
      %e = tensor.empty() : tensor<3x2x2x4xi32>
      %a = linalg.pack %x padding_value(%p : i32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0]
          inner_tiles = [2, 4] into %e : tensor<5x6xi32> -> tensor<3x2x2x4xi32>
      %f = tensor.empty() : tensor<5x6xi32>
      %b = linalg.unpack %a outer_dims_perm = [1, 0] inner_dims_pos = [1, 0]
          inner_tiles = [2, 4] into %f : tensor<3x2x2x4xi32> -> tensor<5x6xi32>
      return %a, %b : tensor<3x2x2x4xi32>, tensor<5x6xi32>
    })";
  SmallVector<Array> args = {integers(i32(), {5, 6}, 1)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t o = 0; o < 3; ++o)
    for (int64_t p = 0; p < 2; ++p)
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 4; ++j) {
          int64_t row = p * 4 + j, column = o * 2 + i;
          EXPECT_EQ(outcome.results[0].getDouble(((o * 2 + p) * 2 + i) * 4 + j),
                    row < 5 ? args[0].getDouble(row * 6 + column) : -9);
        }
  for (int64_t i = 0; i < 30; ++i)
    EXPECT_EQ(outcome.results[1].getDouble(i), args[0].getDouble(i));
}

TEST_F(TensorTest, ArgMax) {
  const char *source = R"(
    func.func @main(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xi32>) {
      %c0 = arith.constant 0 : index
      %low = arith.constant 0xFF800000 : f32
      %none = arith.constant -1 : i32
      %n = tensor.dim %x, %c0 : tensor<?x?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %f = tensor.empty(%n) : tensor<?xi32>
      %i = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %j = linalg.fill ins(%none : i32) outs(%f : tensor<?xi32>) -> tensor<?xi32>
      %r:2 = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x?xf32>) outs(%i, %j : tensor<?xf32>, tensor<?xi32>) {
      ^bb0(%a: f32, %best: f32, %at: i32):
        %k = linalg.index 1 : index
        %here = arith.index_cast %k : index to i32
        %more = arith.cmpf ogt, %a, %best : f32
        %value = arith.select %more, %a, %best : f32
        %element = arith.select %more, %here, %at : i32
        linalg.yield %value, %element : f32, i32
      } -> (tensor<?xf32>, tensor<?xi32>)
      return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
    })";
  SmallVector<Array> args = {integers(f32(), {5, 40}, 1, -99, 99)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 5; ++i) {
    int64_t best = 0;
    for (int64_t j = 1; j < 40; ++j)
      if (args[0].getDouble(i * 40 + j) > args[0].getDouble(i * 40 + best))
        best = j;
    EXPECT_EQ(outcome.results[0].getDouble(i),
              args[0].getDouble(i * 40 + best));
    EXPECT_EQ(outcome.results[1].getDouble(i), static_cast<double>(best));
  }
  // Nothing to choose from.
  args[0] = Array::zeros(f32(), {2, 0});
  outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  EXPECT_EQ(outcome.results[1].getDouble(1), -1);
}

/// A gather: rows by a table of indices.
TEST_F(TensorTest, GatherOfRows) {
  const char *source = R"(
    func.func @main(%x: tensor<?x4xf32>, %at: tensor<6xi32>) -> tensor<6x4xf32> {
      %e = tensor.empty() : tensor<6x4xf32>
      %r = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%at : tensor<6xi32>) outs(%e : tensor<6x4xf32>) {
      ^bb0(%a: i32, %o: f32):
        %i = arith.index_cast %a : i32 to index
        %j = linalg.index 1 : index
        %v = tensor.extract %x[%i, %j] : tensor<?x4xf32>
        linalg.yield %v : f32
      } -> tensor<6x4xf32>
      return %r : tensor<6x4xf32>
    })";
  SmallVector<Array> args = {integers(f32(), {9, 4}, 1),
                             integers(i32(), {6}, 2, 0, 8)};
  Outcome outcome = runSource(source, args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 6; ++i)
    for (int64_t j = 0; j < 4; ++j)
      EXPECT_EQ(outcome.results[0].getDouble(i * 4 + j),
                args[0].getDouble(
                    static_cast<int64_t>(args[1].getDouble(i)) * 4 + j));
  args[1].integers()[3] = 9;
  outcome = runSource(source, args);
  EXPECT_EQ(outcome.status, Status::Failed);
}

} // namespace
