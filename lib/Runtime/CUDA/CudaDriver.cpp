//===- CudaDriver.cpp - Finding the CUDA driver ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaDriver.h"

#include "../DriverLibrary.h"

using namespace tessera::runtime;

std::string CudaDriver::describe(const char *call, CUresult result) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName)
    getErrorName(result, &name);
  if (getErrorString)
    getErrorString(result, &text);
  std::string message = std::string(call) + ": ";
  message += name ? name : "error " + std::to_string(result);
  if (text)
    message += std::string(": ") + text;
  return message;
}

namespace {
struct LoadedCudaDriver {
  CudaDriver driver;
  std::string reason;

  LoadedCudaDriver() {
    void *library = nullptr;
    openDriverLibrary("libcuda.so.1", library, reason);
    if (!library)
      return;
#define TESSERA_FIND(member, symbol, parameters)                               \
  findDriverFunction(library, #symbol, driver.member);
#define TESSERA_REQUIRE(member, symbol, parameters)                            \
  if (!findDriverFunction(library, #symbol, driver.member) && reason.empty())  \
    reason = "libcuda.so.1 does not export " #symbol                           \
             ": the driver is too old; update it";
    TESSERA_CUDA_FUNCTIONS(TESSERA_REQUIRE)
    TESSERA_CUDA_OPTIONAL_FUNCTIONS(TESSERA_FIND)
#undef TESSERA_REQUIRE
#undef TESSERA_FIND
    if (reason.empty())
      if (CUresult result = driver.init(0))
        reason = driver.describe("cuInit", result);
  }
};
} // namespace

const CudaDriver *tessera::runtime::getCudaDriver(std::string *why) {
  return getLoadedDriver<LoadedCudaDriver>(why);
}
