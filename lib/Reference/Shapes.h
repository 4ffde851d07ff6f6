//===- Shapes.h - What memrefs and tensors have in common -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_SHAPES_H
#define LIB_REFERENCE_SHAPES_H

#include "Code.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallBitVector.h"

namespace mlir::tessera::reference {

/// The result is the source.
InstrPtr makeAlias(Slot source, Slot result);
/// The same, if the source has the shape of the type.
InstrPtr makeCheckedCast(Operation *op, ShapedType type, Slot source,
                         Slot result);
/// Memory that nobody wrote yet.
InstrPtr makeAllocation(Operation *op, const MixedList &sizes,
                        const Format *format, Slot result);
InstrPtr makeMemoryCopy(Operation *op, Slot source, Slot target);
InstrPtr makeDim(Operation *op, Slot source, Slot index, Slot result);

/// Whether a window lies in a shape; else an error.
bool checkWindow(Run &run, Operation *op, ArrayRef<int64_t> shape,
                 ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes,
                 ArrayRef<int64_t> strides);
/// The window, without the dropped dimensions.
ViewRef makeWindow(const View &source, ArrayRef<int64_t> offsets,
                   ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                   const llvm::SmallBitVector &dropped);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_SHAPES_H
