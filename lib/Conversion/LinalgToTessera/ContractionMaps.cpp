//===- ContractionMaps.cpp - Indexing maps of matmuls ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionMaps.h"

#include "Dialect/Tessera/IR/ContractMaps.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::hasWindows(AffineMap map) {
  return llvm::any_of(map.getResults(), [](AffineExpr expr) {
    return !isa<AffineDimExpr, AffineConstantExpr>(expr);
  });
}

/// Whether dimension `dim` is part of a sum in `map`.
static bool isInWindow(AffineMap map, unsigned dim) {
  return llvm::any_of(map.getResults(), [&](AffineExpr expr) {
    return !isa<AffineDimExpr>(expr) && expr.isFunctionOfDim(dim);
  });
}

void mlir::tessera::dropUnitDims(ContractionMaps &maps) {
  MLIRContext *context = maps.out.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  for (auto [d, extent] : llvm::enumerate(maps.extents)) {
    bool inLhs = maps.lhs.isFunctionOfDim(d),
         inRhs = maps.rhs.isFunctionOfDim(d),
         isSummed = !maps.out.isFunctionOfDim(d);
    if (extent != 1 || !((isSummed && inLhs != inRhs) ||
                         isInWindow(maps.lhs, d) || isInWindow(maps.rhs, d)))
      continue;
    AffineExpr dim = getAffineDimExpr(d, context);
    maps.lhs = maps.lhs.replace(dim, zero, maps.extents.size(), 0);
    maps.rhs = maps.rhs.replace(dim, zero, maps.extents.size(), 0);
  }
  AffineMap all[] = {maps.lhs, maps.rhs, maps.out};
  llvm::SmallBitVector unused = getUnusedDimsBitVector(all);
  for (unsigned d = maps.extents.size(); d-- > 0;)
    if (unused.test(d))
      maps.extents.erase(maps.extents.begin() + d);
  maps.lhs = projectDims(maps.lhs, unused, /*compressDimsFlag=*/true);
  maps.rhs = projectDims(maps.rhs, unused, /*compressDimsFlag=*/true);
  maps.out = projectDims(maps.out, unused, /*compressDimsFlag=*/true);
}

LogicalResult mlir::tessera::checkContractionMaps(const ContractionMaps &maps,
                                                  std::string *why) {
  auto fail = [&](const Twine &reason) -> LogicalResult {
    if (why)
      *why = reason.str();
    return failure();
  };
  const AffineMap &lhs = maps.lhs, &rhs = maps.rhs, &out = maps.out;
  if (!out.isProjectedPermutation())
    return fail("its output's indexing map is not a projected permutation");
  bool anyM = false, anyN = false, anyK = false;
  for (AffineMap map : {lhs, rhs})
    if (!llvm::all_of(map.getResults(), isPositiveSum))
      return fail("an operand's indexing map is not a sum of dimensions");
  for (unsigned d = 0; d < out.getNumDims(); ++d) {
    AffineExpr dim = getAffineDimExpr(d, out.getContext());
    bool isAlone = false;
    for (AffineMap map : {lhs, rhs, out}) {
      isAlone |= llvm::is_contained(map.getResults(), dim);
      if (llvm::count_if(map.getResults(), [&](AffineExpr expr) {
            return expr.isFunctionOfDim(d);
          }) > 1)
        return fail("a dimension indexes an operand twice");
    }
    if (!isAlone)
      return fail("a dimension does not index any operand alone, so that its "
                  "extent is unknown");
    bool l = lhs.isFunctionOfDim(d), r = rhs.isFunctionOfDim(d),
         o = out.isFunctionOfDim(d);
    if (!o && !(l && r))
      return fail("a reduction dimension indexes only one operand");
    anyM |= o && l && !r && maps.extents[d] != 1;
    anyN |= o && r && !l && maps.extents[d] != 1;
    anyK |= !o;
  }
  if (!anyK)
    return fail("it has no reduction dimension");
  // Threads without a matrix unit read each element of the image once for each
  // of the window; with one, it would be gathered for a single column.
  if ((hasWindows(lhs) || hasWindows(rhs)) && !(anyM && anyN))
    return fail(Twine("it is a convolution without an ") + (anyM ? "N" : "M") +
                " dimension");
  bool anyMOrN = llvm::any_of(llvm::seq(out.getNumDims()), [&](unsigned d) {
    return out.isFunctionOfDim(d) &&
           lhs.isFunctionOfDim(d) != rhs.isFunctionOfDim(d);
  });
  if (!anyMOrN)
    return fail("it has neither an M nor an N dimension");
  return success();
}
