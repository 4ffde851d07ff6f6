//===- DeviceClock.h - The clock that a device runs at ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_WORKER_DEVICECLOCK_H
#define TUNING_WORKER_DEVICECLOCK_H

#include "Runtime/DeviceClock.h"

namespace tessera::tuning {

/// Reads the clock of a device while it runs (NVML for CUDA's). Where there is
/// nothing to read it by, it is 0.
class DeviceClock {
public:
  explicit DeviceClock(const tessera::runtime::DeviceInfo &info)
      : clock(tessera::runtime::openDeviceClock(info)) {}

  /// MHz, of the multiprocessors.
  int64_t read() const { return clock ? clock() : 0; }

private:
  std::function<int64_t()> clock;
};

} // namespace tessera::tuning

#endif // TUNING_WORKER_DEVICECLOCK_H
