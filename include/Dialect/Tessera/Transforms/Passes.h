//===- Passes.h - Passes within the tessera dialect -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_PASSES_H
#define DIALECT_TESSERA_TRANSFORMS_PASSES_H

#include "Flags/CompileFlags.h"

// Dependencies of the passes.
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Pass/Pass.h"

namespace mlir::tessera {

#define GEN_PASS_DECL
#include "Dialect/Tessera/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Dialect/Tessera/Transforms/Passes.h.inc"

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_PASSES_H
