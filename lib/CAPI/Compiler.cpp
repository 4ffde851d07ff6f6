//===- Compiler.cpp - The C API of the compiler ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tessera-c/Compiler.h"

#include "Driver/Bundler.h"
#include "Driver/LargeStack.h"
#include "Driver/TargetList.h"
#include "Import/ONNX/Import.h"
#include "Runtime/InputFile.h"
#include "Source.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace ::tessera::capi;

namespace compiler = mlir::tessera;
namespace runtime = ::tessera::runtime;

static Outcome compile(StringRef text, const TesseraCompileOptions &options,
                       ArrayRef<compiler::TargetChip> targets,
                       TesseraProgram **program) {
  Source source(text, options);
  compiler::CompileOptions compileOptions;
  if (Outcome outcome = source.prepare(compileOptions);
      outcome.status != TESSERA_OK)
    return outcome;
  FailureOr<runtime::Bundle> bundle =
      compiler::compileBundle(*source.module, compileOptions, targets,
                              options.omitSource ? "" : source.getText(),
                              options.omitSource ? "" : source.getFile());
  if (failed(bundle))
    return {TESSERA_COMPILE_ERROR, source.getDiagnostics()};
  auto made = ::tessera::capi::makeProgram(runtime::writeBundle(*bundle));
  if (!made.ok())
    return {TESSERA_INTERNAL, made.status().message()};
  *program = made.take().release();
  return {};
}

/// Copies and checks the caller's options.
static Outcome readOptions(const TesseraCompileOptions *given,
                           TesseraCompileOptions &options) {
  if (given && !::tessera::capi::readStruct(options, *given))
    return {TESSERA_INVALID_ARGUMENT,
            "options->structSize is not set; set it to "
            "sizeof(TesseraCompileOptions)"};
  if (std::string why = ::tessera::capi::explainInvalid(options); !why.empty())
    return {TESSERA_INVALID_ARGUMENT, why};
  return {};
}

/// Compiles a program whose options are checked.
static TesseraStatus compileSource(StringRef source,
                                   const TesseraCompileOptions &options,
                                   TesseraProgram **program) {
  std::string why;
  std::vector<compiler::TargetChip> targets =
      compiler::parseTargetList(options.target ? options.target : "cpu", why);
  if (!why.empty())
    return fail(TESSERA_INVALID_ARGUMENT, why);
  Outcome outcome;
  compiler::runOnLargeStack(
      [&] { outcome = compile(source, options, targets, program); });
  return outcome.status == TESSERA_OK
             ? TESSERA_OK
             : fail(outcome.status, std::move(outcome.text));
}

TesseraStatus tesseraCompile(const char *source, size_t size,
                             const TesseraCompileOptions *given,
                             TesseraProgram **program) {
  if (!source || !program)
    return fail(TESSERA_INVALID_ARGUMENT,
                "an argument of tesseraCompile is null");
  *program = nullptr;
  TesseraCompileOptions options = {};
  if (Outcome outcome = readOptions(given, options);
      outcome.status != TESSERA_OK)
    return fail(outcome.status, std::move(outcome.text));
  return compileSource(StringRef(source, size), options, program);
}

TesseraStatus tesseraCompileFile(const char *path,
                                 const TesseraCompileOptions *given,
                                 TesseraProgram **program) {
  if (!path || !program)
    return fail(TESSERA_INVALID_ARGUMENT,
                "an argument of tesseraCompileFile is null");
  *program = nullptr;
  TesseraCompileOptions options = {};
  if (Outcome outcome = readOptions(given, options);
      outcome.status != TESSERA_OK)
    return fail(outcome.status, std::move(outcome.text));
  options.fileName = path;
  auto failRead = [&](const std::string &why) {
    return fail(TESSERA_INVALID_ARGUMENT,
                "cannot read '" + std::string(path) + "': " + why);
  };
  // Models are mapped, not read.
  if (options.sourceKind == TESSERA_SOURCE_ONNX ||
      (options.sourceKind == TESSERA_SOURCE_AUTO &&
       compiler::onnx::isModelFile(path, ""))) {
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      return failRead(file.getError().message());
    return compileSource((*file)->getBuffer(), options, program);
  }
  runtime::Expected<std::string> bytes = runtime::readInputFile(path);
  if (!bytes.ok())
    return failRead(bytes.status().message());
  return compileSource(*bytes, options, program);
}
