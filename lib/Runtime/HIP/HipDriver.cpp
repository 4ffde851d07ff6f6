//===- HipDriver.cpp - Finding HIP's runtime ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HipDriver.h"

#include "../DriverLibrary.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace tessera::runtime;

std::string HipDriver::describe(const char *call, hipError_t result) const {
  const char *name = getErrorName ? getErrorName(result) : nullptr;
  const char *text = getErrorString ? getErrorString(result) : nullptr;
  std::string message = std::string(call) + ": ";
  message += name ? name : "error " + std::to_string(result);
  if (text)
    message += std::string(": ") + text;
  return message;
}

/// Why HIP sees no device, as far as the kernel's driver can tell, with a
/// leading "; "; else nothing.
static std::string explainNoDevice() {
  int file = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  if (file >= 0) {
    close(file);
    return "";
  }
  if (errno == ENOENT)
    return "; /dev/kfd does not exist: load the kernel driver (amdgpu, or "
           "hydcu), or pass the device into the container (--device=/dev/kfd "
           "--device=/dev/dri)";
  std::string text = std::string("; /dev/kfd: ") + std::strerror(errno);
  if (errno == EACCES)
    text += ": add the user to the group that owns it, often render";
  return text;
}

namespace {
struct LoadedHipDriver {
  HipDriver driver;
  std::string reason;

  LoadedHipDriver() {
    void *library = openLibrary();
    if (!library)
      return;
#define TESSERA_REQUIRE(member, symbol, parameters)                            \
  find(library, driver.member, #symbol);
    TESSERA_HIP_FUNCTIONS(TESSERA_REQUIRE)
#undef TESSERA_REQUIRE
#define TESSERA_FIND(member, symbol, parameters)                               \
  findDriverFunction(library, #symbol, driver.member);
    TESSERA_HIP_GRAPH_FUNCTIONS(TESSERA_FIND)
#undef TESSERA_FIND
    findDriverFunction(library, "hipStreamIsCapturing",
                       driver.streamIsCapturing);
    findDriverFunction(library, "hipThreadExchangeStreamCaptureMode",
                       driver.threadExchangeCaptureMode);
    find(library, driver.getErrorName, "hipGetErrorName");
    find(library, driver.getErrorString, "hipGetErrorString");
    // The name without a version stands for the old structure in every library.
    for (const char *symbol :
         {"hipGetDevicePropertiesR0600", "hipGetDeviceProperties"})
      if (!driver.getProperties) {
        findDriverFunction(library, symbol, driver.getProperties);
        driver.getPropertiesName = symbol;
      }
    if (!driver.getProperties && reason.empty())
      reason = libraryName + " does not export hipGetDeviceProperties";
    if (!reason.empty())
      return;
    int count = 0;
    if (hipError_t result = driver.init(0))
      reason = driver.describe("hipInit", result) + explainNoDevice();
    else if (hipError_t result = driver.getDeviceCount(&count))
      reason = driver.describe("hipGetDeviceCount", result) + explainNoDevice();
  }

private:
  void *openLibrary() {
    for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6",
                             "libamdhip64.so.5", "libamdhip64.so"}) {
      libraryName = name;
      void *library = nullptr;
      std::string why;
      switch (openDriverLibrary(name, library, why)) {
      case DriverLibraryState::Loaded:
        reason.clear();
        return library;
      case DriverLibraryState::NotFound:
        break;
      case DriverLibraryState::Broken:
        // The message is about the first file that exists.
        if (reason.empty())
          reason = why;
      }
    }
    if (reason.empty())
      reason = "libamdhip64.so.7, .6, .5 and libamdhip64.so not found; if ROCm "
               "or DTK is installed, add its lib folder to LD_LIBRARY_PATH";
    return nullptr;
  }

  template <typename Function>
  void find(void *library, Function &function, const char *symbol) {
    if (!findDriverFunction(library, symbol, function) && reason.empty())
      reason =
          libraryName + " has no " + symbol + ": HIP 5 or later is required";
  }

  std::string libraryName;
};
} // namespace

const HipDriver *tessera::runtime::getHipDriver(std::string *why) {
  return getLoadedDriver<LoadedHipDriver>(why);
}
