//===- Contract.h - tessera.contract ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_CONTRACT_H
#define LIB_REFERENCE_OPS_CONTRACT_H

#include "../Kernels/ContractionLoops.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::tessera::reference {

/// A tessera.contract, prepared.
struct ContractCode {
  Operation *op = nullptr;
  /// The maps of lhs, rhs, the output, the extras, the inputs of lhs and those
  /// of rhs.
  SmallVector<AffineMap> maps;
  unsigned numExtras = 0;
  /// Computes an element of lhs (rhs) from those of the operand and of its
  /// inputs; null for the identity.
  std::unique_ptr<Function> producers[2];
  const Format *factorFormats[2] = {};
  /// The first of the inputs of lhs and rhs among the operands, and the last.
  unsigned firstInput[3] = {};
  const Format *accumulator = nullptr;
  Conversion convertA, convertB;
  bool usesTf32 = false, mayUseTf32 = false;
  std::unique_ptr<Function> epilogue;
  /// The dimensions that the epilogue reduces: N, where it has a row_reduce.
  SmallVector<unsigned> rowDims;
  /// The index map of the sums: the output's map, followed by the reduced
  /// dimensions that the output lacks.
  AffineMap sumMap;
  /// The sums are the result, perhaps rounded.
  bool isPlain = false;

  bool getExtents(Run &run, ArrayRef<const View *> operands,
                  SmallVectorImpl<int64_t> &extents,
                  ArrayRef<ArrayRef<int64_t>> indexLists = {}) const;
  /// Updates the output's view, `views[2]`. Index lists are as for
  /// `StructuredOp::evaluate`.
  bool evaluate(Frame &frame, ArrayRef<ViewRef> views,
                std::optional<Number> init,
                ArrayRef<ArrayRef<int64_t>> indexLists = {}) const;
  /// Fills in the factors of the contraction. `owned` keeps alive the values
  /// that they need in addition to the operands.
  bool setFactors(Frame &frame, ArrayRef<ViewRef> views,
                  ArrayRef<int64_t> extents,
                  ArrayRef<ArrayRef<int64_t>> indexLists,
                  Contraction &contraction,
                  SmallVectorImpl<ViewRef> &owned) const;

private:
  bool runEpilogue(Frame &frame, ArrayRef<Access> accesses,
                   ArrayRef<int64_t> extents) const;
  bool runRowEpilogue(Frame &frame, ArrayRef<Access> accesses,
                      ArrayRef<int64_t> extents) const;
  ViewRef produce(Frame &frame, unsigned side, ArrayRef<ViewRef> views,
                  ArrayRef<int64_t> extents,
                  ArrayRef<ArrayRef<int64_t>> indexLists, Access &access) const;
};

/// Null for one that cannot be evaluated.
std::unique_ptr<ContractCode> makeContractCode(Operation *op, Scope &scope);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_CONTRACT_H
