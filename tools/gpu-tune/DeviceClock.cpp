//===- DeviceClock.cpp - The clock that a device runs at ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceClock.h"

#include <dlfcn.h>

using namespace tune;

/// NVML_CLOCK_SM.
static constexpr int clockOfProcessors = 1;

DeviceClock::DeviceClock(const tessera::runtime::DeviceInfo &info) {
  if (info.target != "cuda")
    return;
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return;
  auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  auto find = reinterpret_cast<int (*)(unsigned, void **)>(
      dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  getClock = reinterpret_cast<int (*)(void *, int, unsigned *)>(
      dlsym(library, "nvmlDeviceGetClockInfo"));
  if (!init || !find || !getClock || init() != 0 ||
      find(static_cast<unsigned>(info.ordinal), &device) != 0)
    getClock = nullptr;
}

int64_t DeviceClock::read() const {
  unsigned clock = 0;
  if (!getClock || getClock(device, clockOfProcessors, &clock) != 0)
    return 0;
  return clock;
}
