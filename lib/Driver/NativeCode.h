//===- NativeCode.h - Symbols that native code may use -----*- C++ -*------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_NATIVECODE_H
#define LIB_DRIVER_NATIVECODE_H

#include "TargetInfo/Chip.h"

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::tessera {

/// Reports names of the compiler's own functions, at the op of the source that
/// defines or declares one.
LogicalResult checkNames(ModuleOp module);

/// Checks a module of the LLVM dialect that is to run in this process: it may
/// refer to its own functions and to `runtime::listHostImports`, and has no
/// assembly, and no intrinsics of a processor but those that `chip` has
/// instructions of. Errors are diagnostics at the declarations and at the ops.
LogicalResult checkNativeCode(ModuleOp module, const Chip &chip);

/// Gives functions and variables that the runtime does not look up names of the
/// module's own, so that they cannot take the place of a function of the
/// runtime, of the mathematical library or of another module.
void isolateNames(ModuleOp module);

/// The name of a function or a variable that an object file needs and the
/// runtime does not offer; empty if it has none. `why` receives the reason for
/// which the bytes cannot be read.
std::string findForeignImport(llvm::StringRef object, std::string &why);

} // namespace mlir::tessera

#endif // LIB_DRIVER_NATIVECODE_H
