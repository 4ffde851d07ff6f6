//===- Device.cpp - Common part of devices --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runtime/Device.h"

#include "Format.h"
#include "MemoryPool.h"

using namespace tessera::runtime;

const char *tessera::runtime::statusCodeName(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return "Ok";
  case StatusCode::NoDevice:
    return "NoDevice";
  case StatusCode::OutOfMemory:
    return "OutOfMemory";
  case StatusCode::Rejected:
    return "Rejected";
  case StatusCode::LaunchFailed:
    return "LaunchFailed";
  case StatusCode::InvalidArgument:
    return "InvalidArgument";
  case StatusCode::Internal:
    return "Internal";
  }
  return "unknown";
}

Device::Device(DeviceInfo info)
    : deviceInfo(std::move(info)), pool(std::make_unique<MemoryPool>()) {}

Device::~Device() = default;

Status Device::allocate(size_t bytes, void **ptr) {
  *ptr = nullptr;
  size_t sizeClass = MemoryPool::sizeClass(bytes);
  Status status(StatusCode::OutOfMemory, "size too large");
  if (sizeClass != 0) {
    *ptr = pool->take(sizeClass);
    if (*ptr == nullptr) {
      status = backendAllocate(sizeClass, ptr);
      if (status.code() == StatusCode::OutOfMemory &&
          pool->statistics().cachedBytes != 0) {
        trim();
        status = backendAllocate(sizeClass, ptr);
      }
      if (status.ok())
        pool->add(*ptr, sizeClass);
    } else {
      status = Status::success();
    }
  }
  if (status.code() == StatusCode::OutOfMemory)
    return Status(
        StatusCode::OutOfMemory,
        format("out of memory on %s: %zu bytes requested, %zu of %zu free",
               info().name.c_str(), bytes, freeMemory(), info().memoryBytes));
  if (status.ok() && checking)
    return fill(*ptr, poison, sizeClass);
  return status;
}

Status Device::free(void *ptr) {
  if (ptr == nullptr || pool->release(ptr))
    return Status::success();
  return Status(StatusCode::InvalidArgument,
                format("%p was not allocated on %s, or was already freed", ptr,
                       info().name.c_str()));
}

void Device::trim() {
  pool->clear(/*live=*/false, [this](void *ptr) { backendFree(ptr); });
}

void Device::releaseMemory() {
  pool->clear(/*live=*/true, [this](void *ptr) { backendFree(ptr); });
}

MemoryStats Device::memoryStats() const { return pool->statistics(); }

Status Device::encodeTensorMap(const TensorMapRequest &, void *) {
  return Status(StatusCode::InvalidArgument,
                info().name + " does not support tensor maps");
}

Status Device::copyOnDevice(void *to, const void *from, size_t bytes) {
  std::vector<char> copy(bytes);
  if (Status status = copyToHost(copy.data(), from, bytes); !status.ok())
    return status;
  return copyToDevice(to, copy.data(), bytes);
}

Status Device::enterQueue(void *) {
  return Status(StatusCode::InvalidArgument,
                "target " + info().target +
                    " does not accept a caller's queue; pass none to use the "
                    "device's own queue");
}

Status Device::bindObject(MemoryObject kind, void *, size_t, bool, void **) {
  bool isClMem = kind == MemoryObject::ClMem;
  return Status(StatusCode::InvalidArgument,
                format("target %s does not accept a %s; target %s does",
                       info().target.c_str(), isClMem ? "cl_mem" : "VkBuffer",
                       isClMem ? "opencl" : "vulkan"));
}

Status Device::leaveQueue() { return Status::success(); }

/// The outcome of concurrent calls on a device that has none.
static Status rejectConcurrent(const DeviceInfo &info) {
  return Status(StatusCode::Internal,
                info.target + " devices have no concurrent calls");
}

static Status rejectGraph(const DeviceInfo &info) {
  return Status(StatusCode::InvalidArgument,
                "a " + info.target + " device has no graphs");
}

Status Device::enterThread(uintptr_t &) { return rejectConcurrent(info()); }

Expected<LoadedKernel *> Device::findKernel(const char *, const char *) {
  return rejectConcurrent(info());
}

Status Device::launchKernel(LoadedKernel &, const LaunchRequest &,
                            const std::optional<void *> &) {
  return rejectConcurrent(info());
}

Status Device::launchAgain(LoadedKernel &, const LaunchRequest &, void *) {
  return rejectConcurrent(info());
}

Status Device::copyInQueue(void *, const void *, size_t, void *) {
  return rejectConcurrent(info());
}

Status Device::allocateNow(size_t, void **) { return rejectConcurrent(info()); }

Status Device::prepareLaunch(LoadedKernel &, const LaunchRequest &) {
  return rejectGraph(info());
}

Expected<WorkGraph *> Device::makeGraph(const WorkList &) {
  return rejectGraph(info());
}

Status Device::updateGraph(WorkGraph &, const WorkList &) {
  return rejectGraph(info());
}

Status Device::launchGraph(WorkGraph &, const std::optional<void *> &) {
  return rejectGraph(info());
}

Status Device::freeInQueue(void *ptr, void *) { return free(ptr); }

Expected<KernelImage> Device::assemble(const KernelImage &) {
  return Status(StatusCode::InvalidArgument,
                info().name + " does not assemble kernels");
}

Status Device::useCache(const std::string &) { return Status::success(); }

Status Device::saveCache() { return Status::success(); }

bool tessera::runtime::isEmptyGrid(const LaunchRequest &request) {
  return request.grid[0] == 0 || request.grid[1] == 0 || request.grid[2] == 0;
}

Status Device::reject(const LaunchRequest &request, const std::string &what) {
  return Status(StatusCode::InvalidArgument,
                format("launch of '%s': %s", request.kernel, what.c_str()));
}

Status Device::checkRequest(const LaunchRequest &request) const {
  if (request.kernel == nullptr || *request.kernel == '\0')
    return Status(StatusCode::InvalidArgument,
                  "the launch does not name a kernel");
  for (int dim = 0; dim < 3; ++dim) {
    if (request.grid[dim] < 0)
      return reject(request, "negative grid " + formatDims(request.grid));
    if (request.block[dim] < 1)
      return reject(request, "each block dimension must be at least 1, not " +
                                 formatDims(request.block));
  }
  if (request.numArgs < 0 || (request.numArgs > 0 && request.args == nullptr))
    return reject(request, std::to_string(request.numArgs) +
                               " arguments but no argument addresses");
  if (request.workgroupBytes < 0)
    return reject(request, std::to_string(request.workgroupBytes) +
                               " bytes of workgroup memory");
  if (request.workgroupBytes >
      static_cast<int64_t>(deviceInfo.workgroupMemoryBytes))
    return reject(request, std::to_string(request.workgroupBytes) +
                               " bytes of workgroup memory, but " +
                               deviceInfo.name + " supports at most " +
                               std::to_string(deviceInfo.workgroupMemoryBytes) +
                               " per workgroup");
  return Status::success();
}
