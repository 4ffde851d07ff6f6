//===- FakeKernels.h - Kernels of a Level Zero for tests --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Level Zero of tests runs no kernel, unless PoCL does it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_LEVELZERO_FAKEKERNELS_H
#define TESSERA_UNITTESTS_RUNTIME_LEVELZERO_FAKEKERNELS_H

#include "SpirvModule.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::runtime {

/// A module that PoCL has compiled.
class FakeProgram {
public:
  virtual ~FakeProgram() = default;
  /// Runs a kernel to completion. Returns the errors.
  virtual std::vector<std::string>
  run(const SpirvKernel &kernel, const uint32_t (&grid)[3],
      const std::vector<std::string> &arguments) = 0;
};

/// From now on, kernels are run by the first device of OpenCL.
void useFakePrograms();

/// Null if kernels are not run. `problem` receives the reason why a module is
/// rejected.
std::unique_ptr<FakeProgram> makeFakeProgram(const SpirvModule &module,
                                             std::string &problem);

/// Memory that the kernels can reach.
void *allocateFakeMemory(size_t bytes, size_t alignment);
void freeFakeMemory(void *ptr);

} // namespace tessera::runtime

#endif // TESSERA_UNITTESTS_RUNTIME_LEVELZERO_FAKEKERNELS_H
