//===- CudaBackend.cpp - Devices of CUDA ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Backend.h"
#include "../BlasLt.h"
#include "CublasLt.h"
#include "CudaDevice.h"
#include "Runtime/CudaChip.h"

#include <dlfcn.h>

using namespace tessera::runtime;

/// NVML_CLOCK_SM.
static constexpr int clockOfProcessors = 1;

static std::function<int64_t()> openClock(const DeviceInfo &info) {
  void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return nullptr;
  auto init = reinterpret_cast<int (*)()>(dlsym(library, "nvmlInit_v2"));
  auto find = reinterpret_cast<int (*)(unsigned, void **)>(
      dlsym(library, "nvmlDeviceGetHandleByIndex_v2"));
  auto getClock = reinterpret_cast<int (*)(void *, int, unsigned *)>(
      dlsym(library, "nvmlDeviceGetClockInfo"));
  void *device = nullptr;
  if (!init || !find || !getClock || init() != 0 ||
      find(static_cast<unsigned>(info.ordinal), &device) != 0)
    return nullptr;
  return [=]() -> int64_t {
    unsigned clock = 0;
    return getClock(device, clockOfProcessors, &clock) == 0 ? clock : 0;
  };
}

static int rateFit(const ProgramVariant &variant, const DeviceInfo &device) {
  auto code = CudaChip::parse(variant.chip), own = CudaChip::parse(device.chip);
  bool isCubin = variant.imageKind == KernelImage::Cubin;
  if (!code || !own || !runsOnCudaChip(*code, *own, isCubin))
    return 0;
  // Code for one chip alone may use all of its features.
  return 2 * code->level + code->isSpecific;
}

const RuntimeBackend tessera::runtime::cudaBackend = {
    "cuda",
    [](std::vector<DeviceInfo> &devices) {
      return listByDriver(getCudaDriver, listCudaDevices, devices);
    },
    [](int ordinal) {
      return openByDriver("CUDA", getCudaDriver, [&](const auto &driver) {
        return openCudaDevice(driver, ordinal);
      });
    },
    rateFit,
    /*openNative=*/nullptr,
    [](Device &device, const LibraryMatmul &matmul) {
      return prepareBlasLt(device, matmul, getCublasLt());
    },
    openClock};
