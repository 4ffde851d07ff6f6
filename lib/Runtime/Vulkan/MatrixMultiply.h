//===- MatrixMultiply.h - Matmuls of cooperative matrices ---*- C++ -*-----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the matmuls that a module of SPIR-V computes with
// SPV_KHR_cooperative_matrix. Nothing here needs a driver.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VULKAN_MATRIXMULTIPLY_H
#define TESSERA_LIB_RUNTIME_VULKAN_MATRIXMULTIPLY_H

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

/// The type of a matrix's elements. The matmul determines the signedness of
/// integers.
struct ComponentType {
  enum Kind : uint32_t { Integer, Float, BFloat };
  Kind kind = Integer;
  uint32_t bits = 0;

  bool isInteger() const { return kind == Integer; }
  uint32_t getBytes() const { return bits / 8; }
  bool operator==(const ComponentType &other) const {
    return kind == other.kind && bits == other.bits;
  }
};

/// Result (m x n) = A (m x k) * B (k x n) + C (m x n), as OpTypeCooperative-
/// MatrixKHR and OpCooperativeMatrixMulAddKHR have it.
struct MatrixMultiply {
  /// Cooperative Matrix Operands (SPV_KHR_cooperative_matrix).
  enum Operand : uint32_t {
    signedA = 1,
    signedB = 2,
    signedC = 4,
    signedResult = 8,
    saturating = 16,
  };

  uint32_t m = 0, n = 0, k = 0;
  ComponentType a, b, c, result;
  /// A mask of `Operand`s.
  uint32_t operands = 0;
  /// SPIR-V's number of the scope that holds the matrix: 3 is a subgroup.
  uint32_t scope = 3;

  /// "m8n8k8.f32.f16" as in the name of a chip, result first; B's type after
  /// A's, C's and the scope only where they differ from the usual ones:
  /// "m8n8k8.s32.s8.u8". Different matmuls have different names.
  std::string getName() const;
  bool operator==(const MatrixMultiply &other) const;
};

/// The matmuls in a module of SPIR-V, each once, in the order of their first
/// use. Matmuls of matrices whose extents are not constants are left out, and
/// so is everything of a module that is truncated.
std::vector<MatrixMultiply>
readMatrixMultiplies(const std::vector<uint32_t> &words);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_VULKAN_MATRIXMULTIPLY_H
