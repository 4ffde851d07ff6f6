//===- CopyProducer.h - A subgroup that does nothing but copy ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_COPYPRODUCER_H
#define CONVERSION_TESSERATONVVM_COPYPRODUCER_H

#include "Target/NVIDIA/BulkCopies.h"

namespace mlir::tessera {

/// Splits `kernel` into a dedicated subgroup that issues copies, and the
/// consumers. The kernel's tensor maps are added to `maps`. Returns false, with
/// the reason in `why` and without changing the kernel, if the roles cannot be
/// divided: the copies depend on values that the consumers compute, or the
/// block size is unknown.
bool specializeSubgroups(gpu::GPUFuncOp kernel, const StagingPlan &plan,
                         const Chip &chip, SmallVectorImpl<Attribute> &maps,
                         std::string &why);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_COPYPRODUCER_H
