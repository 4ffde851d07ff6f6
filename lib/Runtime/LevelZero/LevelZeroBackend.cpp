//===- LevelZeroBackend.cpp - Devices of Level Zero -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "../SpirvProfile.h"
#include "LevelZeroDevice.h"

using namespace tessera::runtime;

static Expected<std::unique_ptr<Device>>
openNativeLevelZero(const NativeDevice &native) {
  return openByDriver(
      "Level Zero", getLevelZeroDriver, [&](const auto &driver) {
        return openLevelZeroDeviceOn(
            driver, static_cast<ze_context_handle_t>(native.context),
            static_cast<ze_device_handle_t>(native.device));
      });
}

// The initialization calls none of these functions.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const RuntimeBackend tessera::runtime::levelZeroBackend = {
    "level-zero",
    [](std::vector<DeviceInfo> &devices) {
      return listByDriver(getLevelZeroDriver, listLevelZeroDevices, devices);
    },
    [](int ordinal) {
      return openByDriver("Level Zero", getLevelZeroDriver,
                          [&](const auto &driver) {
                            return openLevelZeroDevice(driver, ordinal);
                          });
    },
    explainReportedIncompatible,
    rateReportedFit,
    openNativeLevelZero};
