//===- Fragments.h - Fragments of kernels -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_FRAGMENTS_H
#define DIALECT_TESSERA_UTILS_FRAGMENTS_H

#include "mlir/IR/Value.h"

namespace mlir::tessera {

/// Whether `value` is a fragment that is loaded from swizzled workgroup memory,
/// which some instructions read directly.
bool isSwizzledTile(Value value);

/// The alignment in workgroup memory of a pattern of eight swizzled rows of 128
/// bytes.
inline constexpr int64_t swizzlePatternBytes = 1024;

/// The attribute `tessera.group` of the `gpu.func` that `op` is or is part of;
/// 1 if absent.
int64_t getFragmentGroup(Operation *op);

/// The schedule of `kernel`, a `gpu.func` of a gpu.module: a
/// `#tessera.schedule` or a `#tessera.window_schedule`, which the program has
/// in `tessera.schedules`. Null without one.
Attribute getKernelSchedule(Operation *kernel);

/// The largest number of fragments along K into which a `tessera.mma` is
/// unrolled; more of them become a loop.
inline constexpr int64_t maxUnrolledFragments = 4;

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_FRAGMENTS_H
