//===- BarrierScan.h - Accesses that barriers separate ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LANEMATMULTOTESSERA_BARRIERSCAN_H
#define LIB_CONVERSION_LANEMATMULTOTESSERA_BARRIERSCAN_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {

/// Whether on all ways through a launch a `gpu.barrier` is between `op` and the
/// ops for which `isAccess` holds, before and after it. The target of an
/// asynchronous copy is not accessed until the next wait for copies.
bool isSeparatedByBarriers(Operation *op, gpu::LaunchOp launch,
                           llvm::function_ref<bool(Operation *)> isAccess);

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LANEMATMULTOTESSERA_BARRIERSCAN_H
