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

/// The bundle of a program: a copy of `module`, compiled for several chips and
/// for every processor of the host's kind. Without an entry in the options,
/// each public function with a body is one, but for those that take or give
/// what cannot be handed over. `source` and `file` go into the bundle as they
/// are. `kernels` receives the reports of all variants' kernels. Errors are
/// diagnostics of the module's context; it is one that there is no entry.
FailureOr<runtime::Bundle>
compileBundle(ModuleOp module, const CompileOptions &options,
              ArrayRef<TargetChip> targets, StringRef source, StringRef file,
              std::vector<KernelReport> *kernels = nullptr);

} // namespace mlir::tessera

#endif // DRIVER_BUNDLER_H
