//===- Devices.cpp - Which device, and what to compile for ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Devices.h"

#include "Driver/DeviceChip.h"
#include "Runtime/CodeCompatibility.h"
#include "Target/Backend.h"
#include "TargetInfo/Emulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace tessera::execution;
using compiler::findChip;
using compiler::getChipFor;
using compiler::getKnownChips;

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

static LogicalResult checkChip(StringRef target, StringRef chip,
                               Report &report) {
  if (chip.empty() || findChip(target, chip))
    return success();
  std::string known = llvm::join(getKnownChips(target, chip), ", ");
  const compiler::TargetInfo *info = compiler::findTarget(target);
  if (info && !info->describedChips.empty() &&
      info->listDescribedChips(chip).empty())
    known += ", and " + info->describedChips.str();
  return report.fail(Exit::Usage, "unknown chip '" + chip + "' for target " +
                                      target +
                                      "; known, nearest first: " + known);
}

/// Whether --device means it.
static bool isWanted(const ProgramOptions &options,
                     const runtime::DeviceInfo &device) {
  return options.device.empty() || device.kind == options.device ||
         StringRef(device.name).contains_insensitive(options.device);
}

/// The devices of the target that is asked for, in the order of their numbers;
/// for auto, all that the compiler has a chip for.
static std::vector<runtime::DeviceInfo>
getCandidates(const ProgramOptions &options, std::string &why,
              const Report &report) {
  std::vector<runtime::DeviceInfo> candidates;
  for (runtime::DeviceInfo &device :
       runtime::listDevices(&why, options.target)) {
    if (options.target == "auto" && getChipFor(device).empty())
      report.note("skipping " + device.name + " (" + device.chip +
                  "): it does not run code for any known chip");
    else if ((options.target == "auto" || device.target == options.target) &&
             isWanted(options, device))
      candidates.push_back(std::move(device));
  }
  return candidates;
}

/// "no cuda device: libcuda.so.1 not found".
static std::string
explainAbsence(const ProgramOptions &options,
               const std::vector<runtime::DeviceInfo> &devices, StringRef why) {
  if (!devices.empty())
    return options.target + ":" + std::to_string(*options.ordinal) +
           " does not exist: this machine has " +
           std::to_string(devices.size()) + " " + options.target +
           (devices.size() == 1 ? " device" : " devices");
  if (!options.device.empty()) {
    std::string names;
    for (const runtime::DeviceInfo &device :
         runtime::listDevices(nullptr, options.target))
      if (options.target == "auto" || device.target == options.target)
        names += (names.empty() ? "; available: " : ", ") + device.name +
                 (device.kind.empty() ? "" : " (" + device.kind + ")");
    if (!names.empty())
      return "no " + (options.target == "auto" ? "" : options.target + " ") +
             "device is of kind or has a name that contains '" +
             options.device + "'" + names;
  }
  std::string text = "no " + options.target + " device on this machine";
  llvm::SmallVector<StringRef> lines;
  why.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    if (line.consume_front(options.target + ": "))
      text += ": " + line.str();
  return text;
}

void KeptDevices::keep(const runtime::DeviceInfo &info) {
  if (llvm::any_of(devices, [&](const auto &device) {
        return device->info().target == info.target &&
               device->info().ordinal == info.ordinal;
      }))
    return;
  runtime::Expected<std::unique_ptr<runtime::Device>> opened =
      runtime::openDevice(info.target, info.ordinal);
  if (opened.ok())
    devices.push_back(opened.take());
}

EarlyDevice::EarlyDevice(const ProgramOptions &options) {
  // With --device the number counts only some of the devices.
  if (!runtime::isQuickWhileOpen(options.target) || !options.device.empty())
    return;
  thread = std::thread(
      [this, target = options.target, ordinal = options.ordinal.value_or(0)] {
        runtime::Expected<std::unique_ptr<runtime::Device>> opened =
            runtime::openDevice(target, static_cast<int>(ordinal));
        if (opened.ok())
          device = opened.take();
      });
}

void EarlyDevice::wait() {
  if (thread.joinable())
    thread.join();
}

LogicalResult tessera::execution::chooseTarget(const ProgramOptions &options,
                                               bool run, KeptDevices &kept,
                                               Target &target, Report &report) {
  if (failed(checkChip(options.target, options.chip, report)))
    return failure();
  for (StringRef chip : options.otherChips)
    if (failed(checkChip(options.target, chip, report)))
      return failure();

  std::string why;
  std::vector<runtime::DeviceInfo> devices =
      getCandidates(options, why, report);
  unsigned ordinal = options.ordinal.value_or(0);
  if (ordinal >= devices.size()) {
    std::string absence = explainAbsence(options, devices, why);
    if (run)
      return report.fail(Exit::NoDevice,
                         absence + "; --list-devices lists the available ones");
    if (options.chip.empty())
      return report.fail(
          Exit::Usage,
          absence + "; to compile without a device, name a chip: --target=" +
              options.target + ":CHIP, one of " +
              llvm::join(getKnownChips(options.target), ", "));
    target.name = options.target;
    target.chip = options.chip;
    return success();
  }

  const runtime::DeviceInfo &device = devices[ordinal];
  std::string natural = getChipFor(device);
  target.name = device.target;
  target.chip = options.chip.empty() ? natural : options.chip;
  if (target.chip.empty())
    return report.fail(Exit::NoDevice,
                       "no known chip matches " + device.name + " (" +
                           device.chip + "); known chips: " +
                           llvm::join(getKnownChips(device.target), ", "));
  if (options.target == "auto")
    report.messages() << "target: " << target.name << ":" << target.chip << " ("
                      << device.name << ")\n";
  if (!run)
    return success();

  std::string host =
      compiler::findBackend(device.target)->getDeviceChip(device);
  if (std::string why = compiler::explainIncompatible(
          target.name, target.chip, host, options.flags.usePtxas);
      !why.empty())
    return report.fail(
        Exit::NoDevice,
        runtime::describeIncompatible(device, "code for " + target.chip, why) +
            "; omit the chip, or compile only (--emit)");
  runtime::Expected<std::unique_ptr<runtime::Device>> opened =
      runtime::openDevice(device.target, device.ordinal);
  if (!opened.ok())
    return report.fail(opened.status());
  target.device = opened.take();
  if (options.isOneOfMany)
    kept.keep(device);
  const runtime::DeviceInfo &info = target.device->info();
  report.root["device"] = llvm::json::Object{
      {"target", info.target},
      {"number", info.ordinal},
      {"chip", info.chip},
      {"target_id", info.targetId},
      {"chip_source", info.chipSource},
      {"name", llvm::json::fixUTF8(info.name)},
      {"driver", llvm::json::fixUTF8(info.driver)},
      {"memory_bytes", static_cast<int64_t>(info.memoryBytes)},
      {"units", info.computeUnits},
      {"subgroup_size", info.subgroupSize}};
  return success();
}

//===----------------------------------------------------------------------===//
// --list-devices
//===----------------------------------------------------------------------===//

/// "units": the name of the units that run workgroups.
static StringRef getUnitName(StringRef target) {
  const compiler::TargetBackend *backend = compiler::findBackend(target);
  return backend ? backend->getUnitName() : "units";
}

void tessera::execution::listDevices(Report &report) {
  std::string why;
  std::vector<runtime::DeviceInfo> devices = runtime::listDevices(&why);
  llvm::json::Array list, absent;
  for (const runtime::DeviceInfo &device : devices) {
    std::string id = device.target + ":" + std::to_string(device.ordinal);
    std::string chip = getChipFor(device);
    if (chip.empty())
      chip = device.chip;
    report.text() << llvm::left_justify(id, 13) << llvm::left_justify(chip, 14)
                  << " " << device.name;
    if (!device.targetId.empty() && device.targetId != chip)
      report.text() << " (" << device.targetId << ")";
    if (!device.kind.empty())
      report.text() << ", " << device.kind;
    if (device.computeUnits > 0)
      report.text() << ", " << device.computeUnits << " "
                    << getUnitName(device.target);
    if (device.memoryBytes > 0)
      report.text() << ", "
                    << formatBytes(static_cast<double>(device.memoryBytes));
    if (!device.driver.empty())
      report.text() << ", " << device.driver;
    if (!device.chipSource.empty())
      report.text() << ", " << device.chipSource;
    report.text() << "\n";
    list.push_back(llvm::json::Object{
        {"target", device.target},
        {"number", device.ordinal},
        {"chip", chip},
        {"target_id", device.targetId},
        {"name", llvm::json::fixUTF8(device.name)},
        {"kind", device.kind},
        {"driver", llvm::json::fixUTF8(device.driver)},
        {"chip_source", device.chipSource},
        {"memory_bytes", static_cast<int64_t>(device.memoryBytes)},
        {"units", device.computeUnits}});
  }
  llvm::SmallVector<StringRef> lines;
  StringRef(why).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    report.note("absent: " + line);
    absent.push_back(llvm::json::fixUTF8(line));
  }
  llvm::SmallVector<std::string> emulated;
  for (const compiler::Chip &chip : compiler::getEmulatedChips())
    emulated.push_back(compiler::getEmulatedName(chip).str());
  report.note("--target=cpu:emulate=CHIP runs the code of a chip lane by lane "
              "on this machine: " +
              llvm::join(emulated, ", "));
  report.root["devices"] = std::move(list);
  report.root["emulated"] = llvm::json::Array(emulated);
  report.root["absent"] = std::move(absent);
}
