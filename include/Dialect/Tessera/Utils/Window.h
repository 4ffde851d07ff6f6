//===- Window.h - Windows over an image -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_WINDOW_H
#define DIALECT_TESSERA_UTILS_WINDOW_H

#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The windows by which lhs (0) or rhs (1) of `op` is gathered. Null if it is a
/// matrix, if an extent is dynamic, or if its columns run fastest, which TMA
/// does not support.
WindowAttr getWindow(ContractOp op, const MatrixForm &form, unsigned side);

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

#endif // DIALECT_TESSERA_UTILS_WINDOW_H
