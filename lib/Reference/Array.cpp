//===- Array.cpp - Arrays of the reference interpreter --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Array.h"

#include "Numeric.h"
#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Storage::Storage(bool isFloat, int64_t size) : count(size) {
  if (isFloat)
    doubles.reset(new double[size]);
  else
    ints.reset(new int64_t[size]);
}

Storage::~Storage() { delete[] errorBounds.load(std::memory_order_relaxed); }

double *Storage::ensureErrors() {
  if (double *present = errors())
    return present;
  auto *fresh = new double[count]();
  double *expected = nullptr;
  if (errorBounds.compare_exchange_strong(expected, fresh,
                                          std::memory_order_acq_rel))
    return fresh;
  delete[] fresh;
  return expected;
}

void Storage::recordWrites() { writes.reset(new uint8_t[count]()); }

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

bool Array::isSupported(Type elementType) {
  return Format::get(elementType) != nullptr;
}

Array Array::zeros(Type elementType, ArrayRef<int64_t> shape) {
  Array array;
  array.elementType = elementType;
  array.shape.assign(shape.begin(), shape.end());
  bool isFloat = isa<FloatType>(elementType);
  int64_t size = product(shape);
  array.storage = llvm::makeIntrusiveRefCnt<Storage>(isFloat, size);
  if (isFloat)
    std::fill_n(array.storage->floats(), size, 0.0);
  else
    std::fill_n(array.storage->integers(), size, 0);
  return array;
}

Array Array::scalar(Type type, double value) {
  Array array = zeros(type, {});
  if (array.isFloat())
    array.storage->floats()[0] = value;
  else
    array.storage->integers()[0] = static_cast<int64_t>(value);
  return array;
}

Array Array::scalar(Type type, int64_t value) {
  Array array = zeros(type, {});
  if (array.isFloat())
    array.storage->floats()[0] = static_cast<double>(value);
  else
    array.storage->integers()[0] = value;
  return array;
}

Array Array::clone() const {
  Array copy;
  copy.elementType = elementType;
  copy.shape = shape;
  int64_t size = storage->size();
  copy.storage = llvm::makeIntrusiveRefCnt<Storage>(isFloat(), size);
  if (isFloat())
    std::copy_n(storage->floats(), size, copy.storage->floats());
  else
    std::copy_n(storage->integers(), size, copy.storage->integers());
  if (const double *errors = storage->errors())
    std::copy_n(errors, size, copy.storage->ensureErrors());
  return copy;
}

/// Bytes of an element in a device's memory; 0 where elements share bytes.
static unsigned getElementBytes(const Format &format) {
  if (format.width == 1)
    return 1;
  return format.width % 8 == 0 ? format.width / 8 : 0;
}

/// Whether two elements share a byte in a device's memory.
static bool isPacked(const Format &format) {
  return !format.isFloat && format.width == 4;
}

template <typename T> static T readAs(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// The number that the narrow floating-point pattern `bits` stands for.
static double decodeNarrow(const Format &format, uint64_t bits) {
  llvm::APFloat value(*format.semantics, llvm::APInt(format.width, bits));
  return value.convertToDouble();
}

FailureOr<Array> Array::decode(Type elementType, ArrayRef<int64_t> shape,
                               ArrayRef<char> bytes) {
  const Format *format = Format::get(elementType);
  if (!format)
    return failure();
  unsigned size = getElementBytes(*format);
  int64_t count = product(shape);
  if (isPacked(*format)) {
    if (bytes.size() != static_cast<size_t>(count + 1) / 2)
      return failure();
    Array array = zeros(elementType, shape);
    int64_t *values = array.storage->integers();
    for (int64_t i = 0; i < count; ++i)
      values[i] = format->wrap(bytes[i / 2] >> (i % 2 * 4));
    return array;
  }
  if (size == 0 || bytes.size() != static_cast<size_t>(count) * size)
    return failure();
  Array array = zeros(elementType, shape);
  const char *data = bytes.data();
  if (!format->isFloat) {
    int64_t *values = array.storage->integers();
    for (int64_t i = 0; i < count; ++i) {
      uint64_t bits = 0;
      std::memcpy(&bits, data + i * size, size);
      values[i] = format->wrap(static_cast<int64_t>(bits));
    }
    return array;
  }
  double *values = array.storage->floats();
  if (size == 8) {
    std::memcpy(values, data, bytes.size());
  } else if (elementType.isF32()) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = readAs<float>(data + i * 4);
  } else if (size <= 2) {
    // Few enough patterns to look each of them up.
    SmallVector<double, 0> table(size_t(1) << format->width);
    for (size_t bits = 0; bits < table.size(); ++bits)
      table[bits] = decodeNarrow(*format, bits);
    for (int64_t i = 0; i < count; ++i)
      values[i] = size == 1 ? table[readAs<uint8_t>(data + i)]
                            : table[readAs<uint16_t>(data + i * 2)];
  } else {
    return failure();
  }
  return array;
}

FailureOr<SmallVector<char>> Array::encode() const {
  const Format *format = Format::get(elementType);
  if (!format)
    return failure();
  unsigned size = getElementBytes(*format);
  int64_t count = getNumElements();
  if (isPacked(*format)) {
    SmallVector<char> bytes(static_cast<size_t>(count + 1) / 2);
    for (int64_t i = 0; i < count; ++i)
      bytes[i / 2] |=
          static_cast<char>((storage->integers()[i] & 15) << (i % 2 * 4));
    return bytes;
  }
  if (size == 0)
    return failure();
  SmallVector<char> bytes(static_cast<size_t>(count) * size);
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits;
    if (format->isFloat) {
      llvm::APFloat value(storage->floats()[i]);
      bool losesInfo;
      value.convert(*format->semantics, llvm::APFloat::rmNearestTiesToEven,
                    &losesInfo);
      bits = value.bitcastToAPInt().getZExtValue();
    } else {
      bits = static_cast<uint64_t>(storage->integers()[i]);
    }
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}
