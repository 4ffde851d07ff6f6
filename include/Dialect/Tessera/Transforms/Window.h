//===- Window.h - Windows over an image -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_WINDOW_H
#define DIALECT_TESSERA_TRANSFORMS_WINDOW_H

#include "Dialect/Tessera/Target/Chip.h"
#include "Dialect/Tessera/Transforms/MatrixForm.h"

namespace mlir::tessera {

/// How lhs (0) or rhs (1) of `op` is gathered by windows over it. Null where it
/// is a matrix, where an extent is not known, and where its columns run
/// fastest, since no engine gathers these.
WindowAttr getWindow(ContractOp op, const MatrixForm &form, unsigned side);

/// Windows as a bulk copy engine walks through them: `pixels` of an image
/// follow each other, of which each has `channels` elements side by side.
///
/// Dimensions are the image's. The first one counts images and the last one
/// channels; between them is what the windows move over, each from `lower` on
/// for `extent` places, every `stride`-th of which is one.
struct BulkWindow {
  SmallVector<int64_t> lower, extent, stride;
  /// For each dimension but the last one, the number of the row's dimension
  /// that moves along it, and of the column's: those of a window. The factor
  /// by which the column's does.
  SmallVector<std::optional<unsigned>> row, col;
  SmallVector<int64_t> dilation;
};

/// `window` over `image`, as the engine of `chip` copies tiles of `shape` of
/// it. Nothing where it does not, and `why` says what is in the way.
std::optional<BulkWindow> matchBulkWindow(WindowAttr window, ShapedType image,
                                          ArrayRef<int64_t> shape,
                                          const Chip &chip, std::string &why);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_WINDOW_H
