//===- MergedLocations.cpp - Where one op stands for several --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/MergedLocations.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tessera;

/// Distinguishes merged locations from those of ops that were fused.
static constexpr llvm::StringLiteral mark = "merged";

llvm::SmallVector<Location> mlir::tessera::getMergedLocations(Location loc) {
  auto fused = dyn_cast<FusedLoc>(loc);
  auto metadata =
      fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  if (!metadata || metadata.getValue() != mark)
    return {loc};
  return llvm::SmallVector<Location>(fused.getLocations());
}

Location mlir::tessera::mergeLocations(Location first, Location second) {
  llvm::SmallSetVector<Attribute, 4> all;
  for (Location part : {first, second})
    for (Location loc : getMergedLocations(part))
      all.insert(loc);
  if (all.size() == 1)
    return first;
  llvm::SmallVector<Location> locations;
  for (Attribute loc : all)
    locations.push_back(cast<LocationAttr>(loc));
  MLIRContext *context = first.getContext();
  return FusedLoc::get(locations, StringAttr::get(context, mark), context);
}
