//===- HipProgramTest.cpp - Programs for HIP, up to the launch ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is compiled for an AMD chip, loaded by the HIP runtime and called,
// over a HIP that functions play: the code object has to be the device's, and
// the launches those that its kernels take. Numbers are for tests on a device.
//
//===----------------------------------------------------------------------===//

#include "Driver/Compiler.h"
#include "FakeHip.h"
#include "HIP/HipDevice.h"
#include "Runtime/CodeObject.h"
#include "Runtime/Session.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Two kernels: a matmul with bounds checks, and a SIMT kernel with a scalar.
constexpr const char *source = R"(
func.func @main(%a: memref<50x64xf16>, %b: memref<64x70xf16>, %c: memref<50x70xf32>, %s: f32) {
  linalg.matmul ins(%a, %b : memref<50x64xf16>, memref<64x70xf16>) outs(%c : memref<50x70xf32>)
  linalg.fill ins(%s : f32) outs(%c : memref<50x70xf32>)
  return
}
)";

/// The fields of a memref of rank 2 as an entry takes them.
struct Matrix {
  void *allocated, *aligned;
  int64_t offset = 0, sizes[2], strides[2];
  Matrix(void *ptr, int64_t rows, int64_t cols)
      : allocated(ptr), aligned(ptr), sizes{rows, cols}, strides{cols, 1} {}
  void addTo(std::vector<void *> &fields) {
    for (void *field :
         {static_cast<void *>(&allocated), static_cast<void *>(&aligned),
          static_cast<void *>(&offset), static_cast<void *>(&sizes[0]),
          static_cast<void *>(&sizes[1]), static_cast<void *>(&strides[0]),
          static_cast<void *>(&strides[1])})
      fields.push_back(field);
  }
};

class HipProgramTest : public ::testing::TestWithParam<const char *> {
protected:
  HipProgramTest() {
    runtime::fake = &state;
    driver = runtime::makeFakeDriver();
    state.targetId = GetParam();
    prepareContext(context);
  }
  ~HipProgramTest() override {
    device.reset();
    EXPECT_TRUE(state.memory.empty());
    runtime::fake = nullptr;
  }
  void open() {
    auto opened = runtime::openHipDevice(driver, 0);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
  }
  std::unique_ptr<CompiledProgram> compile(StringRef chip) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source, &context, "source.mlir");
    CompileOptions options;
    options.target = "hip";
    options.chip = chip.str();
    options.entry = "main";
    return compileProgram(*module, options);
  }
  void *allocate(size_t bytes) {
    void *ptr = nullptr;
    EXPECT_TRUE(device->allocate(bytes, &ptr).ok());
    return ptr;
  }

  MLIRContext context;
  runtime::FakeHip state;
  runtime::HipDriver driver;
  std::unique_ptr<runtime::Device> device;
};

TEST_P(HipProgramTest, LaunchesWhatItsKernelsTake) {
  open();
  std::unique_ptr<CompiledProgram> program = compile(device->info().chip);
  ASSERT_TRUE(program);
  ASSERT_EQ(program->image.kind, runtime::KernelImage::HSACO);
  auto object = runtime::readCodeObject(program->image.bytes);
  ASSERT_TRUE(object.ok()) << object.status().message();
  ASSERT_EQ(object->kernels.size(), program->kernels.size());
  for (const runtime::CodeObjectKernel &kernel : object->kernels) {
    EXPECT_EQ(kernel.vectorSpills, 0) << kernel.name;
    EXPECT_GT(kernel.arguments.size(), 0u) << kernel.name;
    state.kernels.push_back({kernel.name, state.kernels.front().attributes});
  }
  runtime::Status status = device->loadImage(program->image);
  ASSERT_TRUE(status.ok()) << status.message();

  Matrix a(allocate(50 * 64 * 2), 50, 64), b(allocate(64 * 70 * 2), 64, 70),
      c(allocate(50 * 70 * 4), 50, 70);
  float scalar = 3;
  std::vector<void *> fields;
  for (Matrix *matrix : {&a, &b, &c})
    matrix->addTo(fields);
  fields.push_back(&scalar);
  runtime::Session session(*device);
  {
    runtime::SessionScope scope(session);
    program->getEntry("main")(fields.data());
  }
  // The runtime compares each argument with the code object's list.
  status = session.finish();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(state.launches, static_cast<int>(program->kernels.size()));
}

TEST_P(HipProgramTest, IsRejectedByAnotherChip) {
  std::unique_ptr<CompiledProgram> program = compile("gfx908");
  ASSERT_TRUE(program);
  open();
  runtime::Status status = device->loadImage(program->image);
  EXPECT_EQ(status.code(), runtime::StatusCode::Rejected);
  EXPECT_NE(
      status.message().find("(" + state.targetId +
                            ") does not run code for gfx908: the device is "
                            "another chip"),
      std::string::npos)
      << status.message();
}

INSTANTIATE_TEST_SUITE_P(Chips, HipProgramTest,
                         ::testing::Values("gfx942:sramecc+:xnack-",
                                           "gfx90a:sramecc+:xnack-", "gfx1100",
                                           "gfx1201"),
                         [](const auto &info) {
                           StringRef name = info.param;
                           return name.split(':').first.str();
                         });

} // namespace
