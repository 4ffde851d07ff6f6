//===- RunnerTest.cpp - One program, from its file to its results ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner/Runner.h"

#include "Driver/LargeStack.h"
#include "Runtime/HostArray.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

using namespace tessera::execution;
using runtime::HostArray;

namespace {

/// Adds 1 to each element.
constexpr char program[] = R"(
func.func @main(%a: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %one = arith.constant dense<1.0> : tensor<3x5xf32>
  %empty = tensor.empty() : tensor<3x5xf32>
  %sum = linalg.add ins(%a, %one : tensor<3x5xf32>, tensor<3x5xf32>)
      outs(%empty : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %sum : tensor<3x5xf32>
}
)";

class RunnerTest : public ::testing::Test {
protected:
  void SetUp() override {
    llvm::SmallString<128> path;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tessera-runner", path));
    folder = path.str().str();
    options.file = folder + "/program.mlir";
    write(options.file, program);
    options.target = "cpu";
    options.cache = "off";
    options.arguments = {"iota"};
  }
  void TearDown() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(folder));
  }

  static void write(const std::string &path, StringRef text) {
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    ASSERT_FALSE(error) << error.message();
  }

  /// Runs the program; the exit status.
  Exit run() {
    output.clear();
    errors.clear();
    llvm::raw_string_ostream outputStream(output), errorStream(errors);
    Console console(outputStream, errorStream);
    Report report(console, /*json=*/false);
    KeptDevices kept;
    // As tools do: the compiler's recursion is deep.
    compiler::runOnLargeStack([&] {
      bool isGood = succeeded(runProgram(options, kept, code, report));
      EXPECT_EQ(isGood, report.exit() == Exit::Done);
    });
    return report.exit();
  }
  bool hasError(StringRef text) const {
    return StringRef(errors).contains(text);
  }

  RunnerOptions options;
  std::string folder, code, output, errors;
};

TEST_F(RunnerTest, SavesOutputs) {
  std::string file = folder + "/out.npy";
  options.outputs = {{0, file}};
  options.verify = true;
  ASSERT_EQ(run(), Exit::Done) << errors;
  EXPECT_EQ(code, "");
  auto array = runtime::loadNpy(file, runtime::ElementType::F32);
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->shape, (std::vector<int64_t>{3, 5}));
  for (int64_t i = 0; i < 15; ++i)
    EXPECT_EQ(array->getDouble(i), static_cast<double>(i + 1));
}

TEST_F(RunnerTest, RejectsOutputsBeforeTheRun) {
  options.outputs = {{1, folder + "/out.npy"}};
  EXPECT_EQ(run(), Exit::Usage);
  EXPECT_TRUE(hasError("--out names output 1; the program has one output, "
                       "number 0"))
      << errors;
  EXPECT_EQ(output, "");
}

TEST_F(RunnerTest, FindsAPlantedFault) {
  options.verify = true;
  options.corruptOutput = 0;
  options.plantedFault = PlantedFault::SwappedRows;
  EXPECT_EQ(run(), Exit::WrongNumbers);
  EXPECT_TRUE(StringRef(output).contains("planted in out 0: ")) << output;
  options.corruptOutput = 2;
  EXPECT_EQ(run(), Exit::Usage);
  EXPECT_TRUE(hasError("--debug-corrupt-output names output 2")) << errors;
}

TEST_F(RunnerTest, ReturnsTheCodeOfAStage) {
  options.emit = EmitStage{EmitStage::LLVM, "llvm"};
  ASSERT_EQ(run(), Exit::Done) << errors;
  EXPECT_TRUE(StringRef(code).contains("llvm.func @main")) << code;
  EXPECT_EQ(output, "");
  // The explanation is a message beside the code.
  options.explain = true;
  std::string before = code;
  ASSERT_EQ(run(), Exit::Done) << errors;
  EXPECT_EQ(code, before);
  EXPECT_NE(errors, "");
  // No code remains from an earlier program.
  options.emit = EmitStage{EmitStage::Code, "ptx"};
  EXPECT_EQ(run(), Exit::Usage);
  EXPECT_TRUE(hasError("--emit=ptx requires target cuda")) << errors;
  EXPECT_EQ(code, "");
}

TEST_F(RunnerTest, ComparesTargets) {
  options.diff = {"cpu", "cpu:emulate=sm_80"};
  std::string file = folder + "/out.npy";
  options.outputs = {{0, file}};
  EXPECT_EQ(run(), Exit::Done) << errors;
  EXPECT_TRUE(llvm::sys::fs::exists(file));
}

TEST_F(RunnerTest, ReportsDiagnosticsOfTheProgram) {
  write(options.file, "func.func @main() {\n  %a = arith.constant 1.0 : i32\n"
                      "  return\n}\n");
  EXPECT_EQ(run(), Exit::Failed);
  EXPECT_TRUE(hasError("program.mlir:3:3: error: ")) << errors;
  options.file = folder + "/missing.mlir";
  EXPECT_NE(run(), Exit::Done);
  EXPECT_TRUE(hasError("missing.mlir")) << errors;
}

TEST_F(RunnerTest, WritesThePageOfARun) {
  options.reportFile = folder + "/page.html";
  ASSERT_EQ(run(), Exit::Done) << errors;
  uint64_t size = 0;
  ASSERT_FALSE(llvm::sys::fs::file_size(options.reportFile, size));
  EXPECT_GT(size, 1000u);
  // Without it, no explanation is printed.
  EXPECT_EQ(errors, "");
}

} // namespace
