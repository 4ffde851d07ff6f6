//===- DependentLaunch.h - Kernels that wait by themselves ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programmatic dependent launch of CUDA (sm_90 and later): a kernel may begin
// before the kernel before it has ended, if it waits for that by an instruction
// of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DEPENDENTLAUNCH_H
#define TESSERA_RUNTIME_DEPENDENTLAUNCH_H

#include <string_view>

namespace tessera::runtime {

/// A module with a variable of this name promises that all threads of each of
/// its kernels execute griddepcontrol.wait ahead of any access to memory, and
/// griddepcontrol.launch_dependents no earlier.
inline constexpr std::string_view waitingKernelsMark = "tessera_kernels_wait";

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_DEPENDENTLAUNCH_H
