//===- TransformScript.h - A program's own transforms -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_TRANSFORMSCRIPT_H
#define DRIVER_TRANSFORMSCRIPT_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tessera {

/// Whether `module`, or a module within it, has the attribute
/// `transform.with_named_sequence`.
bool hasTransformScript(ModuleOp module);

/// Runs the sequence `@__transform_main` of `module`, if there is one, on
/// `module`, and then erases the sequences.
LogicalResult runTransformScript(ModuleOp module);

} // namespace mlir::tessera

#endif // DRIVER_TRANSFORMSCRIPT_H
