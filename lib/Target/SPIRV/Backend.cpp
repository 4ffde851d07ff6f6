//===- Backend.cpp - Targets whose kernels are SPIR-V ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backend.h"

#include "Conversion/Passes.h"
#include "Target/Target.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tessera;

void SpirvBackend::registerDialects(DialectRegistry &registry) const {
  registry.insert<spirv::SPIRVDialect>();
}

void SpirvBackend::addVendorPasses(OpPassManager &kernels,
                                   const CompileFlags &) const {
  // Upstream converts sequential loops to SPIR-V, and no parallel ones. The
  // conversion expands those with reductions, which this pass keeps.
  kernels.addPass(createForallToForLoopPass());
  kernels.addPass(createParallelForToNestedForsPass());
  // Workgroup memory is not packed: SPIR-V has a variable for each buffer.
  kernels.addPass(createConvertTesseraToSPIRV());
  addArithmeticPasses(kernels);
}

/// A canonicalizer for loops that carry a scalar for each element of their
/// fragments: hundreds of them where a subgroup has one lane. Upstream's search
/// for values that are carried twice compares all of them with each other, and
/// again after each change. The canonicalizer before `ScalarizeVectors` has
/// found those among the vectors.
static std::unique_ptr<Pass> createScalarCanonicalizer() {
  // As clang and as gcc print the pattern's name.
  const std::string disabled[] = {
      "(anonymous namespace)::RemoveDuplicateSuccessorInputUses",
      "{anonymous}::RemoveDuplicateSuccessorInputUses"};
  return createCanonicalizerPass(GreedyRewriteConfig(), disabled);
}

/// Computes indices in 32 bits where their ranges permit it, and sums of
/// products as fused multiply-adds where that was permitted: drivers of Vulkan
/// get arithmetic that they must not change.
static void addNarrowingPasses(OpPassManager &kernels) {
  arith::ArithIntRangeNarrowingOptions narrow;
  narrow.bitwidthsSupported = {32};
  OpPassManager &functions = kernels.nest<gpu::GPUFuncOp>();
  functions.addPass(arith::createArithIntRangeNarrowing(narrow));
  functions.addPass(math::createMathUpliftToFMA());
}

void SpirvBackend::addLoweringPasses(OpPassManager &kernels,
                                     const CompileFlags &) const {
  addIndexPasses(kernels);
  kernels.addPass(createLowerMemoryToSPIRV());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  if (info.name == "vulkan") {
    addNarrowingPasses(kernels);
    kernels.addPass(createCanonicalizerPass());
    kernels.addPass(createCSEPass());
  }
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createScalarizeVectors());
  kernels.addPass(createScalarCanonicalizer());
  kernels.addPass(createCSEPass());
  kernels.addPass(createConvertKernelsToSPIRV());
}

ArrayRef<CodeStage> SpirvBackend::getStages() const {
  static const CodeStage stages[] = {{"spirv", /*isBinary=*/true},
                                     {"spirv-asm"}};
  return stages;
}

FailureOr<std::string> SpirvBackend::emit(StringRef stage, ModuleOp module,
                                          const Chip &, bool) const {
  return stage == "spirv" ? emitSPIRV(module) : printSPIRV(module);
}

LogicalResult SpirvBackend::compileKernels(ModuleOp module, const Chip &,
                                           KernelCode &code) const {
  std::shared_ptr<void> stage = code.startStage("spirv");
  FailureOr<std::string> bytes = emitSPIRV(module);
  if (failed(bytes) || (code.validate && failed(runSpirvVal(module, *bytes))))
    return failure();
  code.image.bytes = std::move(*bytes);
  code.image.kind = runtime::KernelImage::SPIRV;
  return success();
}

/// A chip as a device would report it. A kernel that needs more workgroup
/// memory than the device has is rejected at its launch, so that none is
/// stated.
static std::string reportChip(const Chip &chip) {
  std::string text = "s" + std::to_string(chip.subgroupSize) + "-w0-t" +
                     std::to_string(chip.maxThreads);
  const std::pair<bool, const char *> features[] = {
      {chip.hasF16, "-f16"},
      {chip.hasF64, "-f64"},
      {chip.hasAtomicF32, "-a32"},
      {chip.hasAtomicF64, "-a64"}};
  for (auto [has, feature] : features)
    if (has)
      text += feature;
  for (unsigned bits : chip.keptNans)
    text += "-n" + std::to_string(bits);
  if (chip.reducesMatrices)
    text += "-reduce";
  for (const MatrixInstruction &row : chip.instructions)
    text += "-" + row.name;
  return text;
}

std::string SpirvBackend::explainIncompatible(StringRef code, StringRef device,
                                              bool isMachineCode) const {
  const Chip *codeChip = findChip(info.name, code);
  const Chip *deviceChip = findChip(info.name, device);
  if (!codeChip || !deviceChip)
    return ((codeChip ? device : code) + " is not a chip of " + info.name)
        .str();
  return TargetBackend::explainIncompatible(
      reportChip(*codeChip), reportChip(*deviceChip), isMachineCode);
}
