//===- BlasLt.h - Matmuls by cuBLASLt or hipBLASLt ----*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// hipBLASLt was made after cuBLASLt: functions of the same names after another
// prefix, that take the same arguments in the same order, and other numbers for
// them. The code that prepares a matmul with either library is here; the
// differences are a table, CUDA/CublasLt.h and HIP/HipblasLt.h.
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_BLASLT_H
#define TESSERA_LIB_RUNTIME_BLASLT_H

#include "Runtime/VendorLibrary.h"

#include <string>
#include <vector>

namespace tessera::runtime {

/// The properties in which the two libraries differ. Element types have the
/// numbers of cudaDataType, which hipDataType took over, but for the last two.
struct BlasLtInterface {
  /// Stands for a number that the library does not have.
  static constexpr int none = -1;

  /// "cuBLASLt".
  std::string name;
  /// The prefix of its function names: "cublasLt".
  std::string prefix;
  /// The type of their results: "cublasStatus_t". 0 is success.
  std::string statusType;
  /// Its files, the first that can be loaded is used.
  std::vector<std::string> files;

  /// PREFIXGetVersion takes a handle and an address for the number; else it
  /// takes nothing and gives it.
  bool hasVersionOfHandle = false;
  /// A version is MAJOR * majorUnit + MINOR * 100 + PATCH.
  size_t majorUnit = 0;
  /// The first version with this interface, and what it came with ("ROCm 6.0").
  size_t firstVersion = 0;
  std::string firstRelease;

  /// The result code for a matmul that the library does not support.
  int notSupported = 0;

  /// The type that sums are computed in.
  int compute16F = none, compute32F = none, compute32FFastTF32 = none,
      compute64F = none, compute32I = none;
  /// An operand as it is stored, and turned.
  int opN = none, opT = none;
  /// Attributes of a matmul, a layout, and a preference.
  int descTransA = none, descTransB = none;
  int layoutBatchCount = none, layoutBatchStride = none;
  int preferenceWorkspace = none;
  /// Element types.
  int dataF8E4M3FNUZ = none, dataF8E5M2FNUZ = none;

  /// The size of an algorithm, with which the result of the heuristic begins.
  size_t algorithmBytes = 0;
};

/// See `VendorLibrary::prepare`.
Expected<std::unique_ptr<VendorLibrary>>
prepareBlasLt(Device &device, const LibraryMatmul &matmul,
              BlasLtInterface interface);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_BLASLT_H
