//===- RunSession.cpp - Host code by a plan -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunSession.h"

#include "Format.h"
#include "Runtime/Nvtx.h"

#include <algorithm>
#include <cstring>

using namespace tessera::runtime;

/// The alignment of all memory.
static constexpr int64_t leastAlignment = 256;

static uintptr_t alignUp(uintptr_t address, size_t alignment) {
  return (address + alignment - 1) & ~(uintptr_t(alignment) - 1);
}

static void *toAddress(uint64_t value) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void *>(static_cast<uintptr_t>(value));
}

//===----------------------------------------------------------------------===//
// LoadedProgram
//===----------------------------------------------------------------------===//

LoadedProgram::~LoadedProgram() {
  for (const Constant &constant : constants)
    (void)device.free(constant.copy);
}

Expected<LoadedKernel *> LoadedProgram::findKernel(const char *name) {
  size_t count = kernels.size();
  for (size_t step = 0; step < count; ++step) {
    size_t index = nextKernel + step;
    index -= index >= count ? count : 0;
    if (kernels[index].first != name)
      continue;
    nextKernel = index + 1 == count ? 0 : index + 1;
    return kernels[index].second;
  }
  Expected<LoadedKernel *> found = device.findKernel(name, image.c_str());
  if (found.ok())
    kernels.emplace_back(name, *found);
  return found;
}

void *LoadedProgram::findConstant(const void *host, int64_t bytes) {
  size_t count = constants.size();
  for (size_t step = 0; step < count; ++step) {
    size_t index = nextConstant + step;
    index -= index >= count ? count : 0;
    if (constants[index].host != host || constants[index].bytes != bytes)
      continue;
    nextConstant = index + 1 == count ? 0 : index + 1;
    return constants[index].copy;
  }
  return nullptr;
}

Expected<void *> LoadedProgram::copyConstant(const void *host, int64_t bytes) {
  auto size = static_cast<size_t>(bytes);
  void *copy = nullptr;
  Status status = device.allocate(size, &copy);
  if (status.ok() && size != 0)
    status = device.copyToDevice(copy, host, size);
  if (status.ok()) {
    constants.push_back({host, bytes, copy});
    return copy;
  }
  // A later run must not find a copy without the contents.
  (void)device.free(copy);
  return status;
}

//===----------------------------------------------------------------------===//
// PlanSession
//===----------------------------------------------------------------------===//

void PlanSession::launch(LaunchRequest request) {
  plan.steps += !isEmptyGrid(request);
  if (!status().ok() || !device().canFindKernels())
    return;
  // The driver loads some kernels when they are first looked up.
  fail(program.findKernel(request.kernel).status());
}

void *PlanSession::allocate(int64_t alignment, int64_t bytes) {
  if (!checkRequest(alignment, bytes))
    return nullptr;
  PlannedBlock block;
  block.bytes = static_cast<size_t>(bytes);
  block.alignment = static_cast<size_t>(std::max(alignment, leastAlignment));
  // More than any address space: sums of fewer bytes do not overflow.
  constexpr uint64_t most = uint64_t(1) << 56;
  if (block.bytes > most || block.alignment > most ||
      nextAddress - firstAddress > most) {
    fail(Status(StatusCode::OutOfMemory,
                format("out of memory on %s: %lld bytes requested, %zu of %zu "
                       "free",
                       device().info().name.c_str(),
                       static_cast<long long>(bytes), device().freeMemory(),
                       device().info().memoryBytes)));
    return nullptr;
  }
  block.begin = plan.events.size();
  uint64_t address = alignUp(nextAddress, block.alignment);
  nextAddress = address + block.reserved();
  plan.events.push_back({/*isRelease=*/false, plan.blocks.size()});
  plan.blocks.push_back(block);
  addresses.push_back(address);
  return toAddress(address);
}

void PlanSession::read(void *host, const void *, int64_t bytes) {
  // Nothing has been computed. Loops that depend on a scalar end for zero.
  std::memset(host, 0, static_cast<size_t>(bytes));
  plan.readsScalars = true;
}

int PlanSession::findBlock(uint64_t address) const {
  auto found = std::lower_bound(addresses.begin(), addresses.end(), address);
  if (found == addresses.end() || *found != address)
    return -1;
  auto index = found - addresses.begin();
  return plan.blocks[static_cast<size_t>(index)].end == SIZE_MAX
             ? static_cast<int>(index)
             : -1;
}

void PlanSession::free(void *ptr) {
  if (ptr == nullptr || !status().ok())
    return;
  int index = findBlock(reinterpret_cast<uintptr_t>(ptr));
  if (index < 0)
    return reportUnknown(ptr);
  auto block = static_cast<size_t>(index);
  plan.blocks[block].end = plan.events.size();
  plan.events.push_back({/*isRelease=*/true, block});
}

void *PlanSession::constant(const void *host, int64_t bytes) {
  if (!checkConstant(host, bytes))
    return nullptr;
  if (void *copy = program.findConstant(host, bytes))
    return copy;
  Expected<void *> copy = program.copyConstant(host, bytes);
  fail(copy.status());
  return copy.ok() ? *copy : nullptr;
}

//===----------------------------------------------------------------------===//
// ExtraMemory
//===----------------------------------------------------------------------===//

ExtraMemory::~ExtraMemory() {
  for (const Block &block : blocks)
    if (device.isConcurrent())
      device.freeNow(block.base);
    else
      (void)device.free(block.base);
}

Expected<void *> ExtraMemory::allocate(size_t bytes, size_t alignment) {
  for (Block &block : blocks)
    if (!block.isUsed && block.bytes >= bytes && block.bytes / 2 <= bytes &&
        reinterpret_cast<uintptr_t>(block.ptr) % alignment == 0) {
      block.isUsed = true;
      return block.ptr;
    }
  // The memory must have no other users in other queues, as that of the pool
  // may have.
  size_t size = std::max<size_t>(bytes, 1) + alignment - leastAlignment;
  void *base = nullptr;
  Status status;
  {
    Device::DuringCapture permitted(device);
    status = device.isConcurrent() ? device.allocateNow(size, &base)
                                   : device.allocate(size, &base);
  }
  if (!status.ok())
    return status;
  void *ptr = toAddress(alignUp(reinterpret_cast<uintptr_t>(base), alignment));
  blocks.push_back({base, ptr, bytes, true});
  return ptr;
}

bool ExtraMemory::release(void *ptr) {
  for (Block &block : blocks)
    if (block.isUsed && block.ptr == ptr) {
      block.isUsed = false;
      return true;
    }
  return false;
}

void ExtraMemory::releaseAll() {
  for (Block &block : blocks)
    block.isUsed = false;
}

//===----------------------------------------------------------------------===//
// RunSession
//===----------------------------------------------------------------------===//

void RunSession::begin(const RunPlan &newPlan, void *newWorkspace,
                       const std::vector<void *> &newResults,
                       ExtraMemory &newExtra,
                       const std::optional<void *> &newQueue,
                       std::mutex *newMutex, KeptGraph *graph,
                       LaunchMode mode) {
  plan = &newPlan;
  workspace = static_cast<char *>(newWorkspace);
  results = &newResults;
  extra = &newExtra;
  queue = newQueue;
  mutex = newMutex;
  next = 0;
  nextMap = 0;
  hasLeft = false;
  hasEffects = false;
  // Other devices have entered the queue.
  submitter.begin(graph, mode, plan->steps,
                  device().isConcurrent() ? queue : std::nullopt);
}

void RunSession::end() {
  submitter.cancel();
  if (hasLeft)
    extra->releaseAll();
  clearErrors();
}

char *RunSession::getAddress(const PlannedBlock &block) const {
  if (block.result >= 0)
    return static_cast<char *>((*results)[static_cast<size_t>(block.result)]);
  return static_cast<char *>(toAddress(alignUp(
      reinterpret_cast<uintptr_t>(workspace) + block.offset, block.alignment)));
}

void RunSession::leavePlan() {
  if (hasLeft)
    return;
  hasLeft = true;
  remaining.clear();
  for (size_t index = 0; index < plan->blocks.size(); ++index) {
    const PlannedBlock &block = plan->blocks[index];
    if (block.begin < next && block.end >= next)
      remaining.push_back(getAddress(block));
  }
}

void RunSession::launch(LaunchRequest request) {
  if (!checkMaps(request))
    return;
  NvtxRange range(request.kernel ? request.kernel : "launch");
  if (!device().canFindKernels()) {
    request.image = program.getImage().c_str();
    return fail(device().launch(request));
  }
  if (request.kernel == nullptr)
    return fail(device().launch(request));
  Expected<LoadedKernel *> kernel = program.findKernel(request.kernel);
  fail(kernel.ok() ? submitter.launch(**kernel, request) : kernel.status());
}

bool RunSession::EncodedMap::makeKey(const TensorMapRequest &request,
                                     std::array<int64_t, keySize> &key) {
  if (request.rank < 1 || request.rank > maxTensorMapRank)
    return false;
  key.fill(0);
  size_t count = 0;
  auto rank = static_cast<size_t>(request.rank);
  key[count++] =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(request.pointer));
  key[count++] = request.offset;
  key[count++] = static_cast<int64_t>(request.element);
  key[count++] = request.swizzle;
  key[count++] =
      request.rank + (request.windowLower ? 2 * maxTensorMapRank : 0);
  for (const int64_t *values : {request.sizes, request.strides, request.box})
    for (size_t dim = 0; dim < rank; ++dim)
      key[count++] = values[dim];
  // All dimensions but the first and the last.
  if (request.windowLower)
    for (const int64_t *values :
         {request.windowLower, request.windowExtent, request.windowStride})
      for (size_t dim = 0; dim + 2 < rank; ++dim)
        key[count++] = values[dim];
  return true;
}

void RunSession::encodeTensorMap(const TensorMapRequest &request, void *map) {
  if (!status().ok() || hasMapError())
    return;
  // More than any program has; the rest is encoded each time.
  constexpr size_t mostMaps = 256;
  std::array<int64_t, EncodedMap::keySize> key;
  if (nextMap == mostMaps || !EncodedMap::makeKey(request, key))
    return keepMapError(device().encodeTensorMap(request, map));
  if (nextMap == maps.size())
    maps.emplace_back();
  EncodedMap &last = maps[nextMap++];
  if (last.isValid && last.key == key) {
    std::memcpy(map, last.bytes, tensorMapBytes);
    return;
  }
  Status status = device().encodeTensorMap(request, map);
  last.isValid = status.ok();
  if (!status.ok())
    return keepMapError(std::move(status));
  last.key = key;
  std::memcpy(last.bytes, map, tensorMapBytes);
}

void *RunSession::allocate(int64_t alignment, int64_t bytes) {
  if (!checkRequest(alignment, bytes))
    return nullptr;
  auto size = static_cast<size_t>(bytes);
  auto aligned = static_cast<size_t>(std::max(alignment, leastAlignment));
  if (!hasLeft && next < plan->events.size() && !plan->events[next].isRelease) {
    const PlannedBlock &block = plan->blocks[plan->events[next].block];
    if (block.bytes == size && block.alignment == aligned) {
      ++next;
      return getAddress(block);
    }
  }
  leavePlan();
  Expected<void *> memory = extra->allocate(size, aligned);
  if (memory.ok())
    return *memory;
  fail(memory.status());
  return nullptr;
}

void RunSession::free(void *ptr) {
  // After an error, requests are not those of the plan, and all memory is given
  // back at the end of the run.
  if (ptr == nullptr || !status().ok())
    return;
  if (!hasLeft && next < plan->events.size() && plan->events[next].isRelease &&
      getAddress(plan->blocks[plan->events[next].block]) == ptr) {
    ++next;
    return;
  }
  leavePlan();
  auto found = std::find(remaining.begin(), remaining.end(), ptr);
  if (found != remaining.end())
    remaining.erase(found);
  else if (!extra->release(ptr))
    reportUnknown(ptr);
}

void *RunSession::constant(const void *host, int64_t bytes) {
  if (!checkConstant(host, bytes))
    return nullptr;
  if (void *copy = program.findConstant(host, bytes))
    return copy;
  // The plan's run did not need it.
  std::unique_lock<std::mutex> lock;
  if (mutex)
    lock = std::unique_lock<std::mutex>(*mutex);
  Device::DuringCapture permitted(device());
  Expected<void *> copy = program.copyConstant(host, bytes);
  fail(copy.status());
  return copy.ok() ? *copy : nullptr;
}

void RunSession::read(void *host, const void *from, int64_t bytes) {
  if (status().ok() && queue && device().isCapturing(*queue))
    fail(Status(StatusCode::InvalidArgument,
                "host code reads a scalar of the device (a condition or a "
                "number of iterations), which a captured graph cannot do"));
  if (status().ok())
    fail(submitter.flush());
  Session::read(host, from, bytes);
}

void RunSession::keep(RecordedRun &record, KeptGraph *graph) {
  switch (DirectReason reason = submitter.getStatistics().whyDirect) {
  case DirectReason::None:
    if (!graph)
      return;
    record.keepGraph(*graph);
    return submitter.setRecord(record);
  case DirectReason::Asked:
  case DirectReason::NoGraphs:
  case DirectReason::FewLaunches:
    if (submitter.hasListed())
      record.keepLaunches(std::move(list), reason,
                          device().info().computeUnits);
    return;
  default:
    // The next run may be a graph.
    return;
  }
}
