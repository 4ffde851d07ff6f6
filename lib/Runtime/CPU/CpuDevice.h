//===- CpuDevice.h - The host as a device -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CPU_CPUDEVICE_H
#define TESSERA_LIB_RUNTIME_CPU_CPUDEVICE_H

#include "Runtime/Device.h"

namespace tessera::runtime {

/// The properties of the host.
DeviceInfo getCpuInfo();

/// Opens the host; `ordinal` is 0.
Expected<std::unique_ptr<Device>> openCpuDevice(int ordinal);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CPU_CPUDEVICE_H
