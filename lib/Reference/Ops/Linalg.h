//===- Linalg.h - Structured operations -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_LINALG_H
#define LIB_REFERENCE_OPS_LINALG_H

#include "../Kernels/ContractionLoops.h"
#include "../Kernels/ReductionLoops.h"
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
  /// Per output, whether and how each step adds to it.
  SmallVector<std::optional<Fold>> folds;

  /// The body is a multiply-add of two of the inputs to the only output.
  bool isContraction = false;
  unsigned factorA = 0, factorB = 0;
  Conversion convertA, convertB;
  /// The scalar operands that are zero points of these.
  std::optional<unsigned> zeroA, zeroB;
  const Format *arithmetic = nullptr;
  /// The factors are f32, as the sums are.
  bool mayUseTf32 = false;
  /// The body only forwards this input, or a captured value (-1).
  std::optional<int> handsOn;

  unsigned getNumOperands() const { return maps.size(); }

  /// The iteration space that operands of these shapes span (null for scalars);
  /// false with an error when they do not fit together.
  bool getExtents(Run &run, ArrayRef<const View *> operands,
                  SmallVectorImpl<int64_t> &extents,
                  ArrayRef<ArrayRef<int64_t>> indexLists = {}) const;
  /// The cost of evaluating the whole op.
  int64_t getCost(ArrayRef<int64_t> extents) const;

  /// Evaluates the op: `views` are the operands' (null for scalars, which are
  /// in `scalars`); the outputs are updated.
  ///
  /// Where a list is given for an iteration dimension, only these indices of it
  /// are evaluated. An operand that such a dimension indexes alone holds just
  /// those elements, one in which it is added to others holds all.
  bool evaluate(Frame &frame, ArrayRef<ViewRef> views, ArrayRef<Number> scalars,
                ArrayRef<ArrayRef<int64_t>> indexLists = {}) const;

  /// Fills in how the factors are made; `scalars` are the operands' values.
  void setFactors(Contraction &contraction, ArrayRef<Number> scalars) const;

private:
  bool evaluateContraction(Frame &frame, ArrayRef<Access> accesses,
                           ArrayRef<Number> scalars,
                           ArrayRef<int64_t> extents) const;
};

/// The extents of an iteration space whose maps index operands of these shapes
/// (null for scalars); an error, and false, where they do not fit together. A
/// map may reach outside only if `mayReachOutside`.
bool getIterationExtents(Run &run, Operation *op, ArrayRef<AffineMap> maps,
                         ArrayRef<const View *> operands,
                         ArrayRef<ArrayRef<int64_t>> indexLists,
                         bool mayReachOutside,
                         SmallVectorImpl<int64_t> &extents);

/// The views whose shapes `getExtents` reads, for operands that have been
/// evaluated.
inline SmallVector<const View *> shapesOf(ArrayRef<ViewRef> views) {
  return llvm::map_to_vector(
      views, [](const ViewRef &view) -> const View * { return view.get(); });
}

/// The dimensions that occur in a map result that is not a single dimension.
llvm::SmallBitVector getSummedDims(AffineMap map);

/// The addresses that a map names in a view, at all points or at those listed;
/// false if they are not linear.
bool getAccess(const View &view, AffineMap map, Access &access,
               ArrayRef<ArrayRef<int64_t>> indexLists = {});

/// The address that any map names in a view. Dimensions that index it alone
/// are taken from `point`, those in `summed` from `shown`, which differ where
/// only some indices are evaluated. False with an error where it is out of
/// bounds.
bool getPointAddress(Run &run, Operation *op, const View &view, AffineMap map,
                     const llvm::SmallBitVector &summed,
                     ArrayRef<int64_t> point, ArrayRef<int64_t> shown,
                     int64_t &address);

/// Prepares a linalg op; null for one that cannot be evaluated.
std::unique_ptr<StructuredOp> makeStructuredOp(linalg::LinalgOp op,
                                               Scope &scope);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_LINALG_H
