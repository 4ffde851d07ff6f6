//===- ProgressLine.h - How far a compilation is, as text -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_PROGRESSLINE_H
#define EXECUTION_PROGRESSLINE_H

#include "Driver/Compiler.h"

#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <mutex>
#include <string>

namespace tessera::execution {

/// Prints the progress of compilations: on a terminal one line that changes and
/// disappears at the end, elsewhere a line for each stage.
class ProgressLine {
public:
  /// The stream must live as long.
  ProgressLine(llvm::raw_ostream &os, bool isTerminal);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// For `CompileOptions::progress`.
  void update(const mlir::tessera::CompileProgress &progress);
  /// Erases the line until the next update, so that other text can be printed.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  void erase();

  llvm::raw_ostream &os;
  bool isTerminal;
  /// Text may be printed by other threads than those that compile.
  std::mutex mutex;
  bool isShown = false;
  std::string stage;
  Clock::time_point start, last;
};

} // namespace tessera::execution

#endif // EXECUTION_PROGRESSLINE_H
