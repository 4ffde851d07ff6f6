//===- Emit.cpp - The program at a stage ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Emit.h"

#include "Driver/Bundler.h"
#include "Driver/Constants.h"
#include "Graph/Constants.h"
#include "Runtime/OffloadBundle.h"
#include "Target/Backend.h"

#include "llvm/ADT/STLExtras.h"

using namespace tessera::execution;

/// Whether the code of a target has a form of this name.
static bool hasStage(const compiler::TargetBackend &backend, StringRef name) {
  return llvm::any_of(backend.getStages(),
                      [&](const auto &stage) { return stage.name == name; });
}

LogicalResult tessera::execution::checkStage(const EmitStage &stage,
                                             StringRef target, Report &report) {
  const compiler::TargetBackend *own = compiler::findBackend(target);
  if (stage.kind != EmitStage::Code || (own && hasStage(*own, stage.name)))
    return success();
  llvm::SmallVector<StringRef> owners;
  const compiler::TargetInfo *first = nullptr;
  for (const compiler::TargetBackend *backend : compiler::getBackends())
    if (hasStage(*backend, stage.name)) {
      const compiler::TargetInfo &info = backend->getInfo();
      first = first ? first : &info;
      owners.push_back(info.name);
      llvm::append_range(owners, info.aliases);
    }
  std::string text = owners.front().str();
  for (StringRef owner : llvm::drop_begin(owners))
    text += (owner == owners.back() ? " or " : ", ") + owner.str();
  return report.fail(Exit::Usage, "--emit=" + stage.name + " requires target " +
                                      text + ", but the target is " + target +
                                      "; use --target=" + first->name.str() +
                                      (first->getDefaultChip ? "" : ":CHIP"));
}

/// The stage of the compiler that the text is made from.
static compiler::Stage getCompilerStage(const EmitStage &stage) {
  switch (stage.kind) {
  case EmitStage::Schedule:
    return compiler::Stage::Schedule;
  case EmitStage::Tessera:
    return compiler::Stage::Tessera;
  case EmitStage::Vendor:
    return compiler::Stage::Vendor;
  default:
    return compiler::Stage::LLVM;
  }
}

static FailureOr<std::string> produce(const EmitStage &stage,
                                      mlir::ModuleOp module,
                                      const compiler::Chip &chip) {
  if (stage.kind == EmitStage::Code)
    return compiler::findBackend(chip.target)->emit(stage.name, module, chip);
  std::string text;
  if (stage.kind == EmitStage::Schedule)
    text = compiler::formatSchedules(module);
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

/// The program at a stage, for the options' chip. Changes `module`.
static FailureOr<std::string>
emitForChip(const ProgramOptions &programOptions,
            const compiler::CompileOptions &options, mlir::ModuleOp module,
            Report &report) {
  const EmitStage &stage = *programOptions.emit;
  const compiler::Chip *chip = compiler::findChip(options.target, options.chip);
  if (!chip ||
      failed(compiler::lowerToStage(module, getCompilerStage(stage), options)))
    return report.failDiagnosed("compiling");
  // The text is a program again, but for the weights of a model.
  if (!programOptions.isModel)
    compiler::restoreConstants(module);
  FailureOr<std::string> text = produce(stage, module, *chip);
  if (failed(text))
    return report.failDiagnosed("--emit=" + stage.name);
  return text;
}

/// One bundle of the code objects for all chips of --target.
static FailureOr<std::string>
emitBundle(const ProgramOptions &options,
           compiler::CompileOptions compileOptions, mlir::ModuleOp module,
           Report &report) {
  llvm::SmallVector<std::string> chips = {options.chip};
  llvm::append_range(chips, options.otherChips);
  std::vector<std::string> codes;
  for (const std::string &chip : chips) {
    compileOptions.chip = chip;
    mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
    FailureOr<std::string> code =
        emitForChip(options, compileOptions, *copy, report);
    if (failed(code))
      return failure();
    codes.push_back(std::move(*code));
  }
  std::vector<runtime::BundleEntry> entries;
  for (auto [chip, code] : llvm::zip_equal(chips, codes))
    entries.push_back({chip, code});
  runtime::Expected<std::string> bundle = runtime::writeOffloadBundle(entries);
  if (!bundle.ok())
    return report.fail(bundle.status());
  return bundle.take();
}

bool tessera::execution::isBinary(const EmitStage &stage) {
  const compiler::CodeStage *code = stage.kind == EmitStage::Code
                                        ? compiler::findCodeStage(stage.name)
                                        : nullptr;
  return stage.kind == EmitStage::Bundle || (code && code->isBinary);
}

FailureOr<std::string>
tessera::execution::emitProgram(const ProgramOptions &options,
                                const compiler::CompileOptions &compileOptions,
                                mlir::ModuleOp module, StringRef source,
                                StringRef file, Report &report) {
  std::string why;
  std::vector<compiler::TargetChip> targets = compiler::parseTargetList(
      options.targetText.empty() ? "cpu" : options.targetText, why);
  if (!why.empty())
    return report.fail(Exit::Usage, why);
  // A bundle holds the source as a module.
  std::string text;
  if (options.isModel) {
    text = compiler::printWithoutConstants(module);
    source = text;
  }
  FailureOr<runtime::Bundle> bundle =
      compiler::compileBundle(module, compileOptions, targets, source, file);
  if (failed(bundle))
    return report.failDiagnosed("compiling");
  return runtime::writeBundle(*bundle);
}

FailureOr<std::string>
tessera::execution::emitStage(const ProgramOptions &options,
                              const compiler::CompileOptions &compileOptions,
                              mlir::ModuleOp module, Report &report) {
  return options.otherChips.empty()
             ? emitForChip(options, compileOptions, module, report)
             : emitBundle(options, compileOptions, module, report);
}
