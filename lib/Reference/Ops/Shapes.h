//===- Shapes.h - Shapes of memrefs and tensors -------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_SHAPES_H
#define LIB_REFERENCE_OPS_SHAPES_H

#include "../PreparedCode.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::tessera::reference {

/// The result is the source.
InstrPtr makeAlias(Slot source, Slot result);
/// The same, if the source has the shape of the type.
InstrPtr makeCheckedCast(Operation *op, ShapedType type, Slot source,
                         Slot result);
/// Memory that has not been written.
InstrPtr makeAllocation(Operation *op, const MixedList &sizes,
                        const Format *format, Slot result);
InstrPtr makeMemoryCopy(Operation *op, Slot source, Slot target);
/// One value to all elements.
InstrPtr makeFill(Operation *op, Slot target, Slot value);
InstrPtr makeDim(Operation *op, Slot source, Slot index, Slot result);
/// One element.
InstrPtr makeElementLoad(Operation *op, Slot source,
                         const SmallVector<Slot> &indices, Slot result);
/// The dimensions of `source`, each as the ones of its group in `sizes`.
InstrPtr makeExpand(Operation *op, Slot source, const MixedList &sizes,
                    const SmallVector<ReassociationIndices> &groups,
                    Slot result);
/// Groups of dimensions of `source` as one each.
InstrPtr makeCollapse(Operation *op, Slot source,
                      const SmallVector<ReassociationIndices> &groups,
                      Slot result);

/// The part of a memref or tensor that a slice names.
class Window {
public:
  /// `dropped` are the dimensions that the window does without.
  Window(Scope &scope, OffsetSizeAndStrideOpInterface op,
         llvm::SmallBitVector dropped);

  /// The window on `source`; null with an error where it is out of bounds.
  ViewRef get(const Frame &frame, const View &source) const;

private:
  Operation *op;
  MixedList offsets, sizes, strides;
  llvm::SmallBitVector dropped;
};

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_SHAPES_H
