//===- DeviceClock.h - The clock that a device runs at ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_DEVICECLOCK_H
#define TESSERA_RUNTIME_DEVICECLOCK_H

#include "Runtime/Device.h"

#include <functional>

namespace tessera::runtime {

/// A function that reads the clock of a device's multiprocessors in MHz, while
/// it runs (by NVML for CUDA), and returns 0 when it cannot. Empty where
/// nothing reads it.
std::function<int64_t()> openDeviceClock(const DeviceInfo &device);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_DEVICECLOCK_H
