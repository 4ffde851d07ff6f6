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

/// Reads the environment variable TESSERA_DEPENDENT_LAUNCH: true for `on`, and
/// if it is not set; false for `off`. `InvalidArgument` for anything else.
Expected<bool> readDependentLaunchVariable();

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_DEPENDENTLAUNCH_H
