//===- Model.h - Programs that are ONNX models ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_MODEL_H
#define EXECUTION_MODEL_H

#include "Execution/Options.h"
#include "Runtime/InputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace tessera::execution {

/// Imports the ONNX model that `options.file` names, or whose bytes are given
/// for a file that cannot be mapped. `sources` gets its listing, so that
/// diagnostics show nodes.
mlir::OwningOpRef<mlir::ModuleOp> importModel(ProgramOptions &options,
                                              const runtime::InputBytes *input,
                                              llvm::SourceMgr &sources,
                                              mlir::MLIRContext &context,
                                              Report &report);

/// Sets `options.arguments` from `options.inputs`, by the names of the entry's
/// arguments in the model.
LogicalResult resolveInputs(ProgramOptions &options, mlir::ModuleOp module,
                            Report &report);

} // namespace tessera::execution

#endif // EXECUTION_MODEL_H
