//===- Format.h - printf into a std::string ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_FORMAT_H
#define TESSERA_LIB_RUNTIME_FORMAT_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::runtime {

/// Formats as printf does.
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));

/// Three sizes as "4x2x1".
std::string formatDims(const int64_t dims[3]);

/// Any number of sizes as "4x2"; empty for none.
std::string formatSizes(const int64_t *sizes, size_t rank);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_FORMAT_H
