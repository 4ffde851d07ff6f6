//===- Verify.h - Outputs against the reference -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_VERIFY_H
#define DEBUGGING_VERIFY_H

#include "Debugging/KernelChecks.h"
#include "Execution/Execution.h"

#include "TargetInfo/Chip.h"

namespace tessera::execution {

/// Computes the reference from `entry`, the source, and compares the outputs;
/// error bounds follow from how the sums of `matmuls` were compiled. Checks
/// that the other arguments were left alone. Lanes are counted as on
/// `chip`, where the program names them. Runs a second time where an element
/// may never have been written. Where the program has steps, checks each of
/// them as well (`checks`), and compares the outputs by their norm.
LogicalResult verify(const ProgramOptions &options, const compiler::Chip &chip,
                     const Entry &entry,
                     ArrayRef<compiler::MatmulReport> matmuls,
                     const std::vector<runtime::HostArray> &arguments,
                     const std::vector<Output> &outputs,
                     runtime::Device &device, Execution &execution,
                     KernelChecks &checks, Report &report);

/// Whether outputs match the reference, without output.
FailureOr<bool> isAsReference(const ProgramOptions &options,
                              const compiler::Chip &chip, const Entry &entry,
                              ArrayRef<compiler::MatmulReport> matmuls,
                              const std::vector<runtime::HostArray> &arguments,
                              const std::vector<Output> &outputs,
                              Report &report);

} // namespace tessera::execution

#endif // DEBUGGING_VERIFY_H
