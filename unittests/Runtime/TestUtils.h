//===- TestUtils.h - Helpers of the runtime's tests -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H
#define TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H

#include "Runtime/CpuKernel.h"
#include "Runtime/Device.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

/// Whether a message has a part; shows the message if not.
inline testing::AssertionResult contains(const std::string &text,
                                         const std::string &part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "no '" << part << "' in '" << text << "'";
}

/// Workgroups of a launch, threads of each, and bytes of workgroup memory.
struct LaunchShape {
  int64_t grid[3];
  int64_t block[3];
  int64_t workgroupBytes = 0;
};

/// Launches a kernel with `numArgs` arguments, of `argBytes` bytes each.
inline tessera::runtime::Status launchKernel(tessera::runtime::Device &device,
                                             const char *kernel,
                                             const LaunchShape &shape,
                                             int64_t numArgs, void **args,
                                             const int64_t *sizes) {
  tessera::runtime::LaunchRequest request;
  request.kernel = kernel;
  std::copy(shape.grid, shape.grid + 3, request.grid);
  std::copy(shape.block, shape.block + 3, request.block);
  request.workgroupBytes = shape.workgroupBytes;
  request.numArgs = numArgs;
  request.args = args;
  request.argSizes = sizes;
  return device.launch(request);
}

/// Launches a kernel with `values` as its arguments.
template <typename... Args>
tessera::runtime::Status launchWith(tessera::runtime::Device &device,
                                    const char *kernel,
                                    const LaunchShape &shape, Args... values) {
  void *args[] = {static_cast<void *>(&values)..., nullptr};
  int64_t sizes[] = {sizeof(Args)..., 0};
  return launchKernel(device, kernel, shape, sizeof...(values), args, sizes);
}

/// A fixture of tests with a device on a fake driver.
class FakeDeviceTest : public testing::Test {
protected:
  using Shape = LaunchShape;

  /// Keeps the device that a test opens.
  void
  keep(tessera::runtime::Expected<std::unique_ptr<tessera::runtime::Device>>
           opened) {
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
  }
  tessera::runtime::Status load(tessera::runtime::KernelImage::Kind kind,
                                const char *name, std::string bytes) {
    tessera::runtime::KernelImage image;
    image.kind = kind;
    image.name = name;
    image.bytes = std::move(bytes);
    return device->loadImage(image);
  }
  tessera::runtime::Status launch(const char *kernel, Shape shape,
                                  int64_t numArgs = 0, void **args = nullptr,
                                  const int64_t *sizes = nullptr) {
    return launchKernel(*device, kernel, shape, numArgs, args, sizes);
  }
  /// Launches the kernel `small`, which takes 8 and 4 bytes.
  tessera::runtime::Status launchSmall(Shape shape) {
    return launchWith(*device, "small", shape, int64_t(1234567890123),
                      int32_t(-5));
  }

  /// Copies to memory and back, and allocates memory again that was freed:
  /// `allocations` counts the driver's, and the fake has 256 MiB.
  void testMemory(const int &allocations) {
    EXPECT_EQ(device->info().freeBytes, size_t(256) << 20);
    char host[100], back[100];
    std::memset(host, 'x', sizeof(host));
    void *ptr = nullptr, *again = nullptr;
    ASSERT_TRUE(device->allocate(100, &ptr).ok());
    ASSERT_TRUE(device->copyToDevice(ptr, host, 100).ok());
    ASSERT_TRUE(device->fill(ptr, 'y', 1).ok());
    ASSERT_TRUE(device->copyToHost(back, ptr, 100).ok());
    EXPECT_EQ(back[0], 'y');
    EXPECT_EQ(back[99], 'x');
    ASSERT_TRUE(device->free(ptr).ok());
    ASSERT_TRUE(device->allocate(90, &again).ok());
    EXPECT_EQ(again, ptr);
    EXPECT_EQ(allocations, 1);
  }

  std::unique_ptr<tessera::runtime::Device> device;
};

/// A fixture of tests with kernels on the CPU.
class CpuKernelTest : public testing::Test {
protected:
  /// Opens a device of this many threads and loads `kernels`.
  void open(const char *threads,
            std::initializer_list<std::pair<const char *, tessera_cpu_kernel>>
                kernels) {
    setenv("TESSERA_CPU_THREADS", threads, 1);
    tessera::runtime::Expected<std::unique_ptr<tessera::runtime::Device>>
        opened = tessera::runtime::openDevice("cpu");
    unsetenv("TESSERA_CPU_THREADS");
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    device = opened.take();
    tessera::runtime::KernelImage image;
    image.name = "test";
    for (auto [name, kernel] : kernels)
      image.functions.emplace_back(name, reinterpret_cast<void *>(kernel));
    ASSERT_TRUE(device->loadImage(image).ok());
  }

  std::unique_ptr<tessera::runtime::Device> device;
};

#endif // TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H
