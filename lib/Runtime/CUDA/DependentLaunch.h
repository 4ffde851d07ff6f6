//===- DependentLaunch.h - Which kernels wait by themselves -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CUDA_DEPENDENTLAUNCH_H
#define TESSERA_LIB_RUNTIME_CUDA_DEPENDENTLAUNCH_H

#include "Runtime/DependentLaunch.h"
#include "Runtime/Status.h"

#include <string_view>

namespace tessera::runtime {

/// Whether an image, which is PTX or a cubin, has the variable
/// `waitingKernelsMark`.
bool hasWaitingKernels(std::string_view image);

/// Which kernels may begin before the kernel before them has ended.
enum class DependentLaunch {
  None,
  /// Those of at most one workgroup for each unit of the device, after kernels
  /// of as many.
  OneForEachUnit,
  /// Those whose workgroups the device holds at once, after such kernels.
  Resident,
};

/// Reads the environment variable TESSERA_DEPENDENT_LAUNCH: `off`, `unit`, or
/// `on`, which is the default. `InvalidArgument` for anything else.
Expected<DependentLaunch> readDependentLaunchVariable();

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_DEPENDENTLAUNCH_H
