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
  /// Of a text that the parser has taken.
  explicit JsonIndex(llvm::StringRef text);

  /// The line, from 1, of the value at a path ("parameters.workgroup[1][0]"; of
  /// an object's, that of its name); of the last value that is there on the way
  /// to it.
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
