//===- OptionValues.h - Parsers of the values of options --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each parses the value of one option into the fields that `ProgramOptions` has
// for it. An invalid value is reported as `Exit::Usage`, with the option's name
// and the expected form, and leaves the fields unchanged.
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_OPTIONVALUES_H
#define EXECUTION_OPTIONVALUES_H

#include "Execution/Options.h"

namespace tessera::execution {

/// --diff=TARGET,TARGET[,TARGET]...
LogicalResult parseDiff(StringRef value, ProgramOptions &options,
                        Report &report);

/// --tolerance=ABS[,REL].
LogicalResult parseTolerance(StringRef value, ProgramOptions &options,
                             Report &report);

/// --emit=STAGE.
LogicalResult parseStage(StringRef value, ProgramOptions &options,
                         Report &report);

/// --bench=N.
LogicalResult parseBenchRuns(StringRef value, ProgramOptions &options,
                             Report &report);

/// --repeat=N.
LogicalResult parseRepeat(StringRef value, ProgramOptions &options,
                          Report &report);

/// --cache-limit=SIZE: bytes, or a number followed by KiB, MiB or GiB.
LogicalResult parseCacheLimit(StringRef value, ProgramOptions &options,
                              Report &report);

/// Accepts the options of mlir-runner that select how LLVM optimizes host code,
/// such as -O2, and notes that they have no effect. Returns false for any other
/// option.
bool ignoreRunnerOption(StringRef option, const Report &report);

/// The name here of an option that mlir-runner has with one dash, such as
/// -shared-libs; any other name is unchanged.
std::string translateRunnerOption(StringRef name);

/// Parses a time limit in seconds, the value of `option`: more than 0, and at
/// most a day, because larger values are taken for mistakes.
FailureOr<double> parseTimeLimit(StringRef option, StringRef value,
                                 Report &report);

} // namespace tessera::execution

#endif // EXECUTION_OPTIONVALUES_H
