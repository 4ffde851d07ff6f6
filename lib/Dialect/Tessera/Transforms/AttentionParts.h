//===- AttentionParts.h - Attention with its keys in parts ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_ATTENTIONPARTS_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_ATTENTIONPARTS_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {

/// Memory for the results of an attention whose keys are in parts, of f32. The
/// dimensions are the part, the batch dimensions that are not folded, the rows
/// (see `countFoldedDims`), and then those of one row.
struct AttentionParts {
  /// The weighted sums of the values, before the division.
  Value sums;
  /// The largest score, before it is scaled, and the sum of the weights.
  Value statistics;
};

/// Allocates memory for `parts` parts of `op`, whose iteration dimensions have
/// the extents `sizes`.
AttentionParts createAttentionParts(AttentionOp op, int64_t parts,
                                    ArrayRef<Value> sizes,
                                    ImplicitLocOpBuilder &builder);

/// Combines the parts, in their order, to the output of `op`, and frees their
/// memory: a linalg.generic that becomes a kernel of scalar threads.
void emitAttentionReduction(AttentionOp op, const AttentionParts &parts,
                            ImplicitLocOpBuilder &builder);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_ATTENTIONPARTS_H
