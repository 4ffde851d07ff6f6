//===- Options.h - The options of a campaign --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUZZ_OPTIONS_H
#define FUZZ_OPTIONS_H

#include "Fuzz/Program.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fuzz {

/// Which cases run, and how; the options of gpu-fuzz.
struct Options {
  uint64_t seed = 1;
  uint64_t cases = 100;
  std::string target = "cpu";
  unsigned jobs = 0;
  std::string runner;
  double timeout = 60;
  /// Empty for all.
  std::vector<std::string> kinds;
  std::string keep = "gpu-fuzz-failures";
  std::optional<uint64_t> onlyCase;
  /// The properties of the target for which cases are generated.
  Machine machine;
  /// Each case in a process of its own.
  bool isolate = false;
  bool print = false;
  bool verbose = false;
  bool help = false;
};

} // namespace fuzz

#endif // FUZZ_OPTIONS_H
