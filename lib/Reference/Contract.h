//===- Contract.h - tessera.contract ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_CONTRACT_H
#define LIB_REFERENCE_CONTRACT_H

#include "Contraction.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::tessera::reference {

/// A tessera.contract, prepared.
struct ContractCode {
  Operation *op = nullptr;
  /// Of lhs, rhs, the output and the extras.
  SmallVector<AffineMap> maps;
  const Format *accumulator = nullptr;
  Conversion convertA, convertB;
  bool usesTf32 = false, mayUseTf32 = false;
  std::unique_ptr<Function> epilogue;
  /// The sums are the result, perhaps rounded.
  bool isPlain = false;

  bool getExtents(Run &run, ArrayRef<const View *> operands,
                  SmallVectorImpl<int64_t> &extents) const;
  /// Updates the output's view, `views[2]`.
  bool evaluate(Frame &frame, ArrayRef<ViewRef> views,
                std::optional<Number> init) const;
};

/// Null for one that cannot be evaluated.
std::unique_ptr<ContractCode> makeContractCode(Operation *op, Scope &scope);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_CONTRACT_H
