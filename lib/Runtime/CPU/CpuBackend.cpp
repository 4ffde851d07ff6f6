//===- CpuBackend.cpp - The processor as a device -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "CpuDevice.h"

#include <algorithm>

using namespace tessera::runtime;

/// The levels of the x86-64 psABI that code is compiled for; -1 for other
/// processors.
static int getLevel(const std::string &chip) {
  static const char *const levels[] = {"x86-64", "x86-64-avx2",
                                       "x86-64-avx512"};
  for (int level = 0; level < 3; ++level)
    if (chip == levels[level])
      return level;
  return -1;
}

/// Whether any processor runs code for a chip: a generic one, or one that the
/// program emulates.
static bool isForAny(const std::string &chip) {
  return chip == "generic" || chip.rfind("emulate=", 0) == 0;
}

static std::string explainCpuIncompatible(const std::string &code,
                                          const std::string &device, bool) {
  if (isForAny(code))
    return "";
  int wanted = getLevel(code), own = getLevel(device);
  if (device == "generic")
    own = std::max(own, 0);
  if (wanted < 0 || own < 0)
    return "the CPU is of another architecture";
  if (wanted <= own)
    return "";
  return wanted == 2 ? "the CPU lacks AVX-512" : "the CPU lacks AVX2";
}

static int rateCpuFit(const ProgramVariant &variant, const DeviceInfo &device) {
  int level = getLevel(variant.chip);
  return level < 0 && variant.chip != device.chip ? 1 : 2 + level;
}

static std::string listCpu(std::vector<DeviceInfo> &devices) {
  devices.push_back(getCpuInfo());
  return "";
}

const RuntimeBackend tessera::runtime::cpuBackend = {
    "cpu", listCpu, openCpuDevice, explainCpuIncompatible, rateCpuFit};
