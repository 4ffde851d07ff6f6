//===- Program.h - Arguments and results of an entry ------*- C++ -*-------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_PROGRAM_H
#define EXECUTION_PROGRAM_H

#include "Execution/Options.h"

#include "Runtime/Bundle.h"
#include "Runtime/Signature.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace tessera::execution {

/// An argument or a result of an entry point.
struct Slot : runtime::Slot {
  mlir::Type type;
  /// A tensor argument marked `bufferization.writable`: the program may use its
  /// memory for other values, so its contents after a run have no meaning.
  bool mayOverwrite = false;
};

/// The function that is run.
struct Entry {
  mlir::func::FuncOp function;
  std::vector<Slot> arguments, results;
};

/// Reads the program into `sources`, which diagnostics show lines of. From a
/// bundle, it is the text that the bundle was made of; see `openBundle` for
/// what becomes of `options`.
mlir::OwningOpRef<mlir::ModuleOp>
readProgram(ProgramOptions &options, std::optional<runtime::Bundle> &bundle,
            llvm::SourceMgr &sources, mlir::MLIRContext &context,
            Report &report);

/// Looks up the entry and what it takes.
LogicalResult findEntry(mlir::ModuleOp module, StringRef name, Entry &entry,
                        Report &report);

} // namespace tessera::execution

#endif // EXECUTION_PROGRAM_H
