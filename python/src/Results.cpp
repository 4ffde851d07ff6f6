//===- Results.cpp - The results of a call --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results.h"

#include "Errors.h"

#include <algorithm>
#include <cstring>

using namespace tessera_python;

int64_t tessera_python::countElements(const int64_t *sizes, size_t rank) {
  int64_t product = 1;
  for (size_t dim = 0; dim < rank; ++dim)
    product *= sizes[dim];
  return product;
}

/// Bytes of an array.
static size_t countBytes(int element, const int64_t *sizes, size_t rank) {
  auto count = static_cast<size_t>(countElements(sizes, rank));
  return (kElements[element].code.bits * count + 7) / 8;
}

static nb::object makeScalar(int element, const Scalar &scalar) {
  auto integer = [&](auto zero) {
    std::memcpy(&zero, scalar.bytes, sizeof(zero));
    return checked(PyLong_FromLongLong(zero));
  };
  switch (element) {
  case TESSERA_F32: {
    float value;
    std::memcpy(&value, scalar.bytes, sizeof(value));
    return checked(PyFloat_FromDouble(value));
  }
  case TESSERA_F64: {
    double value;
    std::memcpy(&value, scalar.bytes, sizeof(value));
    return checked(PyFloat_FromDouble(value));
  }
  case TESSERA_I1:
    return nb::bool_(scalar.bytes[0] != 0);
  case TESSERA_I8:
    return integer(int8_t());
  case TESSERA_U8:
    return integer(uint8_t());
  case TESSERA_I16:
    return integer(int16_t());
  case TESSERA_I32:
    return integer(int32_t());
  case TESSERA_I64:
  case TESSERA_INDEX:
    return integer(int64_t());
  default:
    return getHelper("unpack_scalar")(
        element, nb::bytes(scalar.bytes, sizeof(scalar.bytes)));
  }
}

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

namespace {
/// Keeps Python's garbage collection from running: it could destroy objects of
/// the device that the run has locked.
class CollectionPause {
public:
  CollectionPause() : collector(nb::module_::import_("gc")) {
    if (depth++ == 0) {
      wasEnabled = nb::cast<bool>(collector.attr("isenabled")());
      collector.attr("disable")();
    }
  }
  ~CollectionPause() {
    if (--depth == 0 && wasEnabled)
      collector.attr("enable")();
  }
  CollectionPause(const CollectionPause &) = delete;
  CollectionPause &operator=(const CollectionPause &) = delete;

private:
  // Several threads may allocate at a time; Python's lock guards these.
  static int depth;
  static bool wasEnabled;
  nb::module_ collector;
};

int CollectionPause::depth = 0;
bool CollectionPause::wasEnabled = false;
} // namespace

void Results::make(size_t index, const Shape &shape) {
  Result &result = results[index];
  int element = slots[index].element;
  if (position.stream.is_valid()) {
    // The allocator must know the stream of the memory.
    result.array = getHelper("empty_in_stream")(
        kind == ArrayKind::Torch, shape.sizes, element, position.stream,
        position.ordinal);
    Array array;
    readArray(result.array.ptr(), classify(result.array.ptr()),
              /*acceptGradient=*/true, array);
    result.data = array.data;
    return;
  }
  std::tie(result.array, result.data) =
      makeArray(kind, element, shape, position.device, position.ordinal);
}

/// Whether an array that was made before the run has the sizes that it needs.
bool Results::hasArrayOfSizes(size_t index, const int64_t *sizes) const {
  const std::vector<int64_t> &known = (*shapes)[index].sizes;
  return results[index].array.is_valid() &&
         std::equal(known.begin(), known.end(), sizes);
}

void *Results::allocate(void *context, const TesseraAllocation *request) {
  auto &own = *static_cast<Results *>(context);
  size_t index = request->result;
  // Without Python's lock if it is there.
  if (own.hasArrayOfSizes(index, request->sizes))
    return own.results[index].data;
  nb::gil_scoped_acquire lock;
  try {
    CollectionPause pause;
    own.results[index].array.reset();
    own.make(index, makeShape(request->sizes, request->rank));
    return own.results[index].data;
  } catch (...) {
    own.failure = std::current_exception();
    return nullptr;
  }
}

void Results::release(void *, void *, const TesseraAllocation *) {
  // The arrays are released after the run, with Python's lock.
}

Results::Results(const std::vector<Slot> &slots, KnownShapes knownShapes,
                 ArrayKind kind, const CallPlace &position)
    : slots(slots), shapes(std::move(knownShapes)), kind(kind),
      position(position), results(slots.size()), wanted(slots.size()),
      allocator{sizeof(TesseraAllocator), allocate, release, this} {
  bool onDevice = position.device != dlpack::CPU;
  usesAllocator = onDevice && kind != ArrayKind::None;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot &slot = slots[i];
    Result &result = results[i];
    if (slot.isScalar()) {
      wanted[i] = {0, result.scalar.bytes, sizeof(result.scalar.bytes), nullptr,
                   nullptr};
      continue;
    }
    result.sizes.resize(slot.shape.size());
    wanted[i] = {1, nullptr, 0, result.sizes.data(), nullptr};
    const KnownShape &known = (*shapes)[i];
    if (!known.shape.sizes.is_valid() ||
        (onDevice ? !usesAllocator : !slot.hasStaticShape()))
      continue;
    make(i, known.shape);
    if (!onDevice)
      wanted[i] = {
          0, result.data,
          countBytes(slot.element, known.sizes.data(), known.sizes.size()),
          result.sizes.data(), nullptr};
  }
}

Results::~Results() {
  for (TesseraResult &result : wanted)
    if (result.buffer)
      Buffer().handle.reset(result.buffer);
}

void Results::rethrow() const {
  if (failure)
    std::rethrow_exception(failure);
}

//===----------------------------------------------------------------------===//
// After the run
//===----------------------------------------------------------------------===//

/// The memory of a buffer as an array that others take by DLPack.
static nb::object toDLPack(Buffer buffer, int element, const Dims &sizes,
                           dlpack::DeviceKind device, int ordinal) {
  ElementCode code = kElements[element].code;
  std::vector<size_t> own(sizes.data(), sizes.data() + sizes.size());
  void *pointer = tesseraBufferGetPointer(buffer.handle.get());
  nb::object owner = nb::cast(std::move(buffer));
  nb::ndarray<nb::array_api> array(
      pointer, own.size(), own.data(), owner, /*strides=*/nullptr,
      nb::dlpack::dtype{code.code, code.bits, 1}, device, ordinal);
  return nb::cast(std::move(array));
}

nb::object Results::finish(size_t index) {
  const Slot &slot = slots[index];
  Result &result = results[index];
  if (slot.isScalar())
    return makeScalar(slot.element, result.scalar);
  Buffer buffer;
  buffer.handle.reset(std::exchange(wanted[index].buffer, nullptr));
  if (position.device != dlpack::CPU && !usesAllocator)
    return toDLPack(std::move(buffer), slot.element, result.sizes,
                    position.device, position.ordinal);
  size_t rank = result.sizes.size();
  bool isMade = usesAllocator && wanted[index].data;
  if (!isMade && !hasArrayOfSizes(index, result.sizes.data())) {
    // It has no elements, or is on the host and of a dynamic size.
    make(index, makeShape(result.sizes.data(), rank));
    size_t bytes = countBytes(slot.element, result.sizes.data(), rank);
    if (buffer.handle && bytes != 0)
      call([&] {
        return tesseraBufferRead(buffer.handle.get(), 0, result.data, bytes);
      });
  }
  return std::move(result.array);
}

nb::object Results::finish() {
  if (slots.empty())
    return nb::none();
  if (slots.size() == 1)
    return finish(0);
  nb::object tuple = checked(PyTuple_New(slots.size()));
  for (size_t i = 0; i < slots.size(); ++i)
    if (PyTuple_SetItem(tuple.ptr(), i, finish(i).release().ptr()) < 0)
      throw nb::python_error();
  return tuple;
}
