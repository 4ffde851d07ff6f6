//===- CodeObject.h - What an AMD code object says of itself ----*- C++ -*-===//
//
// A code object is an ELF file with a note that describes its kernels, as
// MessagePack (LLVM's "User Guide for AMDGPU Backend", sections "ELF Code
// Object" and "Code Object V3 Metadata" to V5). HIP tells none of it.
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

/// A kernel of a code object. Numbers that the note does not have are 0.
struct CodeObjectKernel {
  std::string name;
  /// Size of each argument that a launch gives, in bytes, in order.
  std::vector<int64_t> arguments;
  /// Workgroup memory that the kernel declares, and memory of each thread, in
  /// bytes.
  int64_t workgroupBytes = 0, threadBytes = 0;
  /// Most threads of a workgroup that it was compiled for.
  int64_t maxThreads = 0;
  int64_t subgroupSize = 0;
  /// Registers of each thread, and of those how many are spilled. Where the two
  /// kinds of vector registers are one file (gfx90a and later), `vectors`
  /// counts both.
  int64_t vectors = 0, accumulators = 0, scalars = 0;
  int64_t vectorSpills = 0, scalarSpills = 0;
};

struct CodeObject {
  /// "gfx942:sramecc+"; empty before code object version 4, which does not say
  /// it.
  std::string target;
  std::vector<CodeObjectKernel> kernels;
};

/// True for an ELF file of AMD's GPUs.
bool isCodeObject(std::string_view bytes);

/// `InvalidArgument` for bytes that are no code object, or whose note cannot be
/// read, with what is wrong.
Expected<CodeObject> readCodeObject(std::string_view bytes);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_CODEOBJECT_H
