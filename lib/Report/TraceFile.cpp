//===- TraceFile.cpp - A timeline for a viewer ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report/TraceFile.h"

#include "Runtime/OutputFile.h"

#include <set>

using namespace tessera::execution;
using runtime::Trace;
using runtime::TraceEvent;

/// A metadata event that names a track.
static llvm::json::Object nameTrack(int track, std::string name) {
  return llvm::json::Object{
      {"ph", "M"},
      {"pid", 1},
      {"tid", track},
      {"name", "thread_name"},
      {"args", llvm::json::Object{{"name", std::move(name)}}}};
}

LogicalResult tessera::execution::writeTrace(const ProgramOptions &options,
                                             const Trace &trace,
                                             Report &report) {
  std::set<int> tracks;
  llvm::json::Array events;
  for (const TraceEvent &event : trace.getEvents()) {
    tracks.insert(event.track);
    llvm::json::Object details;
    for (const auto &[key, value] : event.details)
      if (const auto *number = std::get_if<int64_t>(&value))
        details[key] = *number;
      else
        details[key] = llvm::json::fixUTF8(std::get<std::string>(value));
    events.push_back(
        llvm::json::Object{{"ph", "X"},
                           {"pid", 1},
                           {"tid", event.track},
                           {"name", llvm::json::fixUTF8(event.name)},
                           {"cat", event.category},
                           {"ts", event.start},
                           {"dur", event.duration},
                           {"args", std::move(details)}});
  }
  for (int track : tracks)
    events.push_back(nameTrack(track, track == Trace::deviceTrack ? "device"
                                      : track == 1
                                          ? "gpu-runner"
                                          : "thread " + std::to_string(track)));
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::json::Value(llvm::json::Object{
             {"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}})
      << "\n";
  runtime::Status status = runtime::writeFile(options.traceFile, {text});
  return status.ok() ? success() : report.fail(status);
}
