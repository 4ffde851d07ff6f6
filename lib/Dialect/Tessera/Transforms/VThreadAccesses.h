//===- VThreadAccesses.h - Addresses accessed by vthreads -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADACCESSES_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADACCESSES_H

#include "Dialect/Tessera/IR/Tessera.h"

namespace mlir::tessera {

/// Emits an error if two vthreads provably write the same address
/// (`vthread_c4`), or one reads an address that another writes without a
/// barrier in between (`vthread_c5`).
///
/// Addresses are compared as sums of constants and of values that all vthreads
/// share. Accesses that cannot be compared are accepted, and so are accesses
/// that need not both happen: only those of one block are compared.
LogicalResult verifyVThreadAccesses(VThreadOp op);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADACCESSES_H
