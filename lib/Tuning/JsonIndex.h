//===- JsonIndex.h - Where in a text a value stands -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_JSONINDEX_H
#define TUNING_JSONINDEX_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mlir::tessera::tuning {

/// Information that LLVM's JSON parser does not provide: the line of each
/// value, and which name an object has twice.
class JsonIndex {
public:
  /// Indexes a text that the parser has accepted.
  explicit JsonIndex(llvm::StringRef text);

  /// The line, from 1, of the value at a path ("parameters.workgroup[1][0]";
  /// for a member of an object, the line of its name), or of the last existing
  /// value on the path.
  unsigned getLine(llvm::StringRef path) const;

  /// The path of a value whose name its object has had before; empty if there
  /// is none.
  const std::string &getDuplicate() const { return duplicate; }

private:
  void skipSpace();
  std::string readString();
  void readValue(const std::string &path);

  llvm::StringRef rest;
  unsigned line = 1;
  llvm::StringMap<unsigned> lines;
  std::string duplicate;
};

} // namespace mlir::tessera::tuning

#endif // TUNING_JSONINDEX_H
