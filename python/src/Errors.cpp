//===- Errors.cpp - Errors of the C API as exceptions ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"

using namespace tessera_python;

/// The classes of `tessera.Error` and `tessera.CompileError`, which live as
/// long as the interpreter.
static PyObject *errorClass = nullptr, *compileErrorClass = nullptr;

void tessera_python::setErrors(nb::object error, nb::object compileError) {
  errorClass = error.release().ptr();
  compileErrorClass = compileError.release().ptr();
}

void tessera_python::raise(TesseraStatus status, const std::string &text) {
  if (status == TESSERA_OK)
    return;
  PyObject *type =
      status == TESSERA_COMPILE_ERROR ? compileErrorClass : errorClass;
  nb::object exception = nb::borrow(type)(nb::str(text.c_str()));
  exception.attr("code") = nb::str(tesseraStatusName(status));
  PyErr_SetObject(type, exception.ptr());
  throw nb::python_error();
}
