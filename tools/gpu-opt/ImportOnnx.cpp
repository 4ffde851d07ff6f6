//===- ImportOnnx.cpp - gpu-opt --import=onnx -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportOnnx.h"

#include "Import/ONNX/Import.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

bool wantsImport(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]).ltrim('-').starts_with("import="))
      return true;
  return false;
}

int runImport(int argc, char **argv) {
  namespace cl = llvm::cl;
  cl::opt<std::string> format("import", cl::desc("The format: onnx"));
  cl::opt<std::string> input(cl::Positional, cl::desc("<model>"));
  cl::opt<std::string> output("o", cl::desc("Output file"), cl::init("-"));
  cl::opt<int64_t> batch(
      "batch", cl::desc("Size of inputs' open first dimensions"), cl::init(0));
  cl::opt<std::string> convert(
      "convert", cl::desc("f16: computes in float16 instead of float32"));
  cl::opt<bool> operators("print-operators",
                          cl::desc("Print the supported operators instead"));
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  cl::ParseCommandLineOptions(argc, argv, "Imports a model\n");
  if (format != "onnx") {
    llvm::errs() << "error: unknown format '" << format
                 << "' for --import; expected onnx\n";
    return 2;
  }
  if (operators) {
    tessera::onnx::printOperators(llvm::outs());
    return 0;
  }
  if (!convert.empty() && convert != "f16") {
    llvm::errs() << "error: unknown type '" << convert
                 << "' for --convert; expected f16\n";
    return 2;
  }
  std::string error;
  std::unique_ptr<tessera::onnx::Model> model =
      tessera::onnx::readModel(input, error);
  if (!model) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  MLIRContext context;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(model->listing, input),
      llvm::SMLoc());
  SourceMgrDiagnosticHandler printer(sources, &context, llvm::errs());
  context.printOpOnDiagnostic(false);
  tessera::onnx::ImportOptions options;
  if (batch > 0)
    options.batch = batch;
  options.convertsToF16 = convert == "f16";
  OwningOpRef<ModuleOp> module =
      tessera::onnx::importModel(*model, options, context);
  if (!module)
    return 1;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(output, &error);
  if (!file) {
    llvm::errs() << "error: " << error << "\n";
    return 1;
  }
  module->print(file->os());
  file->os() << "\n";
  file->keep();
  return 0;
}
