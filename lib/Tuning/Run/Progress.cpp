//===- Progress.cpp - Progress reports of a run ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/Run/Progress.h"

#include "llvm/Support/Format.h"

using namespace tessera::tuning;

Progress::Progress(llvm::raw_ostream &os, bool isTerminal)
    : os(os), isTerminal(isTerminal), last(Clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (isShown)
    os << "\r\033[K";
  isShown = false;
}

void Progress::say(const std::string &line) {
  clear();
  os << line << "\n";
}

void Progress::update(const Counts &counts, const std::string &best,
                      double secondsLeft) {
  Clock::time_point now = Clock::now();
  std::chrono::duration<double> since = now - last;
  if (since.count() < (isTerminal ? 0.2 : 10))
    return;
  last = now;
  std::string line;
  llvm::raw_string_ostream text(line);
  text << counts.made << " made, " << counts.pruned << " pruned, "
       << counts.compiled << " compiled, " << counts.failed << " failed, "
       << counts.measured << " measured";
  if (counts.toCompare > 0)
    text << "; leaders of " << counts.compared << " of " << counts.toCompare
         << " tasks compared";
  if (!best.empty())
    text << "; " << best;
  if (secondsLeft >= 0)
    text << llvm::format("; %d:%02d left", static_cast<int>(secondsLeft) / 60,
                         static_cast<int>(secondsLeft) % 60);
  if (!isTerminal) {
    os << line << "\n";
    return;
  }
  clear();
  os << llvm::StringRef(line).take_front(200);
  isShown = true;
}
