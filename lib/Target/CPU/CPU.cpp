//===- CPU.cpp - The machine for a chip of the target cpu -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target/Target.h"

#include "TargetInfo/Emulation.h"

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir;
using namespace mlir::tessera;

std::unique_ptr<llvm::TargetMachine>
mlir::tessera::createCPUMachine(const Chip &chip, bool isPortable) {
  static bool isRegistered = false;
  registerBackEnd(isRegistered, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string cpu, error;
  llvm::SubtargetFeatures features;
  // Code that emulates another chip is compiled for the host.
  StringRef level = isEmulated(chip) ? getHostChip() : StringRef(chip.name);
  if (!isPortable && level == getHostChip()) {
    cpu = llvm::sys::getHostCPUName();
    for (auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
  } else if (triple.isX86()) {
    // The psABI's levels have the features that the chips are named by.
    bool hasDots = level == "x86-64-avx512-vnni";
    cpu = hasDots || level == "x86-64-avx512" ? "x86-64-v4"
          : level == "x86-64-avx2"            ? "x86-64-v3"
                                              : "x86-64";
    if (hasDots)
      features.AddFeature("avx512vnni");
  } else if (level != "generic") {
    return nullptr;
  }
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features.getString(), llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}
