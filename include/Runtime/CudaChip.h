//===- CudaChip.h - Which code runs on which NVIDIA chip --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_CUDACHIP_H
#define TESSERA_RUNTIME_CUDACHIP_H

#include <optional>
#include <string>

namespace tessera::runtime {

/// A parsed chip name such as "sm_90a".
struct CudaChip {
  /// 90.
  int level = 0;
  /// Whether its code only runs on chips of exactly this level.
  bool isSpecific = false;

  /// Absent for text that is not a chip name.
  static std::optional<CudaChip> parse(const std::string &name);
};

/// Whether code for one chip runs on another: PTX runs on its own and later
/// levels, a cubin only on those of its generation ("CUDA Binary (cubin)
/// Compatibility" in NVCC's manual).
bool runsOnCudaChip(const CudaChip &code, const CudaChip &device, bool isCubin);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_CUDACHIP_H
