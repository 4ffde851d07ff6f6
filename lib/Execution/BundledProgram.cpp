//===- BundledProgram.cpp - Running a bundle ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/BundledProgram.h"

#include "Runtime/Executable.h"
#include "TargetInfo/SumBits.h"

#include <chrono>

using namespace tessera::execution;

namespace {
class BundledProgram : public compiler::CompiledProgram {
public:
  explicit BundledProgram(std::unique_ptr<runtime::LoadedVariant> variant)
      : variant(std::move(variant)) {}

  /// It is kept where it came from.
  std::string save() override { return ""; }
  void (*getEntry(StringRef name))(void **) override {
    return variant->getFunction(name.str());
  }
  FailureOr<std::string> linkHost(mlir::Operation *op,
                                  std::vector<std::string> &) override {
    return op->emitError() << "the host code of a bundle is already linked";
  }

private:
  std::unique_ptr<runtime::LoadedVariant> variant;
};
} // namespace

/// An option that a program that is compiled cannot obey; empty if there is
/// none.
static std::string findCompilingOption(const ProgramOptions &options) {
  if (options.emit)
    return "--emit";
  if (!options.diff.empty())
    return "--diff";
  for (const compiler::FlagInfo &info : compiler::getFlagInfos())
    if (info.isGiven(options.flags))
      return "--" + info.option;
  return options.cache.empty() ? "" : "--cache";
}

LogicalResult tessera::execution::openBundle(const runtime::InputBytes &input,
                                             ProgramOptions &options,
                                             runtime::Bundle &bundle,
                                             Report &report) {
  runtime::Expected<runtime::Bundle> read =
      runtime::readBundle(input.bytes, input.owner);
  if (!read.ok())
    return report.fail(Exit::Usage,
                       options.file + ": " + read.status().message());
  bundle = read.take();
  if (std::string wrong = findCompilingOption(options); !wrong.empty())
    return report.fail(
        Exit::Usage,
        wrong + " affects compilation, but a bundle is already compiled: "
                "remove the option, or pass the program itself");
  if (bundle.source.empty())
    return report.fail(Exit::Usage,
                       options.file +
                           ": the bundle does not contain the program's text, "
                           "which gpu-runner needs to make arguments and to "
                           "verify; run it with libtessera");
  unsigned position = 0;
  std::string why;
  for (const runtime::DeviceInfo &device :
       runtime::listDevices(nullptr, options.target)) {
    if (options.target != "auto" && (device.target != options.target ||
                                     position++ != options.ordinal.value_or(0)))
      continue;
    auto variant = runtime::selectVariant(bundle, device);
    if (!variant.ok()) {
      why = variant.status().message();
      continue;
    }
    if (!options.chip.empty() && options.chip != (*variant)->chip)
      return report.fail(Exit::Usage, "the bundle's code for " + device.name +
                                          " is for " + (*variant)->chip +
                                          "; omit the chip");
    options.target = device.target;
    options.ordinal = device.ordinal;
    options.chip = (*variant)->chip;
    return success();
  }
  return report.fail(Exit::NoDevice,
                     why.empty() ? "no " + options.target +
                                       " device on this machine; "
                                       "--list-devices lists the available ones"
                                 : why);
}

std::unique_ptr<compiler::CompiledProgram>
tessera::execution::loadBundled(const runtime::Bundle &bundle,
                                const runtime::DeviceInfo &device,
                                Report &report) {
  auto start = std::chrono::steady_clock::now();
  auto variant = runtime::selectVariant(bundle, device);
  if (!variant.ok()) {
    (void)report.fail(variant.status());
    return nullptr;
  }
  auto loaded = runtime::LoadedVariant::load(**variant);
  if (!loaded.ok()) {
    (void)report.fail(loaded.status());
    return nullptr;
  }
  runtime::KernelImage image = (*loaded)->getImage();
  std::vector<runtime::Constant> constants = (*loaded)->getConstants();
  auto program = std::make_unique<BundledProgram>(loaded.take());
  program->image = std::move(image);
  program->constants = std::move(constants);
  program->loader = (*variant)->loader;
  if (program->image.kind == runtime::KernelImage::PTX)
    program->ptx = program->image.bytes;
  for (const runtime::KernelRecord &record : (*variant)->kernels) {
    compiler::KernelReport kernel;
    kernel.name = record.name;
    kernel.schedule = record.schedule;
    kernel.scheduleOrigin = record.scheduleOrigin;
    program->kernels.push_back(std::move(kernel));
    for (const runtime::MatmulRecord &made : record.matmuls) {
      compiler::MatmulReport matmul;
      matmul.kernel = record.name;
      matmul.types = made.types;
      matmul.instruction = made.instruction;
      matmul.matrixUnit = made.matrixUnit;
      // "64x64x16 f16 x f16 -> f32".
      matmul.rateType =
          StringRef(made.instruction).contains("tf32")
              ? "tf32"
              : StringRef(made.types).split(' ').second.split(' ').first.str();
      matmul.location = made.location;
      matmul.unitBits = made.unitBits;
      matmul.unitLength = made.unitLength;
      program->matmuls.push_back(std::move(matmul));
    }
  }
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  program->times.push_back({"load", elapsed.count()});
  return program;
}
