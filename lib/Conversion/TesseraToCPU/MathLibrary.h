//===- MathLibrary.h - Functions of the host's C library --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOCPU_MATHLIBRARY_H
#define CONVERSION_TESSERATOCPU_MATHLIBRARY_H

#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// Functions of the math dialect that LLVM has no intrinsic for, to calls of
/// the C library, element by element.
LogicalResult convertToMathLibrary(Operation *root);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOCPU_MATHLIBRARY_H
