//===- Backend.cpp - Targets whose kernels are SPIR-V ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backend.h"

#include "Conversion/Passes.h"
#include "Target/Target.h"

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
  // Workgroup memory is not packed: SPIR-V has a variable for each buffer.
  kernels.addPass(createConvertTesseraToSPIRV());
  addArithmeticPasses(kernels);
}

void SpirvBackend::addLoweringPasses(OpPassManager &kernels,
                                     const CompileFlags &) const {
  addIndexPasses(kernels);
  kernels.addPass(createLowerMemoryToSPIRV());
  kernels.addPass(createCanonicalizerPass());
  kernels.addPass(createCSEPass());
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createScalarizeVectors());
  kernels.addPass(createCanonicalizerPass());
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

bool SpirvBackend::runsOn(StringRef codeChip, StringRef deviceChip,
                          bool) const {
  const Chip *code = findChip(info.name, codeChip);
  const Chip *device = findChip(info.name, deviceChip);
  // A kernel that needs more of a resource than the device has is rejected at
  // its launch.
  return code && device && code->subgroupSize == device->subgroupSize &&
         code->maxThreads <= device->maxThreads &&
         code->hasF16 <= device->hasF16 && code->hasF64 <= device->hasF64 &&
         code->hasAtomicF32 <= device->hasAtomicF32 &&
         code->hasAtomicF64 <= device->hasAtomicF64 &&
         llvm::all_of(code->keptNans,
                      [&](unsigned bits) {
                        return llvm::is_contained(device->keptNans, bits);
                      }) &&
         llvm::all_of(code->instructions, [&](const auto &row) {
           return device->findInstruction(row.name);
         });
}
