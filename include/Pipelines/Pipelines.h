//===- Pipelines.h - From linalg to kernels ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPELINES_PIPELINES_H
#define PIPELINES_PIPELINES_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::tessera {

struct LinalgToTesseraPipelineOptions
    : public PassPipelineOptions<LinalgToTesseraPipelineOptions> {
  PassOptions::Option<std::string> target{
      *this, "target", llvm::cl::desc("The target to compile for"),
      llvm::cl::init("cpu")};
  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("The chip to compile for; empty selects the host's chip "
                     "on target cpu"),
      llvm::cl::init("")};
  PassOptions::Option<bool> allowTf32{
      *this, "allow-tf32",
      llvm::cl::desc("Permit tf32 for every matmul of f32 operands"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> allowFastF8{
      *this, "allow-fast-f8",
      llvm::cl::desc("Permit reduced-precision accumulation for every matmul "
                     "of 8-bit floats"),
      llvm::cl::init(false)};
  PassOptions::Option<bool> fuseAttention{
      *this, "fuse-attention",
      llvm::cl::desc(
          "Fuse two matmuls and the softmax between them into one kernel"),
      llvm::cl::init(true)};
  PassOptions::Option<bool> requireMatrixUnit{
      *this, "require-matrix-unit",
      llvm::cl::desc("Reject a matmul that would be computed by plain threads"),
      llvm::cl::init(false)};
};

/// The first part of the linalg pipeline: lowers to matmuls on memrefs, with
/// their hand-written or tuned schedules.
void buildLinalgToTasksPipeline(OpPassManager &pm,
                                const LinalgToTesseraPipelineOptions &options);

/// Lowers tensors and linalg to memrefs, host code, and `gpu.launch` kernels in
/// the portable form. Existing `gpu.launch` and `gpu.func` ops are unchanged.
void buildLinalgToTesseraPipeline(
    OpPassManager &pm, const LinalgToTesseraPipelineOptions &options);

/// Registers `linalg-to-tessera-pipeline`.
void registerLinalgToTesseraPipeline();

} // namespace mlir::tessera

#endif // PIPELINES_PIPELINES_H
