//===- Reshapes.h - Reading through tensor reshapes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_RESHAPES_H
#define CONVERSION_LINALGTOTESSERA_RESHAPES_H

#include "Source.h"

namespace mlir::tessera {

/// The source of `use`, if it is a `tensor.collapse_shape`,
/// `tensor.expand_shape`, or a `tensor.extract_slice` that drops dimensions:
/// with the map (k, n), a tensor collapsed from 4x64xN is read at (k floordiv
/// 64, k mod 64, n), and the source that it was expanded from at (k, n).
std::optional<Source> lookThroughReshape(const Source &use);

/// The map of `use` for a tensor that must be collapsed first, so that the map
/// has neither quotients nor remainders. `groups` are the dimensions to
/// collapse. Fails if there are none.
FailureOr<AffineMap>
collapseMap(AffineMap map, ArrayRef<int64_t> shape,
            SmallVectorImpl<SmallVector<int64_t, 2>> &groups);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_RESHAPES_H
