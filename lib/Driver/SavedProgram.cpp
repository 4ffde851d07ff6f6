//===- SavedProgram.cpp - A compiled program as bytes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// There is no version here: data written by another build of the compiler is
// not read.
//
//===----------------------------------------------------------------------===//

#include "SavedProgram.h"

#include "Runtime/Serialize.h"

#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace mlir::tessera;

namespace mlir::tessera {

using runtime::visitAll;

template <typename Archive> void visit(Archive &archive, CodeReport &report) {
  auto &[vectorRegisters, accumulationRegisters, scalarRegisters, vectorSpills,
         scalarSpills, privateBytes, threads, workgroupsPerUnit] = report;
  visitAll(archive, vectorRegisters, accumulationRegisters, scalarRegisters,
           vectorSpills, scalarSpills, privateBytes, threads,
           workgroupsPerUnit);
}

template <typename Archive> void visit(Archive &archive, KernelReport &report) {
  auto &[name, location, schedule, scheduleOrigin, prediction, addsAtomically,
         workgroupBytes, purpose, copies, code] = report;
  visitAll(archive, name, location, schedule, scheduleOrigin, prediction,
           addsAtomically, workgroupBytes, purpose, copies, code);
}

template <typename Archive> void visit(Archive &archive, MatmulReport &report) {
  auto &[kernel, instruction, matrixUnit, plainThreads, types, location,
         unitBits, unitLength, rejected, loads, rateType, nearest,
         nearestNeeds] = report;
  visitAll(archive, kernel, instruction, matrixUnit, plainThreads, types,
           location, unitBits, unitLength, rejected, loads, rateType, nearest,
           nearestNeeds);
}

template <typename Archive>
void visit(Archive &archive, DiagnosticReport &report) {
  auto &[severity, location, message, notes] = report;
  visitAll(archive, severity, location, message, notes);
}

template <typename Archive>
void visit(Archive &archive, SavedProgram &program) {
  auto &[kernels, matmuls, diagnostics, ptx, stepCount, steps, imageKind,
         imageName, imageBytes, functions, objects, constants, derived,
         derivedContents, loader] = program;
  visitAll(archive, kernels, matmuls, diagnostics, ptx, stepCount, steps,
           imageKind, imageName, imageBytes, functions, objects, constants,
           derived, derivedContents, loader);
}

} // namespace mlir::tessera

std::string mlir::tessera::writeProgram(SavedProgram &program) {
  runtime::Writer writer;
  visit(writer, program);
  return std::move(writer.bytes);
}

bool mlir::tessera::readProgram(StringRef bytes, SavedProgram &program) {
  runtime::Reader reader({bytes.data(), bytes.size()});
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
