//===- TensorMapTest.cpp - Tensor maps as the CUDA driver takes them ------===//

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

TEST(TensorMapTest, TurnsDimensionsRound) {
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
  EXPECT_TRUE(contains(tensor.error(), "elements of type 77"));
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
            "dimension lie 2 apart, and have to be adjacent");
  tensor = makeTensor();
  tensor.offset = 4;
  EXPECT_TRUE(contains(tensor.error(), "begins at 0x1008, which is not aligned "
                                       "to 16 bytes"));
  tensor = makeTensor();
  tensor.strides[1] = 100;
  EXPECT_TRUE(contains(tensor.error(),
                       "the stride of dimension 1 is 200 bytes, "
                       "which has to be a multiple of 16"));
  tensor = makeTensor();
  tensor.strides[0] = -64;
  EXPECT_TRUE(contains(tensor.error(), "stride of dimension 0, -64 elements"));
  tensor.strides[0] = int64_t(1) << 39;
  EXPECT_TRUE(contains(tensor.error(), "below 2^40 bytes"));
  tensor = makeTensor();
  tensor.sizes[0] = (int64_t(1) << 32) + 1;
  EXPECT_TRUE(contains(tensor.error(), "size of dimension 0 has to be 1 to"));
}

TEST(TensorMapTest, NamesWhatABoxCannotBe) {
  Tensor tensor = makeTensor();
  tensor.box[1] = 257;
  EXPECT_TRUE(contains(tensor.error(),
                       "one copy moves 257 elements of dimension "
                       "1; 1 to 256 are possible"));
  tensor = makeTensor();
  tensor.box[2] = 4;
  EXPECT_TRUE(contains(tensor.error(), "rows of 8 bytes, which has to be a "
                                       "multiple of 16"));
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
  EXPECT_TRUE(contains((Tensor{{}, {}, {}}).error(), "0 dimensions; 1 to 5"));
  EXPECT_TRUE(
      contains((Tensor{{1, 1, 1, 1, 1, 8}, {8, 8, 8, 8, 8, 1}, {}}).error(),
               "6 dimensions; 1 to 5"));
}

} // namespace
