//===- FakeBlasLt.h - A cuBLASLt or hipBLASLt for tests ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_BLASLT_FAKEBLASLT_H
#define TESSERA_UNITTESTS_RUNTIME_BLASLT_FAKEBLASLT_H

#include <cstddef>
#include <string>
#include <vector>

namespace tessera::runtime {

/// The recorded calls of the library, and its configured results.
struct FakeBlasLt {
  /// Each call in its order, with the arguments that have names or numbers:
  /// "MatmulDescCreate(32F, R_32F)".
  std::vector<std::string> calls;
  /// The first error in the calls.
  std::string problem;
  /// Handles, descriptors, layouts and preferences that are there.
  int live = 0;
  /// The function of that name without the prefix returns this status.
  std::string failing;
  int result = 0;
  /// As the library counts.
  int version = 0;
  /// Algorithms that are found, and the state of the first.
  int found = 1, state = 0;
};

/// `fakeBlasLt` of the library, by this name and type.
using FakeBlasLtGetter = FakeBlasLt *(*)();
constexpr const char *fakeBlasLtGetter = "tesseraFakeBlasLt";

} // namespace tessera::runtime

#endif // TESSERA_UNITTESTS_RUNTIME_BLASLT_FAKEBLASLT_H
