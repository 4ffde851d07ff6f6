//===- gpu-fuzz.cpp - Random programs, run and checked by gpu-runner ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Rng, Types     choices that the seed decides; sizes; ranges of values
//   Program        a program, written op by op
//   Schedule       random schedules
//   Matmul, Fusion, Convolution, Elementwise, Movement, VThread, Illegal
//                  the kinds of programs
//   Process        gpu-runner in a child process
//   Campaign       many cases, run and judged
//   Options        the command line
//
// It needs the standard library only, and so runs wherever gpu-runner does.
//
//===----------------------------------------------------------------------===//

#include "Campaign.h"

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
