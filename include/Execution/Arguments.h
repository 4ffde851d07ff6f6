//===- Arguments.h - The contents of an entry's arguments -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_ARGUMENTS_H
#define EXECUTION_ARGUMENTS_H

#include "Execution/Program.h"

#include "Runtime/Device.h"

namespace tessera::execution {

/// Makes one array for each argument of the entry, as the options specify.
/// Before that, checks that the device and the host have the memory.
LogicalResult makeArguments(const ProgramOptions &options, const Entry &entry,
                            runtime::Device &device,
                            std::vector<runtime::HostArray> &arrays,
                            Report &report);

} // namespace tessera::execution

#endif // EXECUTION_ARGUMENTS_H
