//===- SubgroupBlocks.h - Block loads of Intel's extension ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_INTEL_2d_block_io, which upstream's dialect does not have. Until a module
// is written, a load is a call of an imported function that returns nothing,
//
//   (element size, block width, height, count, base pointer,
//    memory width, height, pitch, coordinate, destination)
//
// whose name holds the instruction's opcode.
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_SUBGROUPBLOCKS_H
#define TARGET_SUBGROUPBLOCKS_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::tessera::subgroup_blocks {

/// Of the extension.
enum Opcode : uint32_t {
  Load = 6231,
  LoadTransform = 6232,
  LoadTranspose = 6233,
  /// Without a destination.
  Prefetch = 6234,
};

/// What the functions' names begin with; then the opcode and whatever makes
/// names of different types differ.
constexpr llvm::StringLiteral functionPrefix = "__tessera_subgroup_blocks.";

/// The function that stands for the instruction, from elements of so many bits
/// to ones of so many; 0: to none.
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
