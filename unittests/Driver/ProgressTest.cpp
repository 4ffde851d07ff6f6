//===- ProgressTest.cpp - Progress of a compilation -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Three matmuls of different sizes, which are three kernels.
constexpr const char *threeMatmuls = R"(
func.func @main(%a: tensor<16x16xf32>, %b: tensor<16x32xf32>,
                %c: tensor<32x48xf32>, %d: tensor<48x64xf32>) -> tensor<16x64xf32> {
  %e0 = tensor.empty() : tensor<16x32xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x32xf32>)
      outs(%e0 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e1 = tensor.empty() : tensor<16x48xf32>
  %1 = linalg.matmul ins(%0, %c : tensor<16x32xf32>, tensor<32x48xf32>)
      outs(%e1 : tensor<16x48xf32>) -> tensor<16x48xf32>
  %e2 = tensor.empty() : tensor<16x64xf32>
  %2 = linalg.matmul ins(%1, %d : tensor<16x48xf32>, tensor<48x64xf32>)
      outs(%e2 : tensor<16x64xf32>) -> tensor<16x64xf32>
  return %2 : tensor<16x64xf32>
}
)";

struct ProgressStep {
  std::string stage;
  int64_t kernels, done;
};

class ProgressTest : public ::testing::Test {
protected:
  ProgressTest() {
    prepareContext(context);
    options.entry = "main";
    options.progress = [&](const CompileProgress &progress) {
      steps.push_back({progress.stage.str(), progress.kernels, progress.done});
    };
  }
  /// The stages in the order of their first reports.
  std::vector<std::string> getStages() const {
    std::vector<std::string> stages;
    for (const ProgressStep &step : steps)
      if (stages.empty() || stages.back() != step.stage)
        stages.push_back(step.stage);
    return stages;
  }
  /// How many kernels a stage has completed at its end.
  int64_t getDone(llvm::StringRef stage) const {
    int64_t done = -1;
    for (const ProgressStep &step : steps)
      if (step.stage == stage)
        done = step.done;
    return done;
  }

  MLIRContext context;
  CompileOptions options;
  std::vector<ProgressStep> steps;
};

TEST_F(ProgressTest, ReportsStagesAndKernels) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(threeMatmuls, &context);
  ASSERT_TRUE(module);
  std::unique_ptr<CompiledProgram> program = compileProgram(*module, options);
  ASSERT_TRUE(program);
  // Those of the times, in the same order, and the end.
  std::vector<std::string> expected;
  for (const StageTime &time : program->times)
    expected.push_back(time.stage);
  expected.emplace_back();
  EXPECT_EQ(getStages(), expected);
  EXPECT_EQ(steps.back().kernels, 0);
  auto kernels = static_cast<int64_t>(program->kernels.size());
  ASSERT_GE(kernels, 3);
  EXPECT_EQ(steps.front().kernels, 0);
  EXPECT_EQ(getDone("schedule"), 0);
  EXPECT_EQ(getDone("vendor"), kernels);
  // Each is reported once.
  std::vector<int64_t> counts;
  for (const ProgressStep &step : steps)
    if (step.stage == "vendor") {
      EXPECT_EQ(step.kernels, kernels);
      counts.push_back(step.done);
    }
  for (size_t i = 0; i < counts.size(); ++i)
    EXPECT_EQ(counts[i], static_cast<int64_t>(i));
}

TEST_F(ProgressTest, EndsAfterAnError) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func private @sin(f32) -> i32
    func.func @main(%x: f32) -> i32 {
      %y = func.call @sin(%x) : (f32) -> i32
      return %y : i32
    })",
                                                             &context);
  ASSERT_TRUE(module);
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_FALSE(compileProgram(*module, options));
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.back().stage, "");
  EXPECT_EQ(
      llvm::count_if(
          steps, [](const ProgressStep &step) { return step.stage.empty(); }),
      1);
}

} // namespace
