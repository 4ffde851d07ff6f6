//===- ScheduleTest.cpp - Choice and legality of schedules ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sanitizers.h"
#include "Scheduling/ScheduleCheck.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// "64" or "?".
std::string formatText(int64_t extent) {
  return extent ? std::to_string(extent) : "?";
}

struct Types {
  const char *operand, *acc;
  bool tf32 = false;
};
constexpr Types types[] = {
    {"f16", "f32"},       {"f16", "f16"},      {"bf16", "f32"},
    {"f32", "f32"},       {"f64", "f64"},      {"i8", "i32"},
    {"f32", "f32", true}, {"f8E4M3FN", "f32"}, {"f8E4M3FNUZ", "f32"},
};

class ScheduleTest : public ::testing::Test {
protected:
  ScheduleTest() {
    context.loadDialect<TesseraDialect, func::FuncDialect, gpu::GPUDialect>();
  }

  /// A matmul of MxKxN; an extent of 0 is dynamic.
  ContractOp makeMatmul(std::array<int64_t, 3> mnk, StringRef operand,
                        StringRef acc, bool transposedRhs = false,
                        bool tf32 = false) {
    std::string m = formatText(mnk[0]), n = formatText(mnk[1]),
                k = formatText(mnk[2]), in = operand.str();
    std::string a = "memref<" + m + "x" + k + "x" + in + ">",
                b = "memref<" + (transposedRhs ? n + "x" + k : k + "x" + n) +
                    "x" + in + ">",
                c = "memref<" + m + "x" + n + "x" + acc.str() + ">";
    std::string text =
        "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c +
        ") {\n  tessera.contract ins(%a, %b : " + a + ", " + b +
        ") outs(%c : " + c +
        ") maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> " +
        (transposedRhs ? "(n, k)" : "(k, n)") +
        ">, affine_map<(m, n, k) -> (m, n)>] accumulate " + acc.str() +
        (tf32 ? " precision tf32" : "") + " {\n  ^bb0(%s: " + acc.str() +
        "):\n    tessera.yield %s : " + acc.str() + "\n  }\n  return\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    ContractOp contraction;
    if (module)
      module->walk([&](ContractOp op) { contraction = op; });
    return contraction;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

std::string formatText(ScheduleAttr schedule) {
  std::string text;
  llvm::raw_string_ostream(text) << schedule;
  return text;
}

// The default schedule is legal: for all chips, types and a range of extents.
TEST_F(ScheduleTest, DefaultIsLegal) {
  unsigned checked = 0;
  for (const Types &type : types)
    for (std::array<int64_t, 3> mnk : {std::array<int64_t, 3>{0, 0, 0},
                                       {1, 1, 1},
                                       {5, 20, 64},
                                       {512, 512, 512},
                                       {509, 511, 513},
                                       {4096, 4096, 4096},
                                       {64, 64, 65536},
                                       {1, 4096, 4096},
                                       {0, 24, 8}})
      for (bool transposed : {false, true}) {
        ContractOp op =
            makeMatmul(mnk, type.operand, type.acc, transposed, type.tf32);
        ASSERT_TRUE(op);
        for (const Chip &chip : getAllChips()) {
          ScheduleAttr schedule = getDefaultSchedule(op, chip);
          for (const ScheduleProblem &problem :
               getScheduleProblems(op, schedule, chip))
            ADD_FAILURE() << chip.name << " " << type.operand << " "
                          << formatText(schedule) << ": " << problem.label
                          << ": " << problem.message;
          ++checked;
        }
      }
  EXPECT_EQ(checked, std::size(types) * 9 * 2 * getAllChips().size());
}

// A matmul that is large enough runs on the matrix unit, if the chip has one
// for its types, with the tiles of the chip's table.
TEST_F(ScheduleTest, DefaultUsesTheMatrixUnit) {
  unsigned checked = 0;
  for (const Types &type : types) {
    ContractOp op = makeMatmul({4096, 4096, 4096}, type.operand, type.acc,
                               /*transposedRhs=*/true, type.tf32);
    ASSERT_TRUE(op);
    for (const Chip &chip : getAllChips()) {
      if (chip.target != "hip")
        continue;
      auto rows =
          getPermittedInstructions(op, getMatrixForm(op), chip, /*group=*/1);
      ASSERT_FALSE(rows.empty());
      if (!rows[0]->matrixUnit)
        continue;
      ScheduleAttr schedule = getDefaultSchedule(op, chip);
      SCOPED_TRACE(chip.name + " " + type.operand + " " + formatText(schedule));
      EXPECT_EQ(schedule.getKFragment() % rows[0]->k, 0);
      // Accumulators of f64 take twice the registers.
      auto [rowsOfTile, cols] = chip.policy.matrixDefaults.subgroup;
      EXPECT_EQ(schedule.getSubgroup()[0], rowsOfTile);
      EXPECT_EQ(schedule.getSubgroup()[1],
                type.acc == StringRef("f64") ? cols / 2 : cols);
      EXPECT_GE(schedule.getStages(), 1);
      ++checked;
    }
  }
  // gfx908: f16, bf16, i8, and f32 with tf32 permitted or not; gfx90a: and f64;
  // gfx942 and gfx950: and an 8-bit float each. RDNA: f16 twice, bf16, i8;
  // RDNA4: and an 8-bit float.
  EXPECT_EQ(checked, 5u + 6u + 7u + 7u + 6u * 4u + 2u * 5u);
}

// The schedule suggested for an illegal one is legal, differs from it, and
// changes only fields that a problem names.
TEST_F(ScheduleTest, SuggestionIsLegal) {
  std::mt19937 random(20261121);
  auto pick = [&](std::initializer_list<int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  std::map<std::string, unsigned> seen;
  unsigned illegal = 0;
  const unsigned rounds = isSanitized ? 80 : 400;
  for (unsigned round = 0; round < rounds; ++round) {
    const Types &type = types[random() % std::size(types)];
    ContractOp op = makeMatmul(
        {pick({0, 96, 1000}), pick({0, 64, 1000}), pick({0, 48, 4096})},
        type.operand, type.acc, random() % 2, type.tf32);
    ASSERT_TRUE(op);
    const Chip &chip = getAllChips()[random() % getAllChips().size()];
    std::array<int64_t, 2> subgroup{pick({8, 16, 24, 32, 40, 64, 128}),
                                    pick({4, 8, 12, 32, 48, 64, 128})};
    std::array<int64_t, 2> workgroup{subgroup[0] * pick({1, 2, 3, 8}),
                                     subgroup[1] * pick({1, 2, 4, 8})};
    int64_t kFragment = pick({1, 4, 8, 12, 16, 32}),
            k = kFragment * pick({1, 2, 3, 4, 8, 16});
    std::array<int64_t, 2> grid{pick({1, 1, 2}), pick({1, 1, 2})};
    int64_t stages = pick({0, 1, 2, 3, 4, 8});
    ScheduleFields fields;
    fields.workgroup = workgroup;
    fields.subgroup = subgroup;
    fields.k = k;
    fields.kFragment = kFragment;
    fields.stages = stages;
    fields.vthread = grid;
    fields.interleave = pick({0, 1});
    fields.swizzle = stages && random() % 4 == 0;
    fields.splitK = pick({1, 1, 2, 64});
    fields.splitKReduction = SplitReduction(pick({0, 1}));
    fields.raster = pick({0, 8, int64_t(1) << 40});
    fields.persistent = pick({0, 132, int64_t(1) << 33});
    fields.stageOutput = random() % 4 == 0;
    fields.cluster = {pick({1, 1, 2}), 1};
    fields.batches = pick({1, 1, 2, 8});
    ScheduleAttr schedule = ScheduleAttr::get(&context, fields);
    SmallVector<ScheduleProblem> problems =
        getScheduleProblems(op, schedule, chip);
    if (problems.empty())
      continue;
    ++illegal;
    for (const ScheduleProblem &problem : problems)
      ++seen[problem.label];
    ScheduleAttr nearest = getNearestSchedule(op, schedule, chip, problems);
    ASSERT_TRUE(nearest) << chip.name << " " << formatText(schedule);
    EXPECT_NE(nearest, schedule);
    EXPECT_FALSE(ScheduleNumbers(nearest)
                     .describeChange(ScheduleNumbers(schedule))
                     .empty());
    for (const ScheduleProblem &left : getScheduleProblems(op, nearest, chip))
      ADD_FAILURE() << chip.name << " " << formatText(schedule)
                    << "\n  suggested " << formatText(nearest) << "\n  "
                    << left.label << ": " << left.message;
  }
  // The sample is of use only if it breaks every constraint.
  EXPECT_GT(illegal, rounds / 2);
  if (isSanitized)
    return;
  for (const char *label :
       {"schedule_c7", "schedule_c8", "schedule_c9", "schedule_c10",
        "schedule_c11", "schedule_c12", "schedule_c13", "schedule_c14",
        "schedule_c17", "schedule_c22", "schedule_c23"})
    EXPECT_GT(seen[label], 0u) << label;
}

// The estimate counts the registers of PTX: mma.m16n8k16 with f32 accumulators
// has 4 registers of d, 4 of a and 2 of b.
TEST_F(ScheduleTest, CountsRegisters) {
  ContractOp op = makeMatmul({0, 0, 0}, "f16", "f32");
  ASSERT_TRUE(op);
  const Chip *chip = findChip("cuda", "sm_80");
  ASSERT_TRUE(chip);
  auto rows =
      getPermittedInstructions(op, getMatrixForm(op), *chip, /*group=*/1);
  ASSERT_FALSE(rows.empty());
  ASSERT_EQ(rows[0]->name, "mma.m16n8k16.f32.f16");
  auto make = [&](std::array<int64_t, 2> tile, std::array<int64_t, 2> grid,
                  int64_t interleave) {
    ScheduleFields fields;
    fields.workgroup = fields.subgroup = tile;
    fields.k = fields.kFragment = 16;
    fields.vthread = grid;
    fields.interleave = interleave;
    return ScheduleAttr::get(&context, fields);
  };
  RegisterEstimate one =
      estimateRegisters(op, make({16, 8}, {1, 1}, 0), *chip, *rows[0]);
  EXPECT_EQ(one.accumulators, 4);
  EXPECT_EQ(one.operands, 4 + 2);
  RegisterEstimate full =
      estimateRegisters(op, make({64, 64}, {2, 2}, 0), *chip, *rows[0]);
  EXPECT_EQ(full.accumulators, 4 * 4 * 8);
  EXPECT_EQ(full.operands, 4 * 4 + 2 * 8);
  RegisterEstimate single =
      estimateRegisters(op, make({64, 64}, {2, 2}, 1), *chip, *rows[0]);
  EXPECT_EQ(single.accumulators, 4 * 4 * 8);
  EXPECT_EQ(single.operands, (4 * 4 + 2 * 8) / 2);
}

} // namespace
