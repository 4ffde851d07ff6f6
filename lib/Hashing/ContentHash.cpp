//===- ContentHash.cpp - Digests of large contents ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Hashing/ContentHash.h"

#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Parallel.h"

#include <vector>

static constexpr size_t pieceBytes = size_t(1) << 20;
/// Starting threads for less does not pay.
static constexpr size_t leastParallelPieces = 8;

std::string mlir::tessera::hashContents(llvm::StringRef bytes) {
  std::vector<llvm::BLAKE3Result<>> digests(
      llvm::divideCeil(bytes.size(), pieceBytes));
  auto hashPiece = [&](size_t i) {
    llvm::BLAKE3 hasher;
    hasher.update(bytes.substr(i * pieceBytes, pieceBytes));
    digests[i] = hasher.final();
  };
  if (digests.size() < leastParallelPieces)
    for (size_t i = 0; i < digests.size(); ++i)
      hashPiece(i);
  else
    llvm::parallelFor(0, digests.size(), hashPiece);
  llvm::BLAKE3 hasher;
  for (const llvm::BLAKE3Result<> &digest : digests)
    hasher.update(digest);
  uint8_t size[8];
  llvm::support::endian::write64le(size, bytes.size());
  hasher.update(size);
  llvm::BLAKE3Result<> whole = hasher.final();
  return std::string(whole.begin(), whole.end());
}
