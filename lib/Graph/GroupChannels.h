//===- GroupChannels.h - Groups that threads compute ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_GRAPH_GROUPCHANNELS_H
#define LIB_GRAPH_GROUPCHANNELS_H

#include <cstdint>

namespace mlir::tessera {

/// Threads compute a convolution whose groups have from two to this number of
/// channels, and of filters. More fill a matrix instruction.
inline bool hasFewChannels(int64_t extent) {
  constexpr int64_t most = 8;
  return extent > 1 && extent <= most;
}

} // namespace mlir::tessera

#endif // LIB_GRAPH_GROUPCHANNELS_H
