//===- ProgramTest.h - An entry point of a small program --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_REPORT_PROGRAMTEST_H
#define UNITTESTS_REPORT_PROGRAMTEST_H

#include "Driver/Compiler.h"
#include "Execution/Program.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace tessera::execution {

class ProgramTest : public ::testing::Test {
protected:
  ProgramTest() { compiler::prepareContext(context); }

  /// Parses a module, whose locations are in "test.mlir", and finds @main.
  Entry parse(llvm::StringRef source) {
    module =
        mlir::parseSourceString<mlir::ModuleOp>(source, &context, "test.mlir");
    EXPECT_TRUE(module);
    Report report = Report::makeQuiet();
    Entry entry;
    EXPECT_TRUE(module && succeeded(findEntry(*module, "main", entry, report)))
        << report.root.getString("error").value_or("").str();
    return entry;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tessera::execution

#endif // UNITTESTS_REPORT_PROGRAMTEST_H
