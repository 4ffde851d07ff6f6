//===- GpuTest.cpp - Kernels ----------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReferenceTest.h"

using namespace mlir;
using namespace mlir::tessera::reference;

namespace {

class GpuTest : public ReferenceTest {
protected:
  /// Runs a @main with `parameters` that launches one workgroup of `threads`
  /// threads. `body` is the kernel: %tx is the thread's index, and %c0 and %c1
  /// are constants. `attributions` is the workgroup(...) clause or empty.
  Outcome runWorkgroup(StringRef parameters, int64_t threads, StringRef body,
                       MutableArrayRef<Array> args,
                       StringRef attributions = "") {
    return runSource(("func.func @main(" + parameters + R"() {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %threads = arith.constant )" +
                      Twine(threads) + R"( : index
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
                 )" + attributions +
                      " {" + body + R"(
        gpu.terminator
      }
      return
    })")
                         .str(),
                     args);
  }

  /// Row i of `a`, which has `length` unsigned columns, times column j of `b`,
  /// which has 16 signed columns.
  static int32_t mixedSignDot(const Array &a, int64_t i, const Array &b,
                              int64_t j, int64_t length) {
    int32_t sum = 0;
    for (int64_t k = 0; k < length; ++k)
      sum += static_cast<uint8_t>(a.integers()[i * length + k]) *
             static_cast<int8_t>(b.integers()[k * 16 + j]);
    return sum;
  }

  /// Expects that the outcome is a success and that element (i, j) of the
  /// row-major `actual` is expected(i, j).
  void expectElements(const Outcome &outcome, const Array &actual, int64_t rows,
                      int64_t columns,
                      llvm::function_ref<double(int64_t, int64_t)> expected) {
    ASSERT_TRUE(outcome.succeeded()) << diagnostics;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        EXPECT_EQ(actual.getDouble(i * columns + j), expected(i, j));
  }
};

TEST_F(GpuTest, VThreadExample) {
  SmallVector<Array> args = {integers(f16(), {32, 16}, 1),
                             integers(f16(), {16, 16}, 2),
                             Array::zeros(f32(), {32, 16})};
  Outcome outcome = runSource(R"(
    func.func @main(%A: memref<32x16xf16>, %B: memref<16x16xf16>, %C: memref<32x16xf32>) {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %zero = arith.constant 0.0 : f32
      %b = tessera.load %B[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
      tessera.vthread (%v) in (2) {
        %row = arith.muli %v, %c16 : index
        %a = tessera.load %A[%row, %c0] : memref<32x16xf16> -> !tessera.fragment<16x16xf16, a>
        %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
        %c = tessera.mma %a, %b, %init
            : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
            -> !tessera.fragment<16x16xf32, acc>
        tessera.store %c, %C[%row, %c0] : !tessera.fragment<16x16xf32, acc>, memref<32x16xf32>
        tessera.yield
      }
      return
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 32; ++i)
    for (int64_t j = 0; j < 16; ++j) {
      EXPECT_EQ(args[2].getDouble(i * 16 + j),
                dot(args[0], i * 16, 1, args[1], j, 16, 16));
      EXPECT_EQ(args[2].getError(i * 16 + j), 0);
    }
}

TEST_F(GpuTest, VThreadResultsAndPrivates) {
  Outcome outcome = runSource(R"(
    func.func @main() -> (index, index, index, index, f32) {
      %c1 = arith.constant 1 : index
      %x = arith.constant 1.0 : f32
      %y = arith.constant 2.0 : f32
      %r:4 = tessera.vthread (%v, %w) in (2, 2) -> (index, index, index, index) {
        %c10 = arith.constant 10 : index
        %t = arith.muli %v, %c10 : index
        %s = arith.addi %t, %w : index
        tessera.yield %s : index
      }
      %q:2 = tessera.vthread (%v) in (2) private(%p = [%x, %y] : f32) -> (f32, f32) {
        %d = arith.addf %p, %p : f32
        tessera.yield %d : f32
      }
      return %r#0, %r#1, %r#2, %r#3, %q#1 : index, index, index, index, f32
    })",
                              {});
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  EXPECT_EQ(outcome.results[0].integers()[0], 0);
  EXPECT_EQ(outcome.results[1].integers()[0], 1);
  EXPECT_EQ(outcome.results[2].integers()[0], 10);
  EXPECT_EQ(outcome.results[3].integers()[0], 11);
  EXPECT_EQ(outcome.results[4].getDouble(0), 4);
}

TEST_F(GpuTest, BarrierAndWorkgroupMemory) {
  // Each of four subgroups stages a row block, and then reads the block of the
  // adjacent subgroup.
  SmallVector<Array> args = {integers(f32(), {2, 4, 8}, 1),
                             Array::zeros(f32(), {2, 4, 8})};
  Outcome outcome = runSource(R"(
    func.func @main(%in: memref<2x4x8xf32>, %out: memref<2x4x8xf32>) {
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %size = gpu.subgroup_size : index
      %threads = arith.muli %size, %c4 : index
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
                 workgroup(%w : memref<4x8xf32, #gpu.address_space<workgroup>>) {
        %c0 = arith.constant 0 : index
        %c3 = arith.constant 3 : index
        %c8 = arith.constant 8 : index
        %s = gpu.subgroup_id : index
        %n = gpu.num_subgroups : index
        scf.for %round = %c0 to %c2 step %c1 {
          scf.for %j = %c0 to %c8 step %c1 {
            %x = memref.load %in[%bx, %s, %j] : memref<2x4x8xf32>
            memref.store %x, %w[%s, %j] : memref<4x8xf32, #gpu.address_space<workgroup>>
          }
          gpu.barrier
          %next = arith.addi %s, %round : index
          %other = arith.remui %next, %n : index
          scf.for %j = %c0 to %c8 step %c1 {
            %x = memref.load %w[%other, %j] : memref<4x8xf32, #gpu.address_space<workgroup>>
            memref.store %x, %out[%bx, %s, %j] : memref<2x4x8xf32>
          }
          gpu.barrier
        }
        gpu.terminator
      }
      return
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t s = 0; s < 4; ++s)
      for (int64_t j = 0; j < 8; ++j)
        EXPECT_EQ(args[1].getDouble((b * 4 + s) * 8 + j),
                  args[0].getDouble((b * 4 + (s + 1) % 4) * 8 + j));
}

TEST_F(GpuTest, DivergentBarrier) {
  Outcome outcome = runWorkgroup("", 4, R"(
        %few = arith.cmpi slt, %tx, %c1 : index
        scf.if %few {
          gpu.barrier
        })",
                                 {});
  EXPECT_EQ(outcome.status, Status::Failed);
  EXPECT_EQ(outcome.message, "not all threads of the workgroup reach this "
                             "barrier: 1 of 4 do");
}

TEST_F(GpuTest, BarrierInVThread) {
  // One barrier for all vthreads: the second reads what the first wrote.
  SmallVector<Array> args = {Array::zeros(f32(), {4})};
  Outcome outcome = runWorkgroup(
      "%out: memref<4xf32>", 2, R"(
        %c2 = arith.constant 2 : index
        tessera.vthread (%v) in (2) {
          %c3 = arith.constant 3 : index
          %t = arith.muli %tx, %c2 : index
          %i = arith.addi %t, %v : index
          %k = arith.index_cast %i : index to i32
          %x = arith.sitofp %k : i32 to f32
          memref.store %x, %w[%i] : memref<4xf32, #gpu.address_space<workgroup>>
          gpu.barrier
          %j = arith.subi %c3, %i : index
          %y = memref.load %w[%j] : memref<4xf32, #gpu.address_space<workgroup>>
          memref.store %y, %out[%i] : memref<4xf32>
          tessera.yield
        })",
      args, "workgroup(%w : memref<4xf32, #gpu.address_space<workgroup>>)");
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ(args[0].getDouble(i), 3 - i);
}

TEST_F(GpuTest, SubgroupMma) {
  SmallVector<Array> args = {
      integers(f16(), {16, 16}, 1), integers(f16(), {16, 16}, 2),
      integers(f32(), {16, 16}, 3), Array::zeros(f32(), {16, 16})};
  Outcome outcome =
      runWorkgroup("%a: memref<16x16xf16>, %b: memref<16x16xf16>, "
                   "%c: memref<16x16xf32>, %d: memref<16x16xf32>",
                   32, R"(
        %two = arith.constant 2.0 : f32
        %A = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 16 : index}
            : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
        %B = gpu.subgroup_mma_load_matrix %b[%c0, %c0] {leadDimension = 16 : index, transpose}
            : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
        %C = gpu.subgroup_mma_load_matrix %c[%c0, %c0] {leadDimension = 16 : index}
            : memref<16x16xf32> -> !gpu.mma_matrix<16x16xf32, "COp">
        %D = gpu.subgroup_mma_compute %A, %B, %C {b_transpose}
            : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">
            -> !gpu.mma_matrix<16x16xf32, "COp">
        %T = gpu.subgroup_mma_constant_matrix %two : !gpu.mma_matrix<16x16xf32, "COp">
        %E = gpu.subgroup_mma_elementwise mulf %D, %T
            : (!gpu.mma_matrix<16x16xf32, "COp">, !gpu.mma_matrix<16x16xf32, "COp">)
            -> !gpu.mma_matrix<16x16xf32, "COp">
        gpu.subgroup_mma_store_matrix %E, %d[%c0, %c0] {leadDimension = 16 : index}
            : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>)",
                   args);
  expectElements(outcome, args[3], 16, 16, [&](int64_t i, int64_t j) {
    return 2 * (args[2].getDouble(i * 16 + j) +
                dot(args[0], i * 16, 1, args[1], j * 16, 1, 16));
  });
}

TEST_F(GpuTest, AffineLoopsInStep) {
  // 64 threads are two warps, each with a tile; the loop has a barrier in it.
  SmallVector<Array> args = {integers(f16(), {32, 48}, 1),
                             integers(f16(), {48, 16}, 2),
                             Array::zeros(f32(), {32, 16})};
  Outcome outcome = runWorkgroup(
      "%a: memref<32x48xf16>, %b: memref<48x16xf16>, %c: memref<32x16xf32>", 64,
      R"(
        %row = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 16)>(%tx)
        %z = gpu.subgroup_mma_load_matrix %c[%row, %c0] {leadDimension = 16 : index}
            : memref<32x16xf32> -> !gpu.mma_matrix<16x16xf32, "COp">
        %r = affine.for %k = 0 to 48 step 16
            iter_args(%s = %z) -> (!gpu.mma_matrix<16x16xf32, "COp">) {
          %A = gpu.subgroup_mma_load_matrix %a[%row, %k] {leadDimension = 48 : index}
              : memref<32x48xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
          %B = gpu.subgroup_mma_load_matrix %b[%k, %c0] {leadDimension = 16 : index}
              : memref<48x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
          gpu.barrier
          %n = gpu.subgroup_mma_compute %A, %B, %s
              : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">
              -> !gpu.mma_matrix<16x16xf32, "COp">
          affine.yield %n : !gpu.mma_matrix<16x16xf32, "COp">
        }
        gpu.subgroup_mma_store_matrix %r, %c[%row, %c0] {leadDimension = 16 : index}
            : !gpu.mma_matrix<16x16xf32, "COp">, memref<32x16xf32>)",
      args);
  expectElements(outcome, args[2], 32, 16, [&](int64_t i, int64_t j) {
    return dot(args[0], i * 48, 1, args[1], j, 16, 48);
  });
}

TEST_F(GpuTest, UnsignedSubgroupMma) {
  SmallVector<Array> args = {integers(i8(), {16, 16}, 1, -128, 127),
                             integers(i8(), {16, 16}, 2, -128, 127),
                             Array::zeros(i32(), {16, 16})};
  Outcome outcome = runWorkgroup(
      "%a: memref<16x16xi8>, %b: memref<16x16xi8>, %d: memref<16x16xi32>", 32,
      R"(
        %zero = arith.constant 0 : i32
        %A = gpu.subgroup_mma_load_matrix %a[%c0, %c0] {leadDimension = 16 : index}
            : memref<16x16xi8> -> !gpu.mma_matrix<16x16xui8, "AOp">
        %B = gpu.subgroup_mma_load_matrix %b[%c0, %c0] {leadDimension = 16 : index}
            : memref<16x16xi8> -> !gpu.mma_matrix<16x16xsi8, "BOp">
        %C = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xi32, "COp">
        %D = gpu.subgroup_mma_compute %A, %B, %C
            : !gpu.mma_matrix<16x16xui8, "AOp">, !gpu.mma_matrix<16x16xsi8, "BOp">
            -> !gpu.mma_matrix<16x16xi32, "COp">
        gpu.subgroup_mma_store_matrix %D, %d[%c0, %c0] {leadDimension = 16 : index}
            : !gpu.mma_matrix<16x16xi32, "COp">, memref<16x16xi32>)",
      args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 16; ++i)
    for (int64_t j = 0; j < 16; ++j)
      EXPECT_EQ(args[2].integers()[i * 16 + j],
                mixedSignDot(args[0], i, args[1], j, 16));
}

TEST_F(GpuTest, LoopsInStep) {
  // A while loop and an if around barriers, of the same length for all threads.
  SmallVector<Array> args = {integers(f32(), {16}, 1),
                             Array::zeros(f32(), {1})};
  Outcome outcome = runSource(R"(
    func.func private @step(%w: memref<16xf32, #gpu.address_space<workgroup>>,
                            %t: index, %half: index) {
      %active = arith.cmpi ult, %t, %half : index
      scf.if %active {
        %o = arith.addi %t, %half : index
        %x = memref.load %w[%t] : memref<16xf32, #gpu.address_space<workgroup>>
        %y = memref.load %w[%o] : memref<16xf32, #gpu.address_space<workgroup>>
        %s = arith.addf %x, %y : f32
        memref.store %s, %w[%t] : memref<16xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      return
    }
    func.func @main(%in: memref<16xf32>, %out: memref<1xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %dev = gpu.alloc () : memref<16xf32>
      gpu.memcpy %dev, %in : memref<16xf32>, memref<16xf32>
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                 threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c2, %sz = %c1)
                 workgroup(%w : memref<16xf32, #gpu.address_space<workgroup>>) {
        %r = arith.muli %ty, %c8 : index
        %t = arith.addi %r, %tx : index
        %x = memref.load %dev[%t] : memref<16xf32>
        memref.store %x, %w[%t] : memref<16xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        %end = scf.while (%h = %c8) : (index) -> index {
          %more = arith.cmpi ugt, %h, %c0 : index
          scf.condition(%more) %h : index
        } do {
        ^bb0(%h: index):
          func.call @step(%w, %t, %h)
              : (memref<16xf32, #gpu.address_space<workgroup>>, index, index) -> ()
          %n = arith.divui %h, %c2 : index
          scf.yield %n : index
        }
        %all = gpu.all_reduce add %x {} : (f32) -> f32
        %first = arith.cmpi eq, %t, %c0 : index
        scf.if %first {
          %s = memref.load %w[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
          %d = arith.addf %s, %all : f32
          memref.store %d, %out[%c0] : memref<1xf32>
        }
        gpu.terminator
      }
      gpu.dealloc %dev : memref<16xf32>
      return
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  double sum = 0;
  for (double value : args[0].floats())
    sum += value;
  EXPECT_EQ(args[1].getDouble(0), 2 * sum);
}

TEST_F(GpuTest, OutOfBoundsReadsAreZero) {
  SmallVector<Array> args = {integers(f32(), {10, 6}, 1),
                             Array::zeros(f32(), {9, 5})};
  for (double &value : args[1].floats())
    value = 99;
  Outcome outcome = runSource(R"(
    func.func @main(%m: memref<?x?xf32>, %out: memref<?x?xf32>) {
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %f = tessera.load %m[%c4, %c0] : memref<?x?xf32> -> !tessera.fragment<8x8xf32, acc>
      tessera.store %f, %out[%c4, %c0] : !tessera.fragment<8x8xf32, acc>, memref<?x?xf32>
      return
    })",
                              args);
  expectElements(outcome, args[1], 9, 5, [&](int64_t i, int64_t j) {
    return i < 4 ? 99 : args[0].getDouble(i * 6 + j);
  });
}

TEST_F(GpuTest, BrokenPromise) {
  SmallVector<Array> args = {integers(f32(), {10, 6}, 1)};
  Outcome outcome = runSource(R"(
    func.func @main(%m: memref<?x?xf32>) {
      %c4 = arith.constant 4 : index
      %f = tessera.load %m[%c4, %c4] in_bounds : memref<?x?xf32> -> !tessera.fragment<8x8xf32, acc>
      return
    })",
                              args);
  EXPECT_EQ(outcome.message, "in_bounds is set, but the tile of 8x8 at "
                             "(4, 4) exceeds 10x6");
}

TEST_F(GpuTest, FragmentOperations) {
  SmallVector<Array> args = {
      integers(i8(), {16, 32}, 1, -128, 127),
      integers(i8(), {32, 16}, 2, -128, 127), integers(i32(), {16}, 3),
      Array::zeros(i32(), {16, 16}), Array::zeros(i32(), {16, 1})};
  Outcome outcome = runSource(R"(
    func.func @main(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %bias: memref<16xi32>,
                    %c: memref<16x16xi32>, %max: memref<16x1xi32>) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i32
      %A = tessera.load %a[%c0, %c0] : memref<16x32xi8> -> !tessera.fragment<16x32xi8, a>
      %B = tessera.load %b[%c0, %c0] : memref<32x16xi8> -> !tessera.fragment<32x16xi8, b>
      %Z = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %C = tessera.mma %A, %B, %Z unsigned_a
          : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b>
          -> !tessera.fragment<16x16xi32, acc>
      %D = tessera.broadcast %bias[%c0] dimension 0
          : memref<16xi32> -> !tessera.fragment<16x16xi32, acc>
      %E = tessera.map %C, %D : !tessera.fragment<16x16xi32, acc>, !tessera.fragment<16x16xi32, acc>
          -> !tessera.fragment<16x16xi32, acc> {
      ^bb0(%x: i32, %y: i32, %i: index, %j: index):
        %s = arith.addi %x, %y : i32
        %lower = arith.cmpi sge, %i, %j : index
        %z = arith.select %lower, %s, %zero : i32
        tessera.yield %z : i32
      }
      tessera.store %E, %c[%c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<16x16xi32>
      %M = tessera.reduce max %E dimension 1
          : !tessera.fragment<16x16xi32, acc> -> !tessera.fragment<16x1xi32, acc>
      tessera.store %M, %max[%c0, %c0] : !tessera.fragment<16x1xi32, acc>, memref<16x1xi32>
      return
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  for (int64_t i = 0; i < 16; ++i) {
    int32_t largest = INT32_MIN;
    for (int64_t j = 0; j < 16; ++j) {
      int32_t sum = mixedSignDot(args[0], i, args[1], j, 32);
      int32_t expected =
          i >= j ? sum + static_cast<int32_t>(args[2].integers()[j]) : 0;
      EXPECT_EQ(args[3].integers()[i * 16 + j], expected);
      largest = std::max(largest, expected);
    }
    EXPECT_EQ(args[4].integers()[i], largest);
  }
}

TEST_F(GpuTest, KernelInModule) {
  SmallVector<Array> args = {integers(f32(), {20, 24}, 1),
                             integers(f32(), {24, 18}, 2),
                             Array::zeros(f32(), {20, 18})};
  // Tiles of 16x16 exceed 20x18; the k loop goes by 8.
  Outcome outcome = runSource(R"(
    module attributes {gpu.container_module} {
      gpu.module @kernels {
        gpu.func @gemm(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>)
            workgroup(%w: memref<16x8xf32, #gpu.address_space<workgroup>>) kernel {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %c8 = arith.constant 8 : index
          %c16 = arith.constant 16 : index
          %zero = arith.constant 0.0 : f32
          %bx = gpu.block_id x
          %by = gpu.block_id y
          %row = arith.muli %by, %c16 : index
          %col = arith.muli %bx, %c16 : index
          %k = memref.dim %a, %c1 : memref<?x?xf32>
          %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
          %sum = scf.for %x = %c0 to %k step %c8
              iter_args(%acc = %init) -> (!tessera.fragment<16x16xf32, acc>) {
            %t = tessera.async_copy %a[%row, %x], %w[%c0, %c0] shape [16, 8]
                : memref<?x?xf32>, memref<16x8xf32, #gpu.address_space<workgroup>>
            tessera.wait for %t
            gpu.barrier
            %A = tessera.load %w[%c0, %c0]
                : memref<16x8xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<16x8xf32, a>
            %B = tessera.load %b[%x, %col] : memref<?x?xf32> -> !tessera.fragment<8x16xf32, b>
            %n = tessera.mma %A, %B, %acc
                : !tessera.fragment<16x8xf32, a>, !tessera.fragment<8x16xf32, b>
                -> !tessera.fragment<16x16xf32, acc>
            gpu.barrier
            scf.yield %n : !tessera.fragment<16x16xf32, acc>
          }
          tessera.store %sum, %c[%row, %col] : !tessera.fragment<16x16xf32, acc>, memref<?x?xf32>
          gpu.return
        }
      }
      func.func @main(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        gpu.launch_func @kernels::@gemm blocks in (%c2, %c2, %c1) threads in (%c2, %c1, %c1)
            args(%a : memref<?x?xf32>, %b : memref<?x?xf32>, %c : memref<?x?xf32>)
        return
      }
    })",
                              args);
  expectElements(outcome, args[2], 20, 18, [&](int64_t i, int64_t j) {
    return dot(args[0], i * 24, 1, args[1], j, 18, 24);
  });
}

TEST_F(GpuTest, ContractWithEpilogue) {
  SmallVector<Array> args = {integers(f16(), {21, 33}, 1),
                             integers(f16(), {17, 33}, 2),
                             integers(f32(), {17}, 3)};
  Outcome outcome = runSource(R"(
    func.func @main(%a: tensor<21x33xf16>, %b: tensor<17x33xf16>, %bias: tensor<17xf32>)
        -> tensor<21x17xf16> {
      %zero = arith.constant 0.0 : f32
      %c = tensor.empty() : tensor<21x17xf16>
      %r = tessera.contract ins(%a, %b : tensor<21x33xf16>, tensor<17x33xf16>)
          init(%zero : f32) extras(%bias : tensor<17xf32>) outs(%c : tensor<21x17xf16>)
          maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n)>]
          accumulate f32 {
      ^bb0(%acc: f32, %x: f32):
        %s = arith.addf %acc, %x : f32
        %y = arith.maximumf %s, %zero : f32
        %h = arith.truncf %y : f32 to f16
        tessera.yield %h : f16
      } -> tensor<21x17xf16>
      return %r : tensor<21x17xf16>
    })",
                              args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  expectElements(
      outcome, outcome.results[0], 21, 17, [&](int64_t i, int64_t j) {
        return std::max(0.0, dot(args[0], i * 33, 1, args[1], j * 33, 1, 33) +
                                 args[2].getDouble(j));
      });
}

TEST_F(GpuTest, Shuffles) {
  SmallVector<Array> args = {integers(f32(), {64}, 1),
                             Array::zeros(f32(), {64}),
                             Array::zeros(f32(), {64})};
  Outcome outcome = runWorkgroup(
      "%in: memref<64xf32>, %out: memref<64xf32>, %sums: memref<64xf32>", 64,
      R"(
        %x = memref.load %in[%tx] : memref<64xf32>
        %five = arith.constant 5 : i32
        %width = arith.constant 32 : i32
        %y, %valid = gpu.shuffle xor %x, %five, %width : f32
        memref.store %y, %out[%tx] : memref<64xf32>
        %s = gpu.subgroup_reduce add %x : (f32) -> f32
        memref.store %s, %sums[%tx] : memref<64xf32>)",
      args);
  ASSERT_TRUE(outcome.succeeded()) << diagnostics;
  double sums[2] = {0, 0};
  for (int64_t i = 0; i < 64; ++i)
    sums[i / 32] += args[0].getDouble(i);
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_EQ(args[1].getDouble(i), args[0].getDouble(i ^ 5));
    EXPECT_EQ(args[2].getDouble(i), sums[i / 32]);
  }
}

} // namespace
