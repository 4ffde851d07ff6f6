//===- RunSetup.cpp - Options of a run that depend on others
//------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/RunSetup.h"

#include "Tuning/Cluster/Key.h"

#include "Driver/DeviceChip.h"
#include "Runtime/CodeCompatibility.h"
#include "Runtime/Device.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tessera::tuning;
using llvm::StringRef;

/// Why this device cannot measure a run for `chip`, which may be empty; empty
/// if it can. `own` is the device's chip.
static std::string explainUnusable(const runtime::DeviceInfo *info,
                                   StringRef target, int number, StringRef chip,
                                   const std::string &own, StringRef why) {
  if (!info)
    return ("no device " + target + ":" + llvm::Twine(number) + " here" +
            (why.empty() ? "" : " (" + why.str() + ")"))
        .str();
  if (chip.empty() || own == chip)
    return "";
  std::string reason = compiler::explainIncompatible(target, chip, info->chip,
                                                     /*isCubin=*/false);
  return reason.empty() ? ""
                        : runtime::describeIncompatible(
                              *info, "code for " + chip.str(), reason);
}

llvm::Error tessera::tuning::chooseTarget(StringRef text,
                                          const DeviceChoice &wanted,
                                          RunOptions &options) {
  auto [target, chip] = text.split(':');
  std::string chipTarget = compiler::getChipTarget(target).str();
  if (compiler::getKnownChips(chipTarget).empty())
    return llvm::createStringError("unknown target '" + target +
                                   "'; expected " +
                                   compiler::listTargetNames("or"));
  options.compile.target = target.str();
  options.isOwn = wanted.isOwn;
  std::vector<int> numbers;
  int number = 0;
  if (!chip.empty() && !chip.getAsInteger(10, number)) {
    numbers = {number};
    chip = "";
  }
  if (compiler::isHostTarget(target) && chip.contains("="))
    return llvm::createStringError(
        "emulated chips cannot be timed: name the chip's own target");

  std::string why;
  std::vector<runtime::DeviceInfo> known =
      runtime::listDevices(&why, target.str());
  llvm::erase_if(known, [target = target](const runtime::DeviceInfo &info) {
    return info.target != target;
  });
  if (!wanted.devices) {
    numbers.clear();
    for (const runtime::DeviceInfo &info : known)
      numbers.push_back(info.ordinal);
  } else if (numbers.empty()) {
    numbers = *wanted.devices;
  }
  if (numbers.empty())
    numbers = {0};

  options.compile.chip = chip.str();
  for (int number : numbers) {
    auto found = llvm::find_if(
        known, [number](const auto &info) { return info.ordinal == number; });
    const runtime::DeviceInfo *info = found == known.end() ? nullptr : &*found;
    std::string own = info ? compiler::getChipFor(*info) : "";
    options.noDevice =
        explainUnusable(info, target, number, chip, own, StringRef(why).trim());
    if (!options.noDevice.empty())
      break;
    if (options.compile.chip.empty())
      options.compile.chip = own;
    options.devices.push_back(number);
  }
  // The local device, if there is one, has reported its chip.
  if (wanted.isNone())
    options.noDevice = "--devices=none";
  if (!options.noDevice.empty())
    options.devices.clear();
  if (options.compile.chip.empty())
    return llvm::createStringError(
        options.noDevice +
        "; name a chip after ':' to do everything except measuring");
  if (!compiler::findChip(chipTarget, options.compile.chip))
    return llvm::createStringError(
        "unknown chip '" + options.compile.chip + "' of " + target +
        "; expected one of " +
        llvm::join(compiler::getKnownChips(chipTarget, options.compile.chip),
                   ", "));
  return llvm::Error::success();
}

/// Gives the hosts of a run their key, and checks that it can reach them.
static llvm::Error findKey(const std::string &keyFile, RunOptions &options) {
  if ((!options.joinFile.empty() || !keyFile.empty()) && !options.listen &&
      !options.hasRanks)
    options.listen = "";
  if (!options.listen && !options.hasRanks)
    return llvm::Error::success();
  if (llvm::Error error = readKey(keyFile).moveInto(options.key))
    return error;
  options.isOwnKey = !options.key.empty();
  // A new one has to get to the other hosts.
  if (options.key.empty() && options.joinFile.empty() && !options.hasRanks)
    return llvm::createStringError(
        llvm::Twine("--listen requires a key shared by both sides: pass "
                    "--key-file=FILE or set the variable ") +
        keyVariable +
        ", or pass --join-file=FILE, to which a new key is written");
  return llvm::Error::success();
}

llvm::Error tessera::tuning::parseKinds(StringRef text,
                                        std::vector<TaskKind> &kinds) {
  llvm::SmallVector<StringRef> words;
  text.split(words, ',');
  kinds.clear();
  for (StringRef word : words) {
    auto kind = llvm::StringSwitch<std::optional<TaskKind>>(word)
                    .Case("matmul", TaskKind::Matmul)
                    .Case("attention", TaskKind::Attention)
                    .Case("window", TaskKind::Window)
                    .Default(std::nullopt);
    if (!kind)
      return llvm::createStringError("--kinds: '" + word +
                                     "' is not one of matmul, attention, "
                                     "window");
    kinds.push_back(*kind);
  }
  return llvm::Error::success();
}

static bool isModelName(StringRef item) { return item.ends_with(".onnx"); }

/// The same as an error, but for devices.
static llvm::Error checkOptions(const RunRequest &request,
                                RunOptions &options) {
  auto makeError = [](const llvm::Twine &message) {
    return llvm::createStringError(message);
  };
  bool isReplay = request.command == RunCommand::Replay;
  if (isReplay && !options.work.empty())
    return makeError(
        "replay does not accept work: its tasks come from the database");
  if (options.work.empty() && !isReplay)
    return makeError("nothing to tune: name FILE.mlir, FILE.onnx, or a shape "
                     "such as "
                     "4096x4096x4096:bf16");
  if (options.batch && llvm::none_of(options.work, isModelName))
    return makeError(
        "--batch sets the batch of an ONNX model, but no FILE.onnx "
        "is named");
  if (request.target.empty())
    return makeError("--target is missing: pass " +
                     compiler::listTargetNames("or") +
                     ", or TARGET:CHIP if this machine has no such device");
  if (llvm::Error error =
          chooseTarget(request.target, request.devices, options))
    return error;
  if (llvm::Error error = findKey(request.keyFile, options))
    return error;
  if (options.jobs == 0 && !options.listen)
    return makeError("--jobs=0 leaves no compile worker; with --listen, other "
                     "hosts can compile");
  if (request.command == RunCommand::Run && !options.budget && !options.trials)
    return makeError("the tuning budget is missing: pass --budget=10m, or "
                     "--trials=200 for each task");
  return llvm::Error::success();
}

std::optional<RunEnd>
tessera::tuning::completeOptions(const RunRequest &request, RunOptions &options,
                                 llvm::raw_ostream &messages) {
  if (llvm::Error error = checkOptions(request, options)) {
    messages << "error: " << llvm::toString(std::move(error)) << "\n";
    return RunEnd::Usage;
  }
  if (request.command == RunCommand::Replay && options.devices.empty()) {
    messages << "error: " << options.noDevice << ": nothing to measure with\n";
    return RunEnd::NoDevice;
  }
  options.weighByTime =
      request.share.empty()
          ? llvm::any_of(options.work,
                         [](StringRef item) {
                           return item.ends_with(".mlir") || isModelName(item);
                         })
          : request.share == "time";
  options.candidates = llvm::StringSwitch<CandidateKind>(request.candidates)
                           .Case("ranked", CandidateKind::Ranked)
                           .Case("guided", CandidateKind::Guided)
                           .Default(CandidateKind::Search);
  // All schedules of a replay are compared, unless nothing is.
  if (options.leaders > 0)
    options.leaders = std::max(
        options.leaders, static_cast<unsigned>(options.replay.value_or(0)));
  options.compile.tuned = std::make_shared<compiler::TunedSchedules>();
  return std::nullopt;
}
