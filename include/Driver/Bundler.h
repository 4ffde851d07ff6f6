//===- Bundler.h - Programs for bundles -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_BUNDLER_H
#define DRIVER_BUNDLER_H

#include "Driver/Compiler.h"
#include "Driver/TargetList.h"
#include "Runtime/Bundle.h"

namespace mlir::tessera {

/// Compiles a copy of `module` for several chips, and for every CPU of the
/// host's architecture, to a bundle. If the options do not name an entry point,
/// each public function with a body whose arguments and results can be passed
/// is one. `source` and `file` are stored in the bundle; `source` refers to its
/// large constants, which the bundle holds once and which live as long as the
/// module's context. `kernels` receives the reports of the kernels of all
/// variants. Errors are diagnostics of the module's context; a missing entry
/// point is an error.
FailureOr<runtime::Bundle>
compileBundle(ModuleOp module, const CompileOptions &options,
              ArrayRef<TargetChip> targets, StringRef source, StringRef file,
              std::vector<KernelReport> *kernels = nullptr);

} // namespace mlir::tessera

#endif // DRIVER_BUNDLER_H
