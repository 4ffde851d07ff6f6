//===- CpuDevice.cpp - The host as a device -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch deals its workgroups out to a pool of threads:
//
//   worker 0 .. W-1 (host threads)    take the next few workgroups, in order
//     workgroup                       one arena of workgroup memory per worker
//       thread 0 .. T-1 (fibers)      one after the other, up to each barrier
//
// A workgroup of one thread calls its kernel directly.
//
//===----------------------------------------------------------------------===//

#include "CpuDevice.h"

#include "../Format.h"
#include "Runtime/CpuKernel.h"
#include "ThreadPool.h"
#include "Worker.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

using namespace tessera::runtime;

static_assert(sizeof(tessera_workgroup) == 14 * 8,
              "compiled kernels rely on this layout");

namespace {

/// Most threads of a workgroup.
constexpr int64_t maxBlockThreads = 1024;
/// Most fibers of all workers together. Each takes two memory mappings of the
/// 65530 that Linux gives a process.
constexpr size_t maxFibers = 16384;

class CpuDevice final : public Device {
public:
  CpuDevice(DeviceInfo info, unsigned threads);
  ~CpuDevice() override;

  size_t freeMemory() override { return getCpuInfo().freeBytes; }
  bool usesHostMemory() const override { return true; }
  Status copyToDevice(void *device, const void *host, size_t bytes) override;
  Status copyToHost(void *host, const void *device, size_t bytes) override;
  Status copyOnDevice(void *to, const void *from, size_t bytes) override {
    return copyToDevice(to, from, bytes);
  }
  Status fill(void *ptr, uint8_t pattern, size_t bytes) override;
  Status loadImage(const KernelImage &image) override;
  Status unloadImage(const std::string &name) override;
  Status launch(const LaunchRequest &request) override;
  void beginRun() override { pool.hold(); }
  Status endRun() override {
    pool.release();
    return Status::success();
  }
  std::optional<uint64_t> countSubmissions() const override {
    return pool.countWakes();
  }
  Status synchronize() override { return Status::success(); }
  Status timeBegin() override;
  Status timeEnd(double *milliseconds) override;
  Status flushCaches() override;
  Expected<KernelResources> resources(const char *kernel, int64_t blockThreads,
                                      int64_t workgroupBytes) override;

protected:
  Status backendAllocate(size_t bytes, void **ptr) override;
  void backendFree(void *ptr) override { std::free(ptr); }

private:
  struct Kernel {
    std::string name;
    tessera_cpu_kernel function;
  };
  struct Image {
    std::string name;
    std::vector<Kernel> kernels;
  };

  /// Searches all images if none is named.
  tessera_cpu_kernel find(const char *kernel, const char *imageName) const;
  Status unknownKernel(const char *kernel) const;
  /// How many workers may take part with that many fibers each.
  unsigned reserveFibers(unsigned wanted, size_t threads);

  ThreadPool pool;
  std::vector<std::unique_ptr<Worker>> workers;
  /// In the order of loading; the last one wins.
  std::vector<Image> images;
  bool timing = false;
  std::chrono::steady_clock::time_point begin;
  /// The buffer that `flushCaches` overwrites, and the part of one worker.
  void *scratch = nullptr;
  size_t scratchShare = 0;
  unsigned char scratchPattern = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// CpuDevice
//===----------------------------------------------------------------------===//

CpuDevice::CpuDevice(DeviceInfo info, unsigned threads)
    : Device(std::move(info)), pool(threads) {
  for (unsigned worker = 0; worker < pool.size(); ++worker)
    workers.push_back(std::make_unique<Worker>());
  deviceInfo.computeUnits = static_cast<int>(pool.size());
}

CpuDevice::~CpuDevice() { releaseMemory(); }

Status CpuDevice::backendAllocate(size_t bytes, void **ptr) {
  // The system promises more memory than it has, and ends the process later.
  if (bytes > info().memoryBytes || posix_memalign(ptr, 256, bytes) != 0)
    return Status(StatusCode::OutOfMemory, "posix_memalign");
  return Status::success();
}

Status CpuDevice::copyToDevice(void *device, const void *host, size_t bytes) {
  if (bytes != 0)
    std::memcpy(device, host, bytes);
  return Status::success();
}

Status CpuDevice::copyToHost(void *host, const void *device, size_t bytes) {
  if (bytes != 0)
    std::memcpy(host, device, bytes);
  return Status::success();
}

Status CpuDevice::fill(void *ptr, uint8_t pattern, size_t bytes) {
  if (bytes != 0)
    std::memset(ptr, pattern, bytes);
  return Status::success();
}

Status CpuDevice::loadImage(const KernelImage &image) {
  if (image.kind != KernelImage::HostFunctions)
    return Status(StatusCode::InvalidArgument,
                  "image '" + image.name +
                      "' contains GPU code; the cpu device accepts addresses "
                      "of host functions only");
  Image loaded;
  loaded.name = image.name;
  for (const auto &[name, address] : image.functions) {
    if (address == nullptr)
      return Status(StatusCode::InvalidArgument,
                    "image '" + image.name + "': kernel '" + name +
                        "' does not have an address");
    loaded.kernels.push_back(
        {name, reinterpret_cast<tessera_cpu_kernel>(address)});
  }
  images.erase(
      std::remove_if(images.begin(), images.end(),
                     [&](const Image &old) { return old.name == image.name; }),
      images.end());
  images.push_back(std::move(loaded));
  return Status::success();
}

Status CpuDevice::unloadImage(const std::string &name) {
  auto it = std::find_if(images.begin(), images.end(), [&](const Image &image) {
    return image.name == name;
  });
  if (it == images.end())
    return Status(StatusCode::InvalidArgument,
                  "image '" + name + "' is not loaded");
  images.erase(it);
  return Status::success();
}

tessera_cpu_kernel CpuDevice::find(const char *kernel,
                                   const char *imageName) const {
  for (auto image = images.rbegin(); image != images.rend(); ++image) {
    if (imageName && image->name != imageName)
      continue;
    for (const Kernel &candidate : image->kernels)
      if (candidate.name == kernel)
        return candidate.function;
  }
  return nullptr;
}

Status CpuDevice::unknownKernel(const char *kernel) const {
  std::string known;
  for (const Image &image : images)
    for (const Kernel &candidate : image.kernels)
      known += (known.empty() ? "" : ", ") + candidate.name;
  return Status(StatusCode::InvalidArgument,
                format("kernel '%s' is not loaded; loaded kernels: %s", kernel,
                       known.empty() ? "none" : known.c_str()));
}

unsigned CpuDevice::reserveFibers(unsigned wanted, size_t threads) {
  size_t possible = std::max<size_t>(1, maxFibers / threads);
  unsigned count = static_cast<unsigned>(std::min<size_t>(wanted, possible));
  size_t total = 0;
  for (unsigned worker = 0; worker < workers.size(); ++worker)
    total +=
        std::max(workers[worker]->fibers.size(), worker < count ? threads : 0);
  // Workers may hold more than they need from launches of another shape.
  if (total > maxFibers)
    for (auto &worker : workers)
      worker->fibers.clear();
  return count;
}

Status CpuDevice::launch(const LaunchRequest &request) {
  if (Status status = checkRequest(request); !status.ok())
    return status;
  tessera_cpu_kernel kernel = find(request.kernel, request.image);
  if (!kernel)
    return unknownKernel(request.kernel);
  if (isEmptyGrid(request))
    return Status::success();
  Job job;
  job.request = &request;
  job.kernel = kernel;
  job.checking = checking;
  int64_t total;
  if (__builtin_mul_overflow(request.block[0], request.block[1], &total) ||
      __builtin_mul_overflow(total, request.block[2], &total) ||
      total > maxBlockThreads)
    return reject(request,
                  "a block of " + formatDims(request.block) +
                      " threads, but the cpu device supports at most " +
                      std::to_string(maxBlockThreads) + " per workgroup");
  job.threads = total;
  if (__builtin_mul_overflow(request.grid[0], request.grid[1], &total) ||
      __builtin_mul_overflow(total, request.grid[2], &total) ||
      total > INT64_MAX / 2)
    return reject(request,
                  "a grid of " + formatDims(request.grid) +
                      " workgroups, but the cpu device supports at most 2^62");

  auto count = static_cast<unsigned>(std::min<int64_t>(pool.size(), total));
  if (job.threads > 1)
    count = reserveFibers(count, static_cast<size_t>(job.threads));
  // Several at a time where there are many, for less contention.
  job.chunk = std::clamp<int64_t>(total / (int64_t(count) * 32), 1, 64);
  for (unsigned worker = 0; worker < count; ++worker)
    workers[worker]->share.divide(request.grid, worker, count);
  struct Launch {
    Job &job;
    CpuDevice &device;
    unsigned count;
  } state{job, *this, count};
  pool.run(
      count,
      [](void *data, unsigned worker) {
        auto *launch = static_cast<Launch *>(data);
        launch->device.workers[worker]->run(launch->job, launch->device.workers,
                                            worker, launch->count);
      },
      &state);
  return job.error;
}

Status CpuDevice::timeBegin() {
  timing = true;
  begin = std::chrono::steady_clock::now();
  return Status::success();
}

Status CpuDevice::timeEnd(double *milliseconds) {
  auto end = std::chrono::steady_clock::now();
  if (!timing)
    return Status(StatusCode::InvalidArgument, "timeEnd without timeBegin");
  timing = false;
  *milliseconds =
      std::chrono::duration<double, std::milli>(end - begin).count();
  return Status::success();
}

Status CpuDevice::flushCaches() {
  // Twice the shared cache, and enough for each worker to empty the caches of
  // its own core.
  constexpr size_t share = 4 << 20;
  if (!scratch) {
    size_t bytes = std::max(2 * info().l2Bytes, share * pool.size());
    if (Status status = allocate(bytes, &scratch); !status.ok())
      return status;
    scratchShare = bytes / pool.size();
  }
  ++scratchPattern;
  pool.run(
      pool.size(),
      [](void *data, unsigned worker) {
        auto *device = static_cast<CpuDevice *>(data);
        std::memset(static_cast<char *>(device->scratch) +
                        worker * device->scratchShare,
                    device->scratchPattern, device->scratchShare);
      },
      this, ThreadPool::Attendance::Required);
  return Status::success();
}

Expected<KernelResources> CpuDevice::resources(const char *kernel,
                                               int64_t blockThreads, int64_t) {
  if (!find(kernel, /*imageName=*/nullptr))
    return unknownKernel(kernel);
  KernelResources result;
  result.maxThreads = static_cast<int>(maxBlockThreads);
  if (blockThreads > 0)
    result.workgroupsPerUnit = blockThreads <= maxBlockThreads ? 1 : 0;
  return result;
}

Expected<std::unique_ptr<Device>> tessera::runtime::openCpuDevice(int ordinal) {
  if (ordinal != 0)
    return Status(
        StatusCode::NoDevice,
        format("no cpu device %d: the only cpu device is 0", ordinal));
  DeviceInfo info = getCpuInfo();
  if (const char *text = std::getenv("TESSERA_CPU_THREADS")) {
    constexpr long most = 1024;
    char *end = nullptr;
    long threads = std::strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || threads < 1 || threads > most)
      return Status(StatusCode::InvalidArgument,
                    format("invalid TESSERA_CPU_THREADS '%s': expected a "
                           "number from 1 to %ld",
                           text, most));
    info.computeUnits = static_cast<int>(threads);
  }
  auto threads = static_cast<unsigned>(info.computeUnits);
  return std::unique_ptr<Device>(
      std::make_unique<CpuDevice>(std::move(info), threads));
}
