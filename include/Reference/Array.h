//===- Array.h - Arrays of the reference interpreter ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs and outputs of the reference interpreter: dense arrays of double
// (for any floating-point element type) or int64_t (for any integer or index
// type), each element with a bound on the error that a correct program may show
// there.
//
//===----------------------------------------------------------------------===//

#ifndef REFERENCE_ARRAY_H
#define REFERENCE_ARRAY_H

#include "mlir/IR/Types.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <cstdint>
#include <memory>

namespace mlir::tessera::reference {

/// The elements of one or more arrays. The error bounds and the record of which
/// elements were written exist only once somebody needs them, and may be asked
/// for by several threads at a time.
class Storage : public llvm::ThreadSafeRefCountedBase<Storage> {
public:
  /// The elements are not initialized.
  Storage(bool isFloat, int64_t size);
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  bool isFloat() const { return doubles != nullptr; }
  int64_t size() const { return count; }

  double *floats() { return doubles.get(); }
  const double *floats() const { return doubles.get(); }
  int64_t *integers() { return ints.get(); }
  const int64_t *integers() const { return ints.get(); }

  /// Null where all bounds are zero.
  double *errors() const { return errorBounds.load(std::memory_order_acquire); }
  double *ensureErrors();

  /// Null unless writes are recorded; else 1 for each element written.
  uint8_t *written() const { return writes.get(); }
  /// Records writes from now on.
  void recordWrites();

private:
  int64_t count;
  std::unique_ptr<double[]> doubles;
  std::unique_ptr<int64_t[]> ints;
  std::atomic<double *> errorBounds{nullptr};
  std::unique_ptr<uint8_t[]> writes;
};

/// A dense row-major array. Copies share the elements; `clone` does not. A
/// scalar is an array of rank 0.
struct Array {
  Type elementType;
  SmallVector<int64_t> shape;
  llvm::IntrusiveRefCntPtr<Storage> storage;

  /// Whether arrays of this element type can be: floating-point types up to 64
  /// bits, integers up to 64 bits, index.
  static bool isSupported(Type elementType);

  /// An array of zeros.
  static Array zeros(Type elementType, ArrayRef<int64_t> shape);
  /// A scalar; `value` is converted to the type.
  static Array scalar(Type type, double value);
  static Array scalar(Type type, int64_t value);

  /// From elements in memory as devices keep them (index is 64 bits wide, i1
  /// one byte, two of i4 in a byte with the first in the low bits). Fails when
  /// the size does not fit, or for other element types that do not fill whole
  /// bytes.
  static FailureOr<Array> decode(Type elementType, ArrayRef<int64_t> shape,
                                 ArrayRef<char> bytes);
  /// The opposite, rounding each element to the type.
  FailureOr<SmallVector<char>> encode() const;

  Array clone() const;

  bool isFloat() const { return storage->isFloat(); }
  int64_t getNumElements() const { return storage->size(); }
  MutableArrayRef<double> floats() const {
    return {storage->floats(), static_cast<size_t>(storage->size())};
  }
  MutableArrayRef<int64_t> integers() const {
    return {storage->integers(), static_cast<size_t>(storage->size())};
  }
  /// Element `index` in row-major order.
  double getDouble(int64_t index) const {
    return isFloat() ? storage->floats()[index]
                     : static_cast<double>(storage->integers()[index]);
  }
  /// How far a correct program's element `index` may be from this one, before
  /// it is rounded to the element type; infinite where there is no bound.
  double getError(int64_t index) const {
    const double *errors = storage->errors();
    return errors ? errors[index] : 0.0;
  }
};

} // namespace mlir::tessera::reference

#endif // REFERENCE_ARRAY_H
