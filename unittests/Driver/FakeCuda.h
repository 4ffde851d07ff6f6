//===- FakeCuda.h - A CUDA driver for tests ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A driver that functions play. It rejects what a real driver rejects while a
// stream is captured, and counts what a run calls. Kernels do nothing: numbers
// are for tests on a device.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_DRIVER_FAKECUDA_H
#define TESSERA_UNITTESTS_DRIVER_FAKECUDA_H

#include "CUDA/CudaDriver.h"
#include "Runtime/Executable.h"
#include "Runtime/TensorMap.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

namespace tessera::fakecuda {

using namespace tessera::runtime;

/// The calls that the driver sees. They come from several threads.
struct FakeState {
  std::atomic<bool> isCapturing = false;
  std::atomic<int> launches = 0, copies = 0, allocations = 0, encodes = 0,
                   locals = 0;
  /// Calls that a capture forbids.
  std::atomic<int> forbidden = 0;
  /// Any call but a launch, and the thread's context.
  std::atomic<int> others = 0;
  std::vector<CUstream> launchStreams;
  std::mutex mutex;
  std::condition_variable arrived;
  /// Launches wait for each other until so many threads are there.
  int expectedThreads = 0, waiting = 0;
  std::atomic<int> timeouts = 0;
};
inline FakeState *fakeCuda = nullptr;
inline thread_local CUcontext fakeCurrent = nullptr;
inline thread_local CUstreamCaptureMode fakeMode =
    CU_STREAM_CAPTURE_MODE_GLOBAL;
inline int fakeOwnStream, fakeCallersStream;

inline CUstream getCallers() {
  return reinterpret_cast<CUstream>(&fakeCallersStream);
}

/// CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED where a capture forbids the call.
inline CUresult forbid(bool evenRelaxed = false) {
  ++fakeCuda->others;
  if (!fakeCuda->isCapturing ||
      (!evenRelaxed && fakeMode == CU_STREAM_CAPTURE_MODE_RELAXED))
    return CUDA_SUCCESS;
  ++fakeCuda->forbidden;
  return 900;
}
/// The same for a call on a stream.
inline CUresult forbidOn(CUstream stream) {
  return forbid(/*evenRelaxed=*/stream == getCallers());
}

inline CudaDriver makeDriver() {
  CudaDriver driver;
  driver.init = [](unsigned) { return CUresult(CUDA_SUCCESS); };
  driver.driverGetVersion = [](int *version) {
    *version = 12040;
    return CUresult(CUDA_SUCCESS);
  };
  driver.getErrorName = [](CUresult, const char **name) {
    *name = "CUDA_ERROR";
    return CUresult(CUDA_SUCCESS);
  };
  driver.getErrorString = [](CUresult, const char **text) {
    *text = "an error";
    return CUresult(CUDA_SUCCESS);
  };
  driver.deviceGet = [](CUdevice *device, int) {
    *device = 1;
    return CUresult(CUDA_SUCCESS);
  };
  driver.deviceGetCount = [](int *count) {
    *count = 1;
    return CUresult(CUDA_SUCCESS);
  };
  driver.deviceGetName = [](char *name, int, CUdevice) {
    std::strcpy(name, "Fake GPU");
    return CUresult(CUDA_SUCCESS);
  };
  driver.deviceTotalMem = [](size_t *bytes, CUdevice) {
    *bytes = size_t(1) << 30;
    return CUresult(CUDA_SUCCESS);
  };
  driver.deviceGetAttribute = [](int *value, CUDeviceAttribute attribute,
                                 CUdevice) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = 9;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      *value = 32;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 232448;
      break;
    default:
      *value = 1024;
    }
    return CUresult(CUDA_SUCCESS);
  };
  driver.primaryCtxRetain = [](CUcontext *context, CUdevice) {
    *context = reinterpret_cast<CUcontext>(fakeCuda);
    return CUresult(CUDA_SUCCESS);
  };
  driver.primaryCtxRelease = [](CUdevice) { return CUresult(CUDA_SUCCESS); };
  driver.primaryCtxReset = [](CUdevice) { return CUresult(CUDA_SUCCESS); };
  driver.ctxSetCurrent = [](CUcontext context) {
    fakeCurrent = context;
    return CUresult(CUDA_SUCCESS);
  };
  driver.ctxGetCurrent = [](CUcontext *context) {
    *context = fakeCurrent;
    return CUresult(CUDA_SUCCESS);
  };
  driver.memGetInfo = [](size_t *freeBytes, size_t *totalBytes) {
    *freeBytes = *totalBytes = size_t(1) << 30;
    return CUresult(CUDA_SUCCESS);
  };
  driver.memAlloc = [](CUdeviceptr *ptr, size_t bytes) {
    if (CUresult result = forbid())
      return result;
    ++fakeCuda->allocations;
    *ptr = reinterpret_cast<uintptr_t>(std::aligned_alloc(256, bytes));
    return CUresult(CUDA_SUCCESS);
  };
  driver.memFree = [](CUdeviceptr ptr) {
    if (CUresult result = forbid())
      return result;
    --fakeCuda->allocations;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    std::free(reinterpret_cast<void *>(static_cast<uintptr_t>(ptr)));
    return CUresult(CUDA_SUCCESS);
  };
  driver.memcpyHtoDAsync = [](CUdeviceptr, const void *, size_t,
                              CUstream stream) { return forbidOn(stream); };
  driver.memcpyDtoHAsync = [](void *, CUdeviceptr, size_t, CUstream stream) {
    return forbidOn(stream);
  };
  driver.memcpyDtoDAsync = [](CUdeviceptr, CUdeviceptr, size_t, CUstream) {
    ++fakeCuda->copies;
    return CUresult(CUDA_SUCCESS);
  };
  driver.memsetD8Async = [](CUdeviceptr, unsigned char, size_t, CUstream) {
    return CUresult(CUDA_SUCCESS);
  };
  driver.moduleLoadDataEx = [](CUmodule *module, const void *, unsigned,
                               CUJitOption *, void **) {
    *module = reinterpret_cast<CUmodule>(new int);
    return forbid();
  };
  driver.moduleUnload = [](CUmodule module) {
    delete reinterpret_cast<int *>(module);
    return forbid();
  };
  driver.moduleGetFunction = [](CUfunction *function, CUmodule module,
                                const char *) {
    *function = reinterpret_cast<CUfunction>(module);
    return forbid();
  };
  driver.funcGetAttribute = [](int *value, CUFunctionAttribute attribute,
                               CUfunction) {
    *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
    return CUresult(CUDA_SUCCESS);
  };
  driver.funcSetAttribute = [](CUfunction, CUFunctionAttribute, int) {
    return CUresult(CUDA_SUCCESS);
  };
  driver.launchKernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, unsigned, CUstream stream,
                           void **, void **) {
    ++fakeCuda->launches;
    if (fakeCuda->expectedThreads == 0)
      return CUresult(CUDA_SUCCESS);
    // All threads are in a launch at once, or a lock keeps them apart.
    std::unique_lock<std::mutex> lock(fakeCuda->mutex);
    if (++fakeCuda->waiting % fakeCuda->expectedThreads == 0)
      fakeCuda->arrived.notify_all();
    int round = (fakeCuda->waiting - 1) / fakeCuda->expectedThreads;
    if (!fakeCuda->arrived.wait_for(lock, std::chrono::seconds(20), [&] {
          return fakeCuda->waiting >= (round + 1) * fakeCuda->expectedThreads;
        }))
      ++fakeCuda->timeouts;
    return CUresult(CUDA_SUCCESS);
  };
  driver.tensorMapEncodeTiled =
      [](void *map, CUtensorMapDataType, unsigned, void *,
         const unsigned long long *, const unsigned long long *,
         const unsigned *, const unsigned *, CUtensorMapInterleave,
         CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
        ++fakeCuda->encodes;
        std::memset(map, 7, tensorMapBytes);
        return CUresult(CUDA_SUCCESS);
      };
  driver.tensorMapEncodeIm2col =
      [](void *, CUtensorMapDataType, unsigned, void *,
         const unsigned long long *, const unsigned long long *, const int *,
         const int *, unsigned, unsigned, const unsigned *,
         CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
         CUtensorMapFloatOOBfill) { return CUresult(CUDA_SUCCESS); };
  driver.occupancy = [](int *blocks, CUfunction, int, size_t) {
    *blocks = 1;
    return CUresult(CUDA_SUCCESS);
  };
  driver.streamCreate = [](CUstream *stream, unsigned) {
    *stream = reinterpret_cast<CUstream>(&fakeOwnStream);
    return CUresult(CUDA_SUCCESS);
  };
  driver.streamDestroy = [](CUstream) { return CUresult(CUDA_SUCCESS); };
  driver.streamSynchronize = [](CUstream stream) { return forbidOn(stream); };
  driver.streamGetCtx = [](CUstream, CUcontext *context) {
    ++fakeCuda->others;
    *context = reinterpret_cast<CUcontext>(fakeCuda);
    return CUresult(CUDA_SUCCESS);
  };
  driver.streamWaitEvent = [](CUstream, CUevent, unsigned) {
    return forbid(/*evenRelaxed=*/true);
  };
  driver.eventCreate = [](CUevent *event, unsigned) {
    *event = reinterpret_cast<CUevent>(fakeCuda);
    return CUresult(CUDA_SUCCESS);
  };
  driver.eventDestroy = [](CUevent) { return CUresult(CUDA_SUCCESS); };
  driver.eventRecord = [](CUevent, CUstream) {
    return forbid(/*evenRelaxed=*/true);
  };
  driver.eventSynchronize = [](CUevent) { return forbid(true); };
  driver.eventElapsedTime = [](float *, CUevent, CUevent) {
    return CUresult(CUDA_SUCCESS);
  };
  driver.streamIsCapturing = [](CUstream stream,
                                CUstreamCaptureStatus *status) {
    ++fakeCuda->others;
    *status = fakeCuda->isCapturing && stream == getCallers()
                  ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                  : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUresult(CUDA_SUCCESS);
  };
  driver.threadExchangeCaptureMode = [](CUstreamCaptureMode *mode) {
    ++fakeCuda->others;
    std::swap(*mode, fakeMode);
    return CUresult(CUDA_SUCCESS);
  };
  return driver;
}

/// The caller's allocator, whose memory no driver has.
class TestAllocator : public ResultAllocator {
public:
  bool takes(size_t) const override { return true; }
  void *allocate(const ResultRequest &request) override {
    ++calls;
    return request.bytes <= sizeof(memory) ? memory : nullptr;
  }
  void release(void *, const ResultRequest &) override { ++releases; }
  int calls = 0, releases = 0;

private:
  alignas(256) char memory[1 << 16];
};

/// Programs with a workspace, with several kernels, and of dynamic sizes.
inline constexpr const char *commonPrograms = R"(
func.func @splitk(%a: tensor<64x512xf16>, %b: tensor<512x64xf16>, %bias: tensor<64xf32>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 16], k = 32,
                                                           kFragment = 16, splitK = 4>}
      ins(%a, %b : tensor<64x512xf16>, tensor<512x64xf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = tensor.empty() : tensor<64x64xf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<64x64xf32>, tensor<64xf32>) outs(%h : tensor<64x64xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %s = arith.addf %x, %y : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x64xf16>
  return %o : tensor<64x64xf16>
}
func.func @chain(%a: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x64xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>
  %b = linalg.matmul ins(%a, %a : tensor<64x64xf16>, tensor<64x64xf16>) outs(%i : tensor<64x64xf16>) -> tensor<64x64xf16>
  %c = linalg.matmul ins(%b, %a : tensor<64x64xf16>, tensor<64x64xf16>) outs(%i : tensor<64x64xf16>) -> tensor<64x64xf16>
  %d = linalg.matmul ins(%c, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%i : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %d : tensor<64x64xf16>
}
func.func @sizes(%a: tensor<?x64xf16>, %b: tensor<64x64xf16>) -> tensor<?x64xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f16
  %n = tensor.dim %a, %c0 : tensor<?x64xf16>
  %e = tensor.empty(%n) : tensor<?x64xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<?x64xf16>) -> tensor<?x64xf16>
  %c = linalg.matmul ins(%a, %b : tensor<?x64xf16>, tensor<64x64xf16>) outs(%i : tensor<?x64xf16>) -> tensor<?x64xf16>
  %d = linalg.matmul ins(%c, %b : tensor<?x64xf16>, tensor<64x64xf16>) outs(%i : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %d : tensor<?x64xf16>
}
)";

} // namespace tessera::fakecuda

#endif // TESSERA_UNITTESTS_DRIVER_FAKECUDA_H
