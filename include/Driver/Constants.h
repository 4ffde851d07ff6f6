//===- Constants.h - Contents of a program's constants ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_CONSTANTS_H
#define DRIVER_CONSTANTS_H

#include "Driver/Compiler.h"

namespace mlir::tessera {

/// Sets `program.derivedConstants`: those constants of a program which the
/// module that it was compiled from does not contain, such as transposed
/// filters.
void markDerivedConstants(CompiledProgram &program, ModuleOp module);

/// Finds the contents of a cached program's constants in the module that it was
/// compiled from; those of derived constants are at hand. False, and the reason
/// in `why`, if one is not there. The contents live as long as the module's
/// context.
bool findConstants(CompiledProgram &program, ModuleOp module, std::string &why);

/// Gives the resources that a bundle's source refers to their contents.
void attachConstants(MLIRContext &context,
                     const std::vector<runtime::Constant> &constants);

/// The module as text, with references to large constants by their hash.
std::string printWithoutConstants(ModuleOp module);

} // namespace mlir::tessera

#endif // DRIVER_CONSTANTS_H
