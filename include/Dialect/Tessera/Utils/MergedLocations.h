//===- MergedLocations.h - Where one op stands for several ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_MERGEDLOCATIONS_H
#define DIALECT_TESSERA_UTILS_MERGEDLOCATIONS_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::tessera {

/// The location of an op that stands for one at `first` and for one at
/// `second`, which have been equal. Diagnostics show the first one.
Location mergeLocations(Location first, Location second);

/// All locations that `mergeLocations` has put together, in order; `loc` alone
/// if there are none.
llvm::SmallVector<Location> getMergedLocations(Location loc);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_MERGEDLOCATIONS_H
