//===- BundledProgram.h - Running a bundle ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_BUNDLEDPROGRAM_H
#define EXECUTION_BUNDLEDPROGRAM_H

#include "Execution/Options.h"

#include "Driver/Compiler.h"
#include "Runtime/Bundle.h"
#include "Runtime/InputFile.h"

#include <memory>

namespace tessera::execution {

/// Reads a bundle, and rejects options that affect compilation. Sets the target
/// and the chip of `options` to those of the variant that is run: the one for
/// the target that --target names, or for the best device of this machine that
/// the bundle has code for.
LogicalResult openBundle(const runtime::InputBytes &input,
                         ProgramOptions &options, runtime::Bundle &bundle,
                         Report &report);

/// The program of the bundle for a device, in place of a compiled one.
std::unique_ptr<compiler::CompiledProgram>
loadBundled(const runtime::Bundle &bundle, const runtime::DeviceInfo &device,
            Report &report);

} // namespace tessera::execution

#endif // EXECUTION_BUNDLEDPROGRAM_H
