//===- FailedRunTest.cpp - A run that fails, between two that do not ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Host code checks its argument and allocates its results. It does not launch
// kernels, so that fake drivers can run it too; the caller writes the contents,
// and the checking mode overwrites new allocations.
//
//===----------------------------------------------------------------------===//

#include "AddKernel.h"
#include "CodeObjectBytes.h"
#include "Driver/Bundler.h"
#include "FakeHip.h"
#include "FakeOpenCL.h"
#include "HIP/HipDevice.h"
#include "LevelZero/FakeLevelZero.h"
#include "LevelZero/LevelZeroDevice.h"
#include "OpenCL/OpenCLDevice.h"
#include "Runtime/Executable.h"

#include "mlir/Parser/Parser.h"

#include <dlfcn.h>

using namespace mlir;
using namespace mlir::tessera;
using runtime::CallResult;
using runtime::StatusCode;

namespace {

constexpr const char *source = R"(
func.func @main(%x: memref<?xf32>) -> (memref<?xf32>, f32, memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %size = memref.dim %x, %c0 : memref<?xf32>
  %first = memref.alloc(%size) : memref<?xf32>
  %second = memref.alloc(%size) : memref<?xf32>
  %fits = arith.cmpi ule, %size, %c64 : index
  cf.assert %fits, "x has more than 64 elements"
  return %first, %one, %second : memref<?xf32>, f32, memref<?xf32>
}
)";

class FailedRunTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    prepareContext(context);
    if (GetParam() == StringRef("hip"))
      take(runtime::openHipDevice(hip = runtime::makeFakeDriver(), 0));
    else if (GetParam() == StringRef("opencl"))
      take(runtime::openOpenCLDevice(openCL = runtime::makeFakeOpenCL(), 0));
    else if (GetParam() == StringRef("level-zero"))
      openLevelZero();
    else
      take(runtime::openDevice("cpu"));
    ASSERT_TRUE(device);
    device->setChecking(true);
    makeExecutable();
  }
  void TearDown() override {
    executable.reset();
    if (device) {
      EXPECT_EQ(device->memoryStats().liveBytes, 0u);
    }
    device.reset();
    EXPECT_TRUE(hipState.memory.empty());
    runtime::fake = nullptr;
  }

  void take(runtime::Expected<std::unique_ptr<runtime::Device>> opened) {
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
  }
  void openLevelZero() {
    std::string why;
    ASSERT_TRUE(
        runtime::loadLevelZeroDriver(TESSERA_FAKE_LEVEL_ZERO, levelZero, why))
        << why;
    void *library = dlopen(TESSERA_FAKE_LEVEL_ZERO, RTLD_NOW);
    auto reset = reinterpret_cast<void (*)()>(
        dlsym(library, "tesseraResetFakeLevelZero"));
    ASSERT_TRUE(reset);
    reset();
    take(runtime::openLevelZeroDevice(levelZero, 0));
  }

  /// The host code of a program for the CPU, as that of one for the device,
  /// beside kernels that are not called.
  void makeExecutable() {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source, &context, "source.mlir");
    ASSERT_TRUE(module);
    CompileOptions options;
    FailureOr<runtime::Bundle> bundle = compileBundle(
        *module, options,
        {{"cpu", device->info().target == "cpu" ? device->info().chip
                                                : getHostChip().str()}},
        "", "source.mlir");
    ASSERT_TRUE(succeeded(bundle));
    runtime::ProgramVariant &variant = bundle->variants.front();
    ASSERT_TRUE(variant.functions.empty());
    const runtime::DeviceInfo &info = device->info();
    variant.target = info.target;
    variant.chip = info.chip;
    if (info.target == "hip") {
      variant.imageKind = runtime::KernelImage::HSACO;
      variant.image = makeCodeObject(info.chip, {{"small", {8, 4}, 1024}});
    } else if (info.target != "cpu") {
      variant.imageKind = runtime::KernelImage::SPIRV;
      variant.image = makeAddModule();
    }
    auto created = runtime::Executable::create(*bundle, "main", *device);
    ASSERT_TRUE(created.ok()) << created.status().message();
    executable = created.take();
  }

  runtime::Status run(int64_t size, std::vector<CallResult> &results) {
    std::vector<float> data(size, 9);
    runtime::Operand operand;
    operand.kind = runtime::MemoryKind::Host;
    operand.data = data.data();
    operand.sizes = &size;
    return executable->run({operand}, results);
  }
  void write(void *data, float value) {
    std::vector<float> values(8, value);
    EXPECT_TRUE(
        device->copyToDevice(data, values.data(), 8 * sizeof(float)).ok());
  }
  /// How many of eight elements are not `value`.
  int64_t countOthers(const void *data, float value) {
    std::vector<float> found(8);
    EXPECT_TRUE(device->copyToHost(found.data(), data, 8 * sizeof(float)).ok());
    return 8 - llvm::count(found, value);
  }
  void free(const std::vector<CallResult> &results) {
    for (const CallResult &result : results)
      EXPECT_TRUE(device->free(result.allocation).ok());
  }

  MLIRContext context;
  runtime::FakeHip hipState;
  runtime::HipDriver hip;
  runtime::OpenCLDriver openCL;
  runtime::LevelZeroDriver levelZero;
  std::unique_ptr<runtime::Device> device;
  std::unique_ptr<runtime::Executable> executable;

public:
  FailedRunTest() { runtime::fake = &hipState; }
};

TEST_P(FailedRunTest, LeavesTheCallersResultsAlone) {
  std::vector<CallResult> results;
  runtime::Status status = run(8, results);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(results.size(), 3u);
  const std::vector<CallResult> first = results;
  write(first[0].data, 1);
  write(first[2].data, 2);

  // The same vector, as a caller has it that runs in a loop.
  size_t live = device->memoryStats().liveBytes;
  for (int i = 0; i < 2; ++i) {
    status = run(65, results);
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(),
              "assertion failed: x has more than 64 elements");
    EXPECT_EQ(device->memoryStats().liveBytes, live);
    ASSERT_EQ(results.size(), 3u);
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_EQ(results[j].data, first[j].data);
      EXPECT_EQ(results[j].allocation, first[j].allocation);
    }
  }

  // Memory of somebody else's, and another good run.
  void *other = nullptr;
  ASSERT_TRUE(device->allocate(8 * sizeof(float), &other).ok());
  write(other, 7);
  status = run(8, results);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(results.size(), 3u);
  std::vector<void *> addresses = {other, first[0].data, first[2].data,
                                   results[0].data, results[2].data};
  llvm::sort(addresses);
  EXPECT_EQ(std::unique(addresses.begin(), addresses.end()), addresses.end());
  write(results[0].data, 3);
  write(results[2].data, 4);
  EXPECT_EQ(countOthers(first[0].data, 1), 0);
  EXPECT_EQ(countOthers(first[2].data, 2), 0);
  EXPECT_EQ(countOthers(other, 7), 0);
  EXPECT_EQ(countOthers(results[0].data, 3), 0);
  EXPECT_EQ(countOthers(results[2].data, 4), 0);
  EXPECT_TRUE(device->free(other).ok());
  free(first);
  free(results);
}

INSTANTIATE_TEST_SUITE_P(Devices, FailedRunTest,
                         ::testing::Values("cpu", "hip", "opencl",
                                           "level-zero"),
                         [](const auto &info) {
                           std::string name = info.param;
                           llvm::erase(name, '-');
                           return name;
                         });

} // namespace
