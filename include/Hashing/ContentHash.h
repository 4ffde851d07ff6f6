//===- ContentHash.h - Digests of large contents ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HASHING_CONTENTHASH_H
#define HASHING_CONTENTHASH_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::tessera {

/// A digest of 32 bytes: BLAKE3 of the digests by BLAKE3 of the pieces of 1 MiB
/// of `bytes`, followed by the size as 8 bytes, little-endian. The pieces of
/// large contents are hashed by several threads.
std::string hashContents(llvm::StringRef bytes);

} // namespace mlir::tessera

#endif // HASHING_CONTENTHASH_H
