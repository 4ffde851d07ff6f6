//===- CostModelTest.cpp - The cost model and measurements ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/CostModel.h"

#include "Driver/Compiler.h"
#include "RankCorrelation.h"
#include "Tuning/MachineModel.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

static constexpr const char *matmul = R"(
func.func @main(%a: memref<128x4096xbf16>, %b: memref<4096x4096xbf16>,
                %c: memref<128x4096xbf16>) {
  %z = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<128x4096xbf16>, memref<4096x4096xbf16>)
      init(%z : f32) outs(%c : memref<128x4096xbf16>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
            affine_map<(m, n, k) -> (m, n)>] accumulate f32 {
  ^bb0(%acc: f32):
    %t = arith.truncf %acc : f32 to bf16
    tessera.yield %t : bf16
  }
  return
})";

static std::vector<CostModel::Sample> readCandidates() {
  std::vector<CostModel::Sample> candidates;
  auto file = llvm::MemoryBuffer::getFile(TESSERA_TUNE_CANDIDATES);
  if (!file) {
    ADD_FAILURE() << TESSERA_TUNE_CANDIDATES << ": "
                  << file.getError().message();
    return candidates;
  }
  MLIRContext context;
  prepareContext(context);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(matmul, &context);
  std::optional<MachineModel> machine;
  module->walk(
      [&](ContractOp op) { machine.emplace(op, *findChip("cuda", "sm_90a")); });
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    if (line.starts_with("#"))
      continue;
    auto [number, text] = line.split('\t');
    double time;
    auto schedule =
        dyn_cast_or_null<ScheduleAttr>(parseAttribute(text, &context));
    if (!schedule || number.getAsDouble(time)) {
      ADD_FAILURE() << line.str();
      continue;
    }
    ScheduleNumbers point(schedule);
    candidates.push_back({point, time, machine->estimate(point)});
  }
  return candidates;
}

// Fitted to a third of the candidates, it knows the order of the others, and of
// one that failed and one that did not which is which.
TEST(CostModelTest, KnowsWhatWasMeasuredOnAnH200) {
  std::vector<CostModel::Sample> candidates = readCandidates();
  ASSERT_EQ(candidates.size(), 375u);
  constexpr size_t training = 128, taken = 12;
  constexpr int repetitions = 5;
  double correlation = 0, ofMachine = 0, regret = 0, known = 0, pairs = 0;
  for (uint64_t seed = 1; seed <= repetitions; ++seed) {
    std::mt19937_64 random(seed);
    for (size_t i = candidates.size(); i > 1; --i)
      std::swap(candidates[i - 1], candidates[random() % i]);
    CostModel model;
    model.fit({candidates.begin(), candidates.begin() + training});
    ASSERT_TRUE(model.isFitted());

    std::vector<double> expected, estimated, measured;
    std::vector<std::pair<double, double>> ranked;
    std::vector<double> ofTimed, ofFailed;
    for (size_t i = training; i < candidates.size(); ++i) {
      const CostModel::Sample &one = candidates[i];
      CostModel::Guess guess = model.predict(one.point, one.expected);
      ranked.emplace_back(guess.getRank(), one.time > 0 ? one.time : INFINITY);
      if (one.time == 0) {
        ofFailed.push_back(guess.success);
        continue;
      }
      ofTimed.push_back(guess.success);
      expected.push_back(guess.mean);
      estimated.push_back(one.expected);
      measured.push_back(one.time);
    }
    correlation += getRankCorrelation(expected, measured) / repetitions;
    ofMachine += getRankCorrelation(estimated, measured) / repetitions;
    for (double failed : ofFailed)
      for (double timed : ofTimed) {
        known += timed > failed ? 1 : timed == failed ? 0.5 : 0;
        ++pairs;
      }
    llvm::sort(ranked);
    double found = INFINITY;
    for (size_t i = 0; i < taken; ++i)
      found = std::min(found, ranked[i].second);
    regret += found / *llvm::min_element(measured) / repetitions;
  }
  if (std::getenv("TESSERA_SHOW_MODEL"))
    llvm::errs() << "rank correlation " << correlation << ", of the machine's "
                 << "model " << ofMachine << "; regret " << regret
                 << "; failures known in " << known / pairs << " of pairs\n";
  EXPECT_GT(correlation, 0.82);
  EXPECT_GT(correlation, ofMachine + 0.1);
  EXPECT_LT(regret, 1.02);
  EXPECT_GT(known / pairs, 0.7);
}

// A trend far from all points, and how sure it is where.
TEST(GaussianProcessTest, FollowsTheTrend) {
  std::vector<GaussianProcess::Point> points;
  std::vector<double> values, trends;
  for (int i = 0; i < 12; ++i) {
    points.push_back({0.5 * i});
    trends.push_back(i % 4);
    values.push_back(3 + 2 * trends.back());
  }
  GaussianProcess process;
  process.fit(points, values, trends);
  GaussianProcess::Guess near = process.predict({1}, 2),
                         far = process.predict({100}, 10);
  EXPECT_NEAR(near.mean, 7, 0.01);
  EXPECT_NEAR(far.mean, 23, 0.01);
  EXPECT_LT(near.deviation, 0.5 * far.deviation);
}

// With groups it finds out which coordinate matters.
TEST(GaussianProcessTest, GroupsHaveLengthsOfTheirOwn) {
  std::mt19937_64 random(1);
  auto draw = [&] {
    std::vector<double> point(5);
    for (double &coordinate : point)
      coordinate = static_cast<double>(random() % 1000) / 250;
    return point;
  };
  auto get = [](const std::vector<double> &point) {
    return std::sin(2 * point[0]);
  };
  std::vector<GaussianProcess::Point> points;
  std::vector<double> values;
  for (int i = 0; i < 80; ++i) {
    points.push_back(draw());
    values.push_back(get(points.back()));
  }
  std::vector<double> none(points.size());
  GaussianProcess one, grouped({0, 1, 1, 1, 1});
  one.fit(points, values, none);
  grouped.fit(points, values, none);
  double errorOfOne = 0, errorOfGrouped = 0;
  for (int i = 0; i < 50; ++i) {
    std::vector<double> point = draw();
    errorOfOne += std::abs(one.predict(point, 0).mean - get(point));
    errorOfGrouped += std::abs(grouped.predict(point, 0).mean - get(point));
  }
  EXPECT_LT(errorOfGrouped, 0.7 * errorOfOne);
}
