//===- LaneElements.h - The contents of lanes' registers --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LANEMATMULTOTESSERA_LANEELEMENTS_H
#define LIB_CONVERSION_LANEMATMULTOTESSERA_LANEELEMENTS_H

#include "LaneForm.h"

#include <deque>
#include <string>

namespace mlir::tessera {

/// The first condition that a kernel does not meet.
struct Obstacle {
  Operation *op = nullptr;
  std::string text;

  /// Keeps the first one.
  LogicalResult set(Operation *at, const llvm::Twine &what) {
    if (!op) {
      op = at;
      text = what.str();
    }
    return failure();
  }
};

/// An element of a vector of a lane, or a scalar.
struct LaneElement {
  enum Kind {
    /// The same constant in all lanes.
    Constant,
    /// A scalar value that all lanes have alike.
    Uniform,
    /// An element of memory: `op` loads it.
    Loaded,
    /// Element `number` of `value`: the result of a matrix instruction, or a
    /// value that a loop carries.
    Part,
    /// The result of an element-wise op of other elements.
    Computed
  } kind;
  TypedAttr constant = {};
  Value value = {};
  int64_t number = 0;
  Operation *op = nullptr;
  /// The indices of each lane.
  SmallVector<LaneForm> indices = {};
  bool inBounds = true;
  SmallVector<const LaneElement *> operands = {};
  Type type = {};
};

/// An access of each lane to memory: the indices of each of its elements.
struct LaneAccess {
  Operation *op;
  Value memory;
  SmallVector<SmallVector<LaneForm>> elements;
  bool inBounds = true;
};

/// Finds out which elements the values of a kernel have.
class LaneElements {
public:
  LaneElements(LaneForms &forms, Obstacle &obstacle)
      : forms(forms), obstacle(obstacle) {}

  /// The elements of a vector, or of a scalar, in row-major order.
  FailureOr<ArrayRef<const LaneElement *>> get(Value value);

  /// The access of a load or a store.
  FailureOr<LaneAccess> getAccess(Operation *op);

private:
  using Elements = SmallVector<const LaneElement *>;

  FailureOr<Elements> evaluate(Value value);
  FailureOr<Elements> evaluateOp(Value value);
  FailureOr<Elements> evaluateComputed(Operation *op);
  FailureOr<LaneAccess> getLdMatrixAccess(Operation *op);
  const LaneElement *make(LaneElement element) {
    all.push_back(std::move(element));
    return &all.back();
  }
  Elements makeParts(Value value);

  LaneForms &forms;
  Obstacle &obstacle;
  std::deque<LaneElement> all;
  llvm::DenseMap<Value, Elements> known;
};

/// Whether two elements are computed alike, but for the memory and the
/// registers that they come from.
bool isSameOp(const LaneElement &a, const LaneElement &b);

/// Whether two values may be views of the same memory. Different arguments of
/// the program are assumed not to be.
bool mayShareMemory(Value a, Value b, gpu::LaunchOp launch);

/// The value that a store stores.
Value getStoredValue(Operation *op);

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LANEMATMULTOTESSERA_LANEELEMENTS_H
