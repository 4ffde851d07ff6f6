//===- Compile.cpp - The compiler's functions as Python's -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tessera-c/Compiler.h"

#include "Errors.h"
#include "Objects.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

using namespace tessera_python;
using namespace nb::literals;

namespace {
/// The options of a compilation, as keyword arguments have them.
struct Options {
  std::string target;
  std::optional<std::string> entry;
  std::string file;
  std::optional<std::string> scheduleDb;
  std::string flags;
  /// A TesseraSourceKind.
  int sourceKind = TESSERA_SOURCE_MLIR;
  int64_t batch = 0;
  bool omitSource = false;
};

} // namespace

/// Calls `function` with the C API's options, without Python's lock, and then
/// issues the compiler's warnings.
template <typename Function>
static void callCompiler(const Options &own, Function function) {
  // Warnings are kept until Python's lock is held again.
  std::vector<std::string> warnings;
  TesseraCompileOptions options = {};
  options.structSize = sizeof(options);
  options.target = own.target.c_str();
  options.entry = own.entry ? own.entry->c_str() : nullptr;
  options.fileName = own.file.empty() ? nullptr : own.file.c_str();
  options.scheduleDb = own.scheduleDb ? own.scheduleDb->c_str() : nullptr;
  options.flags = own.flags.c_str();
  options.sourceKind = own.sourceKind;
  options.batch = own.batch;
  options.omitSource = own.omitSource;
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

static Program compile(nb::bytes source, const Options &own) {
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

static Program compileFile(const std::string &path, const Options &own) {
  Program program;
  callCompiler(own, [&](const TesseraCompileOptions &options) {
    TesseraProgram *made = nullptr;
    TesseraStatus status = tesseraCompileFile(path.c_str(), &options, &made);
    program.handle.reset(made);
    return status;
  });
  return program;
}

/// Takes a text of the library.
static std::string take(char *text) {
  std::string own = text ? text : "";
  tesseraStringFree(text);
  return own;
}

static std::string explain(nb::bytes source, const Options &own) {
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
static std::tuple<bool, std::string>
verify(nb::bytes source, const Options &own,
       const std::vector<std::string> &arguments, bool acceptUnverified) {
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

void tessera_python::bindCompiler(nb::module_ &module) {
  nb::class_<Options>(module, "Options")
      .def(
          "__init__",
          [](Options *self, const std::string &target,
             const std::optional<std::string> &entry, const std::string &file,
             const std::optional<std::string> &scheduleDb,
             const std::string &flags, bool isModel, int64_t batch,
             bool omitSource) {
            new (self) Options{
                target, entry,
                file,   scheduleDb,
                flags,  isModel ? TESSERA_SOURCE_ONNX : TESSERA_SOURCE_MLIR,
                batch,  omitSource};
          },
          "target"_a, "entry"_a.none(), "file"_a, "schedule_db"_a.none(),
          "flags"_a, "is_model"_a = false, "batch"_a = 0,
          "omit_source"_a = false);
  module.def("compile", &compile, "source"_a, "options"_a);
  module.def("compile_file", &compileFile, "path"_a, "options"_a);
  module.def("explain", &explain, "source"_a, "options"_a);
  module.def("verify", &verify, "source"_a, "options"_a, "arguments"_a,
             "accept_unverified"_a);
}
