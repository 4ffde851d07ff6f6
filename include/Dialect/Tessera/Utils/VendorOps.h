//===- VendorOps.h - Ops of vendors that lanes execute ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_VENDOROPS_H
#define DIALECT_TESSERA_UTILS_VENDOROPS_H

#include "TargetInfo/Chip.h"

#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// A matrix instruction of a vendor on values of lanes, acc + a * b:
/// `nvgpu.mma.sync`, `amdgpu.mfma` or `amdgpu.wmma`. Its operands are a, b and
/// acc.
struct LaneMatmul {
  /// The first part of the names of its family's rows.
  llvm::StringRef family;
  int64_t m, n, k;
  bool tf32 = false, unsignedA = false, unsignedB = false;
  /// The feature for which no row describes it; empty if one may.
  llvm::StringRef unsupported;
};

/// The number of elements of a lane's value, a vector or a scalar.
int64_t getNumLaneElements(Type type);

/// `op` as a matrix instruction, if it is one.
std::optional<LaneMatmul> getLaneMatmul(Operation *op);

/// The row of `chip` for a matrix instruction, or null.
const MatrixInstruction *findInstruction(const Chip &chip, Operation *op);

/// The row for a matrix instruction in the tables of the target that owns the
/// op, or null.
const MatrixInstruction *findOwnInstruction(Operation *op);

/// The size of the subgroups that a kernel with the vendor's op is written for.
int64_t getNumVendorLanes(Operation *op);

/// Whether `op` is a vendor's matrix instruction, tile load or asynchronous
/// copy that threads execute together, or a wait for such copies.
bool isVendorLaneOp(Operation *op);

/// Whether `chip` has the instruction of an `isVendorLaneOp`.
bool hasInstruction(const Chip &chip, Operation *op);

/// Whether code for `chip` has the vendor's op itself. The vendor's target
/// keeps forms that no table has: they are upstream's to lower or to reject.
/// The host's own chips execute all forms that they can.
bool keepsVendorOp(const Chip &chip, Operation *op);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_VENDOROPS_H
