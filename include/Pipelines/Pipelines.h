//===- Pipelines.h - From linalg to kernels ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINES_PIPELINES_H
#define PIPELINES_PIPELINES_H

#include "Flags/CompileFlags.h"

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::tessera {

/// The options of the registered pipelines.
struct FlagPipelineOptions : public PassPipelineOptions<FlagPipelineOptions> {
  PassOptions::Option<CompileFlags> flags{
      *this, "flags", llvm::cl::desc("Compile flags, separated by commas"),
      llvm::cl::init(CompileFlags())};
};

/// The first part of the linalg pipeline: lowers to matmuls on memrefs, with
/// their hand-written or tuned schedules.
void buildLinalgToTasksPipeline(OpPassManager &pm, const CompileFlags &flags);

/// The other part: makes a kernel, or several, of each op on memrefs.
void buildTasksToTesseraPipeline(OpPassManager &pm, const CompileFlags &flags);

/// Both parts. Lowers tensors and linalg to memrefs, host code, and
/// `gpu.launch` kernels in the portable form. Existing `gpu.launch` and
/// `gpu.func` ops are unchanged. The passes read the chip from the module
/// (tessera-attach-chip).
void buildLinalgToTesseraPipeline(OpPassManager &pm, const CompileFlags &flags);

/// Registers `linalg-to-tessera-pipeline`.
void registerLinalgToTesseraPipeline();

} // namespace mlir::tessera

#endif // PIPELINES_PIPELINES_H
