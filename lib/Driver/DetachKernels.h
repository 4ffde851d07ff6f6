//===- DetachKernels.h - Kernels apart from what launches them --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_DETACHKERNELS_H
#define LIB_DRIVER_DETACHKERNELS_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::tessera {

/// Moves the `gpu.module`s of a lowered program to a module of their own with
/// the attributes of `module`. Declarations of the LLVM dialect take the place
/// of the kernels: launches refer to them, and they have the attributes that
/// the lowering of launches reads. Passes on host code then do not visit the
/// code of kernels.
OwningOpRef<ModuleOp> detachKernels(ModuleOp module);

} // namespace mlir::tessera

#endif // LIB_DRIVER_DETACHKERNELS_H
