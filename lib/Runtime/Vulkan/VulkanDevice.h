//===- VulkanDevice.h - Any vendor's GPU by Vulkan --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory consists of buffers with a device address, which the rest of the
// program uses as a pointer. A kernel's parameters, 8 bytes each, are its push
// constants, or are copied to a block whose address is the push constant.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANDEVICE_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANDEVICE_H

#include "../SpirvDevice.h"
#include "TestedMatmuls.h"
#include "VulkanGraph.h"
#include "VulkanKernels.h"
#include "VulkanQueue.h"

namespace tessera::runtime {

class VulkanDevice : public SpirvDevice {
public:
  VulkanDevice(const VulkanDriver &driver, VkPhysicalDevice handle,
               DeviceInfo info);
  ~VulkanDevice() override;

  /// Second half of construction: with a device of its own, or the caller's.
  Status open();
  Status open(const VulkanObjects &objects, const EnabledFeatures &enabled);

  Status enterQueue(void *other) override;
  Status leaveQueue() override;
  Status freeInQueue(void *ptr, void *other) override;
  Status bindObject(MemoryObject kind, void *object, size_t bytes,
                    bool mayWrite, void **address) override;
  void releaseObjects() override { memory.release(); }

  Status copyToDevice(void *device, const void *host, size_t bytes) override;
  Status copyToHost(void *host, const void *device, size_t bytes) override;
  Status copyOnDevice(void *to, const void *from, size_t bytes) override;
  Status fill(void *ptr, uint8_t pattern, size_t bytes) override;
  Status timeBegin() override;
  std::optional<uint64_t> countSubmissions() const override {
    return queue.countSubmissions();
  }
  Expected<KernelResources> resources(const char *kernel, int64_t blockThreads,
                                      int64_t workgroupBytes) override;
  Status useCache(const std::string &directory) override;
  Status saveCache() override;

protected:
  DriverResult memInfo(size_t *freeBytes, size_t *totalBytes) override;
  DriverResult memAlloc(void **ptr, size_t bytes) override {
    return memory.allocate(bytes, ptr);
  }
  DriverResult memFree(void *ptr) override;
  DriverResult queueCopyIn(void *to, const void *from, size_t bytes) override;
  DriverResult queueCopyOut(void *to, const void *from, size_t bytes) override;
  DriverResult queueCopy(void *to, const void *from, size_t bytes) override;
  DriverResult queueFill(void *ptr, uint8_t pattern, size_t bytes) override;
  DriverResult waitForStream() override { return queue.finish(); }
  DriverResult recordBegin() override { return queue.recordBegin(); }
  DriverResult recordEnd() override { return queue.recordEnd(); }
  DriverResult waitForEnd() override { return queue.finish(); }
  DriverResult elapsed(float *milliseconds) override {
    return queue.getElapsed(milliseconds);
  }
  DriverResult queueLaunch(void *function,
                           const LaunchRequest &request) override;
  bool takesGraphs() const override { return true; }
  DriverResult graphCreate(void **graph) override;
  DriverResult graphAddLaunch(void *graph, void *previous, void **node,
                              void *function,
                              const LaunchRequest &request) override;
  DriverResult graphAddCopy(void *graph, void *previous, void **node, void *to,
                            const void *from, size_t bytes) override;
  DriverResult graphInstantiate(void *graph, void **instance) override;
  DriverResult graphSetLaunch(void *instance, void *node, void *function,
                              const LaunchRequest &request) override;
  DriverResult graphSetCopy(void *instance, void *node, void *to,
                            const void *from, size_t bytes) override;
  DriverResult graphLaunch(void *instance, void *queue) override;
  bool graphMustWait(void *instance, bool isChanged) override;
  void graphDestroy(void *graph) override;
  Status checkOwnLimits(const LaunchRequest &request,
                        const LoadedKernel &kernel) const override;
  LoadedKernel describeKernel(void *function, void *module,
                              const char *name) const override;
  bool hasFeature(const std::string &feature) const override;
  Status build(const KernelImage &image, const SpirvModule &code,
               Module &module) override;
  Status buildAll(const KernelImage &image,
                  const std::vector<SpirvModule> &code,
                  Module &module) override;
  void release(Module &module) override;

  std::string describe(DriverResult result) const override {
    return describeVulkan(result.call, static_cast<VkResult>(result.code));
  }
  DriverFailure classify(int code) const override;
  std::string rejectingDevice() const override { return info().name; }

private:
  /// Creates what the device needs besides the VkDevice.
  Status prepare();
  /// `InvalidArgument` for bytes that are not in a known buffer.
  Status checkRange(const void *ptr, size_t bytes) const;
  /// Compiles the kernels of a module; adds them to `functions`.
  DriverResult compile(const SpirvModule &code,
                       std::vector<Function> &functions) const;
  /// Makes the device compute each matmul of a module that is not yet tested.
  Status testMatmuls(const std::string &image,
                     const std::vector<uint32_t> &code);
  /// Runs the kernel of a self-test: see `RunSelfTest`.
  Status runTest(const std::vector<uint32_t> &code,
                 std::vector<std::vector<uint8_t>> &contents);

  VulkanContext context;
  VulkanMemory memory;
  VulkanQueue queue;
  VulkanKernels kernels;
  /// A buffer between the host and the device.
  VulkanBuffer staging;
  TestedMatmuls tested;
  /// Whether the image that is being loaded is a self-test.
  bool isTesting = false;
  uint64_t allocationsBefore = 0;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANDEVICE_H
