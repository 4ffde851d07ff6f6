//===- SavedProgram.h - A compiled program as bytes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_SAVEDPROGRAM_H
#define LIB_DRIVER_SAVEDPROGRAM_H

#include "Driver/Compiler.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::tessera {

/// The contents of a compiled program, without addresses.
struct SavedProgram {
  std::vector<KernelReport> kernels;
  std::vector<MatmulReport> matmuls;
  std::vector<DiagnosticReport> diagnostics;
  std::string ptx;
  int64_t stepCount = 0;
  std::string steps;
  /// The image: its kind, name and bytes (without PTX, which is above).
  int imageKind = 0;
  std::string imageName;
  std::string imageBytes;
  /// The kernels that are functions of the host.
  std::vector<std::string> functions;
  /// Object files of the host.
  std::vector<std::string> objects;
  /// Without their contents.
  std::vector<runtime::Constant> constants;
  /// The numbers of derived constants, and their contents.
  std::vector<int64_t> derived;
  std::vector<std::string_view> derivedContents;
  std::string loader;
};

std::string writeProgram(SavedProgram &program);

/// False if the bytes are none that `writeProgram` gave. The contents of
/// derived constants are parts of `bytes`.
bool readProgram(llvm::StringRef bytes, SavedProgram &program);

DiagnosticReport recordDiagnostic(Diagnostic &diagnostic);
/// Emits the diagnostic, with its notes, as it was.
void replayDiagnostic(const DiagnosticReport &report, MLIRContext &context);

} // namespace mlir::tessera

#endif // LIB_DRIVER_SAVEDPROGRAM_H
