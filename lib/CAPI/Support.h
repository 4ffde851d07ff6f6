//===- Support.h - Common part of the C API -----------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CAPI_SUPPORT_H
#define LIB_CAPI_SUPPORT_H

#include "Runtime/Bundle.h"
#include "tessera-c/Runtime.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// A program, without a device. It does not change.
struct TesseraProgram {
  tessera::runtime::Bundle bundle;
  /// The bundle as a file, which has the contents of its constants.
  std::shared_ptr<const std::string> bytes;
  std::string description;
  /// The symbols of the slots that have some, as the C API gives them.
  std::map<const tessera::runtime::Slot *, std::vector<const char *>> symbols;
};

namespace tessera::capi {

/// Keeps the text for `tesseraGetLastError`, and returns the code.
TesseraStatus fail(TesseraStatus code, std::string text);
TesseraStatus fail(const runtime::Status &status);

/// A program of a bundle as a file, or a failure to read it.
runtime::Expected<std::unique_ptr<TesseraProgram>>
makeProgram(std::string bytes);

/// The caller's structure as far as both know it: fields that the caller's
/// header lacks keep their value. False for a size that cannot be.
template <typename T> bool readStruct(T &own, const T &theirs) {
  size_t size = theirs.structSize;
  if (size < sizeof(size_t) || size % sizeof(void *) != 0)
    return false;
  std::memcpy(&own, &theirs, size < sizeof(T) ? size : sizeof(T));
  return true;
}

/// The same the other way round.
template <typename T> bool writeStruct(T &theirs, T own) {
  size_t size = theirs.structSize;
  if (size < sizeof(size_t) || size % sizeof(void *) != 0)
    return false;
  own.structSize = size;
  std::memcpy(&theirs, &own, size < sizeof(T) ? size : sizeof(T));
  return true;
}

} // namespace tessera::capi

#endif // LIB_CAPI_SUPPORT_H
