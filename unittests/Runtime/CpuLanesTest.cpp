//===- CpuLanesTest.cpp - Collective operations of CPU lanes --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU/MatrixUnit.h"
#include "Runtime/CpuKernel.h"
#include "TestUtils.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace tessera::runtime;

namespace {

template <typename T> T argument(void **args, int index) {
  return *static_cast<T *>(args[index]);
}

/// Every lane gives ten times its number and takes that of the lane beside it,
/// of 8 lanes: args[0][thread].
void exchangeKernel(void **args, const tessera_workgroup *group) {
  int64_t thread = group->threadId[0];
  auto beside = static_cast<int32_t>(thread % 8 ^ 1);
  argument<int64_t *>(args, 0)[thread] =
      tessera_cpu_shuffle(group, "an exchange", 10 * thread, beside, 8);
}

/// Lanes below args[0] meet, the others end; with args[1], they wait at a
/// barrier, and with args[2], they meet elsewhere.
void divergentKernel(void **args, const tessera_workgroup *group) {
  if (group->threadId[0] < argument<int64_t>(args, 0))
    tessera_cpu_shuffle(group, "the exchange here", 0, 0, 8);
  else if (argument<int64_t>(args, 1))
    tessera_cpu_barrier(group);
  else if (argument<int64_t>(args, 2))
    tessera_cpu_shuffle(group, "the exchange there", 0, 0, 8);
}

/// acc[2, 2] += a[2, 2] * b[2, 2] on four lanes, of f32; `bStep` defines the
/// replication of b: 2 lanes hold each row.
struct Instruction {
  int32_t m = 2, n = 2, k = 2;
  int32_t aType = TESSERA_F32, bType = TESSERA_F32, accType = TESSERA_F32;
  int32_t laneBits = 2, aRegisters = 0, bRegisters = 1, accRegisters = 0;
  int32_t a[2][2] = {{1, 0}, {0, 1}};
  int32_t b[3][2] = {{1, 0}, {0, 0}, {0, 1}};
  int32_t acc[2][2] = {{0, 1}, {1, 0}};
};

/// The matmul of a = [[1, 2], [3, 4]] and b = [[5, 6], [7, 8]]; with args[1],
/// lane 3 has another b.
void multiplyKernel(void **args, const tessera_workgroup *group) {
  static const Instruction instruction;
  int64_t lane = group->threadId[0];
  float a[] = {1, 3, 2, 4};
  float b[2][2] = {{5, 6}, {7, 8}};
  float acc = 100;
  float *row = b[lane % 2];
  if (lane == 3)
    row[1] += static_cast<float>(argument<int64_t>(args, 1));
  tessera_cpu_mma(
      group, reinterpret_cast<const tessera_matrix_instruction *>(&instruction),
      "the matmul", &a[lane % 4], row, &acc);
  argument<float *>(args, 0)[lane] = acc;
}

/// Two groups of copies of 8 bytes, the second of which has 5 bytes to read.
/// args[0]: the target after each step; args[1]: the source.
void copyKernel(void **args, const tessera_workgroup *group) {
  auto *seen = argument<unsigned char *>(args, 0);
  auto *source = argument<const unsigned char *>(args, 1);
  unsigned char target[16] = {};
  auto look = [&](int step) { std::memcpy(seen + 16 * step, target, 16); };
  tessera_cpu_async_copy(group, target, source, 8, 8);
  tessera_cpu_async_commit(group);
  tessera_cpu_async_copy(group, target + 8, source + 8, 8, 5);
  tessera_cpu_async_commit(group);
  look(0);
  tessera_cpu_async_wait(group, 2);
  look(1);
  tessera_cpu_async_wait(group, 1);
  look(2);
  tessera_cpu_async_wait(group, 0);
  look(3);
}

/// An access of 4 bytes at byte args[0] of the workgroup memory, aligned to
/// args[1].
void accessKernel(void **args, const tessera_workgroup *group) {
  tessera_cpu_access(group, "the load",
                     static_cast<char *>(group->workgroupMemory) +
                         argument<int64_t>(args, 0),
                     4, argument<int64_t>(args, 1), 1);
}

class CpuLanesTest : public CpuKernelTest {
protected:
  void SetUp() override {
    open("2", {{"exchange", exchangeKernel},
               {"divergent", divergentKernel},
               {"multiply", multiplyKernel},
               {"copy", copyKernel},
               {"access", accessKernel}});
  }

  template <typename... Args>
  Status launch(const char *kernel, int64_t threads, Args... values) {
    return launchWith(*device, kernel,
                      {{1, 1, 1}, {threads, 1, 1}, /*workgroupBytes=*/64},
                      values...);
  }
  /// The message of a launch that fails.
  template <typename... Args>
  std::string fail(const char *kernel, int64_t threads, Args... values) {
    Status status = launch(kernel, threads, values...);
    EXPECT_EQ(status.code(), StatusCode::LaunchFailed);
    return status.message();
  }
};

TEST_F(CpuLanesTest, LanesExchangeValues) {
  std::vector<int64_t> out(24);
  Status status = launch("exchange", 24, out.data());
  ASSERT_TRUE(status.ok()) << status.message();
  for (int64_t thread = 0; thread < 24; ++thread)
    EXPECT_EQ(out[thread], 10 * (thread ^ 1));
  // A value of a lane that does not exist.
  ASSERT_TRUE(launch("exchange", 3, out.data()).ok());
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], -1);
  ASSERT_TRUE(launch("exchange", 1, out.data()).ok());
  EXPECT_EQ(out[0], -1);
}

TEST_F(CpuLanesTest, ALaneThatDoesNotComeIsAnError) {
  const std::string kernel =
      "kernel 'divergent', workgroup (0, 0, 0), subgroup 1: ";
  const std::string rule =
      ": collective operations of a subgroup must not depend on the lane";
  EXPECT_EQ(fail("divergent", 24, int64_t(10), int64_t(0), int64_t(0)),
            kernel +
                "lanes 0 to 1 wait at the exchange here, and lanes 2 to 7 "
                "have ended" +
                rule);
  EXPECT_EQ(fail("divergent", 24, int64_t(15), int64_t(1), int64_t(0)),
            kernel +
                "lanes 0 to 6 wait at the exchange here, and lane 7 waits "
                "at a barrier" +
                rule);
  EXPECT_EQ(fail("divergent", 24, int64_t(9), int64_t(0), int64_t(1)),
            kernel +
                "lane 0 waits at the exchange here, and lanes 1 to 7 wait "
                "at the exchange there" +
                rule);
  // All lanes of a subgroup, or none.
  for (int64_t count : {0, 8, 16, 24})
    EXPECT_TRUE(launch("divergent", 24, count, int64_t(0), int64_t(1)).ok());
}

TEST_F(CpuLanesTest, AMatmulTakesItsLanes) {
  float out[8] = {};
  Status status = launch("multiply", 4, out, int64_t(0));
  ASSERT_TRUE(status.ok()) << status.message();
  // Lane bit 0 steps a column, lane bit 1 a row.
  EXPECT_EQ(out[0], 100 + 1 * 5 + 2 * 7);
  EXPECT_EQ(out[1], 100 + 1 * 6 + 2 * 8);
  EXPECT_EQ(out[2], 100 + 3 * 5 + 4 * 7);
  EXPECT_EQ(out[3], 100 + 3 * 6 + 4 * 8);

  EXPECT_EQ(fail("multiply", 6, out, int64_t(0)),
            "kernel 'multiply', workgroup (0, 0, 0), subgroup 1: the matmul "
            "requires 4 lanes, but this subgroup of the workgroup has 2");
  EXPECT_EQ(fail("multiply", 1, out, int64_t(0)),
            "kernel 'multiply', workgroup (0, 0, 0): the matmul requires 4 "
            "lanes, but the workgroup has one thread");
  EXPECT_EQ(fail("multiply", 4, out, int64_t(1)),
            "kernel 'multiply', workgroup (0, 0, 0), subgroup 0: the matmul: "
            "lanes 1 and 3 hold different values of element (1, 1) of operand "
            "b, which they replicate");
}

TEST_F(CpuLanesTest, CopiesTakePlaceWhenTheyAreWaitedFor) {
  unsigned char source[16], seen[4][16];
  for (int i = 0; i < 16; ++i)
    source[i] = static_cast<unsigned char>(i + 1);
  Status status = launch("copy", 1, &seen[0][0], &source[0]);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(seen[0][i], 0xFF);
    EXPECT_EQ(seen[1][i], 0xFF);
    EXPECT_EQ(seen[2][i], i < 8 ? i + 1 : 0xFF);
    EXPECT_EQ(seen[3][i], i < 13 ? i + 1 : 0);
  }
}

TEST_F(CpuLanesTest, AccessesAreChecked) {
  EXPECT_TRUE(launch("access", 2, int64_t(60), int64_t(4)).ok());
  EXPECT_EQ(fail("access", 2, int64_t(61), int64_t(1)),
            "kernel 'access', workgroup (0, 0, 0): the load accesses 4 bytes "
            "at byte 61 of the 64 bytes of workgroup memory");
  EXPECT_EQ(fail("access", 2, int64_t(-4), int64_t(4)),
            "kernel 'access', workgroup (0, 0, 0): the load accesses 4 bytes "
            "at byte -4 of the 64 bytes of workgroup memory");
  EXPECT_EQ(fail("access", 2, int64_t(6), int64_t(4)),
            "kernel 'access', workgroup (0, 0, 0): the load accesses 4 bytes "
            "that are aligned to 2 instead of 4");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// acc + a * b of one element each, by their bits.
uint64_t multiplyAdd(tessera_number_type type, uint64_t a, uint64_t b,
                     tessera_number_type accType, uint64_t acc) {
  const int32_t words[] = {1, 1, 1, type, type, accType, 0, 0, 0, 0};
  const void *left = &a, *right = &b;
  void *sum = &acc;
  std::string why;
  EXPECT_TRUE(executeMatrixInstruction(
      *reinterpret_cast<const tessera_matrix_instruction *>(words), &left,
      &right, &sum, why))
      << why;
  return acc;
}

uint32_t bits(float value) {
  uint32_t result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

float multiply(tessera_number_type type, uint64_t a, uint64_t b) {
  auto raw = static_cast<uint32_t>(multiplyAdd(type, a, b, TESSERA_F32, 0));
  float result;
  std::memcpy(&result, &raw, sizeof(result));
  return result;
}

TEST(MatrixUnitTest, OperandsAreReadAsTheirTypeSays) {
  EXPECT_EQ(multiply(TESSERA_F16, 0x3c00, 0xc000), -2);
  EXPECT_EQ(multiply(TESSERA_F16, 0x3c00, 0x0001), 0x1p-24f);
  EXPECT_EQ(multiply(TESSERA_F16, 0x3c00, 0x7bff), 65504);
  EXPECT_EQ(multiply(TESSERA_F16, 0x3c00, 0xfc00), -HUGE_VALF);
  EXPECT_TRUE(std::isnan(multiply(TESSERA_F16, 0x3c00, 0x7c01)));
  EXPECT_EQ(multiply(TESSERA_BF16, 0x3f80, 0x4049), 3.140625f);
  // To 10 bits of mantissa, ties away from zero.
  uint32_t one = bits(1);
  EXPECT_EQ(multiply(TESSERA_TF32, one, bits(1 + 0x1p-11f)), 1 + 0x1p-10f);
  EXPECT_EQ(multiply(TESSERA_TF32, one, bits(1 + 0x1.fp-12f)), 1);
  EXPECT_EQ(multiply(TESSERA_TF32, one, bits(HUGE_VALF)), HUGE_VALF);
  EXPECT_EQ(multiply(TESSERA_F32, one, bits(1 + 0x1p-11f)), 1 + 0x1p-11f);
  // OCP 8-bit Floating Point Specification, table 1.
  EXPECT_EQ(multiply(TESSERA_F8E4M3FN, 0x38, 0x7e), 448);
  EXPECT_EQ(multiply(TESSERA_F8E4M3FN, 0x38, 0x01), 0x1p-9f);
  EXPECT_TRUE(std::isnan(multiply(TESSERA_F8E4M3FN, 0x38, 0xff)));
  EXPECT_EQ(multiply(TESSERA_F8E5M2, 0x3c, 0x7b), 57344);
  EXPECT_EQ(multiply(TESSERA_F8E5M2, 0x3c, 0x01), 0x1p-16f);
  EXPECT_EQ(multiply(TESSERA_F8E5M2, 0x3c, 0xfc), -HUGE_VALF);
  EXPECT_TRUE(std::isnan(multiply(TESSERA_F8E5M2, 0x3c, 0x7d)));
  // The forms without negative zero and infinities: half of the same bits.
  EXPECT_EQ(multiply(TESSERA_F8E4M3FNUZ, 0x40, 0x7f), 240);
  EXPECT_TRUE(std::isnan(multiply(TESSERA_F8E4M3FNUZ, 0x40, 0x80)));
  EXPECT_EQ(multiply(TESSERA_F8E5M2FNUZ, 0x40, 0x7f), 57344);
  EXPECT_TRUE(std::isnan(multiply(TESSERA_F8E5M2FNUZ, 0x40, 0x80)));
}

TEST(MatrixUnitTest, SumsAreKeptAsTheAccumulatorSays) {
  // To nearest, ties to even.
  EXPECT_EQ(multiplyAdd(TESSERA_F16, 0x3c00, 0x3c00, TESSERA_F16, 0x6800),
            0x6800u);
  EXPECT_EQ(multiplyAdd(TESSERA_F16, 0x3c00, 0x3c00, TESSERA_F16, 0x6801),
            0x6802u);
  EXPECT_EQ(multiplyAdd(TESSERA_F16, 0x7bff, 0x7bff, TESSERA_F16, 0), 0x7c00u);
  // Integers by their sign, and sums that wrap.
  auto add = [](tessera_number_type type, uint64_t a, uint64_t b,
                uint32_t acc) {
    return static_cast<uint32_t>(multiplyAdd(type, a, b, TESSERA_I32, acc));
  };
  EXPECT_EQ(add(TESSERA_I8, 0xff, 2, 10), 8u);
  EXPECT_EQ(add(TESSERA_U8, 0xff, 2, 10), 520u);
  EXPECT_EQ(add(TESSERA_I4, 0xf, 2, 10), 8u);
  EXPECT_EQ(add(TESSERA_U4, 0xf, 2, 10), 40u);
  EXPECT_EQ(add(TESSERA_I8, 1, 1, 0x7fffffff), 0x80000000u);
}

} // namespace
