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

/// Whether the values of the options that are not pointers can be: the reason
/// if not.
std::string explainInvalid(const TesseraCompileOptions &options);

/// A program in a context of its own, with its diagnostics.
class Source {
public:
  /// Both outlive it. `text` is that of a module or the bytes of a model.
  Source(llvm::StringRef text, const TesseraCompileOptions &options);

  /// Parses or imports the program into `module`, and sets the options of its
  /// compilation from the caller's, except for the target.
  Outcome prepare(mlir::tessera::CompileOptions &compileOptions);

  /// The name of the source in diagnostics.
  llvm::StringRef getFile() const {
    return options.fileName ? options.fileName : isModel ? "<model>" : "<text>";
  }
  /// The program's text for a bundle; a model's is printed.
  std::string getText();
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
  bool isModel = false;
  std::string diagnostics;
  std::function<void(const mlir::Diagnostic &)> recorder;
  mlir::ScopedDiagnosticHandler handler;

  void take(mlir::Diagnostic &diagnostic);
  Outcome import();

public:
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tessera::capi

#endif // LIB_CAPI_SOURCE_H
