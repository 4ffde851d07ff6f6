//===- Compiler.cpp - The C API of the compiler ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tessera-c/Compiler.h"

#include "Driver/Bundler.h"
#include "Driver/LargeStack.h"
#include "Driver/TargetList.h"
#include "Source.h"

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
  FailureOr<runtime::Bundle> bundle = compiler::compileBundle(
      *source.module, compileOptions, targets, options.omitSource ? "" : text,
      options.omitSource ? "" : source.getFile());
  if (failed(bundle))
    return {TESSERA_COMPILE_ERROR, source.getDiagnostics()};
  auto made = ::tessera::capi::makeProgram(runtime::writeBundle(*bundle));
  if (!made.ok())
    return {TESSERA_INTERNAL, made.status().message()};
  *program = made.take().release();
  return {};
}

TesseraStatus tesseraCompile(const char *source, size_t size,
                             const TesseraCompileOptions *given,
                             TesseraProgram **program) {
  if (!source || !program)
    return fail(TESSERA_INVALID_ARGUMENT,
                "an argument of tesseraCompile is null");
  *program = nullptr;
  TesseraCompileOptions options = {};
  if (given && !::tessera::capi::readStruct(options, *given))
    return fail(TESSERA_INVALID_ARGUMENT,
                "options->structSize is not set; set it to "
                "sizeof(TesseraCompileOptions)");
  std::string why;
  std::vector<compiler::TargetChip> targets =
      compiler::parseTargetList(options.target ? options.target : "cpu", why);
  if (!why.empty())
    return fail(TESSERA_INVALID_ARGUMENT, why);
  Outcome outcome;
  compiler::runOnLargeStack([&] {
    outcome = compile(StringRef(source, size), options, targets, program);
  });
  return outcome.status == TESSERA_OK
             ? TESSERA_OK
             : fail(outcome.status, std::move(outcome.text));
}
