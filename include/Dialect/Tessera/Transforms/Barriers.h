//===- Barriers.h - What a barrier waits for -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A gpu.barrier orders all accesses to memory, so that it waits for loads from
// global memory that are in flight: those that were issued early because they
// take long. Where no thread can tell, workgroup memory is enough.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_BARRIERS_H
#define DIALECT_TESSERA_TRANSFORMS_BARRIERS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {

/// The barriers of `kernel` that need to order accesses to workgroup memory
/// only: no thread reads in global memory what another may have written before,
/// and none writes what another may have read before from the same argument of
/// the kernel. Different arguments are different buffers. An op that does not
/// say what memory it accesses may write all; `touchesNoMemory` knows those
/// that access none.
SmallVector<gpu::BarrierOp>
findWorkgroupBarriers(Operation *kernel,
                      function_ref<bool(Operation *)> touchesNoMemory);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_BARRIERS_H
