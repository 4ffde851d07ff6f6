//===- Arrays.h - Arrays of other packages ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An argument is read in one of these ways, the first that applies:
//
//   NumPy      `__array_struct__`, a C structure
//   PyTorch    `__dlpack_c_exchange_api__`, C functions (PyTorch 2.10), or
//              attributes
//   CuPy       attributes
//   others     `__dlpack__`, or else `__cuda_array_interface__`
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PYTHON_ARRAYS_H
#define TESSERA_PYTHON_ARRAYS_H

#include "DLPack.h"
#include "Elements.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace tessera_python {

namespace nb = nanobind;

//===----------------------------------------------------------------------===//
// Python objects
//===----------------------------------------------------------------------===//

/// Returns an interned string, which lives as long as the interpreter. Keep it
/// in a static variable.
PyObject *intern(const char *text);

/// Return a new reference, or throw the Python exception.
nb::object checked(PyObject *reference);
nb::object getAttribute(PyObject *object, PyObject *name);
nb::object callMethod(PyObject *object, PyObject *name);

/// Returns `object.name` if there is such an attribute.
std::optional<nb::object> findAttribute(PyObject *object, const char *name);

/// Returns the module of a name if it is imported; a borrowed reference.
PyObject *findModule(PyObject *name);

/// Converts an address from or to Python's number.
void *toPointer(PyObject *number);

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

enum class ArrayKind {
  None,
  NumPy,
  Masked,
  Torch,
  CuPy,
  DLPack,
  CudaInterface
};

/// The type of a Python object that is an array.
struct ArrayType {
  ArrayKind kind = ArrayKind::None;
  /// The package's functions, or null.
  const dlpack::ExchangeTable *exchange = nullptr;
};

/// Returns the type of an object. It is remembered for the last types seen.
ArrayType classify(PyObject *value);

/// Sizes or strides.
class Dims {
public:
  size_t size() const { return rank; }
  int64_t *data() { return many ? many.get() : few; }
  const int64_t *data() const { return many ? many.get() : few; }
  int64_t &operator[](size_t dim) { return data()[dim]; }
  int64_t operator[](size_t dim) const { return data()[dim]; }
  void resize(size_t newRank) {
    if (newRank > kFew)
      many = std::make_unique<int64_t[]>(newRank);
    rank = newRank;
  }

private:
  static constexpr size_t kFew = 6;
  size_t rank = 0;
  int64_t few[kFew];
  std::unique_ptr<int64_t[]> many;
};

/// An array, described in C. The fields are valid as long as the object that it
/// was read from.
struct Array {
  ArrayType type;
  void *data = nullptr;
  /// The device that contains the memory; DLPack's CPU for any host memory.
  dlpack::DeviceKind device = dlpack::CPU;
  int ordinal = 0;
  ElementCode element = {};
  Dims sizes;
  /// In elements. Undefined if `isDense`.
  Dims strides;
  /// Whether it is dense and row-major.
  bool isDense = true;
  bool isReadOnly = false;
  /// The stream of a `__cuda_array_interface__`.
  std::optional<void *> stream;
  /// Keeps the memory of `__dlpack__` alive: it may belong to another object
  /// than the array.
  std::unique_ptr<nb::ndarray<>> owner;

  bool isOnDevice() const { return device != dlpack::CPU; }
};

/// States why an array cannot be passed.
class Unsupported : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Reads an array of type `type`; false if it is not an array. Throws
/// Unsupported. A tensor that requires a gradient is accepted only with
/// `acceptGradient`.
bool readArray(PyObject *value, ArrayType type, bool acceptGradient,
               Array &array);

/// Whether strides, in elements, describe a dense row-major array.
bool isDense(const Dims &sizes, const Dims &strides);

/// Returns the name of an array's element type, for messages: "float32".
std::string describeElement(PyObject *value, const Array &array);

/// Returns "cuda", "hip", or "" for the host.
const char *getTarget(dlpack::DeviceKind device);

/// Returns the current stream of the package of an array on a device, if the
/// package has streams.
std::optional<void *> getCurrentStream(const Array &array);

//===----------------------------------------------------------------------===//
// New arrays
//===----------------------------------------------------------------------===//

/// The sizes of a dense row-major array, and its strides in elements, as
/// tuples; null if they are not known.
struct Shape {
  nb::object sizes, strides;
};

/// Returns integers as a tuple.
nb::object makeTuple(const int64_t *values, size_t count);
Shape makeShape(const int64_t *sizes, size_t rank);

/// Allocates an array that the package of `kind` owns, and returns it and the
/// address of its first element. The memory is on `device`, and belongs to the
/// current stream there. `element` is a number of TesseraElementType.
std::pair<nb::object, void *> makeArray(ArrayKind kind, int element,
                                        const Shape &shape,
                                        dlpack::DeviceKind device, int ordinal);

/// Sets the module `tessera._arrays`, whose functions do what is rare.
void setHelpers(nb::object helpers);
nb::object getHelper(const char *name);

} // namespace tessera_python

#endif // TESSERA_PYTHON_ARRAYS_H
