//===- TestUtils.h - Helpers of the runtime's tests -------------*- C++ -*-===//

#ifndef TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H
#define TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H

#include "gtest/gtest.h"

#include <string>

/// Whether a message has a part; shows the message if not.
inline testing::AssertionResult contains(const std::string &text,
                                         const std::string &part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "no '" << part << "' in '" << text << "'";
}

#endif // TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H
