//===- gpu-fuzz.cpp - Random programs, run and checked by gpu-runner ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs and campaigns are in lib/Fuzz; here is the command line.
// It needs the standard library only, and so runs wherever gpu-runner does.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Fuzz/Campaign.h"

#include <cstdio>

using namespace fuzz;

int main(int argc, char **argv) {
  std::string error;
  std::optional<Options> options = parseOptions(argc, argv, error);
  if (!options) {
    std::fprintf(stderr, "error: %s\n", error.c_str());
    return 2;
  }
  if (options->help) {
    std::fputs(getHelp().c_str(), stdout);
    return 0;
  }
  if (options->print) {
    std::fputs(generateCase(options->seed, *options->onlyCase, options->machine)
                   .text.c_str(),
               stdout);
    return 0;
  }
  return runCampaign(*options);
}
