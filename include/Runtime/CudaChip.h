//===- CudaChip.h - Which code runs on which NVIDIA chip --------*- C++ -*-===//

#ifndef TESSERA_RUNTIME_CUDACHIP_H
#define TESSERA_RUNTIME_CUDACHIP_H

#include <optional>
#include <string>

namespace tessera::runtime {

/// "sm_90a", taken apart.
struct CudaChip {
  /// 90.
  int level = 0;
  /// Its code runs on chips of this very level alone.
  bool isSpecific = false;

  /// Absent for text that names no chip.
  static std::optional<CudaChip> parse(const std::string &name);
};

/// Whether code for one chip runs on another: PTX on its own level and later
/// ones, a cubin on those of its generation only ("CUDA Binary (cubin)
/// Compatibility" in NVCC's manual).
bool runsOnCudaChip(const CudaChip &code, const CudaChip &device, bool isCubin);

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_CUDACHIP_H
