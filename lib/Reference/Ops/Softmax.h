//===- Softmax.h - linalg.softmax -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_SOFTMAX_H
#define LIB_REFERENCE_OPS_SOFTMAX_H

#include "../PreparedCode.h"

namespace mlir::tessera::reference {

/// exp(x - max) / sum of exp(x - max), along a dimension: from `source` to
/// `target`, which may be one memory. False with an error.
bool evaluateSoftmax(Run &run, Operation *op, const View &source,
                     const View &target, int64_t dim);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_SOFTMAX_H
