//===- DriverDevice.h - Device of a vendor's driver ---*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA and HIP drive a GPU by the same calls under different names: memory,
// modules of kernels, a stream, two events. OpenCL, Level Zero and Vulkan have
// as much (SpirvDevice.h). `DriverDevice` implements `Device` over a few calls
// that each driver fills in.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_DRIVERDEVICE_H
#define TESSERA_LIB_RUNTIME_DRIVERDEVICE_H

#include "Runtime/Device.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

namespace tessera::runtime {

/// The result of a driver call. 0 is success for all drivers.
struct DriverResult {
  /// The function's own name: "cuMemAlloc".
  const char *call;
  int code;

  bool failed() const { return code != 0; }
};

/// The meaning of a result other than success.
enum class DriverFailure {
  OutOfMemory,
  /// A running kernel failed: the device is unusable from then on.
  Fault,
  /// There is nothing of that name.
  NotFound,
  Other,
};

/// A kernel that the driver has loaded.
struct LoadedKernel {
  void *handle = nullptr;
  KernelResources resources;
  /// Dynamic workgroup memory that launches may ask for at present, in bytes.
  int64_t dynamicLimit = 0;
  /// Size of each parameter in bytes, if it is known.
  bool parametersKnown = false;
  std::vector<int64_t> parameters;
  /// Why its workgroups may have no more than `resources.maxThreads` threads.
  std::string threadLimit;
  std::string name;
  /// Its threads wait for the kernel before it ahead of any access to memory,
  /// so that the device may launch it before that kernel has ended.
  bool waits = false;
  /// Workgroups of its first launch that a unit of the device holds at once; 0
  /// before that. An atomic, like the number below.
  int residentWorkgroups = 0;
  /// Concurrent launches since the last wait. An atomic type would keep kernels
  /// from being moved.
  uint64_t concurrentLaunches = 0;
};

/// Whether a kernel may begin before the one before it has ended. Both have to
/// wait: the second one for the first one, and the first one for all earlier
/// ones, which then have ended when the second one begins. Neither may have
/// more workgroups than the device, which has `units`, holds at once: an
/// earlier one with more hides the latency of the launch by itself, and
/// workgroups of a later one that begin early are not spread evenly.
inline bool mayOverlap(const LoadedKernel *previous, int64_t previousWorkgroups,
                       const LoadedKernel &kernel, int64_t workgroups,
                       int64_t units) {
  auto isHeld = [&](const LoadedKernel &one, int64_t count) {
    int ofUnit = __atomic_load_n(&one.residentWorkgroups, __ATOMIC_RELAXED);
    return count <= units * std::max(ofUnit, 1);
  };
  return previous && previous->waits && kernel.waits &&
         isHeld(*previous, previousWorkgroups) && isHeld(kernel, workgroups);
}

class DriverDevice : public Device {
public:
  size_t freeMemory() override;
  Status copyToDevice(void *device, const void *host, size_t bytes) override;
  Status copyToHost(void *host, const void *device, size_t bytes) override;
  Status copyOnDevice(void *to, const void *from, size_t bytes) override;
  Status enterQueue(void *queue) override;
  Status leaveQueue() override;
  Status freeInQueue(void *ptr, void *queue) override;
  Status fill(void *ptr, uint8_t pattern, size_t bytes) override;
  Status unloadImage(const std::string &name) override;
  Status launch(const LaunchRequest &request) override;
  Status endRun() override;
  Status synchronize() override;
  Status timeBegin() override;
  Status timeEnd(double *milliseconds) override;
  Status flushCaches() override;
  Expected<KernelResources> resources(const char *kernel, int64_t blockThreads,
                                      int64_t workgroupBytes) override;

  bool isConcurrent() const override { return takesConcurrentCalls(); }
  Status enterThread(uintptr_t &state) override;
  Expected<LoadedKernel *> findKernel(const char *kernel,
                                      const char *image) override;
  Status launchKernel(LoadedKernel &kernel, const LaunchRequest &request,
                      const std::optional<void *> &queue) override;
  Status launchAgain(LoadedKernel &kernel, const LaunchRequest &request,
                     void *queue) override;
  Status copyInQueue(void *to, const void *from, size_t bytes,
                     void *queue) override;
  bool hasGraphs() const override { return takesGraphs(); }
  Status prepareLaunch(LoadedKernel &kernel,
                       const LaunchRequest &request) override;
  Expected<WorkGraph *> makeGraph(const WorkList &work) override;
  Status updateGraph(WorkGraph &graph, const WorkList &work) override;
  Status launchGraph(WorkGraph &graph,
                     const std::optional<void *> &queue) override;
  bool mustWaitForGraph(const WorkGraph &graph, bool isChanged) override;
  void destroyGraph(WorkGraph *graph) override;
  Status allocateNow(size_t bytes, void **ptr) override;
  void freeNow(void *ptr) override { memFree(ptr); }
  uint64_t pendingWork() const override {
    return ownWork.load(std::memory_order_acquire);
  }

protected:
  explicit DriverDevice(DeviceInfo info) : Device(std::move(info)) {}

  Status backendAllocate(size_t bytes, void **ptr) override;
  void backendFree(void *ptr) override { memFree(ptr); }

  // The driver, call by call. Handles of modules and functions are its own.

  /// Makes the device that of the calling thread.
  virtual DriverResult makeCurrent() = 0;
  virtual DriverResult memInfo(size_t *freeBytes, size_t *totalBytes) = 0;
  virtual DriverResult memAlloc(void **ptr, size_t bytes) = 0;
  virtual DriverResult memFree(void *ptr) = 0;
  /// Queue a copy, or setting memory to a pattern.
  virtual DriverResult queueCopyIn(void *to, const void *from,
                                   size_t bytes) = 0;
  virtual DriverResult queueCopyOut(void *to, const void *from,
                                    size_t bytes) = 0;
  virtual DriverResult queueCopy(void *to, const void *from, size_t bytes) = 0;
  virtual DriverResult queueFill(void *ptr, uint8_t pattern, size_t bytes) = 0;
  virtual DriverResult waitForStream() = 0;
  virtual DriverResult recordBegin() = 0;
  virtual DriverResult recordEnd() = 0;
  virtual DriverResult waitForEnd() = 0;
  virtual DriverResult elapsed(float *milliseconds) = 0;
  virtual DriverResult moduleUnload(void *module) = 0;
  virtual DriverResult moduleGetFunction(void **function, void *module,
                                         const char *name) = 0;
  /// Lets launches of the function have that much dynamic workgroup memory.
  virtual DriverResult setDynamicLimit(void *function, int64_t bytes) = 0;
  virtual DriverResult queueLaunch(void *function,
                                   const LaunchRequest &request) = 0;
  virtual DriverResult occupancy(int *workgroups, void *function,
                                 int64_t blockThreads,
                                 int64_t workgroupBytes) = 0;

  /// Whether kernels of more workgroups than the device has units overlap.
  virtual bool overlapsResident() const { return true; }

  // Queues of the caller's, for drivers that take them.

  virtual bool takesQueues() const { return false; }
  /// Whether work may go to the queue; `InvalidArgument` if it may not.
  virtual Status checkQueue(void *queue) { return Status::success(); }
  /// Work goes to the queue from now on, or to the device's own.
  virtual void setQueue(void *queue) {}
  virtual void setOwnQueue() {}
  /// Notes what is in the current queue, and has the current queue wait for
  /// what was noted last.
  virtual DriverResult noteQueue() { return {"", 0}; }
  virtual DriverResult waitForNote() { return {"", 0}; }
  /// The work that precedes a run in a caller's queue.
  virtual DriverResult beginQueue() { return {"", 0}; }
  /// Has the current queue begin with what it was given.
  virtual DriverResult flushQueue() { return {"", 0}; }

  // Concurrent calls, for drivers whose functions all threads may call.

  virtual bool takesConcurrentCalls() const { return false; }
  virtual DriverResult launchIn(void *queue, void *function,
                                const LaunchRequest &request) {
    return {"", 0};
  }
  virtual DriverResult copyIn(void *queue, void *to, const void *from,
                              size_t bytes) {
    return {"", 0};
  }
  /// Whether the calling thread's current device is another one, which `state`
  /// then identifies.
  virtual bool isForeign(uintptr_t &state) { return false; }

  // Graphs, for drivers that have them.

  virtual bool takesGraphs() const { return false; }
  /// Whether a vendor's table of functions has all those of graphs.
  template <typename Driver> static bool hasGraphFunctions(const Driver &d) {
    return d.graphCreate && d.graphAddKernelNode && d.graphAddMemcpyNode &&
           d.graphInstantiate && d.graphExecKernelNodeSetParams &&
           d.graphExecMemcpyNodeSetParams && d.graphLaunch &&
           d.graphExecDestroy && d.graphDestroy;
  }
  virtual DriverResult graphCreate(void **graph) { return {"", 0}; }
  /// Add a node that follows another one, or is the first. A launch that may
  /// overlap follows a launch.
  virtual DriverResult graphAddLaunch(void *graph, void *previous, void **node,
                                      void *function,
                                      const LaunchRequest &request) {
    return {"", 0};
  }
  virtual DriverResult graphAddCopy(void *graph, void *previous, void **node,
                                    void *to, const void *from, size_t bytes) {
    return {"", 0};
  }
  virtual DriverResult graphInstantiate(void *graph, void **instance) {
    return {"", 0};
  }
  virtual DriverResult graphSetLaunch(void *instance, void *node,
                                      void *function,
                                      const LaunchRequest &request) {
    return {"", 0};
  }
  virtual DriverResult graphSetCopy(void *instance, void *node, void *to,
                                    const void *from, size_t bytes) {
    return {"", 0};
  }
  virtual DriverResult graphLaunch(void *instance, void *queue) {
    return {"", 0};
  }
  /// See `Device::mustWaitForGraph`.
  virtual bool graphMustWait(void *instance, bool isChanged) { return false; }
  virtual void graphDestroy(void *graph) {}
  virtual void graphDestroyInstance(void *instance) {}
  /// The queue that work goes to at present.
  virtual void *getQueue() { return nullptr; }

  /// "cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected".
  virtual std::string describe(DriverResult result) const = 0;
  virtual DriverFailure classify(int code) const = 0;
  /// `InvalidArgument` for launches that the limits below permit and this
  /// driver does not.
  virtual Status checkOwnLimits(const LaunchRequest &request,
                                const LoadedKernel &kernel) const {
    return Status::success();
  }
  /// Queries the properties of a function of `module`.
  virtual LoadedKernel describeKernel(void *function, void *module,
                                      const char *name) const = 0;
  /// The kernels of a module; empty if the driver cannot list them.
  virtual std::vector<std::string> listKernels(void *module) const = 0;
  /// The name of the component that rejects an image or a kernel, for messages.
  virtual const char *driverName() const { return "the driver"; }
  /// The device in messages about code that it rejects.
  virtual std::string rejectingDevice() const { return info().chip; }
  /// Size of the last-level cache in bytes.
  virtual size_t lastCacheBytes() const { return info().l2Bytes; }

  /// Turns a result into a status; remembers faults. `note` is appended.
  Status check(DriverResult result, const std::string &note = "");
  /// The status of an image that the driver does not take; `note` is appended.
  Status rejectImage(const KernelImage &image, DriverResult result,
                     const std::string &note = "");
  /// Makes the device current, unless it has failed before.
  Status enter();
  /// Whether a kernel has failed.
  bool hasFault() const { return hasFailed.load(std::memory_order_acquire); }
  /// Makes the kernels of a loaded module known, in place of an image of the
  /// same name. Unloads the module where it cannot.
  Status addModule(const std::string &name, void *module);
  /// Sets the device's limits of a launch.
  void setLimits(const int64_t (&grid)[3], const int64_t (&block)[3],
                 int64_t blockThreads);
  /// Number of allocations so far, including those that the pool served.
  uint64_t countAllocations() const;
  /// Waits and gives back memory and modules. For destructors, with the device
  /// made current.
  void releaseAll();

private:
  struct Image {
    std::string name;
    void *module;
    /// Kernels used so far.
    std::unordered_map<std::string, LoadedKernel> kernels;
  };

  Expected<LoadedKernel *> find(const char *kernel, const char *imageName);
  Status raiseDynamicLimit(const char *kernel, LoadedKernel &function,
                           int64_t bytes);
  /// Makes the driver accept the memory of a launch, and counts the kernel's
  /// `residentWorkgroups`.
  Status prepareShape(LoadedKernel &function, const LaunchRequest &request);
  Status checkLaunch(const LaunchRequest &request,
                     const LoadedKernel &function);
  Status launchFound(LoadedKernel &function, const LaunchRequest &request,
                     const std::optional<void *> &queue);
  /// The status of a launch that the driver did not queue.
  Status rejectLaunch(DriverResult result, const LoadedKernel &function,
                      const LaunchRequest &request, bool isConcurrent);
  /// Notes a launch that was queued.
  void noteLaunch(LoadedKernel &function, const std::optional<void *> &queue);
  /// The status of a failed call; remembers faults. `kernels` follows their
  /// message, and `note` that of others.
  Status makeFailure(DriverResult result, const std::string &kernels,
                     const std::string &note);
  /// Notes work in the device's own queue.
  void noteOwnWork() {
    ownWork.store(++ownWorkCount, std::memory_order_release);
  }
  void noteOwnQueueIdle() { ownWork.store(0, std::memory_order_release); }
  Status getFault();
  void clearPending();
  std::string kernelNames() const;
  void notePending(const char *kernel);
  std::string pendingKernels() const;

  /// Work goes to a queue of the caller's; it uses memory of the pool; and how
  /// many allocations there had been when that began.
  bool isInQueue = false;
  bool usesPool = false;
  uint64_t allocationsBefore = 0;
  /// The current queue is being captured, and the thread's mode before.
  bool isInCapture = false;
  int callersCaptureMode = 0;
  /// See `pendingWork`.
  std::atomic<uint64_t> ownWork = 0;
  uint64_t ownWorkCount = 0;
  bool timing = false;
  void *scratch = nullptr;
  size_t scratchBytes = 0;
  uint8_t scratchPattern = 0;
  int64_t maxGrid[3] = {0, 0, 0};
  int64_t maxBlock[3] = {0, 0, 0};
  int64_t maxBlockThreads = 0;
  /// In the order of loading; the last one wins.
  std::vector<Image> images;
  /// Protects the list and the kernels in it against concurrent calls.
  mutable std::mutex imagesMutex;
  /// Kernels launched since the last wait, and how often.
  std::vector<std::pair<std::string, uint64_t>> pending;
  std::atomic<bool> hasFailed = false;
  std::mutex faultMutex;
  Status fault;
};

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_DRIVERDEVICE_H
