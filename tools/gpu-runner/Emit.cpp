//===- Emit.cpp - The program at a stage ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit.h"

#include "Driver/Bundler.h"
#include "Runtime/OffloadBundle.h"
#include "Runtime/OutputFile.h"

#include "llvm/ADT/STLExtras.h"

using namespace runner;

/// The target that a stage belongs to; empty if all have it.
static StringRef getTargetOf(EmitStage stage) {
  switch (stage) {
  case EmitStage::PTX:
  case EmitStage::Cubin:
    return "cuda";
  case EmitStage::AMDGCN:
  case EmitStage::HSACO:
    return "hip";
  case EmitStage::Object:
  case EmitStage::Assembly:
    return "cpu";
  case EmitStage::SPIRV:
  case EmitStage::SPIRVAssembly:
    return "vulkan";
  case EmitStage::Schedule:
  case EmitStage::Tessera:
  case EmitStage::Vendor:
  case EmitStage::LLVM:
  case EmitStage::Bundle:
    break;
  }
  return "";
}

LogicalResult runner::checkStage(EmitStage stage, StringRef target,
                                 Report &report) {
  StringRef owner = getTargetOf(stage);
  if (owner.empty() || owner == target ||
      (owner == "vulkan" && compiler::isSpirvTarget(target)))
    return success();
  return report.fail(
      Exit::Usage, "--emit=" + getStageName(stage) + " requires target " +
                       owner +
                       (owner == "vulkan" ? ", opencl or level-zero" : "") +
                       ", but the target is " + target + "; say " +
                       (owner == "cpu" ? "--target=cpu"
                                       : "--target=" + owner.str() + ":CHIP"));
}

/// The stage of the compiler that the text is made from.
static compiler::Stage getCompilerStage(EmitStage stage) {
  switch (stage) {
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

static FailureOr<std::string> produce(EmitStage stage, mlir::ModuleOp module,
                                      const compiler::Chip &chip) {
  switch (stage) {
  case EmitStage::PTX:
    return compiler::translateToPTX(module, chip);
  case EmitStage::Cubin: {
    FailureOr<std::string> ptx = compiler::translateToPTX(module, chip);
    if (failed(ptx))
      return failure();
    std::string log;
    return compiler::assemblePTX(module, *ptx, chip, log);
  }
  case EmitStage::AMDGCN:
    return compiler::translateToAMDGCN(module, chip);
  case EmitStage::HSACO:
    return compiler::translateToHSACO(module, chip);
  case EmitStage::Object:
    return compiler::translateToObject(module, chip);
  case EmitStage::Assembly:
    return compiler::translateToObject(module, chip, /*assembly=*/true);
  case EmitStage::SPIRV:
    return compiler::translateToSPIRV(module, chip);
  case EmitStage::SPIRVAssembly:
    return compiler::translateToSPIRV(module, chip, /*assembly=*/true);
  default: {
    std::string text;
    if (stage == EmitStage::Schedule)
      text = compiler::spellSchedules(module);
    llvm::raw_string_ostream(text) << module << "\n";
    return text;
  }
  }
}

/// The program at a stage, for the options' chip. Changes `module`.
static FailureOr<std::string>
emitForChip(EmitStage stage, const compiler::CompileOptions &options,
            mlir::ModuleOp module, Report &report) {
  const compiler::Chip *chip = compiler::findChip(options.target, options.chip);
  if (!chip ||
      failed(compiler::lowerToStage(module, getCompilerStage(stage), options)))
    return report.failDiagnosed("compiling");
  FailureOr<std::string> text = produce(stage, module, *chip);
  if (failed(text))
    return report.failDiagnosed("--emit=" + getStageName(stage));
  return text;
}

/// One bundle of the code objects for all chips of --target.
static FailureOr<std::string>
emitBundle(const Options &options, compiler::CompileOptions compileOptions,
           mlir::ModuleOp module, Report &report) {
  llvm::SmallVector<std::string> chips = {options.chip};
  llvm::append_range(chips, options.otherChips);
  std::vector<std::string> codes;
  for (const std::string &chip : chips) {
    compileOptions.chip = chip;
    mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
    FailureOr<std::string> code =
        emitForChip(*options.emit, compileOptions, *copy, report);
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

/// Refuses to write what is no text to a terminal.
static LogicalResult checkOutput(const Options &options, Report &report) {
  EmitStage stage = *options.emit;
  bool isBinary = stage == EmitStage::Cubin || stage == EmitStage::HSACO ||
                  stage == EmitStage::Object || stage == EmitStage::SPIRV ||
                  stage == EmitStage::Bundle;
  if (isBinary && options.outputFile.empty() && llvm::outs().is_displayed())
    return report.fail(Exit::Usage, "--emit=" + getStageName(stage) +
                                        " is binary: add -o FILE");
  return success();
}

/// Where -o says.
static LogicalResult write(const Options &options, StringRef text,
                           Report &report) {
  if (options.outputFile.empty() || options.outputFile == "-") {
    llvm::outs() << text;
    llvm::outs().flush();
    if (std::error_code error = llvm::outs().error()) {
      llvm::outs().clear_error();
      return report.fail(Exit::Failed,
                         "cannot write to standard output: " + error.message());
    }
    return success();
  }
  runtime::Status status = runtime::writeFile(options.outputFile, {text});
  return status.ok() ? success() : report.fail(status);
}

LogicalResult runner::emitProgram(
    const Options &options, const compiler::CompileOptions &compileOptions,
    mlir::ModuleOp module, StringRef source, StringRef file, Report &report) {
  if (failed(checkOutput(options, report)))
    return failure();
  std::string why;
  std::vector<compiler::TargetChip> targets = compiler::parseTargetList(
      options.targetText.empty() ? "cpu" : options.targetText, why);
  if (!why.empty())
    return report.fail(Exit::Usage, why);
  FailureOr<runtime::Bundle> bundle =
      compiler::compileBundle(module, compileOptions, targets, source, file);
  if (failed(bundle))
    return report.failDiagnosed("compiling");
  return write(options, runtime::writeBundle(*bundle), report);
}

LogicalResult runner::emitStage(const Options &options,
                                const compiler::CompileOptions &compileOptions,
                                mlir::ModuleOp module, Report &report) {
  EmitStage stage = *options.emit;
  if (failed(checkOutput(options, report)))
    return failure();
  FailureOr<std::string> text =
      options.otherChips.empty()
          ? emitForChip(stage, compileOptions, module, report)
          : emitBundle(options, compileOptions, module, report);
  if (failed(text))
    return failure();
  return write(options, *text, report);
}
