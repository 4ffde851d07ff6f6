//===- ReportTest.cpp - Results as text and JSON --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestConsole.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

using namespace tessera::execution;

namespace {

TEST(ReportTest, FirstFailureDecides) {
  TestConsole strings;
  Report report(strings.console, /*json=*/true);
  (void)report.fail(Exit::WrongNumbers, "first\nwith a note\n");
  (void)report.fail(Exit::Failed, "second");
  EXPECT_EQ(report.exit(), Exit::WrongNumbers);
  EXPECT_EQ(report.finish(), 3);
  EXPECT_EQ(strings.errors, "error: first\nnote: with a note\nerror: second\n");
  auto json = llvm::json::parse(strings.output);
  ASSERT_TRUE(static_cast<bool>(json));
  EXPECT_EQ(json->getAsObject()->getString("error"), "first\nwith a note");
  EXPECT_EQ(json->getAsObject()->getInteger("status"), 3);
}

TEST(ReportTest, KnowsFailuresThatWereDiagnosed) {
  TestConsole strings;
  mlir::MLIRContext context;
  Report report(strings.console, /*json=*/false);
  EXPECT_FALSE(report.isOnlyDiagnosed());
  mlir::ScopedDiagnosticHandler handler(
      &context,
      [&](mlir::Diagnostic &diagnostic) { report.record(diagnostic); });
  mlir::emitError(mlir::UnknownLoc::get(&context)) << "no such op";
  (void)report.failDiagnosed("the import");
  EXPECT_TRUE(report.isOnlyDiagnosed());
  EXPECT_EQ(report.exit(), Exit::Failed);
  (void)report.fail(tessera::runtime::Status(
      tessera::runtime::StatusCode::Internal, "the device was lost"));
  EXPECT_FALSE(report.isOnlyDiagnosed());
}

TEST(ReportTest, ConsolePrintsOnce) {
  TestConsole strings;
  for (int i = 0; i < 2; ++i) {
    Report report(strings.console, /*json=*/false);
    report.noteOnce("a");
    report.warnOnce("a");
    report.note("b");
  }
  EXPECT_EQ(strings.errors, "note: a\nwarning: a\nnote: b\nnote: b\n");
}

TEST(ReportTest, QuietReportRecordsErrors) {
  Report report = Report::makeQuiet();
  report.text() << "this is not read";
  report.noteOnce("nor this");
  (void)report.fail(Exit::Usage, "wrong");
  EXPECT_EQ(report.finish(), 2);
  EXPECT_EQ(report.root.getString("error"), "wrong");
}

TEST(ReportTest, FormatsSizesAndTypes) {
  EXPECT_EQ(formatBytes(512), "512 bytes");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(139.0 * (1 << 30)), "139 GiB");
  EXPECT_EQ(formatType({64, -1}, "f16"), "64x?xf16");
  EXPECT_EQ(formatType({}, "f32"), "f32");
}

} // namespace
