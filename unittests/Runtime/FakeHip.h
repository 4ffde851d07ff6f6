//===- FakeHip.h - A HIP for tests ------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fake HIP whose functions count calls, reject them and fail on request.
// Device memory is host memory, and kernels do nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_FAKEHIP_H
#define TESSERA_UNITTESTS_RUNTIME_FAKEHIP_H

#include "HIP/HipDriver.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace tessera::runtime {

struct FakeKernel {
  std::string name;
  std::map<int, int> attributes;
};

/// The recorded calls of HIP, and its configured results.
struct FakeHip {
  std::map<int, int> attributes = {
      {hipDeviceAttributeMaxThreadsPerBlock, 1024},
      {hipDeviceAttributeMaxBlockDimX, 1024},
      {hipDeviceAttributeMaxBlockDimY, 1024},
      {hipDeviceAttributeMaxBlockDimZ, 1024},
      {hipDeviceAttributeMaxGridDimX, INT32_MAX},
      {hipDeviceAttributeMaxGridDimY, 65536},
      {hipDeviceAttributeMaxGridDimZ, 65536},
      {hipDeviceAttributeWarpSize, 64},
      {hipDeviceAttributeClockRate, 1700000},
      {hipDeviceAttributeMultiprocessorCount, 104},
      {hipDeviceAttributeL2CacheSize, 8 << 20},
      {hipDeviceAttributeMaxSharedMemoryPerBlock, 65536},
  };
  int deviceCount = 1;
  std::string name = "AMD Instinct MI210";
  std::string targetId = "gfx90a:sramecc+:xnack-";
  /// Where the properties have it: 1160 from HIP 6 on, 396 before.
  size_t targetIdOffset = 1160;
  size_t totalBytes = 256 << 20, usedBytes = 0;
  std::map<void *, size_t> memory;
  std::list<FakeKernel> kernels = {
      {"small",
       {{HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {HIP_FUNC_ATTRIBUTE_NUM_REGS, 24},
        {HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 0},
        {HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 0}}},
      {"big",
       {{HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
        {HIP_FUNC_ATTRIBUTE_NUM_REGS, 200},
        {HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1024},
        {HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 64}}},
  };
  /// Given by the next wait, and after that by every call.
  hipError_t fault = hipSuccess;
  bool faulted = false;
  hipError_t loadResult = hipSuccess;
  hipError_t launchResult = hipSuccess;
  int streams = 0, events = 0, resets = 0, current = -1;
  int modules = 0, unloads = 0, launches = 0, allocations = 0;
  unsigned lastGrid[3] = {}, lastBlock[3] = {}, lastShared = 0;
  /// The nodes of the graph, and how often it was launched: one at a time.
  std::vector<std::string> nodes;
  int graphs = 0, instances = 0, graphLaunches = 0;
  /// Called for each launch, with the addresses of its arguments.
  void (*onLaunch)(const FakeKernel &kernel, void **args) = nullptr;

  hipError_t state() const { return faulted ? fault : hipSuccess; }
};
inline FakeHip *fake = nullptr;

inline hipError_t fakeWait() {
  if (fake->fault != hipSuccess)
    fake->faulted = true;
  return fake->state();
}

inline HipDriver makeFakeDriver() {
  HipDriver driver;
  driver.init = [](unsigned) { return hipSuccess + 0; };
  driver.runtimeGetVersion = [](int *version) {
    *version = 60443484;
    return hipSuccess + 0;
  };
  driver.getErrorName = [](hipError_t error) {
    return error == hipErrorIllegalAddress   ? "hipErrorIllegalAddress"
           : error == hipErrorInvalidImage   ? "hipErrorInvalidImage"
           : error == hipErrorNoDevice       ? "hipErrorNoDevice"
           : error == hipErrorNoBinaryForGpu ? "hipErrorNoBinaryForGpu"
                                             : "hipErrorSome";
  };
  driver.getErrorString = [](hipError_t error) {
    return error == hipErrorInvalidImage ? "device kernel image is invalid"
                                         : "some error";
  };
  driver.getDeviceCount = [](int *count) {
    *count = fake->deviceCount;
    return hipSuccess + 0;
  };
  driver.deviceGet = [](hipDevice_t *device, int ordinal) {
    *device = ordinal;
    return hipSuccess + 0;
  };
  driver.deviceGetName = [](char *name, int length, hipDevice_t) {
    std::strncpy(name, fake->name.c_str(), static_cast<size_t>(length));
    return hipSuccess + 0;
  };
  driver.deviceTotalMem = [](size_t *bytes, hipDevice_t) {
    *bytes = fake->totalBytes;
    return hipSuccess + 0;
  };
  driver.deviceGetAttribute = [](int *value, hipDeviceAttribute_t attribute,
                                 int) {
    auto it = fake->attributes.find(attribute);
    if (it == fake->attributes.end())
      return hipErrorInvalidValue + 0;
    *value = it->second;
    return hipSuccess + 0;
  };
  driver.getPropertiesName = "hipGetDevicePropertiesR0600";
  driver.getProperties = [](void *properties, int) {
    auto *bytes = static_cast<char *>(properties);
    std::memset(bytes, 0xAB, 1472);
    // A name is not a target ID, whatever it contains.
    std::strcpy(bytes, "Fake gfx1030");
    std::memset(bytes + 100, 0, 156);
    std::strcpy(bytes + fake->targetIdOffset, fake->targetId.c_str());
    return hipSuccess + 0;
  };
  driver.setDevice = [](int ordinal) {
    fake->current = ordinal;
    return hipSuccess + 0;
  };
  driver.getDevice = [](int *ordinal) {
    *ordinal = fake->current;
    return hipSuccess + 0;
  };
  driver.deviceReset = [] {
    ++fake->resets;
    fake->fault = hipSuccess;
    fake->faulted = false;
    return hipSuccess + 0;
  };
  driver.memGetInfo = [](size_t *freeBytes, size_t *totalBytes) {
    *totalBytes = fake->totalBytes;
    *freeBytes = fake->totalBytes - fake->usedBytes;
    return fake->state();
  };
  driver.malloc = [](void **ptr, size_t bytes) {
    void *memory = nullptr;
    if (fake->usedBytes + bytes > fake->totalBytes ||
        posix_memalign(&memory, 512, bytes) != 0)
      return hipErrorOutOfMemory + 0;
    *ptr = memory;
    fake->memory[memory] = bytes;
    fake->usedBytes += bytes;
    ++fake->allocations;
    return fake->state();
  };
  driver.free = [](void *ptr) {
    auto it = fake->memory.find(ptr);
    if (it == fake->memory.end())
      return hipErrorInvalidValue + 0;
    fake->usedBytes -= it->second;
    fake->memory.erase(it);
    std::free(ptr);
    return fake->state();
  };
  driver.memcpyAsync = [](void *to, const void *from, size_t bytes,
                          hipMemcpyKind kind, hipStream_t stream) {
    EXPECT_TRUE(stream);
    // The device's side has to be the device's memory.
    auto it = fake->memory.upper_bound(
        kind == hipMemcpyHostToDevice ? to : const_cast<void *>(from));
    EXPECT_NE(it, fake->memory.begin());
    std::memcpy(to, from, bytes);
    return fake->state();
  };
  driver.memsetAsync = [](void *ptr, int value, size_t bytes, hipStream_t) {
    std::memset(ptr, value, bytes);
    return fake->state();
  };
  driver.moduleLoadData = [](hipModule_t *module, const void *image) {
    if (fake->loadResult != hipSuccess)
      return fake->loadResult;
    EXPECT_EQ(std::memcmp(image,
                          "\x7F"
                          "ELF",
                          4),
              0);
    // Each has a handle of its own.
    static char handles[64];
    *module = reinterpret_cast<hipModule_t>(&handles[fake->modules++ % 64]);
    return fake->state();
  };
  driver.moduleUnload = [](hipModule_t) {
    ++fake->unloads;
    return fake->state();
  };
  driver.moduleGetFunction = [](hipFunction_t *function, hipModule_t,
                                const char *name) {
    for (FakeKernel &kernel : fake->kernels)
      if (kernel.name == name) {
        *function = reinterpret_cast<hipFunction_t>(&kernel);
        return fake->state();
      }
    return hipErrorNotFound + 0;
  };
  driver.funcGetAttribute = [](int *value, hipFunction_attribute attribute,
                               hipFunction_t function) {
    *value = reinterpret_cast<FakeKernel *>(function)->attributes.at(attribute);
    return fake->state();
  };
  driver.launchKernel =
      [](hipFunction_t function, unsigned gridX, unsigned gridY, unsigned gridZ,
         unsigned blockX, unsigned blockY, unsigned blockZ,
         unsigned sharedBytes, hipStream_t, void **args, void **extra) {
        EXPECT_EQ(extra, nullptr);
        ++fake->launches;
        unsigned grid[] = {gridX, gridY, gridZ};
        unsigned block[] = {blockX, blockY, blockZ};
        std::copy(grid, grid + 3, fake->lastGrid);
        std::copy(block, block + 3, fake->lastBlock);
        fake->lastShared = sharedBytes;
        if (fake->onLaunch)
          fake->onLaunch(*reinterpret_cast<FakeKernel *>(function), args);
        return fake->launchResult ? fake->launchResult : fake->state();
      };
  driver.occupancy = [](int *blocks, hipFunction_t, int threads, size_t) {
    *blocks = 2048 / threads;
    return fake->state();
  };
  driver.streamCreate = [](hipStream_t *stream, unsigned flags) {
    EXPECT_EQ(flags, hipStreamNonBlocking);
    ++fake->streams;
    *stream = reinterpret_cast<hipStream_t>(&fake->launches);
    return fake->state();
  };
  driver.streamDestroy = [](hipStream_t) {
    --fake->streams;
    return fake->state();
  };
  driver.streamSynchronize = [](hipStream_t) { return fakeWait(); };
  driver.streamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) {
    return fake->state();
  };
  driver.eventCreate = [](hipEvent_t *event, unsigned) {
    ++fake->events;
    *event = reinterpret_cast<hipEvent_t>(&fake->launches);
    return fake->state();
  };
  driver.eventDestroy = [](hipEvent_t) {
    --fake->events;
    return fake->state();
  };
  driver.eventRecord = [](hipEvent_t, hipStream_t) { return fake->state(); };
  driver.eventSynchronize = [](hipEvent_t) { return fakeWait(); };
  driver.eventElapsedTime = [](float *milliseconds, hipEvent_t, hipEvent_t) {
    *milliseconds = 1.5f;
    return fake->state();
  };
  return driver;
}

/// A node as text, for a kernel that takes 8 and 4 bytes.
inline std::string describeNode(const hipKernelNodeParams &node) {
  EXPECT_EQ(node.extra, nullptr);
  int64_t first = 0;
  int32_t second = 0;
  std::memcpy(&first, node.args[0], sizeof(first));
  std::memcpy(&second, node.args[1], sizeof(second));
  return static_cast<FakeKernel *>(node.function)->name + " " +
         std::to_string(node.gridX) + " " + std::to_string(node.blockX) + " " +
         std::to_string(node.sharedBytes) + ": " + std::to_string(first) + " " +
         std::to_string(second);
}

/// Adds graphs, of nodes that are numbered from 1.
inline void addFakeGraphs(HipDriver &driver) {
  driver.graphCreate = [](hipGraph_t *graph, unsigned) {
    ++fake->graphs;
    fake->nodes.clear();
    *graph = reinterpret_cast<hipGraph_t>(fake);
    return fake->state();
  };
  driver.graphAddKernelNode = [](hipGraphNode_t *node, hipGraph_t,
                                 const hipGraphNode_t *before, size_t numBefore,
                                 const hipKernelNodeParams *parameters) {
    EXPECT_EQ(numBefore, fake->nodes.empty() ? 0u : 1u);
    if (numBefore)
      EXPECT_EQ(reinterpret_cast<uintptr_t>(*before), fake->nodes.size());
    fake->nodes.push_back(describeNode(*parameters));
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    *node = reinterpret_cast<hipGraphNode_t>(fake->nodes.size());
    return fake->state();
  };
  driver.graphAddMemcpyNode =
      [](hipGraphNode_t *node, hipGraph_t, const hipGraphNode_t *, size_t,
         void *, const void *, size_t bytes, hipMemcpyKind kind) {
        EXPECT_EQ(kind, hipMemcpyDeviceToDevice);
        fake->nodes.push_back("copy " + std::to_string(bytes));
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        *node = reinterpret_cast<hipGraphNode_t>(fake->nodes.size());
        return fake->state();
      };
  driver.graphInstantiate = [](hipGraphExec_t *instance, hipGraph_t,
                               unsigned long long) {
    ++fake->instances;
    *instance = reinterpret_cast<hipGraphExec_t>(fake);
    return fake->state();
  };
  driver.graphExecKernelNodeSetParams =
      [](hipGraphExec_t, hipGraphNode_t node,
         const hipKernelNodeParams *parameters) {
        fake->nodes.at(reinterpret_cast<uintptr_t>(node) - 1) =
            describeNode(*parameters);
        return fake->state();
      };
  driver.graphExecMemcpyNodeSetParams = [](hipGraphExec_t, hipGraphNode_t node,
                                           void *, const void *, size_t bytes,
                                           hipMemcpyKind) {
    fake->nodes.at(reinterpret_cast<uintptr_t>(node) - 1) =
        "copy " + std::to_string(bytes);
    return fake->state();
  };
  driver.graphLaunch = [](hipGraphExec_t, hipStream_t) {
    ++fake->graphLaunches;
    return fake->launchResult ? fake->launchResult : fake->state();
  };
  driver.graphExecDestroy = [](hipGraphExec_t) {
    --fake->instances;
    return fake->state();
  };
  driver.graphDestroy = [](hipGraph_t) {
    --fake->graphs;
    return fake->state();
  };
}

} // namespace tessera::runtime

#endif // TESSERA_UNITTESTS_RUNTIME_FAKEHIP_H
