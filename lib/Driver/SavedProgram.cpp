//===- SavedProgram.cpp - A compiled program as bytes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers are 8 bytes in the order of the host, texts and lists stand behind
// their length. There is no version here: what was written by another build of
// the compiler is not looked at.
//
// Each struct is taken apart by one structured binding, for writing as for
// reading: a field that is added and forgotten here does not compile.
//
//===----------------------------------------------------------------------===//

#include "SavedProgram.h"

#include "mlir/AsmParser/AsmParser.h"
#include <cstring>

using namespace mlir;
using namespace mlir::tessera;

namespace {

class Writer {
public:
  std::string bytes;

  void number(int64_t &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  }
  void text(std::string &value) {
    auto size = static_cast<int64_t>(value.size());
    number(size);
    bytes += value;
  }
  template <typename T, typename Visit>
  void list(std::vector<T> &values, Visit visit) {
    auto size = static_cast<int64_t>(values.size());
    number(size);
    for (T &value : values)
      visit(value);
  }
};

class Reader {
public:
  explicit Reader(StringRef bytes) : bytes(bytes) {}

  /// All was read, and nothing is left.
  bool isDone() const { return !hasFailed && bytes.empty(); }

  void number(int64_t &value) {
    value = 0;
    if (bytes.size() < sizeof(value)) {
      fail();
      return;
    }
    std::memcpy(&value, bytes.data(), sizeof(value));
    bytes = bytes.drop_front(sizeof(value));
  }
  void text(std::string &value) {
    size_t size = length();
    value = bytes.take_front(size).str();
    bytes = bytes.drop_front(size);
  }
  template <typename T, typename Visit>
  void list(std::vector<T> &values, Visit visit) {
    size_t size = length();
    values.clear();
    for (size_t i = 0; i < size && !hasFailed; ++i)
      visit(values.emplace_back());
  }

private:
  void fail() {
    hasFailed = true;
    bytes = "";
  }
  /// Nothing is longer than the bytes that are left.
  size_t length() {
    int64_t size = 0;
    number(size);
    if (size >= 0 && static_cast<uint64_t>(size) <= bytes.size())
      return static_cast<size_t>(size);
    fail();
    return 0;
  }

  StringRef bytes;
  bool hasFailed = false;
};

} // namespace

template <typename Archive>
static void visit(Archive &archive, std::string &text) {
  archive.text(text);
}

template <typename Archive> static void visit(Archive &archive, bool &value) {
  int64_t number = value;
  archive.number(number);
  value = number != 0;
}

template <typename Archive> static void visit(Archive &archive, int &value) {
  int64_t number = value;
  archive.number(number);
  value = static_cast<int>(number);
}

template <typename Archive>
static void visit(Archive &archive, int64_t &value) {
  archive.number(value);
}

template <typename Archive>
static void visit(Archive &archive, CodeReport &report);
template <typename Archive>
static void visit(Archive &archive, KernelReport &report);
template <typename Archive>
static void visit(Archive &archive, ProductReport &report);
template <typename Archive>
static void visit(Archive &archive, DiagnosticReport &report);

template <typename Archive, typename T>
static void visit(Archive &archive, std::vector<T> &values) {
  archive.list(values, [&](T &value) { visit(archive, value); });
}

template <typename Archive, typename... Fields>
static void visitAll(Archive &archive, Fields &...fields) {
  (visit(archive, fields), ...);
}

template <typename Archive>
static void visit(Archive &archive, CodeReport &report) {
  auto &[vectorRegisters, accumulationRegisters, scalarRegisters, vectorSpills,
         scalarSpills, privateBytes, threads, workgroupsPerUnit] = report;
  visitAll(archive, vectorRegisters, accumulationRegisters, scalarRegisters,
           vectorSpills, scalarSpills, privateBytes, threads,
           workgroupsPerUnit);
}

template <typename Archive>
static void visit(Archive &archive, KernelReport &report) {
  auto &[name, schedule, addsAtomically, workgroupBytes, purpose, copies,
         code] = report;
  visitAll(archive, name, schedule, addsAtomically, workgroupBytes, purpose,
           copies, code);
}

template <typename Archive>
static void visit(Archive &archive, ProductReport &report) {
  auto &[kernel, instruction, matrixUnit, plainThreads, product, location,
         rejected] = report;
  visitAll(archive, kernel, instruction, matrixUnit, plainThreads, product,
           location, rejected);
}

template <typename Archive>
static void visit(Archive &archive, DiagnosticReport &report) {
  auto &[severity, location, message, notes] = report;
  visitAll(archive, severity, location, message, notes);
}

template <typename Archive>
static void visit(Archive &archive, SavedProgram &program) {
  auto &[kernels, products, diagnostics, ptx, imageKind, imageName, imageBytes,
         functions, objects] = program;
  visitAll(archive, kernels, products, diagnostics, ptx, imageKind, imageName,
           imageBytes, functions, objects);
}

std::string mlir::tessera::writeProgram(SavedProgram &program) {
  Writer writer;
  visit(writer, program);
  return std::move(writer.bytes);
}

bool mlir::tessera::readProgram(StringRef bytes, SavedProgram &program) {
  Reader reader(bytes);
  visit(reader, program);
  return reader.isDone();
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

DiagnosticReport mlir::tessera::recordDiagnostic(Diagnostic &diagnostic) {
  DiagnosticReport report;
  report.severity = static_cast<int>(diagnostic.getSeverity());
  llvm::raw_string_ostream(report.location)
      << LocationAttr(diagnostic.getLocation());
  report.message = diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    report.notes.push_back(recordDiagnostic(note));
  return report;
}

static Location parseLocation(StringRef text, MLIRContext &context) {
  auto location =
      dyn_cast_or_null<LocationAttr>(parseAttribute(text, &context));
  return location ? Location(location) : UnknownLoc::get(&context);
}

void mlir::tessera::replayDiagnostic(const DiagnosticReport &report,
                                     MLIRContext &context) {
  InFlightDiagnostic diagnostic = context.getDiagEngine().emit(
      parseLocation(report.location, context),
      static_cast<DiagnosticSeverity>(report.severity));
  diagnostic << report.message;
  for (const DiagnosticReport &note : report.notes)
    diagnostic.attachNote(parseLocation(note.location, context))
        << note.message;
}
