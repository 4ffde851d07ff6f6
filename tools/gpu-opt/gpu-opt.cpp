//===- gpu-opt.cpp - Runs MLIR's and Tessera's passes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImportOnnx.h"
#include "Pipelines/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/ManagedStatic.h"
#include "llvm/Support/raw_ostream.h"

#ifndef NDEBUG
/// Adds `--debug` and `--debug-only`. LLVM has them only if it is built with
/// assertions, but its part of LLVM_DEBUG works without them.
static void addDebugOptions() {
  using namespace llvm;
  if (cl::getRegisteredOptions().contains("debug-only"))
    return;
  static cl::opt<bool, true> all("debug", cl::desc("Enable debug output"),
                                 cl::location(DebugFlag));
  static cl::list<std::string> only(
      "debug-only", cl::desc("Enable debug output of these DEBUG_TYPEs"),
      cl::value_desc("type[:level],..."), cl::CommaSeparated);
  only.setCallback([](const std::string &type) {
    static std::vector<std::string> types;
    types.push_back(type);
    SmallVector<const char *> names;
    for (const std::string &name : types)
      names.push_back(name.c_str());
    setCurrentDebugTypes(names.data(), names.size());
    DebugFlag = true;
  });
}
#endif

namespace {
/// Prints the STATISTICs of passes after the statistics of the pass manager,
/// which are empty if LLVM is built without assertions. MlirOptMain shuts LLVM
/// down before it returns, so this object's end is the last opportunity.
struct StatisticsPrinter {
  StatisticsPrinter() {
    mlir::registerPassManagerCLOptions();
    option = llvm::cl::getRegisteredOptions().lookup("mlir-pass-statistics");
    llvm::EnableStatistics(/*DoPrintOnExit=*/false);
    // LLVM's table now exists, and so ends after this object.
    llvm::GetStatistics();
  }
  ~StatisticsPrinter() {
    if (!option || option->getNumOccurrences() == 0)
      return;
#ifndef NDEBUG
    llvm::PrintStatistics(llvm::errs());
#else
    llvm::errs() << "Statistics of Tessera's passes are disabled: build with "
                    "TESSERA_ASSERTIONS=ON\n";
#endif
  }

  llvm::cl::Option *option;
};
} // namespace

static llvm::ManagedStatic<StatisticsPrinter> statisticsPrinter;

int main(int argc, char **argv) {
  if (wantsImport(argc, argv))
    return runImport(argc, argv);
#ifndef NDEBUG
  addDebugOptions();
#endif
  *statisticsPrinter;
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  // For gpu-module-to-binary.
  mlir::registerAllGPUToLLVMIRTranslations(registry);
  mlir::tessera::registerTesseraDialects(registry);

  mlir::registerAllPasses();
  mlir::tessera::registerTesseraPasses();

  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera optimizer driver\n", registry));
}
