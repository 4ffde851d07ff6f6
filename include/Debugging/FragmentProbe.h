//===- FragmentProbe.h - Probes of fragments in a kernel ----*- C++ -*-----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A probe is an array that a launch leaves behind, with the value that each
// subgroup had of a fragment:
//
//   %p = memref.alloc(...)
//   gpu.launch ... {
//     scf.for %i ... {
//       %c = tessera.mma ...
//       tessera.store %c, %p[%iteration, %workgroup, %subgroup, %c0, %c0]
//
// Its dimensions are one for each loop around the op whose iterations can be
// counted before the launch, and those of grids of virtual threads, outermost
// first; then workgroup, subgroup, row and column. They are the same on every
// target that has as many subgroups in a workgroup.
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_FRAGMENTPROBE_H
#define DEBUGGING_FRAGMENTPROBE_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <string>

namespace tessera::execution {

/// The ops of the kernel whose results are fragments, in the order of the
/// program. Those of control flow only forward the results of others.
llvm::SmallVector<mlir::Operation *>
findFragmentOps(mlir::gpu::LaunchOp launch);

/// Elements of the probe of `op`; an estimate where the launch has no constant
/// sizes.
int64_t countElements(mlir::Operation *op, mlir::gpu::LaunchOp launch,
                      bool eachIteration);

/// Adds a probe for each of `ops`, and returns their arrays. Without
/// `eachIteration` loops have no dimension, and what their last iteration left
/// is kept.
llvm::SmallVector<mlir::Value> addProbes(mlir::gpu::LaunchOp launch,
                                         bool eachIteration,
                                         llvm::ArrayRef<mlir::Operation *> ops);

/// When an element of a probe was computed: positions in blocks and iterations,
/// from the outermost to the op's own. The lesser of two was first.
llvm::SmallVector<int64_t> getTime(mlir::Operation *op,
                                   mlir::gpu::LaunchOp launch,
                                   bool eachIteration,
                                   llvm::ArrayRef<int64_t> position);

/// Such as "iteration 3, workgroup 0, subgroup 1, element [0, 5]".
std::string describeElement(mlir::Operation *op, mlir::gpu::LaunchOp launch,
                            bool eachIteration,
                            llvm::ArrayRef<int64_t> position);

/// Erases what the kernel does after `op` and its probe, except for the ops of
/// a loop around them.
void eraseWhatFollows(mlir::Operation *op, mlir::gpu::LaunchOp launch);

} // namespace tessera::execution

#endif // DEBUGGING_FRAGMENTPROBE_H
