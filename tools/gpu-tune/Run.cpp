//===- Run.cpp - gpu-tune run, replay and space ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "Tuning/Run/RunSetup.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace tessera::tuning;

/// Whether gpu-tune accepts a flag. The others change no code of a task.
static bool changesCode(const compiler::FlagInfo &flag) {
  return flag.effect != compiler::FlagEffect::Checks;
}

static std::string makeRunHelp() {
  std::string flags;
  llvm::raw_string_ostream os(flags);
  compiler::printFlagHelp(os, /*column=*/26, changesCode);
  return std::string(
             R"(gpu-tune run WORK... --target=TARGET[:CHIP] [options]
gpu-tune space WORK... --target=TARGET[:CHIP] [options]
gpu-tune replay --db=FILE --target=TARGET [options]

WORK is FILE.mlir or the model FILE.onnx, whose matmuls, convolutions,
poolings and attention ops are tuned, FILE.txt with a shape on each line, or a shape:
)") + shapeHelp +
         R"(
  --target=TARGET[:CHIP]  cuda, hip, vulkan, opencl, level-zero, cpu; the
                          chip defaults to that of this machine's device
  --batch=N               the size of the first dimension of models' inputs
                          where they leave it open
  --db=FILE               the database of records (tune.db)
  --budget=TIME           90s, 10m, 2h for all tasks together
  --trials=N              candidates of each task
  --tasks=N               run: only the N tasks with the largest part of their
                          programs' time, by the times in the database or else
                          by the roofline
  --untuned               run: only tasks of which the database has no measured
                          candidate
  --kinds=KIND,...        run, space: only tasks of these kinds: matmul (and
                          convolution), attention, window (poolings, depthwise
                          and grouped convolutions that threads compute)
  --config=FILE.json      values of parameters (docs/Tuning.md)
  --jobs=N                compile workers (default: cores - 1)
  --devices=0,1|all|none  devices that measure (0); own: all visible,
                          if each process of a host sees its own
  --measurers=N           processes per device (2): one measures, the
                          others load candidates
  --listen[=ADDRESS:PORT] other hosts may join (gpu-tune join --help); then
                          --jobs=0 and --devices=none are possible. Without
                          an address only this host can; * is all addresses
  --key-file=FILE         the key shared by both sides, in a file that no
                          other user can read; default: the variable
                          TESSERA_TUNE_KEY
  --join-file=FILE        output file for addresses and key; a new key is
                          generated if none is given
  --timeout=SECONDS       time limit of a candidate (20)
  --leaders=N             candidates of the final comparison (5); 0: there is
                          none
  --candidates=search|ranked|guided
                          those of a search; those that the compiler's model
                          compares, and others at random; or these and
                          changes of the fastest one, for many tasks
                          (docs/Tuning.md)
  --share=time|equal      how tasks share the budget: by their run time,
                          or equally (default: time for programs, equal for
                          shapes)
  --seed=N                seed of all random choices (1)
  --json                  one object on standard output
  --exact                 space: count all points, however many
  --top=N                 replay: number of schedules per task (5)
  --task=KEY              replay: only this task

Compile flags of run and space. A record is used only for programs that are
compiled with the same ones.
)" + flags +
         R"(
At the end the leaders are compared with the compiler's own choice and,
for a plain matmul, with the vendor's library: cuBLASLt (cuda) or
hipBLASLt (hip), if it can be loaded (LD_LIBRARY_PATH).
)";
}

namespace {
/// The command line of one of the commands.
struct RunLine {
  explicit RunLine(RunCommand command);
  RunLine(const RunLine &) = delete;
  RunLine &operator=(const RunLine &) = delete;

  /// The options of compile flags.
  void addCompileFlags(RunCommand command);

  /// Parses and checks it. Returns an exit status if the command ends here.
  std::optional<int> parse(ArrayRef<StringRef> args);

  RunOptions options;
  RunRequest request;
  std::string help = makeRunHelp();
  Arguments arguments{help.c_str()};
};
} // namespace

RunLine::RunLine(RunCommand command) {
  arguments.allowRepeats();
  request.command = command;
  request.devices.devices = {0};
  options.jobs = getDefaultJobs(countCores());
  options.db = "tune.db";
  arguments.addText("--target", request.target);
  arguments.addText("--db", options.db);
  if (command != RunCommand::Replay)
    arguments.addNumber("--batch", options.batch);
  arguments.addText("--config", options.config);
  arguments.addTime("--budget", options.budget);
  arguments.addTime("--timeout", options.timeout);
  arguments.addNumber("--trials", options.trials);
  arguments.addNumber("--jobs", options.jobs, 0);
  arguments.addNumber("--measurers", options.measurers);
  arguments.addNumber("--leaders", options.leaders, 0);
  if (command == RunCommand::Run)
    arguments.addNumber("--tasks", options.tasks);
  if (command == RunCommand::Run)
    arguments.addFlag("--untuned", options.untuned);
  if (command != RunCommand::Replay)
    arguments.addValue("--kinds", [&](StringRef value) {
      return parseKinds(value, options.kinds);
    });
  if (command == RunCommand::Run)
    arguments.addChoice("--candidates", {"search", "ranked", "guided"},
                        request.candidates);
  arguments.addNumber("--seed", options.seed, 0);
  arguments.addChoice("--share", {"time", "equal"}, request.share);
  arguments.addValue("--devices", [&](StringRef value) {
    return parseDevices(value, request.devices);
  });
  addCompileFlags(command);
  arguments.addFlag("--json", options.json);
  if (command == RunCommand::Run) {
    arguments.addOptionalValue("--listen", [&](StringRef value) {
      options.listen = value.str();
      return llvm::Error::success();
    });
    arguments.addText("--join-file", options.joinFile);
    addKeyOptions(arguments, request.keyFile);
  }
  if (command == RunCommand::Space)
    arguments.addFlag("--exact", options.exact);
  else
    arguments.addHidden("--test-fault", [&](StringRef value) {
      options.fault += (options.fault.empty() ? "" : "|") + value.str();
      return llvm::Error::success();
    });
  if (command == RunCommand::Replay) {
    options.replay = 5;
    arguments.addNumber("--top", options.replay);
    arguments.addText("--task", options.task);
  }
}

void RunLine::addCompileFlags(RunCommand command) {
  for (const compiler::FlagInfo &flag : compiler::getFlagInfos()) {
    if (!changesCode(flag))
      continue;
    auto set = [&flag, command, this](StringRef value) -> llvm::Error {
      if (command == RunCommand::Replay)
        return llvm::createStringError(
            "--" + flag.option +
            ": replay compiles each task with the flags of its records; "
            "remove the option");
      if (!flag.set(options.compile.flags, value))
        return llvm::createStringError(flag.explainInvalid(value, "--"));
      return llvm::Error::success();
    };
    std::string name = "--" + flag.option;
    if (flag.isSwitch)
      arguments.addSwitch(name, set);
    else
      arguments.addValue(name, set);
  }
}

std::optional<int> RunLine::parse(ArrayRef<StringRef> args) {
  if (std::optional<int> status = tessera::tuning::parse(arguments, args))
    return status;
  options.work = arguments.getFiles();
  if (auto end = completeOptions(request, options, llvm::errs()))
    return int(*end);
  return std::nullopt;
}

/// The command line as the database keeps it.
static std::string joinWords(StringRef command, ArrayRef<StringRef> args) {
  std::string line = ("gpu-tune " + command).str();
  for (StringRef argument : args)
    line += " " + argument.str();
  return line;
}

static RunConsole getConsole() {
  return {llvm::outs(), llvm::errs(), isatty(STDERR_FILENO) != 0};
}

/// Any other rank than the first: an agent, with those options of `run` that an
/// agent has.
static int tuneAsAgent(ArrayRef<StringRef> args, const Launch &launch,
                       Ranks ranks) {
  RunLine line(RunCommand::Run);
  line.options.jobs = countCoresOf(launch);
  line.request.devices = DeviceChoice();
  if (llvm::Error error = line.arguments.parse(args)) {
    // Rank 0 reports the error.
    llvm::consumeError(std::move(error));
    (void)ranks.hear();
    return int(Exit::Done);
  }
  JoinOptions options;
  static_cast<DeviceChoice &>(options) = line.request.devices;
  options.jobs = line.options.jobs;
  options.measurers = line.options.measurers;
  // Rank 0 may have to read programs first.
  options.wait = 60;
  options.ignoresInterrupt = true;
  return int(joinRankZero(std::move(options), line.request.keyFile, ranks,
                          llvm::errs()));
}

int tessera::tuning::runTune(ArrayRef<StringRef> args) {
  RunLine line(RunCommand::Run);
  std::optional<Ranks> ranks;
  if (std::optional<Launch> launch = findLaunch()) {
    llvm::Expected<std::optional<Ranks>> created = Ranks::create(*launch);
    if (!created)
      return fail(created.takeError());
    if (*created && (*created)->getRank() > 0)
      return tuneAsAgent(args, *launch, std::move(**created));
    if (*created)
      ranks.emplace(std::move(**created));
    line.options.hasRanks = ranks.has_value();
    line.options.jobs = getDefaultJobs(countCoresOf(*launch));
  }
  if (std::optional<int> status = line.parse(args))
    return *status;
  return int(tuneTasks(std::move(line.options), joinWords("run", args),
                       ranks ? &*ranks : nullptr, getConsole()));
}

int tessera::tuning::runReplay(ArrayRef<StringRef> args) {
  RunLine line(RunCommand::Replay);
  if (std::optional<int> status = line.parse(args))
    return *status;
  return int(
      replayRecords(line.options, joinWords("replay", args), getConsole()));
}

int tessera::tuning::runSpace(ArrayRef<StringRef> args) {
  RunLine line(RunCommand::Space);
  if (std::optional<int> status = line.parse(args))
    return *status;
  return int(countSpaces(line.options, getConsole()));
}
