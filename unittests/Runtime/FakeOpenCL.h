//===- FakeOpenCL.h - An OpenCL for tests -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fake OpenCL whose functions count calls, reject them and fail on request.
// Memory is host memory. Queued commands run when their queue is waited for,
// and commands of other queues run only if they must precede them, so that a
// missing wait reads the old contents. Each handle is checked in each call:
// misuse adds a line to `violations`.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_FAKEOPENCL_H
#define TESSERA_UNITTESTS_RUNTIME_FAKEOPENCL_H

#include "OpenCL/OpenCLDriver.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera::runtime {

/// A launch that was run.
struct FakeCLLaunch {
  std::string kernel;
  size_t global[3], local[3];
  /// The bytes of each argument.
  std::map<cl_uint, std::string> arguments;
};

/// The recorded calls of OpenCL, and its configured results.
struct FakeOpenCL {
  std::string name = "Fake", intermediate = "SPIR-V_1.2 SPIR-V_1.3",
              extensions =
                  "cl_khr_fp16 cl_khr_fp64 cl_khr_subgroup_shuffle "
                  "cl_intel_required_subgroup_size cl_ext_float_atomics "
                  "cl_intel_unified_shared_memory";
  cl_bitfield type = CL_DEVICE_TYPE_GPU, svm = 0, usm = 1;
  cl_bitfield addsF32 = CL_GLOBAL_FP_ATOMIC_ADD_EXT, addsF64 = 0;
  cl_uint addressBits = 64, maxSubgroups = 64;
  size_t maxThreads = 512, multiple = 32;
  std::vector<size_t> maxBlock = {512, 256, 64}, subgroupSizes = {8, 16, 32};
  /// The size of the memory; larger requests fail with CL_INVALID_BUFFER_SIZE.
  size_t memoryBytes = 1 << 24;
  unsigned numPlatforms = 1, numDevices = 1;
  /// Functions of extensions that are not there, by their symbols.
  std::vector<std::string> missing;
  /// The status that a function returns, by its symbol, after `failAfter`
  /// calls, until the entry is removed.
  std::map<std::string, cl_int> failures;
  std::map<std::string, int> failAfter;
  std::string buildLog;
  size_t lanes = 16;
  cl_ulong privateBytes = 0;
  /// The device's clock in nanoseconds, and the duration of a kernel.
  cl_ulong clock = 1000, kernelTime = 0;

  std::vector<std::string> calls, violations;
  std::vector<FakeCLLaunch> launches;
  std::map<void *, size_t> memory;
  /// The live handles and their kinds.
  std::map<void *, std::string> handles;
  /// How often a context was retained, beyond once.
  std::map<void *, int> retained;

  size_t count(const std::string &symbol) const;
};

/// Objects of programs that call OpenCL themselves: a context of the first
/// device, a queue of it, a buffer. `releaseFake` releases all of them.
cl_context makeFakeContext();
cl_command_queue makeFakeQueue(cl_context context, cl_bitfield properties = 0);
cl_mem makeFakeBuffer(cl_context context, size_t bytes,
                      cl_bitfield flags = CL_MEM_READ_WRITE,
                      cl_uint type = CL_MEM_OBJECT_BUFFER);
/// The bytes of a buffer.
std::string &getFakeBuffer(cl_mem buffer);
void releaseFake(void *handle);

/// The state of all functions. `makeFakeOpenCL` resets it.
FakeOpenCL &getFakeOpenCL();
OpenCLDriver makeFakeOpenCL();

} // namespace tessera::runtime

#endif // TESSERA_UNITTESTS_RUNTIME_FAKEOPENCL_H
