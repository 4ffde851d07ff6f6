//===- BackendTest.cpp - Targets and chips that are added -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target is its chips and its backend: one that is registered here is
// compiled for, listed and emitted without a change elsewhere. A chip is one
// row.
//
//===----------------------------------------------------------------------===//

#include "Target/Backend.h"
#include "Conversion/Passes.h"
#include "Driver/Compiler.h"
#include "Driver/DeviceChip.h"
#include "Driver/TargetList.h"
#include "Runtime/CodeObject.h"
#include "Target/AMD/Chips.h"
#include "Target/NVIDIA/Chips.h"
#include "Target/Target.h"
#include "TargetInfo/Peaks.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace mlir::tessera;

namespace {

constexpr const char *source = R"(
func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>,
                %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>)
      outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
)";

//===----------------------------------------------------------------------===//
// A target
//===----------------------------------------------------------------------===//

/// Its chip has the table of a processor without vector units, by another name.
const TargetInfo &getToyTarget() {
  static const TargetInfo target = [] {
    TargetInfo target{"toy"};
    target.aliases = {"toy-driver"};
    target.dialects = {"toy"};
    target.addChips = [](std::vector<Chip> &chips) {
      Chip chip = *findHostChip("generic");
      chip.name = "toy1";
      chip.target = "toy";
      chips.push_back(std::move(chip));
    };
    return target;
  }();
  return target;
}

class ToyBackend : public TargetBackend {
public:
  ToyBackend() : TargetBackend(getToyTarget()) {}

  StringRef getPipelineName() const override { return "tessera-to-toy"; }
  StringRef getPipelineDescription() const override { return "Toy"; }
  void addVendorPasses(OpPassManager &kernels,
                       const CompileFlags &) const override {
    kernels.addPass(createTesseraPackWorkgroupMemory());
    kernels.addPass(createConvertTesseraToCPU());
    addArithmeticPasses(kernels);
  }
  void addLoweringPasses(OpPassManager &kernels,
                         const CompileFlags &) const override {
    addIndexPasses(kernels);
    kernels.addPass(createSCFToControlFlowPass());
    kernels.addPass(createConvertToLLVMPass());
    kernels.addPass(createReconcileUnrealizedCastsPass());
  }

  ArrayRef<CodeStage> getStages() const override {
    static const CodeStage stages[] = {{"toy-code"}};
    return stages;
  }
  FailureOr<std::string> emit(StringRef, ModuleOp module, const Chip &chip,
                              bool) const override {
    std::string text = "toy code for " + chip.name + "\n";
    llvm::raw_string_ostream(text) << module;
    return text;
  }
  LogicalResult compileKernels(ModuleOp module, const Chip &chip,
                               KernelCode &code) const override {
    std::shared_ptr<void> stage = code.startStage("toy");
    code.image.bytes = *emit("toy-code", module, chip, false);
    code.image.kind = runtime::KernelImage::SPIRV;
    return success();
  }
  std::optional<runtime::KernelImage::Kind>
  getImageKind(StringRef) const override {
    return runtime::KernelImage::SPIRV;
  }
  std::string explainIncompatible(StringRef code, StringRef device,
                                  bool) const override {
    return code == "toy1" && device == "toy2" ? "" : "it is another toy";
  }
  StringRef getCodeTitle() const override { return "Toy code"; }
};

/// Registers the target, once.
const TargetBackend &getToy() {
  static const ToyBackend backend;
  static const bool isRegistered = [] {
    EXPECT_EQ(findTarget("toy"), nullptr);
    registerBackend(backend);
    return true;
  }();
  (void)isRegistered;
  return backend;
}

class BackendTest : public ::testing::Test {
protected:
  BackendTest() {
    prepareContext(context);
    module = parseSourceString<ModuleOp>(source, &context);
    options.entry = "main";
  }
  /// The program as code of a stage.
  std::string emit(const char *target, const char *chip, const char *stage) {
    options.target = target;
    options.chip = chip;
    OwningOpRef<ModuleOp> copy(module->clone());
    if (failed(lowerToStage(*copy, Stage::LLVM, options)))
      return "not lowered";
    FailureOr<std::string> code =
        findBackend(target)->emit(stage, *copy, *findChip(target, chip));
    return succeeded(code) ? *code : "not emitted";
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CompileOptions options;
};

TEST_F(BackendTest, ATargetIsListed) {
  getToy();
  EXPECT_EQ(findDialectOwner("toy"), &getToy().getInfo());
  EXPECT_EQ(findDialectOwner("gpu"), nullptr);
  EXPECT_EQ(getKnownChips("toy"), std::vector<std::string>{"toy1"});
  EXPECT_EQ(getKnownChips("toy-driver"), std::vector<std::string>{"toy1"});
  EXPECT_EQ(getChipTarget("toy-driver"), "toy");
  EXPECT_TRUE(
      StringRef(listTargetNames("and")).ends_with(", toy and toy-driver"));
  std::string why;
  std::vector<TargetChip> targets =
      parseTargetList("toy:toy1,cpu:generic", why);
  ASSERT_EQ(targets.size(), 2u) << why;
  EXPECT_EQ(targets[0].name, "toy");
  EXPECT_TRUE(parseTargetList("toy:toy2", why).empty());
  EXPECT_EQ(why, "unknown chip 'toy2' for target toy; known, nearest first: "
                 "toy1");
  ASSERT_NE(findCodeStage("toy-code"), nullptr);
  EXPECT_FALSE(findCodeStage("toy-code")->isBinary);
  EXPECT_EQ(explainIncompatible("toy", "toy1", "toy2", /*isCubin=*/false), "");
  EXPECT_EQ(explainIncompatible("toy", "toy2", "toy1", /*isCubin=*/false),
            "it is another toy");
  runtime::DeviceInfo device;
  device.target = "toy";
  device.chip = "toy1";
  EXPECT_EQ(getChipFor(device), "toy1");
}

TEST_F(BackendTest, ATargetIsEmitted) {
  getToy();
  std::string code = emit("toy", "toy1", "toy-code");
  EXPECT_TRUE(StringRef(code).starts_with("toy code for toy1\n")) << code;
  EXPECT_NE(code.find("llvm.func @"), std::string::npos) << code;
  EXPECT_EQ(code.find("tessera.mma"), std::string::npos) << code;
}

TEST_F(BackendTest, ATargetIsCompiledFor) {
  getToy();
  options.target = "toy";
  options.chip = "toy1";
  std::unique_ptr<CompiledProgram> program = compileProgram(*module, options);
  ASSERT_TRUE(program);
  EXPECT_TRUE(StringRef(program->image.bytes).starts_with("toy code for toy1"));
  ASSERT_EQ(program->matmuls.size(), 1u);
  EXPECT_TRUE(StringRef(program->matmuls[0].instruction).starts_with("fma."));
  EXPECT_NE(program->getEntry("main"), nullptr);
}

//===----------------------------------------------------------------------===//
// Chips
//===----------------------------------------------------------------------===//

TEST_F(BackendTest, AChipOfNvidiaIsARow) {
  ASSERT_EQ(findChip("cuda", "sm_103"), nullptr);
  registerChip(makeNvidiaChip({"sm_103",
                               103,
                               88,
                               227,
                               160,
                               64,
                               32,
                               228,
                               NvidiaChipRow::MmaSync,
                               "",
                               {{"B300", 160, 1920, 2500, 2500, 1250, 76, 1.2,
                                 150, 5000, 8.0, "a made-up sheet"}}}));
  std::string code = emit("cuda", "sm_103", "ptx");
  EXPECT_NE(code.find(".version 8.8"), std::string::npos) << code;
  EXPECT_NE(code.find(".target sm_103"), std::string::npos) << code;
  EXPECT_NE(code.find("mma.sync"), std::string::npos) << code;
  const Chip &chip = *findChip("cuda", "sm_103");
  EXPECT_EQ(countResidentBlocks(chip, 16, 32, 0), 32);
  EXPECT_EQ(countResidentBlocks(chip, 32, 128, 100 << 10), 2);
  std::string why;
  std::optional<Roof> roof =
      findRoof("sm_103", "NVIDIA B300 SXM", 0, 0, "f16", why);
  ASSERT_TRUE(roof) << why;
  EXPECT_EQ(roof->operations, 2500e12);
  EXPECT_EQ(roof->source, "a made-up sheet");
  runtime::DeviceInfo device;
  device.target = "cuda";
  device.chip = "sm_103";
  EXPECT_EQ(getChipFor(device), "sm_103");
}

TEST_F(BackendTest, AChipOfAmdIsARow) {
  ASSERT_EQ(findChip("hip", "gfx1152"), nullptr);
  registerChip(makeAmdChip({"gfx1152", Gfx11, 8, 1024}));
  std::string code = emit("hip", "gfx1152", "amdgcn");
  EXPECT_NE(code.find("gfx1152"), std::string::npos) << code;
  EXPECT_NE(code.find("v_wmma_f32_16x16x16_f16"), std::string::npos) << code;
  // By registers, of which a lane has 1024 on each of four SIMD units, and by
  // waves.
  const Chip &chip = *findChip("hip", "gfx1152");
  EXPECT_EQ(countResidentWorkgroups(chip, 256, 32, 0), 16);
  EXPECT_EQ(countResidentWorkgroups(chip, 16, 32, 0), 64);
}

//===----------------------------------------------------------------------===//
// Objects of several kernels
//===----------------------------------------------------------------------===//

TEST_F(BackendTest, ObjectsDoNotDependOnTheNumberOfThreads) {
  module = parseSourceString<ModuleOp>(R"(
func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>,
                %c: tensor<64x64xf32>, %d: tensor<8xf32>)
    -> (tensor<64x64xf32>, tensor<8xf32>) {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>)
      outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = tensor.empty() : tensor<8xf32>
  %s = linalg.exp ins(%d : tensor<8xf32>) outs(%e : tensor<8xf32>)
      -> tensor<8xf32>
  %f = tensor.empty() : tensor<64x64xf32>
  %t = linalg.add ins(%r, %r : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  %u = linalg.matmul ins(%t, %r : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %u, %s : tensor<64x64xf32>, tensor<8xf32>
}
)",
                                       &context);
  ASSERT_TRUE(module);
  for (const char *chip : {"gfx942", "gfx1100"}) {
    context.enableMultithreading();
    std::string inSeveral = emit("hip", chip, "hsaco");
    context.disableMultithreading();
    std::string inOne = emit("hip", chip, "hsaco");
    context.enableMultithreading();
    EXPECT_TRUE(inSeveral == inOne);
    // The metadata of all kernels are one note, with the name of each once.
    auto object =
        ::tessera::runtime::readCodeObject({inOne.data(), inOne.size()});
    ASSERT_TRUE(object.ok()) << object.status().message();
    std::vector<std::string> names;
    for (const auto &kernel : object->kernels) {
      names.push_back(kernel.name);
      EXPECT_GT(kernel.vectors, 0) << kernel.name;
    }
    ASSERT_GE(names.size(), 3u);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(),
              names.size());
    EXPECT_EQ(StringRef(inOne).count("amdhsa.kernels"), 1u);
    // The kernels' code is there: each name has a descriptor.
    for (const std::string &name : names)
      EXPECT_NE(inOne.find(name + ".kd"), std::string::npos) << name;
  }
}

TEST(ChipRowsTest, TheRuntimeReadsCachesOfAmd) {
  EXPECT_EQ(getLastCacheBytes(std::string("gfx942")), 256 << 20);
  EXPECT_EQ(getLastCacheBytes(std::string("gfx90a")), 0);
  EXPECT_EQ(getLastCacheBytes(std::string("gfx1103")), 0);
  EXPECT_EQ(getLastCacheBytes(std::string("nothing")), 0);
}

} // namespace
