//===- CublasLt.h - cuBLASLt's own numbers ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CUDA_CUBLASLT_H
#define TESSERA_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "../BlasLt.h"

namespace tessera::runtime {

/// cuBLASLt, for CUDA's devices.
BlasLtInterface getCublasLt();

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_CUBLASLT_H
