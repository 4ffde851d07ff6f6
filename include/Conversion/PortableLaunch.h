//===- PortableLaunch.h - Launches by subgroups -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_PORTABLELAUNCH_H
#define CONVERSION_PORTABLELAUNCH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {

/// Makes a launch written for subgroups of `lanes` threads portable: its block
/// size along x becomes a multiple of `gpu.subgroup_size`, and the quotient of
/// the thread's number along x by `lanes` the subgroup's. Any other use of that
/// number is an error at its location. `ops` are those for which the launch is
/// written so, for diagnostics.
LogicalResult makePortable(gpu::LaunchOp launch, int64_t lanes,
                           llvm::StringRef ops);

} // namespace mlir::tessera

#endif // CONVERSION_PORTABLELAUNCH_H
