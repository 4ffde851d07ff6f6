//===- PackImages.h - Images of few channels --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_PACKIMAGES_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_PACKIMAGES_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// Gives a convolution over an image of few channels copies of the image and of
/// its filters that bulk copies can read, if that is beneficial and if the
/// default schedule then uses instructions of several subgroups. `op` is on
/// memrefs and has no schedule.
void packImage(ContractOp op, const Chip &chip);

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_PACKIMAGES_H
