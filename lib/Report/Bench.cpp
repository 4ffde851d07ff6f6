//===- Bench.cpp - Timing of a program ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Bench.h"
#include "Report/MatmulWork.h"
#include "TargetInfo/TargetInfo.h"

#include "Runtime/RunGraph.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>
#include <chrono>

using namespace tessera::execution;
using runtime::HostArray;

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

namespace {
/// Runs the program once, timed.
class Timer {
public:
  Timer(runtime::Device &device, Execution &execution)
      : device(device), execution(execution) {}

  /// In milliseconds.
  runtime::Expected<double> run() {
    execution.releaseResults();
    double time = 0;
    runtime::Status status = device.flushCaches();
    if (status.ok())
      status = device.timeBegin();
    if (status.ok()) {
      execution.call();
      status = execution.getSession().status();
    }
    if (status.ok())
      status = device.timeEnd(&time);
    if (!status.ok())
      return status;
    return time;
  }

private:
  runtime::Device &device;
  Execution &execution;
};
} // namespace

namespace {
/// Runs until a GPU has raised its clocks. One that has waited for the host's
/// reference is idle: an H200 has 345 MHz then, 1980 under load, and is at the
/// former for more runs than few of `--bench` are. Through Vulkan it is for
/// more than 150 ms: densenet121 at batch 1 took 2.9 ms after 100 ms of runs,
/// and 1.05 later.
class WarmUp {
public:
  explicit WarmUp(const runtime::Device &device)
      : least(compiler::isHostTarget(device.info().target) ? 100 : 400) {}

  /// Whether a run, at least, and enough time are done.
  bool isDone() {
    return ran++ > 0 && std::chrono::steady_clock::now() - begin > least;
  }

private:
  std::chrono::milliseconds least;
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
  unsigned ran = 0;
};
} // namespace

/// The time below which a share of the sorted times lie.
static double getPercentile(const std::vector<double> &times, double share) {
  double position = share * static_cast<double>(times.size() - 1);
  size_t below = static_cast<size_t>(position);
  size_t above = std::min(below + 1, times.size() - 1);
  return times[below] + (times[above] - times[below]) *
                            (position - static_cast<double>(below));
}

/// "123.4 GFLOP/s".
static std::string formatRate(double perSecond, StringRef unit) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*f ",
                                                 perSecond < 1e10   ? 3
                                                 : perSecond < 1e12 ? 1
                                                                    : 0,
                                                 perSecond / 1e9)
                                 << unit;
  return text;
}

//===----------------------------------------------------------------------===//
// The settled rate
//===----------------------------------------------------------------------===//

namespace {
/// Runs without pauses, each with other memory than the one before, so that no
/// run finds its data in the cache.
class SettledRuns {
public:
  SettledRuns(const ProgramOptions &options, compiler::CompiledProgram &program,
              const Entry &entry, const std::vector<HostArray> &arguments,
              runtime::Device &device, Report &report)
      : options(options), program(program), entry(entry), arguments(arguments),
        device(device), report(report) {}

  /// Measures; `single` is the time of one run in milliseconds, and `traffic`
  /// the bytes of its arguments and results.
  LogicalResult measure(double single, double traffic);

  /// Milliseconds of a run.
  double time = 0;
  size_t runs = 0, copies = 0;
  bool isGraph = false;

private:
  LogicalResult prepare(double single, double traffic);
  runtime::Status submit();

  const ProgramOptions &options;
  compiler::CompiledProgram &program;
  const Entry &entry;
  const std::vector<HostArray> &arguments;
  runtime::Device &device;
  Report &report;
  std::vector<std::unique_ptr<Execution>> executions;
  std::unique_ptr<runtime::RunGraph> graph;
};
} // namespace

LogicalResult SettledRuns::prepare(double single, double traffic) {
  // More than twice the cache, but not the whole memory, nor minutes.
  constexpr double most = 64, unknownCache = 64 << 20, longest = 300;
  double cache =
      device.info().l2Bytes ? double(device.info().l2Bytes) : unknownCache;
  double wanted = 2 * cache / std::max(traffic, 1.0) + 2;
  if (size_t free = device.freeMemory())
    wanted = std::min(wanted, double(free) / 4 / std::max(traffic, 1.0));
  wanted = std::min(wanted, longest / std::max(single, 1e-3));
  copies = static_cast<size_t>(std::clamp(wanted, 1.0, most));
  for (size_t index = 0; index < copies; ++index) {
    executions.push_back(
        std::make_unique<Execution>(device, program, entry, arguments));
    if (failed(executions.back()->prepare(report, /*isLoaded=*/true)))
      return failure();
    executions.back()->getSession().setRecording(false);
    // Constants are copied, and kernels found.
    executions.back()->call();
    if (failed(executions.back()->finish(report)))
      return failure();
  }
  isGraph = device.hasGraphs() && options.launch != runtime::LaunchMode::Direct;
  if (!isGraph)
    return success();
  graph = std::make_unique<runtime::RunGraph>(device);
  for (auto &execution : executions) {
    execution->releaseResults();
    graph->record(execution->getSession());
    execution->call();
    runtime::RunGraph::stop(execution->getSession());
    // Nothing has run yet: this ends the run for --timeout.
    if (failed(execution->finish(report)))
      return failure();
  }
  runtime::Status status = graph->make();
  return status.ok() ? success() : report.fail(status);
}

/// Queues a run of each copy.
runtime::Status SettledRuns::submit() {
  if (graph)
    return graph->launch();
  for (auto &execution : executions) {
    execution->releaseResults();
    execution->call();
    if (!execution->getSession().status().ok())
      return execution->getSession().status();
  }
  return runtime::Status::success();
}

LogicalResult SettledRuns::measure(double single, double traffic) {
  // Runs of --bench are not in the timeline.
  llvm::SaveAndRestore noTrace(report.trace,
                               static_cast<runtime::Trace *>(nullptr));
  if (failed(prepare(single, traffic)))
    return failure();
  auto rounds = static_cast<size_t>(std::clamp(
      300 / std::max(single * static_cast<double>(copies), 1e-3), 1.0, 1000.0));
  if (options.benchRuns)
    rounds = std::min(rounds, std::max<size_t>(*options.benchRuns / copies, 1));
  double total = 0;
  auto run = [&](size_t number) {
    runtime::Status status = device.timeBegin();
    for (size_t round = 0; round < number && status.ok(); ++round)
      status = submit();
    return status.ok() ? device.timeEnd(&total) : status;
  };
  runtime::Status status = runtime::Status::success();
  for (WarmUp warmUp(device); status.ok() && !warmUp.isDone();)
    status = run(std::min<size_t>(rounds, 3));
  if (status.ok())
    status = run(rounds);
  if (!status.ok())
    return report.fail(status);
  runs = rounds * copies;
  time = total / static_cast<double>(runs);
  for (auto &execution : executions)
    if (failed(execution->finish(report)))
      return failure();
  return success();
}

LogicalResult tessera::execution::benchmark(
    const ProgramOptions &options, compiler::CompiledProgram &program,
    const Entry &entry, const std::vector<HostArray> &arguments,
    runtime::Device &device, Execution &execution, Report &report) {
  // Recorded are the launches of the first run.
  execution.getSession().setRecording(false);
  execution.getSession().setGuard(0);
  execution.getSession().setTrace(nullptr);
  device.setChecking(false);
  Timer timer(device, execution);

  // Warm-up: pools and clocks. It also shows how many runs there is time for.
  double last = 0;
  for (WarmUp warmUp(device); !warmUp.isDone();) {
    runtime::Expected<double> time = timer.run();
    if (!time.ok())
      return report.fail(time.status());
    last = *time;
  }
  double enough = std::clamp(300 / std::max(last, 1e-3), 20.0, 200.0);
  // Slow programs are not run for minutes.
  enough = std::min(enough, std::max(3.0, 10000 / std::max(last, 1e-3)));
  unsigned runs = options.benchRuns.value_or(static_cast<unsigned>(enough));

  std::vector<double> times;
  for (unsigned i = 0; i < runs; ++i) {
    runtime::Expected<double> time = timer.run();
    if (!time.ok())
      return report.fail(time.status());
    times.push_back(*time);
  }
  if (failed(execution.finish(report)))
    return failure();

  std::sort(times.begin(), times.end());
  double median = getPercentile(times, 0.5);
  double low = getPercentile(times, 0.1), high = getPercentile(times, 0.9);
  llvm::raw_ostream &os = report.text();
  os << "bench: median " << llvm::format("%.4f", median) << " ms, min "
     << llvm::format("%.4f", times.front()) << ", p10 to p90 "
     << llvm::format("%.4f", low) << " to " << llvm::format("%.4f", high)
     << " (" << runs << (runs == 1 ? " run" : " runs") << ", cold caches)\n";
  llvm::json::Object object{{"runs", runs},
                            {"median_ms", toJSON(median)},
                            {"min_ms", toJSON(times.front())},
                            {"p10_ms", toJSON(low)},
                            {"p90_ms", toJSON(high)},
                            {"bytes", toJSON(execution.getTraffic())}};
  std::optional<double> operations = countOperations(entry, arguments);
  if (operations)
    object["operations"] = toJSON(*operations);
  // A line of rates, for a time in milliseconds.
  auto addRates = [&](double time, llvm::json::Object &to) {
    double seconds = std::max(time, 1e-6) / 1e3;
    os << "bench: ";
    if (operations) {
      os << formatRate(*operations / seconds, "GFLOP/s")
         << " of matmuls and convolutions, ";
      to["gflop_per_s"] = toJSON(*operations / seconds / 1e9);
    }
    double rate = execution.getTraffic() / seconds;
    os << formatRate(rate, "GB/s") << " of arguments and results\n";
    to["gbyte_per_s"] = toJSON(rate / 1e9);
  };
  addRates(median, object);

  SettledRuns settled(options, program, entry, arguments, device, report);
  if (failed(settled.measure(median, execution.getTraffic())))
    return failure();
  os << "bench: settled " << llvm::format("%.4f", settled.time) << " ms ("
     << settled.runs << " runs "
     << (settled.isGraph ? "as graphs" : "one after the other") << " over "
     << settled.copies << " copies of the arguments)\n";
  llvm::json::Object settledObject{
      {"ms", toJSON(settled.time)},
      {"runs", static_cast<int64_t>(settled.runs)},
      {"copies", static_cast<int64_t>(settled.copies)},
      {"as", settled.isGraph ? "graphs" : "runs"}};
  addRates(settled.time, settledObject);
  object["settled"] = std::move(settledObject);
  report.root["bench"] = std::move(object);
  return success();
}
