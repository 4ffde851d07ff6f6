//===- TensorMaps.h - The tensor maps of a launch ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LAUNCHTORUNTIME_TENSORMAPS_H
#define LIB_CONVERSION_LAUNCHTORUNTIME_TENSORMAPS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {

/// The number of tensor maps that the kernel of a launch takes.
int64_t countTensorMaps(gpu::LaunchFuncOp launch);

/// Makes them: a stack slot each, which a call of tessera_rt_tensor_map fills.
/// `operands` are the kernel operands as descriptors. Gives the slots'
/// addresses in the list's order. An error for a list that does not fit the
/// operands.
FailureOr<SmallVector<Value>> makeTensorMaps(gpu::LaunchFuncOp launch,
                                             ValueRange operands,
                                             RewriterBase &rewriter);

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LAUNCHTORUNTIME_TENSORMAPS_H
