//===- LoweringOptions.h - Options of the lowering pipelines ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_LOWERINGOPTIONS_H
#define TARGET_LOWERINGOPTIONS_H

#include "Conversion/DirectCopies.h"

#include "mlir/Pass/PassOptions.h"
#include <string>

namespace mlir::tessera {

/// For which chip, and what is permitted.
struct LoweringOptions : public PassPipelineOptions<LoweringOptions> {
  PassOptions::Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Target: cpu, cuda, hip, vulkan, opencl or "
                     "level-zero"),
      llvm::cl::init("cpu")};
  PassOptions::Option<std::string> chip{
      *this, "chip", llvm::cl::desc("Chip (cpu: empty is the host's)"),
      llvm::cl::init("")};
  PassOptions::Option<bool> requireMatrixUnit{
      *this, "require-matrix-unit",
      llvm::cl::desc("Reject a matmul that no matrix unit computes"),
      llvm::cl::init(false)};
  PassOptions::Option<std::string> vthreadOrder{
      *this, "vthread-order",
      llvm::cl::desc("Order of every tessera.vthread, instead of its own"),
      llvm::cl::init("")};
  PassOptions::Option<DirectCopies> directCopies{
      *this, "direct-copies",
      llvm::cl::desc("Which asynchronous copies go past the registers to "
                     "workgroup memory"),
      llvm::cl::init(DirectCopies::Auto), getDirectCopiesValues()};
  PassOptions::Option<bool> testShareFragments{
      *this, "test-share-fragments",
      llvm::cl::desc("For tests only: all vthreads share one fragment"),
      llvm::cl::init(false)};
};

} // namespace mlir::tessera

#endif // TARGET_LOWERINGOPTIONS_H
