//===- VerifyProgram.h - Runs and verifies a program ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_VERIFYPROGRAM_H
#define DEBUGGING_VERIFYPROGRAM_H

#include "Execution/Options.h"

#include "Driver/Compiler.h"

namespace tessera::execution {

/// Compiles a program for the device that the options name, runs it twice, and
/// compares the outputs with each other and with the reference. The results are
/// in the JSON object of `report`; its exit is `Exit::WrongNumbers` where they
/// are wrong. Does not use the cache of programs.
LogicalResult verifyProgram(const ProgramOptions &options,
                            compiler::CompileOptions compileOptions,
                            mlir::ModuleOp module, Report &report);

} // namespace tessera::execution

#endif // DEBUGGING_VERIFYPROGRAM_H
