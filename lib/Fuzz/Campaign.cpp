//===- Campaign.cpp - Many cases, run and judged --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Campaign.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>
#include <unistd.h>

using namespace fuzz;

//===----------------------------------------------------------------------===//
// Verdicts
//===----------------------------------------------------------------------===//

static std::vector<std::string> splitLines(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

static bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

/// The first error, or the last line that there is.
static std::string findError(const Outcome &outcome) {
  std::string last;
  for (const std::string &line : splitLines(outcome.errors)) {
    if (contains(line, "error: "))
      return line;
    if (!line.empty())
      last = line;
  }
  return last;
}

/// Whether the runner changed an output: not one without elements.
static bool wasPlanted(const Outcome &outcome) {
  for (const std::string &line : splitLines(outcome.output))
    if (line.compare(0, 8, "planted ") == 0)
      return true;
  return false;
}

Verdict fuzz::judge(const Case &testCase, const Outcome &outcome,
                    std::string &cause) {
  auto fail = [&](const std::string &why) {
    cause = why;
    std::string error = findError(outcome);
    if (!error.empty())
      cause += ": " + error;
    return Verdict::Failed;
  };
  if (outcome.exited(77)) {
    cause = findError(outcome);
    return Verdict::NoDevice;
  }
  if (testCase.expected == Expected::Rejected) {
    if (!outcome.exited(1))
      return fail("exit status 1 and a diagnostic were expected, but " +
                  outcome.describe());
    if (!contains(outcome.errors, "error: ") ||
        !contains(outcome.errors, testCase.diagnostic))
      return fail("the diagnostic does not contain \"" + testCase.diagnostic +
                  "\"");
    return Verdict::Rejected;
  }
  // The chip decides which schedules are legal: others must be rejected with
  // the constraint and the nearest legal one.
  if (outcome.exited(1) && contains(testCase.text, "tessera.schedule") &&
      contains(outcome.errors, "error: schedule_c")) {
    if (!contains(outcome.errors, "the nearest legal schedule has") &&
        !contains(outcome.errors, "is the most that fits"))
      return fail("the diagnostic does not name a legal schedule");
    return Verdict::Rejected;
  }
  if (outcome.exited(1) && contains(testCase.text, "tessera.window_schedule") &&
      contains(outcome.errors, "error: window_schedule_c")) {
    if (!contains(outcome.errors, " must "))
      return fail("the diagnostic does not name a legal number");
    return Verdict::Rejected;
  }
  // A function that a target does not have, with what to use instead.
  if (outcome.exited(1) &&
      contains(outcome.errors, "of f64; compute it in f32"))
    return Verdict::Rejected;
  if (wasPlanted(outcome)) {
    if (!outcome.exited(3) || !contains(outcome.output, ": FAILED ("))
      return fail("the planted fault was not found: " + outcome.describe());
    return Verdict::Found;
  }
  if (testCase.hasFault && outcome.exited(0) &&
      !contains(outcome.errors, "no fault is planted"))
    return fail("no fault was planted, though one was requested");
  if (!outcome.exited(0))
    return fail(outcome.describe());

  bool isVerified = false;
  for (const std::string &line : splitLines(outcome.output)) {
    isVerified |= line == "verified";
    bool isComparison =
        line.compare(0, 4, "out ") == 0 && contains(line, ": verified (");
    // Equal is exact too, where the reference cannot tell that nothing rounds.
    if (testCase.isExact && isComparison && !contains(line, ", exact)") &&
        !contains(line, "(max abs err 0,"))
      return fail("an exact comparison was expected, but " + line);
  }
  if (!isVerified)
    return fail("no line 'verified'");
  return Verdict::Verified;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

void fuzz::plantFault(uint64_t seed, uint64_t index, Case &testCase) {
  constexpr uint64_t interval = 50;
  if (index % interval != seed % interval ||
      testCase.expected == Expected::Rejected)
    return;
  static const char *const kinds[] = {"zero-row", "swapped-rows", "element"};
  testCase.hasFault = true;
  // A second run would tell a changed output by its bits.
  testCase.options.push_back(std::string("--debug-corrupt-output=0:") +
                             kinds[index / interval % std::size(kinds)]);
  testCase.options.push_back("--repeat=1");
}

namespace {

/// Counts for one kind.
struct Tally {
  uint64_t cases = 0, exact = 0, verified = 0, rejected = 0, failed = 0;
  /// Faults that were planted, and those of them that were found.
  uint64_t planted = 0, found = 0;
  double seconds = 0;
};

/// All workers' common state.
class Campaign {
public:
  explicit Campaign(const Options &options) : options(options) {}

  int run();

private:
  bool prepare();
  void work(unsigned worker);
  bool takeIndex(uint64_t &index);
  void report(uint64_t index, const Case &testCase, const Outcome &outcome,
              const std::string &among);
  void keepFailure(uint64_t index, const Case &testCase,
                   const std::string &cause);
  std::vector<std::string> makeArguments(const Case &testCase,
                                         const std::string &file) const;
  Outcome runCase(BatchRunner &runner, const Case &testCase,
                  const std::string &file, std::string &among) const;
  void printTable() const;

  const Options &options;
  std::string directory;
  std::mutex mutex;
  uint64_t nextIndex = 0, taken = 0;
  std::map<std::string, Tally> tallies;
  bool hasStopped = false, hasNoDevice = false, hasBroken = false;
};

} // namespace

/// The arguments of the runner.
std::vector<std::string>
Campaign::makeArguments(const Case &testCase, const std::string &file) const {
  std::vector<std::string> arguments{file, "--target=" + options.target,
                                     "--verify", "--cache=off"};
  arguments.insert(arguments.end(), testCase.options.begin(),
                   testCase.options.end());
  return arguments;
}

/// Runs a case after others in one process, and again in a process of its own
/// if it failed. If it passes alone, `among` is set to the reason of the
/// failure.
Outcome Campaign::runCase(BatchRunner &runner, const Case &testCase,
                          const std::string &file, std::string &among) const {
  std::vector<std::string> arguments = makeArguments(testCase, file);
  Outcome outcome;
  std::string cause;
  if (!options.isolate) {
    outcome = runner.run(arguments, options.timeout);
    if (outcome.kind == Outcome::NotStarted ||
        outcome.kind == Outcome::Interrupted ||
        judge(testCase, outcome, cause) != Verdict::Failed)
      return outcome;
  }
  uint64_t before = runner.getCount();
  runner.stop();
  arguments.insert(arguments.begin(), options.runner);
  outcome = runCommand(arguments, options.timeout);
  std::string aloneCause;
  if (!options.isolate && outcome.kind != Outcome::Interrupted &&
      judge(testCase, outcome, aloneCause) != Verdict::Failed)
    among = "as number " + std::to_string(before) +
            " of the programs of one process, though not alone: " + cause;
  return outcome;
}

/// The next case of the kinds that are asked for.
bool Campaign::takeIndex(uint64_t &index) {
  std::lock_guard<std::mutex> lock(mutex);
  if (hasStopped || getInterrupt())
    return false;
  if (options.onlyCase) {
    index = *options.onlyCase;
    return taken++ == 0;
  }
  if (taken == options.cases)
    return false;
  auto isWanted = [&](uint64_t candidate) {
    return options.kinds.empty() ||
           std::find(options.kinds.begin(), options.kinds.end(),
                     pickKind(options.seed, candidate).name) !=
               options.kinds.end();
  };
  while (!isWanted(nextIndex))
    ++nextIndex;
  index = nextIndex++;
  ++taken;
  return true;
}

void Campaign::work(unsigned worker) {
  std::string prefix = std::to_string(worker);
  std::string file = directory + "/" + prefix + ".mlir";
  BatchRunner runner(options.runner);
  uint64_t index = 0;
  while (takeIndex(index)) {
    Case testCase = generateCase(options.seed, index, options.machine);
    plantFault(options.seed, index, testCase);
    std::ofstream(file) << testCase.text;
    std::string among;
    Outcome outcome = runCase(runner, testCase, file, among);
    report(index, testCase, outcome, among);
  }
}

void Campaign::report(uint64_t index, const Case &testCase,
                      const Outcome &outcome, const std::string &among) {
  if (outcome.kind == Outcome::Interrupted)
    return;
  std::string cause = among;
  Verdict verdict =
      among.empty() ? judge(testCase, outcome, cause) : Verdict::Failed;
  std::lock_guard<std::mutex> lock(mutex);
  if (outcome.kind == Outcome::NotStarted || verdict == Verdict::NoDevice) {
    // The same would happen to all others.
    if (!hasStopped)
      std::fprintf(stderr, "error: %s%s%s\n", options.runner.c_str(),
                   verdict == Verdict::NoDevice ? ": " : " ",
                   verdict == Verdict::NoDevice ? cause.c_str()
                                                : outcome.describe().c_str());
    hasStopped = true;
    hasNoDevice |= verdict == Verdict::NoDevice;
    hasBroken |= outcome.kind == Outcome::NotStarted;
    return;
  }
  Tally &tally = tallies[testCase.kind];
  ++tally.cases;
  tally.seconds += outcome.seconds;
  tally.verified += verdict == Verdict::Verified;
  tally.exact += verdict == Verdict::Verified && testCase.isExact;
  tally.rejected += verdict == Verdict::Rejected;
  tally.failed += verdict == Verdict::Failed;
  tally.planted += wasPlanted(outcome);
  tally.found += verdict == Verdict::Found;
  if (options.verbose)
    std::printf("case %llu %s: %s, %.2f s\n",
                static_cast<unsigned long long>(index), testCase.kind.c_str(),
                verdict == Verdict::Failed     ? "FAILED"
                : verdict == Verdict::Rejected ? "rejected"
                : verdict == Verdict::Found    ? "planted fault found"
                : testCase.isExact             ? "verified, exact"
                                               : "verified",
                outcome.seconds);
  if (verdict == Verdict::Failed)
    keepFailure(index, testCase, cause);
  std::fflush(stdout);
}

void Campaign::keepFailure(uint64_t index, const Case &testCase,
                           const std::string &cause) {
  std::string file = options.keep + "/" + std::to_string(options.seed) + "-" +
                     std::to_string(index) + ".mlir";
  std::vector<std::string> words = makeArguments(testCase, file);
  words.insert(words.begin(), "gpu-runner");
  std::string command = formatCommand(words);
  std::error_code error;
  std::filesystem::create_directories(options.keep, error);
  std::ofstream stream(file);
  stream << "// " << command << "\n// " << cause
         << "\n// gpu-fuzz --seed=" << options.seed << " --case=" << index
         << (options.machine.hasWideGroups ? " --wide-groups"
             : options.machine.hasGroups   ? " --groups"
                                           : "")
         << (options.machine.drawsInt4 ? " --int4" : "")
         << " --target=" << options.target << ", kind " << testCase.kind
         << (testCase.isExact ? ", exact" : "") << "\n"
         << testCase.text;
  stream.flush();
  std::printf("FAILED case %llu, %s: %s\n  %s\n",
              static_cast<unsigned long long>(index), testCase.kind.c_str(),
              cause.c_str(), command.c_str());
  if (!stream)
    std::fprintf(stderr, "error: cannot write '%s': %s\n", file.c_str(),
                 std::strerror(errno));
}

void Campaign::printTable() const {
  std::printf("%-14s %8s %9s %8s %8s %8s %8s %8s\n", "kind", "cases",
              "verified", "(exact)", "rejected", "planted", "failed", "s/case");
  auto print = [](const char *name, const Tally &tally) {
    std::printf("%-14s %8llu %9llu %8llu %8llu %8llu %8llu %8.2f\n", name,
                static_cast<unsigned long long>(tally.cases),
                static_cast<unsigned long long>(tally.verified),
                static_cast<unsigned long long>(tally.exact),
                static_cast<unsigned long long>(tally.rejected),
                static_cast<unsigned long long>(tally.planted),
                static_cast<unsigned long long>(tally.failed),
                tally.cases ? tally.seconds / static_cast<double>(tally.cases)
                            : 0);
  };
  Tally sum;
  for (const Kind &kind : getKinds()) {
    auto found = tallies.find(kind.name);
    if (found == tallies.end())
      continue;
    const Tally &tally = found->second;
    print(kind.name, tally);
    sum.cases += tally.cases;
    sum.verified += tally.verified;
    sum.exact += tally.exact;
    sum.rejected += tally.rejected;
    sum.failed += tally.failed;
    sum.planted += tally.planted;
    sum.seconds += tally.seconds;
  }
  print("all", sum);
}

int Campaign::run() {
  std::error_code error;
  std::string pattern =
      (std::filesystem::temp_directory_path(error) / "gpu-fuzz-XXXXXX")
          .string();
  if (error || !mkdtemp(pattern.data())) {
    std::fprintf(stderr, "error: cannot make a folder '%s': %s\n",
                 pattern.c_str(), std::strerror(errno));
    return 1;
  }
  directory = pattern;
  handleInterrupts();
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < options.jobs; ++i)
    workers.emplace_back([this, i] { work(i); });
  for (std::thread &worker : workers)
    worker.join();
  std::filesystem::remove_all(directory, error);

  printTable();
  if (hasNoDevice)
    return 77;
  uint64_t cases = 0, failed = 0, planted = 0, found = 0;
  for (const auto &[name, tally] : tallies) {
    cases += tally.cases;
    failed += tally.failed;
    planted += tally.planted;
    found += tally.found;
  }
  std::printf("planted faults: %llu, found: %llu\n",
              static_cast<unsigned long long>(planted),
              static_cast<unsigned long long>(found));
  std::printf("seed %llu on %s: %llu cases, %llu failed\n",
              static_cast<unsigned long long>(options.seed),
              options.target.c_str(), static_cast<unsigned long long>(cases),
              static_cast<unsigned long long>(failed));
  if (int number = getInterrupt()) {
    std::fflush(stdout);
    std::fprintf(stderr,
                 "error: ended by signal %d (%s) before all cases ran\n",
                 number, strsignal(number));
    return 1;
  }
  return failed || hasBroken || cases == 0 ? 1 : 0;
}

int fuzz::runCampaign(const Options &options) {
  return Campaign(options).run();
}
