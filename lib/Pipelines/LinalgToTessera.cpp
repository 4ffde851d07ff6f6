//===- LinalgToTessera.cpp - From linalg to portable kernels --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines/Pipelines.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Scheduling/Passes.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::tessera;

void mlir::tessera::buildLinalgToTasksPipeline(
    OpPassManager &pm, const LinalgToTesseraPipelineOptions &options) {
  // TOSA, where there is any.
  tosa::addTosaToLinalgPasses(pm, TosaToLinalgOptions(),
                              TosaToLinalgNamedOptions(),
                              /*validationOptions=*/std::nullopt);
  pm.addNestedPass<func::FuncOp>(createTosaToArithPass());
  pm.addNestedPass<func::FuncOp>(createTosaToTensorPass());
  pm.addNestedPass<func::FuncOp>(createTosaToSCFPass());

  // Tensors: few and large ops, each of which becomes a kernel.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createTesseraFuseElementwise());
  ConvertLinalgToTesseraOptions convert;
  convert.allowTf32 = options.allowTf32;
  convert.allowFastF8 = options.allowFastF8;
  convert.fuseAttention = options.fuseAttention;
  convert.target = options.target;
  convert.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToTessera(convert));
  pm.addPass(createCSEPass());

  // Memrefs.
  pm.addNestedPass<func::FuncOp>(createTesseraProtectArguments());
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createTesseraDeallocateBuffers());

  // Tuned schedules take precedence over the choices made here.
  pm.addNestedPass<func::FuncOp>(createTesseraUseTunedSchedules());
}

void mlir::tessera::buildLinalgToTesseraPipeline(
    OpPassManager &pm, const LinalgToTesseraPipelineOptions &options) {
  buildLinalgToTasksPipeline(pm, options);

  // Kernels. If a matrix unit is required, it computes matmuls of one row as
  // well, padded with rows that do not exist.
  if (!options.requireMatrixUnit) {
    TesseraMapMatvecOptions matvec;
    matvec.target = options.target;
    matvec.chip = options.chip;
    pm.addNestedPass<func::FuncOp>(createTesseraMapMatvec(matvec));
  }
  TesseraRepackOperandsOptions repack;
  repack.target = options.target;
  repack.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createTesseraRepackOperands(repack));
  TesseraChooseScheduleOptions choose;
  choose.target = options.target;
  choose.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createTesseraChooseSchedule(choose));
  TesseraTileContractOptions tile;
  tile.target = options.target;
  tile.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createTesseraTileContract(tile));
  TesseraTileAttentionOptions attention;
  attention.target = options.target;
  attention.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createTesseraTileAttention(attention));
  pm.addNestedPass<func::FuncOp>(createTesseraMapFragments());
  TesseraPromoteTilesOptions promote;
  promote.target = options.target;
  promote.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createTesseraPromoteTiles(promote));
  TesseraPipelineCopiesOptions pipeline;
  pipeline.target = options.target;
  pipeline.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createTesseraPipelineCopies(pipeline));
  TesseraMapLinalgToSimtOptions map;
  map.target = options.target;
  map.chip = options.chip;
  pm.addNestedPass<func::FuncOp>(createTesseraMapLinalgToSimt(map));
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void mlir::tessera::registerLinalgToTesseraPipeline() {
  PassPipelineRegistration<LinalgToTesseraPipelineOptions>(
      "linalg-to-tessera-pipeline",
      "linalg on tensors or memrefs to host code and gpu.launch kernels of "
      "fragments",
      buildLinalgToTesseraPipeline);
}
