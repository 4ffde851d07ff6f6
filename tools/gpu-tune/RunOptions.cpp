//===- RunOptions.cpp - The command line of gpu-tune run ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunCommandLine.h"
#include "Tuning/Cluster/Agent.h"
#include "Tuning/Cluster/Key.h"
#include "Tuning/Run/TaskList.h"

#include "Driver/DeviceChip.h"
#include "Runtime/CodeCompatibility.h"
#include "Runtime/Device.h"
#include "TargetInfo/TargetInfo.h"

#include "llvm/Support/raw_ostream.h"
#include <sched.h>
#include <thread>

using namespace tune;
using mlir::ArrayRef;
using mlir::StringRef;

/// Exit statuses, as those of gpu-runner.
static constexpr int usage = 2, noDevice = 77;

/// Whether gpu-tune accepts a flag. The others change no code of a task.
static bool changesCode(const compiler::FlagInfo &flag) {
  return flag.effect != compiler::FlagEffect::Checks;
}

void tune::printRunHelp(llvm::raw_ostream &os) {
  os << "usage: gpu-tune run WORK... --target=TARGET[:CHIP] [options]\n"
        "       gpu-tune space WORK... --target=TARGET[:CHIP] [options]\n"
        "       gpu-tune replay --db=FILE --target=TARGET [options]\n"
        "\n"
        "WORK is FILE.mlir, whose matmuls and attention ops are tuned, "
        "FILE.txt\n"
        "with a shape on each line, or a shape:\n"
     << shapeHelp
     << "\n"
        "  --target=TARGET[:CHIP]  cuda, hip, vulkan, opencl, level-zero, cpu; "
        "the\n"
        "                          chip defaults to that of this machine's "
        "device\n"
        "  --db=FILE               the database of records (tune.db)\n"
        "  --budget=TIME           90s, 10m, 2h for all tasks together\n"
        "  --trials=N              candidates of each task\n"
        "  --config=FILE.json      values of parameters (docs/Tuning.md)\n"
        "  --jobs=N                compile workers (default: cores - 1)\n"
        "  --devices=0,1|all|none  devices that measure (0); own: all "
        "visible,\n"
        "                          if each process of a host sees its own\n"
        "  --measurers=N           processes per device (2): one "
        "measures, the\n"
        "                          others load candidates\n"
        "  --listen[=ADDRESS:PORT] other hosts may join (gpu-tune join "
        "--help); then\n"
        "                          --jobs=0 and --devices=none are possible. "
        "Without\n"
        "                          an address only this host can; * is all "
        "addresses\n"
        "  --key-file=FILE         the key shared by both sides, in a file "
        "that no\n"
        "                          other user can read; default: the variable\n"
        "                          TESSERA_TUNE_KEY\n"
        "  --join-file=FILE        output file for addresses and key; a new "
        "key is\n"
        "                          generated if none is given\n"
        "  --timeout=SECONDS       time limit of a candidate (20)\n"
        "  --leaders=N             candidates of the final comparison (5)\n"
        "  --share=time|equal      how tasks share the budget: by their "
        "run time,\n"
        "                          or equally (default: time for programs, "
        "equal for\n"
        "                          shapes)\n"
        "  --seed=N                seed of all random choices (1)\n"
        "  --json                  one object on standard output\n"
        "  --exact                 space: count all points, however many\n"
        "  --top=N                 replay: number of schedules per task (5)\n"
        "  --task=KEY              replay: only this task\n"
        "\n"
        "Compile flags of run and space. A record is used only for programs "
        "that are\n"
        "compiled with the same ones.\n";
  compiler::printFlagHelp(os, /*column=*/26, changesCode);
  os << "\n"
        "At the end the leaders are compared with the compiler's own choice "
        "and,\n"
        "for a plain matmul, with the vendor's library: cuBLASLt (cuda) or\n"
        "hipBLASLt (hip), if it can be loaded (LD_LIBRARY_PATH).\n";
}

/// "90s", "10m", "2h", "45" in seconds.
static std::optional<double> parseTime(StringRef text) {
  double factor = 1;
  if (text.consume_back("h"))
    factor = 3600;
  else if (text.consume_back("m"))
    factor = 60;
  else
    text.consume_back("s");
  double value;
  if (text.getAsDouble(value) || value <= 0)
    return std::nullopt;
  return value * factor;
}

bool tune::parseRunOptions(ArrayRef<StringRef> arguments, RunCommand command,
                           RunOptions &options, int &status) {
  bool isRun = command == RunCommand::Run,
       isReplay = command == RunCommand::Replay;
  if (isReplay)
    options.replay = 5;
  auto fail = [&](const llvm::Twine &what) {
    llvm::errs() << "error: " << what << "\n";
    status = usage;
    return false;
  };
  StringRef target;
  std::string keyFile;
  std::vector<int> devices;
  std::optional<bool> share;
  bool isNone = false, isAll = false;
  unsigned cores = options.cores ? options.cores : countCores();
  options.jobs = cores > 1 ? cores - 1 : 1;
  options.db = "tune.db";
  for (StringRef argument : arguments) {
    StringRef name, value;
    std::tie(name, value) = argument.split('=');
    auto number = [&](auto &result, int64_t least) {
      int64_t parsed;
      if (value.getAsInteger(10, parsed) || parsed < least)
        return fail(name + "=" + value + ": expected a number, " +
                    llvm::Twine(least) + " or more");
      result = static_cast<std::decay_t<decltype(result)>>(parsed);
      return true;
    };
    StringRef option = name;
    const compiler::FlagInfo *flag =
        option.consume_front("--") ? compiler::findFlag(option) : nullptr;
    if (flag && !changesCode(*flag))
      flag = nullptr;
    if (name == "--help") {
      printRunHelp(llvm::outs());
      status = 0;
      return false;
    }
    if (!argument.starts_with("-")) {
      options.work.push_back(argument.str());
    } else if (name == "--target") {
      target = value;
    } else if (name == "--db") {
      options.db = value.str();
    } else if (name == "--config") {
      options.config = value.str();
    } else if (name == "--budget") {
      options.budget = parseTime(value);
      if (!options.budget)
        return fail("--budget=" + value +
                    ": expected a time such as 90s, 10m or 2h");
    } else if (name == "--trials") {
      size_t trials = 0;
      if (!number(trials, 1))
        return false;
      options.trials = trials;
    } else if (name == "--jobs") {
      if (!number(options.jobs, 0))
        return false;
    } else if (name == "--measurers") {
      if (!number(options.measurers, 1))
        return false;
    } else if (name == "--leaders") {
      if (!number(options.leaders, 1))
        return false;
    } else if (name == "--seed") {
      if (!number(options.seed, 0))
        return false;
    } else if (name == "--timeout") {
      std::optional<double> time = parseTime(value);
      if (!time)
        return fail("--timeout=" + value + ": expected a number of seconds");
      options.timeout = *time;
    } else if (name == "--share") {
      if (value != "time" && value != "equal")
        return fail("--share=" + value + ": expected time or equal");
      share = value == "time";
    } else if (name == "--listen" && command == RunCommand::Run) {
      options.listen = value.str();
    } else if (name == "--token") {
      return fail(tokenProblem);
    } else if (name == "--key-file" && command == RunCommand::Run) {
      keyFile = value.str();
    } else if (name == "--join-file" && command == RunCommand::Run) {
      options.joinFile = value.str();
    } else if (argument == "--devices=none") {
      isNone = true;
    } else if (argument == "--devices=all" || argument == "--devices=own") {
      isAll = true;
      options.isOwn = value == "own";
    } else if (name == "--devices") {
      mlir::SmallVector<StringRef> parts;
      value.split(parts, ',');
      for (StringRef part : parts) {
        int ordinal;
        if (part.getAsInteger(10, ordinal) || ordinal < 0)
          return fail("--devices=" + value +
                      ": expected numbers separated by ','");
        devices.push_back(ordinal);
      }
    } else if (flag && isReplay) {
      return fail(name + ": replay compiles each task with the flags of its "
                         "records; remove the option");
    } else if (flag) {
      if (!flag->set(options.compile.flags, value))
        return fail(flag->explainInvalid(value, "--"));
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument == "--exact" && command == RunCommand::Space) {
      options.exact = true;
    } else if (name == "--top" && isReplay) {
      size_t top = 0;
      if (!number(top, 1))
        return false;
      options.replay = top;
    } else if (name == "--task" && isReplay) {
      options.task = value.str();
    } else if (name == "--test-fault" && command != RunCommand::Space) {
      options.fault +=
          (options.fault.empty() ? "" : "|") + argument.split('=').second.str();
    } else {
      return fail("unknown option '" + argument +
                  "'; gpu-tune run --help lists the options");
    }
  }
  if (isReplay && !options.work.empty())
    return fail(
        "replay does not accept work: its tasks come from the database");
  if (options.work.empty() && !isReplay)
    return fail("nothing to tune: name FILE.mlir, or a shape such as "
                "4096x4096x4096:bf16");
  if (target.empty())
    return fail("--target is missing: pass " + compiler::listTargetNames("or") +
                ", followed by ':' and a chip if there is no device");
  auto [kind, chip] = target.split(':');
  options.compile.target = kind.str();
  // A number stands for a device.
  int ordinal = 0;
  if (!chip.empty() && !chip.getAsInteger(10, ordinal)) {
    devices = {ordinal};
    chip = "";
  }
  if (compiler::getKnownChips(compiler::getChipTarget(kind)).empty())
    return fail("unknown target '" + kind + "'; expected " +
                compiler::listTargetNames("or"));
  if (devices.empty())
    devices = {0};
  bool isEmulated = compiler::isHostTarget(kind) && chip.contains("=");
  if (isEmulated)
    return fail("emulated chips cannot be timed: name the chip's own target");
  std::string why;
  std::vector<runtime::DeviceInfo> known =
      runtime::listDevices(&why, kind.str());
  if (isAll) {
    devices.clear();
    for (const runtime::DeviceInfo &info : known)
      if (info.target == kind)
        devices.push_back(info.ordinal);
    if (devices.empty())
      devices = {0};
  }
  std::string trimmed = StringRef(why).trim().str();
  for (int wanted : devices) {
    const runtime::DeviceInfo *found = nullptr;
    for (const runtime::DeviceInfo &info : known)
      if (info.target == kind && info.ordinal == wanted)
        found = &info;
    std::string own = found ? compiler::getChipFor(*found) : "";
    if (!found)
      options.noDevice = "no device " + kind.str() + ":" +
                         std::to_string(wanted) + " here" +
                         (why.empty() ? "" : " (" + trimmed + ")");
    else if (std::string reason =
                 chip.empty() || own == chip
                     ? ""
                     : compiler::explainIncompatible(kind, chip, found->chip,
                                                     /*isCubin=*/false);
             !reason.empty())
      options.noDevice = runtime::describeIncompatible(
          *found, "code for " + chip.str(), reason);
    else if (chip.empty() && options.compile.chip.empty())
      options.compile.chip = own;
    if (!options.noDevice.empty())
      break;
    options.devices.push_back(wanted);
  }
  // The local device, if there is one, has reported its chip.
  if (isNone)
    options.noDevice = "--devices=none";
  if (!options.noDevice.empty())
    options.devices.clear();
  if (!chip.empty())
    options.compile.chip = chip.str();
  if (options.compile.chip.empty())
    return fail(options.noDevice +
                "; name a chip after ':' to do everything except measuring");
  if (!compiler::findChip(compiler::getChipTarget(kind), options.compile.chip))
    return fail(
        "unknown chip '" + options.compile.chip + "' of " + kind +
        "; expected one of " +
        llvm::join(compiler::getKnownChips(compiler::getChipTarget(kind),
                                           options.compile.chip),
                   ", "));
  if ((!options.joinFile.empty() || !keyFile.empty()) && !options.listen &&
      !options.hasRanks)
    options.listen = "";
  if (options.listen || options.hasRanks) {
    llvm::Expected<std::string> key = readKey(keyFile);
    if (!key)
      return fail(llvm::toString(key.takeError()));
    options.key = *key;
    options.isOwnKey = !key->empty();
    // A new one has to get to the other hosts.
    if (key->empty() && options.joinFile.empty() && !options.hasRanks)
      return fail(llvm::Twine("--listen requires a key shared by both sides: "
                              "pass --key-file=FILE or set the variable ") +
                  keyVariable +
                  ", or pass --join-file=FILE, to which a new key is written");
  }
  if (options.jobs == 0 && !options.listen)
    return fail("--jobs=0 leaves no compile worker; with --listen, other hosts "
                "can compile");
  if (isRun && !options.budget && !options.trials)
    return fail("the tuning budget is missing: pass --budget=10m, or "
                "--trials=200 for each task");
  bool isShapes = llvm::none_of(options.work, [](const std::string &item) {
    return StringRef(item).ends_with(".mlir");
  });
  if (isReplay && options.devices.empty()) {
    llvm::errs() << "error: " << options.noDevice
                 << ": nothing to measure with\n";
    status = noDevice;
    return false;
  }
  options.leaders = std::max(options.leaders,
                             static_cast<unsigned>(options.replay.value_or(0)));
  options.weighByTime = share.value_or(!isShapes);
  options.compile.tuned = std::make_shared<compiler::TunedSchedules>();
  return true;
}
