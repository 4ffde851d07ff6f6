//===- HostArgumentsTest.cpp - Arrays of the host as arguments ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Bundler.h"
#include "Driver/Compiler.h"
#include "Runtime/Executable.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

constexpr const char *addOne = R"(
#id = affine_map<(i) -> (i)>
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %one : f32
    linalg.yield %sum : f32
  }
  return
}
)";

constexpr int64_t numElements = 1 << 18;
constexpr size_t arrayBytes = numElements * sizeof(float);

class HostArgumentsTest : public ::testing::Test {
protected:
  void SetUp() override {
    prepareContext(context);
    auto opened = runtime::openDevice("cpu");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(addOne, &context, "source.mlir");
    ASSERT_TRUE(module);
    CompileOptions options;
    FailureOr<runtime::Bundle> bundle = compileBundle(
        *module, options, {{"cpu", device->info().chip}}, "", "source.mlir");
    ASSERT_TRUE(succeeded(bundle));
    auto created = runtime::Executable::create(*bundle, "main", *device);
    ASSERT_TRUE(created.ok()) << created.status().message();
    executable = created.take();
    // For two arrays and what surrounds them.
    memory.assign(3 * numElements, 0);
    first = memory.data();
    while (reinterpret_cast<uintptr_t>(first) % 64 != 0)
      ++first;
    for (int64_t i = 0; i < 2 * numElements; ++i)
      first[i] = static_cast<float>(i);
  }
  void TearDown() override {
    executable.reset();
    if (device) {
      EXPECT_EQ(device->memoryStats().liveBytes, 0u);
    }
  }

  /// Runs; returns how many elements of y are not what x was, plus one.
  int64_t run(float *x, float *y) {
    std::vector<float> wanted(x, x + numElements);
    runtime::Operand operands[2];
    for (auto [operand, data] : llvm::zip(operands, std::array{x, y})) {
      operand.kind = runtime::MemoryKind::Host;
      operand.data = data;
      operand.sizes = &numElements;
    }
    std::vector<runtime::CallResult> results;
    runtime::Status status =
        executable->run({operands[0], operands[1]}, results);
    EXPECT_TRUE(status.ok()) << status.message();
    int64_t others = 0;
    for (int64_t i = 0; i < numElements; ++i)
      others += y[i] != wanted[i] + 1;
    return others;
  }
  size_t getPeak() { return device->memoryStats().peakBytes; }

  MLIRContext context;
  std::unique_ptr<runtime::Device> device;
  std::unique_ptr<runtime::Executable> executable;
  std::vector<float> memory;
  float *first = nullptr;
};

TEST_F(HostArgumentsTest, AreUsedInPlaceOnTheCpu) {
  EXPECT_EQ(run(first, first + numElements), 0);
  // As aligned as accesses must be, and no more.
  EXPECT_EQ(run(first + 4, first + numElements + 8), 0);
  EXPECT_LT(getPeak(), arrayBytes);
}

TEST_F(HostArgumentsTest, AreCopiedIfTheyAreNotAligned) {
  EXPECT_EQ(run(first + 1, first + numElements + 4), 0);
  EXPECT_GE(getPeak(), arrayBytes);
  EXPECT_LT(getPeak(), 2 * arrayBytes);
}

TEST_F(HostArgumentsTest, AreCopiedIfOneIsWrittenAndOverlaps) {
  EXPECT_EQ(run(first, first + 64), 0);
  EXPECT_GE(getPeak(), 2 * arrayBytes);
}

TEST_F(HostArgumentsTest, AreCopiedWhileMemoryIsChecked) {
  device->setChecking(true);
  EXPECT_EQ(run(first, first + numElements), 0);
  EXPECT_GE(getPeak(), 2 * arrayBytes);
}

} // namespace
