//===- BulkWindows.h - Bulk copies of windows -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_NVIDIA_BULKWINDOWS_H
#define TARGET_NVIDIA_BULKWINDOWS_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// Windows as TMA's im2col mode describes them: `pixels` of an image are
/// consecutive, each with `channels` contiguous elements.
///
/// Dimensions are those of the image. The first one counts images and the last
/// one channels; windows move over the dimensions in between, each from `lower`
/// on for `extent` positions in steps of `stride`.
struct BulkWindow {
  SmallVector<int64_t> lower, extent, stride;
  /// For each dimension but the last one: the index of the row's dimension that
  /// moves along it, that of the column's dimension (a dimension of the
  /// window), and the factor of the latter.
  SmallVector<std::optional<unsigned>> row, col;
  SmallVector<int64_t> dilation;
};

/// Converts `window` over `image` for bulk copies of tiles of `shape` by
/// `chip`. Empty if TMA does not support it, with the reason in `why`.
std::optional<BulkWindow> matchBulkWindow(WindowAttr window, ShapedType image,
                                          ArrayRef<int64_t> shape,
                                          const Chip &chip, std::string &why);

} // namespace mlir::tessera

#endif // TARGET_NVIDIA_BULKWINDOWS_H
