//===- Nearest.h - What a better instruction would take ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TARGET_NEAREST_H
#define DIALECT_TESSERA_TARGET_NEAREST_H

#include "Dialect/Tessera/Target/Chip.h"

namespace mlir::tessera {

/// A product as instructions are asked for it. Element types are spelled as in
/// MLIR; m, n and k are the fragments'.
struct ProductForm {
  std::string a, b, acc;
  Precision precision = Precision::Ieee;
  int64_t m = 0, n = 0, k = 0;
  /// Subgroups that own the fragments together.
  int64_t subgroups = 1;
  bool aInMemory = true, anyUnsigned = false;
};

/// A product that a better instruction takes, and what it is otherwise.
struct NearestProduct {
  /// What `selectInstruction` chooses for `form`, which fulfils everything that
  /// it asks.
  const MatrixInstruction *row = nullptr;
  ProductForm form;
  /// In words: "--allow-tf32", "operands of f16 (f32 here)". Types and options.
  std::vector<std::string> changes;
  /// "fragments of a multiple of 16x8x16 (16x16x1 here)"; empty if they fit.
  std::string shape;
};

/// The product nearest to `form` that an instruction takes which is better than
/// `chosen`, or than none: one of the matrix unit that stands before `chosen`
/// in the chip's table, or one of several subgroups. Least is changed by what
/// an option permits, then come the shape of fragments, their subgroups, and
/// the types, by the bits of the mantissa that are lost or added; floats stay
/// floats, and integers integers. Of products as near, that of the best
/// instruction counts. Where `chosen` is on the matrix unit, types stay. Absent
/// if there is none.
std::optional<NearestProduct>
findNearestProduct(const Chip &chip, const ProductForm &form,
                   const MatrixInstruction *chosen);

/// `selectInstruction` by the spelling of types.
const MatrixInstruction *
selectInstruction(const Chip &chip, const ProductForm &form,
                  llvm::SmallVectorImpl<std::string> *why = nullptr);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TARGET_NEAREST_H
