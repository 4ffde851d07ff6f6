//===- CodeObject.h - Metadata of AMD code objects ----*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A code object is an ELF file with a note that describes its kernels, as
// MessagePack (LLVM's "User Guide for AMDGPU Backend", sections "ELF Code
// Object" and "Code Object V3 Metadata" to V5). HIP does not expose this
// information.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_CODEOBJECT_H
#define TESSERA_RUNTIME_CODEOBJECT_H

#include "Runtime/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

/// A kernel of a code object. Numbers that the note does not contain are 0.
struct CodeObjectKernel {
  std::string name;
  /// Size of each launch argument in bytes, in order.
  std::vector<int64_t> arguments;
  /// Statically declared workgroup memory, and memory per thread, in bytes.
  int64_t workgroupBytes = 0, threadBytes = 0;
  /// Maximum workgroup size for which the kernel was compiled.
  int64_t maxThreads = 0;
  int64_t subgroupSize = 0;
  /// Registers per thread, and the number of spilled ones. If both kinds of
  /// vector registers share one file (gfx90a and later), `vectors` counts both.
  int64_t vectors = 0, accumulators = 0, scalars = 0;
  int64_t vectorSpills = 0, scalarSpills = 0;
};

struct CodeObject {
  /// The target ID, such as "gfx942:sramecc+"; empty before code object version
  /// 4.
  std::string target;
  std::vector<CodeObjectKernel> kernels;
};

/// Whether bytes are an ELF file for an AMD GPU.
bool isCodeObject(std::string_view bytes);

/// Reads the kernels of a code object. `InvalidArgument`, with the reason, for
/// bytes that are not a code object or have a malformed note.
Expected<CodeObject> readCodeObject(std::string_view bytes);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_CODEOBJECT_H
