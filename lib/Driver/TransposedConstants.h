//===- TransposedConstants.h - Weights of a bundle in one form --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_TRANSPOSEDCONSTANTS_H
#define LIB_DRIVER_TRANSPOSEDCONSTANTS_H

#include "Runtime/Bundle.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tessera {

/// Sets `transposition` of those constants of the variants whose contents are
/// those of a constant of the source with permuted dimensions. `module` is the
/// source, whose constants give the shapes.
void findTranspositions(ModuleOp module, ::tessera::runtime::Bundle &bundle);

} // namespace mlir::tessera

#endif // LIB_DRIVER_TRANSPOSEDCONSTANTS_H
