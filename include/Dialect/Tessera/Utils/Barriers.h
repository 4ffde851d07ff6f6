//===- Barriers.h - Scope of barriers ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gpu.barrier orders all accesses to memory, so that it waits for loads from
// global memory that are in flight, which were issued early because of their
// latency. If no thread can observe the difference, ordering workgroup memory
// is enough.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_BARRIERS_H
#define DIALECT_TESSERA_UTILS_BARRIERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {

/// Returns the barriers of `kernel` that only need to order accesses to
/// workgroup memory: no thread reads global memory that another may have
/// written before, and none writes global memory that another may have read
/// before through the same argument of the kernel. Different arguments are
/// different buffers. An op with unknown memory effects is assumed to write all
/// memory, unless `touchesNoMemory` states that it accesses none.
SmallVector<gpu::BarrierOp>
findWorkgroupBarriers(Operation *kernel,
                      function_ref<bool(Operation *)> touchesNoMemory);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_BARRIERS_H
