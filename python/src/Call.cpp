//===- Call.cpp - Calls of entry points -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call reads its arguments (Arrays.h), checks them against the entry point's
// types, allocates the results by the arguments' package, and runs. The C API
// checks sizes and strides.
//
//===----------------------------------------------------------------------===//

#include "Call.h"

#include "Arrays.h"
#include "Errors.h"
#include "Objects.h"
#include "Results.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

using namespace tessera_python;
using namespace nb::literals;

namespace {

/// An entry point on a device; the base class of `tessera.Entry`.
struct Entry {
  std::string name;
  std::vector<Slot> arguments, results;
  /// Static shapes of the results.
  KnownShapes shapes;
  /// If a result has a dynamic size: the sizes and scalars of the last call,
  /// and the shapes of its results. A call with the same will have the same,
  /// unless they depend on contents.
  std::vector<int64_t> lastSizes;
  KnownShapes lastShapes;
  bool hasDynamicResults = false;
  std::string target;
  /// The device of `target`; DLPack's CPU if arrays cannot be on it.
  dlpack::DeviceKind device = dlpack::CPU;
  int ordinal = 0;
  TesseraLaunchMode launchMode = TESSERA_LAUNCH_AUTO;
  ExecutableHandle executable;
  /// Called instead of the executable, by tests of what needs a device.
  nb::object recorder;

  std::string str() const;
};

} // namespace

std::string Entry::str() const {
  auto join = [](const std::vector<Slot> &slots) {
    std::string text;
    for (const Slot &slot : slots)
      text += (text.empty() ? "" : ", ") + slot.type;
    return text;
  };
  return name + "(" + join(arguments) + ") -> (" + join(results) + ")";
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

[[noreturn]] static void failArgument(const Entry &entry, size_t index,
                                      const std::string &what) {
  throw nb::type_error(("argument " + std::to_string(index) + " (" +
                        entry.arguments[index].type + "): " + what)
                           .c_str());
}

/// Stores an integer if it is in the range of T.
template <typename T> static bool store(long long value, Scalar &scalar) {
  if (value < static_cast<long long>(std::numeric_limits<T>::min()) ||
      value > static_cast<long long>(std::numeric_limits<T>::max()))
    return false;
  T narrow = static_cast<T>(value);
  std::memcpy(scalar.bytes, &narrow, sizeof(narrow));
  return true;
}

/// Stores Python's own numbers in the usual types. Returns false for others,
/// and where the number does not fit.
static bool storeNumber(PyObject *value, int element, Scalar &scalar) {
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AsDouble(value);
    if (element == TESSERA_F64) {
      std::memcpy(scalar.bytes, &number, sizeof(number));
      return true;
    }
    if (element != TESSERA_F32)
      return false;
    // A number that is too large becomes infinity.
    float narrow = static_cast<float>(number);
    std::memcpy(scalar.bytes, &narrow, sizeof(narrow));
    return true;
  }
  if (!PyLong_CheckExact(value))
    return false;
  int overflow = 0;
  long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow)
    return false;
  switch (element) {
  case TESSERA_I8:
    return store<int8_t>(number, scalar);
  case TESSERA_U8:
    return store<uint8_t>(number, scalar);
  case TESSERA_I16:
    return store<int16_t>(number, scalar);
  case TESSERA_I32:
    return store<int32_t>(number, scalar);
  case TESSERA_I64:
  case TESSERA_INDEX:
    return store<int64_t>(number, scalar);
  default:
    return false;
  }
}

static void readScalar(const Entry &entry, size_t index, PyObject *value,
                       Scalar &scalar) {
  const Slot &slot = entry.arguments[index];
  if (storeNumber(value, slot.element, scalar))
    return;
  if (classify(value).kind == ArrayKind::Masked)
    failArgument(entry, index, "a masked number cannot be passed");
  nb::object packed = getHelper("pack_scalar")(slot.element, nb::borrow(value));
  // The helper returns a str with the reason if it cannot convert the value.
  if (PyUnicode_Check(packed.ptr()))
    failArgument(entry, index, nb::cast<std::string>(packed));
  auto bytes = nb::cast<nb::bytes>(packed);
  std::memcpy(scalar.bytes, bytes.c_str(),
              std::min(bytes.size(), sizeof(scalar.bytes)));
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Reads the array of an argument and checks it against its type. Afterwards
/// packed i4 has rank 0.
static void readArgument(const Entry &entry, size_t index, PyObject *value,
                         bool acceptGradient, Array &array) {
  const Slot &slot = entry.arguments[index];
  auto fail = [&](const std::string &what) {
    failArgument(entry, index, what);
  };
  try {
    if (!readArray(value, classify(value), acceptGradient, array))
      fail(
          std::string("a ") +
          nb::cast<nb::str>(nb::handle(value).type().attr("__name__")).c_str() +
          " is not an array");
  } catch (const Unsupported &reason) {
    fail(reason.what());
  }
  const Element &element = kElements[slot.element];
  // i4 is passed packed, two elements to a byte.
  bool isPacked = element.code == kInt4Code && array.element == kUint8Code;
  if (array.element != element.code && !isPacked)
    fail("its elements are " + describeElement(value, array) +
         ", but the program expects " + element.numpy);
  if (array.isOnDevice() && (array.ordinal != entry.ordinal ||
                             entry.target != getTarget(array.device)))
    fail("it is on " + std::string(getTarget(array.device)) + ":" +
         std::to_string(array.ordinal) + ", but the program runs on " +
         entry.target + ":" + std::to_string(entry.ordinal));
  if (isPacked) {
    if (!slot.hasStaticShape() ||
        countElements(array.sizes.data(), array.sizes.size()) !=
            (countElements(slot.shape.data(), slot.shape.size()) + 1) / 2)
      fail("packed i4 requires static sizes, and two elements per byte");
    if (!array.isDense)
      fail("packed i4 requires a dense array: pass "
           "np.ascontiguousarray(array)");
  } else if (array.sizes.size() != slot.shape.size()) {
    fail("it has " + std::to_string(array.sizes.size()) + " dimensions");
  }
  if (slot.mayWrite && array.isReadOnly)
    fail("the program writes it, but it is read-only");
}

/// The kind of array that results are, by the arguments.
static ArrayKind getResultKind(List<Array> &arrays) {
  ArrayKind kind = ArrayKind::None;
  for (const Array &array : arrays) {
    if (array.type.kind == ArrayKind::Torch)
      return ArrayKind::Torch;
    if (array.type.kind == ArrayKind::CuPy)
      kind = ArrayKind::CuPy;
  }
  return kind;
}

/// The current stream of the first argument that has one.
static std::optional<void *> findCurrentStream(List<Array> &arrays) {
  for (const Array &array : arrays)
    if (array.isOnDevice())
      if (std::optional<void *> stream = getCurrentStream(array))
        return stream;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static nb::object makeTuple(const Dims &dims) {
  return makeTuple(dims.data(), dims.size());
}

/// Calls the recorder of tests with (arguments, results, stream): each argument
/// is (memory, pointer, sizes, strides), each result its pointer or 0. It
/// returns the sizes of the results that stay on the device, or None.
static TesseraStatus record(const Entry &entry,
                            List<TesseraArgument> &arguments,
                            List<Array> &arrays, Results &results,
                            const TesseraRun &run) {
  nb::list given, wanted;
  for (size_t i = 0; i < arguments.size(); ++i) {
    bool hasSizes = arguments[i].sizes, hasStrides = arguments[i].strides;
    given.append(nb::make_tuple(
        static_cast<int>(arguments[i].memory),
        reinterpret_cast<uintptr_t>(arguments[i].data),
        hasSizes ? makeTuple(arrays[i].sizes) : nb::object(nb::none()),
        hasStrides ? makeTuple(arrays[i].strides) : nb::object(nb::none())));
  }
  for (size_t i = 0; i < results.size(); ++i)
    wanted.append(reinterpret_cast<uintptr_t>(results.data()[i].data));
  nb::object shapes = entry.recorder(
      given, wanted,
      run.hasQueue
          ? nb::object(nb::int_(reinterpret_cast<uintptr_t>(run.queue)))
          : nb::object(nb::none()));
  for (size_t i = 0; i < results.size() && !shapes.is_none(); ++i) {
    TesseraResult &result = results.data()[i];
    if (!result.keepOnDevice)
      continue;
    auto sizes = nb::cast<std::vector<int64_t>>(shapes[i]);
    std::copy(sizes.begin(), sizes.end(), result.sizes);
    TesseraAllocation request = {sizeof(request), 4,           256,
                                 run.hasQueue,    run.queue,   i,
                                 sizes.size(),    sizes.data()};
    if (run.allocator && countElements(sizes.data(), sizes.size()) != 0 &&
        !(result.data =
              run.allocator->allocate(run.allocator->context, &request)))
      return TESSERA_OUT_OF_MEMORY;
  }
  return TESSERA_OK;
}

/// The sizes of all arrays and the values of all scalars of a call.
static std::vector<int64_t>
collectSizes(const Entry &entry, List<Array> &arrays, List<Scalar> &scalars) {
  std::vector<int64_t> sizes;
  sizes.reserve(4 * entry.arguments.size());
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    if (!entry.arguments[i].isScalar()) {
      const Dims &own = arrays[i].sizes;
      sizes.insert(sizes.end(), own.data(), own.data() + own.size());
      continue;
    }
    int64_t value;
    std::memcpy(&value, scalars[i].bytes, sizeof(value));
    sizes.push_back(value);
  }
  return sizes;
}

/// Remembers the shapes of the results of a call.
static void learnShapes(Entry &entry, std::vector<int64_t> sizes,
                        Results &results) {
  auto shapes = std::make_shared<std::vector<KnownShape>>();
  for (size_t i = 0; i < results.size(); ++i) {
    const Dims &own = results.getSizes(i);
    shapes->push_back({entry.results[i].isScalar()
                           ? Shape()
                           : makeShape(own.data(), own.size()),
                       {own.data(), own.data() + own.size()}});
  }
  entry.lastSizes = std::move(sizes);
  entry.lastShapes = std::move(shapes);
}

/// Runs an entry point. `stream` is null for the current one.
static nb::object callEntry(Entry &entry, PyObject *arguments, PyObject *stream,
                            bool acceptGradient) {
  std::optional<void *> queue;
  if (stream && stream != Py_None) {
    if (!PyLong_Check(stream) || PyBool_Check(stream))
      throw nb::type_error(
          (std::string("stream must be a stream handle as an integer, not a ") +
           nb::cast<nb::str>(nb::handle(stream).type().attr("__name__"))
               .c_str() +
           ": pass stream.cuda_stream (PyTorch) or stream.ptr (CuPy)")
              .c_str());
    queue = toPointer(stream);
  }
  size_t count = PyTuple_Size(arguments);
  if (count != entry.arguments.size())
    throw nb::type_error(
        (entry.str() + " takes " + std::to_string(entry.arguments.size()) +
         " arguments, but " + std::to_string(count) + " were given")
            .c_str());

  List<TesseraArgument> passed(count);
  List<Array> arrays(count);
  List<Scalar> scalars(count);
  bool onDevice = false;
  for (size_t i = 0; i < count; ++i) {
    PyObject *value = PyTuple_GetItem(arguments, i);
    if (entry.arguments[i].isScalar()) {
      readScalar(entry, i, value, scalars[i]);
      passed[i] = {TESSERA_MEMORY_HOST, scalars[i].bytes, nullptr, nullptr};
      continue;
    }
    Array &array = arrays[i];
    readArgument(entry, i, value, acceptGradient, array);
    onDevice |= array.isOnDevice();
    bool isPacked = kElements[entry.arguments[i].element].code == kInt4Code &&
                    array.element == kUint8Code;
    passed[i] = {array.isOnDevice() ? TESSERA_MEMORY_DEVICE
                                    : TESSERA_MEMORY_HOST,
                 array.data, isPacked ? nullptr : array.sizes.data(),
                 isPacked || array.isDense ? nullptr : array.strides.data()};
  }

  // A stream that is not the current one of the arguments' package.
  bool isForeign = false;
  if (onDevice) {
    std::optional<void *> current = findCurrentStream(arrays);
    if (!queue) {
      queue = current;
    } else if (queue != current) {
      isForeign = true;
      getHelper("record_stream")(nb::borrow(arguments), nb::borrow(stream),
                                 entry.ordinal);
    }
  }

  // Results are left on the device where arguments are on it.
  bool predicts = onDevice && entry.hasDynamicResults;
  std::vector<int64_t> sizes;
  if (predicts)
    sizes = collectSizes(entry, arrays, scalars);
  bool isKnown = predicts && entry.lastShapes && sizes == entry.lastSizes;
  CallPlace position = {onDevice ? entry.device : dlpack::CPU, entry.ordinal,
                        isForeign ? nb::handle(stream) : nb::handle()};
  Results results(entry.results, isKnown ? entry.lastShapes : entry.shapes,
                  entry.results.empty() ? ArrayKind::None
                                        : getResultKind(arrays),
                  position);

  TesseraRun run = {};
  run.structSize = sizeof(run);
  run.hasQueue = queue.has_value();
  run.queue = queue.value_or(nullptr);
  run.allocator = results.getAllocator();
  run.launchMode = entry.launchMode;
  TesseraStatus status;
  std::string text;
  if (entry.recorder.is_valid()) {
    status = record(entry, passed, arrays, results, run);
  } else {
    nb::gil_scoped_release release;
    status = tesseraExecutableRun(entry.executable.get(), passed.data(), count,
                                  results.data(), results.size(), &run);
    if (status != TESSERA_OK)
      text = tesseraGetLastError();
  }
  if (status != TESSERA_OK) {
    results.rethrow();
    raise(status, text);
  }
  if (predicts && !isKnown)
    learnShapes(entry, std::move(sizes), results);
  return results.finish();
}

/// Reads the keyword arguments of a call: the values of `names`, which are null
/// if they are not given.
template <size_t size>
static std::array<PyObject *, size>
readKeywords(PyObject *keywords, const std::array<const char *, size> &names) {
  std::array<PyObject *, size> values = {};
  if (!keywords)
    return values;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t position = 0;
  while (PyDict_Next(keywords, &position, &key, &value)) {
    size_t index = 0;
    while (index < size &&
           PyUnicode_CompareWithASCIIString(key, names[index]) != 0)
      ++index;
    if (index == size)
      throw nb::type_error((std::string("unexpected keyword argument '") +
                            nb::str(nb::handle(key)).c_str() + "'")
                               .c_str());
    values[index] = value;
  }
  return values;
}

/// The slot tp_call of `Entry`.
static PyObject *callEntrySlot(PyObject *self, PyObject *arguments,
                               PyObject *keywords) {
  return guarded([&] {
    auto [stream] = readKeywords<1>(keywords, {"stream"});
    return callEntry(*nb::inst_ptr<Entry>(nb::handle(self)), arguments, stream,
                     /*acceptGradient=*/false)
        .release()
        .ptr();
  });
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {
/// The base class of `tessera.Program`: the entry points that were called, by
/// their names and devices.
struct EntryCache {
  struct Item {
    /// Empty for the default one.
    std::string name;
    dlpack::DeviceKind device;
    int ordinal;
    nb::object entry;
  };
  std::vector<Item> items;
};
} // namespace

/// Returns the device of the first array that is on one, or else DLPack's CPU.
static std::pair<dlpack::DeviceKind, int> findDevice(PyObject *arguments) {
  for (Py_ssize_t i = 0, count = PyTuple_Size(arguments); i < count; ++i) {
    PyObject *value = PyTuple_GetItem(arguments, i);
    ArrayType type = classify(value);
    // The entry point reads these, with its own messages.
    if (type.kind == ArrayKind::None || type.kind == ArrayKind::NumPy)
      continue;
    Array array;
    try {
      readArray(value, type, /*acceptGradient=*/true, array);
    } catch (const Unsupported &reason) {
      throw nb::type_error(
          ("argument " + std::to_string(i) + ": " + reason.what()).c_str());
    }
    if (array.isOnDevice())
      return {array.device, array.ordinal};
  }
  return {dlpack::CPU, 0};
}

nb::object tessera_python::callProgram(PyObject *self, PyObject *name,
                                       PyObject *arguments, PyObject *stream,
                                       bool acceptGradient) {
  if (name == Py_None)
    name = nullptr;
  std::string ownName = name ? nb::cast<std::string>(nb::handle(name)) : "";
  auto [device, ordinal] = findDevice(arguments);
  EntryCache &cache = *nb::inst_ptr<EntryCache>(nb::handle(self));
  nb::object entry;
  for (const EntryCache::Item &item : cache.items)
    if (item.device == device && item.ordinal == ordinal &&
        item.name == ownName) {
      entry = item.entry;
      break;
    }
  if (!entry.is_valid()) {
    entry = nb::handle(self).attr("_find_entry")(name ? nb::borrow(name)
                                                      : nb::object(nb::none()),
                                                 getTarget(device), ordinal);
    // Another thread may have added the same.
    cache.items.push_back({ownName, device, ordinal, entry});
  }
  return callEntry(nb::cast<Entry &>(entry), arguments, stream, acceptGradient);
}

/// The slot tp_call of `EntryCache`.
static PyObject *callProgramSlot(PyObject *self, PyObject *arguments,
                                 PyObject *keywords) {
  return guarded([&] {
    auto [name, stream] = readKeywords<2>(keywords, {"entry", "stream"});
    return callProgram(self, name, arguments, stream, /*acceptGradient=*/false)
        .release()
        .ptr();
  });
}

//===----------------------------------------------------------------------===//
// Submission
//===----------------------------------------------------------------------===//

static constexpr std::pair<const char *, TesseraLaunchMode> kLaunchModes[] = {
    {"auto", TESSERA_LAUNCH_AUTO},
    {"direct", TESSERA_LAUNCH_DIRECT},
    {"graph", TESSERA_LAUNCH_GRAPH}};

static std::string getLaunch(const Entry &entry) {
  for (auto [name, mode] : kLaunchModes)
    if (mode == entry.launchMode)
      return name;
  return "";
}

static void setLaunch(Entry &entry, const std::string &name) {
  for (auto [known, mode] : kLaunchModes)
    if (name == known) {
      entry.launchMode = mode;
      return;
    }
  throw nb::value_error(("launch must be \"auto\", \"direct\" or \"graph\", "
                         "not \"" +
                         name + "\"")
                            .c_str());
}

/// Runs as graphs, runs one by one, graphs made, nodes changed, why the last
/// run was submitted one by one, how many of its launches overlap, and runs
/// that were repeated.
static nb::tuple getLaunchStatistics(const Entry &entry) {
  TesseraLaunchStatistics found = {};
  found.structSize = sizeof(found);
  if (entry.executable)
    call([&] {
      return tesseraExecutableGetLaunchStatistics(entry.executable.get(),
                                                  &found);
    });
  return nb::make_tuple(found.graphRuns, found.directRuns, found.graphs,
                        found.updates, found.whyDirect ? found.whyDirect : "",
                        found.overlaps, found.repeatedRuns);
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

static void initEntry(Entry *self, Program &program, const std::string &name,
                      Device *device, const std::string &target, int ordinal,
                      nb::object recorder) {
  new (self) Entry;
  self->name = name;
  std::tie(self->arguments, self->results) = program.getSlots(name.c_str());
  auto shapes = std::make_shared<std::vector<KnownShape>>();
  for (const Slot &slot : self->results) {
    bool isKnown = !slot.isScalar() && slot.hasStaticShape();
    self->hasDynamicResults |= !slot.isScalar() && !isKnown;
    shapes->push_back(
        {isKnown ? makeShape(slot.shape.data(), slot.shape.size()) : Shape(),
         slot.shape});
  }
  self->shapes = std::move(shapes);
  self->device = target == "cuda"  ? dlpack::CUDA
                 : target == "hip" ? dlpack::ROCm
                                   : dlpack::CPU;
  self->target = target;
  self->ordinal = ordinal;
  if (!recorder.is_none()) {
    self->recorder = std::move(recorder);
    return;
  }
  call([&] {
    TesseraExecutable *made = nullptr;
    TesseraStatus status = tesseraExecutableCreate(
        program.handle.get(), name.c_str(), device->handle.get(), &made);
    self->executable.reset(made);
    return status;
  });
}

void tessera_python::bindCalls(nb::module_ &module) {
  static PyType_Slot entrySlots[] = {
      {Py_tp_call, reinterpret_cast<void *>(callEntrySlot)}, {0, nullptr}};
  nb::class_<Entry>(module, "Entry", nb::type_slots(entrySlots))
      .def("__init__", &initEntry, "program"_a, "name"_a, "device"_a.none(),
           "target"_a, "ordinal"_a, "recorder"_a = nb::none())
      .def_prop_rw("launch", &getLaunch, &setLaunch)
      .def("launch_statistics", &getLaunchStatistics);

  static PyType_Slot programSlots[] = {
      {Py_tp_call, reinterpret_cast<void *>(callProgramSlot)}, {0, nullptr}};
  nb::class_<EntryCache>(module, "EntryCache", nb::type_slots(programSlots))
      .def(nb::init<>())
      .def(
          "call_below_autograd",
          [](nb::handle self, nb::handle entry, nb::args arguments) {
            return callProgram(self.ptr(), entry.ptr(), arguments.ptr(),
                               nullptr, /*acceptGradient=*/true);
          },
          "entry"_a.none(), "arguments"_a,
          "Runs an entry point as a call does, on tensors that may require a "
          "gradient: the caller provides the derivative.");

  nb::list elements;
  for (const Element &element : kElements)
    elements.append(nb::make_tuple(element.mlir, element.numpy));
  module.attr("ELEMENTS") = nb::tuple(elements);
  module.def("set_helpers", &setHelpers);
}
