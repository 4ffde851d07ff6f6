//===- Launch.h - Launches that count threads by 32 -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_SUBGROUPMMATOTESSERA_LAUNCH_H
#define CONVERSION_SUBGROUPMMATOTESSERA_LAUNCH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {

/// Makes a launch written for subgroups of `lanes` threads portable: its block
/// size along x becomes a multiple of `gpu.subgroup_size`, and the quotient of
/// the thread's number along x by `lanes` the subgroup's. Any other use of that
/// number is an error at its location.
LogicalResult makePortable(gpu::LaunchOp launch, int64_t lanes);

} // namespace mlir::tessera

#endif // CONVERSION_SUBGROUPMMATOTESSERA_LAUNCH_H
