//===- LinalgToTessera.cpp - From linalg to portable kernels --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pipelines/Pipelines.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Graph/Passes.h"
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

void mlir::tessera::buildLinalgToTasksPipeline(OpPassManager &pm,
                                               const CompileFlags &flags) {
  // Ops that bufferization and the lowering of TOSA do not support.
  pm.addNestedPass<func::FuncOp>(createTesseraExpandTensorOps());

  // TOSA, where there is any. Control flow comes first: the passes to linalg
  // reject the regions of its ops.
  pm.addNestedPass<func::FuncOp>(createTosaToSCFPass());
  tosa::addTosaToLinalgPasses(pm, TosaToLinalgOptions(),
                              TosaToLinalgNamedOptions(),
                              /*validationOptions=*/std::nullopt);
  TosaToArithPassOptions scaling;
  scaling.includeApplyRescale = true;
  pm.addNestedPass<func::FuncOp>(createTosaToArithPass(scaling));
  pm.addNestedPass<func::FuncOp>(createTosaToTensorPass());

  // Whole programs. Large constants stay out of the code.
  // With the flag require-mma, the matrix unit computes all groups.
  bool groups = !flags.requireMatrixUnit;
  pm.addNestedPass<func::FuncOp>(createTesseraPropagateLayout({groups}));
  pm.addPass(createTesseraLiftConstants());
  pm.addPass(createTesseraHoistConstantTensors());
  pm.addNestedPass<func::FuncOp>(createTesseraFuseWindows({groups}));

  // Tensors: few and large ops, each of which becomes a kernel.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  if (flags.checkShapes)
    pm.addNestedPass<func::FuncOp>(createTesseraCheckShapes());
  pm.addNestedPass<func::FuncOp>(createTesseraFuseElementwise());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToTessera({flags}));
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createTesseraCloneFills());
  pm.addNestedPass<func::FuncOp>(createTesseraFuseConcats());

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
  pm.addNestedPass<func::FuncOp>(createTesseraUseTunedSchedules({flags}));
}

void mlir::tessera::buildLinalgToTesseraPipeline(OpPassManager &pm,
                                                 const CompileFlags &flags) {
  buildLinalgToTasksPipeline(pm, flags);
  buildTasksToTesseraPipeline(pm, flags);
}

void mlir::tessera::buildTasksToTesseraPipeline(OpPassManager &pm,
                                                const CompileFlags &flags) {
  pm.addNestedPass<func::FuncOp>(createTesseraPackWeights());
  pm.addNestedPass<func::FuncOp>(createTesseraOrientWeights());
  // Kernels. With the flag require-mma, the matrix unit computes matmuls of one
  // row as well, with padded rows.
  if (!flags.requireMatrixUnit)
    pm.addNestedPass<func::FuncOp>(createTesseraMapMatvec());
  pm.addNestedPass<func::FuncOp>(createTesseraBlockReductions());
  pm.addNestedPass<func::FuncOp>(createTesseraPackOperands());
  pm.addNestedPass<func::FuncOp>(createTesseraSplitWaves());
  pm.addNestedPass<func::FuncOp>(createTesseraChooseSchedule());
  pm.addNestedPass<func::FuncOp>(createTesseraTileContract());
  pm.addNestedPass<func::FuncOp>(createTesseraTileAttention());
  pm.addNestedPass<func::FuncOp>(createTesseraMapFragments());
  pm.addNestedPass<func::FuncOp>(createTesseraPromoteTiles());
  pm.addNestedPass<func::FuncOp>(createTesseraPipelineCopies());
  pm.addNestedPass<func::FuncOp>(createTesseraMapLinalgToSimt());
  // Positions of a window have most of their code in common: the fewer ops the
  // canonicalizer sees, the better.
  pm.addPass(createCSEPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createTesseraJoinCopies());
}

void mlir::tessera::registerLinalgToTesseraPipeline() {
  PassPipelineRegistration<FlagPipelineOptions>(
      "linalg-to-tessera-pipeline",
      "linalg on tensors or memrefs to host code and gpu.launch kernels of "
      "fragments",
      [](OpPassManager &pm, const FlagPipelineOptions &options) {
        buildLinalgToTesseraPipeline(pm, options.flags);
      });
}
