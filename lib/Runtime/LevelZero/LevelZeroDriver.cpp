//===- LevelZeroDriver.cpp - Finding Level Zero's loader ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LevelZeroDriver.h"

#include "../DriverLibrary.h"

#include <cstdio>
#include <dlfcn.h>

using namespace tessera::runtime;

/// The results of the Level Zero Specification 1.17, "ze_result_t".
static const NamedResult levelZeroResults[] = {
    {0, "ZE_RESULT_SUCCESS"},
    {1, "ZE_RESULT_NOT_READY"},
    {0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST"},
    {0x70000002, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY"},
    {0x70000003, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"},
    {0x70000004, "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE"},
    {0x70000005, "ZE_RESULT_ERROR_MODULE_LINK_FAILURE"},
    {0x70000006, "ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET"},
    {0x70000007, "ZE_RESULT_ERROR_DEVICE_IN_LOW_POWER_STATE"},
    {0x7ff00001, "ZE_RESULT_EXP_ERROR_DEVICE_IS_NOT_VERTEX"},
    {0x7ff00002, "ZE_RESULT_EXP_ERROR_VERTEX_IS_NOT_DEVICE"},
    {0x7ff00003, "ZE_RESULT_EXP_ERROR_REMOTE_DEVICE"},
    {0x7ff00004, "ZE_RESULT_EXP_ERROR_OPERANDS_INCOMPATIBLE"},
    {0x7ff00005, "ZE_RESULT_EXP_RTAS_BUILD_RETRY"},
    {0x7ff00006, "ZE_RESULT_EXP_RTAS_BUILD_DEFERRED"},
    {0x70010000, "ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS"},
    {0x70010001, "ZE_RESULT_ERROR_NOT_AVAILABLE"},
    {0x70020000, "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE"},
    {0x70020001, "ZE_RESULT_WARNING_DROPPED_DATA"},
    {0x78000001, "ZE_RESULT_ERROR_UNINITIALIZED"},
    {0x78000002, "ZE_RESULT_ERROR_UNSUPPORTED_VERSION"},
    {0x78000003, "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE"},
    {0x78000004, "ZE_RESULT_ERROR_INVALID_ARGUMENT"},
    {0x78000005, "ZE_RESULT_ERROR_INVALID_NULL_HANDLE"},
    {0x78000006, "ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE"},
    {0x78000007, "ZE_RESULT_ERROR_INVALID_NULL_POINTER"},
    {0x78000008, "ZE_RESULT_ERROR_INVALID_SIZE"},
    {0x78000009, "ZE_RESULT_ERROR_UNSUPPORTED_SIZE"},
    {0x7800000a, "ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT"},
    {0x7800000b, "ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT"},
    {0x7800000c, "ZE_RESULT_ERROR_INVALID_ENUMERATION"},
    {0x7800000d, "ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION"},
    {0x7800000e, "ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT"},
    {0x7800000f, "ZE_RESULT_ERROR_INVALID_NATIVE_BINARY"},
    {0x78000010, "ZE_RESULT_ERROR_INVALID_GLOBAL_NAME"},
    {0x78000011, "ZE_RESULT_ERROR_INVALID_KERNEL_NAME"},
    {0x78000012, "ZE_RESULT_ERROR_INVALID_FUNCTION_NAME"},
    {0x78000013, "ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION"},
    {0x78000014, "ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION"},
    {0x78000015, "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX"},
    {0x78000016, "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE"},
    {0x78000017, "ZE_RESULT_ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE"},
    {0x78000018, "ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED"},
    {0x78000019, "ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE"},
    {0x7800001a, "ZE_RESULT_ERROR_OVERLAPPING_REGIONS"},
    {0x7800001b, "ZE_RESULT_WARNING_ACTION_REQUIRED"},
    {0x7800001c, "ZE_RESULT_ERROR_INVALID_KERNEL_HANDLE"},
    {0x7800001d, "ZE_RESULT_EXT_RTAS_BUILD_RETRY"},
    {0x7800001e, "ZE_RESULT_EXT_RTAS_BUILD_DEFERRED"},
    {0x7800001f, "ZE_RESULT_EXT_ERROR_OPERANDS_INCOMPATIBLE"},
    {0x78000020, "ZE_RESULT_ERROR_SURVIVABILITY_MODE_DETECTED"},
    {0x78000021, "ZE_RESULT_ERROR_ADDRESS_NOT_FOUND"},
    {0x78000022, "ZE_RESULT_QUERY_TRUE"},
    {0x78000023, "ZE_RESULT_QUERY_FALSE"},
    {0x78000024, "ZE_RESULT_ERROR_INVALID_GRAPH"},
    {0x78000025, "ZE_RESULT_ERROR_GRAPH_CAPTURE_UNSUPPORTED"},
    {0x78000026, "ZE_RESULT_ERROR_GRAPH_CAPTURE_INVALIDATED"},
    {0x78000027, "ZE_RESULT_ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT"},
    {0x78000028, "ZE_RESULT_ERROR_COMMAND_LIST_NOT_CAPTURING"},
    {0x78000029, "ZE_RESULT_ERROR_GRAPH_UNJOINED_FORKS"},
    {0x7800002a, "ZE_RESULT_ERROR_GRAPH_INTERNAL_EVENT"},
    {0x7ffffffe, "ZE_RESULT_ERROR_UNKNOWN"},
};

std::string LevelZeroDriver::describe(const char *call, ze_result_t result) {
  for (const NamedResult &known : levelZeroResults)
    if (known.code == result)
      return std::string(call) + ": " + known.name;
  char number[16];
  std::snprintf(number, sizeof(number), "0x%x", static_cast<unsigned>(result));
  return std::string(call) + ": error " + number;
}

bool tessera::runtime::loadLevelZeroDriver(const char *library,
                                           LevelZeroDriver &driver,
                                           std::string &why) {
  void *handle = nullptr;
  openDriverLibrary(library, handle, why);
  if (!handle)
    return false;
#define TESSERA_FIND(member, symbol, parameters)                               \
  findDriverFunction(handle, #symbol, driver.member);
#define TESSERA_REQUIRE(member, symbol, parameters)                            \
  if (!findDriverFunction(handle, #symbol, driver.member)) {                   \
    why = std::string(library) + " has no " #symbol ": a loader of Level "     \
                                 "Zero 1.2 or later is required";              \
    dlclose(handle);                                                           \
    return false;                                                              \
  }
  TESSERA_LEVELZERO_FUNCTIONS(TESSERA_REQUIRE)
  TESSERA_LEVELZERO_OPTIONAL(TESSERA_FIND)
#undef TESSERA_REQUIRE
#undef TESSERA_FIND
  return true;
}

namespace {
struct LoadedLevelZeroDriver {
  LevelZeroDriver driver;
  std::string reason;

  LoadedLevelZeroDriver() {
    loadLevelZeroDriver("libze_loader.so.1", driver, reason);
  }
};
} // namespace

const LevelZeroDriver *tessera::runtime::getLevelZeroDriver(std::string *why) {
  return getLoadedDriver<LoadedLevelZeroDriver>(why);
}
