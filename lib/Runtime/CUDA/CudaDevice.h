//===- CudaDevice.h - NVIDIA GPUs -------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CUDA_CUDADEVICE_H
#define TESSERA_LIB_RUNTIME_CUDA_CUDADEVICE_H

#include "CudaDriver.h"
#include "Runtime/Device.h"

namespace tessera::runtime {

/// Adds the driver's devices. Returns the reason, on one line, when a device
/// cannot be listed or there is none; empty otherwise.
std::string listCudaDevices(const CudaDriver &driver,
                            std::vector<DeviceInfo> &devices);

/// Opens a device. `driver` is initialized and outlives it.
Expected<std::unique_ptr<Device>> openCudaDevice(const CudaDriver &driver,
                                                 int ordinal);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_CUDADEVICE_H
