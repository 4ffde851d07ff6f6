//===- Nearest.h - The nearest matmul with a better row -----*- C++ -*-----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGETINFO_NEAREST_H
#define TARGETINFO_NEAREST_H

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// A matmul as a query for an instruction. Element types are named as in MLIR;
/// m, n and k are those of the fragments.
struct MatmulForm {
  std::string a, b, acc;
  Precision precision = Precision::Ieee;
  int64_t m = 0, n = 0, k = 0;
  /// The number of subgroups that own the fragments together.
  int64_t subgroups = 1;
  bool aInMemory = true, anyUnsigned = false;
};

/// A matmul for which the chip has a better instruction, and its differences.
struct NearestMatmul {
  /// The result of `selectInstruction` for `form`, which meets all of the
  /// instruction's requirements.
  const MatrixInstruction *row = nullptr;
  MatmulForm form;
  /// The changes as text: "signed operands", "operands of f16 (f32 here)".
  /// Types and options only.
  std::vector<std::string> changes;
  /// "fragments of a multiple of 16x8x16 (16x16x1 here)"; empty if they fit.
  std::string shape;
};

/// The matmul nearest to `form` whose instruction is better than `chosen`, or
/// than none: one of the matrix unit that precedes `chosen` in the chip's
/// table, or one of several subgroups. The cheapest change is one that an
/// option permits, followed by the shape of fragments, their subgroups, and the
/// types, by the number of mantissa bits that are lost or added; floats remain
/// floats, and integers integers. Among equally near matmuls, the one with the
/// best instruction is returned. If `chosen` is on the matrix unit, the types
/// do not change. Empty if there is none.
std::optional<NearestMatmul> findNearestMatmul(const Chip &chip,
                                               const MatmulForm &form,
                                               const MatrixInstruction *chosen);

/// `selectInstruction` with the types given by name.
const MatrixInstruction *
selectInstruction(const Chip &chip, const MatmulForm &form,
                  llvm::SmallVectorImpl<std::string> *why = nullptr);

} // namespace mlir::tessera

#endif // TARGETINFO_NEAREST_H
