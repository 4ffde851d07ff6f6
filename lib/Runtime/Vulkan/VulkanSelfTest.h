//===- VulkanSelfTest.h - Self-test of matmuls --------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drivers advertise shapes of matmuls, some of which they compute wrongly.
// Before a program relies on a matmul, a kernel that does nothing else computes
// one of small integers, which every type represents exactly, and the result is
// compared with the host's.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_VULKANSELFTEST_H
#define TESSERA_LIB_RUNTIME_VULKAN_VULKANSELFTEST_H

#include "MatrixMultiply.h"

#include "Runtime/Status.h"

#include <functional>

namespace tessera::runtime {

/// Name of the kernel's entry point.
inline constexpr char selfTestKernel[] = "tessera_self_test";

/// A matrix in memory, row by row: each row begins at a multiple of 16 bytes.
struct TestMatrix {
  ComponentType type;
  bool isSigned = true;
  uint32_t rows = 0, cols = 0;
  /// Row by row, without gaps. Those of operands and of what is expected are
  /// integers.
  std::vector<double> values;

  /// From a row to the next, in elements.
  uint32_t getStride() const;
  /// As the kernel reads it.
  std::vector<uint8_t> encode() const;
  /// Takes the values from memory.
  void decode(const std::vector<uint8_t> &bytes);
};

/// A, B and C of a test, and the expected result.
struct TestOperands {
  TestMatrix a, b, c, result;
};

/// Whether there is a test for `matmul`: its scope must be a subgroup, and its
/// elements integers of 8 to 64 bits, f16, bf16, f32 or f64.
bool canTest(const MatrixMultiply &matmul);

/// Operands in which no two rows, columns or neighbours are alike. Every sum,
/// in whatever order, is exact in the types of C and of the result. Where these
/// leave the room, integers of 8 bits take all their values, so that a wrong
/// sign shows.
TestOperands makeTestOperands(const MatrixMultiply &matmul);

/// The kernel, for one subgroup of `lanes` lanes. It has the form of compiled
/// modules with many parameters: the push constant is the address of a block,
/// in which are those of A, B, C and the result, 8 bytes each. With
/// `transposeB`, for tests of the test, B is read by columns.
std::vector<uint32_t> assembleSelfTest(const MatrixMultiply &matmul,
                                       uint32_t lanes, bool transposeB = false);

/// Describes the difference of `result` from `expected`: how many elements
/// differ, and the one that does most. Empty where none does.
std::string describeDifference(const TestMatrix &result,
                               const TestMatrix &expected);

/// Runs kernel `selfTestKernel` of a module, as one workgroup, with the
/// addresses of copies of `buffers`, and copies the contents back.
using RunSelfTest =
    std::function<Status(const std::vector<uint32_t> &code,
                         std::vector<std::vector<uint8_t>> &buffers)>;

/// Has `run` compute `matmul`. `Rejected` where it is wrong, with
/// `describeDifference`'s words; any other status is `run`'s.
Status runSelfTest(const MatrixMultiply &matmul, uint32_t lanes,
                   bool transposeB, const RunSelfTest &run);

/// The chip's name without its matmuls: "s8-w32768-t1024-n32".
std::string getChipWithoutMatmuls(const std::string &chip);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_VULKANSELFTEST_H
