//===- ProgramConstants.h - The data of a compiled program ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_PROGRAMCONSTANTS_H
#define LIB_DRIVER_PROGRAMCONSTANTS_H

#include "Runtime/Constants.h"

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::tessera {

namespace runtime = ::tessera::runtime;

class CompiledProgram;
struct SavedProgram;

/// Numbers the lifted constants, and the globals that the loader computes, of
/// lowered host code: their globals get the symbols of `getDataSymbol`, and
/// lose their contents. Those of one hash have one number. The result refers to
/// contents that live as long as the module's context.
std::vector<runtime::Constant> numberConstants(ModuleOp module);

/// Gives the derived constants of a program, whose constants are there already,
/// the contents that were saved, which `owner` keeps. False if they are not
/// what it asks for.
bool takeDerivedConstants(SavedProgram &saved, CompiledProgram &program,
                          const std::shared_ptr<const void> &owner);

/// Replaces the contents of large constants in the text of a program by
/// references to their hash, in the same lines. `module` is what was parsed
/// from it. `constants` receives all constants that the result refers to.
std::string separateConstants(StringRef source, ModuleOp module,
                              std::vector<runtime::Constant> &constants);

} // namespace mlir::tessera

#endif // LIB_DRIVER_PROGRAMCONSTANTS_H
