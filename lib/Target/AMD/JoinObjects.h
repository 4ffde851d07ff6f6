//===- JoinObjects.h - Objects of kernels to link ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_AMD_JOINOBJECTS_H
#define TARGET_AMD_JOINOBJECTS_H

#include "mlir/IR/Operation.h"
#include "mlir/Support/LLVM.h"
#include <string>

namespace mlir::tessera {

/// Gives the first of several relocatable objects, which the back end made for
/// one chip, the metadata of the kernels of all, and takes it from the others:
/// a code object has one metadata note, and the linker does not merge notes.
/// Errors are at `op`.
LogicalResult joinMetadata(Operation *op, MutableArrayRef<std::string> objects);

} // namespace mlir::tessera

#endif // TARGET_AMD_JOINOBJECTS_H
