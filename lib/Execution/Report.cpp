//===- Report.cpp - Messages and exit status ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Report.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace tessera::execution;

void Report::setFailed(Exit failure, StringRef message) {
  if (status != Exit::Done)
    return;
  status = failure;
  // Anything but UTF-8 would make llvm::json assert.
  root["error"] = llvm::json::fixUTF8(message);
}

LogicalResult Report::fail(Exit failureStatus, const Twine &message) {
  llvm::SmallString<128> storage;
  StringRef whole = message.toStringRef(storage).rtrim();
  auto [first, rest] = whole.split('\n');
  text().flush();
  messages() << "error: " << first << "\n";
  while (!rest.empty()) {
    auto [line, more] = rest.split('\n');
    note(line);
    rest = more;
  }
  setFailed(failureStatus, whole);
  hasOther = true;
  return failure();
}

LogicalResult Report::fail(const runtime::Status &failureStatus,
                           const Twine &context) {
  std::string prefix = context.str();
  if (!prefix.empty())
    prefix += ": ";
  Exit code = failureStatus.code() == runtime::StatusCode::NoDevice
                  ? Exit::NoDevice
                  : Exit::Failed;
  return fail(code, prefix + failureStatus.message());
}

LogicalResult Report::failDiagnosed(const Twine &what) {
  if (diagnosed.empty())
    return fail(Exit::Failed,
                what +
                    " failed without a message; this is a bug in gpu-runner");
  setFailed(Exit::Failed, diagnosed);
  return failure();
}

void Report::note(const Twine &message) const {
  messages() << "note: " << message << "\n";
}

void Report::noteOnce(const std::string &message) const {
  if (console && console->reported.insert("note: " + message).second)
    note(message);
}

void Report::warnOnce(const std::string &message) const {
  if (console && console->reported.insert("warning: " + message).second)
    messages() << "warning: " << message << "\n";
}

void Report::record(const mlir::Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
      !diagnosed.empty())
    return;
  llvm::raw_string_ostream os(diagnosed);
  if (auto location =
          mlir::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
    os << location.getFilename().getValue() << ":" << location.getLine() << ":"
       << location.getColumn() << ": ";
  os << diagnostic.str();
}

int Report::finish() {
  if (!console)
    return static_cast<int>(status);
  if (json) {
    root["status"] = static_cast<int>(status);
    console->output << llvm::formatv("{0:2}",
                                     llvm::json::Value(std::move(root)))
                    << "\n";
  }
  console->output.flush();
  return static_cast<int>(status);
}

llvm::json::Value tessera::execution::toJSON(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

std::string tessera::execution::formatType(ArrayRef<int64_t> shape,
                                           StringRef elementType) {
  std::string text;
  for (int64_t size : shape)
    text += (size < 0 ? std::string("?") : std::to_string(size)) + "x";
  return text + elementType.str();
}

std::string tessera::execution::formatBytes(double bytes) {
  static constexpr const char *units[] = {"bytes", "KiB", "MiB", "GiB",
                                          "TiB",   "PiB", "EiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format(unit == 0 || bytes >= 99.95 ? "%.0f" : "%.1f", bytes)
     << " " << units[unit];
  return text;
}
