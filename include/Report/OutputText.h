//===- OutputText.h - The outputs of a run, as text -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_OUTPUTTEXT_H
#define REPORT_OUTPUTTEXT_H

#include "Execution/Execution.h"

namespace tessera::execution {

/// Prints a line for each output, and the elements of small ones. Adds them to
/// the JSON object.
void printOutputs(const std::vector<Output> &outputs, Report &report);

} // namespace tessera::execution

#endif // REPORT_OUTPUTTEXT_H
