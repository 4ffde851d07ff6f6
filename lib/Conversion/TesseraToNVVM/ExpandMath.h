//===- ExpandMath.h - Functions without an instruction ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_EXPANDMATH_H
#define CONVERSION_TESSERATONVVM_EXPANDMATH_H

#include "TargetInfo/Chip.h"

#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// Replaces functions of the math dialect that PTX lacks by others, and those
/// of which LLVM's lowering is longer than needed by instructions. Fails, with
/// a diagnostic, for those of f64 that PTX lacks and that cannot be replaced.
LogicalResult expandMath(Operation *root, const Chip &chip);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_EXPANDMATH_H
