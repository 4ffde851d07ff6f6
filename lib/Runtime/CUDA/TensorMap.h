//===- TensorMap.h - Tensor maps as the CUDA driver takes them --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CUDA_TENSORMAP_H
#define TESSERA_LIB_RUNTIME_CUDA_TENSORMAP_H

#include "CudaDriver.h"
#include "Runtime/Status.h"
#include "Runtime/TensorMap.h"

namespace tessera::runtime {

/// Arguments of cuTensorMapEncodeTiled, and of cuTensorMapEncodeIm2col where
/// `isImage` (CUDA driver API). Dimensions are innermost first.
struct TiledTensor {
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  unsigned rank = 0;
  /// A multiple of 16.
  CUdeviceptr address = 0;
  /// In elements, 1 to 2^32.
  unsigned long long sizes[maxTensorMapRank] = {};
  /// In bytes, of all dimensions but the innermost: multiples of 16, below
  /// 2^40.
  unsigned long long strides[maxTensorMapRank] = {};
  /// In elements, 1 to 256.
  unsigned box[maxTensorMapRank] = {};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  /// From an element to the next one that is copied, in each dimension.
  unsigned steps[maxTensorMapRank] = {1, 1, 1, 1, 1};
  /// By windows over an image: where the first one begins, from the image's
  /// first position, and the last one, from its last position, in each
  /// dimension but the innermost and the outermost. `box` is unspecified then.
  bool isImage = false;
  int lowerCorner[maxTensorMapRank] = {}, upperCorner[maxTensorMapRank] = {};
  unsigned channels = 0, pixels = 0;
};

/// Returns the driver's arguments. `InvalidArgument` names what the hardware
/// cannot copy from, by the dimension's number in the request.
Expected<TiledTensor> describeTiledTensor(const TensorMapRequest &request);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CUDA_TENSORMAP_H
