//===- CommandLine.cpp - The command line of gpu-fuzz ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Fuzz/Kinds.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <thread>
#include <unistd.h>

using namespace fuzz;

static std::optional<uint64_t> parseNumber(const std::string &text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  errno = 0;
  uint64_t value = std::strtoull(text.c_str(), nullptr, 10);
  if (errno != 0)
    return std::nullopt;
  return value;
}

static std::string listKinds() {
  std::vector<std::string> names;
  for (const Kind &kind : getKinds())
    names.push_back(kind.name);
  return join(names);
}

static bool parseKinds(const std::string &text, Options &options,
                       std::string &error) {
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    begin = end + 1;
    bool isKnown =
        std::any_of(getKinds().begin(), getKinds().end(),
                    [&](const Kind &kind) { return kind.name == name; });
    if (!isKnown) {
      error = "unknown kind '" + name + "'; expected one of " + listKinds();
      return false;
    }
    options.kinds.push_back(name);
  }
  return true;
}

/// gpu-runner next to this program.
static std::string findRunner() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0)
    return "gpu-runner";
  std::string self(path, static_cast<size_t>(length));
  return self.substr(0, self.rfind('/') + 1) + "gpu-runner";
}

std::optional<Options> fuzz::parseOptions(int argc, char **argv,
                                          std::string &error) {
  Options options;
  auto isNumber = [&](const std::string &name, const std::string &value,
                      uint64_t least, uint64_t &number) {
    std::optional<uint64_t> parsed = parseNumber(value);
    if (!parsed || *parsed < least) {
      error = name + "=" + value + ": expected a number of at least " +
              std::to_string(least);
      return false;
    }
    number = *parsed;
    return true;
  };
  for (int i = 1; i < argc; ++i) {
    std::string text = argv[i];
    size_t equals = text.find('=');
    std::string name = text.substr(0, equals);
    bool hasValue = equals != std::string::npos;
    std::string value = hasValue ? text.substr(equals + 1) : "";
    bool *flag = name == "--print"         ? &options.print
                 : name == "--verbose"     ? &options.verbose
                 : name == "--isolate"     ? &options.isolate
                 : name == "--groups"      ? &options.machine.hasGroups
                 : name == "--wide-groups" ? &options.machine.hasWideGroups
                 : name == "--int4"        ? &options.machine.drawsInt4
                 : name == "--help" || name == "-h" ? &options.help
                                                    : nullptr;
    if (flag) {
      if (hasValue) {
        error = name + " takes no value, but '" + value + "' was given";
        return std::nullopt;
      }
      *flag = true;
      options.machine.hasGroups |= options.machine.hasWideGroups;
      continue;
    }
    static const char *withValue[] = {"--seed",  "--cases",  "--target",
                                      "--jobs",  "--runner", "--timeout",
                                      "--kinds", "--keep",   "--case"};
    if (std::find(std::begin(withValue), std::end(withValue), name) ==
        std::end(withValue)) {
      error = "unknown option '" + text + "'; --help lists the options";
      return std::nullopt;
    }
    if (value.empty()) {
      error = name + " needs a value, as in " + name + "=...; see --help";
      return std::nullopt;
    }
    uint64_t number = 0;
    if (name == "--seed") {
      if (!isNumber(name, value, 0, options.seed))
        return std::nullopt;
    } else if (name == "--cases") {
      if (!isNumber(name, value, 1, options.cases))
        return std::nullopt;
    } else if (name == "--jobs") {
      if (!isNumber(name, value, 1, number))
        return std::nullopt;
      options.jobs = static_cast<unsigned>(std::min<uint64_t>(number, 1024));
    } else if (name == "--timeout") {
      if (!isNumber(name, value, 1, number))
        return std::nullopt;
      options.timeout = static_cast<double>(number);
    } else if (name == "--case") {
      if (!isNumber(name, value, 0, number))
        return std::nullopt;
      options.onlyCase = number;
    } else if (name == "--kinds") {
      if (!parseKinds(value, options, error))
        return std::nullopt;
    } else if (name == "--target") {
      options.target = value;
    } else if (name == "--runner") {
      options.runner = value;
    } else {
      options.keep = value;
    }
  }
  if (options.print && !options.onlyCase) {
    error = "--print requires --case=N";
    return std::nullopt;
  }
  if (options.runner.empty())
    options.runner = findRunner();
  if (options.jobs == 0)
    options.jobs = std::max(1u, std::thread::hardware_concurrency());
  return options;
}

std::string fuzz::getHelp() {
  std::string text =
      R"(gpu-fuzz: runs random programs with gpu-runner and checks their results

  gpu-fuzz [--seed=N] [--cases=N] [--target=TARGET] [options]
  gpu-fuzz --seed=N --case=N --print

What is generated
  --seed=N        the seed (1); the seed, the case number, --groups,
                  --wide-groups and --int4 determine a case
  --cases=N       number of cases to run (100), starting at case 0
  --kinds=K,...   run only cases of these kinds (all); the cases do not change
  --groups        also generate schedules for warpgroups (cuda:sm_90a); other
                  chips reject them
  --wide-groups   the same for chips whose warpgroups have 128 rows
                  (cuda:sm_100a)
  --int4          also generate matmuls of i4 with i4
  --case=N        run only case N
  --print         print the program of that case instead of running it

  One case in fifty has a fault planted in its first output, which gpu-runner
  must find.

How it is run
  --target=TARGET gpu-runner's --target: cpu (the default), cuda, cuda:sm_80
  --runner=PATH   gpu-runner (the one next to this program)
  --jobs=N        number of parallel jobs (one per core)
  --isolate       use one process per case; by default each job runs its cases
                  in one process, and a case that fails runs again in a process
                  of its own
  --timeout=S     time limit of a case in seconds (60)
  --keep=DIR      folder for failing programs (gpu-fuzz-failures): DIR/SEED-N.mlir,
                  whose first lines give the command and the failure
  --verbose       print a line for each case

Kinds
)";
  for (const Kind &kind : getKinds()) {
    std::string name = kind.name;
    name.resize(14, ' ');
    text += "  " + name + "  " + kind.summary + "\n";
  }
  text += R"(
Exit status: 0 all cases passed; 1 some cases failed; 2 invalid command line;
77 the requested device does not exist.
)";
  return text;
}
