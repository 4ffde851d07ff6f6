//===- DeadEndRegions.h - Regions that pass no values -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_IR_DEADENDREGIONS_H
#define LIB_DIALECT_TESSERA_IR_DEADENDREGIONS_H

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace mlir::tessera {

/// The successors of `op`, into whose regions no value flows but elements, and
/// out of which none flows but the whole output: to control flow, the regions
/// are dead ends.
inline void getDeadEndRegions(Operation *op, RegionBranchPoint point,
                              SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent())
    return;
  for (Region &region : op->getRegions())
    if (!region.empty())
      regions.emplace_back(&region);
  regions.emplace_back(op, op->getResults().take_front(0));
}

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_IR_DEADENDREGIONS_H
