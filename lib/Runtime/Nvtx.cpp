//===- Nvtx.cpp - Ranges in the timelines of NVIDIA's tools ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The injection protocol of NVTX 3: the tool's library gets a function that
// returns tables by number, and in the table of callbacks a function that
// returns the addresses of function pointers, which the tool sets.
//
//===----------------------------------------------------------------------===//

#include "Runtime/Nvtx.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <iterator>

using namespace tessera::runtime;

namespace {

using NvtxFunction = void (*)();

/// The numbers of tables, and of the functions in use and their module.
enum : uint32_t { CallbacksTable = 1, VersionTable = 3 };
enum : uint32_t { CoreModule = 1 };
enum : uint32_t { RangePushA = 9, RangePop = 11 };

/// The modules of NVTX 3, from number 1 on (core, CUDA, OpenCL, CUDA's runtime,
/// domains, synchronization), with the number of functions of each: a program
/// that includes NVTX's header has all of them, so that a tool may rely on it.
constexpr unsigned moduleSizes[] = {16, 9, 15, 7, 16, 7};
constexpr size_t mostFunctions = 16;

struct Callbacks {
  size_t structSize;
  /// Returns 1 for a module that there is.
  int (*getModuleFunctionTable)(uint32_t module, NvtxFunction ***table,
                                unsigned *size);
};

struct VersionInfo {
  size_t structSize;
  uint32_t version, reserved;
  void (*setInjectionVersion)(uint32_t version);
};

/// The function pointers of a module that a tool sets, and their addresses by
/// number, from 1 on; a null follows the last one.
struct FunctionTable {
  NvtxFunction functions[mostFunctions];
  NvtxFunction *addresses[mostFunctions + 1];
};
FunctionTable tables[std::size(moduleSizes)];

int getModuleFunctionTable(uint32_t module, NvtxFunction ***table,
                           unsigned *size) {
  if (module < CoreModule || module > std::size(moduleSizes))
    return 0;
  FunctionTable &own = tables[module - 1];
  unsigned count = moduleSizes[module - 1];
  for (unsigned index = 1; index < count; ++index)
    own.addresses[index] = &own.functions[index];
  if (table)
    *table = own.addresses;
  if (size)
    *size = count;
  return 1;
}

const void *getExportTable(uint32_t table) {
  static const Callbacks callbacks = {sizeof(Callbacks),
                                      getModuleFunctionTable};
  static const VersionInfo version = {sizeof(VersionInfo), /*version=*/3,
                                      /*reserved=*/0, [](uint32_t) {}};
  if (table == CallbacksTable)
    return &callbacks;
  return table == VersionTable ? static_cast<const void *>(&version) : nullptr;
}

} // namespace

NvtxTool tessera::runtime::loadNvtxTool(const char *path) {
  NvtxTool tool;
  // The library stays loaded: its functions are called to the end.
  void *library = dlopen(path, RTLD_LAZY);
  if (!library)
    return tool;
  using Initialize = int (*)(const void *(*)(uint32_t));
  auto initialize =
      reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  if (!initialize || initialize(getExportTable) != 1)
    return tool;
  const NvtxFunction *core = tables[CoreModule - 1].functions;
  auto push = reinterpret_cast<int (*)(const char *)>(core[RangePushA]);
  auto pop = reinterpret_cast<int (*)()>(core[RangePop]);
  if (push && pop)
    tool = {push, pop};
  return tool;
}

const NvtxTool &tessera::runtime::getNvtxTool() {
  static const NvtxTool tool = [] {
    const char *path = std::getenv("NVTX_INJECTION64_PATH");
    return path && *path ? loadNvtxTool(path) : NvtxTool();
  }();
  return tool;
}
