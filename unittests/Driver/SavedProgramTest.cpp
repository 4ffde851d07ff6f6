//===- SavedProgramTest.cpp - Compiled programs as bytes ------------------===//
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

/// The warning is of the schedule that nothing asks for.
constexpr const char *source = R"(
func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>,
                %c: tensor<64x64xf32>, %d: memref<64xf32>) -> tensor<64x64xf32> {
  linalg.exp {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32>}
      ins(%d : memref<64xf32>) outs(%d : memref<64xf32>)
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>)
      outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
)";

class SavedProgramTest : public ::testing::TestWithParam<const char *> {
protected:
  SavedProgramTest() {
    prepareContext(context);
    options.target = GetParam();
    options.chip = options.target == "cuda"  ? "sm_80"
                   : options.target == "hip" ? "gfx942"
                                             : getHostChip().str();
    options.entry = "main";
  }
  /// The diagnostics that `run` emits on the context, with locations.
  std::string listen(llvm::function_ref<void()> run) {
    std::string printed;
    llvm::raw_string_ostream os(printed);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      os << static_cast<int>(diagnostic.getSeverity()) << " "
         << diagnostic.getLocation() << " " << diagnostic << "\n";
      for (Diagnostic &note : diagnostic.getNotes())
        os << "  " << note.getLocation() << " " << note << "\n";
      return success();
    });
    run();
    return printed;
  }

  /// Loads a program from bytes that live as long as it.
  std::unique_ptr<CompiledProgram> load(std::string bytes, std::string &why) {
    auto owner = std::make_shared<const std::string>(std::move(bytes));
    return loadProgram({*owner, owner}, options, context, why);
  }

  MLIRContext context;
  CompileOptions options;
};

TEST_P(SavedProgramTest, IsTheSameAgain) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, &context, "source.mlir");
  ASSERT_TRUE(module);
  std::unique_ptr<CompiledProgram> program, loaded;
  std::string printed =
      listen([&] { program = compileProgram(*module, options); });
  ASSERT_TRUE(program) << printed;
  EXPECT_NE(printed.find("schedule has no effect"), std::string::npos)
      << printed;

  std::string bytes = program->save(), why;
  std::string reportedAgain = listen([&] { loaded = load(bytes, why); });
  ASSERT_TRUE(loaded) << why;
  EXPECT_EQ(reportedAgain, printed);
  EXPECT_TRUE(loaded->getEntry("main"));
  EXPECT_FALSE(loaded->getEntry("other"));
  EXPECT_EQ(loaded->ptx, program->ptx);
  EXPECT_EQ(loaded->ptx.empty(), options.target != "cuda");
  EXPECT_EQ(loaded->image.kind, program->image.kind);
  EXPECT_EQ(loaded->image.name, program->image.name);
  EXPECT_EQ(loaded->image.bytes, program->image.bytes);
  ASSERT_EQ(loaded->image.functions.size(), program->image.functions.size());
  for (size_t i = 0; i < loaded->image.functions.size(); ++i) {
    EXPECT_EQ(loaded->image.functions[i].first,
              program->image.functions[i].first);
    EXPECT_TRUE(loaded->image.functions[i].second);
  }
  ASSERT_EQ(loaded->kernels.size(), program->kernels.size());
  ASSERT_FALSE(loaded->kernels.empty());
  for (size_t i = 0; i < loaded->kernels.size(); ++i) {
    EXPECT_EQ(loaded->kernels[i].name, program->kernels[i].name);
    EXPECT_EQ(loaded->kernels[i].schedule, program->kernels[i].schedule);
    EXPECT_EQ(loaded->kernels[i].workgroupBytes,
              program->kernels[i].workgroupBytes);
  }
  ASSERT_EQ(loaded->matmuls.size(), 1u);
  EXPECT_EQ(loaded->matmuls[0].instruction, program->matmuls[0].instruction);
  EXPECT_EQ(loaded->matmuls[0].matrixUnit, program->matmuls[0].matrixUnit);
  EXPECT_EQ(loaded->matmuls[0].location, program->matmuls[0].location);
  EXPECT_EQ(loaded->matmuls[0].rejected, program->matmuls[0].rejected);
  // Saved again, it is the same still.
  EXPECT_EQ(loaded->save(), bytes);
}

TEST_P(SavedProgramTest, HasTheSameKernelsWithCheckpoints) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, &context, "source.mlir");
  std::unique_ptr<CompiledProgram> plain, checked, loaded;
  std::string why;
  listen([&] {
    plain = compileProgram(*module, options);
    options.checkpoints = true;
    checked = compileProgram(*module, options);
    ASSERT_TRUE(plain && checked);
    loaded = load(plain->save(), why);
    EXPECT_FALSE(loaded);
    EXPECT_EQ(why, "its host code has no checkpoints");
    loaded = load(checked->save(), why);
  });
  EXPECT_EQ(checked->image.bytes, plain->image.bytes);
  EXPECT_EQ(checked->ptx, plain->ptx);
  ASSERT_EQ(checked->kernels.size(), plain->kernels.size());
  for (size_t i = 0; i < plain->kernels.size(); ++i)
    EXPECT_EQ(checked->kernels[i].name, plain->kernels[i].name);
  EXPECT_EQ(plain->steps, "");
  EXPECT_EQ(plain->stepCount, checked->stepCount);
  ASSERT_TRUE(loaded) << why;
  EXPECT_EQ(loaded->stepCount, checked->stepCount);
  EXPECT_EQ(loaded->steps, checked->steps);
  OwningOpRef<ModuleOp> steps =
      parseSourceString<ModuleOp>(checked->steps, &context);
  ASSERT_TRUE(steps);
  std::vector<std::string> names;
  for (auto step : steps->getOps<func::FuncOp>())
    names.push_back(step.getName().str());
  ASSERT_GE(names.size(), 2u);
  EXPECT_EQ(names.size(), static_cast<size_t>(checked->stepCount));
  EXPECT_EQ(names[0], "__tessera_step0");
  EXPECT_EQ(names[1], "__tessera_step1");
}

// A fill that is part of a reduction's kernel, across a matmul, and an operand
// of two matmuls that is packed once.
TEST_P(SavedProgramTest, HasNoMoreKernelsWithCheckpoints) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
func.func @main(%a: tensor<2048x1022xf16>, %b: tensor<1022x1024xf16>, %c: tensor<1022x2048xf16>)
    -> (tensor<2048x1024xf32>, tensor<2048x2048xf32>, tensor<2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2048x1022xf16>, tensor<1022x1024xf16>) outs(%i : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %g = tensor.empty() : tensor<2048xf32>
  %j = linalg.fill ins(%zero : f32) outs(%g : tensor<2048xf32>) -> tensor<2048xf32>
  %f = tensor.empty() : tensor<2048x2048xf32>
  %k = linalg.fill ins(%zero : f32) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %s = linalg.matmul ins(%a, %c : tensor<2048x1022xf16>, tensor<1022x2048xf16>) outs(%k : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<2048x2048xf32>) outs(%j : tensor<2048xf32>) dimensions = [0]
  return %r, %s, %m : tensor<2048x1024xf32>, tensor<2048x2048xf32>, tensor<2048xf32>
})",
                                                             &context);
  ASSERT_TRUE(module);
  // Which packs operands.
  if (options.target == "cuda")
    options.chip = "sm_90a";
  std::unique_ptr<CompiledProgram> plain, checked;
  listen([&] {
    plain = compileProgram(*module, options);
    options.checkpoints = true;
    checked = compileProgram(*module, options);
  });
  ASSERT_TRUE(plain && checked);
  EXPECT_EQ(checked->stepCount, 3);
  std::vector<std::string> names, checkedNames;
  for (const auto &kernel : plain->kernels)
    names.push_back(kernel.name);
  for (const auto &kernel : checked->kernels)
    checkedNames.push_back(kernel.name);
  EXPECT_EQ(checkedNames, names);
}

TEST_P(SavedProgramTest, MachineCodeStaysBesideThePTX) {
  if (options.target != "cuda")
    return;
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, &context, "source.mlir");
  std::unique_ptr<CompiledProgram> program, loaded;
  std::string why;
  listen([&] {
    program = compileProgram(*module, options);
    program->image.kind = runtime::KernelImage::Cubin;
    program->image.bytes = std::string("cu\0bin", 6);
    loaded = load(program->save(), why);
  });
  ASSERT_TRUE(loaded) << why;
  EXPECT_EQ(loaded->image.kind, runtime::KernelImage::Cubin);
  EXPECT_EQ(loaded->image.bytes, program->image.bytes);
  EXPECT_EQ(loaded->ptx, program->ptx);
}

TEST_P(SavedProgramTest, RejectsOtherFiles) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, &context, "source.mlir");
  std::unique_ptr<CompiledProgram> program;
  listen([&] { program = compileProgram(*module, options); });
  ASSERT_TRUE(program);
  std::string bytes = program->save();
  std::string why;
  for (size_t size : {size_t(0), size_t(7), size_t(100), bytes.size() - 1}) {
    EXPECT_FALSE(load(bytes.substr(0, size), why));
    EXPECT_EQ(why, "does not contain a program");
  }
  EXPECT_FALSE(load(bytes + "x", why));
  // For another entry point.
  options.entry = "other";
  EXPECT_FALSE(load(bytes, why));
  EXPECT_EQ(why, "cannot link its entry point 'other'");
}

// As an entry of a cache that somebody has changed.
TEST_P(SavedProgramTest, OtherFunctionsOfTheProcessAreOutOfReach) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @main(%x: f32) -> f32 {
      %r = math.sinh %x : f32
      return %r : f32
    })",
                                                             &context);
  std::unique_ptr<CompiledProgram> program = compileProgram(*module, options);
  ASSERT_TRUE(program);
  std::string bytes = program->save(), why;
  ASSERT_TRUE(load(bytes, why)) << why;
  // Its name in the object's table of names.
  std::string called("\0sinhf\0", 7), other("\0_exit\0", 7);
  size_t at = bytes.find(called);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, other.size(), other);
  EXPECT_FALSE(load(bytes, why));
  EXPECT_EQ(why, "the program needs '_exit', which the runtime does not export "
                 "to programs");
}

INSTANTIATE_TEST_SUITE_P(Targets, SavedProgramTest,
                         ::testing::Values("cpu", "cuda", "hip"),
                         [](const auto &info) { return info.param; });

} // namespace
