//===- Trace.h - Timeline of events -------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A list of events with their times, on the host's threads and on the device.
// Each component that takes part in running a program adds to it; `gpu-runner
// --trace` writes it to a file. LLVM's TimeTraceProfiler has neither a device's
// track nor times of another clock, and the runtime does not depend on LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TRACE_H
#define TESSERA_RUNTIME_TRACE_H

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::runtime {

/// Something that took time.
struct TraceEvent {
  std::string name;
  /// "pass", "stage", "copy", "launch", "kernel", ...
  std::string category;
  /// In microseconds since the trace began.
  double start = 0, duration = 0;
  /// 0 for the device, 1 for the thread that began the trace, from 2 on for
  /// other threads of the host.
  int track = 1;
  /// Further facts about the event.
  std::vector<std::pair<std::string, std::variant<int64_t, std::string>>>
      details;
};

/// Events of one track lie beside or within each other. Threads may add some
/// at the same time.
class Trace {
public:
  using Clock = std::chrono::steady_clock;
  static constexpr int deviceTrack = 0;

  Trace() { (void)getTrack(); }

  /// Microseconds since the trace began.
  double toTime(Clock::time_point time) const {
    return std::chrono::duration<double, std::micro>(time - begin).count();
  }
  double now() const { return toTime(Clock::now()); }

  /// The calling thread's track.
  int getTrack();
  void add(TraceEvent event);

  /// In the order in which they ended.
  const std::vector<TraceEvent> &getEvents() const { return events; }

private:
  Clock::time_point begin = Clock::now();
  std::mutex mutex;
  std::map<std::thread::id, int> tracks;
  std::vector<TraceEvent> events;
};

/// An event of the calling thread that lasts as long as this does. Null for the
/// trace makes it nothing.
class TraceScope {
public:
  TraceScope(Trace *trace, const char *category, std::string name);
  ~TraceScope();
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;

  void add(std::string key, std::variant<int64_t, std::string> value) {
    if (trace)
      event.details.emplace_back(std::move(key), std::move(value));
  }

private:
  Trace *trace;
  TraceEvent event;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_TRACE_H
