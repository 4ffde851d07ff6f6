//===- TuningPage.h - Results of tuning runs as a page ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_TUNINGPAGE_H
#define REPORT_TUNINGPAGE_H

#include "Report/TaskSummary.h"

#include "llvm/ADT/ArrayRef.h"

namespace tessera::tuning {

/// A page of HTML with a section for each summary, and the runs that the
/// records come from. It loads nothing from anywhere.
std::string writeTuningPage(llvm::StringRef title,
                            llvm::ArrayRef<Summary> summaries,
                            llvm::ArrayRef<tuning::Run> runs);

} // namespace tessera::tuning

#endif // REPORT_TUNINGPAGE_H
