//===- Call.h - Calls of programs -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_PYTHON_CALL_H
#define TESSERA_PYTHON_CALL_H

#include <nanobind/nanobind.h>

namespace tessera_python {

namespace nb = nanobind;

/// Runs the entry point `name` of a `tessera.Program`, or the default one if it
/// is null, on the device of the arguments, which are a tuple. The stream is
/// the current one if it is null. Tensors that require a gradient are accepted
/// only with `acceptGradient`.
nb::object callProgram(PyObject *program, PyObject *name, PyObject *arguments,
                       PyObject *stream, bool acceptGradient);

} // namespace tessera_python

#endif // TESSERA_PYTHON_CALL_H
