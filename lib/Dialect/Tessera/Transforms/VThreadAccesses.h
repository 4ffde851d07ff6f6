//===- VThreadAccesses.h - Places that vthreads touch -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADACCESSES_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADACCESSES_H

#include "Dialect/Tessera/IR/Tessera.h"

namespace mlir::tessera {

/// An error where two vthreads provably write the same place (`vthread_c4`), or
/// one reads what another writes without a barrier in between (`vthread_c5`).
///
/// Places are compared as sums of constants and of values that all vthreads
/// share. What cannot be compared passes, and so do accesses that need not both
/// happen: only those of one block are compared.
LogicalResult verifyVThreadAccesses(VThreadOp op);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADACCESSES_H
