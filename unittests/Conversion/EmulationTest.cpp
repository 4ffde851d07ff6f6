//===- EmulationTest.cpp - Every row of every chip, executed --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests each matrix instruction of each chip, in the form in which the
// conversion passes it to the runtime: small random integers are distributed to
// the lanes' registers by the row's maps, and the result is compared with three
// loops over the matrices.
//
//===----------------------------------------------------------------------===//

#include "Conversion/TesseraToCPU/Emulation.h"

#include "Runtime/CpuKernel.h"
#include "Runtime/Device.h"
#include "TargetInfo/Emulation.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <random>
#include <set>

using namespace mlir::tessera;
namespace runtime = ::tessera::runtime;

namespace {

/// An element type: how integers are written in it.
struct Number {
  int bits = 0;
  /// Null: an integer.
  const llvm::fltSemantics *semantics = nullptr;
  /// The integers to draw from.
  int64_t least = -4, most = 4;

  uint64_t encode(int64_t value) const {
    if (!semantics)
      return static_cast<uint64_t>(value) & (~uint64_t(0) >> (64 - bits));
    llvm::APFloat number(static_cast<double>(value));
    bool losesInfo = false;
    number.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    EXPECT_FALSE(losesInfo) << value;
    return number.bitcastToAPInt().getZExtValue();
  }
};

} // namespace

static Number getNumber(llvm::StringRef type, bool isUnsigned) {
  using llvm::APFloat;
  const llvm::fltSemantics *semantics =
      llvm::StringSwitch<const llvm::fltSemantics *>(type)
          .Case("f16", &APFloat::IEEEhalf())
          .Case("bf16", &APFloat::BFloat())
          .Case("f32", &APFloat::IEEEsingle())
          .Case("f64", &APFloat::IEEEdouble())
          .Case("f8E4M3FN", &APFloat::Float8E4M3FN())
          .Case("f8E5M2", &APFloat::Float8E5M2())
          .Case("f8E4M3FNUZ", &APFloat::Float8E4M3FNUZ())
          .Case("f8E5M2FNUZ", &APFloat::Float8E5M2FNUZ())
          .Default(nullptr);
  Number number;
  if (semantics) {
    number.semantics = semantics;
    number.bits = static_cast<int>(APFloat::getSizeInBits(*semantics));
    // Exact sums: 64 terms of 4 at most in 8 bits of mantissa.
    if (type == "bf16" || type == "f16")
      number.least = -2, number.most = 2;
    return number;
  }
  EXPECT_FALSE(type.drop_front().getAsInteger(10, number.bits)) << type.str();
  if (number.bits < 32) {
    number.least = isUnsigned ? 0 : -(int64_t(1) << (number.bits - 1));
    number.most = number.least + (int64_t(1) << number.bits) - 1;
  }
  return number;
}

namespace {

/// A matrix, and how lanes hold it.
struct Operand {
  Operand(const LaneMap &map, Number number, int64_t rows, int64_t cols)
      : map(map), number(number), cols(cols), values(rows * cols) {}

  void fill(std::mt19937_64 &random) {
    for (int64_t &value : values)
      value = std::uniform_int_distribution<int64_t>(number.least,
                                                     number.most)(random);
  }
  int64_t &at(int64_t row, int64_t col) { return values[row * cols + col]; }

  /// A lane's registers, side by side.
  std::vector<uint8_t> getRegisters(int64_t lane) {
    int64_t count = map.getNumRegisters();
    std::vector<uint8_t> bytes((count * number.bits + 7) / 8);
    for (int64_t reg = 0; reg < count; ++reg) {
      auto [row, col] = map.at(lane, reg);
      uint64_t bits = number.encode(at(row, col));
      for (int64_t bit = 0; bit < number.bits; ++bit)
        if (bits >> bit & 1)
          bytes[(reg * number.bits + bit) / 8] |=
              1 << (reg * number.bits + bit) % 8;
    }
    return bytes;
  }

  const LaneMap &map;
  Number number;
  int64_t cols;
  std::vector<int64_t> values;
};

/// The data that the lanes of a launch share.
struct Matmul {
  std::vector<int32_t> words;
  Operand a, b, acc;
  /// Each lane's accumulators afterwards.
  std::vector<std::vector<uint8_t>> results;
};

} // namespace

static void multiply(void **args, const tessera_workgroup *workgroup) {
  Matmul &matmul = **static_cast<Matmul **>(args[0]);
  int64_t lane = workgroup->threadId[0];
  std::vector<uint8_t> a = matmul.a.getRegisters(lane),
                       b = matmul.b.getRegisters(lane),
                       acc = matmul.acc.getRegisters(lane);
  tessera_cpu_mma(
      workgroup,
      reinterpret_cast<const tessera_matrix_instruction *>(matmul.words.data()),
      "the matmul", a.data(), b.data(), acc.data());
  matmul.results[lane] = std::move(acc);
}

namespace {
class EmulationTest : public ::testing::Test {
protected:
  void SetUp() override {
    setenv("TESSERA_CPU_THREADS", "1", 1);
    auto opened = runtime::openDevice("cpu");
    unsetenv("TESSERA_CPU_THREADS");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    runtime::KernelImage image;
    image.name = "test";
    image.functions.emplace_back("multiply",
                                 reinterpret_cast<void *>(multiply));
    ASSERT_TRUE(device->loadImage(image).ok());
  }

  void check(const MatrixInstruction &row, bool unsignedA, bool unsignedB) {
    Matmul matmul{describeInstruction(row, unsignedA, unsignedB),
                  {row.aMap, getNumber(row.aType, unsignedA), row.m, row.k},
                  {row.bMap, getNumber(row.bType, unsignedB), row.k, row.n},
                  {row.accMap, getNumber(row.accType, false), row.m, row.n},
                  {}};
    ASSERT_FALSE(matmul.words.empty());
    std::mt19937_64 random(row.m * 1000 + row.n * 10 + row.k);
    for (Operand *operand : {&matmul.a, &matmul.b, &matmul.acc})
      operand->fill(random);
    int64_t lanes = row.accMap.getNumLanes();
    matmul.results.resize(lanes);

    Matmul *argument = &matmul;
    void *args[] = {static_cast<void *>(&argument)};
    int64_t sizes[] = {sizeof(void *)};
    runtime::LaunchRequest request;
    request.kernel = "multiply";
    request.block[0] = lanes;
    request.numArgs = 1;
    request.args = args;
    request.argSizes = sizes;
    runtime::Status status = device->launch(request);
    ASSERT_TRUE(status.ok()) << status.message();

    for (int64_t i = 0; i < row.m; ++i)
      for (int64_t j = 0; j < row.n; ++j)
        for (int64_t k = 0; k < row.k; ++k)
          matmul.acc.at(i, j) += matmul.a.at(i, k) * matmul.b.at(k, j);
    for (int64_t lane = 0; lane < lanes; ++lane)
      ASSERT_EQ(matmul.results[lane], matmul.acc.getRegisters(lane))
          << "lane " << lane;
  }

  std::unique_ptr<runtime::Device> device;
};
} // namespace

TEST_F(EmulationTest, EveryRowIsAMatmul) {
  std::set<std::string> seen;
  for (const Chip &chip : getEmulatedChips())
    for (const MatrixInstruction &row : chip.instructions) {
      if (!row.matrixUnit ||
          !seen.insert(getEmulatedName(chip).substr(0, 2).str() + row.name)
               .second)
        continue;
      SCOPED_TRACE(chip.name + " " + row.name);
      bool isInteger = row.accType == "i32";
      check(row, false, false);
      if (!isInteger || row.signedOnly)
        continue;
      check(row, true, false);
      check(row, false, true);
      check(row, true, true);
    }
  // All generations of all vendors, and not none.
  EXPECT_GT(seen.size(), 50u);
}

TEST(EmulatedChipTest, IsTheChipItEmulates) {
  for (const Chip &chip : getAllChips()) {
    const Chip *emulated = findChip("cpu", "emulate=" + chip.name);
    bool opaque = llvm::any_of(chip.instructions,
                               [](const auto &row) { return row.opaque; });
    ASSERT_EQ(emulated != nullptr, chip.hasLanes() && !opaque) << chip.name;
    if (!emulated)
      continue;
    EXPECT_EQ(getEmulatedName(*emulated), chip.name);
    EXPECT_TRUE(isEmulated(*emulated));
    EXPECT_FALSE(isEmulated(chip));
    EXPECT_EQ(emulated->target, "cpu");
    EXPECT_EQ(emulated->subgroupSize, chip.subgroupSize);
    EXPECT_EQ(emulated->workgroupMemoryBytes, chip.workgroupMemoryBytes);
    ASSERT_EQ(emulated->instructions.size(), chip.instructions.size());
    for (size_t i = 0; i < chip.instructions.size(); ++i) {
      EXPECT_EQ(emulated->instructions[i].name, chip.instructions[i].name);
      EXPECT_EQ(emulated->instructions[i].accMap, chip.instructions[i].accMap);
    }
  }
  EXPECT_FALSE(findChip("cpu", "emulate="));
  EXPECT_FALSE(findChip("cpu", "emulate=generic"));
  EXPECT_FALSE(findChip("cuda", "emulate=sm_80"));
  EXPECT_EQ(getKnownChips("cpu", "emulate=sm80").front(), "emulate=sm_80");
  EXPECT_EQ(getKnownChips("cpu", "emulate").front(), "generic");
}
