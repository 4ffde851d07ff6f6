//===- Source.cpp - A program that the caller gave as text ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Source.h"

#include "Driver/ParseProgram.h"
#include "Import/ONNX/Import.h"

#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace ::tessera::capi;

namespace capi = ::tessera::capi;
namespace compiler = mlir::tessera;

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

/// "FILE:LINE:COLUMN: message".
static std::string format(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  Location location = diagnostic.getLocation();
  if (auto fileLoc = location->findInstanceOf<FileLineColLoc>())
    stream << fileLoc.getFilename().getValue() << ":" << fileLoc.getLine()
           << ":" << fileLoc.getColumn() << ": ";
  stream << diagnostic.str();
  return text;
}

std::string capi::explainInvalid(const TesseraCompileOptions &options) {
  if (options.sourceKind < TESSERA_SOURCE_AUTO ||
      options.sourceKind > TESSERA_SOURCE_ONNX)
    return "sourceKind: " + std::to_string(options.sourceKind) +
           " is not a value of TesseraSourceKind";
  if (options.batch < 0)
    return "batch: " + std::to_string(options.batch) +
           " is not a size; pass a positive number, or 0 for a dynamic batch";
  return "";
}

static bool isModelSource(StringRef text,
                          const TesseraCompileOptions &options) {
  if (options.sourceKind == TESSERA_SOURCE_AUTO)
    return compiler::onnx::isModelFile(options.fileName ? options.fileName : "",
                                       text);
  return options.sourceKind == TESSERA_SOURCE_ONNX;
}

Source::Source(StringRef text, const TesseraCompileOptions &options)
    : text(text), options(options), isModel(isModelSource(text, options)),
      handler(&context, [this](Diagnostic &diagnostic) {
        take(diagnostic);
        return success();
      }) {
  compiler::prepareContext(context);
  context.printOpOnDiagnostic(false);
}

void Source::take(Diagnostic &diagnostic) {
  // MLIR calls the handler from one thread of the context at a time.
  std::string own = format(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes())
    own += "\n  note: " + format(note);
  diagnostics += (diagnostics.empty() ? "" : "\n") + own;
  if (options.handler)
    options.handler(options.handlerUser, translate(diagnostic.getSeverity()),
                    own.c_str());
  if (recorder)
    recorder(diagnostic);
}

Outcome Source::import() {
  std::string error;
  // The caller keeps the bytes.
  std::unique_ptr<compiler::onnx::Model> model = compiler::onnx::readModel(
      options.fileName ? options.fileName : "", text, /*owner=*/nullptr, error);
  if (!model)
    return {TESSERA_COMPILE_ERROR, error};
  compiler::onnx::ImportOptions importOptions;
  if (options.batch > 0)
    importOptions.batch = options.batch;
  module = compiler::onnx::importModel(*model, importOptions, context);
  if (!module)
    return {TESSERA_COMPILE_ERROR, diagnostics};
  return {};
}

std::string Source::getText() {
  if (!isModel)
    return text.str();
  std::string own;
  llvm::raw_string_ostream(own) << *module;
  return own;
}

Outcome Source::prepare(compiler::CompileOptions &compileOptions) {
  if (isModel) {
    if (Outcome outcome = import(); outcome.status != TESSERA_OK)
      return outcome;
  } else {
    if (options.batch > 0)
      return {TESSERA_INVALID_ARGUMENT,
              "batch: it sets the batch of an ONNX model, but the source is "
              "MLIR"};
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(text, getFile()), llvm::SMLoc());
    module = compiler::parseProgram(sources, context);
    if (!module)
      return {TESSERA_COMPILE_ERROR, diagnostics};
  }
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
  return {};
}
