//===- Arrays.cpp - Arrays of other packages ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace tessera_python;

//===----------------------------------------------------------------------===//
// Python objects
//===----------------------------------------------------------------------===//

PyObject *tessera_python::intern(const char *text) {
  return PyUnicode_InternFromString(text);
}

nb::object tessera_python::checked(PyObject *reference) {
  if (!reference)
    throw nb::python_error();
  return nb::steal(reference);
}

nb::object tessera_python::getAttribute(PyObject *object, PyObject *name) {
  return checked(PyObject_GetAttr(object, name));
}

nb::object tessera_python::callMethod(PyObject *object, PyObject *name) {
  PyObject *arguments[] = {nullptr, object};
  return checked(PyObject_VectorcallMethod(
      name, arguments + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

std::optional<nb::object> tessera_python::findAttribute(PyObject *object,
                                                        const char *name) {
  PyObject *attribute = PyObject_GetAttrString(object, name);
  if (attribute)
    return nb::steal(attribute);
  if (!PyErr_ExceptionMatches(PyExc_AttributeError))
    throw nb::python_error();
  PyErr_Clear();
  return std::nullopt;
}

PyObject *tessera_python::findModule(PyObject *name) {
  return PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
}

void *tessera_python::toPointer(PyObject *number) {
  unsigned long long address = PyLong_AsUnsignedLongLong(number);
  if (address == static_cast<unsigned long long>(-1) && PyErr_Occurred())
    throw nb::python_error();
  return reinterpret_cast<void *>(static_cast<uintptr_t>(address));
}

static int64_t toInteger(PyObject *number) {
  long long value = PyLong_AsLongLong(number);
  if (value == -1 && PyErr_Occurred())
    throw nb::python_error();
  return value;
}

/// Reads a tuple, or another sequence, of integers.
static void readDims(PyObject *sequence, Dims &dims) {
  nb::object tuple = checked(PySequence_Tuple(sequence));
  dims.resize(nb::len(tuple));
  for (size_t dim = 0; dim < dims.size(); ++dim)
    dims[dim] = toInteger(PyTuple_GetItem(tuple.ptr(), dim));
}

static bool isTrue(const nb::object &object) {
  int truth = PyObject_IsTrue(object.ptr());
  if (truth < 0)
    throw nb::python_error();
  return truth != 0;
}

static bool isSubclass(PyObject *type, PyObject *base) {
  int answer = PyObject_IsSubclass(type, base);
  if (answer < 0)
    throw nb::python_error();
  return answer != 0;
}

static nb::object &helpers() {
  // It lives as long as the interpreter.
  static auto *module = new nb::object;
  return *module;
}

void tessera_python::setHelpers(nb::object module) {
  helpers() = std::move(module);
}

nb::object tessera_python::getHelper(const char *name) {
  return helpers().attr(name);
}

namespace {
/// Remembers a value for each of the last few objects, which it keeps alive:
/// types and element types, of which a program uses few.
template <typename Value, size_t size> class Memory {
public:
  const Value *find(PyObject *object) const {
    for (const Entry &entry : entries)
      if (entry.object == object)
        return &entry.value;
    return nullptr;
  }
  const Value &add(PyObject *object, Value value) {
    Entry &entry = entries[next];
    next = (next + 1) % size;
    Py_INCREF(object);
    PyObject *old = entry.object;
    entry = {object, std::move(value)};
    Py_XDECREF(old);
    return entry.value;
  }

private:
  struct Entry {
    PyObject *object = nullptr;
    Value value = {};
  };
  Entry entries[size];
  size_t next = 0;
};

//===----------------------------------------------------------------------===//
// Packages
//===----------------------------------------------------------------------===//

/// The functions and classes of NumPy, which is always imported.
struct NumPy {
  nb::object arrayClass, maskedClass, typeClass, empty;

  static const NumPy &get() {
    static auto *own = [] {
      nb::module_ numpy = nb::module_::import_("numpy");
      return new NumPy{numpy.attr("ndarray"),
                       numpy.attr("ma").attr("MaskedArray"),
                       numpy.attr("dtype"), numpy.attr("empty")};
    }();
    return *own;
  }
};

/// The functions of PyTorch or CuPy, if they are imported. A module that
/// replaces another in `sys.modules` is looked up again.
struct Package {
  PyObject *module = nullptr;
  nb::object empty;
  /// PyTorch's functions of sizes, strides and type that skip what
  /// `torch.empty` does for other arguments; the second one allocates on the
  /// current GPU. Null if this version lacks them.
  nb::object emptyOnHost, emptyOnCurrent;
  /// PyTorch's function that returns the number of the current GPU.
  nb::object currentDevice;
  /// The number of GPUs that PyTorch sees, once used.
  std::optional<int> numDevices;
  /// The element types, by the numbers of TesseraElementType, once used.
  std::array<nb::object, kElements.size()> types;
  /// PyTorch's function that returns the handle of the current stream.
  nb::object currentRawStream;
  bool isHip = false;
};
} // namespace

static PyObject *torchName() {
  static PyObject *const name = intern("torch");
  return name;
}

static PyObject *cupyName() {
  static PyObject *const name = intern("cupy");
  return name;
}

static Package &getTorch() {
  static auto *own = new Package;
  PyObject *module = findModule(torchName());
  if (!module)
    throw Unsupported("PyTorch is not imported");
  if (own->module == module)
    return *own;
  Package found;
  Py_INCREF(module);
  found.module = module;
  if (auto empty = findAttribute(module, "empty"))
    found.empty = *empty;
  if (auto internals = findAttribute(module, "_C")) {
    if (auto stream =
            findAttribute(internals->ptr(), "_cuda_getCurrentRawStream"))
      found.currentRawStream = *stream;
    if (auto device = findAttribute(internals->ptr(), "_cuda_getDevice"))
      found.currentDevice = *device;
    // The functions that code of torch.compile allocates by.
    if (auto dynamo = findAttribute(internals->ptr(), "_dynamo"))
      if (auto guards = findAttribute(dynamo->ptr(), "guards")) {
        if (auto empty = findAttribute(guards->ptr(), "_empty_strided_cpu"))
          found.emptyOnHost = *empty;
        if (auto empty = findAttribute(guards->ptr(), "_empty_strided_cuda"))
          found.emptyOnCurrent = *empty;
      }
  }
  nb::object version = nb::borrow(module).attr("version");
  found.isHip = !nb::object(version.attr("hip")).is_none();
  Py_XDECREF(own->module);
  *own = std::move(found);
  return *own;
}

static Package &getCuPy() {
  static auto *own = new Package;
  PyObject *module = findModule(cupyName());
  if (!module)
    throw Unsupported("CuPy is not imported");
  if (own->module == module)
    return *own;
  Package found;
  Py_INCREF(module);
  found.module = module;
  found.empty = nb::borrow(module).attr("empty");
  if (auto cuda = findAttribute(module, "cuda"))
    if (auto runtime = findAttribute(cuda->ptr(), "runtime"))
      if (auto isHip = findAttribute(runtime->ptr(), "is_hip"))
        found.isHip = isTrue(*isHip);
  Py_XDECREF(own->module);
  *own = std::move(found);
  return *own;
}

/// The table of functions of an array type, or null. Tables of a different
/// major version are not used.
static const dlpack::ExchangeTable *findExchangeTable(PyObject *type) {
  auto capsule = findAttribute(type, "__dlpack_c_exchange_api__");
  if (!capsule || !PyCapsule_IsValid(capsule->ptr(), "dlpack_exchange_api"))
    return nullptr;
  auto *header = static_cast<const dlpack::ExchangeHeader *>(
      PyCapsule_GetPointer(capsule->ptr(), "dlpack_exchange_api"));
  while (header && header->version.major != 1)
    header = header->previous;
  auto *table = reinterpret_cast<const dlpack::ExchangeTable *>(header);
  return table && table->tensorFromObject && table->currentStream ? table
                                                                  : nullptr;
}

/// Whether `type` is a subclass of the class `name` of an imported package.
static bool isPackages(PyObject *type, PyObject *package, const char *name) {
  PyObject *module = findModule(package);
  if (!module)
    return false;
  auto base = findAttribute(module, name);
  return base && isSubclass(type, base->ptr());
}

static ArrayType classifyType(PyObject *value, PyObject *type) {
  const NumPy &numpy = NumPy::get();
  if (isSubclass(type, numpy.arrayClass.ptr()))
    return {isSubclass(type, numpy.maskedClass.ptr()) ? ArrayKind::Masked
                                                      : ArrayKind::NumPy};
  if (isPackages(type, torchName(), "Tensor")) {
    // A subclass may contain something other than memory.
    PyObject *torch = findModule(torchName());
    bool isPlain = false;
    if (auto tensor = findAttribute(torch, "Tensor"))
      isPlain = type == tensor->ptr();
    if (auto module = findAttribute(torch, "nn"); !isPlain && module)
      if (auto parameter = findAttribute(module->ptr(), "Parameter"))
        isPlain = type == parameter->ptr();
    return {ArrayKind::Torch, isPlain ? findExchangeTable(type) : nullptr};
  }
  if (isPackages(type, cupyName(), "ndarray"))
    return {ArrayKind::CuPy};
  if (findAttribute(value, "__dlpack__"))
    return {ArrayKind::DLPack, findExchangeTable(type)};
  if (findAttribute(type, "__cuda_array_interface__"))
    return {ArrayKind::CudaInterface};
  return {};
}

ArrayType tessera_python::classify(PyObject *value) {
  static auto *types = new Memory<ArrayType, 12>;
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(value));
  if (const ArrayType *known = types->find(type))
    return *known;
  ArrayType found = classifyType(value, type);
  // Objects of one class may differ in their attributes.
  if (found.kind == ArrayKind::None || found.kind == ArrayKind::DLPack ||
      found.kind == ArrayKind::CudaInterface)
    return found;
  return types->add(type, found);
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
/// An element type of NumPy, PyTorch or CuPy.
struct ElementName {
  std::string name;
  ElementCode code;
  /// Whether it is NumPy's type with the bytes in another order.
  bool isSwapped = false;
};
} // namespace

static const ElementName &getElementName(PyObject *type) {
  static auto *names = new Memory<ElementName, 16>;
  if (const ElementName *known = names->find(type))
    return *known;
  ElementName found;
  if (isSubclass(reinterpret_cast<PyObject *>(Py_TYPE(type)),
                 NumPy::get().typeClass.ptr())) {
    found.name = nb::cast<nb::str>(nb::borrow(type).attr("name")).c_str();
    found.isSwapped = !nb::cast<bool>(nb::borrow(type).attr("isnative"));
  } else {
    std::string text = nb::str(nb::borrow(type)).c_str();
    found.name = text.substr(text.find('.') + 1);
  }
  found.code = findElement(found.name);
  return names->add(type, std::move(found));
}

static PyObject *dtypeName() {
  static PyObject *const name = intern("dtype");
  return name;
}

std::string tessera_python::describeElement(PyObject *value,
                                            const Array &array) {
  switch (array.type.kind) {
  case ArrayKind::NumPy:
  case ArrayKind::Torch:
  case ArrayKind::CuPy:
    return getElementName(getAttribute(value, dtypeName()).ptr()).name;
  default:
    break;
  }
  for (const Element &element : kElements)
    if (element.code == array.element)
      return element.numpy;
  return "DLPack's type " + std::to_string(array.element.code) + " of " +
         std::to_string(array.element.bits) + " bits";
}

//===----------------------------------------------------------------------===//
// Reading arrays
//===----------------------------------------------------------------------===//

bool tessera_python::isDense(const Dims &sizes, const Dims &strides) {
  int64_t expected = 1;
  bool dense = true;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    if (sizes[dim] == 0)
      return true;
    dense &= sizes[dim] == 1 || strides[dim] == expected;
    expected *= sizes[dim];
  }
  return dense;
}

static int64_t countElements(const Array &array) {
  int64_t count = 1;
  for (size_t dim = 0; dim < array.sizes.size(); ++dim)
    count *= array.sizes[dim];
  return count;
}

const char *tessera_python::getTarget(dlpack::DeviceKind device) {
  return device == dlpack::CUDA ? "cuda" : device == dlpack::ROCm ? "hip" : "";
}

/// Converts strides in bytes.
static void setByteStrides(Array &array, const int64_t *strides, size_t size) {
  array.strides.resize(array.sizes.size());
  size_t itemSize = std::max<size_t>(size, 1);
  for (size_t dim = 0; dim < array.sizes.size(); ++dim) {
    int64_t stride = strides[dim];
    if (array.sizes[dim] > 1 && stride % static_cast<int64_t>(itemSize))
      throw Unsupported(
          "its stride in dimension " + std::to_string(dim) + " is " +
          std::to_string(stride) +
          " bytes, which is not a multiple of an element's " +
          std::to_string(itemSize) +
          " (a field of a packed struct): pass np.ascontiguousarray(array)");
    array.strides[dim] = stride / static_cast<int64_t>(itemSize);
  }
  array.isDense = isDense(array.sizes, array.strides);
}

namespace {
/// The structure in `__array_struct__`: NumPy's PyArrayInterface.
struct ArrayInterface {
  int two, rank;
  char kind;
  int itemSize, flags;
  Py_ssize_t *sizes, *strides;
  void *data;
  PyObject *description;

  static constexpr int kContiguous = 0x1, kWriteable = 0x400;
};
} // namespace

static void readNumPy(PyObject *value, Array &array) {
  static PyObject *const structName = intern("__array_struct__");
  nb::object type = getAttribute(value, dtypeName());
  const ElementName &name = getElementName(type.ptr());
  if (name.isSwapped)
    throw Unsupported(std::string("its elements (") +
                      nb::cast<nb::str>(type.attr("str")).c_str() +
                      ") are not in the byte order of this machine: pass "
                      "array.astype(array.dtype.newbyteorder('='))");
  if (name.code == kInt4Code)
    throw Unsupported("NumPy stores one int4 element per byte: pass an array "
                      "of uint8 with two elements per byte, the first one in "
                      "the low bits");
  nb::object capsule = getAttribute(value, structName);
  auto *info = static_cast<const ArrayInterface *>(
      PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!info)
    throw nb::python_error();
  array.data = info->data;
  array.element = name.code;
  array.sizes.resize(info->rank);
  std::copy_n(info->sizes, info->rank, array.sizes.data());
  array.isReadOnly = !(info->flags & ArrayInterface::kWriteable);
  if (info->flags & ArrayInterface::kContiguous)
    return;
  Dims strides;
  strides.resize(info->rank);
  std::copy_n(info->strides, info->rank, strides.data());
  setByteStrides(array, strides.data(), info->itemSize);
}

/// Reads an array by its package's functions; false if they do not apply.
static bool readExchange(PyObject *value, const dlpack::ExchangeTable &table,
                         Array &array) {
  dlpack::Tensor tensor = {};
  if (table.tensorFromObject(value, &tensor) != 0) {
    PyErr_Clear();
    return false;
  }
  switch (tensor.device.kind) {
  case dlpack::CUDAHost:
  case dlpack::ROCmHost:
    array.device = dlpack::CPU;
    break;
  case dlpack::CPU:
  case dlpack::CUDA:
  case dlpack::ROCm:
    array.device = static_cast<dlpack::DeviceKind>(tensor.device.kind);
    break;
  default:
    return false;
  }
  if (tensor.type.lanes != 1)
    return false;
  array.ordinal = array.isOnDevice() ? tensor.device.ordinal : 0;
  array.data = static_cast<char *>(tensor.data) + tensor.byteOffset;
  array.element = {tensor.type.code, tensor.type.bits};
  array.sizes.resize(tensor.rank);
  std::copy_n(tensor.shape, tensor.rank, array.sizes.data());
  if (tensor.strides) {
    array.strides.resize(tensor.rank);
    std::copy_n(tensor.strides, tensor.rank, array.strides.data());
    array.isDense = isDense(array.sizes, array.strides);
  }
  return true;
}

/// Reads a tensor by its attributes.
static void readTorchAttributes(PyObject *value, Array &array) {
  nb::handle tensor(value);
  array.element = getElementName(getAttribute(value, dtypeName()).ptr()).code;
  readDims(nb::object(tensor.attr("shape")).ptr(), array.sizes);
  if (!isTrue(tensor.attr("is_contiguous")())) {
    readDims(nb::object(tensor.attr("stride")()).ptr(), array.strides);
    array.isDense = isDense(array.sizes, array.strides);
  }
  if (isTrue(tensor.attr("is_cuda"))) {
    array.device = getTorch().isHip ? dlpack::ROCm : dlpack::CUDA;
    array.ordinal = nb::cast<int>(tensor.attr("get_device")());
  } else if (nb::object device = tensor.attr("device");
             strcmp(nb::cast<nb::str>(device.attr("type")).c_str(), "cpu")) {
    throw Unsupported(std::string("a tensor on ") + nb::str(device).c_str() +
                      " cannot be passed: move it to cpu or cuda");
  }
  array.data = toPointer(nb::object(tensor.attr("data_ptr")()).ptr());
}

static void readTorch(PyObject *value, bool acceptGradient, Array &array) {
  static PyObject *const requiresGradient = intern("requires_grad");
  if (!acceptGradient && isTrue(getAttribute(value, requiresGradient)))
    throw Unsupported("a tensor that requires a gradient cannot be passed: "
                      "call detach()");
  if (!array.type.exchange || !readExchange(value, *array.type.exchange, array))
    readTorchAttributes(value, array);
  // The sign of such a view is not in memory. `x.conj().imag` makes them; with
  // more than one element they are not dense.
  static PyObject *const isNegative = intern("is_neg");
  if (countElements(array) == 1 && isTrue(callMethod(value, isNegative)))
    throw Unsupported("a tensor whose sign is inverted lazily cannot be "
                      "passed: call resolve_neg()");
}

static void readCuPy(PyObject *value, Array &array) {
  nb::handle own(value);
  const ElementName &name =
      getElementName(getAttribute(value, dtypeName()).ptr());
  array.element = name.code;
  nb::object memory = own.attr("data");
  array.data = toPointer(nb::object(memory.attr("ptr")).ptr());
  array.device = getCuPy().isHip ? dlpack::ROCm : dlpack::CUDA;
  array.ordinal = nb::cast<int>(memory.attr("device_id"));
  readDims(nb::object(own.attr("shape")).ptr(), array.sizes);
  if (isTrue(own.attr("flags").attr("c_contiguous")))
    return;
  Dims strides;
  readDims(nb::object(own.attr("strides")).ptr(), strides);
  setByteStrides(array, strides.data(), nb::cast<size_t>(own.attr("itemsize")));
}

/// The reason why an object's `__dlpack__` fails.
static std::string explainDLPack(PyObject *value) {
  try {
    nb::handle(value).attr("__dlpack__")();
  } catch (nb::python_error &error) {
    // The exception is the other package's, of any class.
    std::string text = nb::str(error.value()).c_str();
    return text.empty()
               ? nb::cast<nb::str>(error.type().attr("__name__")).c_str()
               : text;
  }
  return "the array has a form that cannot be passed";
}

static void readDLPack(PyObject *value, Array &array) {
  if (array.type.exchange && readExchange(value, *array.type.exchange, array))
    return;
  nb::ndarray<> own;
  if (!nb::try_cast(nb::handle(value), own))
    throw Unsupported("it cannot be exchanged by DLPack: " +
                      explainDLPack(value));
  if (own.dtype().lanes != 1)
    throw Unsupported("arrays of vectors of " +
                      std::to_string(own.dtype().lanes) +
                      " elements cannot be passed");
  switch (own.device_type()) {
  case dlpack::CPU:
  case dlpack::CUDAHost:
  case dlpack::ROCmHost:
    break;
  case dlpack::CUDA:
  case dlpack::ROCm:
    array.device = static_cast<dlpack::DeviceKind>(own.device_type());
    array.ordinal = own.device_id();
    break;
  default:
    throw Unsupported("arrays on DLPack's device " +
                      std::to_string(own.device_type()) + " cannot be passed");
  }
  array.data = own.data();
  array.element = {static_cast<uint8_t>(own.dtype().code), own.dtype().bits};
  array.sizes.resize(own.ndim());
  array.strides.resize(own.ndim());
  for (size_t dim = 0; dim < own.ndim(); ++dim) {
    array.sizes[dim] = static_cast<int64_t>(own.shape(dim));
    array.strides[dim] = own.stride(dim);
  }
  array.isDense = isDense(array.sizes, array.strides);
  array.owner = std::make_unique<nb::ndarray<>>(std::move(own));
}

static void readCudaInterface(PyObject *value, Array &array) {
  nb::object own = nb::handle(value).attr("__cuda_array_interface__");
  auto find = [&](const char *key) { return nb::object(own.attr("get")(key)); };
  if (nb::object mask = find("mask"); !mask.is_none())
    throw Unsupported("a masked array cannot be passed, because a program does "
                      "not see the mask");
  nb::object type = NumPy::get().typeClass(find("typestr"));
  const ElementName &name = getElementName(type.ptr());
  if (name.isSwapped)
    throw Unsupported("its elements are not in the byte order of this machine");
  array.element = name.code;
  nb::object memory = find("data");
  array.data = toPointer(nb::object(memory[0]).ptr());
  array.isReadOnly = isTrue(memory[1]);
  array.device = dlpack::CUDA;
  array.ordinal = nb::cast<int>(getHelper("device_of_pointer")(memory[0]));
  if (array.ordinal < 0)
    throw Unsupported("its memory does not belong to a CUDA device");
  readDims(find("shape").ptr(), array.sizes);
  if (nb::object strides = find("strides"); !strides.is_none()) {
    Dims own;
    readDims(strides.ptr(), own);
    setByteStrides(array, own.data(), nb::cast<size_t>(type.attr("itemsize")));
  }
  if (nb::object stream = find("stream"); !stream.is_none())
    array.stream = toPointer(stream.ptr());
}

bool tessera_python::readArray(PyObject *value, ArrayType type,
                               bool acceptGradient, Array &array) {
  array.type = type;
  switch (type.kind) {
  case ArrayKind::None:
    return false;
  case ArrayKind::Masked:
    throw Unsupported(
        "a masked array cannot be passed, because a program does not see the "
        "mask: pass array.filled(value), or array.data for all elements");
  case ArrayKind::NumPy:
    readNumPy(value, array);
    break;
  case ArrayKind::Torch:
    readTorch(value, acceptGradient, array);
    break;
  case ArrayKind::CuPy:
    readCuPy(value, array);
    break;
  case ArrayKind::DLPack:
    readDLPack(value, array);
    break;
  case ArrayKind::CudaInterface:
    readCudaInterface(value, array);
    break;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

std::optional<void *> tessera_python::getCurrentStream(const Array &array) {
  if (array.type.exchange) {
    void *stream = nullptr;
    if (array.type.exchange->currentStream(array.device, array.ordinal,
                                           &stream) != 0)
      throw nb::python_error();
    return stream;
  }
  switch (array.type.kind) {
  case ArrayKind::Torch: {
    const Package &torch = getTorch();
    if (torch.currentRawStream.is_valid())
      return toPointer(torch.currentRawStream(array.ordinal).ptr());
    nb::object stream = nb::borrow(torch.module)
                            .attr("cuda")
                            .attr("current_stream")(array.ordinal);
    return toPointer(nb::object(stream.attr("cuda_stream")).ptr());
  }
  case ArrayKind::CuPy: {
    nb::object stream =
        nb::borrow(getCuPy().module).attr("cuda").attr("get_current_stream")();
    return toPointer(nb::object(stream.attr("ptr")).ptr());
  }
  default:
    return array.stream;
  }
}

//===----------------------------------------------------------------------===//
// New arrays
//===----------------------------------------------------------------------===//

nb::object tessera_python::makeTuple(const int64_t *values, size_t count) {
  nb::object tuple = checked(PyTuple_New(count));
  for (size_t i = 0; i < count; ++i)
    if (PyTuple_SetItem(tuple.ptr(), i, PyLong_FromLongLong(values[i])) < 0)
      throw nb::python_error();
  return tuple;
}

Shape tessera_python::makeShape(const int64_t *sizes, size_t rank) {
  Dims strides;
  strides.resize(rank);
  int64_t stride = 1;
  for (size_t dim = rank; dim-- > 0;) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  return {makeTuple(sizes, rank), makeTuple(strides.data(), rank)};
}

/// Calls `function(shape, dtype=type, device=device)`; without a device if it
/// is null.
static nb::object callEmpty(const nb::object &function, nb::handle shape,
                            const nb::object &type, PyObject *device) {
  static PyObject *const one = PyTuple_Pack(1, dtypeName());
  static PyObject *const both = PyTuple_Pack(2, dtypeName(), intern("device"));
  PyObject *arguments[] = {nullptr, shape.ptr(), type.ptr(), device};
  return checked(PyObject_Vectorcall(function.ptr(), arguments + 1,
                                     1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                     device ? both : one));
}

/// The element type of PyTorch.
static const nb::object &getTorchType(Package &torch, int element) {
  nb::object &type = torch.types[element];
  if (!type.is_valid()) {
    if (element == TESSERA_I4)
      throw nb::type_error("results of i4 cannot be returned as PyTorch "
                           "tensors");
    auto found = findAttribute(torch.module, kElements[element].numpy);
    if (!found)
      throw nb::type_error(
          (std::string("this version of PyTorch has no type ") +
           kElements[element].numpy)
              .c_str());
    type = *found;
  }
  return type;
}

/// NumPy's element type, or that of ml_dtypes.
static const nb::object &getNumPyType(int element) {
  static auto *types = new std::array<nb::object, kElements.size()>;
  nb::object &type = (*types)[element];
  if (!type.is_valid())
    type = getHelper("numpy_type")(element);
  return type;
}

/// Whether a GPU is PyTorch's current one.
static bool isCurrent(Package &torch, int ordinal) {
  if (!torch.numDevices)
    torch.numDevices = nb::cast<int>(
        nb::borrow(torch.module).attr("cuda").attr("device_count")());
  return *torch.numDevices == 1 ||
         (torch.currentDevice.is_valid() &&
          nb::cast<int>(torch.currentDevice()) == ordinal);
}

static nb::object makeTensor(int element, const Shape &shape,
                             dlpack::DeviceKind device, int ordinal) {
  Package &torch = getTorch();
  const nb::object &type = getTorchType(torch, element);
  bool isOnHost = device == dlpack::CPU;
  const nb::object &function =
      isOnHost ? torch.emptyOnHost : torch.emptyOnCurrent;
  if (function.is_valid() && (isOnHost || isCurrent(torch, ordinal))) {
    nb::object arguments = checked(
        PyTuple_Pack(3, shape.sizes.ptr(), shape.strides.ptr(), type.ptr()));
    return checked(PyObject_Call(function.ptr(), arguments.ptr(), nullptr));
  }
  static PyObject *const cpu = intern("cpu");
  nb::object position =
      isOnHost ? nb::borrow(cpu) : nb::steal(PyLong_FromLong(ordinal));
  return callEmpty(torch.empty, shape.sizes, type, position.ptr());
}

std::pair<nb::object, void *>
tessera_python::makeArray(ArrayKind kind, int element, const Shape &shape,
                          dlpack::DeviceKind device, int ordinal) {
  nb::object made;
  if (kind == ArrayKind::Torch)
    made = makeTensor(element, shape, device, ordinal);
  else if (kind == ArrayKind::CuPy && device != dlpack::CPU)
    made =
        callEmpty(getCuPy().empty, shape.sizes, getNumPyType(element), nullptr);
  else
    made = callEmpty(NumPy::get().empty, shape.sizes, getNumPyType(element),
                     nullptr);
  ArrayType type = classify(made.ptr());
  // A new array has the sizes and the type of the request.
  if (type.exchange) {
    dlpack::Tensor tensor = {};
    if (type.exchange->tensorFromObject(made.ptr(), &tensor) == 0)
      return {std::move(made),
              static_cast<char *>(tensor.data) + tensor.byteOffset};
    PyErr_Clear();
  }
  Array array;
  readArray(made.ptr(), type, /*acceptGradient=*/true, array);
  return {std::move(made), array.data};
}
