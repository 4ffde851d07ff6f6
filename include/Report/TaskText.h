//===- TaskText.h - The best of each task, as text --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_TASKTEXT_H
#define REPORT_TASKTEXT_H

#include "Report/TaskSummary.h"

#include "Driver/TunedSchedules.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera::tuning {

/// Prints the best schedule of a task: its time and its rate, and how many
/// times as fast it is as the compiler's own choice and as the library.
void printSummary(const Summary &summary, llvm::raw_ostream &os);

/// Prints the summaries as the JSON object of `gpu-tune best --json`.
void printSummariesJSON(llvm::ArrayRef<Summary> summaries,
                        llvm::raw_ostream &os);

/// Formats schedules as the lines of the compiler's own files: key, schedule
/// and origin, separated by tabs. Only those of `task`, whose empty fields
/// stand for any. Empty if there is none.
std::string formatTunedSchedules(const mlir::tessera::TunedSchedules &tuned,
                                 const tuning::TaskId &task);

} // namespace tessera::tuning

#endif // REPORT_TASKTEXT_H
