//===- SubgroupMatrix.h - Matrix values of a subgroup -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_SUBGROUPMATRIX_H
#define LIB_REFERENCE_OPS_SUBGROUPMATRIX_H

#include "../Kernels/ContractionLoops.h"

namespace mlir::tessera::reference {

/// accumulator + a * b, all dense.
struct MatrixMultiply {
  const View *a = nullptr, *b = nullptr, *accumulator = nullptr;
  Conversion convertA, convertB;
  const Format *arithmetic = nullptr;
  bool tf32 = false;
};

/// Null with an error.
ViewRef multiplyMatrices(Run &run, Operation *op, const MatrixMultiply &matmul);

/// The matmul of the views in the first two slots, plus that in the third one,
/// if there is one. The result has the format and the shape given.
InstrPtr makeMatmul(Operation *op, ArrayRef<Slot> operands, Slot result,
                    const Format &format, ArrayRef<int64_t> shape);

/// An instruction in which threads with the same operands get the same result:
/// it runs in the first of their frames, and the others copy what it made.
template <typename F>
InstrPtr makeShared(ArrayRef<Slot> views, ArrayRef<Slot> numbers,
                    std::optional<Slot> result, const F &function) {
  SmallVector<Slot> shared(views), scalars(numbers);
  return makeCollective([=](ArrayRef<Frame *> frames) {
    // The operands as they were, and the frame that ran with them. A result may
    // take the place of an operand's slot, never of a live one.
    Frame *last = nullptr;
    for (Frame *frame : frames) {
      bool isSame = last != nullptr;
      for (Slot slot : shared)
        isSame = isSame && frame->view(slot) == last->view(slot);
      for (Slot slot : scalars)
        isSame = isSame && frame->integer(slot) == last->integer(slot) &&
                 frame->number(slot).error == last->number(slot).error;
      if (isSame) {
        if (result)
          frame->view(*result) = last->view(*result);
        continue;
      }
      if (!function(*frame))
        return false;
      last = frame;
    }
    return true;
  });
}

/// All elements are the value.
inline InstrPtr makeFilled(const Format &format, ArrayRef<int64_t> shape,
                           Slot value, Slot result) {
  SmallVector<int64_t, 2> sizes(shape);
  const Format *element = &format;
  return makeShared({}, {value}, result, [=](Frame &frame) {
    ViewRef matrix = View::make(*element, sizes);
    matrix->fill(frame.number(value));
    frame.view(result) = std::move(matrix);
    return true;
  });
}

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_SUBGROUPMATRIX_H
