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

static std::string explainCudaIncompatible(const std::string &code,
                                           const std::string &device,
                                           bool isMachineCode) {
  auto wanted = CudaChip::parse(code), own = CudaChip::parse(device);
  if (!wanted || !own)
    return (wanted ? device : code) + " is not the name of an NVIDIA chip";
  if (runsOnCudaChip(*wanted, *own, isMachineCode))
    return "";
  if (wanted->level > own->level)
    return "the device is older";
  return wanted->isSpecific ? "code for " + code + " runs on that chip only"
                            : "machine code runs on its own generation only";
}

static int rateCudaFit(const ProgramVariant &variant, const DeviceInfo &) {
  // Code for one chip alone may use all of its features.
  auto code = CudaChip::parse(variant.chip);
  return code ? 2 * code->level + code->isSpecific : 0;
}

// The initialization calls none of these functions.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
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
    explainCudaIncompatible,
    rateCudaFit,
    /*openNative=*/nullptr,
    [](Device &device, const LibraryMatmul &matmul) {
      return prepareBlasLt(device, matmul, getCublasLt());
    },
    openClock,
    /*isQuickWhileOpen=*/true};
