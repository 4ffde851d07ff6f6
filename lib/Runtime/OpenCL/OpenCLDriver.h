//===- OpenCLDriver.h - The part of OpenCL in use ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own declarations of the functions of libOpenCL.so.1, found with dlopen:
// building needs no headers of OpenCL, and the same binary starts on machines
// without it. Numbers and signatures are those of the OpenCL Specification 3.0
// and its extensions (the headers in Khronos' OpenCL-Headers).
//
// Which drivers the loader offers is up to its own environment variables
// (OCL_ICD_VENDORS, OCL_ICD_FILENAMES).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_OPENCL_OPENCLDRIVER_H
#define TESSERA_LIB_RUNTIME_OPENCL_OPENCLDRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::runtime {

// OpenCL's own names.
// NOLINTBEGIN(readability-identifier-naming)

using cl_int = int32_t;
using cl_uint = uint32_t;
using cl_ulong = uint64_t;
using cl_bitfield = uint64_t;
using cl_platform_id = struct _cl_platform_id *;
using cl_device_id = struct _cl_device_id *;
using cl_context = struct _cl_context *;
using cl_command_queue = struct _cl_command_queue *;
using cl_program = struct _cl_program *;
using cl_kernel = struct _cl_kernel *;
using cl_event = struct _cl_event *;
using cl_mem = struct _cl_mem *;

/// Results that the runtime distinguishes.
enum : cl_int {
  CL_SUCCESS = 0,
  CL_DEVICE_NOT_FOUND = -1,
  CL_DEVICE_NOT_AVAILABLE = -2,
  CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  CL_OUT_OF_RESOURCES = -5,
  CL_OUT_OF_HOST_MEMORY = -6,
  CL_BUILD_PROGRAM_FAILURE = -11,
  CL_MISALIGNED_SUB_BUFFER_OFFSET = -13,
  CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14,
  CL_INVALID_VALUE = -30,
  CL_INVALID_KERNEL_NAME = -46,
  CL_INVALID_BUFFER_SIZE = -61,
  CL_PLATFORM_NOT_FOUND_KHR = -1001,
};

enum : cl_uint {
  CL_PLATFORM_NAME = 0x0902,
  CL_DEVICE_TYPE = 0x1000,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_MAX_WORK_ITEM_SIZES = 0x1005,
  CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C,
  CL_DEVICE_ADDRESS_BITS = 0x100D,
  CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101E,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_NAME = 0x102B,
  CL_DRIVER_VERSION = 0x102D,
  CL_DEVICE_VERSION = 0x102F,
  CL_DEVICE_EXTENSIONS = 0x1030,
  CL_DEVICE_PLATFORM = 0x1031,
  CL_DEVICE_SVM_CAPABILITIES = 0x1053,
  CL_DEVICE_IL_VERSION = 0x105B,
  CL_DEVICE_MAX_NUM_SUB_GROUPS = 0x105C,
  CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 0x1067,
  CL_CONTEXT_DEVICES = 0x1081,
  CL_QUEUE_CONTEXT = 0x1090,
  CL_QUEUE_DEVICE = 0x1091,
  CL_QUEUE_PROPERTIES = 0x1093,
  CL_MEM_TYPE = 0x1100,
  CL_MEM_FLAGS = 0x1101,
  CL_MEM_SIZE = 0x1102,
  CL_MEM_CONTEXT = 0x1106,
  CL_MEM_OBJECT_BUFFER = 0x10F0,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_KERNEL_PRIVATE_MEM_SIZE = 0x11B4,
  CL_PROFILING_COMMAND_START = 0x1282,
  CL_PROFILING_COMMAND_END = 0x1283,
  CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE = 0x2033,
  /// cl_intel_required_subgroup_size.
  CL_DEVICE_SUB_GROUP_SIZES_INTEL = 0x4108,
  /// cl_intel_unified_shared_memory.
  CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL = 0x4191,
  /// cl_ext_float_atomics.
  CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT = 0x4231,
  CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT = 0x4232,
};

enum : cl_bitfield {
  CL_DEVICE_TYPE_CPU = 1 << 1,
  CL_DEVICE_TYPE_GPU = 1 << 2,
  CL_DEVICE_TYPE_ALL = 0xFFFFFFFF,
  CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE = 1 << 0,
  CL_QUEUE_PROFILING_ENABLE = 1 << 1,
  CL_MEM_READ_WRITE = 1 << 0,
  CL_MEM_READ_ONLY = 1 << 2,
  CL_DEVICE_SVM_COARSE_GRAIN_BUFFER = 1 << 0,
  CL_GLOBAL_FP_ATOMIC_ADD_EXT = 1 << 1,
};

// NOLINTEND(readability-identifier-naming)

constexpr cl_uint clTrue = 1, clFalse = 0;

/// The functions in use: name in the table, symbol, result, parameters.
#define TESSERA_OPENCL_FUNCTIONS(X)                                            \
  X(getPlatformIDs, clGetPlatformIDs, cl_int,                                  \
    (cl_uint entries, cl_platform_id * platforms, cl_uint * count))            \
  X(getPlatformInfo, clGetPlatformInfo, cl_int,                                \
    (cl_platform_id platform, cl_uint which, size_t size, void *value,         \
     size_t *needed))                                                          \
  X(getDeviceIDs, clGetDeviceIDs, cl_int,                                      \
    (cl_platform_id platform, cl_bitfield type, cl_uint entries,               \
     cl_device_id * devices, cl_uint * count))                                 \
  X(getDeviceInfo, clGetDeviceInfo, cl_int,                                    \
    (cl_device_id device, cl_uint which, size_t size, void *value,             \
     size_t *needed))                                                          \
  X(createContext, clCreateContext, cl_context,                                \
    (const intptr_t *properties, cl_uint count, const cl_device_id *devices,   \
     void (*notify)(const char *, const void *, size_t, void *), void *data,   \
     cl_int *error))                                                           \
  X(retainContext, clRetainContext, cl_int, (cl_context context))              \
  X(releaseContext, clReleaseContext, cl_int, (cl_context context))            \
  X(getContextInfo, clGetContextInfo, cl_int,                                  \
    (cl_context context, cl_uint which, size_t size, void *value,              \
     size_t *needed))                                                          \
  X(getCommandQueueInfo, clGetCommandQueueInfo, cl_int,                        \
    (cl_command_queue queue, cl_uint which, size_t size, void *value,          \
     size_t *needed))                                                          \
  X(getMemObjectInfo, clGetMemObjectInfo, cl_int,                              \
    (cl_mem object, cl_uint which, size_t size, void *value, size_t *needed))  \
  X(enqueueReadBuffer, clEnqueueReadBuffer, cl_int,                            \
    (cl_command_queue queue, cl_mem buffer, cl_uint blocking, size_t offset,   \
     size_t size, void *to, cl_uint waits, const cl_event *waitFor,            \
     cl_event *event))                                                         \
  X(enqueueWriteBuffer, clEnqueueWriteBuffer, cl_int,                          \
    (cl_command_queue queue, cl_mem buffer, cl_uint blocking, size_t offset,   \
     size_t size, const void *from, cl_uint waits, const cl_event *waitFor,    \
     cl_event *event))                                                         \
  X(enqueueBarrier, clEnqueueBarrierWithWaitList, cl_int,                      \
    (cl_command_queue queue, cl_uint waits, const cl_event *waitFor,           \
     cl_event *event))                                                         \
  X(createCommandQueue, clCreateCommandQueueWithProperties, cl_command_queue,  \
    (cl_context context, cl_device_id device, const cl_ulong *properties,      \
     cl_int *error))                                                           \
  X(releaseCommandQueue, clReleaseCommandQueue, cl_int,                        \
    (cl_command_queue queue))                                                  \
  X(flush, clFlush, cl_int, (cl_command_queue queue))                          \
  X(finish, clFinish, cl_int, (cl_command_queue queue))                        \
  X(createProgramWithIL, clCreateProgramWithIL, cl_program,                    \
    (cl_context context, const void *il, size_t length, cl_int *error))        \
  X(buildProgram, clBuildProgram, cl_int,                                      \
    (cl_program program, cl_uint count, const cl_device_id *devices,           \
     const char *options, void (*notify)(cl_program, void *), void *data))     \
  X(getProgramBuildInfo, clGetProgramBuildInfo, cl_int,                        \
    (cl_program program, cl_device_id device, cl_uint which, size_t size,      \
     void *value, size_t *needed))                                             \
  X(releaseProgram, clReleaseProgram, cl_int, (cl_program program))            \
  X(createKernel, clCreateKernel, cl_kernel,                                   \
    (cl_program program, const char *name, cl_int *error))                     \
  X(releaseKernel, clReleaseKernel, cl_int, (cl_kernel kernel))                \
  X(getKernelWorkGroupInfo, clGetKernelWorkGroupInfo, cl_int,                  \
    (cl_kernel kernel, cl_device_id device, cl_uint which, size_t size,        \
     void *value, size_t *needed))                                             \
  X(getKernelSubGroupInfo, clGetKernelSubGroupInfo, cl_int,                    \
    (cl_kernel kernel, cl_device_id device, cl_uint which, size_t inputSize,   \
     const void *input, size_t size, void *value, size_t *needed))             \
  X(setKernelArg, clSetKernelArg, cl_int,                                      \
    (cl_kernel kernel, cl_uint index, size_t size, const void *value))         \
  X(enqueueNDRangeKernel, clEnqueueNDRangeKernel, cl_int,                      \
    (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,             \
     const size_t *offset, const size_t *global, const size_t *local,          \
     cl_uint waits, const cl_event *waitFor, cl_event *event))                 \
  X(enqueueMarker, clEnqueueMarkerWithWaitList, cl_int,                        \
    (cl_command_queue queue, cl_uint waits, const cl_event *waitFor,           \
     cl_event *event))                                                         \
  X(waitForEvents, clWaitForEvents, cl_int,                                    \
    (cl_uint count, const cl_event *events))                                   \
  X(releaseEvent, clReleaseEvent, cl_int, (cl_event event))                    \
  X(getEventProfilingInfo, clGetEventProfilingInfo, cl_int,                    \
    (cl_event event, cl_uint which, size_t size, void *value, size_t *needed)) \
  X(svmAlloc, clSVMAlloc, void *,                                              \
    (cl_context context, cl_bitfield flags, size_t size, cl_uint alignment))   \
  X(svmFree, clSVMFree, void, (cl_context context, void *ptr))                 \
  X(setKernelArgSVM, clSetKernelArgSVMPointer, cl_int,                         \
    (cl_kernel kernel, cl_uint index, const void *value))                      \
  X(enqueueSVMMemcpy, clEnqueueSVMMemcpy, cl_int,                              \
    (cl_command_queue queue, cl_uint blocking, void *to, const void *from,     \
     size_t size, cl_uint waits, const cl_event *waitFor, cl_event *event))    \
  X(enqueueSVMMemFill, clEnqueueSVMMemFill, cl_int,                            \
    (cl_command_queue queue, void *ptr, const void *pattern,                   \
     size_t patternSize, size_t size, cl_uint waits, const cl_event *waitFor,  \
     cl_event *event))                                                         \
  X(getExtension, clGetExtensionFunctionAddressForPlatform, void *,            \
    (cl_platform_id platform, const char *name))

/// Functions of extensions, found for one platform; null where it has none.
#define TESSERA_OPENCL_EXTENSIONS(X)                                           \
  X(deviceMemAlloc, clDeviceMemAllocINTEL, void *,                             \
    (cl_context context, cl_device_id device, const cl_ulong *properties,      \
     size_t size, cl_uint alignment, cl_int *error))                           \
  X(memBlockingFree, clMemBlockingFreeINTEL, cl_int,                           \
    (cl_context context, void *ptr))                                           \
  X(setKernelArgMem, clSetKernelArgMemPointerINTEL, cl_int,                    \
    (cl_kernel kernel, cl_uint index, const void *value))                      \
  X(enqueueMemcpy, clEnqueueMemcpyINTEL, cl_int,                               \
    (cl_command_queue queue, cl_uint blocking, void *to, const void *from,     \
     size_t size, cl_uint waits, const cl_event *waitFor, cl_event *event))    \
  X(enqueueMemFill, clEnqueueMemFillINTEL, cl_int,                             \
    (cl_command_queue queue, void *ptr, const void *pattern,                   \
     size_t patternSize, size_t size, cl_uint waits, const cl_event *waitFor,  \
     cl_event *event))

// NOLINTBEGIN(bugprone-macro-parentheses)
#define TESSERA_DECLARE(member, symbol, result, parameters)                    \
  result(*member) parameters = nullptr;

/// OpenCL's functions, each under its name above.
struct OpenCLDriver {
  TESSERA_OPENCL_FUNCTIONS(TESSERA_DECLARE)

  /// "clBuildProgram: CL_BUILD_PROGRAM_FAILURE".
  static std::string describe(const char *call, cl_int result);
};

/// Those of a platform's extensions.
struct OpenCLExtensions {
  TESSERA_OPENCL_EXTENSIONS(TESSERA_DECLARE)

  void find(const OpenCLDriver &driver, cl_platform_id platform);
};
#undef TESSERA_DECLARE
// NOLINTEND(bugprone-macro-parentheses)

/// OpenCL's loader on this machine, loaded on the first call; null, and the
/// reason in `why`, when there is none.
const OpenCLDriver *getOpenCLDriver(std::string *why);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_OPENCL_OPENCLDRIVER_H
