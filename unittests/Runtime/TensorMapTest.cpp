//===- TensorMapTest.cpp - Tensor maps of the CUDA driver -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/TensorMap.h"
#include "TestUtils.h"

#include <vector>

using namespace tessera::runtime;

namespace {

/// A request that owns its arrays.
struct Tensor {
  std::vector<int64_t> sizes, strides, box;
  TensorMapElement element = TensorMapElement::F16;
  int64_t swizzle = 128;
  uintptr_t pointer = 0x1000;
  int64_t offset = 0;

  Expected<TiledTensor> describe() const {
    TensorMapRequest request;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    request.pointer = reinterpret_cast<void *>(pointer);
    request.offset = offset;
    request.element = element;
    request.rank = static_cast<int64_t>(sizes.size());
    request.sizes = sizes.data();
    request.strides = strides.data();
    request.box = box.data();
    request.swizzle = swizzle;
    return describeTiledTensor(request);
  }
  /// The error's text; empty when there is none.
  std::string error() const { return describe().status().message(); }
};

/// 4x100x64 of f16.
Tensor makeTensor() { return {{4, 100, 64}, {6400, 64, 1}, {1, 128, 64}}; }

TEST(TensorMapTest, ReversesDimensions) {
  Tensor tensor = makeTensor();
  tensor.offset = 72;
  Expected<TiledTensor> tiled = tensor.describe();
  ASSERT_TRUE(tiled.ok()) << tiled.status().message();
  EXPECT_EQ(tiled->type, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_EQ(tiled->rank, 3u);
  EXPECT_EQ(tiled->address, 0x1000u + 144);
  EXPECT_EQ(tiled->sizes[0], 64u);
  EXPECT_EQ(tiled->sizes[1], 100u);
  EXPECT_EQ(tiled->sizes[2], 4u);
  EXPECT_EQ(tiled->strides[0], 128u);
  EXPECT_EQ(tiled->strides[1], 12800u);
  EXPECT_EQ(tiled->box[0], 64u);
  EXPECT_EQ(tiled->box[1], 128u);
  EXPECT_EQ(tiled->box[2], 1u);
  EXPECT_EQ(tiled->swizzle, CU_TENSOR_MAP_SWIZZLE_128B);
}

TEST(TensorMapTest, ElementTypes) {
  const std::pair<TensorMapElement, CUtensorMapDataType> types[] = {
      {TensorMapElement::I8, CU_TENSOR_MAP_DATA_TYPE_UINT8},
      {TensorMapElement::I32, CU_TENSOR_MAP_DATA_TYPE_INT32},
      {TensorMapElement::BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16},
      {TensorMapElement::F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
      {TensorMapElement::F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64},
  };
  for (const auto &[element, type] : types) {
    Tensor tensor = {{64, 64}, {64, 1}, {64, 16}, element};
    Expected<TiledTensor> tiled = tensor.describe();
    ASSERT_TRUE(tiled.ok()) << tiled.status().message();
    EXPECT_EQ(tiled->type, type);
  }
  Tensor tensor = makeTensor();
  tensor.element = static_cast<TensorMapElement>(77);
  EXPECT_TRUE(contains(tensor.error(), "unknown element type 77"));
}

TEST(TensorMapTest, StridesOfSingleElementsDoNotMatter) {
  Tensor tensor = {{1, 1, 1}, {3, -5, 7}, {1, 8, 8}};
  Expected<TiledTensor> tiled = tensor.describe();
  ASSERT_TRUE(tiled.ok()) << tiled.status().message();
  EXPECT_EQ(tiled->strides[0], 16u);
  EXPECT_EQ(tiled->strides[1], 16u);

  tensor = {{1, 100, 60}, {1, 64, 1}, {1, 8, 8}};
  tiled = tensor.describe();
  ASSERT_TRUE(tiled.ok()) << tiled.status().message();
  EXPECT_EQ(tiled->strides[0], 128u);
  EXPECT_EQ(tiled->strides[1], 12800u);
}

TEST(TensorMapTest, AnEmptyTensorHasOneElement) {
  Tensor tensor = {{100, 0}, {0, 1}, {64, 64}};
  tensor.offset = 1;
  Expected<TiledTensor> tiled = tensor.describe();
  ASSERT_TRUE(tiled.ok()) << tiled.status().message();
  EXPECT_EQ(tiled->address, 0x1000u);
  EXPECT_EQ(tiled->sizes[0], 1u);
  EXPECT_EQ(tiled->sizes[1], 1u);
  EXPECT_EQ(tiled->strides[0], 16u);
}

TEST(TensorMapTest, NamesWhatCannotBeCopied) {
  Tensor tensor = makeTensor();
  tensor.strides[2] = 2;
  EXPECT_EQ(tensor.error(),
            "tensor map of a buffer of 4x100x64xf16: the elements of the last "
            "dimension have stride 2; they must be contiguous");
  tensor = makeTensor();
  tensor.offset = 4;
  EXPECT_TRUE(contains(tensor.error(), "starts at 0x1008, which is not aligned "
                                       "to 16 bytes"));
  tensor = makeTensor();
  tensor.strides[1] = 100;
  EXPECT_TRUE(contains(
      tensor.error(),
      "the stride of dimension 1 is 200 bytes; it must be a multiple of 16"));
  tensor = makeTensor();
  tensor.strides[0] = -64;
  EXPECT_TRUE(
      contains(tensor.error(), "stride of dimension 0 is -64 elements"));
  tensor.strides[0] = int64_t(1) << 39;
  EXPECT_TRUE(contains(tensor.error(), "below 2^40 bytes"));
  tensor = makeTensor();
  tensor.sizes[0] = (int64_t(1) << 32) + 1;
  EXPECT_TRUE(contains(tensor.error(), "size of dimension 0 must be 1 to"));
}

TEST(TensorMapTest, NamesWhatABoxCannotBe) {
  Tensor tensor = makeTensor();
  tensor.box[1] = 257;
  EXPECT_TRUE(contains(tensor.error(),
                       "one copy moves 257 elements of dimension "
                       "1; it must move 1 to 256"));
  tensor = makeTensor();
  tensor.box[2] = 4;
  EXPECT_TRUE(
      contains(tensor.error(),
               "rows of 8 bytes; the row size must be a multiple of 16"));
  tensor = makeTensor();
  tensor.swizzle = 64;
  EXPECT_TRUE(contains(tensor.error(), "rows of 128 bytes, more than the "
                                       "swizzle's span of 64"));
  tensor.swizzle = 0;
  EXPECT_EQ(tensor.error(), "");
  tensor.swizzle = 16;
  EXPECT_TRUE(contains(tensor.error(), "the swizzle spans 16 bytes"));
}

TEST(TensorMapTest, Ranks) {
  Tensor tensor = {{8, 8, 8, 8, 8}, {4096, 512, 64, 8, 1}, {1, 1, 1, 8, 8}};
  Expected<TiledTensor> tiled = tensor.describe();
  ASSERT_TRUE(tiled.ok()) << tiled.status().message();
  EXPECT_EQ(tiled->strides[3], 8192u);
  EXPECT_EQ((Tensor{{64}, {1}, {64}}).error(), "");
  EXPECT_TRUE(contains((Tensor{{}, {}, {}}).error(),
                       "0 dimensions; it must have 1 to 5"));
  EXPECT_TRUE(
      contains((Tensor{{1, 1, 1, 1, 1, 8}, {8, 8, 8, 8, 8, 1}, {}}).error(),
               "6 dimensions; it must have 1 to 5"));
}

//===----------------------------------------------------------------------===//
// Windows over an image
//===----------------------------------------------------------------------===//

/// One dimension that windows move over.
struct Along {
  int64_t size, window, stride, dilation, before, after;

  int64_t count() const {
    return (size + before + after - (window - 1) * dilation - 1) / stride + 1;
  }
};

/// A convolution of images with channels side by side, two bytes each.
struct Windows {
  int64_t images, channels;
  std::vector<Along> along;
  int64_t pixels = 64, perPixel = 16;

  Expected<TiledTensor> describe() const {
    std::vector<int64_t> sizes{images}, lower, extent, stride;
    // Windows over nothing are windows as well.
    lower.reserve(1);
    for (const Along &a : along) {
      sizes.push_back(a.size);
      lower.push_back(-a.before);
      extent.push_back((a.count() - 1) * a.stride + 1);
      stride.push_back(a.stride);
    }
    sizes.push_back(channels);
    std::vector<int64_t> strides(sizes.size(), 1), box(sizes.size(), 1);
    for (size_t d = sizes.size() - 1; d-- > 0;)
      strides[d] = strides[d + 1] * sizes[d + 1];
    box[box.size() - 2] = pixels;
    box.back() = perPixel;
    TensorMapRequest request;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    request.pointer = reinterpret_cast<void *>(uintptr_t(0x1000));
    request.element = TensorMapElement::F16;
    request.rank = static_cast<int64_t>(sizes.size());
    request.sizes = sizes.data();
    request.strides = strides.data();
    request.box = box.data();
    request.swizzle = 32;
    request.windowLower = lower.data();
    request.windowExtent = extent.data();
    request.windowStride = stride.data();
    return describeTiledTensor(request);
  }
  std::string error() const { return describe().status().message(); }
};

/// The addresses of the pixels that TMA loads, 0 for zeros: a model of PTX ISA,
/// "im2col mode". Innermost first: the base of the window is `coordinates`, the
/// position within it is `offsets`.
std::vector<unsigned long long> walk(const TiledTensor &map,
                                     std::vector<int64_t> coordinates,
                                     const std::vector<int64_t> &offsets) {
  std::vector<unsigned long long> result;
  unsigned last = map.rank - 1;
  for (unsigned d = 1; d < last; ++d) {
    // The corner lies within the bounding box.
    EXPECT_GE(coordinates[d], map.lowerCorner[d - 1]);
    EXPECT_LE(coordinates[d],
              int64_t(map.sizes[d]) - 1 + map.upperCorner[d - 1]);
  }
  for (unsigned pixel = 0; pixel < map.pixels; ++pixel) {
    unsigned long long address = map.address + coordinates[0] * 2;
    bool inside = coordinates[last] < int64_t(map.sizes[last]);
    for (unsigned d = 1; d <= last; ++d) {
      int64_t position = coordinates[d] + (d < last ? offsets[d - 1] : 0);
      inside &= position >= 0 && position < int64_t(map.sizes[d]);
      address += position * map.strides[d - 1];
    }
    result.push_back(inside ? address : 0);
    for (unsigned d = 1; d <= last; ++d) {
      coordinates[d] += map.steps[d];
      if (d == last ||
          coordinates[d] <= int64_t(map.sizes[d]) - 1 + map.upperCorner[d - 1])
        break;
      coordinates[d] = map.lowerCorner[d - 1];
    }
  }
  return result;
}

/// The elements that the convolution reads for these rows of its matrix.
std::vector<unsigned long long> gather(const Windows &windows, int64_t row,
                                       const std::vector<int64_t> &position,
                                       int64_t channel) {
  std::vector<unsigned long long> result;
  for (int64_t end = row + windows.pixels; row < end; ++row) {
    int64_t rest = row, stride = windows.channels, offset = channel;
    bool inside = true;
    for (size_t d = windows.along.size(); d-- > 0;) {
      const Along &a = windows.along[d];
      int64_t at =
          rest % a.count() * a.stride + position[d] * a.dilation - a.before;
      rest /= a.count();
      inside &= at >= 0 && at < a.size;
      offset += at * stride;
      stride *= a.size;
    }
    inside &= rest < windows.images;
    result.push_back(inside ? 0x1000 + 2 * (offset + rest * stride) : 0);
  }
  return result;
}

/// Every tile of the convolution, at every position of its window.
void checkWindows(const Windows &windows) {
  Expected<TiledTensor> map = windows.describe();
  ASSERT_TRUE(map.ok()) << map.status().message();
  ASSERT_TRUE(map->isImage);
  EXPECT_EQ(map->pixels, windows.pixels);
  EXPECT_EQ(map->channels, windows.perPixel);
  int64_t rows = windows.images, positions = 1;
  for (const Along &a : windows.along) {
    rows *= a.count();
    positions *= a.window;
  }
  for (int64_t row = 0; row < rows; row += windows.pixels)
    for (int64_t number = 0; number < positions; ++number) {
      std::vector<int64_t> position(windows.along.size()), coordinates{16},
          offsets;
      int64_t rest = row, tap = number;
      for (size_t d = windows.along.size(); d-- > 0;) {
        const Along &a = windows.along[d];
        position[d] = tap % a.window;
        tap /= a.window;
        coordinates.push_back(rest % a.count() * a.stride - a.before);
        rest /= a.count();
        offsets.push_back(position[d] * a.dilation);
      }
      coordinates.push_back(rest);
      EXPECT_EQ(walk(*map, coordinates, offsets),
                gather(windows, row, position, 16));
    }
}

TEST(TensorMapTest, WindowsAreThoseOfConvolutions) {
  // 3x3 with zeros around it, in steps of two, wider ones, several at a time.
  checkWindows({3, 32, {{9, 3, 1, 1, 1, 1}, {11, 3, 1, 1, 1, 1}}});
  checkWindows({3, 32, {{9, 3, 1, 1, 0, 0}, {11, 3, 1, 1, 0, 0}}});
  checkWindows({2, 32, {{16, 3, 2, 1, 1, 1}, {15, 3, 2, 1, 1, 1}}});
  checkWindows({2, 32, {{16, 7, 2, 1, 3, 3}, {17, 5, 3, 1, 2, 1}}});
  checkWindows({2, 32, {{16, 3, 1, 2, 2, 2}, {13, 1, 2, 1, 0, 0}}});
  checkWindows({1, 32, {{16, 3, 1, 1, 0, 2}, {13, 3, 1, 3, 3, 0}}});
  // Over one and over three dimensions.
  checkWindows({4, 32, {{100, 5, 3, 2, 4, 1}}});
  checkWindows(
      {2, 32, {{5, 3, 1, 1, 1, 1}, {6, 2, 2, 1, 0, 0}, {7, 3, 1, 2, 2, 2}}});
}

TEST(TensorMapTest, CornersOfWindows) {
  Windows windows{2, 32, {{16, 3, 2, 1, 1, 1}, {15, 3, 1, 1, 0, 2}}};
  Expected<TiledTensor> map = windows.describe();
  ASSERT_TRUE(map.ok()) << map.status().message();
  // The innermost dimension first: w, then h.
  EXPECT_EQ(map->lowerCorner[0], 0);
  EXPECT_EQ(map->lowerCorner[1], -1);
  EXPECT_EQ(map->upperCorner[0], 0);
  EXPECT_EQ(map->upperCorner[1], -2);
  EXPECT_EQ(map->steps[1], 1u);
  EXPECT_EQ(map->steps[2], 2u);
  EXPECT_EQ(map->steps[3], 1u);
}

TEST(TensorMapTest, NamesWhatWindowsCannotBe) {
  Windows windows{2, 32, {{16, 3, 9, 1, 1, 1}, {15, 3, 1, 1, 1, 1}}};
  EXPECT_TRUE(contains(windows.error(), "steps must be 1 to 8"));
  windows.along[0] = {16, 3, 1, 1, 129, 1};
  EXPECT_TRUE(contains(windows.error(),
                       "windows over dimension 1 start -129 elements from the "
                       "image border; the offset must be -128 to 127"));
  windows.along[0] = {16, 3, 1, 1, 1, 1};
  windows.pixels = 1025;
  EXPECT_TRUE(contains(windows.error(), "must move 1 to 1024"));
  windows.pixels = 64;
  windows.perPixel = 32;
  EXPECT_TRUE(contains(windows.error(), "more than the swizzle's span of 32"));
  EXPECT_TRUE(contains(Windows({2, 32, {}}).error(),
                       "windows require at least one spatial dimension"));
}

} // namespace
