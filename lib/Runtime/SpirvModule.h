//===- SpirvModule.h - Kernels of a SPIR-V module -----*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_SPIRVMODULE_H
#define TESSERA_LIB_RUNTIME_SPIRVMODULE_H

#include "Runtime/Status.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// A parameter of an entry point of OpenCL's.
struct SpirvParameter {
  bool isPointer = false;
  int64_t bytes = 8;
  /// The alignment of the pointer (decoration Alignment), in bytes.
  int64_t alignment = 1;
};

/// An entry point.
struct SpirvKernel {
  std::string name;
  /// Threads of a workgroup (execution mode LocalSize); zeros if the module has
  /// none.
  std::array<int64_t, 3> block = {0, 0, 0};
  /// Lanes of a subgroup (execution mode SubgroupSize), or 0.
  int64_t subgroupSize = 0;
  /// None for Vulkan, whose entry points have no parameters.
  std::vector<SpirvParameter> parameters;
  /// The number of 8-byte arguments that are its push constants, an array; 0 if
  /// it has none, or other ones.
  int64_t pushedArguments = 0;
};

/// One of several concatenated modules.
struct SpirvModule {
  std::vector<uint32_t> words;
  /// Capabilities that the module declares, by their numbers.
  std::vector<uint32_t> capabilities;
  std::vector<SpirvKernel> kernels;
};

/// Takes `bytes` apart; a program without kernels has none. Returns
/// `InvalidArgument` if they are not SPIR-V.
Expected<std::vector<SpirvModule>> readSpirv(std::string_view bytes);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_SPIRVMODULE_H
