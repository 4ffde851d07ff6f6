//===- Bundler.cpp - Programs for bundles ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Bundler.h"

#include "Driver/EntrySignature.h"
#include "ProgramConstants.h"
#include "TargetInfo/Emulation.h"
#include "TargetInfo/ReportedChip.h"
#include "TargetInfo/TargetInfo.h"
#include "TransposedConstants.h"

#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace mlir::tessera;

/// The CPU level that the host code requires, in the format of
/// `ProgramVariant::host`.
static std::string formatHost(const CompileOptions &options) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  StringRef chip = "generic";
  if (isHostTarget(options.target)) {
    const Chip *found = findChip(options.target, options.chip);
    chip =
        !found || isEmulated(*found) ? getHostChip() : StringRef(found->name);
  }
  if (chip != "generic")
    return chip.str();
  return triple.isX86() ? "x86-64" : triple.getArchName().str();
}

/// The entries, or an error.
static FailureOr<std::vector<runtime::Signature>> findEntries(ModuleOp module,
                                                              StringRef name) {
  std::vector<runtime::Signature> entries;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() ||
        (name.empty() ? !function.isPublic() : function.getName() != name))
      continue;
    if (std::optional<runtime::Signature> signature = describeEntry(function))
      entries.push_back(std::move(*signature));
  }
  if (!entries.empty())
    return entries;
  InFlightDiagnostic diagnostic = module.emitError();
  if (name.empty())
    diagnostic
        << "no entry point: no public func.func with a body has only ranked "
           "tensors, memrefs and scalars as arguments and results";
  else
    diagnostic << "no entry point '" << name
               << "': no func.func of that name has a body and only ranked "
                  "tensors, memrefs and scalars as arguments and results";
  return diagnostic;
}

/// Compiles a copy of `module` for one chip.
static FailureOr<runtime::ProgramVariant>
compileVariant(ModuleOp module, CompileOptions options,
               std::vector<KernelReport> *kernels) {
  options.portableHost = true;
  FailureOr<std::vector<runtime::Signature>> entries =
      findEntries(module, options.entry);
  if (failed(entries))
    return failure();
  std::unique_ptr<CompiledProgram> program = compileProgram(module, options);
  if (!program)
    return failure();
  runtime::ProgramVariant variant;
  variant.target = options.target;
  // The runtime, which has no table of chips, compares it with what a device
  // reports.
  variant.chip = getReportedDescription(options.target, options.chip).str();
  variant.host = formatHost(options);
  variant.entries = std::move(*entries);
  variant.imageKind = program->image.kind;
  variant.image = program->image.bytes;
  for (const auto &function : program->image.functions)
    variant.functions.push_back(function.first);
  variant.constants = program->constants;
  variant.loader = program->loader;
  FailureOr<std::string> library = program->linkHost(module, variant.imports);
  if (failed(library))
    return failure();
  variant.library = std::move(*library);
  for (const KernelReport &kernel : program->kernels) {
    runtime::KernelRecord &record = variant.kernels.emplace_back();
    record.name = kernel.name;
    record.schedule = kernel.schedule;
    record.scheduleOrigin = kernel.scheduleOrigin;
    for (const MatmulReport &matmul : program->matmuls)
      if (matmul.kernel == kernel.name)
        record.matmuls.push_back({matmul.types, matmul.instruction,
                                  matmul.matrixUnit, matmul.location,
                                  matmul.unitBits, matmul.unitLength});
  }
  if (kernels)
    llvm::append_range(*kernels, program->kernels);
  return variant;
}

FailureOr<runtime::Bundle>
mlir::tessera::compileBundle(ModuleOp module, const CompileOptions &options,
                             ArrayRef<TargetChip> targets, StringRef source,
                             StringRef file,
                             std::vector<KernelReport> *kernels) {
  runtime::Bundle bundle;
  bundle.producer = "Tessera " TESSERA_VERSION;
  bundle.source = separateConstants(source, module, bundle.constants);
  bundle.file = file.str();
  for (const TargetChip &target : targets) {
    CompileOptions own = options;
    own.target = target.name;
    own.chip = target.chip;
    FailureOr<runtime::ProgramVariant> variant =
        compileVariant(module, own, kernels);
    if (failed(variant))
      return failure();
    bundle.variants.push_back(std::move(*variant));
  }
  findTranspositions(module, bundle);
  return bundle;
}
