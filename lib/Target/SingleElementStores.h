//===- SingleElementStores.h - Masked stores of one element -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_SINGLEELEMENTSTORES_H
#define LIB_TARGET_SINGLEELEMENTSTORES_H

#include "llvm/IR/Module.h"

namespace mlir::tessera {

/// Replaces each masked store whose constant mask selects one element by a
/// store of that element.
///
/// LLVM 22's X86 back end forms a scalar store from such a masked store, too.
/// Where the vector is a truncation, as in
///
///   %t = trunc <16 x i32> %v to <16 x i8>
///   call void @llvm.masked.store.v16i8.p0(%t, %p, <true, false, ...>)
///
/// its scalar store has the type from before the truncation: it writes four
/// bytes here instead of one.
void expandSingleElementStores(llvm::Module &module);

} // namespace mlir::tessera

#endif // LIB_TARGET_SINGLEELEMENTSTORES_H
