//===- DropEmptyTensors.h - Removal of empty tensors ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_DROPEMPTYTENSORS_H
#define LIB_TRANSFORMS_DROPEMPTYTENSORS_H

#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// Removes ops on tensors without elements: an op that computes such a tensor
/// is dropped, padding of one becomes a fill, inserting one does nothing, it is
/// removed from concatenations, and loops without iterations forward their
/// outputs. Upstream's lowerings create views of empty operands that their
/// verifiers reject.
void dropEmptyTensors(Operation *root);

} // namespace mlir::tessera

#endif // LIB_TRANSFORMS_DROPEMPTYTENSORS_H
