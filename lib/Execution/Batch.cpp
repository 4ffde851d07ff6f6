//===- Batch.cpp - Many command lines, in one process ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Execution/Batch.h"

#include "Runtime/InputFile.h"

#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"

#include <iostream>
#include <sstream>

using namespace tessera::execution;

int tessera::execution::runBatch(
    StringRef file, Console &console,
    llvm::function_ref<int(ArrayRef<const char *>)> run) {
  // Lines of standard input run as they come.
  if (file == "-")
    return runBatch(std::cin, console, run);
  runtime::Expected<std::string> text = runtime::readInputFile(file.str());
  if (!text.ok()) {
    Report report(console, /*json=*/false);
    (void)report.fail(Exit::Usage,
                      "cannot read '" + file + "': " + text.status().message());
    return report.finish();
  }
  std::istringstream lines(text.take());
  return runBatch(lines, console, run);
}

int tessera::execution::runBatch(
    std::istream &lines, Console &console,
    llvm::function_ref<int(ArrayRef<const char *>)> run) {
  int status = 0;
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    StringRef text = StringRef(line).trim();
    if (text.empty() || text.starts_with("#"))
      continue;
    llvm::BumpPtrAllocator memory;
    llvm::StringSaver saver(memory);
    llvm::SmallVector<const char *> words;
    llvm::cl::TokenizeGNUCommandLine(text, saver, words);
    int lineStatus = run(words);
    if (status == 0)
      status = lineStatus;
    for (llvm::raw_ostream *os : {&console.output, &console.errors}) {
      *os << "=== line " << number << ": exit status " << lineStatus << "\n";
      os->flush();
    }
  }
  return status;
}
