//===- FakeKernels.cpp - Kernels of a Level Zero for tests ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeKernels.h"

#include "OpenCL/OpenCLDriver.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace tessera::runtime;

namespace {
/// A queue of the first device of OpenCL.
struct Backend {
  const OpenCLDriver *driver = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};
} // namespace

static Backend backend;

void tessera::runtime::useFakePrograms() {
  if (backend.driver)
    return;
  std::string why;
  const OpenCLDriver *driver = getOpenCLDriver(&why);
  cl_platform_id platform = nullptr;
  cl_int error = 0;
  if (!driver || driver->getPlatformIDs(1, &platform, nullptr) ||
      driver->getDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &backend.device,
                           nullptr)) {
    std::fprintf(stderr, "fake Level Zero: no OpenCL: %s\n", why.c_str());
    std::abort();
  }
  backend.context = driver->createContext(nullptr, 1, &backend.device, nullptr,
                                          nullptr, &error);
  backend.queue = driver->createCommandQueue(backend.context, backend.device,
                                             nullptr, &error);
  if (!backend.queue) {
    std::fprintf(stderr, "fake Level Zero: no queue of OpenCL: %d\n", error);
    std::abort();
  }
  backend.driver = driver;
}

void *tessera::runtime::allocateFakeMemory(size_t bytes, size_t alignment) {
  if (backend.driver)
    // PoCL aligns to its widest type; larger alignments are rounded up here.
    return backend.driver->svmAlloc(backend.context, CL_MEM_READ_WRITE, bytes,
                                    static_cast<cl_uint>(0));
  return std::aligned_alloc(alignment,
                            (bytes + alignment - 1) / alignment * alignment);
}

void tessera::runtime::freeFakeMemory(void *ptr) {
  if (backend.driver)
    backend.driver->svmFree(backend.context, ptr);
  else
    std::free(ptr);
}

namespace {
class OpenCLProgram final : public FakeProgram {
public:
  explicit OpenCLProgram(cl_program program) : program(program) {}
  ~OpenCLProgram() override { backend.driver->releaseProgram(program); }

  std::vector<std::string>
  run(const SpirvKernel &kernel, const uint32_t (&grid)[3],
      const std::vector<std::string> &arguments) override {
    const OpenCLDriver &driver = *backend.driver;
    std::vector<std::string> problems;
    auto check = [&](const char *call, cl_int result) {
      if (result)
        problems.push_back(OpenCLDriver::describe(call, result));
    };
    cl_int error = 0;
    cl_kernel handle =
        driver.createKernel(program, kernel.name.c_str(), &error);
    if (!handle)
      return {OpenCLDriver::describe("clCreateKernel", error)};
    for (cl_uint i = 0; i < arguments.size(); ++i) {
      void *pointer = nullptr;
      if (kernel.parameters[i].isPointer) {
        std::memcpy(static_cast<void *>(&pointer), arguments[i].data(),
                    sizeof(pointer));
        check("clSetKernelArgSVMPointer",
              driver.setKernelArgSVM(handle, i, pointer));
      } else {
        check("clSetKernelArg",
              driver.setKernelArg(handle, i, arguments[i].size(),
                                  arguments[i].data()));
      }
    }
    size_t global[3], local[3];
    for (size_t dim = 0; dim < 3; ++dim) {
      local[dim] = static_cast<size_t>(kernel.block[dim]);
      global[dim] = grid[dim] * local[dim];
    }
    check("clEnqueueNDRangeKernel",
          driver.enqueueNDRangeKernel(backend.queue, handle, 3, nullptr, global,
                                      local, 0, nullptr, nullptr));
    check("clFinish", driver.finish(backend.queue));
    driver.releaseKernel(handle);
    return problems;
  }

private:
  cl_program program;
};
} // namespace

std::unique_ptr<FakeProgram>
tessera::runtime::makeFakeProgram(const SpirvModule &module,
                                  std::string &problem) {
  if (!backend.driver)
    return nullptr;
  cl_int error = 0;
  cl_program program = backend.driver->createProgramWithIL(
      backend.context, module.words.data(),
      module.words.size() * sizeof(uint32_t), &error);
  if (program)
    error = backend.driver->buildProgram(program, 1, &backend.device, "",
                                         nullptr, nullptr);
  if (error) {
    problem = OpenCLDriver::describe("clBuildProgram", error);
    return nullptr;
  }
  return std::make_unique<OpenCLProgram>(program);
}
