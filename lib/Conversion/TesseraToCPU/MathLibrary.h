//===- MathLibrary.h - Functions of the host's C library --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOCPU_MATHLIBRARY_H
#define CONVERSION_TESSERATOCPU_MATHLIBRARY_H

#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// Converts functions of the math dialect without an LLVM intrinsic to calls of
/// the C library, element by element.
LogicalResult convertToMathLibrary(Operation *root);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOCPU_MATHLIBRARY_H
