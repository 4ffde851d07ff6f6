//===- Epilogue.h - The epilogue on fragments -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_TESSERA_TRANSFORMS_EPILOGUE_H
#define LIB_DIALECT_TESSERA_TRANSFORMS_EPILOGUE_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tessera {

/// Computes the epilogue of one contraction, a program of scalars, on the
/// fragments of one tile. A value of it is known as
/// - a fragment of the tile's shape,
/// - a column of it, where it is the same for all of a row,
/// - a scalar, where it is the same everywhere.
class EpilogueEmitter {
public:
  /// For tiles of `shape`. A row ends after `rowLength` columns; `nullopt` if
  /// all columns of a tile belong to it.
  EpilogueEmitter(Block &epilogue, std::array<int64_t, 2> shape,
                  std::optional<int64_t> rowLength,
                  ImplicitLocOpBuilder &builder)
      : epilogue(epilogue), shape(shape), rowLength(rowLength),
        builder(builder) {}

  /// Sets the fragment of an argument, first of all of the accumulator.
  void setElements(Value argument, Value fragment) {
    elements[argument] = fragment;
  }
  void setColumn(Value argument, Value fragment) {
    columns[argument] = fragment;
  }
  void setScalar(Value argument, Value scalar) { scalars[argument] = scalar; }

  /// The value that the epilogue yields: a column if `asColumn` and it is one.
  Value emit(bool asColumn);

private:
  /// Whether `value` is the same for all of a row, and a reduction made it so.
  bool isColumn(Value value);
  void emitReduction(RowReduceOp op);
  /// `value` as a fragment of the tile's shape. With `neutral`, the columns
  /// beyond the end of a row are that element.
  Value emitElements(Value value, TypedAttr neutral = {});
  Value emitColumn(Value value);
  /// One tessera.map that computes `value` from `inputs`.
  Value emitMap(Value value, const llvm::MapVector<Value, Value> &inputs,
                const llvm::SetVector<Operation *> &ops, int64_t cols,
                TypedAttr neutral);
  FragmentType getType(Type element, int64_t cols) const;

  Block &epilogue;
  std::array<int64_t, 2> shape;
  std::optional<int64_t> rowLength;
  ImplicitLocOpBuilder &builder;
  llvm::MapVector<Value, Value> elements, columns;
  DenseMap<Value, Value> scalars;
  DenseMap<Value, bool> isKnownColumn;
};

} // namespace mlir::tessera

#endif // LIB_DIALECT_TESSERA_TRANSFORMS_EPILOGUE_H
