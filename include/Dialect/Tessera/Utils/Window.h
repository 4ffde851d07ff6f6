//===- Window.h - Windows over an image -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_WINDOW_H
#define DIALECT_TESSERA_UTILS_WINDOW_H

#include "Dialect/Tessera/Utils/MatrixForm.h"

namespace mlir::tessera {

/// The windows by which lhs (0) or rhs (1) of `op` is gathered. Null if it is a
/// matrix, if an extent is dynamic, or if its columns run fastest.
WindowAttr getWindow(ContractOp op, const MatrixForm &form, unsigned side);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_WINDOW_H
