//===- CopyProducer.h - A subgroup that does nothing but copy ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_COPYPRODUCER_H
#define CONVERSION_TESSERATONVVM_COPYPRODUCER_H

#include "Dialect/Tessera/Transforms/BulkCopies.h"

namespace mlir::tessera {

/// Divides the work of `kernel` between a subgroup that copies, of its own, and
/// the others. The kernel's tensor maps are added to `maps`. False, with the
/// kernel as it was, where the copies depend on what the others compute.
bool specializeSubgroups(gpu::GPUFuncOp kernel, const StagingPlan &plan,
                         const Chip &chip, SmallVectorImpl<Attribute> &maps);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_COPYPRODUCER_H
