//===- TestConsole.h - A console that keeps what is printed -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_EXECUTION_TESTCONSOLE_H
#define UNITTESTS_EXECUTION_TESTCONSOLE_H

#include "Execution/Report.h"

namespace tessera::execution {

struct TestConsole {
  std::string output, errors;
  llvm::raw_string_ostream outputStream{output}, errorStream{errors};
  Console console{outputStream, errorStream};
};

} // namespace tessera::execution

#endif // UNITTESTS_EXECUTION_TESTCONSOLE_H
