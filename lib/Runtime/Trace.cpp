//===- Trace.cpp - Timeline of events -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Trace.h"

using namespace tessera::runtime;

int Trace::getTrack() {
  std::lock_guard<std::mutex> lock(mutex);
  int next = static_cast<int>(tracks.size()) + 1;
  return tracks.emplace(std::this_thread::get_id(), next).first->second;
}

void Trace::add(TraceEvent event) {
  std::lock_guard<std::mutex> lock(mutex);
  events.push_back(std::move(event));
}

TraceScope::TraceScope(Trace *trace, const char *category, std::string name)
    : trace(trace) {
  if (!trace)
    return;
  event.category = category;
  event.name = std::move(name);
  event.track = trace->getTrack();
  event.start = trace->now();
}

TraceScope::~TraceScope() {
  if (!trace)
    return;
  event.duration = trace->now() - event.start;
  trace->add(std::move(event));
}
