//===- ContractionMaps.h - Indexing maps of matmuls -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_CONTRACTIONMAPS_H
#define CONVERSION_LINALGTOTESSERA_CONTRACTIONMAPS_H

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/SmallVector.h"
#include <string>

namespace mlir::tessera {

/// The indexing maps of lhs, rhs and output over one iteration space.
struct ContractionMaps {
  AffineMap lhs, rhs, out;
  /// The extents of the dimensions, where they are static.
  SmallVector<int64_t> extents;

  AffineMap &operand(unsigned side) { return side ? rhs : lhs; }
};

/// Whether `map` reads windows: a result is more than a dimension or a
/// constant.
bool hasWindows(AffineMap map);

/// Drops dimensions of extent 1 that prevent a match: those summed over one
/// operand only, and those of windows. If the operand still has them, its map
/// has a constant result. The 1x1 convolution
///
///   lhs (n, h + r, w + s, c)   rhs (r, s, c, f)   out (n, h, w, f)
///
/// becomes
///
///   lhs (n, h, w, c)           rhs (0, 0, c, f)   out (n, h, w, f)
void dropUnitDims(ContractionMaps &maps);

/// Whether `tessera.contract` supports the maps, with K, and with M or N; a
/// convolution needs both. Otherwise `why` receives the reason.
LogicalResult checkContractionMaps(const ContractionMaps &maps,
                                   std::string *why = nullptr);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_CONTRACTIONMAPS_H
