//===- core.cpp - The C API as Python objects -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This module is close to tessera-c/Runtime.h: pointers are numbers. The
// package makes arrays of them.
//
//===----------------------------------------------------------------------===//

#include "tessera-c/Compiler.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// The exception's class, and the class of those that tell of a program.
PyObject *errorClass = nullptr, *compileErrorClass = nullptr;

/// Raises what a call gave. `text` is taken in the thread that called.
void raise(TesseraStatus status, const std::string &text) {
  if (status == TESSERA_OK)
    return;
  PyObject *type =
      status == TESSERA_COMPILE_ERROR ? compileErrorClass : errorClass;
  nb::object exception = nb::borrow(type)(nb::str(text.c_str()));
  exception.attr("code") = nb::str(tesseraStatusName(status));
  PyErr_SetObject(type, exception.ptr());
  throw nb::python_error();
}

/// Calls `body` without Python's lock, and raises what it gives.
template <typename Body> void call(Body body) {
  TesseraStatus status;
  std::string text;
  {
    nb::gil_scoped_release release;
    status = body();
    if (status != TESSERA_OK)
      text = tesseraGetLastError();
  }
  raise(status, text);
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

/// Gives an object back by a function of the C API.
template <typename T, void (*destroy)(T *)> struct Deleter {
  void operator()(T *object) const {
    // Closing may wait for the device.
    nb::gil_scoped_release release;
    destroy(object);
  }
};

struct Device {
  std::unique_ptr<TesseraDevice, Deleter<TesseraDevice, tesseraDeviceClose>>
      handle;

  TesseraDeviceInfo info() const {
    TesseraDeviceInfo info = {};
    info.structSize = sizeof(info);
    raise(tesseraDeviceGetInfo(handle.get(), &info), tesseraGetLastError());
    return info;
  }
};

struct Slot {
  int kind, element;
  std::vector<int64_t> shape;
  bool mayWrite;
  std::string type;
};

struct Program {
  std::unique_ptr<TesseraProgram,
                  Deleter<TesseraProgram, tesseraProgramDestroy>>
      handle;

  static Slot convert(const TesseraSlotInfo &info) {
    return {info.kind,
            info.element,
            {info.sizes, info.sizes + info.rank},
            info.mayWrite != 0,
            info.type};
  }
};

struct Buffer {
  std::unique_ptr<TesseraBuffer, Deleter<TesseraBuffer, tesseraBufferDestroy>>
      handle;
};

struct Executable {
  std::unique_ptr<TesseraExecutable,
                  Deleter<TesseraExecutable, tesseraExecutableDestroy>>
      handle;
};

void *toPointer(uint64_t number) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(number));
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// The options of a compilation, as keyword arguments have them.
struct Options {
  std::string target;
  std::optional<std::string> entry;
  std::string file;
  std::optional<std::string> scheduleDb;
  std::string flags;
};

/// Calls `function` with the C API's options, without Python's lock, and then
/// issues the compiler's warnings.
template <typename Function>
void callCompiler(const Options &own, Function function) {
  // Warnings are kept until Python's lock is held again.
  std::vector<std::string> warnings;
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  options.target = own.target.c_str();
  options.entry = own.entry ? own.entry->c_str() : nullptr;
  options.fileName = own.file.c_str();
  options.scheduleDb = own.scheduleDb ? own.scheduleDb->c_str() : nullptr;
  options.flags = own.flags.c_str();
  options.handlerUser = &warnings;
  options.handler = [](void *user, TesseraSeverity severity, const char *text) {
    if (severity == TESSERA_WARNING)
      static_cast<std::vector<std::string> *>(user)->emplace_back(text);
  };
  call([&] { return function(options); });
  for (const std::string &warning : warnings)
    if (PyErr_WarnEx(PyExc_UserWarning, warning.c_str(), 2) < 0)
      throw nb::python_error();
}

Program compile(nb::bytes source, const Options &own) {
  Program program;
  callCompiler(own, [&](const TesseraCompileOptions &options) {
    TesseraProgram *made = nullptr;
    TesseraStatus status =
        tesseraCompile(source.c_str(), source.size(), &options, &made);
    program.handle.reset(made);
    return status;
  });
  return program;
}

/// Takes a text of the library.
std::string take(char *text) {
  std::string own = text ? text : "";
  tesseraStringFree(text);
  return own;
}

std::string explain(nb::bytes source, const Options &own) {
  std::string json;
  callCompiler(own, [&](const TesseraCompileOptions &options) {
    char *text = nullptr;
    TesseraStatus status =
        tesseraExplain(source.c_str(), source.size(), &options, &text);
    json = take(text);
    return status;
  });
  return json;
}

/// Whether the outputs are right, and the report.
std::tuple<bool, std::string> verify(nb::bytes source, const Options &own,
                                     const std::vector<std::string> &arguments,
                                     bool acceptUnverified) {
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  int passed = 0;
  std::string json;
  callCompiler(own, [&](const TesseraCompileOptions &options) {
    TesseraVerifyOptions verifyOptions = {};
    verifyOptions.structSize = sizeof(verifyOptions);
    verifyOptions.arguments = pointers.data();
    verifyOptions.numArguments = pointers.size();
    verifyOptions.acceptUnverified = acceptUnverified;
    char *text = nullptr;
    TesseraStatus status =
        tesseraVerify(source.c_str(), source.size(), &options, &verifyOptions,
                      &passed, &text);
    json = take(text);
    return status;
  });
  return {passed != 0, json};
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// (memory, pointer, sizes, strides); the last two may be None.
using ArgumentTuple =
    std::tuple<int, uint64_t, std::optional<std::vector<int64_t>>,
               std::optional<std::vector<int64_t>>>;
/// (pointer, bytes, rank): where the host wants a result; pointer 0 leaves it
/// on the device.
using ResultTuple = std::tuple<uint64_t, size_t, size_t>;

nb::list run(Executable &executable,
             const std::vector<ArgumentTuple> &argumentTuples,
             const std::vector<ResultTuple> &resultTuples, bool hasQueue,
             uint64_t queue) {
  std::vector<TesseraArgument> arguments(argumentTuples.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto &[memory, pointer, sizes, strides] = argumentTuples[i];
    arguments[i] = {static_cast<TesseraMemory>(memory), toPointer(pointer),
                    sizes ? sizes->data() : nullptr,
                    strides ? strides->data() : nullptr};
  }
  std::vector<TesseraResult> results(resultTuples.size());
  std::vector<std::vector<int64_t>> sizes(resultTuples.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const auto &[pointer, bytes, rank] = resultTuples[i];
    sizes[i].resize(rank);
    results[i] = {pointer == 0, toPointer(pointer), bytes, sizes[i].data(),
                  nullptr};
  }
  TesseraRun options = {sizeof(options), hasQueue, toPointer(queue)};
  call([&] {
    return tesseraExecutableRun(executable.handle.get(), arguments.data(),
                                arguments.size(), results.data(),
                                results.size(), &options);
  });
  nb::list given;
  for (size_t i = 0; i < results.size(); ++i) {
    nb::object buffer = nb::none();
    if (results[i].buffer) {
      Buffer own;
      own.handle.reset(results[i].buffer);
      buffer = nb::cast(std::move(own));
    }
    given.append(nb::make_tuple(buffer, sizes[i]));
  }
  return given;
}

/// The memory of a buffer as an array that others take by DLPack. `code` and
/// `bits` are DLPack's for the element's type, `device` its kind and number.
nb::object toArray(nb::object buffer, int code, int bits,
                   const std::vector<int64_t> &shape, int device, int ordinal) {
  auto &own = nb::cast<Buffer &>(buffer);
  std::vector<size_t> sizes(shape.begin(), shape.end());
  nb::dlpack::dtype type = {static_cast<uint8_t>(code),
                            static_cast<uint8_t>(bits), 1};
  nb::ndarray<nb::array_api> array(tesseraBufferGetPointer(own.handle.get()),
                                   sizes.size(), sizes.data(), buffer,
                                   /*strides=*/nullptr, type, device, ordinal);
  return nb::cast(std::move(array));
}

/// (pointer, shape, strides in elements, DLPack's code, bits and lanes, device
/// and its number) of what has `__dlpack__`, and an object that keeps it alive.
nb::tuple fromArray(nb::ndarray<> array) {
  std::vector<int64_t> shape, strides;
  for (size_t dim = 0; dim < array.ndim(); ++dim) {
    shape.push_back(static_cast<int64_t>(array.shape(dim)));
    strides.push_back(array.stride(dim));
  }
  return nb::make_tuple(reinterpret_cast<uintptr_t>(array.data()), shape,
                        strides, static_cast<int>(array.dtype().code),
                        static_cast<int>(array.dtype().bits),
                        static_cast<int>(array.dtype().lanes),
                        static_cast<int>(array.device_type()),
                        static_cast<int>(array.device_id()), nb::cast(array));
}

} // namespace

NB_MODULE(_core, module) {
  module.doc() = "Tessera's C API. Use the package `tessera` instead.";
  module.attr("version") = tesseraGetVersion();

  module.def("set_errors", [](nb::object error, nb::object compileError) {
    // They live as long as the interpreter.
    errorClass = error.release().ptr();
    compileErrorClass = compileError.release().ptr();
  });

  nb::class_<Options>(module, "Options")
      .def(
          "__init__",
          [](Options *self, const std::string &target,
             const std::optional<std::string> &entry, const std::string &file,
             const std::optional<std::string> &scheduleDb,
             const std::string &flags) {
            new (self) Options{target, entry, file, scheduleDb, flags};
          },
          "target"_a, "entry"_a.none(), "file"_a, "schedule_db"_a.none(),
          "flags"_a);
  module.def("explain", &explain, "source"_a, "options"_a);
  module.def("verify", &verify, "source"_a, "options"_a, "arguments"_a,
             "accept_unverified"_a);

  nb::class_<Slot>(module, "Slot")
      .def_ro("kind", &Slot::kind)
      .def_ro("element", &Slot::element)
      .def_ro("shape", &Slot::shape)
      .def_ro("may_write", &Slot::mayWrite)
      .def_ro("type", &Slot::type);

  nb::class_<Device>(module, "Device")
      .def("__init__",
           [](Device *self, const std::string &target, int ordinal) {
             new (self) Device;
             call([&] {
               TesseraDevice *opened = nullptr;
               TesseraStatus status =
                   tesseraDeviceOpen(target.c_str(), ordinal, &opened);
               self->handle.reset(opened);
               return status;
             });
           })
      .def("synchronize",
           [](Device &device) {
             call(
                 [&] { return tesseraDeviceSynchronize(device.handle.get()); });
           })
      .def_prop_ro("target",
                   [](Device &device) { return device.info().target; })
      .def_prop_ro("chip", [](Device &device) { return device.info().chip; })
      .def_prop_ro("name", [](Device &device) { return device.info().name; })
      .def_prop_ro("driver",
                   [](Device &device) { return device.info().driver; })
      .def_prop_ro("ordinal",
                   [](Device &device) { return device.info().ordinal; })
      .def_prop_ro("memory_bytes",
                   [](Device &device) { return device.info().memoryBytes; });

  nb::class_<Program>(module, "Program")
      .def_static("compile", &compile, "source"_a, "options"_a)
      .def_static("load",
                  [](nb::bytes bytes) {
                    Program program;
                    call([&] {
                      TesseraProgram *made = nullptr;
                      TesseraStatus status = tesseraProgramLoad(
                          bytes.c_str(), bytes.size(), &made);
                      program.handle.reset(made);
                      return status;
                    });
                    return program;
                  })
      .def("save",
           [](Program &program) {
             const void *bytes = nullptr;
             size_t size = 0;
             raise(tesseraProgramSave(program.handle.get(), &bytes, &size),
                   tesseraGetLastError());
             return nb::bytes(static_cast<const char *>(bytes), size);
           })
      .def("describe",
           [](Program &program) {
             return tesseraProgramDescribe(program.handle.get());
           })
      .def("entries", [](Program &program) {
        TesseraProgram *handle = program.handle.get();
        size_t count = 0;
        raise(tesseraProgramGetEntryCount(handle, &count),
              tesseraGetLastError());
        nb::list entries;
        for (size_t i = 0; i < count; ++i) {
          const char *name = nullptr;
          size_t numArguments = 0, numResults = 0;
          raise(tesseraProgramGetEntryName(handle, i, &name),
                tesseraGetLastError());
          raise(tesseraProgramGetSlotCounts(handle, name, &numArguments,
                                            &numResults),
                tesseraGetLastError());
          std::vector<Slot> arguments, results;
          TesseraSlotInfo info = {};
          info.structSize = sizeof(info);
          for (size_t j = 0; j < numArguments; ++j) {
            raise(tesseraProgramGetArgument(handle, name, j, &info),
                  tesseraGetLastError());
            arguments.push_back(Program::convert(info));
          }
          for (size_t j = 0; j < numResults; ++j) {
            raise(tesseraProgramGetResult(handle, name, j, &info),
                  tesseraGetLastError());
            results.push_back(Program::convert(info));
          }
          entries.append(nb::make_tuple(name, arguments, results));
        }
        return entries;
      });

  nb::class_<Buffer>(module, "Buffer");

  nb::class_<Executable>(module, "Executable")
      .def("__init__",
           [](Executable *self, Program &program, const std::string &entry,
              Device &device) {
             new (self) Executable;
             call([&] {
               TesseraExecutable *made = nullptr;
               TesseraStatus status =
                   tesseraExecutableCreate(program.handle.get(), entry.c_str(),
                                           device.handle.get(), &made);
               self->handle.reset(made);
               return status;
             });
           })
      .def("run", &run);

  module.def("read", [](Buffer &buffer, uint64_t pointer, size_t bytes) {
    call([&] {
      return tesseraBufferRead(buffer.handle.get(), 0, toPointer(pointer),
                               bytes);
    });
  });
  module.def("to_array", &toArray);
  module.def("from_array", &fromArray);
}
