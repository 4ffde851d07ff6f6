//===- Stages.h - A program at each of its stages ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_STAGES_H
#define REPORT_STAGES_H

#include "Execution/Options.h"

#include "Driver/Compiler.h"

#include <set>

namespace tessera::execution {

/// A program's text at a stage, line by line.
struct StageText {
  /// "source", "schedule", "tessera", "legalized", "vendor", "llvm" or
  /// "assembly"; and what people read.
  std::string id, title;
  struct Line {
    std::string text;
    /// The lines of the source that it comes from, by its locations.
    std::set<unsigned> sources;
  };
  std::vector<Line> lines;
};

/// The program at all stages, for the options' chip. `file` is its name in
/// locations, `source` its text. `module` stays as it is. Errors are
/// diagnostics of its context.
FailureOr<std::vector<StageText>>
collectStages(mlir::ModuleOp module, StringRef file, StringRef source,
              const compiler::CompileOptions &options);

} // namespace tessera::execution

#endif // REPORT_STAGES_H
