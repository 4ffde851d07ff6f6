//===- ChipTest.cpp - Queries of the instruction tables -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TargetInfo/Chip.h"
#include "TargetInfo/Nearest.h"
#include "TargetInfo/Peaks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::tessera;

namespace {

class ChipTest : public ::testing::Test {
protected:
  ChipTest() : builder(&context) { context.loadDialect<TesseraDialect>(); }

  /// The name of the instruction chosen for a matmul, or "".
  std::string select(StringRef chipName, Type a, Type b, Type acc, int64_t m,
                     int64_t n, int64_t k,
                     Precision precision = Precision::Ieee) {
    why.clear();
    const Chip *chip = findChip("cuda", chipName);
    if (!chip)
      chip = findChip("cpu", chipName);
    EXPECT_TRUE(chip) << chipName.str();
    const MatrixInstruction *row =
        selectInstruction(*chip, a, b, acc, precision, m, n, k, &why);
    // The choice does not depend on whether a reason is requested.
    EXPECT_EQ(selectInstruction(*chip, a, b, acc, precision, m, n, k), row);
    return row ? row->name : "";
  }
  bool isReason(StringRef text) {
    return llvm::any_of(why, [&](StringRef line) { return line == text; });
  }

  MLIRContext context;
  Builder builder;
  SmallVector<std::string> why;
  Type f16 = builder.getF16Type(), bf16 = builder.getBF16Type(),
       f32 = builder.getF32Type(), f64 = builder.getF64Type(),
       i8 = builder.getI8Type(), i32 = builder.getI32Type(),
       e4m3 = Float8E4M3FNType::get(&context),
       e5m2 = Float8E5M2Type::get(&context);
};

TEST_F(ChipTest, FindsChipsByTargetAndName) {
  ASSERT_TRUE(findChip("cuda", "sm_80"));
  EXPECT_EQ(findChip("cuda", "sm_80")->name, "sm_80");
  EXPECT_EQ(findChip("cuda", "sm_80"), findChip("cuda", "sm_80"));
  EXPECT_FALSE(findChip("cpu", "sm_80"));
  EXPECT_FALSE(findChip("cuda", "sm_8"));
  EXPECT_FALSE(findChip("", ""));
  EXPECT_TRUE(findChip("cpu", getHostChip()));
}

TEST_F(ChipTest, FindsVulkanChipsByWhatTheyReport) {
  const Chip *chip =
      findChip("vulkan", "s16-w65536-t512-m16n8k32.f32.f16-m8n8k8.s32.s8");
  ASSERT_TRUE(chip);
  EXPECT_EQ(chip->subgroupSize, 16);
  EXPECT_EQ(chip->maxThreads, 512);
  // An eighth is scratch's.
  EXPECT_EQ(chip->workgroupMemoryBytes, 57344);
  const MatrixInstruction *row = chip->findInstruction("coop.m16n8k32.f32.f16");
  ASSERT_TRUE(row);
  EXPECT_TRUE(row->opaque && row->matrixUnit);
  EXPECT_EQ(std::make_tuple(row->m, row->n, row->k),
            std::make_tuple(16, 8, 32));
  // One row for both signs, whichever of them the device has.
  using Signs = MatrixInstruction::Signs;
  row = chip->findInstruction("coop.m8n8k8.i32.i8");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->signs, Signs::Signed);
  const Chip *both = findChip(
      "vulkan", "s16-w65536-t512-m8n8k8.u32.u8-m8n8k8.s32.s8-m8n8k8.f32.bf16");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->findInstruction("coop.m8n8k8.i32.i8")->signs, Signs::Both);
  EXPECT_EQ(llvm::count_if(both->instructions,
                           [](const MatrixInstruction &other) {
                             return other.name == "coop.m8n8k8.i32.i8";
                           }),
            1);
  row = findChip("vulkan", "s16-w65536-t512-m8n8k8.u32.u8")
            ->findInstruction("coop.m8n8k8.i32.i8");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->signs, Signs::Unsigned);
  EXPECT_TRUE(both->findInstruction("coop.m8n8k8.f32.bf16"));
  // Operands and sums of types that the dialect does not support.
  EXPECT_FALSE(findChip("vulkan", "s8-w32768-t1024-m8n8k8.bf16.bf16")
                   ->findInstruction("coop.m8n8k8.bf16.bf16"));
  EXPECT_EQ(findChip("vulkan", chip->name), chip);
  // A chip with a short name is known by it.
  EXPECT_EQ(findChip("vulkan", "s8-w32768-t1024-n16-n32-n64")->name,
            "lavapipe-simt");
  EXPECT_EQ(findChip("vulkan", "s8-w32768-t1024")->workgroupMemoryBytes, 32768);
  // The floats whose NaNs are kept.
  EXPECT_EQ(findChip("vulkan", "lavapipe")->keptNans,
            (llvm::SmallVector<unsigned, 3>{16, 32, 64}));
  EXPECT_EQ(findChip("vulkan", "s8-w32768-t1024-n32")->keptNans,
            (llvm::SmallVector<unsigned, 3>{32}));
  EXPECT_TRUE(findChip("vulkan", "s8-w32768-t1024")->keptNans.empty());
  EXPECT_TRUE(findChip("vulkan", "nvidia-hopper")->reducesMatrices);
  EXPECT_FALSE(findChip("vulkan", "lavapipe-simt")->reducesMatrices);
  // For any order in which a driver lists its matmuls.
  EXPECT_EQ(findChip("vulkan",
                     "s8-w32768-t1024-m8n8k8.s32.s8-m8n8k8.f32.f16-"
                     "n64-n16-reduce-n32-m8n8k8.f16.f16-m8n8k8.u32.u8")
                ->name,
            "lavapipe");
  for (const char *name : {"", "s8", "s8-w32768", "s12-w32768-t1024",
                           "s8-w-t1024", "x8-w32768-t1024", "sm_80"})
    EXPECT_FALSE(findChip("vulkan", name)) << name;
}

TEST_F(ChipTest, FindsOpenCLChipsByWhatTheyReport) {
  const Chip *chip = findChip("opencl", "s16-w65536-t512-f64-a32");
  ASSERT_TRUE(chip);
  EXPECT_EQ(chip->subgroupSize, 16);
  EXPECT_EQ(chip->workgroupMemoryBytes, 65536);
  EXPECT_FALSE(chip->hasF16);
  EXPECT_TRUE(chip->hasF64);
  EXPECT_TRUE(chip->hasAtomicF32);
  EXPECT_FALSE(chip->hasAtomicF64);
  EXPECT_TRUE(chip->findInstruction("fma16.m1n1k1.f32.f16"));
  EXPECT_EQ(findChip("opencl", chip->name), chip);
  // The same text is another chip of another target.
  EXPECT_TRUE(findChip("vulkan", "s16-w65536-t512")->hasF16);
  EXPECT_NE(findChip("vulkan", "s16-w65536-t512"),
            findChip("opencl", "s16-w65536-t512"));
  // A thread that is a subgroup of its own.
  const Chip *single = findChip("opencl", "s1-w65536-t512");
  ASSERT_TRUE(single);
  EXPECT_FALSE(single->hasLanes());
  EXPECT_TRUE(single->findInstruction("fma.m1n8k1.f32.f32"));
  // A matrix unit that is known to be there.
  EXPECT_TRUE(findChip("opencl", "s16-w65536-t512-f16-m8n16k16.f32.f16")
                  ->findInstruction("coop.m8n16k16.f32.f16")
                  ->opaque);
  EXPECT_EQ(findChip("opencl", "s16-w65536-t1024-f64-f16")->name, "simt");
  // Intel's matrix unit, which is that of the chips that have a name.
  for (auto [text, name] : {std::pair("s16-w131072-t1024-f16-f64-dpas", "bmg"),
                            {"s8-w65536-t1024-f16-dpas", "dg2"}}) {
    const Chip *device = findChip("level-zero", text);
    const Chip *named = findChip("level-zero", name);
    ASSERT_TRUE(device && named) << text;
    ASSERT_EQ(device->instructions.size(), named->instructions.size());
    for (size_t i = 0; i < named->instructions.size(); ++i)
      EXPECT_EQ(device->instructions[i].name, named->instructions[i].name);
    EXPECT_TRUE(device->instructions.front().matrixUnit);
    EXPECT_EQ(device->registersPerThread, named->registersPerThread);
  }
  // Level Zero's devices are OpenCL's.
  EXPECT_EQ(findChip("level-zero", "pvc"), findChip("opencl", "pvc"));
  EXPECT_EQ(getKnownChips("level-zero"), getKnownChips("opencl"));
  for (const char *name : {"s32-w65536-t512-dpas", "s1-w65536-t512-dpas"})
    EXPECT_FALSE(findChip("level-zero", name)) << name;
  for (const char *name : {"", "s16", "s16-w65536", "s4-w65536-t512",
                           "s16-w65536-t512-f15", "s16-w65536-t512-"})
    EXPECT_FALSE(findChip("opencl", name)) << name;
}

TEST_F(ChipTest, NamesKnownChipsNearestFirst) {
  EXPECT_EQ(getKnownChips("cuda", "sm_90b").front(), "sm_90");
  EXPECT_EQ(getKnownChips("cuda", "sm90a").front(), "sm_90a");
  EXPECT_EQ(getKnownChips("cuda", "SM_75").front(), "sm_75");
  EXPECT_EQ(getKnownChips("cpu", "x86-64-avx").front(), "x86-64-avx2");
  EXPECT_TRUE(getKnownChips("nothing").empty());
  // All of them, each once.
  std::vector<std::string> known = getKnownChips("cuda", "sm_86");
  EXPECT_EQ(known.front(), "sm_86");
  EXPECT_EQ(std::set<std::string>(known.begin(), known.end()).size(),
            known.size());
  for (const Chip &chip : getAllChips())
    EXPECT_TRUE(chip.target != "cuda" || llvm::is_contained(known, chip.name))
        << chip.name;
}

TEST_F(ChipTest, ChipsAreComplete) {
  std::set<std::pair<std::string, std::string>> names;
  for (const Chip &chip : getAllChips()) {
    SCOPED_TRACE(chip.name);
    EXPECT_TRUE(names.insert({chip.target, chip.name}).second);
    EXPECT_GT(chip.workgroupMemoryBytes, 0);
    EXPECT_GE(chip.maxThreads, chip.subgroupSize);
    EXPECT_TRUE(llvm::isPowerOf2_64(chip.subgroupSize));
    EXPECT_TRUE(llvm::isPowerOf2_64(chip.accessBytes));
    for (const ScheduleDefaults *defaults :
         {&chip.policy.matrixDefaults, &chip.policy.scalarDefaults})
      for (int d : {0, 1})
        EXPECT_EQ(defaults->workgroup[d] % defaults->subgroup[d], 0);
    for (const ScheduleDefaults &defaults : chip.policy.groupDefaults) {
      for (int d : {0, 1})
        EXPECT_EQ(defaults.workgroup[d] % defaults.subgroup[d], 0);
      EXPECT_TRUE(llvm::any_of(chip.instructions, [&](auto &row) {
        return row.subgroups == defaults.group;
      }));
      EXPECT_GT(defaults.speed, 0);
      EXPECT_LE(defaults.speed, 1);
    }
  }
}

TEST_F(ChipTest, InstructionsHaveNamesOfTheirOwn) {
  for (const Chip &chip : getAllChips()) {
    std::set<std::string> names;
    for (const MatrixInstruction &row : chip.instructions) {
      EXPECT_TRUE(names.insert(row.name).second)
          << chip.name << " " << row.name;
      EXPECT_EQ(chip.findInstruction(row.name), &row);
      StringRef family = StringRef(row.name).split('.').first;
      bool isUnit = llvm::is_contained(
          {"mma", "wgmma", "tcgen05", "mfma", "wmma", "wmma12", "dpas", "coop"},
          family);
      EXPECT_EQ(isUnit, row.matrixUnit) << row.name;
      EXPECT_EQ(family == "coop", row.opaque) << row.name;
    }
    EXPECT_FALSE(chip.findInstruction("mma.m1n1k1"));
    EXPECT_FALSE(chip.findInstruction(""));
  }
}

TEST_F(ChipTest, SameNameIsTheSameInstruction) {
  for (const Chip &chip : getAllChips())
    for (const Chip &other : getAllChips())
      for (const MatrixInstruction &row : chip.instructions)
        if (const MatrixInstruction *same = other.findInstruction(row.name)) {
          if (chip.target != other.target)
            continue;
          EXPECT_EQ(row.aMap, same->aMap) << row.name;
          EXPECT_EQ(row.bMap, same->bMap) << row.name;
          EXPECT_EQ(row.accMap, same->accMap) << row.name;
        }
}

TEST_F(ChipTest, EveryMmaCanBeComputed) {
  // Down to a single element, on every chip.
  Type types[] = {f16,
                  bf16,
                  f32,
                  f64,
                  builder.getIntegerType(4),
                  i8,
                  i32,
                  e4m3,
                  e5m2,
                  Float8E4M3FNUZType::get(&context),
                  Float8E5M2FNUZType::get(&context)};
  for (const Chip &chip : getAllChips())
    for (Type a : types)
      for (Type b : types)
        for (Type acc : types)
          EXPECT_EQ(selectInstruction(chip, a, b, acc, Precision::Ieee, 1, 1,
                                      1) != nullptr,
                    isValidMatmul(a, b, acc));
}

TEST_F(ChipTest, SelectsTheBestThatFits) {
  EXPECT_EQ(select("sm_80", f16, f16, f32, 64, 64, 32), "mma.m16n8k16.f32.f16");
  EXPECT_EQ(select("sm_80", f16, f16, f32, 16, 8, 8), "mma.m16n8k8.f32.f16");
  EXPECT_EQ(select("sm_80", f16, f16, f16, 16, 8, 16), "mma.m16n8k16.f16.f16");
  EXPECT_EQ(select("sm_75", f16, f16, f32, 64, 64, 32), "mma.m16n8k8.f32.f16");
  EXPECT_EQ(select("sm_70", f16, f16, f32, 64, 64, 32), "mma.m8n8k4.f32.f16");
  EXPECT_EQ(select("sm_80", bf16, bf16, f32, 16, 8, 16),
            "mma.m16n8k16.f32.bf16");
  EXPECT_EQ(select("sm_75", bf16, bf16, f32, 16, 32, 16),
            "fma.m16n32k1.f32.bf16");
  EXPECT_EQ(select("sm_80", i8, i8, i32, 16, 8, 32), "mma.m16n8k32.i32.i8");
  EXPECT_EQ(select("sm_75", i8, i8, i32, 8, 8, 32), "mma.m8n8k16.i32.i8");
  EXPECT_EQ(select("sm_80", f64, f64, f64, 16, 8, 16), "mma.m8n8k4.f64.f64");
  EXPECT_EQ(select("sm_90a", f64, f64, f64, 16, 8, 16), "mma.m16n8k16.f64.f64");
  EXPECT_EQ(select("sm_89", e4m3, e5m2, f32, 16, 8, 32),
            "mma.m16n8k32.f32.f8E4M3FN.f8E5M2");
  EXPECT_EQ(select("sm_86", e4m3, e5m2, f32, 16, 32, 32),
            "fma.m16n32k1.f32.f8E4M3FN.f8E5M2");
  EXPECT_EQ(select("x86-64-avx512", f32, f32, f32, 8, 32, 1),
            "fma.m1n16k1.f32.f32");
  EXPECT_EQ(select("x86-64-avx2", f32, f32, f32, 8, 32, 1),
            "fma.m1n8k1.f32.f32");
  EXPECT_EQ(select("x86-64-avx512-vnni", i8, i8, i32, 8, 32, 4),
            "dot4.m1n16k4.i32.i8");
  EXPECT_EQ(select("x86-64-avx512-vnni", i8, i8, i32, 8, 24, 4),
            "fma.m1n8k4.i32.i8");
  EXPECT_EQ(select("x86-64-avx512", i8, i8, i32, 8, 32, 4),
            "fma.m1n16k4.i32.i8");
  EXPECT_EQ(select("generic", f64, f64, f64, 8, 32, 1), "fma.m1n2k1.f64.f64");
  EXPECT_EQ(select("generic", f32, f32, f32, 3, 7, 5), "fma.m1n1k1.f32.f32");
}

TEST_F(ChipTest, UsesTf32OnlyWherePermitted) {
  EXPECT_EQ(select("sm_80", f32, f32, f32, 16, 32, 8), "fma.m16n32k4.f32.f32");
  EXPECT_TRUE(isReason("mma.m16n8k8.f32.tf32: rounds its operands to tf32: "
                       "allow it with 'precision tf32' or --allow-tf32"));
  EXPECT_EQ(select("sm_80", f32, f32, f32, 16, 32, 8, Precision::Tf32),
            "mma.m16n8k8.f32.tf32");
  EXPECT_EQ(select("sm_75", f32, f32, f32, 16, 32, 8, Precision::Tf32),
            "fma.m16n32k4.f32.f32");
}

TEST_F(ChipTest, UnsignedOperandsNeedRowsThatReadThem) {
  auto select = [&](StringRef name, bool anyUnsigned) {
    why.clear();
    return selectInstruction(*findChip("hip", name), i8, i8, i32,
                             Precision::Ieee, 64, 64, 64, &why,
                             /*subgroups=*/1, /*aInMemory=*/true, anyUnsigned)
        ->name;
  };
  EXPECT_EQ(select("gfx942", false), "mfma.m32n32k16.i32.i8");
  EXPECT_EQ(select("gfx942", true), "mfma.m32n32k16.i32.i8");
  EXPECT_EQ(select("gfx906", false), "dot4.m32n32k4.i32.i8");
  EXPECT_EQ(select("gfx906", true), "fma64.m32n32k1.i32.i8");
  EXPECT_TRUE(isReason("dot4.m32n32k4.i32.i8: treats operands as signed, but "
                       "one is unsigned"));
  EXPECT_EQ(select("gfx1100", true), "wmma.m16n16k16.i32.i8");
}

TEST_F(ChipTest, WidensI4WhereNoRowTakesIt) {
  Type i4 = builder.getIntegerType(4);
  auto select = [&](StringRef name, int64_t m, int64_t k, bool anyUnsigned) {
    why.clear();
    return selectInstruction(*findChip("hip", name), i4, i4, i32,
                             Precision::Ieee, m, 64, k, &why, /*subgroups=*/1,
                             /*aInMemory=*/true, anyUnsigned)
        ->name;
  };
  EXPECT_EQ(select("gfx1100", 64, 64, true), "wmma.m16n16k16.i32.i4");
  EXPECT_EQ(select("gfx1201", 64, 64, false), "wmma12.m16n16k32.i32.i4");
  EXPECT_EQ(select("gfx1201", 64, 16, false), "wmma12.m16n16k16.i32.i4");
  EXPECT_EQ(select("gfx1100", 8, 64, false), "fma.m8n8k1.i32.i8");
  EXPECT_TRUE(isReason("wmma.m16n16k16.i32.i4: the fragment, 8x64x64, is not a "
                       "multiple of 16x16x16"));
  EXPECT_TRUE(
      isReason("gfx1100 has no matrix instruction for this combination of i4: "
               "operands are extended to i8 in registers"));
  EXPECT_EQ(select("gfx942", 64, 64, false), "mfma.m32n32k16.i32.i8");
  // As i8, none of them has a sign to be read wrongly.
  EXPECT_EQ(select("gfx906", 64, 64, true), "dot4.m32n32k4.i32.i8");
  EXPECT_TRUE(hasMatrixMultiply(*findChip("hip", "gfx1103"), i4, i4, i32));
  EXPECT_FALSE(hasMatrixMultiply(*findChip("hip", "gfx1103"), i4, i8, i32));
  EXPECT_FALSE(hasMatrixMultiply(*findChip("hip", "gfx942"), i4, i4, i32));
  // Several subgroups read b from memory, where it is still of i4.
  EXPECT_EQ(selectInstruction(*findChip("cuda", "sm_90a"), i4, i4, i32,
                              Precision::Ieee, 64, 64, 64, nullptr,
                              /*subgroups=*/4),
            nullptr);
}

TEST_F(ChipTest, SaysWhyRowsWerePassedOver) {
  select("sm_80", f16, f16, f32, 16, 8, 8);
  EXPECT_TRUE(isReason("mma.m16n8k16.f32.f16: the fragment, 16x8x8, is not a "
                       "multiple of 16x8x16"));
  EXPECT_TRUE(isReason("mma.m8n8k4.f32.f16: a better instruction fits"));
  EXPECT_EQ(why.size(), 2u);

  select("sm_75", bf16, bf16, f32, 16, 32, 16);
  EXPECT_TRUE(isReason(
      "sm_75 has no matrix instruction for bf16 x bf16 -> f32; it supports "
      "16x8x8 f16 -> f32, 16x16x4 f16 -> f32, 16x8x8 f16 -> f16, "
      "16x16x4 f16 -> f16, 8x8x16 i8 -> i32"))
      << llvm::join(why, "\n");

  select("generic", f32, f32, f32, 1, 4, 1);
  EXPECT_TRUE(isReason("generic has no matrix instruction for f32 x f32 -> "
                       "f32; it has no matrix unit"));

  // An unsupported matmul.
  EXPECT_EQ(select("sm_89", f16, bf16, f32, 16, 8, 16), "");
  ASSERT_EQ(why.size(), 1u);
  EXPECT_TRUE(
      StringRef(why[0]).starts_with("sm_89 has no matrix instruction for f16 x "
                                    "bf16 -> f32; it supports"));
  EXPECT_TRUE(StringRef(why[0]).contains("f8E4M3FN x f8E5M2 -> f32")) << why[0];
  EXPECT_TRUE(StringRef(why[0]).contains("tf32 -> f32")) << why[0];
}

TEST_F(ChipTest, EveryFragmentHasAPlainLayout) {
  for (const Chip &chip : getAllChips())
    for (Role role : {Role::A, Role::B, Role::Acc})
      for (Type type : {f16, bf16, f32, f64, i8, i32, e4m3, e5m2})
        for (auto [rows, cols] :
             {std::pair(1, 1), {3, 5}, {16, 8}, {64, 64}, {1, 32}, {32, 1}}) {
          FragmentType fragment = FragmentType::get(rows, cols, type, role);
          const MatrixInstruction *row = selectPlainLayout(chip, fragment);
          ASSERT_TRUE(row) << chip.name;
          const LaneMap &map = row->getMap(role);
          bool isVector = role == Role::Acc;
          EXPECT_TRUE(rows % map.getRows() == 0 || (isVector && rows == 1));
          EXPECT_TRUE(cols % map.getCols() == 0 || (isVector && cols == 1));
        }
}

TEST_F(ChipTest, PlainLayoutIsTheMatrixUnitsWhereItHasOne) {
  const Chip *chip = findChip("cuda", "sm_80");
  EXPECT_EQ(
      selectPlainLayout(*chip, FragmentType::get(64, 64, f32, Role::Acc))->name,
      "mma.m16n8k16.f32.f16");
  EXPECT_EQ(
      selectPlainLayout(*chip, FragmentType::get(16, 1, f32, Role::Acc))->name,
      "mma.m16n8k16.f32.f16");
  EXPECT_EQ(
      selectPlainLayout(*chip, FragmentType::get(16, 16, i8, Role::A))->name,
      "mma.m16n8k16.i32.i8");
}

/// The reported nearest matmul is selected if all of its changes are made: for
/// each chip, types of all kinds, and shapes that fit and do not.
TEST_F(ChipTest, NearestMatmulsAreTaken) {
  const char *floats[] = {"f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"};
  size_t found = 0;
  auto check = [&](const Chip &chip, const MatmulForm &form) {
    const MatrixInstruction *chosen = selectInstruction(chip, form);
    std::optional<NearestMatmul> nearest =
        findNearestMatmul(chip, form, chosen);
    bool hasMatrixRow = llvm::any_of(chip.instructions, [&](const auto &row) {
      return row.matrixUnit && (row.aType == "i8") == (form.a == "i8");
    });
    // If the matrix unit is not used, the nearest matmul is reported, if the
    // chip has one.
    if (!chosen || !chosen->matrixUnit) {
      EXPECT_EQ(nearest.has_value(), hasMatrixRow)
          << chip.name << " " << form.a << " " << form.acc;
    }
    if (!nearest)
      return;
    ++found;
    const MatrixInstruction *taken = selectInstruction(chip, nearest->form);
    ASSERT_TRUE(taken) << chip.name;
    EXPECT_EQ(taken, nearest->row);
    EXPECT_TRUE(taken->matrixUnit);
    EXPECT_NE(taken, chosen);
    EXPECT_TRUE(!nearest->changes.empty() || !nearest->shape.empty());
  };
  for (const Chip &chip : getAllChips())
    for (int64_t subgroups : {1, 4})
      for (auto [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                             {16, 16, 1},
                             {8, 24, 40},
                             {64, 256, 64}}) {
        for (const char *a : floats)
          for (const char *b : floats)
            for (const char *acc : {"f16", "f32", "f64"})
              for (bool inMemory : {false, true})
                check(chip, {a, b, acc, Precision::Ieee, m, n, k, subgroups,
                             inMemory, false});
        for (bool anyUnsigned : {false, true})
          check(chip, {"i8", "i8", "i32", Precision::Ieee, m, n, k, subgroups,
                       true, anyUnsigned});
      }
  EXPECT_GT(found, 1000u);
}

TEST_F(ChipTest, NearestMatmulsAreNear) {
  auto find = [&](StringRef chipName, const MatmulForm &form) {
    const Chip &chip = *findChip("cuda", chipName);
    std::optional<NearestMatmul> nearest =
        findNearestMatmul(chip, form, selectInstruction(chip, form));
    return nearest
               ? nearest->row->name + ": " +
                     llvm::join(nearest->changes, ", ") + "; " + nearest->shape
               : std::string("none");
  };
  EXPECT_EQ(find("sm_80", {"f32", "f32", "f32", Precision::Ieee, 16, 16, 8}),
            "mma.m16n8k8.f32.tf32: --allow-tf32; ");
  EXPECT_EQ(find("sm_75", {"bf16", "bf16", "f32", Precision::Ieee, 16, 8, 4}),
            "mma.m16n8k8.f32.f16: operands of f16 (bf16 here); fragments of a "
            "multiple of 16x8x8 (16x8x4 here)");
  EXPECT_EQ(find("sm_80", {"f16", "f16", "f32", Precision::Ieee, 16, 8, 8}),
            "mma.m16n8k16.f32.f16: ; fragments of a multiple of 16x8x16 "
            "(16x8x8 here)");
  EXPECT_EQ(find("sm_80", {"f16", "f16", "f32", Precision::Ieee, 16, 8, 16}),
            "none");
  EXPECT_EQ(find("sm_90a", {"f16", "f16", "f32", Precision::Ieee, 64, 8, 16}),
            "wgmma.m64n8k16.f32.f16: fragments owned by 4 subgroups together "
            "(subgroupsPerFragment = 4 in a schedule); ");
}

TEST(PeaksTest, SheetsAreOfOneMind) {
  unsigned count = 0;
  for (const Chip &chip : getAllChips())
    for (const DeviceSheet &sheet : chip.devices) {
      ++count;
      // Operations of a unit in a clock are a power of two.
      double perClock = sheet.f16 * 1e12 / (sheet.units * sheet.clockMHz * 1e6);
      double exponent = std::log2(perClock);
      EXPECT_NEAR(exponent, std::round(exponent), 0.03) << sheet.name;
      for (double rate : {sheet.bf16, sheet.tf32, sheet.i8, sheet.f8})
        if (rate != 0) {
          double factor = std::log2(rate / sheet.f16);
          EXPECT_NEAR(factor, std::round(factor), 0.01) << sheet.name;
        }
      EXPECT_GT(sheet.memory, 0.1);
      EXPECT_LT(sheet.memory, 10);
    }
  EXPECT_GE(count, 19u);
}

TEST(PeaksTest, RoofsAreOfTheDevice) {
  std::string why;
  auto find = [&](StringRef chip, StringRef device, int64_t units, int64_t mhz,
                  StringRef type) {
    why.clear();
    return findRoof(chip, device, units, mhz, type, why);
  };
  auto roof = find("sm_90a", "NVIDIA H200", 132, 1980, "f16");
  ASSERT_TRUE(roof);
  EXPECT_EQ(roof->operations, 989.4e12);
  EXPECT_EQ(roof->bytes, 4.8e12);
  EXPECT_EQ(find("sm_90a", "NVIDIA H100 80GB HBM3", 0, 0, "bf16")->bytes,
            3.35e12);
  // Without a device, the chip's representative; for Vulkan, by its name.
  EXPECT_EQ(find("sm_90a", "", 0, 0, "f8E5M2")->operations, 1978.9e12);
  EXPECT_EQ(find("nvidia-hopper", "NVIDIA H200", 0, 0, "i8")->bytes, 4.8e12);
  // Half the units of an A100 at its clock do half of it.
  roof = find("sm_80", "NVIDIA A30X", 54, 1410, "tf32");
  ASSERT_TRUE(roof);
  EXPECT_EQ(roof->operations, 78e12);
  EXPECT_EQ(roof->bytes, 0);
  EXPECT_TRUE(StringRef(roof->source).starts_with("54 units at 1410 MHz, as"));
  EXPECT_FALSE(find("sm_80", "NVIDIA A30X", 0, 0, "f16"));
  EXPECT_EQ(why, "no data sheet is known for NVIDIA A30X, and its driver "
                 "does not report compute units and clock");
  EXPECT_FALSE(find("pvc", "", 0, 0, "f16"));
  EXPECT_EQ(why, "no data sheet is known for a device of chip pvc");
  EXPECT_FALSE(find("sm_70", "", 0, 0, "bf16"));
  EXPECT_EQ(why, "NVIDIA V100 data sheet has no rate for bf16");
  // Names are whole words: A400 does not match A40.
  EXPECT_FALSE(find("sm_86", "NVIDIA A400", 0, 0, "f16"));
}

} // namespace
