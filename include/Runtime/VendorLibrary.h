//===- VendorLibrary.h - Matmuls by a vendor's library -----*- C++ -*------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The vendor's matmul library, whose times are the peer of Tessera's. The
// library is located when it is opened.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_VENDORLIBRARY_H
#define TESSERA_RUNTIME_VENDORLIBRARY_H

#include "Runtime/Device.h"
#include "Runtime/HostArray.h"

#include <memory>
#include <string>

namespace tessera::runtime {

/// A batch of matmuls of dense matrices, `out = lhs * rhs`.
struct LibraryMatmul {
  int64_t m = 0, n = 0, k = 0, matrices = 1;
  /// Stored column by column.
  bool transposedLhs = false, transposedRhs = false;
  /// Elements from a matrix of the batch to the next one; 0: they share it.
  int64_t lhsStride = 0, rhsStride = 0, outStride = 0;
  ElementType lhs = ElementType::F16, rhs = ElementType::F16,
              out = ElementType::F16, sum = ElementType::F32;
  /// f32 operands may be rounded to tf32.
  bool tf32 = false;
};

/// A matmul, prepared on a device. The device must outlive it.
class VendorLibrary {
public:
  virtual ~VendorLibrary();
  VendorLibrary(const VendorLibrary &) = delete;
  VendorLibrary &operator=(const VendorLibrary &) = delete;

  /// Finds the library for the device (cuBLASLt for CUDA's, hipBLASLt for
  /// HIP's) and has it choose how to compute the matmul. Returns `NoDevice`,
  /// with the names that were searched, if it is not installed;
  /// `InvalidArgument` if it does not support the matmul. The calling thread is
  /// one in which the device was opened or used last: the library asks the
  /// driver for its current device.
  static Expected<std::unique_ptr<VendorLibrary>>
  prepare(Device &device, const LibraryMatmul &matmul);

  /// "cuBLASLt 13.0.2", "hipBLASLt 0.10.0".
  const std::string &getName() const { return name; }

  /// Queues the matmul, in the queue that the device has at the time: the
  /// default stream (`Device::enterQueue(nullptr)`).
  virtual Status run(const void *lhs, const void *rhs, void *out) = 0;

protected:
  VendorLibrary() = default;
  std::string name;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_VENDORLIBRARY_H
