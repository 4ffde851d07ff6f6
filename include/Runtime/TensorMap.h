//===- TensorMap.h - Tensor maps of TMA ---------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor map describes a tensor in the device's memory, and the box of it
// that one bulk copy moves, to the hardware that computes the addresses. The
// host makes it and passes it to a kernel by value.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_TENSORMAP_H
#define TESSERA_RUNTIME_TENSORMAP_H

#include <cstddef>
#include <cstdint>

namespace tessera::runtime {

/// Size and alignment of a tensor map in bytes (CUDA driver API, CUtensorMap).
constexpr size_t tensorMapBytes = 128;
constexpr size_t tensorMapAlignment = 64;

/// Most dimensions that a tensor map has.
constexpr int maxTensorMapRank = 5;

/// Most elements of a box in one dimension.
constexpr int64_t maxTensorMapBox = 256;

/// Limits of windows over an image (CUDA driver API, cuTensorMapEncodeIm2col):
/// pixels that one copy moves, and the step from a window to the next one.
constexpr int64_t maxWindowPixels = 1024;
constexpr int64_t maxWindowStride = 8;
/// How far, over so many dimensions, windows begin before and end after the
/// image, and how wide one is (PTX ISA, "im2col mode").
constexpr int64_t getMaxWindowCorner(int64_t dimensions) {
  return dimensions == 1 ? 32767 : dimensions == 2 ? 127 : 15;
}
constexpr int64_t getMaxWindowOffset(int64_t dimensions) {
  return dimensions == 1 ? 65535 : dimensions == 2 ? 255 : 31;
}

/// Element types of tensor maps. Integers without a sign, and floating-point
/// types that are not named here, are those of the same size: a copy moves
/// bits. tf32 is F32.
enum class TensorMapElement : int32_t {
  I8 = 0,
  I16 = 1,
  I32 = 2,
  I64 = 3,
  F16 = 4,
  BF16 = 5,
  F32 = 6,
  F64 = 7,
};

/// The tensor that a tensor map describes. Dimensions are a memref's, outermost
/// first.
struct TensorMapRequest {
  /// Memory of the device, and where the tensor's first element is from there,
  /// in elements.
  const void *pointer = nullptr;
  int64_t offset = 0;
  TensorMapElement element = TensorMapElement::I8;
  /// 1 to `maxTensorMapRank`.
  int64_t rank = 0;
  /// Extents in elements. If one of them is 0, nothing is copied: the map is
  /// then valid, for a tensor of one element.
  const int64_t *sizes = nullptr;
  /// Strides in elements. The stride of a dimension of size 1 is ignored.
  const int64_t *strides = nullptr;
  /// Elements that one copy moves in each dimension; zeros are put in for those
  /// beyond the tensor.
  const int64_t *box = nullptr;
  /// Span of the swizzle in workgroup memory in bytes: 0, 32, 64 or 128.
  int64_t swizzle = 0;
  /// Windows over an image, in each dimension but the first and the last; null
  /// for tiles. Where the first one begins (negative before the image), how far
  /// from there the last one does and one more, and the steps between them. The
  /// box's last two entries are pixels, of which one follows the other through
  /// these positions and the images, and channels.
  const int64_t *windowLower = nullptr, *windowExtent = nullptr,
                *windowStride = nullptr;
};

} // namespace tessera::runtime

#endif // TESSERA_RUNTIME_TENSORMAP_H
