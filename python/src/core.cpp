//===- core.cpp - The module of the Python package ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Errors.h    errors of the C API as exceptions
//   Objects.h   devices, programs and buffers
//   Compile.cpp compiling, explaining, verifying
//   Arrays.h    arrays of other packages, described in C
//   Results.h   allocating and returning results
//   Call.cpp    calls of entry points
//   Operator.cpp the programs of an operator of PyTorch
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"

using namespace tessera_python;

NB_MODULE(_core, module) {
  // Operators of PyTorch keep programs until the process ends.
  nb::set_leak_warnings(false);
  module.doc() = "Tessera's C API. Use the package `tessera` instead.";
  module.attr("version") = tesseraGetVersion();
  module.def("set_errors", &setErrors);
  bindObjects(module);
  bindCompiler(module);
  bindCalls(module);
  bindOperators(module);
}
