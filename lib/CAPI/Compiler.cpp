//===- Compiler.cpp - The C API of the compiler ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tessera-c/Compiler.h"

#include "Driver/Bundler.h"
#include "Driver/LargeStack.h"
#include "Driver/ParseProgram.h"
#include "Driver/TargetList.h"
#include "Support.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using ::tessera::capi::fail;

namespace compiler = mlir::tessera;
namespace runtime = ::tessera::runtime;

static TesseraSeverity translate(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return TESSERA_NOTE;
  case DiagnosticSeverity::Warning:
    return TESSERA_WARNING;
  case DiagnosticSeverity::Error:
    return TESSERA_ERROR;
  case DiagnosticSeverity::Remark:
    return TESSERA_REMARK;
  }
  return TESSERA_ERROR;
}

namespace {
/// The diagnostics of a context, as the caller wants them.
class Diagnostics {
public:
  Diagnostics(MLIRContext &context, const TesseraCompileOptions &options)
      : options(options), handler(&context, [this](Diagnostic &diagnostic) {
          take(diagnostic);
          return success();
        }) {}

  /// All of them, a paragraph each.
  std::string text;

private:
  void take(Diagnostic &diagnostic) {
    // MLIR calls the handler from one thread of the context at a time.
    std::string own = spell(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      own += "\n  note: " + spell(note);
    text += (text.empty() ? "" : "\n") + own;
    if (options.handler)
      options.handler(options.handlerUser, translate(diagnostic.getSeverity()),
                      own.c_str());
  }

  /// "FILE:LINE:COLUMN: message".
  static std::string spell(Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    Location location = diagnostic.getLocation();
    if (auto place = location->findInstanceOf<FileLineColLoc>())
      stream << place.getFilename().getValue() << ":" << place.getLine() << ":"
             << place.getColumn() << ": ";
    stream << diagnostic.str();
    return text;
  }

  const TesseraCompileOptions &options;
  ScopedDiagnosticHandler handler;
};
} // namespace

namespace {
/// The result of a call. Error texts belong to the caller's thread.
struct Outcome {
  TesseraStatus status = TESSERA_OK;
  std::string text;
};
} // namespace

static Outcome compile(StringRef text, const TesseraCompileOptions &options,
                       ArrayRef<compiler::TargetChip> targets,
                       TesseraProgram **program) {
  MLIRContext context;
  compiler::prepareContext(context);
  context.printOpOnDiagnostic(false);
  Diagnostics diagnostics(context, options);
  const char *file = options.fileName ? options.fileName : "<text>";
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, file),
                             llvm::SMLoc());
  OwningOpRef<ModuleOp> module = compiler::parseProgram(sources, context);
  if (!module)
    return {TESSERA_COMPILE_ERROR, diagnostics.text};

  compiler::CompileOptions compileOptions;
  compileOptions.entry = options.entry ? options.entry : "";
  compiler::CompileFlags &flags = compileOptions.flags;
  flags.allowTf32 = options.allowTf32;
  flags.allowFastF8 = options.allowFastF8;
  flags.requireMatrixUnit = options.requireMatrixUnit;
  std::string why =
      compiler::parseFlags(options.flags ? options.flags : "", flags);
  if (!why.empty())
    return {TESSERA_INVALID_ARGUMENT, "flags: " + why};
  compileOptions.tuned = compiler::findTunedSchedules(
      options.scheduleDb ? options.scheduleDb : "", why);
  if (!why.empty())
    return {TESSERA_INVALID_ARGUMENT, "scheduleDb: " + why};
  FailureOr<runtime::Bundle> bundle = compiler::compileBundle(
      *module, compileOptions, targets, options.omitSource ? "" : text,
      options.omitSource ? "" : file);
  if (failed(bundle))
    return {TESSERA_COMPILE_ERROR, diagnostics.text};
  *program = ::tessera::capi::makeProgram(std::move(*bundle)).release();
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
