//===- FatalErrors.h - LLVM's fatal errors as ordinary ones -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_FATALERRORS_H
#define TARGET_FATALERRORS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace mlir::tessera {

/// Calls `action`. Returns false, with the message in `why`, if LLVM reports a
/// fatal error (`llvm::report_fatal_error`) on this thread meanwhile, which
/// would otherwise end the process.
///
/// The error leaves `action` by longjmp, so that its destructors do not run.
/// The data that `action` was working on must not be used or destroyed
/// afterwards, and `action` must not hold a lock. LLVM's fatal errors elsewhere
/// have their usual effect.
bool recoverFatalErrors(llvm::function_ref<void()> action, std::string &why);

} // namespace mlir::tessera

#endif // TARGET_FATALERRORS_H
