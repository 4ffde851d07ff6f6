//===- Emit.h - The program at a stage --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_EMIT_H
#define EXECUTION_EMIT_H

#include "Execution/Options.h"

#include "Driver/Compiler.h"

namespace tessera::execution {

/// Rejects a stage that a target does not have.
LogicalResult checkStage(const EmitStage &stage, StringRef target,
                         Report &report);

/// Whether the code of a stage is binary.
bool isBinary(const EmitStage &stage);

/// Makes the bundle of the program for the targets that --target lists.
/// `source` and `file` are what `module` was read from.
FailureOr<std::string>
emitProgram(const ProgramOptions &options,
            const compiler::CompileOptions &compileOptions,
            mlir::ModuleOp module, StringRef source, StringRef file,
            Report &report);

/// Lowers `module` to the stage that --emit names, and returns its text or
/// code.
FailureOr<std::string> emitStage(const ProgramOptions &options,
                                 const compiler::CompileOptions &compileOptions,
                                 mlir::ModuleOp module, Report &report);

} // namespace tessera::execution

#endif // EXECUTION_EMIT_H
