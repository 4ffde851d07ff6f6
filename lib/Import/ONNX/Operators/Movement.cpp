//===- Movement.cpp - Operators that move elements ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ScalarMath.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

static LogicalResult lowerIdentity(Lowering &l) {
  l.setResult(0, l.getInput(0));
  return success();
}

static LogicalResult lowerDropout(Lowering &l) {
  bool trains = false;
  if (l.hasInput(2)) {
    const Tensor &mode = l.getInput(2);
    if (!mode.constant)
      return l.fail("training_mode must be constant");
    trains = mode.constant->getInt(0) != 0;
    if (trains && l.hasInput(1) && l.getInput(1).constant &&
        l.getInput(1).constant->getDouble(0) == 0)
      trains = false;
  }
  if (trains)
    return l.fail("training mode is not supported; export the model for "
                  "inference");
  l.setResult(0, l.getInput(0));
  if (l.isOutputUsed(1) && l.getInput(0).isStatic())
    l.setResult(1, l.makeSplat(DataType::Bool, l.getInput(0).shape, 1));
  return success();
}

static LogicalResult lowerConstant(Lowering &l) {
  if (const TensorData *data = l.getTensor("value")) {
    auto constant = std::make_shared<Constant>();
    constant->type = data->type;
    constant->shape.assign(data->shape.begin(), data->shape.end());
    constant->bytes = data->bytes;
    constant->owner = data->owner;
    l.setResult(0, {data->type, constant->shape, constant, Value()});
    return success();
  }
  if (l.hasAttribute("value_int")) {
    l.setResult(0, l.makeInts(l.getInt("value_int", 0), {}));
  } else if (l.hasAttribute("value_ints")) {
    SmallVector<int64_t> values = l.getInts("value_ints");
    l.setResult(0, l.makeInts(values, static_cast<int64_t>(values.size())));
  } else if (l.hasAttribute("value_float")) {
    l.setResult(0,
                l.makeDoubles(l.getFloat("value_float", 0), {}, DataType::F32));
  } else if (l.hasAttribute("value_floats")) {
    std::vector<float> numbers = l.getFloats("value_floats");
    SmallVector<double> values(numbers.begin(), numbers.end());
    l.setResult(0, l.makeDoubles(values, static_cast<int64_t>(values.size()),
                                 DataType::F32));
  } else {
    return l.fail("it has no value of a supported type (a dense tensor, or "
                  "integers or floats)");
  }
  return success();
}

static LogicalResult lowerShape(Lowering &l) {
  const Tensor &input = l.getInput(0);
  int64_t rank = input.rank();
  int64_t begin = l.getInt("start", 0), end = l.getInt("end", rank);
  begin = std::clamp<int64_t>(begin < 0 ? begin + rank : begin, 0, rank);
  end = std::clamp<int64_t>(end < 0 ? end + rank : end, 0, rank);
  SmallVector<int64_t> sizes;
  for (int64_t d = begin; d < end; ++d)
    sizes.push_back(input.shape[d]);
  if (ShapedType::isDynamicShape(sizes)) {
    // As data, of which single sizes may be gathered.
    SmallVector<Value> values;
    for (int64_t d = begin; d < end; ++d) {
      OpFoldResult size = l.getSize(input, d);
      Value index =
          isa<Attribute>(size)
              ? arith::ConstantIndexOp::create(l.b, input.shape[d]).getResult()
              : cast<Value>(size);
      values.push_back(
          arith::IndexCastOp::create(l.b, l.b.getI64Type(), index));
    }
    Tensor list = l.makeTensor(tensor::FromElementsOp::create(l.b, values),
                               DataType::I64);
    list.partial.assign(sizes.begin(), sizes.end());
    l.setResult(0, std::move(list));
    return success();
  }
  l.setResult(0, l.makeInts(sizes, static_cast<int64_t>(sizes.size())));
  return success();
}

static LogicalResult lowerSize(Lowering &l) {
  if (!l.getInput(0).isStatic())
    return l.fail("a tensor with dynamic dimensions is not supported");
  l.setResult(0, l.makeInts(l.getInput(0).count(), {}));
  return success();
}

static LogicalResult lowerReshape(Lowering &l) {
  const Tensor &input = l.getInput(0);
  SmallVector<int64_t> shape;
  const Tensor &given = l.getInput(1);
  if (!given.partial.empty() &&
      llvm::count(given.partial, ShapedType::kDynamic) == 1 &&
      !llvm::is_contained(given.partial, -1)) {
    // The open size follows from the others.
    for (int64_t size : given.partial)
      shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  } else if (failed(l.getInts(1, "the shape", shape))) {
    return failure();
  }
  bool keepsZero = l.getInt("allowzero", 0) != 0;
  std::optional<size_t> open;
  int64_t known = 1;
  bool isKnown = true;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0 && !keepsZero) {
      if (i >= input.shape.size())
        return l.fail("dimension " + Twine(i) +
                      " of the shape is copied from an input of " +
                      Twine(input.rank()) + " dimensions");
      size = input.shape[i];
    } else if (size == -1) {
      if (open)
        return l.fail("its shape has more than one -1");
      open = i;
      continue;
    } else if (size < 0) {
      return l.fail("its shape has the size " + Twine(size));
    }
    if (ShapedType::isDynamic(size))
      isKnown = false;
    else if (__builtin_mul_overflow(known, size, &known))
      return l.fail("its shape has more than 2^63 elements");
  }
  if (open) {
    // Dynamic sizes that are copied cancel out.
    int64_t count = 1, dynamic = 0;
    for (int64_t size : input.shape)
      ShapedType::isDynamic(size) ? void(++dynamic) : void(count *= size);
    for (int64_t size : shape)
      dynamic -= ShapedType::isDynamic(size);
    if (dynamic != 0)
      shape[*open] = ShapedType::kDynamic;
    else if (known == 0 || count % known)
      return l.fail("a tensor of " + Twine(count) +
                    " elements cannot have this shape: the other sizes have " +
                    Twine(known) + " in all");
    else
      shape[*open] = count / known;
  } else if (isKnown && input.isStatic() && known != input.count()) {
    return l.fail("a tensor of " + Twine(input.count()) +
                  " elements cannot have a shape of " + Twine(known));
  }
  if (failed(l.checkShape(shape)))
    return failure();
  return l.setResult(l.reshape(input, shape));
}

static LogicalResult lowerFlatten(Lowering &l) {
  const Tensor &input = l.getInput(0);
  int64_t axis = l.getInt("axis", 1);
  if (axis < -input.rank() || axis > input.rank())
    return l.fail("axis " + Twine(axis) + " is out of range");
  axis += axis < 0 ? input.rank() : 0;
  Shape shape = {1, 1};
  for (int64_t d = 0; d < input.rank(); ++d) {
    int64_t &to = shape[d < axis ? 0 : 1];
    to = ShapedType::isDynamic(to) || ShapedType::isDynamic(input.shape[d])
             ? ShapedType::kDynamic
             : to * input.shape[d];
  }
  return l.setResult(l.reshape(input, shape));
}

/// The axes of Squeeze, Unsqueeze and reductions: an attribute, or input 1 from
/// opset `inputVersion`.
static LogicalResult getAxes(Lowering &l, int64_t inputVersion, int64_t rank,
                             SmallVector<int64_t> &axes) {
  if (l.version < inputVersion)
    axes = l.getInts("axes");
  else if (l.hasInput(1) && failed(l.getInts(1, "axes", axes)))
    return failure();
  for (int64_t &axis : axes)
    if (failed(l.normalizeAxis(axis, rank)))
      return failure();
  llvm::sort(axes);
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    return l.fail("an axis is named twice");
  return success();
}

static LogicalResult lowerSqueeze(Lowering &l) {
  const Tensor &input = l.getInput(0);
  SmallVector<int64_t> axes;
  if (failed(getAxes(l, 13, input.rank(), axes)))
    return failure();
  bool all = l.version < 13 ? !l.hasAttribute("axes") : !l.hasInput(1);
  Shape shape;
  for (int64_t d = 0; d < input.rank(); ++d) {
    bool isNamed = llvm::is_contained(axes, d);
    if (isNamed && input.shape[d] != 1)
      return l.fail("dimension " + Twine(d) + " is not of size 1");
    if (!isNamed && !(all && input.shape[d] == 1))
      shape.push_back(input.shape[d]);
  }
  return l.setResult(l.reshape(input, shape));
}

static LogicalResult lowerUnsqueeze(Lowering &l) {
  const Tensor &input = l.getInput(0);
  SmallVector<int64_t> axes;
  size_t count = l.version < 13 ? l.getInts("axes").size()
                 : l.hasInput(1) && l.getInput(1).constant
                     ? static_cast<size_t>(l.getInput(1).count())
                     : 0;
  int64_t rank = input.rank() + static_cast<int64_t>(count);
  if (rank > 64)
    return l.fail("the result would have " + Twine(rank) + " dimensions");
  if (failed(getAxes(l, 13, rank, axes)))
    return failure();
  Shape shape;
  const int64_t *next = input.shape.begin();
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(llvm::is_contained(axes, d) ? 1 : *next++);
  return l.setResult(l.reshape(input, shape));
}

static LogicalResult lowerTranspose(Lowering &l) {
  const Tensor &input = l.getInput(0);
  SmallVector<int64_t> order = l.getInts("perm");
  if (!l.hasAttribute("perm"))
    for (int64_t d = input.rank(); d-- > 0;)
      order.push_back(d);
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (static_cast<int64_t>(order.size()) != input.rank() ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, input.rank())))
    return l.fail("perm is not a permutation of the " + Twine(input.rank()) +
                  " dimensions of its input");
  return l.setResult(l.transpose(input, order));
}

static LogicalResult lowerConcat(Lowering &l) {
  SmallVector<Tensor> inputs;
  for (size_t i = 0; i < l.getNumInputs(); ++i) {
    if (!l.hasInput(i))
      return l.fail("input " + Twine(i) + " is missing");
    inputs.push_back(l.getInput(i));
    if (inputs[i].type != inputs[0].type)
      return l.fail("its inputs have different types");
  }
  int64_t axis = l.getInt("axis", 1);
  if (failed(l.normalizeAxis(axis, inputs[0].rank())))
    return failure();
  return l.setResult(l.concat(inputs, axis));
}

static LogicalResult lowerSplit(Lowering &l) {
  const Tensor &input = l.getInput(0);
  int64_t axis = l.getInt("axis", 0);
  if (failed(l.normalizeAxis(axis, input.rank())))
    return failure();
  int64_t size = input.shape[axis];
  if (ShapedType::isDynamic(size))
    return l.fail("dimension " + Twine(axis) + " must be static");
  SmallVector<int64_t> parts;
  if (l.version < 13)
    parts = l.getInts("split");
  else if (l.hasInput(1) && failed(l.getInts(1, "split", parts)))
    return failure();
  auto outputs = static_cast<int64_t>(l.node.outputs.size());
  if (parts.empty()) {
    int64_t count = l.getInt("num_outputs", outputs);
    if (count < 1 || count > outputs)
      return l.fail("num_outputs is " + Twine(count) + ", but it has " +
                    Twine(outputs) + " outputs");
    int64_t each = (size + count - 1) / count;
    for (int64_t i = 0; i < count; ++i)
      parts.push_back(std::max<int64_t>(std::min(each, size - i * each), 0));
  }
  int64_t sum = 0;
  for (int64_t part : parts)
    if (part < 0 || __builtin_add_overflow(sum, part, &sum))
      return l.fail("a size of its parts is invalid");
  if (sum != size || parts.size() != l.node.outputs.size())
    return l.fail("its " + Twine(outputs) + " outputs need the sizes of " +
                  Twine(outputs) + " parts that add up to " + Twine(size));
  SmallVector<int64_t> offsets(input.shape.size(), 0), steps(offsets.size(), 1),
      sizes(input.shape);
  for (auto [i, part] : llvm::enumerate(parts)) {
    sizes[axis] = part;
    FailureOr<Tensor> result = l.slice(input, offsets, sizes, steps);
    if (failed(result))
      return failure();
    l.setResult(i, *result);
    offsets[axis] += part;
  }
  return success();
}

static LogicalResult lowerSlice(Lowering &l) {
  const Tensor &input = l.getInput(0);
  SmallVector<int64_t> begins, ends, axes, strides;
  if (l.version < 10) {
    begins = l.getInts("starts");
    ends = l.getInts("ends");
    axes = l.getInts("axes");
  } else if (!l.hasInput(1) || !l.hasInput(2)) {
    return l.fail("starts or ends are missing");
  } else if (failed(l.getInts(1, "starts", begins)) ||
             failed(l.getInts(2, "ends", ends)) ||
             (l.hasInput(3) && failed(l.getInts(3, "axes", axes))) ||
             (l.hasInput(4) && failed(l.getInts(4, "steps", strides)))) {
    return failure();
  }
  if (axes.empty())
    llvm::append_range(
        axes, llvm::seq<int64_t>(0, static_cast<int64_t>(begins.size())));
  if (strides.empty())
    strides.assign(begins.size(), 1);
  if (begins.size() != ends.size() || begins.size() != axes.size() ||
      begins.size() != strides.size())
    return l.fail("starts, ends, axes and steps have different lengths");
  SmallVector<int64_t> offsets(input.shape.size(), 0), steps(offsets.size(), 1),
      sizes(input.shape);
  for (auto [begin, end, axis, step] :
       llvm::zip_equal(begins, ends, axes, strides)) {
    if (failed(l.normalizeAxis(axis, input.rank())))
      return failure();
    int64_t size = input.shape[axis];
    if (step == 0 || step == INT64_MIN)
      return l.fail("a step of " + Twine(step) + " is not possible");
    if (ShapedType::isDynamic(size)) {
      if (begin == 0 && end == INT64_MAX && step == 1)
        continue;
      return l.fail("dimension " + Twine(axis) + " must be static");
    }
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    begin =
        std::clamp(begin < 0 ? begin + size : begin, step > 0 ? 0 : low, high);
    // The smallest numbers stay out of range.
    end = std::clamp(end < 0 && end >= INT64_MIN + size ? end + size : end, low,
                     high);
    int64_t span = step > 0 ? end - begin : begin - end;
    int64_t stride = std::abs(step);
    sizes[axis] = span <= 0 ? 0 : (span - 1) / stride + 1;
    offsets[axis] = begin;
    steps[axis] = sizes[axis] <= 1 && size > 0 ? 1 : step;
    if (sizes[axis] == 0)
      offsets[axis] = 0;
  }
  return l.setResult(l.slice(input, offsets, sizes, steps));
}

static LogicalResult lowerGather(Lowering &l) {
  const Tensor &data = l.getInput(0), &indices = l.getInput(1);
  int64_t axis = l.getInt("axis", 0);
  if (failed(l.normalizeAxis(axis, data.rank())))
    return failure();
  Shape shape(data.shape.begin(), data.shape.begin() + axis);
  llvm::append_range(shape, indices.shape);
  shape.append(data.shape.begin() + axis + 1, data.shape.end());
  if (failed(l.checkShape(shape)))
    return failure();
  int64_t size = data.shape[axis];
  if (indices.constant && !ShapedType::isDynamic(size)) {
    const Constant &numbers = *indices.constant;
    SmallVector<int64_t> positions;
    for (int64_t i = 0, e = numbers.count(); i < e; ++i) {
      int64_t position = numbers.getInt(i);
      if (position < -size || position >= size)
        return l.fail("index " + Twine(position) +
                      " is out of range for a dimension of size " +
                      Twine(size));
      positions.push_back(position < 0 ? position + size : position);
    }
    if (data.constant && ShapedType::getNumElements(shape) <= 4096) {
      size_t own = indices.shape.size();
      l.setResult(0, l.permute(data, shape, [&](ArrayRef<int64_t> index) {
        int64_t at = 0, which = 0;
        for (int64_t d = 0; d < axis; ++d)
          at = at * data.shape[d] + index[d];
        for (size_t d = 0; d < own; ++d)
          which = which * indices.shape[d] + index[axis + d];
        at = at * size + positions[which];
        for (int64_t d = axis + 1; d < data.rank(); ++d)
          at = at * data.shape[d] + index[d - 1 + own];
        return at;
      }));
      return success();
    }
    if (!data.partial.empty() && data.rank() == 1 &&
        llvm::all_of(positions, [&](int64_t position) {
          return !ShapedType::isDynamic(data.partial[position]);
        })) {
      SmallVector<int64_t> sizes;
      for (int64_t position : positions)
        sizes.push_back(data.partial[position]);
      l.setResult(0, l.makeInts(sizes, shape, data.type));
      return success();
    }
    if (positions.size() == 1) {
      SmallVector<int64_t> offsets(data.shape.size(), 0),
          steps(offsets.size(), 1), sizes(data.shape);
      offsets[axis] = positions[0];
      sizes[axis] = 1;
      FailureOr<Tensor> slice = l.slice(data, offsets, sizes, steps);
      return failed(slice) ? failure() : l.setResult(l.reshape(*slice, shape));
    }
  }
  Tensor source = l.makeTensor(l.materialize(data), data.type);
  Tensor index = l.makeTensor(l.materialize(indices), indices.type);
  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0; d < axis; ++d)
    sizes.push_back(l.getSize(source, d));
  llvm::append_range(sizes, l.getSizes(index));
  for (int64_t d = axis + 1; d < data.rank(); ++d)
    sizes.push_back(l.getSize(source, d));
  Value init = l.makeEmpty(sizes, l.getElementType(data.type));
  auto rank = static_cast<unsigned>(shape.size());
  SmallVector<AffineExpr> exprs;
  for (int64_t d = 0; d < indices.rank(); ++d)
    exprs.push_back(l.b.getAffineDimExpr(static_cast<unsigned>(axis + d)));
  SmallVector<AffineMap> maps = {
      AffineMap::get(rank, 0, exprs, l.b.getContext()),
      l.b.getMultiDimIdentityMap(rank)};
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value length = tensor::DimOp::create(l.b, source.value, axis);
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), index.value, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, nested);
        SmallVector<Value> position;
        for (int64_t d = 0; d < data.rank(); ++d) {
          if (d == axis) {
            position.push_back(wrapIndex(inner, arguments[0], length));
            continue;
          }
          int64_t loop = d < axis ? d : d - 1 + indices.rank();
          position.push_back(linalg::IndexOp::create(inner, loop));
        }
        Value element =
            tensor::ExtractOp::create(inner, source.value, position);
        linalg::YieldOp::create(inner, element);
      });
  l.setResult(0, l.makeTensor(generic.getResult(0), data.type));
  return success();
}

static LogicalResult lowerPad(Lowering &l) {
  const Tensor &input = l.getInput(0);
  std::string mode = l.getString("mode", "constant");
  SmallVector<int64_t> pads, axes;
  Value value;
  if (l.version < 11) {
    pads = l.getInts("pads");
    value = l.makeScalar(input.type, l.getFloat("value", 0));
  } else {
    if (!l.hasInput(1))
      return l.fail("pads are missing");
    if (failed(l.getInts(1, "pads", pads)) ||
        (l.hasInput(3) && failed(l.getInts(3, "axes", axes))))
      return failure();
    if (!l.hasInput(2)) {
      value = l.makeScalar(input.type, 0);
    } else if (l.getInput(2).constant && l.getInput(2).count() >= 1) {
      value = arith::ConstantOp::create(
          l.b, l.getInput(2).constant->getAttr(0, l.b.getContext()));
    } else {
      return l.fail("the value must be constant");
    }
  }
  if (axes.empty())
    llvm::append_range(axes, llvm::seq<int64_t>(0, input.rank()));
  if (pads.size() != 2 * axes.size())
    return l.fail("it has " + Twine(pads.size()) +
                  " pads; expected two for "
                  "each of " +
                  Twine(axes.size()) + " dimensions");
  SmallVector<int64_t> low(input.shape.size(), 0), high(low);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (failed(l.normalizeAxis(axis, input.rank())))
      return failure();
    low[axis] = pads[i];
    high[axis] = pads[i + axes.size()];
    if (std::max(std::abs(low[axis]), std::abs(high[axis])) > int64_t(1) << 40)
      return l.fail("the padding of dimension " + Twine(axis) +
                    " is too large");
  }
  if (mode == "constant")
    return l.setResult(l.pad(input, low, high, value));
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    return l.fail("mode '" + mode + "' is not supported");
  // Dimension by dimension, from slices of its own.
  Tensor current = input;
  for (int64_t d = 0; d < input.rank(); ++d) {
    int64_t size = input.shape[d];
    if (low[d] == 0 && high[d] == 0)
      continue;
    if (ShapedType::isDynamic(size) || low[d] < 0 || high[d] < 0 || size == 0 ||
        (mode != "edge" &&
         std::max(low[d], high[d]) > size - (mode == "reflect")))
      return l.fail("mode '" + mode + "' cannot pad dimension " + Twine(d) +
                    " of size " + Twine(size) + " by " + Twine(low[d]) +
                    " and " + Twine(high[d]));
    SmallVector<int64_t> offsets(input.shape.size(), 0),
        steps(offsets.size(), 1), sizes(current.shape);
    SmallVector<Tensor> parts;
    auto addPart = [&](int64_t offset, int64_t count,
                       int64_t step) -> LogicalResult {
      if (count == 0)
        return success();
      offsets[d] = offset;
      sizes[d] = step ? count : 1;
      steps[d] = step ? step : 1;
      FailureOr<Tensor> part = l.slice(current, offsets, sizes, steps);
      if (succeeded(part) && !step) {
        sizes[d] = count;
        part = l.expand(*part, sizes);
      }
      if (failed(part))
        return failure();
      parts.push_back(*part);
      return success();
    };
    LogicalResult before = mode == "reflect" ? addPart(low[d], low[d], -1)
                           : mode == "edge" ? addPart(0, low[d], 0)
                                            : addPart(size - low[d], low[d], 1);
    parts.push_back(current);
    LogicalResult after = mode == "reflect" ? addPart(size - 2, high[d], -1)
                          : mode == "edge"  ? addPart(size - 1, high[d], 0)
                                            : addPart(0, high[d], 1);
    if (failed(before) || failed(after))
      return failure();
    FailureOr<Tensor> joined = l.concat(parts, d);
    if (failed(joined))
      return failure();
    current = *joined;
  }
  l.setResult(0, current);
  return success();
}

/// The constant shape that input `index` holds.
static FailureOr<SmallVector<int64_t>> getStaticShape(Lowering &l,
                                                      unsigned index) {
  SmallVector<int64_t> shape;
  if (failed(l.getInts(index, "the shape", shape)))
    return failure();
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return l.fail("its shape has a negative size");
  return shape;
}

static LogicalResult lowerExpand(Lowering &l) {
  FailureOr<SmallVector<int64_t>> wanted = getStaticShape(l, 1);
  if (failed(wanted))
    return failure();
  FailureOr<Shape> shape =
      l.broadcast({l.getInput(0).shape, Shape(wanted->begin(), wanted->end())});
  return failed(shape) ? failure()
                       : l.setResult(l.expand(l.getInput(0), *shape));
}

static LogicalResult lowerTile(Lowering &l) {
  const Tensor &input = l.getInput(0);
  SmallVector<int64_t> repeats;
  if (failed(l.getInts(1, "repeats", repeats)))
    return failure();
  if (static_cast<int64_t>(repeats.size()) != input.rank())
    return l.fail("it has " + Twine(repeats.size()) +
                  " repeats; expected one for each of " + Twine(input.rank()) +
                  " dimensions");
  if (!input.isStatic())
    return l.fail("dynamic dimensions are not supported");
  // Each dimension d becomes repeats[d] x d.
  Shape split, wide, result;
  for (auto [size, count] : llvm::zip_equal(input.shape, repeats)) {
    if (count < 0 || count > int64_t(1) << 40)
      return l.fail("a repeat of " + Twine(count) + " is not possible");
    split.append({1, size});
    wide.append({count, size});
    result.push_back(0);
    if (__builtin_mul_overflow(size, count, &result.back()))
      return l.fail("the result is too large");
  }
  if (failed(l.checkShape(wide)))
    return failure();
  FailureOr<Tensor> tensor = l.reshape(input, split);
  if (succeeded(tensor))
    tensor = l.expand(*tensor, wide);
  if (succeeded(tensor))
    tensor = l.reshape(*tensor, result);
  return l.setResult(tensor);
}

static LogicalResult lowerConstantOfShape(Lowering &l) {
  FailureOr<SmallVector<int64_t>> shape = getStaticShape(l, 0);
  if (failed(shape) || failed(l.checkShape(*shape)))
    return failure();
  const TensorData *value = l.getTensor("value");
  if (!value) {
    l.setResult(0, l.makeSplat(DataType::F32, *shape, 0));
    return success();
  }
  if (value->bytes.size() != getByteWidth(value->type))
    return l.fail("value must have one element");
  l.setResult(0, l.makeConstant(value->type, *shape, value->bytes.str(),
                                /*isSplat=*/true));
  return success();
}

static LogicalResult lowerRange(Lowering &l) {
  for (size_t i = 0; i < 3; ++i)
    if (!l.getInput(i).constant || l.getInput(i).count() != 1)
      return l.fail("start, limit and delta must be constant scalars");
  double begin = l.getInput(0).constant->getDouble(0),
         end = l.getInput(1).constant->getDouble(0),
         step = l.getInput(2).constant->getDouble(0);
  double count = std::ceil((end - begin) / step);
  if (step == 0 || !(count < 1 << 26))
    return l.fail("it has no finite number of elements, or too many");
  SmallVector<double> values;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    values.push_back(begin + static_cast<double>(i) * step);
  l.setResult(0, l.makeDoubles(values, static_cast<int64_t>(values.size()),
                               l.getInput(0).type));
  return success();
}

static LogicalResult lowerDepthToSpace(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t block = l.getInt("blocksize", 0);
  if (x.rank() != 4 || !x.isStatic() || block < 1 || block > 1 << 15 ||
      x.shape[1] % (block * block))
    return l.fail("expected a static tensor of 4 dimensions whose channels "
                  "are a multiple of blocksize^2");
  bool isColumns = l.getString("mode", "DCR") == "CRD";
  int64_t n = x.shape[0], c = x.shape[1] / (block * block), h = x.shape[2],
          w = x.shape[3];
  FailureOr<Tensor> t = isColumns ? l.reshape(x, {n, c, block, block, h, w})
                                  : l.reshape(x, {n, block, block, c, h, w});
  if (succeeded(t))
    t = isColumns ? l.transpose(*t, {0, 1, 4, 2, 5, 3})
                  : l.transpose(*t, {0, 3, 4, 1, 5, 2});
  if (succeeded(t))
    t = l.reshape(*t, {n, c, h * block, w * block});
  return l.setResult(t);
}

static LogicalResult lowerSpaceToDepth(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t block = l.getInt("blocksize", 0);
  if (x.rank() != 4 || !x.isStatic() || block < 1 || block > 1 << 15 ||
      x.shape[2] % block || x.shape[3] % block)
    return l.fail("expected a static tensor of 4 dimensions whose rows and "
                  "columns are multiples of blocksize");
  bool isColumns = l.getString("mode", "DCR") == "CRD";
  int64_t n = x.shape[0], c = x.shape[1], h = x.shape[2] / block,
          w = x.shape[3] / block;
  FailureOr<Tensor> t = l.reshape(x, {n, c, h, block, w, block});
  if (succeeded(t))
    t = isColumns ? l.transpose(*t, {0, 1, 3, 5, 2, 4})
                  : l.transpose(*t, {0, 3, 5, 1, 2, 4});
  if (succeeded(t))
    t = l.reshape(*t, {n, c * block * block, h, w});
  return l.setResult(t);
}

static LogicalResult lowerTrilu(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t k = 0;
  if (l.hasInput(1)) {
    SmallVector<int64_t> values;
    if (failed(l.getInts(1, "k", values)))
      return failure();
    k = values.empty() ? 0 : values[0];
  }
  bool isUpper = l.getInt("upper", 1) != 0;
  if (x.rank() < 2)
    return l.fail("its input must be a matrix");
  Tensor source = l.makeTensor(l.materialize(x), x.type);
  auto rank = static_cast<unsigned>(x.rank());
  Value init = l.makeEmpty(l.getSizes(source), l.getElementType(x.type));
  SmallVector<AffineMap> maps(2, l.b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Value zero = l.makeScalar(x.type, 0);
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), source.value, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value row = linalg::IndexOp::create(inner, rank - 2),
              column = linalg::IndexOp::create(inner, rank - 1);
        Value diagonal = arith::AddIOp::create(
            inner, row, arith::ConstantIndexOp::create(inner, k));
        Value keeps = arith::CmpIOp::create(inner,
                                            isUpper ? arith::CmpIPredicate::sge
                                                    : arith::CmpIPredicate::sle,
                                            column, diagonal);
        Value result =
            arith::SelectOp::create(inner, keeps, arguments[0], zero);
        linalg::YieldOp::create(inner, result);
      });
  l.setResult(0, l.makeTensor(generic.getResult(0), x.type));
  return success();
}

/// The slices whose condition is true.
static LogicalResult lowerCompress(Lowering &l) {
  SmallVector<int64_t> condition;
  if (failed(l.getInts(1, "the condition", condition)))
    return failure();
  const Tensor &x = l.getInput(0);
  FailureOr<Tensor> source = x;
  int64_t axis = l.getInt("axis", 0);
  if (!l.hasAttribute("axis")) {
    if (!x.isStatic())
      return l.fail("a dynamic input requires an axis");
    source = l.reshape(x, x.count());
  }
  if (failed(source) || failed(l.normalizeAxis(axis, source->rank())))
    return failure();
  SmallVector<int64_t> chosen;
  for (auto [i, isChosen] : llvm::enumerate(condition))
    if (isChosen)
      chosen.push_back(static_cast<int64_t>(i));
  NodeAttribute attribute;
  attribute.name = "axis";
  attribute.kind = NodeAttribute::Kind::Int;
  attribute.integer = axis;
  return l.setResult(
      l.call("Gather",
             {*source, l.makeInts(chosen, static_cast<int64_t>(chosen.size()))},
             {attribute}));
}

/// A tensor always exists; an input that the node does not name never does.
static LogicalResult lowerOptionalHasElement(Lowering &l) {
  l.setResult(0, l.makeSplat(DataType::Bool, {}, l.hasInput(0) ? 1 : 0));
  return success();
}

ArrayRef<Operator> mlir::tessera::onnx::getMovementOperators() {
  static const Operator operators[] = {
      {"Compress", 9, 2, 2, lowerCompress, "the condition must be constant"},
      {"Concat", 4, 1, anyNumber, lowerConcat},
      {"Constant", 1, 0, 0, lowerConstant, "dense tensors and numbers only"},
      {"ConstantOfShape", 9, 1, 1, lowerConstantOfShape,
       "the shape must be constant"},
      {"DepthToSpace", 1, 1, 1, lowerDepthToSpace, "static shapes only"},
      {"Dropout", 7, 1, 3, lowerDropout, "inference only"},
      {"Expand", 8, 2, 2, lowerExpand, "the shape must be constant"},
      {"Flatten", 1, 1, 1, lowerFlatten},
      {"Gather", 1, 2, 2, lowerGather},
      {"Identity", 1, 1, 1, lowerIdentity},
      {"OptionalGetElement", 15, 1, 1, lowerIdentity, "tensors only"},
      {"OptionalHasElement", 15, 0, 1, lowerOptionalHasElement, "tensors only"},
      {"Pad", 2, 1, 4, lowerPad, "the pads and the value must be constant"},
      {"Range", 11, 3, 3, lowerRange, "the operands must be constant"},
      {"Reshape", 5, 2, 2, lowerReshape,
       "the shape must be constant; one dynamic dimension"},
      {"Shape", 1, 1, 1, lowerShape},
      {"Size", 1, 1, 1, lowerSize, "static shapes only"},
      {"Slice", 1, 1, 5, lowerSlice,
       "the bounds must be constant, the sliced dimensions static"},
      {"SpaceToDepth", 1, 1, 1, lowerSpaceToDepth, "static shapes only"},
      {"Split", 2, 1, 2, lowerSplit, "the sizes must be constant"},
      {"Squeeze", 1, 1, 2, lowerSqueeze, "the axes must be constant"},
      {"Tile", 6, 2, 2, lowerTile,
       "the repeats must be constant; static shapes only"},
      {"Transpose", 1, 1, 1, lowerTranspose},
      {"Trilu", 14, 1, 2, lowerTrilu, "k must be constant"},
      {"Unsqueeze", 1, 1, 2, lowerUnsqueeze, "the axes must be constant"},
  };
  return operators;
}
