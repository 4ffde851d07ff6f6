//===- Objects.h - Devices, programs and buffers of the C API ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PYTHON_OBJECTS_H
#define TESSERA_PYTHON_OBJECTS_H

#include "tessera-c/Runtime.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

namespace tessera_python {

namespace nb = nanobind;

/// Releases an object by a function of the C API.
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

  TesseraDeviceInfo info() const;
};

/// An argument or a result of an entry point.
struct Slot {
  /// Numbers of TesseraSlotKind and TesseraElementType.
  int kind, element;
  /// TESSERA_DYNAMIC for a dynamic size.
  std::vector<int64_t> shape;
  bool mayWrite;
  /// The type as the program prints it.
  std::string type;
  /// The name of an input or output of a model, and of its dynamic dimensions;
  /// both may be empty.
  std::string name;
  std::vector<std::string> symbols;

  bool isScalar() const { return kind == TESSERA_SCALAR; }
  bool hasStaticShape() const {
    for (int64_t size : shape)
      if (size < 0)
        return false;
    return true;
  }
};

struct Program {
  std::unique_ptr<TesseraProgram,
                  Deleter<TesseraProgram, tesseraProgramDestroy>>
      handle;

  /// The arguments and the results of an entry point.
  std::pair<std::vector<Slot>, std::vector<Slot>>
  getSlots(const char *entry) const;
};

struct Buffer {
  std::unique_ptr<TesseraBuffer, Deleter<TesseraBuffer, tesseraBufferDestroy>>
      handle;
};

using ExecutableHandle =
    std::unique_ptr<TesseraExecutable,
                    Deleter<TesseraExecutable, tesseraExecutableDestroy>>;

/// Add the classes and functions of a file to the module.
void bindObjects(nb::module_ &module);
void bindCompiler(nb::module_ &module);
void bindCalls(nb::module_ &module);
void bindOperators(nb::module_ &module);

} // namespace tessera_python

#endif // TESSERA_PYTHON_OBJECTS_H
