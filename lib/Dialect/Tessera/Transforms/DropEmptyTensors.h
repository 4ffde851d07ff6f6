//===- DropEmptyTensors.h - What is done to nothing -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_DROPEMPTYTENSORS_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_DROPEMPTYTENSORS_H

#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// What computes a tensor without elements computes nothing, what pads it is
/// all padding, nothing is inserted by inserting it, it adds nothing to a
/// concatenation, and loops without iterations leave the outputs as they are.
/// Upstream's lowerings take views of empty operands that their verifiers
/// refuse.
void dropEmptyTensors(Operation *root);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_DROPEMPTYTENSORS_H
