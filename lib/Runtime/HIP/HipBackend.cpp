//===- HipBackend.cpp - Devices of HIP ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "../BlasLt.h"
#include "HipDevice.h"
#include "HipblasLt.h"
#include "Runtime/TargetId.h"

using namespace tessera::runtime;

static int rateHipFit(const ProgramVariant &variant, const DeviceInfo &) {
  // The code that settles more features.
  auto code = parseTargetId(variant.chip);
  return code ? 1 + static_cast<int>(code->features.size()) : 0;
}

// The initialization calls none of these functions.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const RuntimeBackend tessera::runtime::hipBackend = {
    "hip",
    [](std::vector<DeviceInfo> &devices) {
      return listByDriver(getHipDriver, listHipDevices, devices);
    },
    [](int ordinal) {
      return openByDriver("HIP", getHipDriver, [&](const auto &driver) {
        return openHipDevice(driver, ordinal);
      });
    },
    explainTargetIncompatible,
    rateHipFit,
    /*openNative=*/nullptr,
    [](Device &device, const LibraryMatmul &matmul) {
      return prepareBlasLt(device, matmul, getHipblasLt(device.info()));
    }};
