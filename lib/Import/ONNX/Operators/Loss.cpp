//===- Loss.cpp - Losses of classifiers -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ScalarMath.h"

using namespace mlir;
using namespace mlir::tessera::onnx;

/// -weight[target] * scores[target] of each position, and their reduction.
static FailureOr<Tensor> lowerLoss(Lowering &l, const Tensor &scores,
                                   const Tensor &target,
                                   std::optional<Tensor> weight) {
  std::string reduction = l.getString("reduction", "mean");
  DataType type = scores.type;
  if (!isFloat(type) || scores.rank() < 2 ||
      target.rank() != scores.rank() - 1 || !isInteger(target.type))
    return l.fail("expected floating point scores of classes in dimension 1, "
                  "and an integer for each of the other dimensions");
  bool hasIgnored = l.hasAttribute("ignore_index");
  int64_t ignored = l.getInt("ignore_index", 0);
  Tensor source = l.makeTensor(l.materialize(scores), type);
  Tensor classes = l.makeTensor(l.materialize(target), target.type);
  std::optional<Tensor> factors;
  if (weight)
    factors = l.makeTensor(l.materialize(*weight), weight->type);
  auto rank = static_cast<unsigned>(target.rank());
  /// A value of each position, from its class; zero where it is ignored.
  auto make = [&](bool isWeight) {
    return generate(
        l, l.getSizes(classes), type, classes.value,
        l.b.getMultiDimIdentityMap(rank),
        [&](ScalarBuilder &b, ArrayRef<Value> loops, ValueRange v) {
          Value index = v[0];
          Value isIgnored;
          if (hasIgnored) {
            Value number = arith::ConstantOp::create(
                b, b.getIntegerAttr(index.getType(), ignored));
            Value first = arith::ConstantOp::create(
                b, b.getIntegerAttr(index.getType(), 0));
            isIgnored = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                              index, number);
            index = arith::SelectOp::create(b, isIgnored, first, index);
          }
          Value position =
              arith::IndexCastOp::create(b, b.getIndexType(), index);
          Value result;
          if (factors)
            result = tensor::ExtractOp::create(b, factors->value, position);
          else
            result = arith::ConstantOp::create(
                b, b.getFloatAttr(l.getElementType(type), 1));
          if (!isWeight) {
            SmallVector<Value> at(loops);
            at.insert(at.begin() + 1, position);
            Value score = tensor::ExtractOp::create(b, source.value, at);
            result = arith::NegFOp::create(b, mul(b, score, result));
          }
          if (!isIgnored)
            return result;
          Value none = arith::ConstantOp::create(
              b, b.getFloatAttr(l.getElementType(type), 0));
          return Value(arith::SelectOp::create(b, isIgnored, none, result));
        });
  };
  Tensor losses = make(/*isWeight=*/false);
  if (reduction == "none")
    return losses;
  if (reduction != "mean" && reduction != "sum")
    return l.fail("the reduction '" + reduction + "' is not supported");
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  DataType sumType = Lowering::getSumType(type);
  auto sum = [&](const Tensor &x) {
    return l.reduce(
        x, axes, /*keepDims=*/false, sumType, 0,
        [](ScalarBuilder &b, ValueRange v) { return add(b, v[1], v[0]); });
  };
  FailureOr<Tensor> total = sum(losses);
  if (succeeded(total) && reduction == "mean") {
    FailureOr<Tensor> count = sum(make(/*isWeight=*/true));
    if (failed(count))
      return failure();
    total = l.elementwise({*total, *count}, sumType,
                          [](ScalarBuilder &b, ValueRange v) {
                            return Value(arith::DivFOp::create(b, v[0], v[1]));
                          });
  }
  if (failed(total))
    return failure();
  return l.convert(*total, type);
}

static std::optional<Tensor> getWeight(Lowering &l) {
  return l.hasInput(2) ? std::optional(l.getInput(2)) : std::nullopt;
}

static LogicalResult lowerNegativeLogLikelihood(Lowering &l) {
  return l.setResult(lowerLoss(l, l.getInput(0), l.getInput(1), getWeight(l)));
}

static LogicalResult lowerSoftmaxCrossEntropy(Lowering &l) {
  FailureOr<Tensor> logarithms = softmax(l, l.getInput(0), 1, /*isLog=*/true);
  if (failed(logarithms) || failed(l.setResult(lowerLoss(
                                l, *logarithms, l.getInput(1), getWeight(l)))))
    return failure();
  l.setResult(1, *logarithms);
  return success();
}

ArrayRef<Operator> mlir::tessera::onnx::getLossOperators() {
  static const Operator operators[] = {
      {"NegativeLogLikelihoodLoss", 12, 2, 3, lowerNegativeLogLikelihood},
      {"SoftmaxCrossEntropyLoss", 12, 2, 3, lowerSoftmaxCrossEntropy},
  };
  return operators;
}
