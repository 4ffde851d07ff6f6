//===- Threads.h - The threads of a workgroup -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_THREADS_H
#define DIALECT_TESSERA_UTILS_THREADS_H

#include "mlir/IR/Builders.h"

#include <utility>

namespace mlir::gpu {
class ShuffleOp;
} // namespace mlir::gpu

namespace mlir::tessera {

/// Threads of a subgroup in a kernel that exchanges values between lanes, on a
/// chip whose subgroups have one thread otherwise.
constexpr int64_t exchangeLanes = 32;

/// The linear id of this thread in its workgroup, at `op` in a `gpu.launch` or
/// a `gpu.func`.
Value emitLinearThread(OpBuilder &builder, Operation *op);

/// The number of threads in the workgroup of `op`.
Value emitNumThreads(OpBuilder &builder, Operation *op);

/// The lane (i32) that `op` reads from in a thread that is `lane` (i32) of its
/// subgroup, and whether it exists (i1). If not, a lane reads its own value.
std::pair<Value, Value> emitShuffleSource(OpBuilder &builder, gpu::ShuffleOp op,
                                          Value lane);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_THREADS_H
