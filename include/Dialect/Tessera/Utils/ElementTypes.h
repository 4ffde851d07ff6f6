//===- ElementTypes.h - Sizes of elements in memory -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_ELEMENTTYPES_H
#define DIALECT_TESSERA_UTILS_ELEMENTTYPES_H

#include "mlir/IR/Types.h"

namespace mlir::tessera {

/// The size in bits of one element of `type` in memory: 4 for i4, and otherwise
/// a multiple of 8.
int64_t getElementBits(Type type);

/// Whether elements of `type` share bytes: i4, two of which are in a byte, the
/// first in the low bits.
bool isPacked(Type type);

/// The size in bytes of one element of `type` in memory; 1 for elements that
/// share a byte.
int64_t getElementBytes(Type type);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_ELEMENTTYPES_H
