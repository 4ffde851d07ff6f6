//===- VulkanSelfTestTest.cpp - Tests of the matmul self-tests ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Vulkan/VulkanSelfTest.h"
#include "TestUtils.h"
#include "Vulkan/TestedMatmuls.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace tessera::runtime;

namespace {

constexpr ComponentType f16 = {ComponentType::Float, 16},
                        f32 = {ComponentType::Float, 32},
                        f64 = {ComponentType::Float, 64},
                        bf16 = {ComponentType::BFloat, 16},
                        i8 = {ComponentType::Integer, 8},
                        i16 = {ComponentType::Integer, 16},
                        i32 = {ComponentType::Integer, 32},
                        i64 = {ComponentType::Integer, 64};
constexpr uint32_t allSigned =
    MatrixMultiply::signedA | MatrixMultiply::signedB |
    MatrixMultiply::signedC | MatrixMultiply::signedResult;

MatrixMultiply make(uint32_t m, uint32_t n, uint32_t k, ComponentType sum,
                    ComponentType operand, uint32_t operands = 0) {
  MatrixMultiply matmul;
  matmul.m = m;
  matmul.n = n;
  matmul.k = k;
  matmul.a = matmul.b = operand;
  matmul.c = matmul.result = sum;
  matmul.operands = operands;
  return matmul;
}

/// The combinations that devices are known to list, and others.
std::vector<MatrixMultiply> makeMatmuls() {
  std::vector<MatrixMultiply> matmuls = {
      make(8, 8, 8, f16, f16),
      make(8, 8, 8, f32, f16),
      make(16, 8, 16, f16, f16),
      make(16, 16, 16, f32, bf16),
      make(16, 16, 16, bf16, bf16),
      make(8, 16, 8, f32, f32),
      make(8, 8, 4, f64, f64),
      make(8, 8, 8, i32, i8),
      make(8, 8, 8, i32, i8, allSigned),
      make(16, 8, 32, i32, i8, allSigned | MatrixMultiply::saturating),
      make(16, 16, 16, i16, i8, allSigned),
      make(16, 16, 16, i64, i16, allSigned),
      make(64, 32, 128, f16, f16)};
  MatrixMultiply mixed =
      make(8, 8, 8, i32, i8, allSigned - MatrixMultiply::signedB);
  mixed.c = i16;
  matmuls.push_back(mixed);
  MatrixMultiply unlike = make(16, 16, 16, f32, f16);
  unlike.c = f16;
  matmuls.push_back(unlike);
  return matmuls;
}

/// An element's value, apart from the code under test.
double read(const TestMatrix &matrix, const std::vector<uint8_t> &bytes,
            size_t row, size_t col) {
  size_t size = matrix.type.getBytes();
  const uint8_t *from = bytes.data() + (row * matrix.getStride() + col) * size;
  auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  if (matrix.type == f64)
    return as(double());
  if (matrix.type == f32)
    return static_cast<double>(as(float()));
  if (matrix.type == bf16) {
    uint32_t bits = static_cast<uint32_t>(as(uint16_t())) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return static_cast<double>(value);
  }
  if (matrix.type == f16) {
    uint16_t bits = as(uint16_t());
    int exponent = bits >> 10 & 31;
    // Integers are zero or normal.
    double magnitude =
        exponent ? std::ldexp(1024 + (bits & 1023), exponent - 25) : 0;
    return bits >> 15 ? -magnitude : magnitude;
  }
  switch (matrix.type.bits) {
  case 8:
    return matrix.isSigned ? double(as(int8_t())) : double(as(uint8_t()));
  case 16:
    return matrix.isSigned ? double(as(int16_t())) : double(as(uint16_t()));
  case 32:
    return matrix.isSigned ? double(as(int32_t())) : double(as(uint32_t()));
  default:
    return matrix.isSigned ? double(as(int64_t())) : double(as(uint64_t()));
  }
}

/// A simulated device: it computes from memory. `transposeB` reads B as
/// column-major, `asIfSigned` reads A of i8 as signed.
RunSelfTest makeDevice(const MatrixMultiply &matmul, bool transposeB = false,
                       bool asIfSigned = false) {
  return [=](const std::vector<uint32_t> &,
             std::vector<std::vector<uint8_t>> &buffers) {
    TestOperands shapes = makeTestOperands(matmul);
    shapes.a.isSigned |= asIfSigned;
    for (size_t i = 0; i < matmul.m; ++i)
      for (size_t j = 0; j < matmul.n; ++j) {
        double sum = read(shapes.c, buffers[2], i, j);
        for (size_t l = 0; l < matmul.k; ++l)
          sum += read(shapes.a, buffers[0], i, l) * read(shapes.b, buffers[1],
                                                         transposeB ? j : l,
                                                         transposeB ? l : j);
        shapes.result.values[i * matmul.n + j] = sum;
      }
    buffers[3] = shapes.result.encode();
    return Status::success();
  };
}

TEST(VulkanSelfTestTest, NamesMatmuls) {
  EXPECT_EQ(make(16, 8, 16, f32, f16).getName(), "m16n8k16.f32.f16");
  EXPECT_EQ(make(16, 16, 16, f32, bf16).getName(), "m16n16k16.f32.bf16");
  EXPECT_EQ(make(8, 8, 8, i32, i8).getName(), "m8n8k8.u32.u8");
  EXPECT_EQ(make(8, 8, 8, i32, i8, allSigned).getName(), "m8n8k8.s32.s8");
  // Results are remembered by name: names must be unique.
  std::set<std::string> names;
  for (const MatrixMultiply &matmul : makeMatmuls())
    EXPECT_TRUE(names.insert(matmul.getName()).second) << matmul.getName();
}

TEST(VulkanSelfTestTest, ReadsMatmuls) {
  for (const MatrixMultiply &matmul : makeMatmuls()) {
    std::vector<uint32_t> words = assembleSelfTest(matmul, 32);
    std::vector<MatrixMultiply> found = readMatrixMultiplies(words);
    ASSERT_EQ(found.size(), 1u) << matmul.getName();
    EXPECT_EQ(found[0].getName(), matmul.getName());
    EXPECT_TRUE(found[0] == matmul);
    // A module that ends in the middle of an instruction has none.
    words.back() = 56 | 2u << 16;
    EXPECT_TRUE(readMatrixMultiplies(words).empty());
    words.back() = 0;
    EXPECT_TRUE(readMatrixMultiplies(words).empty());
  }
}

TEST(VulkanSelfTestTest, OperandsAreExact) {
  for (const MatrixMultiply &matmul : makeMatmuls()) {
    SCOPED_TRACE(matmul.getName());
    ASSERT_TRUE(canTest(matmul));
    TestOperands test = makeTestOperands(matmul);
    // The decoded matrices have the size of the encoded ones.
    for (const TestMatrix *matrix : {&test.a, &test.b, &test.c, &test.result}) {
      std::vector<uint8_t> bytes = matrix->encode();
      TestMatrix again = *matrix;
      again.values.assign(again.values.size(), -1);
      again.decode(bytes);
      EXPECT_EQ(again.values, matrix->values);
      for (size_t row = 0; row < matrix->rows; ++row)
        for (size_t col = 0; col < matrix->cols; ++col)
          ASSERT_EQ(read(*matrix, bytes, row, col),
                    matrix->values[row * matrix->cols + col]);
    }
    // No partial sum exceeds the range of the type, in any order.
    double largest = 0;
    for (size_t i = 0; i < matmul.m; ++i)
      for (size_t j = 0; j < matmul.n; ++j) {
        double sum = std::abs(test.c.values[i * matmul.n + j]);
        for (size_t l = 0; l < matmul.k; ++l)
          sum += std::abs(test.a.values[i * matmul.k + l] *
                          test.b.values[l * matmul.n + j]);
        largest = std::max(largest, sum);
      }
    EXPECT_LE(largest, matmul.result == f16    ? 2048
                       : matmul.result == bf16 ? 256
                       : matmul.result == i16  ? 32767
                                               : 16777216);
    if (matmul.a == i8 && matmul.c == i32) {
      double most =
          *std::max_element(test.a.values.begin(), test.a.values.end());
      // Beyond 127 a sign matters.
      EXPECT_GT(most, test.a.isSigned ? 100 : 200);
    }
  }
}

TEST(VulkanSelfTestTest, FindsWhatIsWrong) {
  for (const MatrixMultiply &matmul : makeMatmuls()) {
    SCOPED_TRACE(matmul.getName());
    Status status = runSelfTest(matmul, 32, false, makeDevice(matmul));
    EXPECT_TRUE(status.ok()) << status.message();
    // One element, at the last position.
    status = runSelfTest(matmul, 32, false, [&](const auto &code, auto &all) {
      (void)makeDevice(matmul)(code, all);
      TestMatrix result = makeTestOperands(matmul).result;
      result.decode(all[3]);
      result.values.back() += result.values.back() > 0 ? -1 : 1;
      all[3] = result.encode();
      return Status::success();
    });
    EXPECT_EQ(status.code(), StatusCode::Rejected);
    EXPECT_TRUE(contains(status.message(), "1 of "));
    EXPECT_TRUE(contains(status.message(),
                         "row " + std::to_string(matmul.m - 1) + ", column " +
                             std::to_string(matmul.n - 1) + ": "));
    // Nothing is written.
    status = runSelfTest(matmul, 32, false, [](const auto &, auto &) {
      return Status::success();
    });
    EXPECT_EQ(status.code(), StatusCode::Rejected);
    // B by columns.
    if (matmul.n == matmul.k) {
      status = runSelfTest(matmul, 32, false, makeDevice(matmul, true));
      EXPECT_EQ(status.code(), StatusCode::Rejected);
    }
  }
  // The sign of A.
  MatrixMultiply bytes = make(8, 8, 8, i32, i8);
  EXPECT_EQ(runSelfTest(bytes, 8, false, makeDevice(bytes, false, true)).code(),
            StatusCode::Rejected);
  // The device's error is passed on.
  EXPECT_EQ(runSelfTest(bytes, 8, false,
                        [](const auto &, auto &) {
                          return Status(StatusCode::OutOfMemory, "full");
                        })
                .code(),
            StatusCode::OutOfMemory);
}

TEST(VulkanSelfTestTest, ReportsTheWorst) {
  TestMatrix expected = makeTestOperands(make(2, 2, 2, f32, f32)).result;
  expected.values = {1, 2, 3, 4};
  TestMatrix result = expected;
  EXPECT_EQ(describeDifference(result, expected), "");
  result.values = {2, 2, -30.5, 4};
  EXPECT_EQ(describeDifference(result, expected),
            "2 of 4 elements differ; the largest error is at row 1, column 0: "
            "-30.5 instead of 3");
  result.values = {100, NAN, 3, 4};
  EXPECT_TRUE(contains(describeDifference(result, expected),
                       "row 0, column 1: nan instead of 2"));
}

TEST(VulkanSelfTestTest, KnowsWhatItCannot) {
  MatrixMultiply matmul = make(8, 8, 8, f32, f16);
  EXPECT_TRUE(canTest(matmul));
  matmul.scope = 2;
  EXPECT_FALSE(canTest(matmul));
  EXPECT_FALSE(canTest(make(8, 8, 8, f32, i8)));
  EXPECT_FALSE(canTest(make(8, 8, 0, f32, f16)));
  EXPECT_EQ(getChipWithoutMatmuls("s8-w32768-t1024-m8n8k8.f32.f16-m1"),
            "s8-w32768-t1024");
  EXPECT_EQ(getChipWithoutMatmuls("s8-w32768-t1024"), "s8-w32768-t1024");
}

TEST(VulkanSelfTestTest, KernelsAreValid) {
  // NOLINTNEXTLINE(bugprone-command-processor): a path of its own.
  if (std::system("spirv-val --version >/dev/null 2>&1"))
    GTEST_SKIP() << "no spirv-val";
  std::string file =
      testing::TempDir() + "self-test." + std::to_string(getpid()) + ".spv";
  std::string unknown;
  for (const MatrixMultiply &matmul : makeMatmuls())
    for (bool transposeB : {false, true}) {
      std::vector<uint32_t> words = assembleSelfTest(matmul, 32, transposeB);
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char *>(words.data()),
                 static_cast<std::streamsize>(4 * words.size()));
      // NOLINTNEXTLINE(bugprone-command-processor): a path of its own.
      FILE *validator = popen(
          ("spirv-val --target-env vulkan1.3 " + file + " 2>&1").c_str(), "r");
      ASSERT_TRUE(validator);
      std::string printed;
      for (int letter; (letter = fgetc(validator)) != EOF;)
        printed += static_cast<char>(letter);
      int status = pclose(validator);
      // A release from before an extension rejects its capability as unknown.
      if (printed.find("Invalid capability operand: ") != std::string::npos)
        unknown = matmul.getName() + ": " + printed;
      else
        EXPECT_EQ(status, 0) << matmul.getName() << ": " << printed;
    }
  std::remove(file.c_str());
  if (!unknown.empty())
    GTEST_SKIP() << "spirv-val is too old for some kernels: " << unknown;
}

TEST(VulkanSelfTestTest, RecordsTestedMatmuls) {
  std::string folder =
      testing::TempDir() + "products." + std::to_string(getpid());
  // NOLINTNEXTLINE(bugprone-command-processor): a path of its own.
  ASSERT_EQ(std::system(("mkdir -p " + folder).c_str()), 0);
  VkPhysicalDeviceProperties properties = {};
  VkPhysicalDeviceVulkan11Properties identity = {};
  auto path = [&](unsigned version) {
    DriverFile file("tessera matmuls 1\n", ".products");
    std::string why;
    properties.driverVersion = version;
    file.open(folder, properties, identity, why);
    return file.getPath();
  };
  std::string first = path(1);
  {
    TestedMatmuls tested;
    tested.add("m8n8k8.f32.f16");
    // Without a folder nothing is written.
    EXPECT_TRUE(tested.save().ok());
    EXPECT_TRUE(tested.open(folder, properties, identity).ok());
    EXPECT_TRUE(tested.contains("m8n8k8.f32.f16"));
    EXPECT_FALSE(tested.contains("m8n8k8.s32.s8"));
    EXPECT_TRUE(tested.save().ok());
    EXPECT_EQ(access(first.c_str(), R_OK), 0);
  }
  {
    TestedMatmuls tested;
    EXPECT_TRUE(tested.open(folder, properties, identity).ok());
    EXPECT_TRUE(tested.contains("m8n8k8.f32.f16"));
    EXPECT_FALSE(tested.contains("m8n8k8"));
  }
  std::ofstream(first, std::ios::app) << "m8n8k8.s32.s8\n";
  {
    TestedMatmuls tested;
    Status status = tested.open(folder, properties, identity);
    EXPECT_FALSE(status.ok());
    EXPECT_TRUE(contains(status.message(), "checksum mismatch"));
    EXPECT_FALSE(tested.contains("m8n8k8.f32.f16"));
  }
  // Another driver starts anew, and its file replaces the other's.
  std::string second = path(2);
  EXPECT_NE(second, first);
  TestedMatmuls tested;
  EXPECT_TRUE(tested.open(folder, properties, identity).ok());
  EXPECT_FALSE(tested.contains("m8n8k8.f32.f16"));
  tested.add("m8n8k8.s32.s8");
  EXPECT_TRUE(tested.save().ok());
  EXPECT_EQ(access(second.c_str(), R_OK), 0);
  EXPECT_NE(access(first.c_str(), R_OK), 0);
  std::remove(second.c_str());
  rmdir(folder.c_str());
}

} // namespace
