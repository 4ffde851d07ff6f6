//===- TraceFile.h - A timeline for a viewer --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_TRACEFILE_H
#define REPORT_TRACEFILE_H

#include "Execution/Options.h"

#include "Runtime/Trace.h"

namespace tessera::execution {

/// --trace: writes the events to a file, in the JSON object form of the Chrome
/// trace event format: complete events ("ph": "X"), times in microseconds.
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
LogicalResult writeTrace(const ProgramOptions &options,
                         const runtime::Trace &trace, Report &report);

} // namespace tessera::execution

#endif // REPORT_TRACEFILE_H
