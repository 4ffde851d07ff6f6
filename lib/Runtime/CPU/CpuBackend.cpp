//===- CpuBackend.cpp - The processor as a device -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "CpuDevice.h"

using namespace tessera::runtime;

/// Emulation is a matter of the program's alone.
static int rateFit(const ProgramVariant &variant, const DeviceInfo &device) {
  int level = getProcessorLevel(variant.chip);
  return level < 0 && variant.chip != device.chip ? 1 : 2 + level;
}

const RuntimeBackend tessera::runtime::cpuBackend = {
    "cpu",
    [](std::vector<DeviceInfo> &devices) -> std::string {
      devices.push_back(getCpuInfo());
      return "";
    },
    [](int ordinal) { return openCpuDevice(ordinal); }, rateFit};
