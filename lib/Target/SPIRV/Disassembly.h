//===- Disassembly.h - SPIR-V as text ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_DISASSEMBLY_H
#define LIB_TARGET_DISASSEMBLY_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace mlir::tessera {

/// The assembly of one module, as spirv-dis prints it. An instruction that
/// SPIRV-Tools does not know is printed by this library where it knows it, and
/// as a comment with its words elsewhere.
std::string disassembleSpirv(ArrayRef<uint32_t> words);

} // namespace mlir::tessera

#endif // LIB_TARGET_DISASSEMBLY_H
