//===- PtxasDefects.h - Code that ptxas compiles wrongly --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_TARGET_NVIDIA_PTXASDEFECTS_H
#define TESSERA_LIB_TARGET_NVIDIA_PTXASDEFECTS_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::tessera {

/// Rewrites optimized code that ptxas of CUDA 13.0, and the driver, compile
/// wrongly: the comment of each rewrite has the defect.
void avoidPtxasDefects(llvm::Module &module);

} // namespace mlir::tessera

#endif // TESSERA_LIB_TARGET_NVIDIA_PTXASDEFECTS_H
