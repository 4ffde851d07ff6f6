//===- ProgressLine.cpp - How far a compilation is, as text ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/ProgressLine.h"

#include "llvm/Support/Format.h"

using namespace tessera::execution;

ProgressLine::ProgressLine(llvm::raw_ostream &os, bool isTerminal)
    : os(os), isTerminal(isTerminal), start(Clock::now()), last(start) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::erase() {
  if (!isShown)
    return;
  os << "\r\033[K";
  os.flush();
  isShown = false;
}

void ProgressLine::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  erase();
}

void ProgressLine::update(const mlir::tessera::CompileProgress &progress) {
  std::lock_guard<std::mutex> lock(mutex);
  if (progress.stage.empty()) {
    erase();
    stage.clear();
    return;
  }
  Clock::time_point now = Clock::now();
  bool isNewStage = stage != progress.stage;
  stage = progress.stage.str();
  // A terminal shows each stage, but not every kernel.
  if (!isNewStage &&
      (!isTerminal || now - last < std::chrono::milliseconds(100)))
    return;
  last = now;
  std::string line;
  llvm::raw_string_ostream text(line);
  text << "compiling: stage " << stage;
  if (progress.done)
    text << ", " << progress.done << " of " << progress.kernels << " kernels";
  else if (progress.kernels)
    text << ", " << progress.kernels
         << (progress.kernels == 1 ? " kernel" : " kernels");
  if (!isTerminal) {
    os << line << "\n";
    return;
  }
  std::chrono::duration<double> elapsed = now - start;
  text << llvm::format(", %.0f s", elapsed.count());
  erase();
  os << line;
  os.flush();
  isShown = true;
}
