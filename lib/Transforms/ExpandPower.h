//===- ExpandPower.h - Powers and angles as arithmetic ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_EXPANDPOWER_H
#define LIB_TRANSFORMS_EXPANDPOWER_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {

/// Adds patterns for math.powf, math.ipowi and math.atan2 of f32 and f64, and
/// of integers, scalars and vectors. They go before upstream's for the same
/// ops.
void populateExpandPowerPatterns(RewritePatternSet &patterns);

} // namespace mlir::tessera

#endif // LIB_TRANSFORMS_EXPANDPOWER_H
