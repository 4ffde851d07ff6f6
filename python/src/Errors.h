//===- Errors.h - Errors of the C API as exceptions -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PYTHON_ERRORS_H
#define TESSERA_PYTHON_ERRORS_H

#include "tessera-c/Runtime.h"

#include <nanobind/nanobind.h>

#include <string>

namespace tessera_python {

namespace nb = nanobind;

/// Raises `tessera.Error` or `tessera.CompileError` unless `status` is
/// TESSERA_OK. `text` must come from the thread that made the call.
void raise(TesseraStatus status, const std::string &text);

/// Calls `body` without Python's lock, and raises an error that it returns.
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

/// Sets the classes of exceptions; called once, when the package is imported.
void setErrors(nb::object error, nb::object compileError);

/// Calls `body`, which returns a new reference, from a slot of a type: C++
/// exceptions become Python's.
template <typename Body> PyObject *guarded(Body body) noexcept {
  try {
    return body();
  } catch (nb::python_error &error) {
    error.restore();
  } catch (nb::builtin_exception &error) {
    PyErr_SetString(error.type() == nb::exception_type::type_error
                        ? PyExc_TypeError
                        : PyExc_RuntimeError,
                    error.what());
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

} // namespace tessera_python

#endif // TESSERA_PYTHON_ERRORS_H
