//===- Progress.cpp - Progress reports of a run ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace tune;

Progress::Progress() : isTerminal(isatty(STDERR_FILENO)), last(Clock::now()) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (isShown)
    llvm::errs() << "\r\033[K";
  isShown = false;
}

void Progress::say(const std::string &line) {
  clear();
  llvm::errs() << line << "\n";
}

void Progress::update(const Counts &counts, const std::string &best,
                      double secondsLeft) {
  Clock::time_point now = Clock::now();
  std::chrono::duration<double> since = now - last;
  if (since.count() < (isTerminal ? 0.2 : 10))
    return;
  last = now;
  std::string line;
  llvm::raw_string_ostream os(line);
  os << counts.made << " made, " << counts.pruned << " pruned, "
     << counts.compiled << " compiled, " << counts.failed << " failed, "
     << counts.measured << " measured";
  if (!best.empty())
    os << "; " << best;
  if (secondsLeft >= 0)
    os << llvm::format("; %d:%02d left", static_cast<int>(secondsLeft) / 60,
                       static_cast<int>(secondsLeft) % 60);
  if (!isTerminal) {
    llvm::errs() << line << "\n";
    return;
  }
  clear();
  llvm::errs() << llvm::StringRef(line).take_front(200);
  isShown = true;
}
