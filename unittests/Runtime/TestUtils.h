//===- TestUtils.h - Helpers of the runtime's tests -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H
#define TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H

#include "Runtime/Device.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <memory>
#include <string>

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

  std::unique_ptr<tessera::runtime::Device> device;
};

#endif // TESSERA_UNITTESTS_RUNTIME_TESTUTILS_H
