//===- KernelArguments.h - Arguments of kernels -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_KERNELARGUMENTS_H
#define CONVERSION_KERNELARGUMENTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tessera {

/// The attribute with the launch arguments that a kernel takes (array<i64>), in
/// ascending order; each memref counts as its descriptor's fields: allocated
/// pointer, aligned pointer, offset, sizes, strides. Without it, a kernel takes
/// all arguments.
inline llvm::StringRef getTakenArgumentsAttrName() {
  return "tessera.taken_arguments";
}

} // namespace mlir::tessera

#endif // CONVERSION_KERNELARGUMENTS_H
