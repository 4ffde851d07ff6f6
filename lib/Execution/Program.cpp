//===- Program.cpp - Arguments and results of an entry --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Program.h"

#include "Driver/Constants.h"
#include "Driver/EntrySignature.h"
#include "Driver/ParseProgram.h"
#include "Execution/BundledProgram.h"
#include "Execution/Model.h"
#include "Import/ONNX/Model.h"
#include "Runtime/InputFile.h"
#include "Tuning/Suggestion.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera::execution;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads a model, a bundle or a module's text.
static mlir::OwningOpRef<mlir::ModuleOp>
readSource(ProgramOptions &options, std::optional<runtime::Bundle> &bundle,
           llvm::SourceMgr &sources, mlir::MLIRContext &context,
           Report &report) {
  // Models are mapped, not read.
  if (mlir::tessera::onnx::isModelFile(options.file, ""))
    return importModel(options, /*bytes=*/nullptr, sources, context, report);
  // So are the constants of a bundle.
  runtime::Expected<runtime::InputBytes> input =
      runtime::mapInputFile(options.file);
  if (!input.ok()) {
    (void)report.fail(Exit::Usage, "cannot read '" + options.file +
                                       "': " + input.status().message());
    return nullptr;
  }
  StringRef bytes(input->bytes.data(), input->bytes.size());
  if (mlir::tessera::onnx::isModelFile("", bytes))
    return importModel(options, &*input, sources, context, report);
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  if (runtime::isBundle(input->bytes)) {
    if (failed(openBundle(*input, options, bundle.emplace(), report)))
      return nullptr;
    buffer = llvm::MemoryBuffer::getMemBufferCopy(bundle->source, bundle->file);
  } else {
    buffer = llvm::MemoryBuffer::getMemBufferCopy(
        bytes, options.file == "-" ? "<stdin>" : options.file);
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler::parseProgram(sources, context);
  if (!module)
    (void)report.failDiagnosed("reading the program");
  else if (bundle)
    compiler::attachConstants(context, bundle->constants);
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> tessera::execution::readProgram(
    ProgramOptions &options, std::optional<runtime::Bundle> &bundle,
    llvm::SourceMgr &sources, mlir::MLIRContext &context, Report &report) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      readSource(options, bundle, sources, context, report);
  if (!module)
    return nullptr;
  if (options.batchSize && !options.isModel) {
    (void)report.fail(Exit::Usage,
                      "--batch=" + llvm::Twine(*options.batchSize) +
                          " sets the batch of an ONNX model, but '" +
                          options.file + "' is not one");
    return nullptr;
  }
  if (options.convertsToF16 && !options.isModel) {
    (void)report.fail(Exit::Usage,
                      "--convert=f16 converts an ONNX model, but '" +
                          options.file + "' is not one");
    return nullptr;
  }
  if (failed(resolveInputs(options, *module, report)))
    return nullptr;
  return module;
}

static LogicalResult describe(std::vector<Slot> &slots, mlir::TypeRange types,
                              bool isResult, mlir::func::FuncOp function,
                              Report &report) {
  for (auto [i, type] : llvm::enumerate(types)) {
    Slot slot;
    slot.type = type;
    std::string why;
    if (!compiler::describeSlot(type, slot, why)) {
      mlir::Location location =
          isResult ? function.getLoc() : function.getArgument(i).getLoc();
      mlir::InFlightDiagnostic diagnostic =
          mlir::emitError(location)
          << (isResult ? "result " : "argument ") << i << " of entry point '"
          << function.getName() << "' is of type " << type
          << ", which gpu-runner cannot pass: the arguments and results of an "
             "entry point must be ranked tensors, memrefs or scalars";
      if (!why.empty())
        diagnostic.attachNote() << why;
      diagnostic.report();
      return report.failDiagnosed("the entry");
    }
    slots.push_back(std::move(slot));
  }
  return success();
}

LogicalResult tessera::execution::findEntry(mlir::ModuleOp module,
                                            StringRef name, Entry &entry,
                                            Report &report) {
  llvm::SmallVector<StringRef> names;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function.isExternal())
      names.push_back(function.getName());
    if (function.getName() == name)
      entry.function = function;
  }
  if (!entry.function) {
    if (names.empty())
      return report.fail(
          Exit::Usage,
          "no entry point '" + name +
              "': the program does not contain a func.func with a body");
    StringRef nearest = compiler::tuning::findNearest(name, names);
    std::string fix = "; choose one with --entry=" +
                      (nearest.empty() ? names.front() : nearest).str();
    (void)report.fail(Exit::Usage, "no entry point '" + name + "'" + fix);
    report.note("the program has " + llvm::join(names, ", "));
    return failure();
  }
  if (entry.function.isExternal())
    return report.fail(Exit::Usage,
                       "entry '" + name +
                           "' is only declared; it does not have a body");
  mlir::FunctionType type = entry.function.getFunctionType();
  if (failed(describe(entry.arguments, type.getInputs(), /*isResult=*/false,
                      entry.function, report)) ||
      failed(describe(entry.results, type.getResults(), /*isResult=*/true,
                      entry.function, report)))
    return failure();
  for (auto [slot, value] :
       llvm::zip_equal(entry.arguments, entry.function.getArguments())) {
    if (slot.kind == Slot::MemRef)
      slot.mayWrite = compiler::mayWrite(value);
    if (slot.kind != Slot::Tensor)
      continue;
    auto writable = entry.function.getArgAttrOfType<mlir::BoolAttr>(
        value.getArgNumber(),
        mlir::bufferization::BufferizationDialect::kWritableAttrName);
    slot.mayOverwrite = writable && writable.getValue();
  }
  return success();
}
