//===- CublasLt.cpp - cuBLASLt's own numbers ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those of its ABI (cuBLAS documentation, "Using the cuBLASLt API").
//
//===----------------------------------------------------------------------===//

#include "CublasLt.h"

using namespace tessera::runtime;

BlasLtInterface tessera::runtime::getCublasLt() {
  BlasLtInterface lt;
  lt.name = "cuBLASLt";
  lt.prefix = "cublasLt";
  lt.statusType = "cublasStatus_t";
  lt.files = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"};
  lt.majorUnit = 10000;
  // CUBLAS_STATUS_NOT_SUPPORTED.
  lt.notSupported = 15;
  // cublasComputeType_t.
  lt.compute16F = 64;
  lt.compute32F = 68;
  lt.compute32FFastTF32 = 77;
  lt.compute64F = 70;
  lt.compute32I = 72;
  // cublasOperation_t.
  lt.opN = 0;
  lt.opT = 1;
  // cublasLtMatmulDescAttributes_t, cublasLtMatrixLayoutAttribute_t,
  // cublasLtMatmulPreferenceAttributes_t.
  lt.descTransA = 3;
  lt.descTransB = 4;
  lt.layoutBatchCount = 5;
  lt.layoutBatchStride = 6;
  lt.preferenceWorkspace = 1;
  // cublasLtMatmulAlgo_t: 8 numbers of 64 bits.
  lt.algorithmBytes = 64;
  return lt;
}
