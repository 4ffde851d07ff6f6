//===- Registration.cpp - Registration for Tessera tools ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines/Registration.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/TransformOps/TesseraTransformOps.h"
#include "Dialect/Tessera/Transforms/BufferizableOpInterfaceImpl.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Graph/Passes.h"
#include "Pipelines/Lowering.h"
#include "Pipelines/Pipelines.h"
#include "Scheduling/Passes.h"
#include "Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"

void mlir::tessera::registerTesseraDialects(DialectRegistry &registry) {
  registry.insert<TesseraDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerTransformDialectExtension(registry);
}

void mlir::tessera::registerTesseraPasses() {
  registerTesseraConversionPasses();
  registerTesseraGenericTransformsPasses();
  registerTesseraGraphPasses();
  registerTesseraSchedulingPasses();
  registerTesseraTransformsPasses();
  registerLinalgToTesseraPipeline();
  registerLoweringPipelines();
}
