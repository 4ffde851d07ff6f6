//===- KernelParameters.h - Parameters of a CUDA kernel ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The driver reports the size of each parameter of a kernel, but not how many
// there are: to ask for one too many is an error, which tools for finding
// errors report. The number is read from the code.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CUDA_KERNELPARAMETERS_H
#define TESSERA_LIB_RUNTIME_CUDA_KERNELPARAMETERS_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tessera::runtime {

/// The number of parameters of each kernel in an image, which is PTX or a
/// cubin. Lacks kernels for which it cannot be read.
std::unordered_map<std::string, size_t>
countKernelParameters(std::string_view image);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_KERNELPARAMETERS_H
