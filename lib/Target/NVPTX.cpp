//===- NVPTX.cpp - Kernels to PTX -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::tessera;

/// The oldest PTX version that has what the tables use of the chip (PTX ISA,
/// "Release Notes"), so that old drivers take it too. LLVM's default is too old
/// for several.
static StringRef getPtxFeature(StringRef chip) {
  return llvm::StringSwitch<StringRef>(chip)
      .Cases({"sm_70", "sm_75"}, "+ptx65")
      .Cases({"sm_80", "sm_86"}, "+ptx71")
      .Cases({"sm_89", "sm_90", "sm_90a"}, "+ptx84")
      .Cases({"sm_100", "sm_100a"}, "+ptx86")
      .Default("+ptx87");
}

FailureOr<std::string> mlir::tessera::emitPTX(ModuleOp module,
                                              const Chip &chip) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return module.emitError() << "LLVM has no NVPTX back end: " << error;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, chip.name, getPtxFeature(chip.name), llvm::TargetOptions(),
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return module.emitError() << "LLVM knows no " << chip.name;

  FailureOr<OwningOpRef<ModuleOp>> kernels = gatherKernels(module);
  if (failed(kernels))
    return failure();
  // Dynamic workgroup memory is an external array without a size; aligned for
  // every access there is.
  for (auto global : (*kernels)->getOps<LLVM::GlobalOp>()) {
    auto array = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
    if (global.getAddrSpace() == 3 && array && array.getNumElements() == 0) {
      global.setLinkage(LLVM::Linkage::External);
      global.setAlignment(128);
    }
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code =
      translateAndOptimize(**kernels, context, *machine);
  if (!code)
    return failure();
  return emitFile(module, *code, *machine, llvm::CodeGenFileType::AssemblyFile);
}
