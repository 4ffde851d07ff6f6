//===- SubgroupBlocks.h - Block loads of Intel's extension ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_INTEL_2d_block_io, which the upstream dialect does not support. Until a
// module is serialized, a load is a call of an imported function without
// results,
//
//   (element size, block width, height, count, base pointer,
//    memory width, height, pitch, coordinate, destination)
//
// whose name contains the instruction's opcode.
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_SUBGROUPBLOCKS_H
#define TARGET_SUBGROUPBLOCKS_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::tessera::subgroup_blocks {

/// Opcodes of the extension.
enum Opcode : uint32_t {
  Load = 6231,
  LoadTransform = 6232,
  LoadTranspose = 6233,
  /// Without a destination.
  Prefetch = 6234,
};

/// The prefix of the function names; followed by the opcode and a suffix that
/// distinguishes types.
constexpr llvm::StringLiteral functionPrefix = "__tessera_subgroup_blocks.";

/// Returns the function that represents the instruction, for elements of the
/// given source and destination sizes in bits; a destination size of 0 means
/// none.
inline std::string getFunctionName(Opcode opcode, unsigned sourceBits,
                                   unsigned targetBits) {
  std::string name =
      (functionPrefix + llvm::Twine(static_cast<uint32_t>(opcode)) + ".i" +
       llvm::Twine(sourceBits))
          .str();
  return targetBits ? name + ".i" + std::to_string(targetBits) : name;
}

} // namespace mlir::tessera::subgroup_blocks

#endif // TARGET_SUBGROUPBLOCKS_H
