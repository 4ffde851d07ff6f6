//===- RunReport.h - The results of a tuning run ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_RUNREPORT_H
#define TUNING_RUN_RUNREPORT_H

#include "Tuning/Run/Tuner.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::tuning {

/// Prints the best schedule of each task, beside the compiler's own choice and
/// the vendor's library, and the counts of candidates. Returns the same as the
/// JSON object of `gpu-tune run --json`.
llvm::json::Object reportRun(const Tuner &tuner, llvm::raw_ostream &os);

/// Prints the schedules that were measured again, beside the times that earlier
/// runs recorded. Returns the same as the JSON object of `gpu-tune replay`.
llvm::json::Object reportReplay(const Tuner &tuner, llvm::raw_ostream &os);

} // namespace tessera::tuning

#endif // TUNING_RUN_RUNREPORT_H
