//===- CommandLine.h - The command line of gpu-fuzz -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_FUZZ_COMMANDLINE_H
#define GPU_FUZZ_COMMANDLINE_H

#include "Fuzz/Options.h"

#include <optional>
#include <string>

namespace fuzz {

/// Reads the command line. On a mistake, `error` has the message.
std::optional<Options> parseOptions(int argc, char **argv, std::string &error);
std::string getHelp();

} // namespace fuzz

#endif // GPU_FUZZ_COMMANDLINE_H
