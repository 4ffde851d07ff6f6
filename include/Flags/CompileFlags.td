//===- CompileFlags.td - The option `flags` of passes ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_FLAGS_COMPILEFLAGS_TD
#define TESSERA_FLAGS_COMPILEFLAGS_TD

include "mlir/Pass/PassBase.td"

/// All compile flags. The description of a pass names those that it reads.
def CompileFlagsOption
    : Option<"flags", "flags", "::mlir::tessera::CompileFlags",
             /*default=*/"::mlir::tessera::CompileFlags()",
             "Compile flags, separated by commas: "
             "no-fuse-attention,ptxas">;

#endif // TESSERA_FLAGS_COMPILEFLAGS_TD
