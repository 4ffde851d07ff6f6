//===- Campaign.h - Many cases, run and judged ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUZZ_CAMPAIGN_H
#define FUZZ_CAMPAIGN_H

#include "Fuzz/Kinds.h"
#include "Fuzz/Options.h"
#include "Fuzz/Process.h"

namespace fuzz {

/// The outcome of a case.
enum class Verdict {
  Verified,
  Rejected,
  /// The fault that was planted in it was found.
  Found,
  Failed,
  NoDevice
};

/// Plants a fault in an output of one case of fifty, by its number and the
/// seed.
void plantFault(uint64_t seed, uint64_t index, Case &testCase);

/// Whether gpu-runner handled the case as expected; if it did not, `cause` is
/// one line with the reason.
Verdict judge(const Case &testCase, const Outcome &outcome, std::string &cause);

/// Runs the cases that the options ask for, writes what failed, and prints a
/// table. Returns the exit status.
int runCampaign(const Options &options);

} // namespace fuzz

#endif // FUZZ_CAMPAIGN_H
