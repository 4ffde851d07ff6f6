//===- Registration.cpp - What every Tessera tool registers ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines/Registration.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"

void mlir::tessera::registerTesseraDialects(DialectRegistry &registry) {
  registry.insert<TesseraDialect>();
}

void mlir::tessera::registerTesseraPasses() {
  registerTesseraConversionPasses();
  registerTesseraTransformsPasses();
}
