//===- NameKernels.cpp - Give every kernel a name of its own --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERANAMEKERNELS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-name-kernels"

STATISTIC(numNamedKernels, "Number of kernels named");

using namespace mlir;

namespace {

struct NameKernelsPass
    : public tessera::impl::TesseraNameKernelsBase<NameKernelsPass> {
  void runOnOperation() override {
    llvm::StringSet<> taken;
    getOperation().walk(
        [&](SymbolOpInterface symbol) { taken.insert(symbol.getName()); });
    getOperation().walk([&](gpu::LaunchOp launch) {
      if (auto name = launch.getFunctionAttr())
        taken.insert(name.getValue());
    });
    SmallVector<NamedAttribute> schedules, origins, predictions, matmuls,
        packings;
    getOperation().walk([&](gpu::LaunchOp launch) {
      nameKernel(launch, taken);
      auto keep = [&](StringRef attribute, SmallVector<NamedAttribute> &list) {
        Attribute value = launch->getAttr(attribute);
        if (value && launch.getFunctionAttr())
          list.emplace_back(
              StringAttr::get(&getContext(),
                              launch.getFunctionAttr().getValue()),
              value);
      };
      keep(tessera::TesseraDialect::ScheduleAttrHelper::getNameStr(),
           schedules);
      keep(tessera::windowScheduleName, schedules);
      keep(tessera::TesseraDialect::ScheduleOriginAttrHelper::getNameStr(),
           origins);
      keep(tessera::TesseraDialect::SchedulePredictionAttrHelper::getNameStr(),
           predictions);
      keep(tessera::TesseraDialect::PlainMatmulAttrHelper::getNameStr(),
           matmuls);
      keep(tessera::TesseraDialect::PackingAttrHelper::getNameStr(), packings);
      keep(tessera::TesseraDialect::PurposeAttrHelper::getNameStr(), packings);
    });
    if (!schedules.empty())
      getOperation()->setAttr(
          tessera::TesseraDialect::SchedulesAttrHelper::getNameStr(),
          DictionaryAttr::get(&getContext(), schedules));
    if (!origins.empty())
      getOperation()->setAttr(
          tessera::TesseraDialect::ScheduleOriginsAttrHelper::getNameStr(),
          DictionaryAttr::get(&getContext(), origins));
    if (!predictions.empty())
      getOperation()->setAttr(
          tessera::TesseraDialect::SchedulePredictionsAttrHelper::getNameStr(),
          DictionaryAttr::get(&getContext(), predictions));
    if (!matmuls.empty())
      getOperation()->setAttr(
          tessera::TesseraDialect::PlainMatmulsAttrHelper::getNameStr(),
          DictionaryAttr::get(&getContext(), matmuls));
    if (!packings.empty())
      getOperation()->setAttr(
          tessera::TesseraDialect::PackingsAttrHelper::getNameStr(),
          DictionaryAttr::get(&getContext(), packings));
  }

  void nameKernel(gpu::LaunchOp launch, llvm::StringSet<> &taken) {
    if (launch.getFunctionAttr() || launch.getModuleAttr())
      return;
    StringRef kind =
        launch->hasAttr(
            tessera::TesseraDialect::PackingAttrHelper::getNameStr())
            ? "_repack"
            : "_kernel";
    std::string base = ("anonymous" + kind).str();
    if (auto function = launch->getParentOfType<SymbolOpInterface>())
      base = (function.getName() + kind).str();
    // The characters that are valid in names for all targets.
    for (char &letter : base)
      if (!llvm::isAlnum(letter) && letter != '_' && letter != '$')
        letter = '_';
    std::string name = base;
    for (unsigned i = 1; !taken.insert(name).second; ++i)
      name = base + "_" + std::to_string(i);
    LDBG() << launch.getLoc() << ": " << name;
    ++numNamedKernels;
    launch.setFunctionAttr(FlatSymbolRefAttr::get(&getContext(), name));
    launch.setModuleAttr(FlatSymbolRefAttr::get(&getContext(), name));
  }
};

} // namespace
