//===- CublasLt.h - Products by cuBLASLt ------------------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_CUDA_CUBLASLT_H
#define TESSERA_LIB_RUNTIME_CUDA_CUBLASLT_H

#include "Runtime/VendorLibrary.h"

namespace tessera::runtime {

/// See `VendorLibrary::prepare`.
Expected<std::unique_ptr<VendorLibrary>>
prepareCublasLt(Device &device, const LibraryProduct &product);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_CUBLASLT_H
