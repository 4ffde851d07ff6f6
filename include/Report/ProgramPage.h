//===- ProgramPage.h - All there is to see, on one page ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_PROGRAMPAGE_H
#define REPORT_PROGRAMPAGE_H

#include "Report/Stages.h"

namespace tessera::execution {

/// Writes the page that --report names: the stages side by side, with links
/// between lines that come from the same line of the source, `explained` (the
/// text of --explain), and what the JSON object of `report` holds by now. It
/// loads nothing from anywhere.
LogicalResult writeHtmlReport(const ProgramOptions &options,
                              const std::vector<StageText> &stages,
                              StringRef explained, Report &report);

} // namespace tessera::execution

#endif // REPORT_PROGRAMPAGE_H
