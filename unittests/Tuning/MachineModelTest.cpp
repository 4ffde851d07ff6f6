//===- MachineModelTest.cpp - The model and measurements ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/MachineModel.h"
#include "RankCorrelation.h"

#include "Driver/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

namespace {

/// A time of docs/benchmarks/h200-schedules.md, in milliseconds.
struct Measured {
  const char *type;
  int64_t m, n, k;
  const char *schedule;
  double time;
};

} // namespace

static constexpr const char *mmaTiles =
    "workgroup = [128, 128], subgroup = [64, 64], k = 32, "
    "kFragment = 16, stages = 4, vthread = [1, 1]";

static std::vector<Measured> getMeasured() {
  static std::vector<std::string> kept;
  kept.reserve(100);
  std::vector<Measured> list;
  auto mma = [&](int64_t m, int64_t n, int64_t k, const char *more,
                 double time) {
    kept.push_back(std::string(mmaTiles) + more);
    list.push_back({"f16", m, n, k, kept.back().c_str(), time});
  };
  auto group = [&](int64_t m, int64_t n, int64_t k, const char *workgroup,
                   const char *subgroup, int64_t step, int64_t stages,
                   const char *more, double time) {
    kept.push_back(
        "workgroup = [" + std::string(workgroup) + "], subgroup = [" +
        subgroup + "], k = " + std::to_string(step) + ", kFragment = " +
        std::to_string(step) + ", stages = " + std::to_string(stages) +
        ", vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4" + more);
    list.push_back({"bf16", m, n, k, kept.back().c_str(), time});
  };
  mma(4096, 4096, 4096, "", 0.4158);
  mma(4096, 4096, 4096, ", swizzle = true", 0.3620);
  mma(8192, 8192, 8192, "", 3.408);
  mma(512, 512, 65536, "", 0.9973);
  mma(512, 512, 65536, ", splitK = 8", 0.1341);
  const char *all = ", persistent = 132, stageOutput = true, raster = 8";
  group(4096, 4096, 4096, "128, 256", "64, 256", 64, 3, all, 0.1771);
  group(4096, 4096, 4096, "128, 256", "64, 256", 64, 4, ", raster = 8", 0.1976);
  group(4096, 4096, 4096, "256, 128", "128, 128", 64, 3, all, 0.1802);
  group(4096, 4096, 4096, "192, 128", "64, 128", 64, 4, all, 0.2174);
  group(4096, 4096, 4096, "128, 128", "64, 128", 64, 5, all, 0.1963);
  group(4096, 4096, 4096, "128, 128", "64, 128", 128, 2, all, 0.2291);
  group(8192, 28672, 4096, "128, 256", "64, 256", 64, 3, all, 2.5660);
  group(3072, 3072, 3072, "128, 256", "64, 256", 64, 3, all, 0.1019);
  group(3072, 3072, 3072, "192, 128", "64, 128", 64, 4, all, 0.0831);
  group(3072, 3072, 3072, "128, 128", "64, 128", 64, 5, all, 0.0919);
  group(3072, 3072, 3072, "64, 256", "64, 256", 64, 4, all, 0.1205);
  group(3072, 3072, 3072, "64, 128", "64, 128", 64, 6,
        ", persistent = 132, stageOutput = true", 0.1180);
  group(3072, 3072, 3072, "64, 128", "64, 128", 128, 3,
        ", persistent = 132, stageOutput = true", 0.1082);
  group(3072, 3072, 3072, "64, 64", "64, 64", 128, 4, ", stageOutput = true",
        0.2029);
  group(4096, 4096, 128, "128, 256", "64, 256", 64, 3, all, 0.0156);
  group(128, 4096, 4096, "64, 64", "64, 64", 128, 6, ", stageOutput = true",
        0.0203);
  group(16, 4096, 4096, "64, 64", "64, 64", 128, 6,
        ", splitK = 2, splitKReduction = cluster", 0.0181);
  group(16, 4096, 4096, "64, 64", "64, 64", 128, 4, ", splitK = 2", 0.0205);
  return list;
}

TEST(MachineModelTest, OrdersWhatWasMeasuredOnAnH200) {
  MLIRContext context;
  prepareContext(context);
  const Chip &chip = *findChip("cuda", "sm_90a");
  std::vector<double> expected, measured;
  double worst = 1;
  for (const Measured &one : getMeasured()) {
    auto type = [&](int64_t rows, int64_t cols) {
      return "memref<" + std::to_string(rows) + "x" + std::to_string(cols) +
             "x" + one.type + ">";
    };
    std::string a = type(one.m, one.k), b = type(one.k, one.n),
                c = type(one.m, one.n);
    std::string text =
        "func.func @main(%a: " + a + ", %b: " + b + ", %c: " + c +
        ") {\n  %z = arith.constant 0.0 : f32\n  tessera.contract ins(%a, %b "
        ": " +
        a + ", " + b + ") init(%z : f32) outs(%c : " + c +
        ") maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, "
        "n)>, affine_map<(m, n, k) -> (m, n)>] accumulate f32 schedule <" +
        one.schedule +
        "> {\n  ^bb0(%acc: f32):\n    %t = arith.truncf %acc : f32 to " +
        one.type + "\n    tessera.yield %t : " + one.type +
        "\n  }\n  return\n}\n";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    module->walk([&](ContractOp op) {
      MachineModel model(op, chip);
      expected.push_back(model.estimate(ScheduleNumbers(op.getScheduleAttr())));
    });
    measured.push_back(one.time);
    double ratio = expected.back() / one.time;
    worst = std::max({worst, ratio, 1 / ratio});
    if (std::getenv("TESSERA_SHOW_MODEL"))
      llvm::errs() << one.m << "x" << one.n << "x" << one.k << " "
                   << one.schedule << ": " << expected.back() << " of "
                   << one.time << ", " << ratio << "\n";
  }
  // No estimate is off by more than the pruning factor.
  double correlation = getRankCorrelation(expected, measured);
  if (std::getenv("TESSERA_SHOW_MODEL"))
    llvm::errs() << "rank correlation " << correlation << ", at most " << worst
                 << " times off\n";
  EXPECT_GT(correlation, 0.95);
  EXPECT_LT(worst, 1.7);
}
