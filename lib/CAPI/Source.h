//===- Source.h - A program that the caller gave as text --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_SOURCE_H
#define LIB_CAPI_SOURCE_H

#include "Support.h"
#include "tessera-c/Compiler.h"

#include "Driver/Compiler.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <functional>

namespace tessera::capi {

/// The result of a call. Error texts belong to the caller's thread.
struct Outcome {
  TesseraStatus status = TESSERA_OK;
  std::string text;
};

/// A program in a context of its own, with its diagnostics.
class Source {
public:
  /// Both outlive it.
  Source(llvm::StringRef text, const TesseraCompileOptions &options);

  /// Parses the program into `module`, and sets the options of its compilation
  /// from the caller's, except for the target.
  Outcome prepare(mlir::tessera::CompileOptions &compileOptions);

  /// The name of the source in diagnostics.
  llvm::StringRef getFile() const {
    return options.fileName ? options.fileName : "<text>";
  }
  /// All diagnostics, a paragraph each.
  const std::string &getDiagnostics() const { return diagnostics; }
  /// Calls `function` with each further diagnostic too.
  void setRecorder(std::function<void(const mlir::Diagnostic &)> function) {
    recorder = std::move(function);
  }

private:
  mlir::MLIRContext context;
  llvm::StringRef text;
  const TesseraCompileOptions &options;
  std::string diagnostics;
  std::function<void(const mlir::Diagnostic &)> recorder;
  mlir::ScopedDiagnosticHandler handler;

  void take(mlir::Diagnostic &diagnostic);

public:
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tessera::capi

#endif // LIB_CAPI_SOURCE_H
