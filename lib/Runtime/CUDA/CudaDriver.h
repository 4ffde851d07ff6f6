//===- CudaDriver.h - The part of the CUDA driver API in use ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own declarations of the driver's functions, found with dlopen: building needs
// no CUDA toolkit, and the same binary starts on machines without a driver.
// Types and numbers are those of the driver's ABI, which does not change; where
// a function has a revised form, its versioned symbol (_v2) is named.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CUDA_CUDADRIVER_H
#define TESSERA_LIB_RUNTIME_CUDA_CUDADRIVER_H

#include <cstddef>
#include <string>

namespace tessera::runtime {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUlinkState = struct CUlinkState_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;

/// Results that the runtime distinguishes.
enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_ECC_UNCORRECTABLE = 214,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
  CUDA_ERROR_CONTAINED = 226,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_INVALID_PC = 718,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_TENSOR_MEMORY_LEAK = 721,
};

enum CUDeviceAttribute : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  /// In kHz.
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum CUFunctionAttribute : int {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum CUJitOption : int {
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_LOG_VERBOSE = 12,
  /// The number of threads that optimize kernels, 0 for all CPUs; documented
  /// since CUDA 13.0.
  CU_JIT_SPLIT_COMPILE = 34,
};

enum CUjitInputType : int { CU_JIT_INPUT_PTX = 1 };

enum CUtensorMapDataType : int {
  CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
  CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
  CU_TENSOR_MAP_DATA_TYPE_INT32 = 3,
  CU_TENSOR_MAP_DATA_TYPE_INT64 = 5,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
  CU_TENSOR_MAP_DATA_TYPE_FLOAT64 = 8,
  CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
};

enum CUtensorMapInterleave : int { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };

enum CUtensorMapSwizzle : int {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B = 1,
  CU_TENSOR_MAP_SWIZZLE_64B = 2,
  CU_TENSOR_MAP_SWIZZLE_128B = 3,
};

enum CUtensorMapL2promotion : int { CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };

/// NONE puts in zeros.
enum CUtensorMapFloatOOBfill : int { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE = 0 };

constexpr unsigned CU_STREAM_NON_BLOCKING = 1;
constexpr unsigned CU_EVENT_DEFAULT = 0;
constexpr unsigned CU_EVENT_DISABLE_TIMING = 2;

// NOLINTBEGIN(readability-identifier-naming)

/// The launch of a node of a graph. `kernel` and `context` stay null for a
/// function, which has both.
struct CUDA_KERNEL_NODE_PARAMS_v2 {
  CUfunction function = nullptr;
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  void **args = nullptr, **extra = nullptr;
  void *kernel = nullptr;
  CUcontext context = nullptr;
};

enum CUlaunchAttributeID : int {
  CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

/// An attribute of a launch that is a number.
struct alignas(8) CUlaunchAttribute {
  CUlaunchAttributeID id;
  char padding[4];
  int value;
  char otherValues[60];
};
static_assert(sizeof(CUlaunchAttribute) == 72, "the driver's own size");

struct CUlaunchConfig {
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  unsigned sharedBytes = 0;
  CUstream stream = nullptr;
  CUlaunchAttribute *attributes = nullptr;
  unsigned numAttributes = 0;
};

/// A node's dependency on another one; with all zeros, on the end of it.
struct CUgraphEdgeData {
  unsigned char fromPort, toPort, type, reserved[5];
};

/// The port of a kernel whose threads have all executed
/// griddepcontrol.launch_dependents, or have ended.
constexpr unsigned char CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC = 1;
/// The type of a dependency of a kernel that waits by griddepcontrol.wait.
constexpr unsigned char CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC = 1;

enum CUmemorytype : unsigned { CU_MEMORYTYPE_DEVICE = 2 };

/// A copy of `depth` times `height` rows.
struct CUDA_MEMCPY3D_v2 {
  struct Side {
    size_t x = 0, y = 0, z = 0, level = 0;
    CUmemorytype type = CU_MEMORYTYPE_DEVICE;
    void *host = nullptr;
    CUdeviceptr device = 0;
    void *array = nullptr, *reserved = nullptr;
    size_t pitch = 0, rows = 0;
  };
  Side from, to;
  size_t bytes = 0, height = 1, depth = 1;
};

// NOLINTEND(readability-identifier-naming)

/// The functions in use: name in the table, symbol, parameters.
#define TESSERA_CUDA_FUNCTIONS(X)                                              \
  X(init, cuInit, (unsigned flags))                                            \
  X(driverGetVersion, cuDriverGetVersion, (int *version))                      \
  X(getErrorName, cuGetErrorName, (CUresult error, const char **name))         \
  X(getErrorString, cuGetErrorString, (CUresult error, const char **text))     \
  X(deviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                  \
  X(deviceGetCount, cuDeviceGetCount, (int *count))                            \
  X(deviceGetName, cuDeviceGetName, (char *name, int length, CUdevice device)) \
  X(deviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))     \
  X(deviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *value, CUDeviceAttribute attribute, CUdevice device))                \
  X(primaryCtxRetain, cuDevicePrimaryCtxRetain,                                \
    (CUcontext * context, CUdevice device))                                    \
  X(primaryCtxRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))        \
  X(primaryCtxReset, cuDevicePrimaryCtxReset_v2, (CUdevice device))            \
  X(ctxSetCurrent, cuCtxSetCurrent, (CUcontext context))                       \
  X(ctxGetCurrent, cuCtxGetCurrent, (CUcontext * context))                     \
  X(memGetInfo, cuMemGetInfo_v2, (size_t *freeBytes, size_t *totalBytes))      \
  X(memAlloc, cuMemAlloc_v2, (CUdeviceptr * ptr, size_t bytes))                \
  X(memFree, cuMemFree_v2, (CUdeviceptr ptr))                                  \
  X(memcpyHtoDAsync, cuMemcpyHtoDAsync_v2,                                     \
    (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))         \
  X(memcpyDtoHAsync, cuMemcpyDtoHAsync_v2,                                     \
    (void *to, CUdeviceptr from, size_t bytes, CUstream stream))               \
  X(memcpyDtoDAsync, cuMemcpyDtoDAsync_v2,                                     \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))         \
  X(memsetD8Async, cuMemsetD8Async,                                            \
    (CUdeviceptr ptr, unsigned char value, size_t bytes, CUstream stream))     \
  X(moduleLoadDataEx, cuModuleLoadDataEx,                                      \
    (CUmodule * module, const void *image, unsigned numOptions,                \
     CUJitOption *options, void **values))                                     \
  X(moduleUnload, cuModuleUnload, (CUmodule module))                           \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (CUfunction * function, CUmodule module, const char *name))                \
  X(funcGetAttribute, cuFuncGetAttribute,                                      \
    (int *value, CUFunctionAttribute attribute, CUfunction function))          \
  X(funcSetAttribute, cuFuncSetAttribute,                                      \
    (CUfunction function, CUFunctionAttribute attribute, int value))           \
  X(launchKernel, cuLaunchKernel,                                              \
    (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,      \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     CUstream stream, void **args, void **extra))                              \
  X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                    \
    (int *blocks, CUfunction function, int blockThreads, size_t sharedBytes))  \
  X(streamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))         \
  X(streamDestroy, cuStreamDestroy_v2, (CUstream stream))                      \
  X(streamSynchronize, cuStreamSynchronize, (CUstream stream))                 \
  X(streamGetCtx, cuStreamGetCtx, (CUstream stream, CUcontext * context))      \
  X(streamWaitEvent, cuStreamWaitEvent,                                        \
    (CUstream stream, CUevent event, unsigned flags))                          \
  X(eventCreate, cuEventCreate, (CUevent * event, unsigned flags))             \
  X(eventDestroy, cuEventDestroy_v2, (CUevent event))                          \
  X(eventRecord, cuEventRecord, (CUevent event, CUstream stream))              \
  X(eventSynchronize, cuEventSynchronize, (CUevent event))                     \
  X(eventElapsedTime, cuEventElapsedTime,                                      \
    (float *milliseconds, CUevent begin, CUevent end))

enum CUstreamCaptureMode : int {
  CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
  CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
  CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

enum CUstreamCaptureStatus : int {
  CU_STREAM_CAPTURE_STATUS_NONE = 0,
  CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
  CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
};

/// Functions that older drivers lack (before CUDA 12.4; cuLaunchKernelEx before
/// 11.8, dependencies of other types before 12.3, functions of tensor maps and
/// other ones of graphs before 12.0, those of captures before 10.1); null
/// there. A tensor map has 128 bytes, aligned to 64.
#define TESSERA_CUDA_OPTIONAL_FUNCTIONS(X)                                     \
  X(launchKernelEx, cuLaunchKernelEx,                                          \
    (const CUlaunchConfig *config, CUfunction function, void **args,           \
     void **extra))                                                            \
  X(graphAddDependencies, cuGraphAddDependencies_v2,                           \
    (CUgraph graph, const CUgraphNode *before, const CUgraphNode *after,       \
     const CUgraphEdgeData *edges, size_t count))                              \
  X(graphCreate, cuGraphCreate, (CUgraph * graph, unsigned flags))             \
  X(graphAddKernelNode, cuGraphAddKernelNode_v2,                               \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before,             \
     size_t numBefore, const CUDA_KERNEL_NODE_PARAMS_v2 *parameters))          \
  X(graphAddMemcpyNode, cuGraphAddMemcpyNode,                                  \
    (CUgraphNode * node, CUgraph graph, const CUgraphNode *before,             \
     size_t numBefore, const CUDA_MEMCPY3D_v2 *copy, CUcontext context))       \
  X(graphInstantiate, cuGraphInstantiateWithFlags,                             \
    (CUgraphExec * instance, CUgraph graph, unsigned long long flags))         \
  X(graphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2,           \
    (CUgraphExec instance, CUgraphNode node,                                   \
     const CUDA_KERNEL_NODE_PARAMS_v2 *parameters))                            \
  X(graphExecMemcpyNodeSetParams, cuGraphExecMemcpyNodeSetParams,              \
    (CUgraphExec instance, CUgraphNode node, const CUDA_MEMCPY3D_v2 *copy,     \
     CUcontext context))                                                       \
  X(graphLaunch, cuGraphLaunch, (CUgraphExec instance, CUstream stream))       \
  X(graphExecDestroy, cuGraphExecDestroy, (CUgraphExec instance))              \
  X(graphDestroy, cuGraphDestroy, (CUgraph graph))                             \
  X(streamIsCapturing, cuStreamIsCapturing,                                    \
    (CUstream stream, CUstreamCaptureStatus * status))                         \
  X(threadExchangeCaptureMode, cuThreadExchangeStreamCaptureMode,              \
    (CUstreamCaptureMode * mode))                                              \
  X(funcGetParamInfo, cuFuncGetParamInfo,                                      \
    (CUfunction function, size_t index, size_t *offset, size_t *bytes))        \
  X(moduleGetFunctionCount, cuModuleGetFunctionCount,                          \
    (unsigned *count, CUmodule module))                                        \
  X(moduleEnumerateFunctions, cuModuleEnumerateFunctions,                      \
    (CUfunction * functions, unsigned count, CUmodule module))                 \
  X(funcGetName, cuFuncGetName, (const char **name, CUfunction function))      \
  X(linkCreate, cuLinkCreate_v2,                                               \
    (unsigned numOptions, CUJitOption *options, void **values,                 \
     CUlinkState *state))                                                      \
  X(linkAddData, cuLinkAddData_v2,                                             \
    (CUlinkState state, CUjitInputType type, void *data, size_t bytes,         \
     const char *name, unsigned numOptions, CUJitOption *options,              \
     void **values))                                                           \
  X(linkComplete, cuLinkComplete,                                              \
    (CUlinkState state, void **cubin, size_t *bytes))                          \
  X(linkDestroy, cuLinkDestroy, (CUlinkState state))                           \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (void *map, CUtensorMapDataType type, unsigned rank, void *address,        \
     const unsigned long long *sizes, const unsigned long long *strides,       \
     const unsigned *box, const unsigned *elementStrides,                      \
     CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,             \
     CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill))          \
  X(tensorMapEncodeIm2col, cuTensorMapEncodeIm2col,                            \
    (void *map, CUtensorMapDataType type, unsigned rank, void *address,        \
     const unsigned long long *sizes, const unsigned long long *strides,       \
     const int *lowerCorner, const int *upperCorner, unsigned channels,        \
     unsigned pixels, const unsigned *elementStrides,                          \
     CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,             \
     CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill))

/// The driver's functions, each under its name above.
struct CudaDriver {
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TESSERA_DECLARE(member, symbol, parameters)                            \
  CUresult(*member) parameters = nullptr;
  TESSERA_CUDA_FUNCTIONS(TESSERA_DECLARE)
  TESSERA_CUDA_OPTIONAL_FUNCTIONS(TESSERA_DECLARE)
#undef TESSERA_DECLARE
  // NOLINTEND(bugprone-macro-parentheses)

  /// "cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected".
  std::string describe(const char *call, CUresult result) const;
};

/// The driver of this machine, loaded on the first call; null, and the reason
/// in `why`, when there is none.
const CudaDriver *getCudaDriver(std::string *why);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_CUDADRIVER_H
