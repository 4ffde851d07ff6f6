//===- LinalgToTessera.h - linalg contractions to tessera.contract -*- C++ -*-//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_H
#define CONVERSION_LINALGTOTESSERA_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {

class ContractOp;
struct Chip;

/// One contraction, as `tessera.contract` takes it: operands before their
/// casts, and the indexing maps of lhs, rhs and output. Dimensions of extent 1
/// may have been dropped from the maps; those of lhs and rhs then read at a
/// constant, where a slice is to be taken.
struct LinalgProduct {
  Value lhs, rhs;
  AffineMap lhsMap, rhsMap, outMap;
  bool unsignedA = false, unsignedB = false;
  Type accumulatorType;
};

/// Recognizes `op` as a sum of products that `tessera.contract` can express.
/// Otherwise `why`, where given, says what is in the way; it stays empty when
/// `op` is no sum of products at all.
FailureOr<LinalgProduct> matchLinalgProduct(linalg::LinalgOp op,
                                            std::string *why = nullptr);

/// Two products on tensors and the softmax between them, under `root`, to
/// `tessera.attention`, where one kernel of `chip` can hold them; else a remark
/// says why not. To run before all that is below, on element-wise ops and
/// reductions; what is no longer used stays.
void fuseAttention(Operation *root, const Chip &chip);

/// linalg contractions to `tessera.contract`. `allowTf32` permits tf32 for all
/// f32 products, not only those marked `tessera.allow_tf32`, and `allowFastF8`
/// sums in few bits for all of 8-bit floats, not only those marked
/// `tessera.allow_fast_f8`. Products of i4 are left alone where `chip` has
/// none.
void populateLinalgToTesseraPatterns(RewritePatternSet &patterns,
                                     const Chip &chip, bool allowTf32,
                                     bool allowFastF8);

/// Element-wise consumers on tensors into the epilogue of `tessera.contract`.
void populateFuseEpiloguePatterns(RewritePatternSet &patterns);

/// Reductions of rows on tensors, with what is made of them, into the epilogue
/// of `tessera.contract`, where a subgroup's tile holds whole rows on `chip`.
/// To run with the patterns above.
void populateFuseRowsPatterns(RewritePatternSet &patterns, const Chip &chip);

/// Reshapes between a `tessera.contract` and an element-wise consumer to behind
/// the consumer. To run with the patterns above.
void populateMoveReshapePatterns(RewritePatternSet &patterns);

/// The element-wise parts of a generic product's body, which make its factors,
/// to ops of their own; operands of i4 to i8, unless both are and `chip` has
/// products of them.
void populateSplitProducerPatterns(RewritePatternSet &patterns,
                                   const Chip &chip);

/// Products of bytes less their zero points to products of bytes, and an
/// element-wise consumer that corrects them by sums of rows and columns.
void populateSplitZeroPointPatterns(RewritePatternSet &patterns);

/// Element-wise producers of the operands, on tensors, into `tessera.contract`.
/// To run after the epilogues: what follows a contraction is better there.
void populateFuseProducerPatterns(RewritePatternSet &patterns);

/// Says why an element-wise producer of an operand of `op` is not taken up,
/// unless it has been `told`.
void remarkOnProducers(ContractOp op, DenseSet<Operation *> &told);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_H
