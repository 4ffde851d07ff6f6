//===- Signal.cpp - Fourier transforms ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transform of a static length is a matmul with a constant matrix, whose rows
// are the real and imaginary parts of the inputs, and whose columns are those
// of the results. That is right for the short transforms of networks (frames of
// audio), which run on the matrix unit.
//
//===----------------------------------------------------------------------===//

#include "../Lowering.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera::onnx;

namespace {
struct Transform {
  int64_t length;
  bool isInverse;
  /// Half of the frequencies, of a real signal.
  bool isOneSided;

  /// The frequencies, or the signal after an inverse transform.
  int64_t countOutputs() const {
    return isOneSided && !isInverse ? length / 2 + 1 : length;
  }
  /// Parts of an output: real and imaginary.
  int64_t countParts() const { return isOneSided && isInverse ? 1 : 2; }
};
} // namespace

/// The largest number of elements of a transform's matrix.
static constexpr int64_t mostElements = int64_t{1} << 22;

/// Transforms dimension -2; the last one has real and maybe imaginary parts.
/// Elements beyond the transform's length are ignored, missing ones are 0.
static FailureOr<Tensor> apply(Lowering &l, const Tensor &x,
                               const Transform &transform) {
  int64_t rank = x.rank(), parts = rank < 2 ? 0 : x.shape[rank - 1],
          count = rank < 2 ? 0 : x.shape[rank - 2], length = transform.length;
  if (!isFloat(x.type) || (parts != 1 && parts != 2) ||
      ShapedType::isDynamic(count))
    return l.fail("expected a static axis, and real or complex numbers in the "
                  "last dimension");
  int64_t outputs = transform.countOutputs(), toParts = transform.countParts();
  if (length < 1 || length > mostElements || count > mostElements ||
      count * parts * outputs * toParts > mostElements)
    return l.fail("a transform of " + Twine(count) +
                  " elements by the length " + Twine(length) +
                  " is not supported: its matrix must have at "
                  "most " +
                  Twine(mostElements) + " elements");
  bool toReal = toParts == 1;
  // A real signal has the conjugate frequencies, too.
  int64_t used = std::min(count, toReal ? length / 2 + 1 : length);
  std::vector<double> matrix(
      static_cast<size_t>(count * parts * outputs * toParts), 0);
  double scale = transform.isInverse ? 1 / static_cast<double>(length) : 1;
  for (int64_t i = 0; i < used; ++i)
    for (int64_t k = 0; k < outputs; ++k) {
      // Reduced, so that large angles stay exact.
      double angle = 2 * M_PI * static_cast<double>(i * k % length) /
                     static_cast<double>(length);
      double weight = scale;
      if (toReal && i != 0 && 2 * i != length)
        weight *= 2;
      double c = weight * std::cos(angle),
             s = weight * std::sin(angle) * (transform.isInverse ? 1 : -1);
      // (re + j im) (c + j s)
      double products[2][2] = {{c, s}, {-s, c}};
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t to = 0; to < toParts; ++to)
          matrix[static_cast<size_t>(
              ((i * parts + part) * outputs + k) * toParts + to)] =
              products[part][to];
    }
  Tensor table =
      l.makeDoubles(matrix, {count * parts, outputs * toParts}, x.type);
  Shape flat(x.shape.begin(), x.shape.end() - 2);
  Shape shape = flat;
  flat.push_back(count * parts);
  shape.append({outputs, toParts});
  FailureOr<Tensor> rows = l.reshape(x, flat);
  if (failed(rows))
    return failure();
  FailureOr<Tensor> result =
      multiplyBatches(l, *rows, table, Lowering::getSumType(x.type));
  if (succeeded(result))
    result = l.convert(*result, x.type);
  return failed(result) ? result : l.reshape(*result, shape);
}

static LogicalResult lowerDFT(Lowering &l) {
  const Tensor &x = l.getInput(0);
  int64_t axis = l.version < 20 ? l.getInt("axis", 1) : -2;
  SmallVector<int64_t> numbers;
  if (l.hasInput(2)) {
    if (failed(l.getInts(2, "the axis", numbers)))
      return failure();
    if (numbers.size() != 1)
      return l.fail("the axis must be one number");
    axis = numbers[0];
  }
  if (failed(l.normalizeAxis(axis, x.rank())))
    return failure();
  if (axis == x.rank() - 1)
    return l.fail("the axis must not be the last one");
  Transform transform = {x.shape[axis], l.getInt("inverse", 0) != 0,
                         l.getInt("onesided", 0) != 0};
  if (transform.isInverse && transform.isOneSided)
    transform.length = 2 * (x.shape[axis] - 1);
  if (l.hasInput(1)) {
    if (failed(l.getInts(1, "the length", numbers)))
      return failure();
    if (numbers.size() != 1)
      return l.fail("the length must be one number");
    transform.length = numbers[0];
  }
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != axis)
      order.push_back(d);
  order.insert(order.end() - 1, axis);
  FailureOr<Tensor> result = l.transpose(x, order);
  if (succeeded(result))
    result = apply(l, *result, transform);
  if (failed(result))
    return failure();
  return l.setResult(l.transpose(*result, invertPermutationVector(order)));
}

/// Frames of the signal, each multiplied by a window and transformed.
static LogicalResult lowerSTFT(Lowering &l) {
  const Tensor &signal = l.getInput(0);
  SmallVector<int64_t> step, length;
  if (failed(l.getInts(1, "the step", step)))
    return failure();
  if (l.hasInput(3)) {
    if (failed(l.getInts(3, "the length of a frame", length)))
      return failure();
  } else if (l.hasInput(2) && l.getInput(2).rank() == 1) {
    length.push_back(l.getInput(2).shape[0]);
  }
  if (signal.rank() != 3 || ShapedType::isDynamic(signal.shape[1]) ||
      step.size() != 1 || length.size() != 1 || step[0] < 1 || length[0] < 1 ||
      length[0] > signal.shape[1])
    return l.fail("expected a signal of 3 dimensions and static length, and "
                  "frames that are not longer, by a positive step");
  int64_t frames = 1 + (signal.shape[1] - length[0]) / step[0];
  if (length[0] > mostElements || frames > mostElements / length[0])
    return l.fail("its frames must have at most " + Twine(mostElements) +
                  " elements");
  SmallVector<int64_t> positions;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < length[0]; ++i)
      positions.push_back(frame * step[0] + i);
  NodeAttribute axis;
  axis.name = "axis";
  axis.kind = NodeAttribute::Kind::Int;
  axis.integer = 1;
  FailureOr<Tensor> parts = l.call(
      "Gather", {signal, l.makeInts(positions, {frames, length[0]})}, {axis});
  if (succeeded(parts) && l.hasInput(2)) {
    FailureOr<Tensor> window = l.reshape(l.getInput(2), {length[0], 1});
    if (failed(window))
      return failure();
    parts = l.call("Mul", {*parts, *window});
  }
  if (failed(parts))
    return failure();
  return l.setResult(
      apply(l, *parts,
            {length[0], /*isInverse=*/false, l.getInt("onesided", 1) != 0}));
}

/// The weights of frequencies in bands that are equally wide on the mel scale.
static LogicalResult lowerMelWeightMatrix(Lowering &l) {
  SmallVector<double> numbers;
  for (size_t i = 0; i < 5; ++i) {
    if (!l.getInput(i).constant || l.getInput(i).count() != 1)
      return l.fail("its inputs must be constant scalars");
    numbers.push_back(l.getInput(i).constant->getDouble(0));
  }
  auto type = static_cast<DataType>(l.getInt("output_datatype", 1));
  double most = static_cast<double>(mostElements);
  if (!isFloat(type) || !(numbers[0] >= 1) || !(numbers[1] >= 1) ||
      !(numbers[2] >= 1) || !(numbers[3] >= 0) || !(numbers[4] >= numbers[3]) ||
      !(numbers[0] * numbers[1] <= most))
    return l.fail("expected positive sizes, a range of frequencies, and a type "
                  "of floating point numbers");
  auto bands = static_cast<int64_t>(numbers[0]);
  auto length = static_cast<int64_t>(numbers[1]);
  int64_t bins = length / 2 + 1;
  auto toMel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = toMel(numbers[3]),
         width = (toMel(numbers[4]) - low) / static_cast<double>(bands + 2);
  SmallVector<int64_t> edges;
  for (int64_t i = 0; i < bands + 2; ++i) {
    double hertz = 700 * std::expm1((low + static_cast<double>(i) * width) /
                                    2595 * std::log(10.0));
    double bin =
        std::floor(static_cast<double>(length + 1) * hertz / numbers[2]);
    if (!(bin < static_cast<double>(bins)))
      return l.fail("its frequencies must be less than half of sample_rate");
    edges.push_back(static_cast<int64_t>(bin));
  }
  std::vector<double> weights(static_cast<size_t>(bins * bands), 0);
  for (int64_t band = 0; band < bands; ++band) {
    auto set = [&](int64_t bin, int64_t part, int64_t whole) {
      weights[static_cast<size_t>(bin * bands + band)] =
          static_cast<double>(part) / static_cast<double>(whole);
    };
    int64_t first = edges[band], center = edges[band + 1],
            last = edges[band + 2];
    if (first == center)
      set(center, 1, 1);
    for (int64_t bin = first; bin <= center && first != center; ++bin)
      set(bin, bin - first, center - first);
    for (int64_t bin = center; bin < last; ++bin)
      set(bin, last - bin, last - center);
  }
  l.setResult(0, l.makeDoubles(weights, {bins, bands}, type));
  return success();
}

ArrayRef<Operator> mlir::tessera::onnx::getSignalOperators() {
  static const Operator operators[] = {
      {"DFT", 17, 1, 3, lowerDFT,
       "the length and the axis must be constant, the axis static"},
      {"MelWeightMatrix", 17, 5, 5, lowerMelWeightMatrix,
       "the operands must be constant"},
      {"STFT", 17, 2, 4, lowerSTFT,
       "the step and the length must be constant, the signal's length static"},
  };
  return operators;
}
