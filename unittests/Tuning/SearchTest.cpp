//===- SearchTest.cpp - Spaces, models and the search ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Search.h"

#include "Driver/Compiler.h"
#include "Scheduling/TuningTask.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

using Field = ScheduleField;

namespace {

class SearchTest : public ::testing::Test {
protected:
  SearchTest() { prepareContext(context); }

  /// A single matmul of MxNxK f16.
  OwningOpRef<ModuleOp> makeTask(int64_t m, int64_t n, int64_t k,
                                 StringRef before = "") {
    auto type = [](int64_t rows, int64_t cols) {
      return "memref<" + std::to_string(rows) + "x" + std::to_string(cols) +
             "xf16>";
    };
    std::string a = type(m, k), b = type(k, n), c = type(m, n);
    std::string text =
        "func.func @main(%a: " + a + ", %b: " + b + ", %c: " + c + ") {\n" +
        before.str() +
        "  %z = arith.constant 0.0 : f32\n"
        "  tessera.contract ins(%a, %b : " +
        a + ", " + b + ") init(%z : f32) outs(%c : " + c +
        ") maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, "
        "n)>, affine_map<(m, n, k) -> (m, n)>] accumulate f32 {\n"
        "  ^bb0(%acc: f32):\n    %t = arith.truncf %acc : f32 to f16\n"
        "    tessera.yield %t : f16\n  }\n  return\n}\n";
    return parseSourceString<ModuleOp>(text, &context);
  }

  static Operation *findTask(ModuleOp module) {
    Operation *found = nullptr;
    module.walk([&](Operation *op) {
      if (isTuningTask(op))
        found = op;
    });
    return found;
  }

  MLIRContext context;
};

} // namespace

TEST_F(SearchTest, KeysAreOfWhatIsComputed) {
  OwningOpRef<ModuleOp> task = makeTask(256, 128, 64),
                        same = makeTask(256, 128, 64,
                                        "  %unused = arith.constant 7 : i32\n"),
                        other = makeTask(256, 128, 32);
  ASSERT_TRUE(task && same && other);
  Operation *op = findTask(*task);
  EXPECT_EQ(getTaskKey(op).size(), 16u);
  EXPECT_EQ(getTaskKey(op), getTaskKey(findTask(*same)));
  EXPECT_NE(getTaskKey(op), getTaskKey(findTask(*other)));
  // With a schedule it is the same task, and its program is a fixed point.
  std::string key = getTaskKey(op);
  cast<ContractOp>(op).setScheduleAttr(
      getDefaultSchedule(cast<ContractOp>(op), *findChip("cuda", "sm_80")));
  EXPECT_EQ(getTaskKey(op), key);
  OwningOpRef<ModuleOp> again =
      parseSourceString<ModuleOp>(getTaskText(op), &context);
  ASSERT_TRUE(again);
  EXPECT_EQ(getTaskKey(findTask(*again)), key);
  EXPECT_EQ(describeTask(op), "256x128x64 f16 x f16 -> f16, epilogue of 1 op");
}

TEST_F(SearchTest, KeysDependOnTheFlagsThatChangeTheCode) {
  OwningOpRef<ModuleOp> task = makeTask(256, 128, 64);
  ASSERT_TRUE(task);
  Operation *op = findTask(*task);
  std::string key = getTaskKey(op);
  // Records of earlier versions have the key of the text.
  EXPECT_EQ(getTaskKey(getTaskText(op), ""), key);
  CompileFlags flags;
  ASSERT_EQ(parseFlags("require-mma,allow-tf32,validate", flags), "");
  EXPECT_EQ(getTaskKey(op, flags), key);
  ASSERT_EQ(parseFlags("vthread-order=depth_first", flags), "");
  EXPECT_NE(getTaskKey(op, flags), key);
  EXPECT_EQ(getTaskKey(op, flags),
            getTaskKey(getTaskText(op), "vthread-order=depth_first"));
  EXPECT_EQ(describeTask(op, flags), "256x128x64 f16 x f16 -> f16, epilogue "
                                     "of 1 op, with vthread-order=depth_first");
}

TEST_F(SearchTest, PointsAreLegalWherever) {
  OwningOpRef<ModuleOp> task = makeTask(512, 384, 1024);
  auto op = cast<ContractOp>(findTask(*task));
  for (auto [target, name] :
       {std::pair("cuda", "sm_80"), std::pair("cuda", "sm_90a"),
        std::pair("hip", "gfx942"), std::pair("hip", "gfx1100"),
        std::pair("cpu", "x86-64-avx512")}) {
    const Chip &chip = *findChip(target, name);
    ScheduleSpace space(*task, chip, getDefaultValues(op, chip));
    ASSERT_FALSE(space.getCores().empty()) << name;
    std::mt19937_64 random(3);
    std::set<std::string> seen;
    ScheduleNumbers point = space.draw(random);
    for (int i = 0; i < 150; ++i) {
      point = i % 3 == 0   ? space.draw(random)
              : i % 3 == 1 ? space.mutate(point, random)
                           : space.cross(point, space.draw(random), random);
      seen.insert(formatPoint(point));
      ScheduleAttr schedule = space.getAttr(point);
      ASSERT_TRUE(schedule) << name;
      auto problems = getScheduleProblems(op, schedule, chip);
      EXPECT_TRUE(problems.empty()) << name << ": " << problems.front().label
                                    << " " << formatPoint(point);
    }
    EXPECT_GT(seen.size(), 60u) << name;
  }
}

TEST_F(SearchTest, CountsAddUp) {
  OwningOpRef<ModuleOp> task = makeTask(128, 128, 128);
  auto op = cast<ContractOp>(findTask(*task));
  const Chip &chip = *findChip("cuda", "sm_80");
  SpaceValues values = getDefaultValues(op, chip);
  values.raster = {0};
  values.persistent = {0};
  ScheduleSpace space(*task, chip, values);
  std::mt19937_64 random(1);
  ScheduleSpace::Count count = space.count(SIZE_MAX, random);
  EXPECT_FALSE(count.isEstimate);
  double sum = count.legal;
  for (const auto &[why, points] : count.removed)
    sum += points;
  EXPECT_DOUBLE_EQ(sum, count.all);
  EXPECT_GT(count.legal, 100);
  EXPECT_GT(count.removed["schedule_c7"], 0);
  // Expanding finds as many.
  size_t expanded = 0;
  for (const ScheduleNumbers &core : space.getCores())
    space.expand(core, SIZE_MAX, [&](const ScheduleNumbers &) { ++expanded; });
  EXPECT_DOUBLE_EQ(static_cast<double>(expanded), count.legal);
}

TEST_F(SearchTest, MachineKnowsWhatIsWaste) {
  OwningOpRef<ModuleOp> task = makeTask(4096, 4096, 4096);
  Operation *op = findTask(*task);
  const Chip &chip = *findChip("cuda", "sm_90a");
  MachineModel model(op, chip);
  EXPECT_DOUBLE_EQ(model.getOperations(), 2.0 * 4096 * 4096 * 4096);
  EXPECT_DOUBLE_EQ(model.getBytes(), 3.0 * 4096 * 4096 * 2);
  ScheduleNumbers own(getDefaultSchedule(cast<ContractOp>(op), chip));
  ScheduleNumbers tiny = own;
  tiny[Field::WorkgroupM] = tiny[Field::WorkgroupN] = 16;
  tiny[Field::SubgroupM] = tiny[Field::SubgroupN] = 16;
  tiny[Field::SubgroupsPerFragment] = 1;
  EXPECT_GT(model.estimate(tiny), 4 * model.estimate(own));
  EXPECT_GE(model.estimate(own), model.getRoof());
}

/// A time for each point, whose least is known.
static double getTime(const ScheduleNumbers &point, const MachineModel &model) {
  double m = std::log2(static_cast<double>(point[Field::WorkgroupM])) - 6,
         n = std::log2(static_cast<double>(point[Field::WorkgroupN])) - 7,
         s = static_cast<double>(point[Field::Stages]) - 3;
  return model.estimate(point) * (1 + 0.5 * (m * m + n * n) + 0.2 * s * s +
                                  0.3 * (point[Field::Raster] != 8));
}

TEST_F(SearchTest, ModelLearns) {
  OwningOpRef<ModuleOp> task = makeTask(1024, 1024, 1024);
  Operation *op = findTask(*task);
  const Chip &chip = *findChip("cuda", "sm_80");
  ScheduleSpace space(*task, chip, getDefaultValues(op, chip));
  MachineModel machine(op, chip);
  std::mt19937_64 random(5);
  std::vector<CostModel::Sample> samples;
  for (int i = 0; i < 120; ++i) {
    ScheduleNumbers point = space.draw(random);
    samples.push_back(
        {point, getTime(point, machine), machine.estimate(point)});
  }
  CostModel model;
  model.fit(samples);
  ASSERT_TRUE(model.isFitted());
  // The model predicts samples it has seen, and of two others it mostly finds
  // the faster one, unless both are too slow to matter.
  const CostModel::Sample &fastest = *std::min_element(
      samples.begin(), samples.end(),
      [](const auto &a, const auto &b) { return a.time < b.time; });
  CostModel::Guess seen = model.predict(fastest.point, fastest.expected);
  EXPECT_NEAR(seen.mean, std::log(fastest.time), 0.2);
  EXPECT_EQ(seen.success, 1);
  int right = 0, pairs = 0;
  while (pairs < 200) {
    ScheduleNumbers a = space.draw(random), b = space.draw(random);
    if (std::min(getTime(a, machine), getTime(b, machine)) > 2 * fastest.time)
      continue;
    ++pairs;
    double guessA = model.predict(a, machine.estimate(a)).mean,
           guessB = model.predict(b, machine.estimate(b)).mean;
    right += (guessA < guessB) == (getTime(a, machine) < getTime(b, machine));
  }
  EXPECT_GT(right, pairs * 8 / 10);
}

TEST_F(SearchTest, SearchBeatsChance) {
  OwningOpRef<ModuleOp> task = makeTask(1024, 1024, 1024);
  Operation *op = findTask(*task);
  const Chip &chip = *findChip("cuda", "sm_80");
  ScheduleSpace space(*task, chip, getDefaultValues(op, chip));
  MachineModel machine(op, chip);
  constexpr int trials = 200;
  int wins = 0;
  for (uint64_t seed : {1, 2, 3}) {
    SearchOptions options;
    options.seed = seed;
    TaskSearch search(space, machine, options);
    search.setOwnChoice(getDefaultSchedule(cast<ContractOp>(op), chip));
    std::set<std::string> seen;
    for (int i = 0; i < trials; ++i) {
      std::optional<ScheduleNumbers> point = search.propose();
      ASSERT_TRUE(point);
      EXPECT_TRUE(seen.insert(formatPoint(*point)).second);
      search.observe(*point, getTime(*point, machine));
    }
    std::mt19937_64 random(seed);
    double chance = INFINITY;
    for (int i = 0; i < trials; ++i)
      chance = std::min(chance, getTime(space.draw(random), machine));
    wins += search.getBest() < chance;
  }
  EXPECT_EQ(wins, 3);
}

TEST_F(SearchTest, FailuresAreLearntFrom) {
  OwningOpRef<ModuleOp> task = makeTask(1024, 1024, 1024);
  Operation *op = findTask(*task);
  const Chip &chip = *findChip("cuda", "sm_80");
  ScheduleSpace space(*task, chip, getDefaultValues(op, chip));
  MachineModel machine(op, chip);
  // Most points fail, and for a reason.
  auto fails = [](const ScheduleNumbers &point) {
    return point[Field::Swizzle] == 1 || point[Field::Stages] >= 4;
  };
  TaskSearch search(space, machine, SearchOptions());
  int failed = 0;
  constexpr int trials = 200;
  for (int i = 0; i < trials; ++i) {
    std::optional<ScheduleNumbers> point = search.propose();
    ASSERT_TRUE(point);
    failed += fails(*point);
    search.observe(*point, fails(*point)
                               ? std::nullopt
                               : std::optional(getTime(*point, machine)));
  }
  std::mt19937_64 random(1);
  int byChance = 0;
  for (int i = 0; i < trials; ++i)
    byChance += fails(space.draw(random));
  EXPECT_GT(byChance, trials / 2);
  EXPECT_LT(failed, trials / 4);
}

TEST_F(SearchTest, SmallSpacesAreGoneThrough) {
  OwningOpRef<ModuleOp> task = makeTask(256, 256, 256);
  Operation *op = findTask(*task);
  const Chip &chip = *findChip("cuda", "sm_80");
  SpaceValues values = getDefaultValues(op, chip);
  values.workgroup = {{64, 64}, {128, 64}};
  values.subgroup = {{32, 32}};
  values.k = {32};
  values.kFragment = {16};
  values.stages = {2, 3};
  values.swizzle = {1};
  values.splitK = {1, 2};
  values.raster = values.persistent = values.stageOutput = {0};
  ScheduleSpace space(*task, chip, values);
  MachineModel machine(op, chip);
  SearchOptions options;
  options.slowest = 100;
  TaskSearch search(space, machine, options);
  size_t count = 0;
  while (std::optional<ScheduleNumbers> point = search.propose()) {
    search.observe(*point, 1.0 + static_cast<double>(count));
    ++count;
  }
  EXPECT_EQ(count, 8u);
  EXPECT_EQ(search.getExpectedGain(), 0);
}
