//===- RankSchedulesTest.cpp - The model of schedules ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/ScheduleCorrection.h"
#include "TargetInfo/DeviceSheet.h"
#include "TargetInfo/Peaks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tessera;

namespace {

class RankSchedulesTest : public ::testing::Test {
protected:
  RankSchedulesTest() {
    context
        .loadDialect<TesseraDialect, func::FuncDialect, arith::ArithDialect>();
  }

  /// A matmul with rhs stored by rows.
  ContractOp makeMatmul(int64_t m, int64_t n, int64_t k, StringRef in = "f16",
                        StringRef acc = "f32") {
    auto type = [](int64_t rows, int64_t columns, StringRef element) {
      return "memref<" + std::to_string(rows) + "x" + std::to_string(columns) +
             "x" + element.str() + ">";
    };
    std::string a = type(m, k, in), b = type(k, n, in), c = type(m, n, acc);
    std::string text =
        "func.func @f(%a: " + a + ", %b: " + b + ", %c: " + c +
        ") {\n  tessera.contract ins(%a, %b : " + a + ", " + b +
        ") outs(%c : " + c +
        ") maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> "
        "(k, n)>, affine_map<(m, n, k) -> (m, n)>] accumulate " +
        acc.str() + " {\n  ^bb0(%x: " + acc.str() +
        "):\n    tessera.yield %x : " + acc.str() + "\n  }\n  return\n}\n";
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    ContractOp found;
    if (modules.back())
      modules.back()->walk([&](ContractOp op) { found = op; });
    return found;
  }

  /// Matmuls that the compiler has rules for: small, of few rows, long, large,
  /// and with rows that begin anywhere.
  SmallVector<ContractOp> makeMatmuls() {
    return {makeMatmul(512, 512, 512),
            makeMatmul(16, 4096, 4096),
            makeMatmul(64, 64, 65536),
            makeMatmul(8192, 8192, 8192),
            makeMatmul(777, 1555, 3111),
            makeMatmul(128, 4096, 4096, "i8", "i32"),
            makeMatmul(1000, 1000, 1000, "f64", "f64")};
  }

  static const Chip &getChip() { return *findChip("cuda", "sm_90a"); }

  MLIRContext context;
  SmallVector<OwningOpRef<ModuleOp>> modules;
};

} // namespace

// Choosing takes milliseconds: so many estimates of less than a microsecond,
// and few legality checks besides those of the tilings for groups.
TEST_F(RankSchedulesTest, ComparesALimitedNumberOfSchedules) {
  for (ContractOp op : makeMatmuls()) {
    ASSERT_TRUE(op);
    ASSERT_TRUE(canRankSchedules(op, getChip()));
    size_t count =
        rankSchedules(op, op, getChip(), std::numeric_limits<size_t>::max())
            .size();
    EXPECT_GT(count, 100U);
    EXPECT_LT(count, 20000U);
  }
}

// Trees are for the schedules by single subgroups that are fast by the rates
// alone, and for all of groups.
TEST_F(RankSchedulesTest, ComparesTheFastestByRates) {
  const Chip &chip = getChip();
  constexpr size_t most = 100;
  for (ContractOp op : makeMatmuls()) {
    ScheduledMatmul matmul(op, chip);
    auto all = rankSchedules(op, op, chip, std::numeric_limits<size_t>::max());
    std::vector<double> times;
    for (const RankedSchedule &one : all)
      if (one.fields.subgroupsPerFragment == 1)
        times.push_back(estimateTime(describeWork(matmul, one.fields, chip),
                                     *chip.model.schedules)
                            .time);
    ASSERT_GT(times.size(), most);
    llvm::sort(times);
    std::vector<double> kept;
    auto few = rankSchedules(op, op, chip, most);
    for (const RankedSchedule &one : few)
      if (one.fields.subgroupsPerFragment == 1)
        kept.push_back(estimateTime(describeWork(matmul, one.fields, chip),
                                    *chip.model.schedules)
                           .time);
    llvm::sort(kept);
    EXPECT_EQ(kept, std::vector(times.begin(), times.begin() + most));
    EXPECT_EQ(few.size() - kept.size(), all.size() - times.size());
    EXPECT_EQ(rankSchedules(op, op, chip).front().fields, all.front().fields);
  }
}

TEST_F(RankSchedulesTest, OrdersByTime) {
  for (ContractOp op : makeMatmuls()) {
    std::vector<RankedSchedule> ranked = rankSchedules(op, op, getChip());
    ScheduledMatmul matmul(op, getChip());
    for (size_t i = 0; i < ranked.size(); ++i) {
      EXPECT_GT(ranked[i].time, 0);
      if (i > 0) {
        EXPECT_LE(ranked[i - 1].time, ranked[i].time);
      }
      // All fits decide about the first one.
      if (i == 0) {
        EXPECT_EQ(ranked[i].time,
                  estimateSchedule(matmul, ranked[i].fields, getChip()).time);
      }
    }
  }
}

// Tiles of few columns, and workgroups of which an SM has two, are compared
// besides the tilings that rules have.
TEST_F(RankSchedulesTest, ComparesMoreTilingsThanRules) {
  const Chip &chip = getChip();
  auto isByRules = [&](std::array<int64_t, 2> tile) {
    return llvm::any_of(
        chip.policy.groupDefaults,
        [&](const ScheduleDefaults &its) { return its.workgroup == tile; });
  };
  ContractOp op = makeMatmul(4096, 192, 4096);
  ScheduledMatmul matmul(op, chip);
  unsigned others = 0, pairs = 0;
  for (const RankedSchedule &one : rankSchedules(op, op, chip)) {
    if (one.fields.subgroupsPerFragment == 1)
      continue;
    others += !isByRules(one.fields.workgroup);
    ScheduleWork work = describeWork(matmul, one.fields, chip);
    pairs += work.units > work.processors && !work.isPersistent &&
             work.resident >= 2;
  }
  EXPECT_GT(others, 0U);
  EXPECT_GT(pairs, 0U);
}

// No instruction distributes the columns of such a share among lanes as the
// tile's.
TEST_F(RankSchedulesTest, SharesOnlyEvenColumnsInClusters) {
  ContractOp op = makeMatmul(32, 1920, 1544);
  unsigned shares = 0;
  for (const RankedSchedule &one : rankSchedules(op, op, getChip()))
    if (one.fields.splitKReduction == SplitReduction::Cluster) {
      ++shares;
      EXPECT_TRUE(llvm::isPowerOf2_64(uint64_t(one.fields.workgroup[1])));
    }
  EXPECT_GT(shares, 0U);
}

// Leaves are ten-thousandths of the logarithm, and those of all trees add up.
TEST_F(RankSchedulesTest, TreesCorrectTheEstimate) {
  Chip chip = getChip();
  ContractOp op = makeMatmul(512, 512, 512);
  ScheduledMatmul matmul(op, chip);
  ScheduleFields group = getScheduleByRules(op, chip).getFields(),
                 single = ScheduleAttr::get(&context, group).getFields();
  single.workgroup = single.subgroup = {32, 32};
  single.subgroupsPerFragment = 1;
  auto estimate = [&](const ScheduleFields &fields) {
    return estimateSchedule(matmul, fields, chip).time;
  };
  CorrectionTrees &corrections = chip.model.schedules->corrections;
  corrections = {};
  double ofGroup = estimate(group), ofSingle = estimate(single);
  ScheduleWork work = describeWork(matmul, group, chip);
  EXPECT_EQ(ofGroup, estimateTime(work, *chip.model.schedules).time);
  ScheduleFeatures features = describeFeatures(
      matmul, group, work, estimateTime(work, *chip.model.schedules), chip);
  auto isGroup =
      llvm::find_if(features,
                    [](const auto &one) { return one.name == "isGroup"; }) -
      features.begin();
  ASSERT_LT(size_t(isGroup), numScheduleFeatures);
  CorrectionTree tree = {};
  tree.features.fill(uint8_t(isGroup));
  tree.thresholds.fill(0.5F);
  tree.leaves.front() = 1000;
  tree.leaves.back() = -2000;
  CorrectionTree other = {};
  other.leaves.fill(5000);
  // Those of other contractions than plain matmuls do not count.
  CorrectionTree trees[] = {tree, tree}, others[] = {other, other};
  corrections.plain = trees;
  corrections.others = corrections.integers = others;
  EXPECT_NEAR(estimate(single) / ofSingle, std::exp(0.2), 1e-9);
  EXPECT_NEAR(estimate(group) / ofGroup, std::exp(-0.4), 1e-9);
  // The mean of three fits: 0.2, 0 and 0.5.
  CorrectionTree none = {};
  CorrectionTree more[] = {none, none, other, none};
  corrections.refinements = more;
  EXPECT_NEAR(estimate(single) / ofSingle, std::exp(0.7 / 3), 1e-9);
  double first = 0;
  estimateSchedules(matmul, single, chip, first, /*isRefined=*/false);
  EXPECT_NEAR(first / ofSingle, std::exp(0.2), 1e-9);
}

// Other fits change the times of the schedules that the first expects to be
// fast, and no others.
TEST_F(RankSchedulesTest, MoreFitsOrderTheFastest) {
  Chip chip = getChip();
  ContractOp op = makeMatmul(777, 1555, 3111);
  CorrectionTree none = {}, slower = {};
  slower.leaves.fill(2000);
  CorrectionTree first[] = {none}, more[] = {slower};
  CorrectionTrees &corrections = chip.model.schedules->corrections;
  corrections = {};
  corrections.plain = first;
  std::vector<RankedSchedule> before = rankSchedules(op, op, chip);
  corrections.refinements = more;
  std::vector<RankedSchedule> after = rankSchedules(op, op, chip);
  ASSERT_EQ(before.size(), after.size());
  auto getTime = [](ArrayRef<RankedSchedule> ranked,
                    const ScheduleFields &fields) {
    return llvm::find_if(
               ranked,
               [&](const RankedSchedule &one) { return one.fields == fields; })
        ->time;
  };
  EXPECT_NEAR(getTime(after, before.front().fields) / before.front().time,
              std::exp(0.1), 1e-9);
  EXPECT_EQ(getTime(after, before.back().fields), before.back().time);
  EXPECT_TRUE(llvm::is_sorted(
      after, [](const auto &a, const auto &b) { return a.time < b.time; }));
}

// Passes share the beginning of a ranking, without uses of the op's operands.
// Equal contractions of other operands have the same one.
TEST_F(RankSchedulesTest, SharesRankings) {
  const Chip &chip = getChip();
  ScheduleRankings rankings;
  for (ContractOp op : makeMatmuls()) {
    ArrayRef<RankedSchedule> shared = rankings.rank(op, chip);
    std::array<size_t, 2> counts{0, 0};
    std::vector<RankedSchedule> expected;
    for (const RankedSchedule &one : rankSchedules(op, op, chip))
      if (counts[one.fields.subgroupsPerFragment > 1]++ <
          ScheduleRankings::mostOfKind)
        expected.push_back(one);
    ASSERT_EQ(shared.size(), expected.size());
    for (auto [one, other] : llvm::zip_equal(shared, expected)) {
      EXPECT_EQ(one.fields, other.fields);
      EXPECT_EQ(one.time, other.time);
    }
    EXPECT_TRUE(op.getLhs().hasOneUse());
    OwningOpRef<ModuleOp> copy(op->getParentOfType<ModuleOp>().clone());
    copy->walk([&](ContractOp equal) {
      EXPECT_EQ(rankings.rank(equal, chip).data(), shared.data());
    });
  }
}

// Schedules are estimated in blocks, and each as by itself.
TEST_F(RankSchedulesTest, EstimatesManySchedulesLikeOne) {
  const Chip &chip = getChip();
  ContractOp op = makeMatmul(777, 1555, 3111);
  ScheduledMatmul matmul(op, chip);
  std::vector<ScheduleFields> schedules;
  for (const RankedSchedule &one : rankSchedules(op, op, chip))
    if (schedules.size() < 150)
      schedules.push_back(one.fields);
  ASSERT_EQ(schedules.size(), 150U);
  std::vector<double> times(schedules.size());
  estimateSchedules(matmul, schedules, chip, times);
  for (auto [fields, time] : llvm::zip_equal(schedules, times)) {
    ScheduleEstimate one =
        estimateTime(describeWork(matmul, fields, chip), *chip.model.schedules);
    double alone = 0;
    estimateSchedules(matmul, fields, chip, alone);
    EXPECT_EQ(time, alone);
    EXPECT_NE(time, one.time);
  }
}

// Devices of one chip differ by their memory.
TEST_F(RankSchedulesTest, ScalesByTheMemoryOfADevice) {
  const Chip &chip = getChip();
  const DeviceSheet *h100 = findSheet(chip, "NVIDIA H100 80GB HBM3"),
                    *h200 = findSheet(chip, "NVIDIA H200");
  ASSERT_TRUE(h100 && h200);
  EXPECT_FALSE(findSheet(chip, "NVIDIA A100"));
  const ScheduleRates &rates = *chip.model.schedules;
  EXPECT_EQ(scaleMemory(rates, 1000 * h200->memory).memory, rates.memory);
  ScheduleRates slower = scaleMemory(rates, 1000 * h100->memory);
  EXPECT_NEAR(slower.memory / rates.memory, 3.35 / 4.8, 1e-9);
  ScheduleWork work;
  work.processors = work.units = 132;
  work.bytes = 1e9;
  EXPECT_NEAR(estimateTime(work, slower).time / estimateTime(work, rates).time,
              4.8 / 3.35, 0.01);
}

TEST_F(RankSchedulesTest, TreesAskForKnownFeatures) {
  const CorrectionTrees &all = getChip().model.schedules->corrections;
  // Whole fits, as many trees as the first one for plain matmuls has.
  ASSERT_FALSE(all.plain.empty());
  EXPECT_EQ(all.refinements.size() % all.plain.size(), 0U);
  EXPECT_EQ(all.integers.size(), all.plain.size());
  EXPECT_EQ(all.others.size(), all.plain.size());
  for (llvm::ArrayRef<CorrectionTree> trees :
       {all.plain, all.refinements, all.integers, all.others})
    for (const CorrectionTree &tree : trees)
      for (uint8_t feature : tree.features)
        EXPECT_LT(feature, numScheduleFeatures);
}

TEST_F(RankSchedulesTest, FeaturesAreFinite) {
  for (ContractOp op : makeMatmuls()) {
    ScheduledMatmul matmul(op, getChip());
    for (const RankedSchedule &one : rankSchedules(op, op, getChip())) {
      ScheduleWork work = describeWork(matmul, one.fields, getChip());
      for (auto [name, value] : describeFeatures(
               matmul, one.fields, work,
               estimateTime(work, *getChip().model.schedules), getChip()))
        ASSERT_TRUE(std::isfinite(value)) << name.str();
    }
  }
}

// With a margin, the choice is legal, and either that of the rules or expected
// to be faster by the margin.
TEST_F(RankSchedulesTest, ImprovesOnRules) {
  Chip chip = getChip();
  chip.model.schedules->margins.fill(1.05);
  unsigned changed = 0;
  SmallVector<ContractOp> matmuls = makeMatmuls();
  for (int64_t rows : {100, 333, 2000})
    for (int64_t columns : {1000, 4385})
      for (int64_t k : {320, 2048, 7085})
        matmuls.push_back(makeMatmul(rows, columns, k));
  for (ContractOp op : matmuls) {
    ScheduleAttr rules = getScheduleByRules(op, chip);
    std::string prediction;
    ScheduleRankings rankings;
    ScheduleAttr choice =
        improveSchedule(op, chip, rules, &prediction, rankings);
    ASSERT_TRUE(choice);
    EXPECT_TRUE(getScheduleProblems(op, choice, chip).empty());
    // Tiles of f64 may be divided after it.
    if (!getElementTypeOrSelf(op->getOperand(0).getType()).isF64()) {
      EXPECT_EQ(choice, getDefaultSchedule(op, chip));
    }
    if (choice == rules) {
      EXPECT_EQ(prediction, "");
      continue;
    }
    ++changed;
    ScheduledMatmul matmul(op, chip);
    auto estimate = [&](ScheduleAttr schedule) {
      return estimateSchedule(matmul, schedule.getFields(), chip).time;
    };
    EXPECT_LT(estimate(choice) * 1.05, estimate(rules));
    EXPECT_NE(prediction.find("us, limited by "), std::string::npos);
    EXPECT_NE(prediction.find("; by rules, "), std::string::npos);
  }
  EXPECT_GT(changed, 0U);
}

// Without one, or for longer times than the model was fitted to, rules decide.
TEST_F(RankSchedulesTest, LeavesTheRest) {
  Chip without = getChip(), shorter = getChip();
  without.model.schedules->margins.fill(0);
  shorter.model.schedules->margins.fill(1.15);
  shorter.model.schedules->longest = 1000;
  for (ContractOp op : makeMatmuls())
    for (const Chip *chip : {&without, &shorter})
      EXPECT_EQ(getDefaultSchedule(op, *chip), getScheduleByRules(op, *chip));
}

// More of anything takes longer, and what takes longest is the limit.
TEST_F(RankSchedulesTest, TimesGrowWithTheWork) {
  const ScheduleRates &rates = *getChip().model.schedules;
  ScheduleWork work;
  work.processors = 132;
  work.units = 132;
  work.steps = 64;
  work.ahead = 3;
  work.threads = 128;
  work.products = 128.0 * 128 * 64;
  work.shared = 32768;
  work.loaded = 32768;
  work.stored = 32768;
  work.bytes = 1e6;
  double time = estimateTime(work, rates).time;
  for (double ScheduleWork::*field :
       {&ScheduleWork::units, &ScheduleWork::steps, &ScheduleWork::products,
        &ScheduleWork::shared, &ScheduleWork::loaded, &ScheduleWork::stored}) {
    ScheduleWork more = work;
    more.*field *= 4;
    EXPECT_GT(estimateTime(more, rates).time, time);
  }
  ScheduleWork busy = work;
  busy.products *= 1000;
  EXPECT_EQ(estimateTime(busy, rates).limit, "the matrix unit");
  ScheduleWork large = work;
  large.bytes *= 1e6;
  EXPECT_EQ(estimateTime(large, rates).limit, "memory");
  ScheduleWork parts = work;
  parts.parts = 4;
  parts.sums = 1e6;
  EXPECT_GT(estimateTime(parts, rates).time, time + rates.startOfSums);
  parts.addsInCluster = true;
  parts.sumsOfTile = 0;
  EXPECT_NEAR(estimateTime(parts, rates).time, time + rates.clusterWait, 1e-6);
}

// Chips without fitted rates, images and dynamic extents have rules only.
TEST_F(RankSchedulesTest, AppliesToPlainMatmulsOnly) {
  ContractOp op = makeMatmul(512, 512, 512);
  EXPECT_FALSE(canRankSchedules(op, *findChip("cuda", "sm_80")));
  const Chip &ampere = *findChip("cuda", "sm_80");
  EXPECT_EQ(getDefaultSchedule(op, ampere), getScheduleByRules(op, ampere));
  EXPECT_FALSE(
      canRankSchedules(makeMatmul(512, 512, 512, "f32", "f32"), getChip()));
}
