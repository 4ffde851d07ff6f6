//===- Arguments.h - The contents of an entry's arguments -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_ARGUMENTS_H
#define GPU_RUNNER_ARGUMENTS_H

#include "Program.h"

#include "Runtime/Device.h"

namespace runner {

/// Makes one array for each argument of the entry, as the options specify.
/// Before that, checks that the device and the host have the memory.
LogicalResult makeArguments(const Options &options, const Entry &entry,
                            runtime::Device &device,
                            std::vector<runtime::HostArray> &arrays,
                            Report &report);

} // namespace runner

#endif // GPU_RUNNER_ARGUMENTS_H
