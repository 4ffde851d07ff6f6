//===- Linalg.h - Structured operations -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_LINALG_H
#define LIB_REFERENCE_LINALG_H

#include "Contraction.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tessera::reference {

/// A body evaluated over an iteration space, and what was found out about it.
struct StructuredOp {
  Operation *op = nullptr;
  /// Inputs, then outputs.
  SmallVector<AffineMap> maps;
  SmallVector<bool> isParallel;
  unsigned numInputs = 0;
  std::unique_ptr<Function> body;
  /// Per output, whether its old value is read.
  SmallVector<bool> readsOutput;

  /// The body is a multiply-add of two of the inputs to the only output.
  bool isContraction = false;
  unsigned factorA = 0, factorB = 0;
  Conversion convertA, convertB;
  const Format *arithmetic = nullptr;
  /// The factors are f32, as the sums are.
  bool mayUseTf32 = false;
  /// The body only hands on this input, or a captured value (-1).
  std::optional<int> handsOn;

  unsigned getNumOperands() const { return maps.size(); }

  /// The iteration space that operands of these shapes span (null for scalars);
  /// false with an error when they do not fit together.
  bool getExtents(Run &run, ArrayRef<const View *> operands,
                  SmallVectorImpl<int64_t> &extents) const;
  /// What it takes to evaluate all of it.
  int64_t getCost(ArrayRef<int64_t> extents) const;

  /// Evaluates the op: `views` are the operands' (null for scalars, which are
  /// in `scalars`); the outputs are updated. Where a list is given for an
  /// iteration dimension, it holds the indices that linalg.index sees.
  bool evaluate(Frame &frame, ArrayRef<ViewRef> views, ArrayRef<Number> scalars,
                ArrayRef<ArrayRef<int64_t>> indexLists = {}) const;
};

/// The addresses that a map names in a view; false if they are not linear.
bool getAccess(const View &view, AffineMap map, Access &access);

/// Prepares a linalg op; null for one that cannot be evaluated.
std::unique_ptr<StructuredOp> makeStructuredOp(linalg::LinalgOp op,
                                               Scope &scope);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_LINALG_H
