//===- MatchContraction.cpp - Matching of linalg contractions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionBody.h"
#include "ContractionMaps.h"
#include "Conversion/LinalgToTessera.h"
#include "Source.h"

#include "Dialect/Tessera/IR/Tessera.h"

using namespace mlir;
using namespace mlir::tessera;

FailureOr<LinalgContraction>
mlir::tessera::matchLinalgContraction(linalg::LinalgOp op, std::string *why) {
  auto fail = [&](const Twine &reason) -> FailureOr<LinalgContraction> {
    if (why)
      *why = reason.str();
    return failure();
  };
  if (!op.hasPureTensorSemantics() && !op.hasPureBufferSemantics())
    return failure();
  std::optional<ContractionBody> body = matchContractionBody(op);
  if (!body || op.getNumReductionLoops() == 0)
    return failure();
  for (OpOperand *operand : {op.getDpsInputOperand(0), op.getDpsInputOperand(1),
                             op.getDpsInitOperand(0)})
    if (!isa<RankedTensorType, MemRefType>(operand->get().getType()))
      return fail("an operand is not a ranked tensor or memref");

  ContractionMaps maps{op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
                       op.getMatchingIndexingMap(op.getDpsInputOperand(1)),
                       op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
                       op.getStaticLoopRanges()};
  // If a window of one position reads part of the image, its dimension is kept:
  // otherwise that of the filter would index the image.
  ContractionMaps dropped = maps;
  dropUnitDims(dropped);
  bool same = true;
  for (unsigned i : {0, 1}) {
    auto type = cast<ShapedType>(op.getDpsInputOperand(i)->get().getType());
    for (auto [r, expr] : llvm::enumerate(dropped.operand(i).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        same &= isa<AffineDimExpr>(maps.operand(i).getResult(r)) ||
                (!type.isDynamicDim(r) &&
                 type.getDimSize(r) == dropped.extents[dim.getPosition()]);
  }
  if (same)
    maps = dropped;
  if (failed(checkContractionMaps(maps, why)))
    return failure();
  Source sources[2];
  for (unsigned i : {0, 1})
    sources[i] = {op.getDpsInputOperand(i)->get(), maps.operand(i),
                  body->operands[i].isUnsigned};

  // Fold the producers of the operands, as long as the result is a contraction
  // of supported types.
  auto accept = [&](const Source &lhs, const Source &rhs) {
    Type a = getElementTypeOrSelf(lhs.value),
         b = getElementTypeOrSelf(rhs.value);
    return isValidMatmul(a, b, getAccumulatorType(a));
  };
  bool widened[2];
  for (unsigned i : {0, 1})
    widened[i] = body->operands[i].source.getType() != body->sumType;
  SmallVector<Source> best(sources, sources + 2);
  bool found = accept(sources[0], sources[1]);
  for (bool progress = true; progress;) {
    progress = false;
    for (unsigned i : {0, 1}) {
      std::optional<Source> next =
          lookThroughProducer(sources[i], /*mayWiden=*/true, widened[i]);
      if (!next)
        next = lookThroughPadding(sources[i]);
      if (!next)
        continue;
      ContractionMaps candidate = maps;
      candidate.operand(0) = sources[0].map;
      candidate.operand(1) = sources[1].map;
      candidate.operand(i) = next->map;
      if (failed(checkContractionMaps(candidate)))
        continue;
      widened[i] |= getElementTypeOrSelf(next->value) !=
                    getElementTypeOrSelf(sources[i].value);
      sources[i] = *next;
      progress = true;
      if (accept(sources[0], sources[1])) {
        best.assign(sources, sources + 2);
        found = true;
      }
    }
  }
  Type a = getElementTypeOrSelf(best[0].value),
       b = getElementTypeOrSelf(best[1].value);
  if (!found) {
    std::string reason;
    llvm::raw_string_ostream(reason)
        << "matrix instructions do not support " << a << " x " << b;
    return fail(reason);
  }
  LinalgContraction contraction;
  contraction.outMap = maps.out;
  contraction.accumulatorType = getAccumulatorType(a);
  Type out = getElementTypeOrSelf(op.getDpsInits()[0]);
  for (Type type : {out, body->sumType})
    if (type.getIntOrFloatBitWidth() >
            contraction.accumulatorType.getIntOrFloatBitWidth() ||
        isa<FloatType>(type) != isa<FloatType>(contraction.accumulatorType)) {
      std::string reason;
      llvm::raw_string_ostream(reason)
          << "it accumulates in " << type << ", but the accumulator type for "
          << a << " x " << b << " is " << contraction.accumulatorType;
      return fail(reason);
    }
  if (!canBeOutput(out)) {
    std::string reason;
    llvm::raw_string_ostream(reason) << "its output has elements of " << out
                                     << ", which fragments do not support";
    return fail(reason);
  }
  contraction.lhs = best[0].value;
  contraction.rhs = best[1].value;
  contraction.lhsMap = best[0].map;
  contraction.rhsMap = best[1].map;
  contraction.unsignedA = a.isInteger() && best[0].isUnsigned;
  contraction.unsignedB = b.isInteger() && best[1].isUnsigned;
  return contraction;
}
