//===- Registration.cpp - What every Tessera tool registers ---------------===//

#include "Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"

void mlir::tessera::registerTesseraDialects(DialectRegistry &registry) {}

void mlir::tessera::registerTesseraPasses() {}
