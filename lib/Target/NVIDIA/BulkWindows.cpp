//===- BulkWindows.cpp - Bulk copies of windows over an image -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// TMA's im2col mode iterates over the columns of an image's pixels, then over
// the rows, and finally over the images. This is the order of the rows of a
// convolution's matrix, if they are all of the output's pixels in order. The
// position within the window is the same for all rows of a tile, if the tile's
// columns are channels of one position.
//
//===----------------------------------------------------------------------===//

#include "Target/NVIDIA/BulkWindows.h"

#include "Dialect/Tessera/IR/ContractMaps.h"
#include "TargetInfo/Chip.h"

using namespace mlir;
using namespace mlir::tessera;

std::optional<BulkWindow>
mlir::tessera::matchBulkWindow(WindowAttr window, ShapedType image,
                               ArrayRef<int64_t> shape, const Chip &chip,
                               std::string &why) {
  auto isNot = [&](const Twine &message) {
    why = message.str();
    return std::nullopt;
  };
  if (!chip.bulkCopies || chip.bulkCopies->windows.empty())
    return isNot(chip.name +
                 " does not support bulk copies of windows (im2col)");
  ArrayRef<int64_t> rows = window.getRows(), cols = window.getCols();
  auto rank = static_cast<unsigned>(image.getRank());
  const BulkWindowLimits *limits = nullptr;
  for (const BulkWindowLimits &one : chip.bulkCopies->windows)
    if (one.dimensions + 2 == rank)
      limits = &one;
  if (!limits)
    return isNot("bulk copies do not support windows over images of " +
                 Twine(rank) + " dimensions");
  if (shape[0] > limits->maxPixels)
    return isNot("tiles have " + Twine(shape[0]) + " rows, but at most " +
                 Twine(limits->maxPixels) + " are supported");
  if (cols.back() % shape[1] != 0)
    return isNot("k steps of " + Twine(shape[1]) + " do not divide the " +
                 Twine(cols.back()) + " channels");

  BulkWindow result;
  unsigned nextRow = 0;
  SmallVector<bool> used(cols.size(), false);
  for (unsigned r = 0; r < rank; ++r) {
    SmallVector<int64_t> factors =
        getFactors(window.getMap().getResult(r), rows.size() + cols.size());
    std::optional<unsigned> row, col;
    for (unsigned d = 0; d + 1 < factors.size(); ++d) {
      if (factors[d] == 0)
        continue;
      bool isRow = d < rows.size();
      std::optional<unsigned> &part = isRow ? row : col;
      if (part)
        return isNot(
            "several dimensions move along one dimension of the image");
      part = isRow ? d : d - rows.size();
    }
    int64_t stride = row ? factors[*row] : 1,
            dilation = col ? factors[rows.size() + *col] : 1,
            lower = factors.back();
    // The rows are pixels in the order of memory.
    if (row && *row != nextRow++)
      return isNot(
          "the order of the rows is not the order of the pixels in memory");
    if (col && std::exchange(used[*col], true))
      return isNot("a dimension of the window moves along several dimensions "
                   "of the image");
    if (r + 1 == rank) {
      if (row || col != cols.size() - 1 || dilation != 1 || lower != 0)
        return isNot("the columns are not contiguous channels");
      break;
    }
    if (r == 0) {
      if (col || stride != 1 || lower != 0)
        return isNot("the window moves over several images");
    } else {
      int64_t extent = ((row ? rows[*row] : 1) - 1) * stride + 1;
      if (stride < 1 || stride > limits->maxStride)
        return isNot("unsupported stride " + Twine(stride));
      if (col &&
          (dilation < 1 || (cols[*col] - 1) * dilation > limits->maxOffset))
        return isNot("the window is wider than " +
                     Twine(limits->maxOffset + 1));
      auto isCorner = [&](int64_t position) {
        return position >= -limits->maxCorner - 1 &&
               position <= limits->maxCorner;
      };
      if (!isCorner(lower) || (!image.isDynamicDim(r) &&
                               !isCorner(lower + extent - image.getDimSize(r))))
        return isNot("the window starts or ends further than " +
                     Twine(limits->maxCorner) + " from the image's sides");
      result.lower.push_back(lower);
      result.extent.push_back(extent);
      result.stride.push_back(stride);
    }
    result.row.push_back(row);
    result.col.push_back(col);
    result.dilation.push_back(dilation);
  }
  if (nextRow != rows.size() || llvm::is_contained(used, false))
    return isNot("some rows or columns do not index the image");
  return result;
}
