//===- Bench.cpp - Timing of a program ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/Bench.h"
#include "Report/MatmulWork.h"

#include "llvm/Support/Format.h"

#include <algorithm>

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

LogicalResult
tessera::execution::benchmark(const ProgramOptions &options, const Entry &entry,
                              const std::vector<HostArray> &arguments,
                              runtime::Device &device, Execution &execution,
                              Report &report) {
  // Recorded are the launches of the first run.
  execution.getSession().setRecording(false);
  execution.getSession().setGuard(0);
  execution.getSession().setTrace(nullptr);
  device.setChecking(false);
  Timer timer(device, execution);

  // Warm-up: pools and clocks. It also shows how many runs there is time for.
  double warm = 0, last = 0;
  for (int i = 0; i < 5 && (i == 0 || warm < 100); ++i) {
    runtime::Expected<double> time = timer.run();
    if (!time.ok())
      return report.fail(time.status());
    last = *time;
    warm += last;
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
  double seconds = std::max(median, 1e-6) / 1e3;
  os << "bench: ";
  if (std::optional<double> count = countOperations(entry, arguments)) {
    os << formatRate(*count / seconds, "GFLOP/s")
       << " of matmuls and convolutions, ";
    object["operations"] = toJSON(*count);
    object["gflop_per_s"] = toJSON(*count / seconds / 1e9);
  }
  double rate = execution.getTraffic() / seconds;
  os << formatRate(rate, "GB/s") << " of arguments and results\n";
  object["gbyte_per_s"] = toJSON(rate / 1e9);
  report.root["bench"] = std::move(object);
  return success();
}
