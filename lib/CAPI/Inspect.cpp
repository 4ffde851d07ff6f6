//===- Inspect.cpp - The C API that explains and verifies programs --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Debugging/VerifyProgram.h"
#include "Driver/LargeStack.h"
#include "Driver/TargetList.h"
#include "Execution/Program.h"
#include "Report/Explain.h"
#include "Source.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>

using namespace mlir;
using namespace ::tessera::capi;
namespace execution = ::tessera::execution;

namespace compiler = mlir::tessera;

/// A copy that the caller frees; null without memory.
static char *copy(const std::string &text) {
  auto *made = static_cast<char *>(std::malloc(text.size() + 1));
  if (made)
    std::memcpy(made, text.c_str(), text.size() + 1);
  return made;
}

void tesseraStringFree(char *text) { std::free(text); }

/// Stores the JSON object of a report, if the caller wants it.
static Outcome store(execution::Report &report, char **json) {
  if (!json)
    return {};
  std::string text =
      llvm::formatv("{0:2}", llvm::json::Value(std::move(report.root)));
  *json = copy(text);
  if (!*json)
    return {TESSERA_OUT_OF_MEMORY, "no memory for the report"};
  return {};
}

static Outcome explain(llvm::StringRef text,
                       const TesseraCompileOptions &options,
                       const compiler::TargetChip &target, char **json) {
  Source source(text, options);
  compiler::CompileOptions compileOptions;
  if (Outcome outcome = source.prepare(compileOptions);
      outcome.status != TESSERA_OK)
    return outcome;
  compileOptions.target = target.name;
  compileOptions.chip = target.chip;
  std::unique_ptr<compiler::CompiledProgram> program =
      compiler::compileProgram(*source.module, compileOptions);
  if (!program)
    return {TESSERA_COMPILE_ERROR, source.getDiagnostics()};
  execution::Report report = execution::Report::makeQuiet();
  report.root["target"] = target.name;
  report.root["chip"] = target.chip;
  // Sizes are those of the program alone.
  std::vector<execution::MatmulWork> work;
  execution::Report quiet = execution::Report::makeQuiet();
  execution::Entry entry;
  if (succeeded(execution::findEntry(*source.module,
                                     options.entry ? options.entry : "main",
                                     entry, quiet)))
    work = execution::collectWork(entry, {});
  execution::explain(*program, *compiler::findChip(target.name, target.chip),
                     execution::CacheUse(), /*device=*/nullptr, {}, work,
                     /*print=*/false, llvm::nulls(), report);
  return store(report, json);
}

static Outcome verify(llvm::StringRef text,
                      const TesseraCompileOptions &options,
                      const TesseraVerifyOptions &given, int *passed,
                      char **json) {
  Source source(text, options);
  compiler::CompileOptions compileOptions;
  if (Outcome outcome = source.prepare(compileOptions);
      outcome.status != TESSERA_OK)
    return outcome;
  execution::Report report = execution::Report::makeQuiet();
  source.setRecorder(
      [&](const Diagnostic &diagnostic) { report.record(diagnostic); });
  execution::ProgramOptions run;
  run.verify = true;
  run.flags = compileOptions.flags;
  run.acceptUnverified = given.acceptUnverified;
  if (options.entry)
    run.entry = options.entry;
  for (size_t i = 0; i < given.numArguments; ++i)
    run.arguments.push_back(given.arguments[i]);
  if (succeeded(execution::parseTarget(options.target ? options.target : "cpu",
                                       run, report, "target")))
    (void)execution::verifyProgram(run, compileOptions, *source.module, report);
  std::string why =
      report.root.getString("error").value_or("the program failed").str();
  switch (report.exit()) {
  case execution::Exit::Done:
  case execution::Exit::WrongNumbers:
    *passed = report.exit() == execution::Exit::Done;
    return store(report, json);
  case execution::Exit::Usage:
    return {TESSERA_INVALID_ARGUMENT, why};
  case execution::Exit::NoDevice:
    return {TESSERA_NO_DEVICE, why};
  case execution::Exit::Failed:
    break;
  }
  if (!source.getDiagnostics().empty())
    return {TESSERA_COMPILE_ERROR, source.getDiagnostics()};
  return {TESSERA_INTERNAL, why};
}

/// Copies the caller's options.
static bool read(TesseraCompileOptions &options,
                 const TesseraCompileOptions *given) {
  return !given || readStruct(options, *given);
}

TesseraStatus tesseraExplain(const char *source, size_t size,
                             const TesseraCompileOptions *given, char **json) {
  if (!source || !json)
    return fail(TESSERA_INVALID_ARGUMENT,
                "an argument of tesseraExplain is null");
  *json = nullptr;
  TesseraCompileOptions options = {};
  if (!read(options, given))
    return fail(TESSERA_INVALID_ARGUMENT,
                "options->structSize is not set; set it to "
                "sizeof(TesseraCompileOptions)");
  std::string why = explainInvalid(options);
  if (!why.empty())
    return fail(TESSERA_INVALID_ARGUMENT, why);
  std::vector<compiler::TargetChip> targets =
      compiler::parseTargetList(options.target ? options.target : "cpu", why);
  if (why.empty() && targets.size() != 1)
    why = "tesseraExplain requires one target, but " +
          std::to_string(targets.size()) + " are given";
  if (!why.empty())
    return fail(TESSERA_INVALID_ARGUMENT, why);
  Outcome outcome;
  compiler::runOnLargeStack([&] {
    outcome =
        explain(llvm::StringRef(source, size), options, targets.front(), json);
  });
  return outcome.status == TESSERA_OK
             ? TESSERA_OK
             : fail(outcome.status, std::move(outcome.text));
}

TesseraStatus tesseraVerify(const char *source, size_t size,
                            const TesseraCompileOptions *given,
                            const TesseraVerifyOptions *givenVerify,
                            int *passed, char **json) {
  if (!source || !passed)
    return fail(TESSERA_INVALID_ARGUMENT,
                "an argument of tesseraVerify is null");
  *passed = 0;
  if (json)
    *json = nullptr;
  TesseraCompileOptions options = {};
  TesseraVerifyOptions verifyOptions = {};
  if (!read(options, given) ||
      (givenVerify && !readStruct(verifyOptions, *givenVerify)))
    return fail(TESSERA_INVALID_ARGUMENT,
                "structSize of the options is not set; set it to sizeof of "
                "their structure");
  if (std::string why = explainInvalid(options); !why.empty())
    return fail(TESSERA_INVALID_ARGUMENT, why);
  for (size_t i = 0; i < verifyOptions.numArguments; ++i)
    if (!verifyOptions.arguments || !verifyOptions.arguments[i])
      return fail(TESSERA_INVALID_ARGUMENT,
                  "arguments[" + std::to_string(i) + "] is null");
  Outcome outcome;
  compiler::runOnLargeStack([&] {
    outcome = verify(llvm::StringRef(source, size), options, verifyOptions,
                     passed, json);
  });
  return outcome.status == TESSERA_OK
             ? TESSERA_OK
             : fail(outcome.status, std::move(outcome.text));
}
