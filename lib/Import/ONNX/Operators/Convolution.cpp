//===- Convolution.cpp - Operators of sliding windows ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

namespace {
/// How a window slides over the spatial dimensions.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations, low, high, results;
};
} // namespace

/// The list of an attribute, or `count` ones.
static LogicalResult getFactors(Lowering &l, StringRef name, size_t count,
                                SmallVector<int64_t> &values) {
  values = l.getInts(name);
  if (values.empty())
    values.assign(count, 1);
  if (values.size() != count)
    return l.fail(name + " has " + Twine(values.size()) +
                  " elements; expected one for each of " + Twine(count) +
                  " spatial dimensions");
  for (int64_t value : values)
    if (value < 1 || value > 1 << 30)
      return l.fail(name + " has the element " + Twine(value));
  return success();
}

/// Reads the attributes of a window, whose kernel is set.
static LogicalResult getWindow(Lowering &l, ArrayRef<int64_t> sizes,
                               Window &window) {
  size_t count = sizes.size();
  if (failed(getFactors(l, "strides", count, window.strides)) ||
      failed(getFactors(l, "dilations", count, window.dilations)))
    return failure();
  std::string automatic = l.getString("auto_pad", "NOTSET");
  bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  bool isValid = automatic == "VALID";
  if (!isSame && !isValid && automatic != "NOTSET")
    return l.fail("auto_pad='" + automatic + "' is unknown");
  SmallVector<int64_t> pads = l.getInts("pads");
  if (pads.empty() || isValid)
    pads.assign(2 * count, 0);
  if (pads.size() != 2 * count)
    return l.fail("pads has " + Twine(pads.size()) + " elements; expected " +
                  Twine(2 * count));
  bool roundsUp = l.getInt("ceil_mode", 0) != 0;
  for (size_t d = 0; d < count; ++d) {
    int64_t size = sizes[d], stride = window.strides[d], low = pads[d],
            high = pads[d + count];
    if (ShapedType::isDynamic(size))
      return l.fail("spatial dimension " + Twine(d) + " must be static");
    if (window.kernel[d] < 1 || window.kernel[d] > 1 << 30)
      return l.fail("the kernel has the size " + Twine(window.kernel[d]));
    if (low < 0 || high < 0 || low > 1 << 30 || high > 1 << 30)
      return l.fail("pads of " + Twine(low) + " and " + Twine(high) +
                    " are not supported");
    int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t result;
    if (isSame) {
      result = (size + stride - 1) / stride;
      int64_t all = std::max<int64_t>((result - 1) * stride + extent - size, 0);
      low = automatic == "SAME_LOWER" ? (all + 1) / 2 : all / 2;
      high = all - low;
    } else {
      int64_t room = size + low + high - extent;
      if (room < 0)
        return l.fail("the window of " + Twine(extent) +
                      " elements exceeds dimension " + Twine(d) +
                      " with its padding, of " + Twine(size + low + high));
      result = room / stride + 1;
      if (roundsUp && room % stride) {
        // A window must not begin in the padding at the end.
        if (result * stride < size + low)
          ++result;
      }
    }
    window.low.push_back(low);
    window.high.push_back(high);
    window.results.push_back(result);
  }
  return success();
}

/// Pads so that each window is inside.
static FailureOr<Tensor> padWindow(Lowering &l, const Tensor &input,
                                   const Window &window, Value value) {
  SmallVector<int64_t> low(2, 0), high(2, 0);
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t end = (window.results[d] - 1) * window.strides[d] + extent;
    low.push_back(window.low[d]);
    high.push_back(
        std::max<int64_t>(end - input.shape[d + 2] - window.low[d], 0));
  }
  return l.pad(input, low, high, value);
}

/// Gives a window of one dimension a first one of size 1.
static void addDimension(Window &window) {
  for (SmallVector<int64_t> *list :
       {&window.kernel, &window.strides, &window.dilations, &window.results})
    list->insert(list->begin(), 1);
  window.low.insert(window.low.begin(), 0);
  window.high.insert(window.high.begin(), 0);
}

static FailureOr<Tensor> insertDimension(Lowering &l, const Tensor &tensor) {
  Shape shape = tensor.shape;
  shape.insert(shape.begin() + 2, 1);
  return l.reshape(tensor, shape);
}

/// Gives a convolution of one dimension a second one.
static LogicalResult makeTwoDimensional(Lowering &l, Tensor &input,
                                        Tensor &filter, Window &window) {
  addDimension(window);
  FailureOr<Tensor> wideInput = insertDimension(l, input);
  FailureOr<Tensor> wideFilter = insertDimension(l, filter);
  if (failed(wideInput) || failed(wideFilter))
    return failure();
  input = *wideInput;
  filter = *wideFilter;
  return success();
}

//===----------------------------------------------------------------------===//
// Conv
//===----------------------------------------------------------------------===//

/// Folds a BatchNormalization of constants that follows into the filter and
/// the bias.
static void absorbNormalization(Lowering &l, Tensor &filter,
                                std::optional<Tensor> &bias) {
  const Node *norm = l.getOnlyUser("BatchNormalization");
  if (!norm || !filter.constant || (bias && !bias->constant) ||
      norm->outputs.size() != 1)
    return;
  double epsilon = 1e-5f;
  for (const NodeAttribute &attribute : norm->attributes) {
    if (attribute.name == "epsilon")
      epsilon = attribute.number;
    if (attribute.name == "training_mode" && attribute.integer)
      return;
  }
  const Constant *parts[4];
  for (size_t i = 0; i < 4; ++i) {
    parts[i] = l.getConstantInput(*norm, i + 1);
    if (!parts[i] || parts[i]->count() != filter.shape[0])
      return;
  }
  SmallVector<double> factors, offsets;
  for (int64_t i = 0; i < filter.shape[0]; ++i) {
    double factor =
        parts[0]->getDouble(i) / std::sqrt(parts[3]->getDouble(i) + epsilon);
    double own = bias ? bias->constant->getDouble(i) : 0;
    factors.push_back(factor);
    offsets.push_back((own - parts[2]->getDouble(i)) * factor +
                      parts[1]->getDouble(i));
  }
  filter = l.scaleRows(filter, factors);
  bias = l.makeDoubles(offsets, filter.shape[0], filter.type);
  l.absorb(*norm);
}

/// The convolution of uint8 and int8, in int32. No named op multiplies these.
static Value convolveUnsigned(Lowering &l, ValueRange inputs, Value init,
                              const Window &window) {
  enum Loop : unsigned { N, F, Y, X, C, KY, KX, Count };
  MLIRContext *context = l.b.getContext();
  auto at = [&](unsigned loop) { return getAffineDimExpr(loop, context); };
  auto along = [&](size_t d, Loop result, Loop kernel) {
    return at(result) * window.strides[d] + at(kernel) * window.dilations[d];
  };
  auto map = [&](ArrayRef<AffineExpr> exprs) {
    return AffineMap::get(Count, 0, exprs, context);
  };
  SmallVector<utils::IteratorType> iterators(Count,
                                             utils::IteratorType::parallel);
  for (Loop loop : {C, KY, KX})
    iterators[loop] = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             l.b, init.getType(), inputs, init,
             ArrayRef<AffineMap>{
                 map({at(N), at(C), along(0, Y, KY), along(1, X, KX)}),
                 map({at(F), at(C), at(KY), at(KX)}),
                 map({at(N), at(F), at(Y), at(X)})},
             iterators,
             [](OpBuilder &nested, Location loc, ValueRange v) {
               ImplicitLocOpBuilder b(loc, nested);
               Type sum = v[2].getType();
               Value product = arith::MulIOp::create(
                   b, arith::ExtUIOp::create(b, sum, v[0]),
                   arith::ExtSIOp::create(b, sum, v[1]));
               linalg::YieldOp::create(
                   b, ValueRange{arith::AddIOp::create(b, v[2], product)});
             })
      .getResult(0);
}

/// The convolution without bias, in the accumulator's type.
static FailureOr<Tensor> convolve(Lowering &l, const Tensor &input,
                                  const Tensor &filter, int64_t groups,
                                  const Window &window, DataType sumType) {
  int64_t channels = filter.shape[0], each = filter.shape[1];
  SmallVector<OpFoldResult> sizes = {l.getSize(input, 0)};
  auto addResults = [&] {
    for (int64_t size : window.results)
      sizes.push_back(l.b.getIndexAttr(size));
  };
  Value zero = l.makeScalar(sumType, 0);
  auto strides = l.b.getI64TensorAttr(window.strides);
  auto dilations = l.b.getI64TensorAttr(window.dilations);
  if (groups == 1) {
    sizes.push_back(l.b.getIndexAttr(channels));
    addResults();
    Value init = l.makeFilled(sizes, zero);
    SmallVector<Value> inputs = {l.materialize(input), l.materialize(filter)};
    if (input.type == DataType::U8 && sumType == DataType::I32)
      return l.makeTensor(convolveUnsigned(l, inputs, init, window), sumType);
    Operation *op;
    if (window.kernel.size() == 2)
      op = linalg::Conv2DNchwFchwOp::create(l.b, init.getType(), inputs, init,
                                            strides, dilations);
    else
      op = linalg::Conv3DNcdhwFcdhwOp::create(l.b, init.getType(), inputs, init,
                                              strides, dilations);
    return l.makeTensor(op->getResult(0), sumType);
  }
  if (window.kernel.size() != 2)
    return l.fail("groups in three spatial dimensions are not supported");
  if (each == 1 && groups == channels) {
    Shape shape = filter.shape;
    shape.erase(shape.begin() + 1);
    FailureOr<Tensor> flat = l.reshape(filter, shape);
    if (failed(flat))
      return failure();
    sizes.push_back(l.b.getIndexAttr(channels));
    addResults();
    Value init = l.makeFilled(sizes, zero);
    Operation *op = linalg::DepthwiseConv2DNchwChwOp::create(
        l.b, init.getType(),
        ValueRange{l.materialize(input), l.materialize(*flat)}, init, strides,
        dilations);
    return l.makeTensor(op->getResult(0), sumType);
  }
  Shape inputShape = input.shape, filterShape = filter.shape;
  inputShape[1] = each;
  inputShape.insert(inputShape.begin() + 1, groups);
  filterShape[0] = channels / groups;
  filterShape.insert(filterShape.begin(), groups);
  FailureOr<Tensor> grouped = l.reshape(input, inputShape);
  FailureOr<Tensor> filters = l.reshape(filter, filterShape);
  if (failed(grouped) || failed(filters))
    return failure();
  sizes.push_back(l.b.getIndexAttr(groups));
  sizes.push_back(l.b.getIndexAttr(channels / groups));
  addResults();
  Value init = l.makeFilled(sizes, zero);
  Operation *op = linalg::Conv2DNgchwGfchwOp::create(
      l.b, init.getType(),
      ValueRange{l.materialize(*grouped), l.materialize(*filters)}, init,
      strides, dilations);
  Shape result = {input.shape[0], channels};
  llvm::append_range(result, window.results);
  return l.reshape(l.makeTensor(op->getResult(0), sumType), result);
}

/// The convolution of bytes minus their zero points, in int32.
///
/// Padding is zero, that is, the zero point. Where the zero point is not 0:
///
/// - A known one pads the input, so that each window is whole, and its
///   contribution is that of the sum of each filter.
/// - Else, and where channels are grouped, the input is padded with 0, and the
///   zero point is subtracted times the sums of the parts of a filter that are
///   inside: one for each position and channel. No matrix unit computes these
///   convolutions, whose tiles such operands would break into images. Depthwise
///   convolutions have a border of any value without padding.
static FailureOr<Tensor> convolveBytes(Lowering &l, const ByteOperand &x,
                                       const ByteOperand &w) {
  Tensor input = x.bytes, filter = w.bytes;
  int64_t spatial = input.rank() - 2, groups = l.getInt("group", 1);
  if (spatial < 1 || spatial > 2 || filter.rank() != input.rank() ||
      !filter.isStatic() || ShapedType::isDynamic(input.shape[1]) ||
      groups < 1 || filter.shape[0] % groups || input.shape[1] % groups ||
      filter.shape[1] != input.shape[1] / groups)
    return l.fail("the filter does not fit the input, or they have more than "
                  "two spatial dimensions");
  int64_t channels = filter.shape[0], each = filter.shape[1];
  if ((x.zero && x.zero->count() != 1) ||
      (w.zero && w.zero->count() != 1 && w.zero->count() != channels))
    return l.fail("expected one zero point of the input, and one of the filter "
                  "or of each of its " +
                  Twine(channels) + " channels");
  Window window;
  window.kernel.assign(filter.shape.begin() + 2, filter.shape.end());
  if (failed(getWindow(l, ArrayRef(input.shape).drop_front(2), window)))
    return failure();
  Shape shape = {input.shape[0], channels};
  llvm::append_range(shape, window.results);
  if (spatial == 1 && failed(makeTwoDimensional(l, input, filter, window)))
    return failure();
  bool isDepthwise = each == 1 && groups == channels;
  bool padsKnown = x.zero && x.zero->constant && (groups == 1 || isDepthwise);
  double padding =
      padsKnown ? static_cast<double>(x.zero->constant->getInt(0)) : 0;
  if (padsKnown && (padding < -128 || padding > 127))
    return l.fail("the zero point of the input is not of its type");
  FailureOr<Tensor> padded =
      padWindow(l, {input.type, input.shape, nullptr, l.materialize(input)},
                window, l.makeScalar(input.type, padding));
  if (failed(padded))
    return failure();
  FailureOr<Tensor> sum =
      convolve(l, *padded, filter, groups, window, DataType::I32);
  if (succeeded(sum) && w.zero) {
    FailureOr<Tensor> zero = l.reshape(
        *w.zero, w.zero->count() == 1 ? Shape() : Shape{channels, 1, 1});
    // The sums of the windows of each group.
    Tensor ones = l.makeSplat(
        DataType::I8,
        {groups == 1 ? 1 : channels, each, window.kernel[0], window.kernel[1]},
        1);
    FailureOr<Tensor> sums =
        convolve(l, *padded, ones, groups, window, DataType::I32);
    if (failed(zero) || failed(sums))
      return failure();
    sum = subtractProduct(l, *sum, *zero, *sums);
  }
  if (succeeded(sum) && x.zero) {
    FailureOr<Tensor> zero = l.reshape(*x.zero, {});
    bool isWhole = padded->shape == input.shape || padsKnown;
    SmallVector<int64_t> axes = {1};
    int64_t count = each, windowSize = window.kernel[0] * window.kernel[1];
    if (isWhole) {
      axes.append({2, 3});
      count *= windowSize;
    }
    FailureOr<Tensor> sums = sumBytes(l, filter, axes);
    if (succeeded(sums) && w.zero) {
      FailureOr<Tensor> own = l.reshape(
          *w.zero, w.zero->count() == 1 ? Shape() : Shape{channels, 1, 1, 1});
      if (failed(own))
        return failure();
      sums = subtractProduct(l, *sums, *own,
                             l.makeInts(count, Shape(), DataType::I32));
    }
    if (failed(zero) || failed(sums))
      return failure();
    if (isWhole) {
      sums = l.reshape(*sums, {channels, 1, 1});
    } else {
      Shape image = input.shape;
      image[0] = image[1] = 1;
      Tensor ones = l.makeSplat(DataType::I32, image, 1);
      FailureOr<Tensor> inside =
          padWindow(l, {ones.type, image, nullptr, l.materialize(ones)}, window,
                    l.makeScalar(DataType::I32, 0));
      if (failed(inside))
        return failure();
      sums = convolve(l, *inside, *sums, 1, window, DataType::I32);
    }
    if (failed(sums))
      return failure();
    // No sum of at most so many terms, each of two bytes, wraps.
    constexpr int64_t mostTerms = 1 << 16;
    sum =
        subtractProduct(l, *sum, *zero, *sums, each * windowSize <= mostTerms);
  }
  if (failed(sum))
    return failure();
  return l.reshape(*sum, shape);
}

/// Whether the node's convolution has a form for uint8.
static bool mayBeUnsigned(Lowering &l) {
  return l.getInt("group", 1) == 1 && l.getInput(0).rank() == 4;
}

static FailureOr<Tensor> convolveInputs(Lowering &l, size_t filterInput,
                                        size_t inputZero, size_t filterZero) {
  auto getZero = [&](size_t i) {
    return l.hasInput(i) ? &l.getInput(i) : nullptr;
  };
  FailureOr<ByteOperand> x =
      makeByteOperand(l, l.getInput(0), getZero(inputZero), mayBeUnsigned(l));
  FailureOr<ByteOperand> w =
      makeByteOperand(l, l.getInput(filterInput), getZero(filterZero));
  if (failed(x) || failed(w))
    return failure();
  return convolveBytes(l, *x, *w);
}

/// Whether input and filter are dequantized bytes that convolveBytes supports.
static bool areBytes(const Tensor &input, const Tensor &filter) {
  if (!input.quantized || !filter.quantized || input.rank() > 4)
    return false;
  auto isOne = [](const Quantized &x) {
    return x.scale.count() == 1 && (!x.zero || x.zero->count() == 1);
  };
  return isOne(*input.quantized) &&
         (isOne(*filter.quantized) || filter.quantized->axis == 0);
}

/// Conv of dequantized bytes as one of the bytes.
static LogicalResult lowerByteConv(Lowering &l) {
  const Quantized &input = *l.getInput(0).quantized,
                  &filter = *l.getInput(1).quantized;
  FailureOr<ByteOperand> x = makeByteOperand(l, input, mayBeUnsigned(l));
  FailureOr<ByteOperand> w = makeByteOperand(l, filter);
  if (failed(x) || failed(w))
    return failure();
  FailureOr<Tensor> sum = convolveBytes(l, *x, *w);
  if (failed(sum))
    return failure();
  Shape column(sum->shape.size() - 1, 1);
  column[0] = sum->shape[1];
  FailureOr<Tensor> scale = filter.scale;
  if (filter.scale.count() != 1)
    scale = l.reshape(filter.scale, column);
  std::optional<Tensor> offset;
  if (l.hasInput(2)) {
    FailureOr<Tensor> bias = l.reshape(l.getInput(2), column);
    if (failed(bias))
      return failure();
    offset = *bias;
  }
  if (failed(scale))
    return failure();
  FailureOr<Tensor> inputScale = l.reshape(input.scale, {});
  if (failed(inputScale))
    return failure();
  return l.setResult(dequantizeSum(l, *sum, *inputScale, *scale, 1, offset, 1,
                                   l.getInput(0).type));
}

static LogicalResult lowerConvInteger(Lowering &l) {
  return l.setResult(convolveInputs(l, 1, 2, 3));
}

static LogicalResult lowerQLinearConv(Lowering &l) {
  FailureOr<Tensor> sum = convolveInputs(l, 3, 2, 5);
  if (succeeded(sum) && l.hasInput(8)) {
    Shape column(sum->shape.size() - 1, 1);
    column[0] = sum->shape[1];
    if (l.getInput(8).count() != column[0])
      return l.fail("the bias must have " + Twine(column[0]) + " elements");
    FailureOr<Tensor> bias = l.reshape(l.getInput(8), column);
    if (failed(bias))
      return failure();
    sum = l.elementwise({*sum, *bias}, DataType::I32,
                        [](ScalarBuilder &b, ValueRange v) {
                          return Value(arith::AddIOp::create(b, v[0], v[1]));
                        });
  }
  return failed(sum) ? failure()
                     : l.setResult(requantize(l, *sum, 1, 4, 6, 7, 1));
}

static LogicalResult lowerConv(Lowering &l) {
  Tensor input = l.getInput(0), filter = l.getInput(1);
  std::optional<Tensor> bias;
  if (l.hasInput(2))
    bias = l.getInput(2);
  DataType type = input.type;
  int64_t spatial = input.rank() - 2;
  if (!isFloat(type) || filter.type != type)
    return l.fail("inputs of " + getName(type) + " and " +
                  getName(filter.type) + " are not supported");
  if (spatial < 1 || spatial > 3 || filter.rank() != input.rank())
    return l.fail("tensors of " + Twine(input.rank()) + " and " +
                  Twine(filter.rank()) +
                  " dimensions are not supported; expected one to three "
                  "spatial dimensions");
  int64_t groups = l.getInt("group", 1);
  if (!filter.isStatic() || ShapedType::isDynamic(input.shape[1]))
    return l.fail("channels and filters must be static");
  if (groups < 1 || filter.shape[0] % groups || input.shape[1] % groups ||
      filter.shape[1] != input.shape[1] / groups)
    return l.fail("a filter of " + Twine(filter.shape[0]) + " x " +
                  Twine(filter.shape[1]) + " channels in " + Twine(groups) +
                  " groups does not fit an input of " + Twine(input.shape[1]) +
                  " channels");
  if (bias && (bias->rank() != 1 || bias->shape[0] != filter.shape[0]))
    return l.fail("the bias must have " + Twine(filter.shape[0]) + " elements");
  Window window;
  window.kernel.assign(filter.shape.begin() + 2, filter.shape.end());
  SmallVector<int64_t> declared = l.getInts("kernel_shape");
  if (!declared.empty() && declared != window.kernel)
    return l.fail("kernel_shape differs from the filter's shape");
  if (areBytes(input, filter))
    return lowerByteConv(l);
  if (failed(getWindow(l, ArrayRef(input.shape).drop_front(2), window)))
    return failure();
  absorbNormalization(l, filter, bias);
  Shape shape = {input.shape[0], filter.shape[0]};
  llvm::append_range(shape, window.results);
  if (failed(l.checkShape(shape)))
    return failure();
  if (spatial == 1 && failed(makeTwoDimensional(l, input, filter, window)))
    return failure();
  FailureOr<Tensor> padded =
      padWindow(l, {type, input.shape, nullptr, l.materialize(input)}, window,
                l.makeScalar(type, 0));
  if (failed(padded))
    return failure();
  DataType sumType = Lowering::getSumType(type);
  FailureOr<Tensor> result =
      convolve(l, *padded, filter, groups, window, sumType);
  if (failed(result))
    return failure();
  Type element = l.getElementType(type), sum = l.getElementType(sumType);
  if (bias) {
    Shape column(result->shape.size() - 1, 1);
    column[0] = filter.shape[0];
    FailureOr<Tensor> offsets = l.reshape(*bias, column);
    if (failed(offsets))
      return failure();
    result = l.elementwise(
        {*result, *offsets}, type, [=](ScalarBuilder &b, ValueRange v) {
          Value offset = v[1];
          if (sumType != type)
            offset = arith::ExtFOp::create(b, sum, offset);
          Value all = arith::AddFOp::create(b, v[0], offset);
          return sumType == type
                     ? all
                     : Value(arith::TruncFOp::create(b, element, all));
        });
  } else {
    result = l.convert(*result, type);
  }
  if (succeeded(result) && spatial == 1)
    result = l.reshape(*result, shape);
  return l.setResult(result);
}

/// The padding of ConvTranspose, as what is cut off the whole result.
static LogicalResult getTransposedWindow(Lowering &l, const Tensor &input,
                                         Window &window,
                                         SmallVector<int64_t> &strides) {
  size_t count = window.kernel.size();
  SmallVector<int64_t> pads = l.getInts("pads"),
                       added = l.getInts("output_padding"),
                       wanted = l.getInts("output_shape");
  std::string automatic = l.getString("auto_pad", "NOTSET");
  if (failed(getFactors(l, "strides", count, strides)) ||
      failed(getFactors(l, "dilations", count, window.dilations)))
    return failure();
  bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (pads.empty() || isSame || automatic == "VALID")
    pads.assign(2 * count, 0);
  if (added.empty())
    added.assign(count, 0);
  if (wanted.size() > count)
    wanted.erase(wanted.begin(), wanted.end() - static_cast<int64_t>(count));
  if (pads.size() != 2 * count || added.size() != count ||
      (!wanted.empty() && wanted.size() != count))
    return l.fail(
        "expected pads, output_padding and output_shape for each of " +
        Twine(count) + " spatial dimensions");
  for (size_t d = 0; d < count; ++d) {
    int64_t size = input.shape[d + 2];
    if (ShapedType::isDynamic(size))
      return l.fail("spatial dimension " + Twine(d) + " must be static");
    int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    int64_t whole = (size - 1) * strides[d] + extent + added[d];
    int64_t low = pads[d], high = pads[d + count];
    if (isSame && wanted.empty())
      low = whole - size * strides[d];
    else if (!wanted.empty())
      low = whole - wanted[d];
    if (isSame || !wanted.empty()) {
      int64_t all = std::max<int64_t>(low, 0);
      low = automatic == "SAME_UPPER" ? all / 2 : all - all / 2;
      high = all - low;
      if (!wanted.empty())
        added[d] += wanted[d] - (whole - all);
    }
    if (std::abs(low) > 1 << 30 || std::abs(high) > 1 << 30 || added[d] < 0 ||
        added[d] > 1 << 30)
      return l.fail("its padding is not possible");
    int64_t result = (size - 1) * strides[d] + extent + added[d] - low - high;
    if (result < 1)
      return l.fail("its padding leaves nothing of spatial dimension " +
                    Twine(d));
    window.low.push_back(extent - 1 - low);
    window.high.push_back(extent - 1 - high + added[d]);
    window.results.push_back(result);
  }
  window.strides.assign(count, 1);
  return success();
}

/// A convolution of the input with zeros between its elements, and of the
/// filter reversed.
static LogicalResult lowerConvTranspose(Lowering &l) {
  Tensor input = l.getInput(0), filter = l.getInput(1);
  DataType type = input.type, sumType = Lowering::getSumType(type);
  int64_t spatial = input.rank() - 2, groups = l.getInt("group", 1);
  if (!isFloat(type) || filter.type != type)
    return l.fail("inputs of " + getName(type) + " and " +
                  getName(filter.type) + " are not supported");
  if (spatial < 1 || spatial > 3 || filter.rank() != input.rank() ||
      !filter.isStatic() || input.shape[1] != filter.shape[0] || groups < 1 ||
      filter.shape[0] % groups)
    return l.fail("the filter does not fit the input, or they do not have one "
                  "to three spatial dimensions");
  Window window;
  SmallVector<int64_t> strides;
  window.kernel.assign(filter.shape.begin() + 2, filter.shape.end());
  if (failed(getTransposedWindow(l, input, window, strides)))
    return failure();
  int64_t outputs = filter.shape[1] * groups;
  // C x M/g x K becomes M x C/g x K, reversed.
  SmallVector<int64_t> offsets(filter.shape.size(), 0),
      steps(offsets.size(), 1);
  for (int64_t d = 2; d < filter.rank(); ++d) {
    offsets[d] = filter.shape[d] - 1;
    steps[d] = filter.shape[d] > 1 ? -1 : 1;
  }
  FailureOr<Tensor> turned = l.slice(filter, offsets, filter.shape, steps);
  Shape split = filter.shape;
  split[0] /= groups;
  split.insert(split.begin(), groups);
  SmallVector<int64_t> order = {0, 2, 1};
  for (int64_t d = 0; d < spatial; ++d)
    order.push_back(3 + d);
  Shape final = filter.shape;
  final[0] = outputs;
  final[1] = split[1];
  if (succeeded(turned))
    turned = l.reshape(*turned, split);
  if (succeeded(turned))
    turned = l.transpose(*turned, order);
  if (succeeded(turned))
    turned = l.reshape(*turned, final);
  if (failed(turned))
    return failure();
  // Each element, followed by zeros.
  FailureOr<Tensor> spread =
      Tensor{type, input.shape, nullptr, l.materialize(input)};
  if (llvm::any_of(strides, [](int64_t stride) { return stride != 1; })) {
    Shape apart = {input.shape[0], input.shape[1]}, joined = apart, cut = apart;
    SmallVector<int64_t> low(2, 0), high(2, 0);
    for (int64_t d = 0; d < spatial; ++d) {
      int64_t size = input.shape[d + 2];
      apart.append({size, 1});
      low.append({0, 0});
      high.append({0, strides[d] - 1});
      joined.push_back(size * strides[d]);
      cut.push_back((size - 1) * strides[d] + 1);
    }
    spread = l.reshape(*spread, apart);
    if (succeeded(spread))
      spread = l.pad(*spread, low, high, l.makeScalar(type, 0));
    if (succeeded(spread))
      spread = l.reshape(*spread, joined);
    SmallVector<int64_t> zeros(cut.size(), 0), ones(cut.size(), 1);
    if (succeeded(spread))
      spread = l.slice(*spread, zeros, cut, ones);
    if (failed(spread))
      return failure();
  }
  input = *spread;
  filter = *turned;
  Shape shape = {input.shape[0], outputs};
  llvm::append_range(shape, window.results);
  if (spatial == 1 && failed(makeTwoDimensional(l, input, filter, window)))
    return failure();
  FailureOr<Tensor> result = padWindow(l, input, window, l.makeScalar(type, 0));
  if (succeeded(result))
    result = convolve(l, *result, filter, groups, window, sumType);
  if (succeeded(result))
    result = l.reshape(*result, shape);
  if (succeeded(result) && l.hasInput(2)) {
    Shape column(shape.size() - 1, 1);
    column[0] = outputs;
    if (l.getInput(2).count() != outputs)
      return l.fail("the bias must have " + Twine(outputs) + " elements");
    FailureOr<Tensor> bias = l.reshape(l.getInput(2), column);
    if (succeeded(bias))
      bias = l.convert(*bias, sumType);
    if (failed(bias))
      return failure();
    result = l.elementwise({*result, *bias}, sumType,
                           [](ScalarBuilder &b, ValueRange v) {
                             return Value(arith::AddFOp::create(b, v[0], v[1]));
                           });
  }
  return failed(result) ? failure() : l.setResult(l.convert(*result, type));
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// Reduces each window; `isSum` or the maximum.
static FailureOr<Tensor> pool(Lowering &l, const Tensor &input,
                              const Window &window, bool isSum,
                              DataType sumType, double start) {
  SmallVector<OpFoldResult> sizes = {l.getSize(input, 0), l.getSize(input, 1)};
  for (int64_t size : window.results)
    sizes.push_back(l.b.getIndexAttr(size));
  Value init = l.makeFilled(sizes, l.makeScalar(sumType, start));
  Value shape =
      tensor::EmptyOp::create(l.b, window.kernel, l.getElementType(sumType));
  SmallVector<Value> inputs = {input.value, shape};
  auto strides = l.b.getI64TensorAttr(window.strides);
  auto dilations = l.b.getI64TensorAttr(window.dilations);
  if (window.kernel.size() == 2 && (isSum || isFloat(input.type))) {
    Operation *op;
    if (isSum)
      op = linalg::PoolingNchwSumOp::create(l.b, init.getType(), inputs, init,
                                            strides, dilations);
    else
      op = linalg::PoolingNchwMaxOp::create(l.b, init.getType(), inputs, init,
                                            strides, dilations);
    return l.makeTensor(op->getResult(0), sumType);
  }
  auto count = static_cast<unsigned>(window.kernel.size());
  unsigned loops = 2 + 2 * count;
  SmallVector<AffineExpr> from, kernel, to;
  for (unsigned d = 0; d < 2; ++d) {
    from.push_back(l.b.getAffineDimExpr(d));
    to.push_back(l.b.getAffineDimExpr(d));
  }
  SmallVector<utils::IteratorType> iterators(loops,
                                             utils::IteratorType::parallel);
  for (unsigned d = 0; d < count; ++d) {
    AffineExpr result = l.b.getAffineDimExpr(2 + d),
               offset = l.b.getAffineDimExpr(2 + count + d);
    from.push_back(result * window.strides[d] + offset * window.dilations[d]);
    kernel.push_back(offset);
    to.push_back(result);
    iterators[2 + count + d] = utils::IteratorType::reduction;
  }
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> exprs :
       {ArrayRef<AffineExpr>(from), ArrayRef<AffineExpr>(kernel),
        ArrayRef<AffineExpr>(to)})
    maps.push_back(AffineMap::get(loops, 0, exprs, l.b.getContext()));
  Type sum = l.getElementType(sumType);
  auto generic = linalg::GenericOp::create(
      l.b, init.getType(), inputs, init, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ImplicitLocOpBuilder b(loc, nested);
        Value x = v[0];
        if (x.getType() != sum)
          x = arith::ExtFOp::create(b, sum, x);
        Value all = isSum ? Value(arith::AddFOp::create(b, v[2], x))
                    : isFloat(input.type)
                        ? Value(arith::MaximumFOp::create(b, v[2], x))
                    : isUnsigned(input.type)
                        ? Value(arith::MaxUIOp::create(b, v[2], x))
                        : Value(arith::MaxSIOp::create(b, v[2], x));
        linalg::YieldOp::create(b, all);
      });
  return l.makeTensor(generic.getResult(0), sumType);
}

/// Reads the window of a pool, and makes it two-dimensional at least.
static LogicalResult getPool(Lowering &l, Tensor &input, Window &window) {
  if (input.rank() < 3 || input.rank() > 5)
    return l.fail("a tensor of " + Twine(input.rank()) +
                  " dimensions is not supported; expected one to three "
                  "spatial dimensions");
  window.kernel = l.getInts("kernel_shape");
  if (static_cast<int64_t>(window.kernel.size()) != input.rank() - 2)
    return l.fail("kernel_shape must have " + Twine(input.rank() - 2) +
                  " elements");
  if (failed(getWindow(l, ArrayRef(input.shape).drop_front(2), window)))
    return failure();
  input = {input.type, input.shape, nullptr, l.materialize(input)};
  if (window.kernel.size() != 1)
    return success();
  addDimension(window);
  FailureOr<Tensor> wide = insertDimension(l, input);
  if (failed(wide))
    return failure();
  input = *wide;
  return success();
}

/// The bytes of a dequantized input have their largest value where the numbers
/// have it.
static LogicalResult lowerMaxPool(Lowering &l) {
  Tensor input = l.getInput(0);
  std::shared_ptr<const Quantized> quantized = input.quantized;
  if (quantized && !keepsOrder(*quantized))
    quantized = nullptr;
  if (quantized)
    input = quantized->integers;
  bool isLine = input.rank() == 3;
  Window window;
  if (failed(getPool(l, input, window)))
    return failure();
  unsigned bits = 8 * getByteWidth(input.type);
  double low = isFloat(input.type) ? -INFINITY
               : isUnsigned(input.type)
                   ? 0
                   : -std::ldexp(1.0, static_cast<int>(bits) - 1);
  FailureOr<Tensor> result =
      padWindow(l, input, window, l.makeScalar(input.type, low));
  if (succeeded(result))
    result = pool(l, *result, window, /*isSum=*/false, input.type, low);
  if (succeeded(result) && isLine)
    result = l.reshape(*result,
                       {result->shape[0], result->shape[1], result->shape[3]});
  if (succeeded(result) && quantized)
    result = dequantizeAs(l, *quantized, *result);
  return l.setResult(result);
}

/// How many elements of an input with padding are in each window of one
/// dimension.
static SmallVector<int64_t> countElements(const Window &window, size_t d,
                                          int64_t size, bool countsPadding) {
  SmallVector<int64_t> counts;
  int64_t begin = countsPadding ? -window.low[d] : 0;
  int64_t end = size + (countsPadding ? window.high[d] : 0);
  for (int64_t i = 0; i < window.results[d]; ++i) {
    int64_t count = 0;
    for (int64_t k = 0; k < window.kernel[d]; ++k) {
      int64_t at =
          i * window.strides[d] - window.low[d] + k * window.dilations[d];
      count += at >= begin && at < end;
    }
    counts.push_back(count);
  }
  return counts;
}

static LogicalResult lowerAveragePool(Lowering &l) {
  Tensor input = l.getInput(0);
  if (!isFloat(input.type))
    return l.fail(getName(input.type) + " is not supported");
  DataType type = input.type, sumType = Lowering::getSumType(type);
  bool isLine = input.rank() == 3;
  bool countsPadding = l.getInt("count_include_pad", 0) != 0;
  Window window;
  if (failed(getPool(l, input, window)))
    return failure();
  // The divisor of each window, as the factors of its dimensions multiplied.
  Shape shape;
  bool isEqual = true;
  SmallVector<double> divisors = {1};
  for (size_t d = 0; d < window.kernel.size(); ++d) {
    SmallVector<int64_t> counts =
        countElements(window, d, input.shape[d + 2], countsPadding);
    shape.push_back(static_cast<int64_t>(counts.size()));
    isEqual &= llvm::all_equal(counts);
    SmallVector<double> products;
    for (double divisor : divisors)
      for (int64_t count : counts)
        products.push_back(divisor *
                           static_cast<double>(std::max<int64_t>(count, 1)));
    divisors = std::move(products);
  }
  FailureOr<Tensor> result = padWindow(l, input, window, l.makeScalar(type, 0));
  if (succeeded(result))
    result = pool(l, *result, window, /*isSum=*/true, sumType, 0);
  if (failed(result))
    return failure();
  Tensor divisor = isEqual && !divisors.empty()
                       ? l.makeSplat(sumType, {}, divisors[0])
                       : l.makeDoubles(divisors, shape, sumType);
  Type element = l.getElementType(type);
  result = l.elementwise(
      {*result, divisor}, type, [=](ScalarBuilder &b, ValueRange v) {
        Value mean = arith::DivFOp::create(b, v[0], v[1]);
        return sumType == type
                   ? mean
                   : Value(arith::TruncFOp::create(b, element, mean));
      });
  if (succeeded(result) && isLine)
    result = l.reshape(*result,
                       {result->shape[0], result->shape[1], result->shape[3]});
  return l.setResult(result);
}

/// The p-norm of each window.
static LogicalResult lowerLpPool(Lowering &l) {
  Tensor input = l.getInput(0);
  if (!isFloat(input.type))
    return l.fail(getName(input.type) + " is not supported");
  DataType type = input.type, sumType = Lowering::getSumType(type);
  bool isLine = input.rank() == 3;
  auto p = static_cast<double>(l.getInt("p", 2));
  if (p < 1)
    return l.fail("p must be positive");
  Window window;
  if (failed(getPool(l, input, window)))
    return failure();
  FailureOr<Tensor> result = l.convert(input, sumType);
  if (succeeded(result))
    result = l.elementwise(
        {*result}, sumType, [=](ScalarBuilder &b, ValueRange v) -> Value {
          Value x = v[0];
          if (p == 2)
            return arith::MulFOp::create(b, x, x);
          Value magnitude = math::AbsFOp::create(b, x);
          if (p == 1)
            return magnitude;
          return math::PowFOp::create(
              b, magnitude,
              arith::ConstantOp::create(b, b.getFloatAttr(x.getType(), p)));
        });
  if (succeeded(result))
    result = padWindow(l, *result, window, l.makeScalar(sumType, 0));
  if (succeeded(result))
    result = pool(l, *result, window, /*isSum=*/true, sumType, 0);
  if (succeeded(result))
    result = l.elementwise({*result}, sumType,
                           [=](ScalarBuilder &b, ValueRange v) -> Value {
                             if (p == 1)
                               return v[0];
                             if (p == 2)
                               return math::SqrtOp::create(b, v[0]);
                             return math::PowFOp::create(
                                 b, v[0],
                                 arith::ConstantOp::create(
                                     b, b.getFloatAttr(v[0].getType(), 1 / p)));
                           });
  if (succeeded(result))
    result = l.convert(*result, type);
  if (succeeded(result) && isLine)
    result = l.reshape(*result,
                       {result->shape[0], result->shape[1], result->shape[3]});
  return l.setResult(result);
}

static LogicalResult lowerGlobalPool(Lowering &l, bool isSum) {
  const Tensor &input = l.getInput(0);
  if (input.rank() < 3 || !isFloat(input.type))
    return l.fail("expected a floating point tensor with spatial dimensions");
  DataType type = input.type;
  DataType sumType = isSum ? Lowering::getSumType(type) : type;
  SmallVector<int64_t> axes;
  double count = 1;
  for (int64_t d = 2; d < input.rank(); ++d) {
    if (ShapedType::isDynamic(input.shape[d]))
      return l.fail("spatial dimension " + Twine(d - 2) + " must be static");
    count *= static_cast<double>(input.shape[d]);
    axes.push_back(d);
  }
  FailureOr<Tensor> result =
      l.reduce(input, axes, /*keepDims=*/true, sumType, isSum ? 0 : -INFINITY,
               [=](ScalarBuilder &b, ValueRange v) {
                 return isSum ? Value(arith::AddFOp::create(b, v[1], v[0]))
                              : Value(arith::MaximumFOp::create(b, v[1], v[0]));
               });
  if (failed(result) || !isSum)
    return l.setResult(result);
  Type element = l.getElementType(type);
  return l.setResult(l.elementwise(
      {*result, l.makeSplat(sumType, {}, count)}, type,
      [=](ScalarBuilder &b, ValueRange v) {
        Value mean = arith::DivFOp::create(b, v[0], v[1]);
        return sumType == type
                   ? mean
                   : Value(arith::TruncFOp::create(b, element, mean));
      }));
}

static LogicalResult lowerGlobalAveragePool(Lowering &l) {
  return lowerGlobalPool(l, /*isSum=*/true);
}
static LogicalResult lowerGlobalMaxPool(Lowering &l) {
  return lowerGlobalPool(l, /*isSum=*/false);
}

/// Adds up the elements of blocks where they overlap in an image: a transposed
/// convolution whose filter has one 1 for each element of the block.
static LogicalResult lowerCol2Im(Lowering &l) {
  const Tensor &x = l.getInput(0);
  SmallVector<int64_t> image, block;
  if (failed(l.getInts(1, "the image's shape", image)) ||
      failed(l.getInts(2, "the block's shape", block)))
    return failure();
  size_t rank = image.size();
  auto getList = [&](StringRef name, size_t count, int64_t value) {
    SmallVector<int64_t> list = l.getInts(name);
    return list.empty() ? SmallVector<int64_t>(count, value) : list;
  };
  SmallVector<int64_t> strides = getList("strides", rank, 1),
                       dilations = getList("dilations", rank, 1),
                       pads = getList("pads", 2 * rank, 0);
  constexpr int64_t most = 1 << 20;
  auto isSize = [&](int64_t size) { return size >= 1 && size <= most; };
  auto areSizes = [&](ArrayRef<int64_t> sizes) {
    return sizes.size() == rank && llvm::all_of(sizes, isSize);
  };
  if (x.rank() != 3 || !x.isStatic() || rank < 1 || rank > 3 ||
      !areSizes(image) || !areSizes(block) || !areSizes(strides) ||
      !areSizes(dilations) || pads.size() != 2 * rank ||
      !llvm::all_of(pads, [&](int64_t pad) { return pad >= 0 && pad <= most; }))
    return l.fail("expected a static input of 3 dimensions, an image and a "
                  "block of at most 3, and positive sizes");
  Shape columns, added;
  int64_t numBlocks = 1, blockSize = 1;
  for (size_t d = 0; d < rank; ++d) {
    int64_t extent = dilations[d] * (block[d] - 1) + 1;
    int64_t rest = image[d] + pads[d] + pads[rank + d] - extent;
    if (rest < 0)
      return l.fail("the block is larger than the padded image");
    columns.push_back(rest / strides[d] + 1);
    added.push_back(rest % strides[d]);
    blockSize *= block[d];
    if (__builtin_mul_overflow(numBlocks, columns[d], &numBlocks) ||
        blockSize > most)
      return l.fail("the image or the block is too large");
  }
  if (numBlocks != x.shape[2] || x.shape[1] % blockSize)
    return l.fail("the input has " + Twine(x.shape[2]) + " blocks of " +
                  Twine(x.shape[1]) + " elements, but the shapes need " +
                  Twine(numBlocks) + " of a multiple of " + Twine(blockSize));
  if (blockSize * blockSize > most)
    return l.fail("the block is too large");
  int64_t channels = x.shape[1] / blockSize;
  Shape apart = {x.shape[0] * channels, blockSize}, filter = {blockSize, 1},
        result = {x.shape[0], channels};
  llvm::append_range(apart, columns);
  llvm::append_range(filter, block);
  llvm::append_range(result, image);
  std::vector<double> ones(static_cast<size_t>(blockSize * blockSize), 0);
  for (int64_t i = 0; i < blockSize; ++i)
    ones[static_cast<size_t>(i * blockSize + i)] = 1;
  FailureOr<Tensor> source = l.reshape(x, apart);
  if (failed(source))
    return failure();
  std::vector<NodeAttribute> attributes;
  auto addList = [&](const char *name, ArrayRef<int64_t> values) {
    NodeAttribute &attribute = attributes.emplace_back();
    attribute.name = name;
    attribute.kind = NodeAttribute::Kind::Ints;
    attribute.integers.assign(values.begin(), values.end());
  };
  addList("strides", strides);
  addList("dilations", dilations);
  addList("pads", pads);
  addList("output_padding", added);
  FailureOr<Tensor> sum =
      l.call("ConvTranspose", {*source, l.makeDoubles(ones, filter, x.type)},
             std::move(attributes));
  return failed(sum) ? failure() : l.setResult(l.reshape(*sum, result));
}

ArrayRef<Operator> mlir::tessera::onnx::getConvolutionOperators() {
  static const Operator operators[] = {
      {"AveragePool", 7, 1, 1, lowerAveragePool,
       "static spatial dimensions, at most three"},
      {"Col2Im", 18, 3, 3, lowerCol2Im,
       "the shapes must be constant; static shapes only"},
      {"Conv", 1, 2, 3, lowerConv,
       "static spatial dimensions, at most three; groups in at most two"},
      {"ConvInteger", 10, 2, 4, lowerConvInteger,
       "static spatial dimensions, at most two"},
      {"ConvTranspose", 1, 2, 3, lowerConvTranspose,
       "static spatial dimensions, at most three; groups in at most two"},
      {"LpPool", 7, 1, 1, lowerLpPool,
       "static spatial dimensions, at most three"},
      {"GlobalAveragePool", 1, 1, 1, lowerGlobalAveragePool,
       "static spatial dimensions"},
      {"GlobalMaxPool", 1, 1, 1, lowerGlobalMaxPool,
       "static spatial dimensions"},
      {"MaxPool", 1, 1, 1, lowerMaxPool,
       "static spatial dimensions, at most three; no output of indices"},
      {"QLinearConv", 10, 8, 9, lowerQLinearConv,
       "static spatial dimensions, at most two"},
  };
  return operators;
}
