//===- ParseProgram.h - A module of a text ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_PARSEPROGRAM_H
#define DRIVER_PARSEPROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::tessera {

/// Parses and verifies the main buffer of `sources`, which is text or bytecode.
/// Returns null if it is not a module. Errors are diagnostics of the context,
/// including those at which the upstream parser would crash or overflow the
/// stack: more than 256 nested brackets, regions, attributes or types. Ops of
/// the async dialect run in program order, and functions of the LLVM dialect
/// can be entry points (tessera-inline-async, tessera-wrap-llvm-functions).
OwningOpRef<ModuleOp> parseProgram(llvm::SourceMgr &sources,
                                   MLIRContext &context);

} // namespace mlir::tessera

#endif // DRIVER_PARSEPROGRAM_H
