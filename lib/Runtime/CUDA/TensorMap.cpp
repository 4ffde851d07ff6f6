//===- TensorMap.cpp - Tensor maps as the CUDA driver takes them ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The limits are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col
// (CUDA driver API). The corners of the latter are in the order of the sizes,
// the innermost dimension's first.
//
//===----------------------------------------------------------------------===//

#include "TensorMap.h"

#include "../Format.h"

#include <algorithm>

using namespace tessera::runtime;

/// Alignment of addresses, strides and rows of a box, in bytes.
static constexpr int64_t unit = 16;
static constexpr int64_t maxSize = int64_t(1) << 32;
static constexpr int64_t maxStrideBytes = int64_t(1) << 40;

namespace {

struct ElementRow {
  TensorMapElement element;
  CUtensorMapDataType type;
  int64_t bytes;
  const char *name;
};

const ElementRow elementRows[] = {
    {TensorMapElement::I8, CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, "i8"},
    {TensorMapElement::I16, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, "i16"},
    {TensorMapElement::I32, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, "i32"},
    {TensorMapElement::I64, CU_TENSOR_MAP_DATA_TYPE_INT64, 8, "i64"},
    {TensorMapElement::F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, "f16"},
    {TensorMapElement::BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, "bf16"},
    {TensorMapElement::F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, "f32"},
    {TensorMapElement::F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, "f64"},
};

/// One request on its way to the driver's arguments.
class Description {
public:
  Description(const TensorMapRequest &request, const ElementRow &row)
      : request(request), row(row), last(request.rank - 1) {
    const int64_t *end = request.sizes + request.rank;
    empty = std::find(request.sizes, end, 0) != end;
  }

  Expected<TiledTensor> make();

private:
  /// An empty tensor becomes one of a single element.
  int64_t size(int64_t dim) const { return empty ? 1 : request.sizes[dim]; }
  Status checkSize(int64_t dim) const;
  Status checkBox(int64_t dim) const;
  Status checkInnermost() const;
  Status setAddress();
  /// Bytes that the dimensions inside of `dim` take, as far as a stride goes.
  unsigned long long denseStride(int64_t dim) const;
  Status setStride(int64_t dim);
  Status setSwizzle();
  Status setWindows();
  Status reject(const std::string &what) const;

  const TensorMapRequest &request;
  const ElementRow &row;
  /// The innermost dimension.
  int64_t last;
  bool empty;
  TiledTensor result;
};

} // namespace

static Status invalid(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}

static long long wide(int64_t value) { return value; }

Status Description::reject(const std::string &what) const {
  std::string shape;
  for (int64_t dim = 0; dim <= last; ++dim)
    shape += std::to_string(request.sizes[dim]) + "x";
  return invalid("tensor map of a buffer of " + shape + row.name + ": " + what);
}

Status Description::checkSize(int64_t dim) const {
  if (size(dim) >= 1 && size(dim) <= maxSize)
    return Status::success();
  return reject(
      format("the size of dimension %lld must be 1 to 2^32", wide(dim)));
}

Status Description::checkBox(int64_t dim) const {
  int64_t extent = request.box[dim],
          most = request.windowLower && dim == last - 1 ? maxWindowPixels
                                                        : maxTensorMapBox;
  if (extent >= 1 && extent <= most)
    return Status::success();
  return reject(format(
      "one copy moves %lld elements of dimension %lld; it must move 1 to %lld",
      wide(extent), wide(dim), wide(most)));
}

Status Description::checkInnermost() const {
  int64_t bytes = request.box[last] * row.bytes;
  if (size(last) > 1 && request.strides[last] != 1)
    return reject(format("the elements of the last dimension have stride %lld; "
                         "they must be contiguous",
                         wide(request.strides[last])));
  if (bytes % unit != 0)
    return reject(format("one copy moves rows of %lld bytes; the row size must "
                         "be a multiple of %lld",
                         wide(bytes), wide(unit)));
  if (request.swizzle != 0 && bytes > request.swizzle)
    return reject(format("one copy moves rows of %lld bytes, more than the "
                         "swizzle's span of %lld",
                         wide(bytes), wide(request.swizzle)));
  return Status::success();
}

Status Description::setAddress() {
  result.address =
      reinterpret_cast<uintptr_t>(request.pointer) + request.offset * row.bytes;
  if (empty)
    result.address &= ~CUdeviceptr(unit - 1);
  if (result.address % unit == 0)
    return Status::success();
  return reject(
      format("it starts at 0x%llx, which is not aligned to %lld bytes",
             result.address, wide(unit)));
}

unsigned long long Description::denseStride(int64_t dim) const {
  int64_t inner = last - 1 - dim;
  unsigned long long bytes =
      result.sizes[inner] *
      (inner == 0 ? row.bytes : result.strides[inner - 1]);
  unsigned long long aligned = (bytes + unit - 1) / unit * unit;
  return std::clamp<unsigned long long>(aligned, unit, maxStrideBytes - unit);
}

Status Description::setStride(int64_t dim) {
  unsigned long long &stride = result.strides[last - 1 - dim];
  if (size(dim) == 1) {
    stride = denseStride(dim);
    return Status::success();
  }
  int64_t elements = request.strides[dim];
  if (elements < 0 || elements >= maxStrideBytes / row.bytes)
    return reject(format("the stride of dimension %lld is %lld elements; it "
                         "must be at least 0 and below 2^40 bytes",
                         wide(dim), wide(elements)));
  stride = elements * row.bytes;
  if (stride % unit == 0)
    return Status::success();
  return reject(format("the stride of dimension %lld is %llu bytes; it must be "
                       "a multiple of %lld: pad the rows",
                       wide(dim), stride, wide(unit)));
}

Status Description::setSwizzle() {
  switch (request.swizzle) {
  case 0:
    result.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    return Status::success();
  case 32:
    result.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    return Status::success();
  case 64:
    result.swizzle = CU_TENSOR_MAP_SWIZZLE_64B;
    return Status::success();
  case 128:
    result.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    return Status::success();
  default:
    return reject(
        format("the swizzle spans %lld bytes; it must span 0, 32, 64 or 128",
               wide(request.swizzle)));
  }
}

Status Description::setWindows() {
  if (!request.windowLower)
    return Status::success();
  if (last < 2)
    return reject("windows require at least one spatial dimension between the "
                  "batch and the channel dimension");
  result.isImage = true;
  result.pixels = static_cast<unsigned>(request.box[last - 1]);
  result.channels = static_cast<unsigned>(request.box[last]);
  int64_t corner = getMaxWindowCorner(last - 1);
  for (int64_t dim = 1; dim < last; ++dim) {
    // The last position of the image, and of the windows.
    int64_t lower = request.windowLower[dim - 1],
            extent = request.windowExtent[dim - 1],
            upper = lower + extent - size(dim),
            stride = request.windowStride[dim - 1];
    if (extent < 1 || stride < 1 || stride > maxWindowStride)
      return reject(format("windows over dimension %lld cover %lld elements in "
                           "steps of %lld; steps must be 1 to %lld",
                           wide(dim), wide(extent), wide(stride),
                           wide(maxWindowStride)));
    for (int64_t position : {lower, upper})
      if (position < -corner - 1 || position > corner)
        return reject(
            format("windows over dimension %lld start %lld elements from the "
                   "image border; the offset must be %lld to %lld",
                   wide(dim), wide(position), wide(-corner - 1), wide(corner)));
    result.lowerCorner[last - 1 - dim] = static_cast<int>(lower);
    result.upperCorner[last - 1 - dim] = static_cast<int>(upper);
    result.steps[last - dim] = static_cast<unsigned>(stride);
  }
  return Status::success();
}

Expected<TiledTensor> Description::make() {
  result.type = row.type;
  result.rank = static_cast<unsigned>(request.rank);
  for (int64_t dim = 0; dim <= last; ++dim) {
    for (const Status &status : {checkSize(dim), checkBox(dim)})
      if (!status.ok())
        return status;
    result.sizes[last - dim] = size(dim);
    result.box[last - dim] = static_cast<unsigned>(request.box[dim]);
  }
  for (int64_t dim = last - 1; dim >= 0; --dim)
    if (Status status = setStride(dim); !status.ok())
      return status;
  for (const Status &status :
       {setSwizzle(), checkInnermost(), setAddress(), setWindows()})
    if (!status.ok())
      return status;
  return result;
}

Expected<TiledTensor>
tessera::runtime::describeTiledTensor(const TensorMapRequest &request) {
  if (request.rank < 1 || request.rank > maxTensorMapRank)
    return invalid(format(
        "tensor map of a buffer of %lld dimensions; it must have 1 to %d",
        wide(request.rank), maxTensorMapRank));
  for (const ElementRow &row : elementRows)
    if (row.element == request.element)
      return Description(request, row).make();
  return invalid(format("tensor map of unknown element type %d",
                        static_cast<int>(request.element)));
}
