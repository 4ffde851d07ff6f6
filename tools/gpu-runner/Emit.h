//===- Emit.h - The program at a stage --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_EMIT_H
#define GPU_RUNNER_EMIT_H

#include "Options.h"

#include "Driver/Compiler.h"

namespace runner {

/// Rejects stages that a target does not have.
LogicalResult checkStage(const EmitStage &stage, StringRef target,
                         Report &report);

/// Writes the bundle of the program for the targets that --target lists.
/// `source` and `file` are what `module` was read from.
LogicalResult emitProgram(const Options &options,
                          const compiler::CompileOptions &compileOptions,
                          mlir::ModuleOp module, StringRef source,
                          StringRef file, Report &report);

/// Lowers `module` to the stage that --emit names, and writes it.
LogicalResult emitStage(const Options &options,
                        const compiler::CompileOptions &compileOptions,
                        mlir::ModuleOp module, Report &report);

} // namespace runner

#endif // GPU_RUNNER_EMIT_H
