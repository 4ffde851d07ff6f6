//===- VThreadUniformity.h - Uniformity over vthreads -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADUNIFORMITY_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADUNIFORMITY_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::tessera {

/// Whether `op` is executed once for all vthreads: a barrier, or a wait for
/// asynchronous copies.
bool isCollective(Operation *op);

/// The first collective op in `op`, itself included; null if there is none.
Operation *findCollective(Operation *op);

/// Which values in the region of a `tessera.vthread` all vthreads see alike,
/// and which of its loops and branches they take alike. A value is alike unless
/// it follows from an index, from private operands that differ, from memory
/// allocated inside or from an op of unknown effects.
class VThreadUniformity {
public:
  /// `shareFragments`, for tests: fragments are alike, right or wrong.
  explicit VThreadUniformity(VThreadOp op, bool shareFragments = false);

  bool isUniform(Value value) const { return !divergent.contains(value); }
  /// Whether one copy of `op` serves all vthreads: it only computes and reads,
  /// from values that are alike.
  bool isUniform(Operation *op) const;
  /// Whether an operand of `op`, a region branch or a terminator, or a value
  /// that it is forwarded to, differs between vthreads: each needs its own.
  bool isForwardedDivergent(OpOperand &operand,
                            const RegionBranchSuccessorMapping &mapping) const;
  /// The operand of `op` or of a terminator in it that decides where control
  /// goes, and differs; null if all vthreads take the same way.
  OpOperand *findDivergentControl(RegionBranchOpInterface op) const;

private:
  void visit(Operation *op);
  void visitBranch(RegionBranchOpInterface op);
  void mark(Value value);
  void markAll(ValueRange values) {
    for (Value value : values)
      mark(value);
  }

  Region &body;
  bool shareFragments;
  bool changed = false;
  llvm::DenseSet<Value> divergent;
};

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_VTHREADUNIFORMITY_H
