//===- HipblasLt.cpp - hipBLASLt's own numbers ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those of its ABI since ROCm 6.0: hipblaslt/hipblaslt.h of hipBLASLt 0.6 (ROCm
// 6.0) to 1.5 (ROCm 10.1), hipblas-common.h of hipBLAS-common 1.0, and
// hip/library_types.h of HIP 6.0 to 7. In ROCm 5 (hipBLASLt 0.1 to 0.3) it took
// hipblasDatatype_t and hipblasLtComputeType_t instead, under the file name of
// ROCm 6.
//
//===----------------------------------------------------------------------===//

#include "HipblasLt.h"

#include <cstdlib>

using namespace tessera::runtime;

/// Each release is linked with its own libamdhip64, and a second HIP in the
/// process knows nothing of the first one's memory.
static const char *getFile(const DeviceInfo &info) {
  // "HIP 7.0.51831".
  const std::string prefix = "HIP ";
  long major = info.driver.compare(0, prefix.size(), prefix) == 0
                   ? std::strtol(&info.driver[prefix.size()], nullptr, 10)
                   : 0;
  return major >= 7 ? "libhipblaslt.so.1" : "libhipblaslt.so.0";
}

BlasLtInterface tessera::runtime::getHipblasLt(const DeviceInfo &info) {
  BlasLtInterface lt;
  lt.name = "hipBLASLt";
  lt.prefix = "hipblasLt";
  lt.statusType = "hipblasStatus_t";
  lt.files = {getFile(info), "libhipblaslt.so"};
  lt.hasVersionOfHandle = true;
  lt.majorUnit = 100000;
  lt.firstVersion = 600;
  lt.firstRelease = "ROCm 6.0";
  // HIPBLAS_STATUS_NOT_SUPPORTED.
  lt.notSupported = 7;
  // hipblasComputeType_t. It does not support HIPBLAS_COMPUTE_16F (0): its
  // rocblaslt_matmul_desc_create rejects that. On chips without tf32 (xf32) it
  // computes in f32 where rounding to tf32 is permitted.
  lt.compute32F = 2;
  lt.compute32FFastTF32 = 6;
  lt.compute64F = 7;
  lt.compute32I = 9;
  // hipblasOperation_t.
  lt.opN = 111;
  lt.opT = 112;
  // hipblasLtMatmulDescAttributes_t, hipblasLtMatrixLayoutAttribute_t,
  // hipblasLtMatmulPreferenceAttributes_t.
  lt.descTransA = 0;
  lt.descTransB = 1;
  lt.layoutBatchCount = 0;
  lt.layoutBatchStride = 1;
  lt.preferenceWorkspace = 1;
  // HIP_R_8F_E4M3_FNUZ and HIP_R_8F_E5M2_FNUZ, of gfx942. OCP's have NVIDIA's
  // numbers, since HIP 6.3.
  lt.dataF8E4M3FNUZ = 1000;
  lt.dataF8E5M2FNUZ = 1001;
  // hipblasLtMatmulAlgo_t: 16 bytes, and the most workspace that it takes.
  lt.algorithmBytes = 24;
  return lt;
}
