//===- Threads.h - The threads of a workgroup -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_THREADS_H
#define DIALECT_TESSERA_UTILS_THREADS_H

#include "mlir/IR/Builders.h"

namespace mlir::tessera {

/// Threads of a subgroup in a kernel that exchanges values between lanes, on a
/// chip whose subgroups have one thread otherwise.
constexpr int64_t exchangeLanes = 32;

/// The linear id of this thread in its workgroup, at `op` in a `gpu.launch` or
/// a `gpu.func`.
Value emitLinearThread(OpBuilder &builder, Operation *op);

/// The number of threads in the workgroup of `op`.
Value emitNumThreads(OpBuilder &builder, Operation *op);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_THREADS_H
