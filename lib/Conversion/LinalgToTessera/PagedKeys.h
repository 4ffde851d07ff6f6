//===- PagedKeys.h - Keys that are gathered from pages ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_PAGEDKEYS_H
#define CONVERSION_LINALGTOTESSERA_PAGEDKEYS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::tessera {

/// Dimensions besides those of an iteration space: the number of a key's page,
/// and the key's number in its page.
inline constexpr unsigned pageDim = ~0u, keyInPageDim = ~0u - 1;

/// A gather of pages: an op with parallel loops that copies one element of a
/// tensor, the first index of which is computed.
struct PagedKeys {
  linalg::LinalgOp op;
  /// The computed index, in the body of the op.
  Value page;
  /// The dimensions that each loop of the op runs over.
  SmallVector<SmallVector<unsigned>> loops;
  int64_t pageSize = 0;
  /// Whether a page is one key; the source lacks a dimension for its rows.
  bool isByKey = false;
};

/// The pages that the tensor `value`, whose dimensions run over `dims`, is
/// gathered from; `keys` is the dimension of keys, which may be divided into
/// `pageDim` and `keyInPageDim`. `source` receives the tensor of pages, and
/// `sourceDims` its dimensions.
std::optional<PagedKeys>
matchPagedKeys(Value value, ArrayRef<SmallVector<unsigned>> dims, unsigned keys,
               Value &source,
               SmallVectorImpl<SmallVector<unsigned>> &sourceDims);

/// The page, given the values of the loops; null for loops it does not use.
Value emitPage(const PagedKeys &pages, OpBuilder &builder, Location loc,
               function_ref<Value(unsigned)> getLoop);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_PAGEDKEYS_H
