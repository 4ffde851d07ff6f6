//===- OutputStatistics.h - Statistics of errors ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REPORT_OUTPUTSTATISTICS_H
#define REPORT_OUTPUTSTATISTICS_H

#include "Execution/Execution.h"

#include "Reference/Compare.h"

namespace tessera::execution {

/// An output as the reference library takes arrays. `purpose` is the option to
/// leave out where its type has no numbers there.
FailureOr<compiler::reference::Array>
toReference(const runtime::HostArray &array, mlir::Type type, StringRef purpose,
            Report &report);
/// The same for the arguments of an entry point, in order.
FailureOr<llvm::SmallVector<compiler::reference::Array>>
toReference(const Entry &entry,
            const std::vector<runtime::HostArray> &arguments, StringRef purpose,
            Report &report);

/// The reference of an output, and its name in messages.
struct Sides {
  /// "computed" and "the reference", or two targets.
  std::string got, expected;
  /// Elements that no run wrote; absent if that was not checked.
  std::optional<int64_t> neverWritten;
};

/// "[3, 0]".
std::string formatPosition(ArrayRef<int64_t> position);

/// A line on the worst block, if one is wrong.
void printBlocks(const compiler::reference::Comparison &comparison,
                 llvm::raw_ostream &os);

/// Warns of tiles in which a missing step of a sum would not be detected
/// (`Comparison::insensitiveTileCount`).
void printSensitivity(const compiler::reference::Comparison &comparison,
                      llvm::raw_ostream &os);

/// The statistics of an output, a line each.
void printStatistics(const compiler::reference::Comparison &comparison,
                     const Output &output, const Sides &sides,
                     llvm::raw_ostream &os);

/// The same for --json.
llvm::json::Object
describeStatistics(const compiler::reference::Comparison &comparison,
                   const Output &output, const Sides &sides);

} // namespace tessera::execution

#endif // REPORT_OUTPUTSTATISTICS_H
