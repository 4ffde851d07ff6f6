//===- HipDriver.h - The part of HIP's runtime in use -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Own declarations of the functions of libamdhip64, found with dlopen: building
// needs no ROCm, and the same binary starts on machines without it. Hygon's DTK
// has the same functions under the same names. Numbers are those of HIP 5 to 7,
// in which they are the same; the one structure that is needed is not declared
// (see `getProperties`).
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_HIP_HIPDRIVER_H
#define TESSERA_LIB_RUNTIME_HIP_HIPDRIVER_H

#include <cstddef>
#include <string>

namespace tessera::runtime {

using hipError_t = int;
using hipDevice_t = int;
using hipModule_t = struct ihipModule_t *;
using hipFunction_t = struct ihipModuleSymbol_t *;
using hipStream_t = struct ihipStream_t *;
using hipEvent_t = struct ihipEvent_t *;
using hipGraph_t = struct ihipGraph *;
using hipGraphNode_t = struct hipGraphNode *;
using hipGraphExec_t = struct hipGraphExec *;

/// Results that the runtime distinguishes.
enum : hipError_t {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNoDevice = 100,
  hipErrorInvalidImage = 200,
  hipErrorNoBinaryForGpu = 209,
  hipErrorECCNotCorrectable = 214,
  hipErrorNotFound = 500,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchOutOfResources = 701,
  hipErrorLaunchTimeOut = 702,
  hipErrorContextIsDestroyed = 709,
  hipErrorAssert = 710,
  hipErrorLaunchFailure = 719,
};

// HIP's own names.
// NOLINTBEGIN(readability-identifier-naming)

/// As HIP numbers them from 5.0 on.
enum hipDeviceAttribute_t : int {
  /// In kHz.
  hipDeviceAttributeClockRate = 5,
  hipDeviceAttributeL2CacheSize = 19,
  hipDeviceAttributeMaxBlockDimX = 26,
  hipDeviceAttributeMaxBlockDimY = 27,
  hipDeviceAttributeMaxBlockDimZ = 28,
  hipDeviceAttributeMaxGridDimX = 29,
  hipDeviceAttributeMaxGridDimY = 30,
  hipDeviceAttributeMaxGridDimZ = 31,
  hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMultiprocessorCount = 63,
  hipDeviceAttributeMaxSharedMemoryPerBlock = 74,
  hipDeviceAttributeWarpSize = 87,
};

enum hipFunction_attribute : int {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
};

enum hipMemcpyKind : int {
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
};

/// The launch of a node of a graph. A function of a module is passed as such.
struct hipKernelNodeParams {
  unsigned blockX = 1, blockY = 1, blockZ = 1;
  void **extra = nullptr;
  void *function = nullptr;
  unsigned gridX = 1, gridY = 1, gridZ = 1;
  void **args = nullptr;
  unsigned sharedBytes = 0;
};

// NOLINTEND(readability-identifier-naming)

constexpr unsigned hipStreamNonBlocking = 1;
constexpr unsigned hipEventDefault = 0;
constexpr unsigned hipEventDisableTiming = 2;

/// The functions in use: name in the table, symbol, parameters.
#define TESSERA_HIP_FUNCTIONS(X)                                               \
  X(init, hipInit, (unsigned flags))                                           \
  X(runtimeGetVersion, hipRuntimeGetVersion, (int *version))                   \
  X(getDeviceCount, hipGetDeviceCount, (int *count))                           \
  X(deviceGet, hipDeviceGet, (hipDevice_t * device, int ordinal))              \
  X(deviceGetName, hipDeviceGetName,                                           \
    (char *name, int length, hipDevice_t device))                              \
  X(deviceTotalMem, hipDeviceTotalMem, (size_t *bytes, hipDevice_t device))    \
  X(deviceGetAttribute, hipDeviceGetAttribute,                                 \
    (int *value, hipDeviceAttribute_t attribute, int ordinal))                 \
  X(setDevice, hipSetDevice, (int ordinal))                                    \
  X(getDevice, hipGetDevice, (int *ordinal))                                   \
  X(deviceReset, hipDeviceReset, ())                                           \
  X(memGetInfo, hipMemGetInfo, (size_t *freeBytes, size_t *totalBytes))        \
  X(malloc, hipMalloc, (void **ptr, size_t bytes))                             \
  X(free, hipFree, (void *ptr))                                                \
  X(memcpyAsync, hipMemcpyAsync,                                               \
    (void *to, const void *from, size_t bytes, hipMemcpyKind kind,             \
     hipStream_t stream))                                                      \
  X(memsetAsync, hipMemsetAsync,                                               \
    (void *ptr, int value, size_t bytes, hipStream_t stream))                  \
  X(moduleLoadData, hipModuleLoadData,                                         \
    (hipModule_t * module, const void *image))                                 \
  X(moduleUnload, hipModuleUnload, (hipModule_t module))                       \
  X(moduleGetFunction, hipModuleGetFunction,                                   \
    (hipFunction_t * function, hipModule_t module, const char *name))          \
  X(funcGetAttribute, hipFuncGetAttribute,                                     \
    (int *value, hipFunction_attribute attribute, hipFunction_t function))     \
  X(launchKernel, hipModuleLaunchKernel,                                       \
    (hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,   \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     hipStream_t stream, void **args, void **extra))                           \
  X(occupancy, hipModuleOccupancyMaxActiveBlocksPerMultiprocessor,             \
    (int *blocks, hipFunction_t function, int blockThreads,                    \
     size_t sharedBytes))                                                      \
  X(streamCreate, hipStreamCreateWithFlags,                                    \
    (hipStream_t * stream, unsigned flags))                                    \
  X(streamDestroy, hipStreamDestroy, (hipStream_t stream))                     \
  X(streamSynchronize, hipStreamSynchronize, (hipStream_t stream))             \
  X(streamWaitEvent, hipStreamWaitEvent,                                       \
    (hipStream_t stream, hipEvent_t event, unsigned flags))                    \
  X(eventCreate, hipEventCreateWithFlags,                                      \
    (hipEvent_t * event, unsigned flags))                                      \
  X(eventDestroy, hipEventDestroy, (hipEvent_t event))                         \
  X(eventRecord, hipEventRecord, (hipEvent_t event, hipStream_t stream))       \
  X(eventSynchronize, hipEventSynchronize, (hipEvent_t event))                 \
  X(eventElapsedTime, hipEventElapsedTime,                                     \
    (float *milliseconds, hipEvent_t begin, hipEvent_t end))

/// Functions of graphs; one that is missing is null, and all are then unused.
#define TESSERA_HIP_GRAPH_FUNCTIONS(X)                                         \
  X(graphCreate, hipGraphCreate, (hipGraph_t * graph, unsigned flags))         \
  X(graphAddKernelNode, hipGraphAddKernelNode,                                 \
    (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *before,    \
     size_t numBefore, const hipKernelNodeParams *parameters))                 \
  X(graphAddMemcpyNode, hipGraphAddMemcpyNode1D,                               \
    (hipGraphNode_t * node, hipGraph_t graph, const hipGraphNode_t *before,    \
     size_t numBefore, void *to, const void *from, size_t bytes,               \
     hipMemcpyKind kind))                                                      \
  X(graphInstantiate, hipGraphInstantiateWithFlags,                            \
    (hipGraphExec_t * instance, hipGraph_t graph, unsigned long long flags))   \
  X(graphExecKernelNodeSetParams, hipGraphExecKernelNodeSetParams,             \
    (hipGraphExec_t instance, hipGraphNode_t node,                             \
     const hipKernelNodeParams *parameters))                                   \
  X(graphExecMemcpyNodeSetParams, hipGraphExecMemcpyNodeSetParams1D,           \
    (hipGraphExec_t instance, hipGraphNode_t node, void *to, const void *from, \
     size_t bytes, hipMemcpyKind kind))                                        \
  X(graphLaunch, hipGraphLaunch,                                               \
    (hipGraphExec_t instance, hipStream_t stream))                             \
  X(graphExecDestroy, hipGraphExecDestroy, (hipGraphExec_t instance))          \
  X(graphDestroy, hipGraphDestroy, (hipGraph_t graph))

enum hipStreamCaptureMode : int { // NOLINT(readability-identifier-naming)
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeRelaxed = 2,
};

enum hipStreamCaptureStatus : int { // NOLINT(readability-identifier-naming)
  hipStreamCaptureStatusNone = 0,
  hipStreamCaptureStatusActive = 1,
};

/// HIP's functions, each under its name above.
struct HipDriver {
// NOLINTBEGIN(bugprone-macro-parentheses)
#define TESSERA_DECLARE(member, symbol, parameters)                            \
  hipError_t(*member) parameters = nullptr;
  TESSERA_HIP_FUNCTIONS(TESSERA_DECLARE)
  TESSERA_HIP_GRAPH_FUNCTIONS(TESSERA_DECLARE)
#undef TESSERA_DECLARE
  // NOLINTEND(bugprone-macro-parentheses)
  /// Null where HIP has no captures.
  hipError_t (*streamIsCapturing)(hipStream_t stream,
                                  hipStreamCaptureStatus *status) = nullptr;
  hipError_t (*threadExchangeCaptureMode)(hipStreamCaptureMode *mode) = nullptr;
  const char *(*getErrorName)(hipError_t error) = nullptr;
  const char *(*getErrorString)(hipError_t error) = nullptr;

  /// hipGetDevicePropertiesR0600, or hipGetDeviceProperties before HIP 6. They
  /// fill structures that differ, of 1472 and 792 bytes, and no attribute has
  /// the one thing that is needed of them, gcnArchName: "gfx90a:sramecc+".
  hipError_t (*getProperties)(void *properties, int ordinal) = nullptr;
  const char *getPropertiesName = "";

  /// "hipInit: hipErrorNoDevice: no ROCm-capable device is detected".
  std::string describe(const char *call, hipError_t result) const;
};

/// HIP's runtime on this machine, loaded on the first call; null, and the
/// reason in `why`, when there is none.
const HipDriver *getHipDriver(std::string *why);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_HIP_HIPDRIVER_H
