//===- DriverDevice.cpp - Device of the CUDA or HIP driver ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DriverDevice.h"

#include "Format.h"
#include "WorkList.h"

#include <algorithm>
#include <utility>

using namespace tessera::runtime;

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Status DriverDevice::check(DriverResult result, const std::string &note) {
  if (!result.failed())
    return Status::success();
  return makeFailure(result, pendingKernels(), note);
}

Status DriverDevice::makeFailure(DriverResult result,
                                 const std::string &kernels,
                                 const std::string &note) {
  std::string message = describe(result);
  DriverFailure failure = classify(result.code);
  if (failure == DriverFailure::Fault) {
    std::lock_guard<std::mutex> lock(faultMutex);
    fault = Status(StatusCode::LaunchFailed,
                   "a kernel failed: " + message + kernels);
    hasFailed.store(true, std::memory_order_release);
    return fault;
  }
  return Status(failure == DriverFailure::OutOfMemory ? StatusCode::OutOfMemory
                                                      : StatusCode::Internal,
                message + note);
}

Status DriverDevice::getFault() {
  std::lock_guard<std::mutex> lock(faultMutex);
  return fault;
}

Status DriverDevice::enter() {
  if (hasFault())
    return getFault();
  return check(makeCurrent());
}

void DriverDevice::setLimits(const int64_t (&grid)[3],
                             const int64_t (&block)[3], int64_t blockThreads) {
  std::copy(grid, grid + 3, maxGrid);
  std::copy(block, block + 3, maxBlock);
  maxBlockThreads = blockThreads;
}

void DriverDevice::releaseAll() {
  waitForStream();
  releaseMemory();
  if (scratch)
    memFree(scratch);
  for (const Image &image : images)
    moduleUnload(image.module);
}

void DriverDevice::notePending(const char *kernel) {
  // The latest ones are the likeliest to come again.
  for (auto it = pending.rbegin(); it != pending.rend(); ++it)
    if (it->first == kernel) {
      ++it->second;
      return;
    }
  pending.emplace_back(kernel, 1);
}

std::string DriverDevice::pendingKernels() const {
  constexpr size_t most = 16;
  std::vector<std::pair<std::string, uint64_t>> all = pending;
  {
    std::lock_guard<std::mutex> lock(imagesMutex);
    for (const Image &image : images)
      for (const auto &[name, kernel] : image.kernels)
        if (uint64_t count =
                __atomic_load_n(&kernel.concurrentLaunches, __ATOMIC_RELAXED))
          all.emplace_back(name, count);
  }
  if (all.empty())
    return "";
  std::string text = "; launched since the last wait: ";
  for (size_t index = 0; index < std::min(most, all.size()); ++index) {
    const auto &[name, count] = all[index];
    text += (index ? ", " : "") + name;
    if (count > 1)
      text += format(" (%llu times)", static_cast<unsigned long long>(count));
  }
  if (all.size() > most)
    text += format(" and %zu more", all.size() - most);
  return text;
}

void DriverDevice::clearPending() {
  pending.clear();
  std::lock_guard<std::mutex> lock(imagesMutex);
  for (Image &image : images)
    for (auto &entry : image.kernels)
      __atomic_store_n(&entry.second.concurrentLaunches, 0, __ATOMIC_RELAXED);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

size_t DriverDevice::freeMemory() {
  size_t freeBytes = 0, totalBytes = 0;
  if (makeCurrent().failed() || memInfo(&freeBytes, &totalBytes).failed())
    return 0;
  return freeBytes;
}

Status DriverDevice::backendAllocate(size_t bytes, void **ptr) {
  if (Status status = enter(); !status.ok())
    return status;
  void *address = nullptr;
  Status status = check(memAlloc(&address, bytes));
  if (status.ok())
    *ptr = address;
  return status;
}

Status DriverDevice::copyToDevice(void *device, const void *host,
                                  size_t bytes) {
  if (Status status = enter(); !status.ok() || bytes == 0)
    return status;
  Status status =
      check(queueCopyIn(device, host, bytes), format(" (%zu bytes)", bytes));
  return status.ok() ? synchronize() : status;
}

Status DriverDevice::copyToHost(void *host, const void *device, size_t bytes) {
  if (Status status = enter(); !status.ok() || bytes == 0)
    return status;
  Status status =
      check(queueCopyOut(host, device, bytes), format(" (%zu bytes)", bytes));
  return status.ok() ? synchronize() : status;
}

Status DriverDevice::copyOnDevice(void *to, const void *from, size_t bytes) {
  if (Status status = enter(); !status.ok() || bytes == 0)
    return status;
  if (!isInQueue)
    noteOwnWork();
  DriverResult result = queueCopy(to, from, bytes);
  return result.failed() ? check(result, format(" (%zu bytes)", bytes))
                         : Status::success();
}

Status DriverDevice::fill(void *ptr, uint8_t pattern, size_t bytes) {
  if (Status status = enter(); !status.ok() || bytes == 0)
    return status;
  if (!isInQueue)
    noteOwnWork();
  DriverResult result = queueFill(ptr, pattern, bytes);
  return result.failed() ? check(result, format(" (%zu bytes)", bytes))
                         : Status::success();
}

//===----------------------------------------------------------------------===//
// Queues of the caller's
//===----------------------------------------------------------------------===//
//
// Memory of the pool is handed out again while work that uses it is queued,
// which is right within one queue. Between the device's own and the caller's
// queues the own one keeps the order: it waits for each of the caller's that
// used such memory, and each of the caller's waits for it.

uint64_t DriverDevice::countAllocations() const {
  MemoryStats stats = memoryStats();
  return stats.backendAllocations + stats.reuses;
}

Status DriverDevice::enterQueue(void *queue) {
  if (!takesQueues())
    return Device::enterQueue(queue);
  if (Status status = enter(); !status.ok())
    return status;
  if (Status status = checkQueue(queue); !status.ok())
    return status;
  bool waits = pendingWork() != 0;
  bool captures = isCapturing(queue);
  // A captured queue can neither wait for work outside of its graph nor be
  // waited for.
  if (captures) {
    callersCaptureMode = exchangeCaptureMode(/*relaxed*/ 2);
    if (Status status = waits ? synchronize() : Status::success();
        !status.ok()) {
      exchangeCaptureMode(callersCaptureMode);
      return status;
    }
    waits = false;
  }
  if (waits)
    if (Status status = check(noteQueue()); !status.ok())
      return status;
  setQueue(queue);
  DriverResult result = waits ? waitForNote() : DriverResult{"", 0};
  if (!result.failed())
    result = beginQueue();
  if (result.failed()) {
    setOwnQueue();
    if (captures)
      exchangeCaptureMode(callersCaptureMode);
    return check(result);
  }
  isInQueue = true;
  isInCapture = captures;
  usesPool = false;
  allocationsBefore = countAllocations();
  return Status::success();
}

Status DriverDevice::leaveQueue() {
  if (!isInQueue)
    return Status::success();
  isInQueue = false;
  Status status = enter();
  usesPool |= countAllocations() != allocationsBefore;
  bool waits = status.ok() && usesPool && !isInCapture;
  if (std::exchange(isInCapture, false))
    exchangeCaptureMode(callersCaptureMode);
  if (waits)
    status = check(noteQueue());
  if (status.ok())
    status = check(flushQueue());
  setOwnQueue();
  if (waits && status.ok()) {
    noteOwnWork();
    status = check(waitForNote());
  }
  return status;
}

Status DriverDevice::freeInQueue(void *ptr, void *queue) {
  Status entered = enterQueue(queue);
  usesPool = true;
  Status status = free(ptr);
  Status left = leaveQueue();
  return !entered.ok() ? entered : status.ok() ? left : status;
}

//===----------------------------------------------------------------------===//
// Concurrent calls
//===----------------------------------------------------------------------===//

Status DriverDevice::enterThread(uintptr_t &state) {
  if (hasFault())
    return getFault();
  if (!isForeign(state))
    return Status::success();
  DriverResult result = makeCurrent();
  return result.failed() ? makeFailure(result, /*kernels=*/"", /*note=*/"")
                         : Status::success();
}

Expected<LoadedKernel *> DriverDevice::findKernel(const char *kernel,
                                                  const char *image) {
  return find(kernel, image);
}

Status DriverDevice::copyInQueue(void *to, const void *from, size_t bytes,
                                 void *queue) {
  if (hasFault())
    return getFault();
  DriverResult result =
      bytes == 0 ? DriverResult{"", 0} : copyIn(queue, to, from, bytes);
  return result.failed() ? makeFailure(result, /*kernels=*/"",
                                       format(" (%zu bytes)", bytes))
                         : Status::success();
}

Status DriverDevice::allocateNow(size_t bytes, void **ptr) {
  if (hasFault())
    return getFault();
  void *address = nullptr;
  DriverResult result = memAlloc(&address, bytes);
  if (result.failed())
    return makeFailure(result, /*kernels=*/"", format(" (%zu bytes)", bytes));
  *ptr = address;
  return Status::success();
}

Status DriverDevice::flushCaches() {
  if (Status status = enter(); !status.ok())
    return status;
  if (!scratch) {
    // Twice the cache, and where there is memory for it so much that the fill
    // lasts until what is timed has been launched: 0.08 ms on an H200.
    size_t least = std::max<size_t>(2 * lastCacheBytes(), 32 << 20);
    scratchBytes = std::max<size_t>(least, 256 << 20);
    DriverResult result = memAlloc(&scratch, scratchBytes);
    if (!check(result).ok() && scratchBytes > least) {
      scratchBytes = least;
      result = memAlloc(&scratch, scratchBytes);
    }
    Status status = check(
        result, format(" (%zu bytes to flush the cache with)", scratchBytes));
    if (!status.ok()) {
      scratch = nullptr;
      return status;
    }
  }
  return check(queueFill(scratch, ++scratchPattern, scratchBytes));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Status DriverDevice::rejectImage(const KernelImage &image, DriverResult result,
                                 const std::string &note) {
  Status status = check(result);
  if (status.code() != StatusCode::Internal)
    return status;
  return Status(StatusCode::Rejected,
                format("%s rejected image '%s' on %s: %s", driverName(),
                       image.name.c_str(), rejectingDevice().c_str(),
                       status.message().c_str()) +
                    note);
}

Status DriverDevice::addModule(const std::string &name, void *module) {
  bool loadedBefore =
      std::any_of(images.begin(), images.end(),
                  [&](const Image &old) { return old.name == name; });
  if (loadedBefore)
    if (Status status = unloadImage(name); !status.ok()) {
      moduleUnload(module);
      return status;
    }
  std::lock_guard<std::mutex> lock(imagesMutex);
  images.push_back({name, module, {}});
  return Status::success();
}

Status DriverDevice::unloadImage(const std::string &name) {
  auto it = std::find_if(images.begin(), images.end(), [&](const Image &image) {
    return image.name == name;
  });
  if (it == images.end())
    return Status(StatusCode::InvalidArgument,
                  "image '" + name + "' is not loaded");
  if (Status status = synchronize(); !status.ok())
    return status;
  void *module = it->module;
  {
    std::lock_guard<std::mutex> lock(imagesMutex);
    images.erase(it);
  }
  return check(moduleUnload(module));
}

/// Names of the kernels that are loaded, where they can be listed.
std::string DriverDevice::kernelNames() const {
  std::string names;
  for (const Image &image : images)
    for (const std::string &name : listKernels(image.module))
      names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    return "loaded kernels: " + names;
  for (const Image &image : images)
    names += (names.empty() ? "" : ", ") + image.name;
  return names.empty() ? "nothing is loaded" : "loaded images: " + names;
}

Expected<LoadedKernel *> DriverDevice::find(const char *kernel,
                                            const char *imageName) {
  std::unique_lock<std::mutex> lock(imagesMutex);
  for (auto image = images.rbegin(); image != images.rend(); ++image) {
    if (imageName && image->name != imageName)
      continue;
    auto known = image->kernels.find(kernel);
    if (known != image->kernels.end())
      return &known->second;
    void *handle = nullptr;
    DriverResult result = moduleGetFunction(&handle, image->module, kernel);
    if (result.failed() && classify(result.code) == DriverFailure::NotFound)
      continue;
    // A driver that loads lazily may reject the code only here.
    Status status = result.failed()
                        ? makeFailure(result, /*kernels=*/"", /*note=*/"")
                        : Status::success();
    if (status.code() == StatusCode::Internal)
      return Status(StatusCode::Rejected,
                    format("%s rejected kernel '%s' of image '%s' on %s: %s",
                           driverName(), kernel, image->name.c_str(),
                           rejectingDevice().c_str(),
                           status.message().c_str()));
    if (!status.ok())
      return status;
    LoadedKernel described = describeKernel(handle, image->module, kernel);
    described.name = kernel;
    return &image->kernels.emplace(kernel, std::move(described)).first->second;
  }
  // Under the lock.
  std::string names = kernelNames();
  return Status(StatusCode::InvalidArgument,
                format("kernel '%s' is not loaded; %s", kernel, names.c_str()));
}

Status DriverDevice::raiseDynamicLimit(const char *kernel,
                                       LoadedKernel &function, int64_t bytes) {
  if (bytes <= function.dynamicLimit)
    return Status::success();
  DriverResult result = setDynamicLimit(function.handle, bytes);
  if (result.failed())
    return makeFailure(result, /*kernels=*/"",
                       format(" (kernel '%s', %lld bytes of workgroup memory)",
                              kernel, static_cast<long long>(bytes)));
  function.dynamicLimit = bytes;
  return Status::success();
}

Status DriverDevice::prepareShape(LoadedKernel &function,
                                  const LaunchRequest &request) {
  if (Status status =
          raiseDynamicLimit(request.kernel, function, request.workgroupBytes);
      !status.ok())
    return status;
  if (!function.waits || !overlapsResident() ||
      __atomic_load_n(&function.residentWorkgroups, __ATOMIC_RELAXED) != 0)
    return Status::success();
  // Without an answer, as many as there are units may overlap.
  int count = 0;
  DriverResult result =
      occupancy(&count, function.handle,
                request.block[0] * request.block[1] * request.block[2],
                request.workgroupBytes);
  __atomic_store_n(&function.residentWorkgroups,
                   result.failed() ? 1 : std::max(count, 1), __ATOMIC_RELAXED);
  return Status::success();
}

Status DriverDevice::checkLaunch(const LaunchRequest &request,
                                 const LoadedKernel &function) {
  static const char axis[] = "xyz";
  for (int dim = 0; dim < 3; ++dim) {
    if (request.grid[dim] > maxGrid[dim])
      return reject(
          request,
          format("a grid of %s workgroups, but %s supports at most %lld in %c",
                 formatDims(request.grid).c_str(), info().name.c_str(),
                 static_cast<long long>(maxGrid[dim]), axis[dim]));
    if (request.block[dim] > maxBlock[dim])
      return reject(
          request,
          format("a block of %s threads, but %s supports at most %lld in %c",
                 formatDims(request.block).c_str(), info().name.c_str(),
                 static_cast<long long>(maxBlock[dim]), axis[dim]));
  }
  // No overflow: each factor is within the device's limits.
  int64_t threads = request.block[0] * request.block[1] * request.block[2];
  if (threads > maxBlockThreads)
    return reject(
        request,
        format(
            "a block of %s threads, but %s supports at most %lld per workgroup",
            formatDims(request.block).c_str(), info().name.c_str(),
            static_cast<long long>(maxBlockThreads)));
  const KernelResources &resources = function.resources;
  if (resources.maxThreads > 0 && threads > resources.maxThreads)
    return reject(request,
                  format("a block of %s threads, but this kernel allows at "
                         "most %d: %s",
                         formatDims(request.block).c_str(),
                         resources.maxThreads, function.threadLimit.c_str()));
  if (request.workgroupBytes + resources.staticWorkgroupBytes >
      static_cast<int64_t>(info().workgroupMemoryBytes))
    return reject(
        request,
        format("%lld bytes of dynamic workgroup memory besides the kernel's "
               "own %lld, but %s supports at most %zu per workgroup",
               static_cast<long long>(request.workgroupBytes),
               static_cast<long long>(resources.staticWorkgroupBytes),
               info().name.c_str(), info().workgroupMemoryBytes));
  if (Status status = checkOwnLimits(request, function); !status.ok())
    return status;
  if (!function.parametersKnown)
    return Status::success();
  auto count = static_cast<int64_t>(function.parameters.size());
  if (request.numArgs != count)
    return reject(request, format("%lld arguments, but the kernel takes %lld",
                                  static_cast<long long>(request.numArgs),
                                  static_cast<long long>(count)));
  if (request.argSizes)
    for (int64_t index = 0; index < count; ++index)
      if (request.argSizes[index] != function.parameters[index])
        return reject(
            request,
            format("argument %lld has %lld bytes, but the kernel expects %lld",
                   static_cast<long long>(index),
                   static_cast<long long>(request.argSizes[index]),
                   static_cast<long long>(function.parameters[index])));
  return Status::success();
}

Status DriverDevice::launch(const LaunchRequest &request) {
  if (Status status = checkRequest(request); !status.ok())
    return status;
  if (Status status = enter(); !status.ok())
    return status;
  Expected<LoadedKernel *> found = find(request.kernel, request.image);
  if (!found.ok())
    return found.status();
  return launchFound(**found, request, /*queue=*/std::nullopt);
}

Status DriverDevice::launchKernel(LoadedKernel &kernel,
                                  const LaunchRequest &request,
                                  const std::optional<void *> &queue) {
  if (Status status = checkRequest(request); !status.ok())
    return status;
  if (hasFault())
    return getFault();
  return launchFound(kernel, request, queue);
}

void DriverDevice::noteLaunch(LoadedKernel &function,
                              const std::optional<void *> &queue) {
  if (queue) {
    __atomic_fetch_add(&function.concurrentLaunches, 1, __ATOMIC_RELAXED);
    return;
  }
  if (!isInQueue)
    noteOwnWork();
  notePending(function.name.c_str());
}

Status DriverDevice::launchFound(LoadedKernel &function,
                                 const LaunchRequest &request,
                                 const std::optional<void *> &queue) {
  if (isEmptyGrid(request))
    return Status::success();
  if (Status status = checkLaunch(request, function); !status.ok())
    return status;
  if (Status status = prepareShape(function, request); !status.ok())
    return status;
  DriverResult result = queue ? launchIn(*queue, function.handle, request)
                              : queueLaunch(function.handle, request);
  if (result.failed())
    return rejectLaunch(result, function, request, queue.has_value());
  noteLaunch(function, queue);
  return Status::success();
}

Status DriverDevice::launchAgain(LoadedKernel &kernel,
                                 const LaunchRequest &request, void *queue) {
  if (hasFault())
    return getFault();
  DriverResult result = launchIn(queue, kernel.handle, request);
  if (result.failed())
    return rejectLaunch(result, kernel, request, /*isConcurrent=*/true);
  noteLaunch(kernel, queue);
  return Status::success();
}

Status DriverDevice::rejectLaunch(DriverResult result,
                                  const LoadedKernel &function,
                                  const LaunchRequest &request,
                                  bool isConcurrent) {
  // A concurrent call does not know the work of others.
  Status status = makeFailure(
      result,
      isConcurrent ? format("; at the launch of '%s'", request.kernel)
                   : pendingKernels(),
      format(" (kernel '%s', grid %s, block %s, %lld bytes of workgroup "
             "memory, %d registers per thread)",
             request.kernel, formatDims(request.grid).c_str(),
             formatDims(request.block).c_str(),
             static_cast<long long>(request.workgroupBytes),
             function.resources.registers));
  if (status.code() == StatusCode::Internal)
    return Status(StatusCode::LaunchFailed, status.message());
  return status;
}

Status DriverDevice::endRun() {
  // `leaveQueue` ends work in a queue of the caller's.
  if (isInQueue || hasFault())
    return Status::success();
  return check(flushQueue());
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Status DriverDevice::prepareLaunch(LoadedKernel &kernel,
                                   const LaunchRequest &request) {
  if (Status status = checkRequest(request); !status.ok())
    return status;
  if (hasFault())
    return getFault();
  if (Status status = checkLaunch(request, kernel); !status.ok())
    return status;
  return prepareShape(kernel, request);
}

Expected<WorkGraph *> DriverDevice::makeGraph(const WorkList &work) {
  if (hasFault())
    return getFault();
  auto made = std::make_unique<WorkGraph>();
  made->work = work;
  DriverResult result = graphCreate(&made->graph);
  void *previous = nullptr;
  for (size_t index = 0; index < work.size() && !result.failed(); ++index) {
    const WorkList::Step &step = work.getStep(index);
    void *node = nullptr;
    if (step.kernel) {
      LaunchRequest request = made->work.getLaunch(index, info().computeUnits);
      made->overlaps += request.mayOverlap;
      result = graphAddLaunch(made->graph, previous, &node, step.kernel->handle,
                              request);
    } else {
      result = graphAddCopy(made->graph, previous, &node, step.to, step.from,
                            step.bytes);
    }
    made->nodes.push_back(node);
    previous = node;
  }
  if (!result.failed())
    result = graphInstantiate(made->graph, &made->instance);
  if (!result.failed())
    return made.release();
  destroyGraph(made.release());
  return makeFailure(result, /*kernels=*/"",
                     format(" (a graph of %zu nodes)", work.size()));
}

Status DriverDevice::updateGraph(WorkGraph &graph, const WorkList &work) {
  if (hasFault())
    return getFault();
  for (size_t index = 0; index < work.size(); ++index) {
    if (graph.work.isSameStep(work, index))
      continue;
    graph.work.copyStep(work, index);
    const WorkList::Step &step = graph.work.getStep(index);
    void *node = graph.nodes[index];
    DriverResult result =
        step.kernel
            ? graphSetLaunch(graph.instance, node, step.kernel->handle,
                             graph.work.getLaunch(index, info().computeUnits))
            : graphSetCopy(graph.instance, node, step.to, step.from,
                           step.bytes);
    if (result.failed())
      return makeFailure(result, /*kernels=*/"",
                         format(" (node %zu of a graph)", index));
  }
  return Status::success();
}

Status DriverDevice::launchGraph(WorkGraph &graph,
                                 const std::optional<void *> &queue) {
  if (hasFault())
    return getFault();
  DriverResult result =
      graphLaunch(graph.instance, queue ? *queue : getQueue());
  std::string kernels;
  for (size_t index = 0; index < graph.work.size(); ++index) {
    LoadedKernel *kernel = graph.work.getStep(index).kernel;
    if (kernel && !result.failed())
      noteLaunch(*kernel, queue);
    else if (kernel)
      kernels += (kernels.empty() ? "" : ", ") + kernel->name;
  }
  if (!result.failed()) {
    if (!queue && !isInQueue)
      noteOwnWork();
    return Status::success();
  }
  Status status =
      makeFailure(result, "; at the launch of a graph of " + kernels,
                  " (a graph of " + kernels + ")");
  if (status.code() == StatusCode::Internal)
    return Status(StatusCode::LaunchFailed, status.message());
  return status;
}

bool DriverDevice::mustWaitForGraph(const WorkGraph &graph, bool isChanged) {
  return graphMustWait(graph.instance, isChanged);
}

void DriverDevice::destroyGraph(WorkGraph *graph) {
  if (!graph)
    return;
  makeCurrent();
  if (graph->instance)
    graphDestroyInstance(graph->instance);
  if (graph->graph)
    graphDestroy(graph->graph);
  delete graph;
}

//===----------------------------------------------------------------------===//
// Resources
//===----------------------------------------------------------------------===//

Expected<KernelResources> DriverDevice::resources(const char *kernel,
                                                  int64_t blockThreads,
                                                  int64_t workgroupBytes) {
  if (Status status = enter(); !status.ok())
    return status;
  Expected<LoadedKernel *> found = find(kernel, /*imageName=*/nullptr);
  if (!found.ok())
    return found.status();
  LoadedKernel &function = **found;
  KernelResources result = function.resources;
  if (blockThreads <= 0)
    return result;
  // A block that cannot be launched fits zero times.
  result.workgroupsPerUnit = 0;
  if (workgroupBytes < 0 || blockThreads > maxBlockThreads ||
      workgroupBytes + result.staticWorkgroupBytes >
          static_cast<int64_t>(info().workgroupMemoryBytes))
    return result;
  if (Status status = raiseDynamicLimit(kernel, function, workgroupBytes);
      !status.ok())
    return status;
  if (Status status =
          check(occupancy(&result.workgroupsPerUnit, function.handle,
                          blockThreads, workgroupBytes));
      !status.ok())
    return status;
  return result;
}

//===----------------------------------------------------------------------===//
// Waiting and time
//===----------------------------------------------------------------------===//

Status DriverDevice::synchronize() {
  if (Status status = enter(); !status.ok())
    return status;
  Status status = check(waitForStream());
  if (status.ok())
    clearPending();
  if (status.ok() && !isInQueue)
    noteOwnQueueIdle();
  return status;
}

Status DriverDevice::timeBegin() {
  if (Status status = enter(); !status.ok())
    return status;
  timing = true;
  return check(recordBegin());
}

Status DriverDevice::timeEnd(double *milliseconds) {
  if (!timing)
    return Status(StatusCode::InvalidArgument, "timeEnd without timeBegin");
  timing = false;
  if (Status status = enter(); !status.ok())
    return status;
  for (auto step : {&DriverDevice::recordEnd, &DriverDevice::waitForEnd})
    if (Status status = check((this->*step)()); !status.ok())
      return status;
  clearPending();
  float time = 0;
  Status status = check(elapsed(&time));
  *milliseconds = time;
  return status;
}
