//===- ContractionLoops.h - Sums of products over a box ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_KERNELS_CONTRACTIONLOOPS_H
#define LIB_REFERENCE_KERNELS_CONTRACTIONLOOPS_H

#include "../PreparedCode.h"
#include "Reference/Compare.h"
#include "RoundedSums.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::tessera::reference {

/// The elements of a view that the points of an iteration space name: their
/// addresses are linear in the indices.
struct Access {
  const View *view = nullptr;
  int64_t base = 0;
  /// For each iteration dimension.
  SmallVector<int64_t, 6> strides;
  /// Whether it depends on a dimension.
  llvm::SmallBitVector uses;
  /// Per dimension, the indices that its points stand for; empty for 0, 1, 2...
  SmallVector<ArrayRef<int64_t>, 6> indices;

  /// The offset in memory of point `i` of a dimension.
  int64_t getOffset(unsigned dim, int64_t i) const {
    bool isListed = !indices.empty() && !indices[dim].empty();
    return strides[dim] * (isListed ? indices[dim][i] : i);
  }
};

/// How an element becomes a factor of a multiplication.
struct Conversion {
  /// Integers of this width are read as unsigned; 0 for as they are.
  unsigned unsignedWidth = 0;
  /// Floats are rounded to it first.
  const Format *rounded = nullptr;
  /// Subtracted from integers: the zero point of a quantized tensor.
  int64_t zeroPoint = 0;
};

/// output[...] += sum of a[...] * b[...], over a box.
struct Contraction {
  SmallVector<int64_t, 6> extents;
  Access a, b, output;
  Conversion convertA, convertB;
  /// The format in which terms and sums are computed.
  const Format *arithmetic = nullptr;
  /// Factors may be rounded to tf32.
  bool tf32 = false;
};

bool contract(Run &run, Operation *op, const Contraction &contraction);

/// Compares `got`, which is dense, with the result of the contraction (whose
/// output has the initial values and is not changed) by projections on random
/// vectors: row sums with random signs. The comparison has an element for each
/// row, batch and projection. None with an error in the run.
std::optional<Comparison> projectContraction(Run &run, Operation *op,
                                             const Contraction &contraction,
                                             const View &got, int64_t count,
                                             uint64_t seed, double slack);

/// Properties that all elements of a view share.
struct Facts {
  double largest = 0;
  bool allIntegers = true;
  bool hasErrors = false;
  /// All are tf32 numbers.
  bool fitsTf32 = true;
};
Facts getFacts(const View &view, const Conversion &conversion);

/// Whether sums of products of such factors, from such an initial value, are
/// exact in the format.
bool isExact(const Facts &a, const Facts &b, double largestInitial,
             int64_t length, const SumFormat &sums);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_KERNELS_CONTRACTIONLOOPS_H
