//===- SplitK.h - Reductions in parts ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_SPLITK_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_SPLITK_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {

/// Allocates memory for `parts` partial sums of the output of `op`: one more
/// dimension before those of the output, of the accumulator's type.
Value createSplitWorkspace(ContractOp op, int64_t parts,
                           ImplicitLocOpBuilder &builder);

/// Prepares memory to which the parts of `op` are added atomically. This is the
/// output itself if it has the accumulators' element type and the epilogue at
/// most adds a matrix: it is initialized with the value from which the sum
/// starts, and the result is null. Otherwise the result is a workspace of one
/// part, of zeros, for `emitSplitReduction`.
Value createAtomicWorkspace(ContractOp op, ImplicitLocOpBuilder &builder);

/// Adds up the partial sums in `workspace`, in the order of the parts, to where
/// the sum of `op` starts, applies the epilogue, and frees the workspace: a
/// linalg.generic that becomes a kernel of scalar threads.
void emitSplitReduction(ContractOp op, Value workspace,
                        ImplicitLocOpBuilder &builder);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_SPLITK_H
