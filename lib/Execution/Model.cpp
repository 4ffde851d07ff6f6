//===- Model.cpp - Programs that are ONNX models --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Model.h"

#include "Import/ONNX/Import.h"
#include "Tuning/Suggestion.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera::execution;
namespace onnx = mlir::tessera::onnx;

mlir::OwningOpRef<mlir::ModuleOp> tessera::execution::importModel(
    ProgramOptions &options, const runtime::InputBytes *input,
    llvm::SourceMgr &sources, mlir::MLIRContext &context, Report &report) {
  std::string error;
  std::unique_ptr<onnx::Model> model;
  if (input) {
    model = onnx::readModel(options.file,
                            StringRef(input->bytes.data(), input->bytes.size()),
                            input->owner, error);
  } else {
    model = onnx::readModel(options.file, error);
  }
  if (!model) {
    (void)report.fail(Exit::Failed, error);
    return nullptr;
  }
  options.isModel = true;
  std::string listing = model->listing;
  // The cache distinguishes sizes by it.
  if (options.batchSize)
    listing += "batch " + std::to_string(*options.batchSize) + "\n";
  if (options.convertsToF16)
    listing += "converted to float16\n";
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(listing, options.file),
      llvm::SMLoc());
  onnx::ImportOptions importOptions;
  importOptions.batch = options.batchSize;
  importOptions.convertsToF16 = options.convertsToF16;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      onnx::importModel(*model, importOptions, context);
  if (!module)
    (void)report.failDiagnosed("importing the model");
  return module;
}

LogicalResult tessera::execution::resolveInputs(ProgramOptions &options,
                                                mlir::ModuleOp module,
                                                Report &report) {
  if (options.inputs.empty())
    return success();
  auto function = module.lookupSymbol<mlir::func::FuncOp>(options.entry);
  std::vector<StringRef> names;
  if (function)
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto name =
          function.getArgAttrOfType<mlir::StringAttr>(i, onnx::nameAttr);
      names.push_back(name ? name.getValue() : StringRef());
    }
  if (!options.arguments.empty())
    return report.fail(Exit::Usage, "--arg and --input are mutually exclusive");
  for (const auto &[name, spec] : options.inputs) {
    auto found = llvm::find(names, name);
    if (name.empty() || found == names.end()) {
      llvm::SmallVector<StringRef> known;
      llvm::copy_if(names, std::back_inserter(known),
                    [](StringRef text) { return !text.empty(); });
      std::string fix = known.empty()
                            ? "the program's arguments have no names; use --arg"
                            : "its inputs are " + llvm::join(known, ", ");
      return report.fail(Exit::Usage, "--input=" + name +
                                          ": the program has no such input; " +
                                          fix);
    }
    auto index = static_cast<size_t>(found - names.begin());
    // Those before it keep their defaults.
    if (options.arguments.size() <= index)
      options.arguments.resize(index + 1, "int");
    options.arguments[index] = spec;
  }
  return success();
}
