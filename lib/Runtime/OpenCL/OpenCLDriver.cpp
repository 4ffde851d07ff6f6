//===- OpenCLDriver.cpp - Finding OpenCL's loader -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenCLDriver.h"

#include "../DriverLibrary.h"

using namespace tessera::runtime;

/// The results of the OpenCL Specification, appendix "Error Codes", and of the
/// loader (cl_khr_icd).
static const NamedResult openCLResults[] = {
    {-1, "CL_DEVICE_NOT_FOUND"},
    {-2, "CL_DEVICE_NOT_AVAILABLE"},
    {-3, "CL_COMPILER_NOT_AVAILABLE"},
    {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {-5, "CL_OUT_OF_RESOURCES"},
    {-6, "CL_OUT_OF_HOST_MEMORY"},
    {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {-8, "CL_MEM_COPY_OVERLAP"},
    {-11, "CL_BUILD_PROGRAM_FAILURE"},
    {-12, "CL_MAP_FAILURE"},
    {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
    {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {-15, "CL_COMPILE_PROGRAM_FAILURE"},
    {-16, "CL_LINKER_NOT_AVAILABLE"},
    {-17, "CL_LINK_PROGRAM_FAILURE"},
    {-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"},
    {-30, "CL_INVALID_VALUE"},
    {-31, "CL_INVALID_DEVICE_TYPE"},
    {-32, "CL_INVALID_PLATFORM"},
    {-33, "CL_INVALID_DEVICE"},
    {-34, "CL_INVALID_CONTEXT"},
    {-35, "CL_INVALID_QUEUE_PROPERTIES"},
    {-36, "CL_INVALID_COMMAND_QUEUE"},
    {-37, "CL_INVALID_HOST_PTR"},
    {-38, "CL_INVALID_MEM_OBJECT"},
    {-42, "CL_INVALID_BINARY"},
    {-43, "CL_INVALID_BUILD_OPTIONS"},
    {-44, "CL_INVALID_PROGRAM"},
    {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
    {-46, "CL_INVALID_KERNEL_NAME"},
    {-47, "CL_INVALID_KERNEL_DEFINITION"},
    {-48, "CL_INVALID_KERNEL"},
    {-49, "CL_INVALID_ARG_INDEX"},
    {-50, "CL_INVALID_ARG_VALUE"},
    {-51, "CL_INVALID_ARG_SIZE"},
    {-52, "CL_INVALID_KERNEL_ARGS"},
    {-53, "CL_INVALID_WORK_DIMENSION"},
    {-54, "CL_INVALID_WORK_GROUP_SIZE"},
    {-55, "CL_INVALID_WORK_ITEM_SIZE"},
    {-56, "CL_INVALID_GLOBAL_OFFSET"},
    {-57, "CL_INVALID_EVENT_WAIT_LIST"},
    {-58, "CL_INVALID_EVENT"},
    {-59, "CL_INVALID_OPERATION"},
    {-61, "CL_INVALID_BUFFER_SIZE"},
    {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-64, "CL_INVALID_PROPERTY"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

std::string OpenCLDriver::describe(const char *call, cl_int result) {
  for (const NamedResult &known : openCLResults)
    if (known.code == result)
      return std::string(call) + ": " + known.name;
  return std::string(call) + ": error " + std::to_string(result);
}

void OpenCLExtensions::find(const OpenCLDriver &driver,
                            cl_platform_id platform) {
#define TESSERA_FIND(member, symbol, result, parameters)                       \
  member = reinterpret_cast<decltype(member)>(                                 \
      driver.getExtension(platform, #symbol));
  TESSERA_OPENCL_EXTENSIONS(TESSERA_FIND)
#undef TESSERA_FIND
}

namespace {
struct LoadedOpenCLDriver {
  OpenCLDriver driver;
  std::string reason;

  LoadedOpenCLDriver() {
    void *library = nullptr;
    openDriverLibrary("libOpenCL.so.1", library, reason);
    if (!library)
      return;
#define TESSERA_REQUIRE(member, symbol, result, parameters)                    \
  if (!findDriverFunction(library, #symbol, driver.member) && reason.empty())  \
    reason =                                                                   \
        "libOpenCL.so.1 does not export " #symbol ": OpenCL 2.1 or later is "  \
        "needed";
    TESSERA_OPENCL_FUNCTIONS(TESSERA_REQUIRE)
#undef TESSERA_REQUIRE
  }
};
} // namespace

const OpenCLDriver *tessera::runtime::getOpenCLDriver(std::string *why) {
  return getLoadedDriver<LoadedOpenCLDriver>(why);
}
