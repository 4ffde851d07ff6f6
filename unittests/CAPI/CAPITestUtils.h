//===- CAPITestUtils.h - Objects of the C API for tests ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef UNITTESTS_CAPI_CAPITESTUTILS_H
#define UNITTESTS_CAPI_CAPITESTUTILS_H

#include "tessera-c/Runtime.h"

#include <gtest/gtest.h>

/// The CPU. A failure to open it fails the test and gives null.
inline TesseraDevice *openCpu() {
  TesseraDevice *device = nullptr;
  EXPECT_EQ(tesseraDeviceOpen("cpu", 0, &device), TESSERA_OK);
  return device;
}

/// An entry point of a program, loaded on `device`. A failure fails the test
/// and gives null.
inline TesseraExecutable *load(TesseraProgram *program, const char *entry,
                               TesseraDevice *device) {
  TesseraExecutable *executable = nullptr;
  EXPECT_EQ(tesseraExecutableCreate(program, entry, device, &executable),
            TESSERA_OK)
      << tesseraGetLastError();
  return executable;
}

#endif // UNITTESTS_CAPI_CAPITESTUTILS_H
