//===- NoExtensions.cpp - LLVM's extensions, of which there are none ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Debian's LLVM has Polly as an extension (llvm/Support/Extension.def), which
// link-time optimization asks for. Its archives are in another package, and
// nothing here is optimized at link time: a static build goes without.
//
//===----------------------------------------------------------------------===//

#include "llvm/Config/llvm-config.h"
#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "no Polly", LLVM_VERSION_STRING,
          [](llvm::PassBuilder &) {}};
}
