//===- WideSubvectors.h - Parts of vectors as wide integers -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_WIDESUBVECTORS_H
#define LIB_TARGET_WIDESUBVECTORS_H

#include "llvm/IR/Module.h"

namespace mlir::tessera {

/// Replaces each part of a vector that is taken from it as an integer wider
/// than registers by a shuffle, for little-endian processors.
///
/// LLVM 22's optimizer takes a half of a vector as
///
///   %b = bitcast <32 x i16> %v to <2 x i256>
///   %e = extractelement <2 x i256> %b, i64 0
///   %p = bitcast i256 %e to <16 x i16>
///
/// and its X86 back end crashes where elements of %p alternate with zeros, that
/// is, where they are extended.
void expandWideSubvectors(llvm::Module &module);

} // namespace mlir::tessera

#endif // LIB_TARGET_WIDESUBVECTORS_H
