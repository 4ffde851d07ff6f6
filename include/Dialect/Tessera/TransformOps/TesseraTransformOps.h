//===- TesseraTransformOps.h - Ops of transform scripts ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMOPS_TESSERATRANSFORMOPS_H
#define DIALECT_TESSERA_TRANSFORMOPS_TESSERATRANSFORMOPS_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "Dialect/Tessera/TransformOps/TesseraTransformOps.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::tessera {

/// Adds Tessera's ops to the transform dialect.
void registerTransformDialectExtension(DialectRegistry &registry);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMOPS_TESSERATRANSFORMOPS_H
