//===- CpuBackend.cpp - The processor as a device -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "CpuDevice.h"

#include <algorithm>
#include <iterator>

using namespace tessera::runtime;

/// The levels that code is compiled for: those of the x86-64 psABI, and the
/// last of them with AVX512_VNNI.
static const char *const levels[] = {"x86-64", "x86-64-avx2", "x86-64-avx512",
                                     "x86-64-avx512-vnni"};
/// The feature of each level that CPUs below it lack.
static const char *const lacking[] = {"", "AVX2", "AVX-512", "AVX512_VNNI"};

/// The index of a chip's level; -1 for other processors.
static int getLevel(const std::string &chip) {
  const auto *found = std::find(std::begin(levels), std::end(levels), chip);
  return found == std::end(levels)
             ? -1
             : static_cast<int>(found - std::begin(levels));
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
  return std::string("the CPU lacks ") + lacking[wanted];
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
