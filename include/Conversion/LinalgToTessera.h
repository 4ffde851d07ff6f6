//===- LinalgToTessera.h - linalg contractions to tessera.contract -*- C++ -*-//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_H
#define CONVERSION_LINALGTOTESSERA_H

#include "Flags/CompileFlags.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {

class ContractOp;
struct Chip;

/// One contraction in the form of `tessera.contract`: operands before their
/// casts, and the indexing maps of lhs, rhs and output. Dimensions of extent 1
/// may have been dropped from the maps; the maps of lhs and rhs then have a
/// constant result, and a slice of the operand must be taken.
struct LinalgContraction {
  Value lhs, rhs;
  AffineMap lhsMap, rhsMap, outMap;
  bool unsignedA = false, unsignedB = false;
  Type accumulatorType;
};

/// Matches `op` as a sum of products that `tessera.contract` can express.
/// Otherwise `why`, if given, receives the reason; it stays empty if `op` is
/// not a sum of products at all.
FailureOr<LinalgContraction> matchLinalgContraction(linalg::LinalgOp op,
                                                    std::string *why = nullptr);

/// Fuses two matmuls on tensors and the softmax between them, under `root`,
/// into `tessera.attention`, if one kernel of `chip` can compute them;
/// otherwise emits a remark with the reason. Must run before the patterns
/// below, on element-wise ops and reductions; unused ops are not erased.
void fuseAttention(Operation *root, const Chip &chip);

/// Converts linalg contractions to `tessera.contract`. `flags` may permit lower
/// precisions for all matmuls, not only for those whose attributes permit them.
/// Matmuls of i4 are not converted if `chip` has no instructions for them.
void populateLinalgToTesseraPatterns(RewritePatternSet &patterns,
                                     const Chip &chip,
                                     const CompileFlags &flags);

/// Fuses element-wise consumers on tensors into the epilogue of
/// `tessera.contract`.
void populateFuseEpiloguePatterns(RewritePatternSet &patterns);

/// Fuses reductions of rows on tensors, and the ops that use them, into the
/// epilogue of `tessera.contract`, if a subgroup's tile holds whole rows on
/// `chip`. Must run with the patterns above.
void populateFuseRowsPatterns(RewritePatternSet &patterns, const Chip &chip);

/// Moves reshapes between a `tessera.contract` and an element-wise consumer to
/// after the consumer. Must run with the patterns above.
void populateMoveReshapePatterns(RewritePatternSet &patterns);

/// Splits the element-wise parts of a generic matmul's body, which compute its
/// factors, into separate ops; operands of i4 are extended to i8, unless both
/// are i4 and `chip` has instructions for them.
void populateSplitProducerPatterns(RewritePatternSet &patterns,
                                   const Chip &chip);

/// Rewrites matmuls of bytes minus their zero points as matmuls of bytes, with
/// an element-wise consumer that corrects them by sums of rows and columns.
void populateSplitZeroPointPatterns(RewritePatternSet &patterns);

/// Fuses element-wise producers of the operands, on tensors, into
/// `tessera.contract`. Must run after the epilogues: ops after a contraction
/// are better fused there.
void populateFuseProducerPatterns(RewritePatternSet &patterns,
                                  const Chip &chip);

/// Emits a remark with the reason why an element-wise producer of an operand of
/// `op` is not fused, unless it is in `reported`.
void remarkOnProducers(ContractOp op, DenseSet<Operation *> &reported);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_H
