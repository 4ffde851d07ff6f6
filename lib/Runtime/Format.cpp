//===- Format.cpp - printf into a std::string -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Format.h"

#include <cstdarg>
#include <cstdio>

std::string tessera::runtime::format(const char *text, ...) {
  va_list arguments, again;
  va_start(arguments, text);
  va_copy(again, arguments);
  int length = std::vsnprintf(nullptr, 0, text, arguments);
  va_end(arguments);
  std::string result(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0)
    std::vsnprintf(result.data(), result.size() + 1, text, again);
  va_end(again);
  return result;
}

std::string tessera::runtime::formatDims(const int64_t dims[3]) {
  return std::to_string(dims[0]) + "x" + std::to_string(dims[1]) + "x" +
         std::to_string(dims[2]);
}

std::string tessera::runtime::formatSizes(const int64_t *sizes, size_t rank) {
  std::string text;
  for (size_t dim = 0; dim < rank; ++dim)
    text += (dim ? "x" : "") + std::to_string(sizes[dim]);
  return text;
}
