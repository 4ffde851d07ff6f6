//===- Report.h - Messages and exit status ------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef EXECUTION_REPORT_H
#define EXECUTION_REPORT_H

#include "Execution/RunGuard.h"
#include "Runtime/Status.h"
#include "Runtime/Trace.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/LLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <set>
#include <string>

namespace mlir::tessera {}

namespace tessera::execution {

namespace compiler = mlir::tessera;
namespace runtime = ::tessera::runtime;

using llvm::ArrayRef;
using llvm::StringRef;
using llvm::Twine;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::succeeded;
using mlir::success;

/// Exit statuses.
enum class Exit {
  Done = 0,
  /// The program did not compile or did not run.
  Failed = 1,
  /// The command line cannot be right.
  Usage = 2,
  /// The program ran, and its numbers are wrong.
  WrongNumbers = 3,
  /// The device asked for is not here.
  NoDevice = 77,
};

/// Where reports go. One serves all reports of a process, which print some
/// notes only once.
struct Console {
  Console(llvm::raw_ostream &output, llvm::raw_ostream &errors)
      : output(output), errors(errors) {}

  llvm::raw_ostream &output, &errors;
  /// The notes and warnings that were printed once.
  std::set<std::string> reported;
};

/// Collects results: text for people, and the JSON object of --json.
class Report {
public:
  /// With `json`, text goes to the console's errors and one object to its
  /// output.
  Report(Console &console, bool json) : console(&console), json(json) {}

  /// A report that prints nothing. Programs run under `guard`, which may be
  /// null.
  static Report makeQuiet(RunGuard *guard = nullptr) {
    Report report;
    report.guard = guard;
    return report;
  }

  bool isJSON() const { return json; }

  /// Where text for people goes.
  llvm::raw_ostream &text() const {
    return !console ? llvm::nulls() : json ? console->errors : console->output;
  }
  /// Where notes and errors go.
  llvm::raw_ostream &messages() const {
    return console ? console->errors : llvm::nulls();
  }

  /// The recorder of --trace; null without the option.
  runtime::Trace *trace = nullptr;
  /// The guard around each run of a program; null for none.
  RunGuard *guard = nullptr;

  /// The object that --json prints.
  llvm::json::Object root;

  /// Prints `error: message` and a `note:` for each further line of the
  /// message. The first failure decides the exit status.
  LogicalResult fail(Exit status, const Twine &message);
  /// The same for a failure of the runtime; `context` precedes it.
  LogicalResult fail(const runtime::Status &status, const Twine &context = "");
  /// A failure that diagnostics have explained. If there is none, reports that
  /// `what` failed.
  LogicalResult failDiagnosed(const Twine &what);

  /// Prints `note: message`.
  void note(const Twine &message) const;
  /// Prints a note or a warning that the console has not printed yet.
  void noteOnce(const std::string &message) const;
  void warnOnce(const std::string &message) const;

  /// Remembers the first error among the diagnostics of a context.
  void record(const mlir::Diagnostic &diagnostic);

  Exit exit() const { return status; }
  /// Whether all failures are ones that diagnostics have explained: the device
  /// is as it was.
  bool isOnlyDiagnosed() const { return status != Exit::Done && !hasOther; }

  /// Prints the JSON object if it was asked for; returns the exit status.
  int finish();

private:
  Report() = default;
  void setFailed(Exit failure, StringRef message);

  /// Null for a quiet report.
  Console *console = nullptr;
  bool json = false;
  Exit status = Exit::Done;
  /// Whether a failure was not one of `failDiagnosed`.
  bool hasOther = false;
  std::string diagnosed;
};

/// A number for JSON, which has no infinities and NaNs: those are null.
llvm::json::Value toJSON(double value);

/// Shape and element type as in MLIR: "64x128xf16"; a scalar: "f16".
std::string formatType(ArrayRef<int64_t> shape, StringRef elementType);

/// A number of bytes for people: "139 GiB", "512 bytes".
std::string formatBytes(double bytes);

} // namespace tessera::execution

#endif // EXECUTION_REPORT_H
