//===- Fusion.cpp - Matmuls with fused ops --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

#include <cmath>

using namespace fuzz;

/// Weights of 4 or 8 bits, signed or not, times a scale for each channel, or
/// for each group of them: linalg.generic on integers and f32 (or what is
/// computed in), powers of two.
static Value dequantize(Program &program, const Value &weights,
                        Element element) {
  Rng &rng = program.rng;
  size_t rank = weights.dims.size();
  std::vector<size_t> all(rank), along;
  for (size_t i = 0; i < rank; ++i)
    all[i] = i;
  if (rank)
    along.push_back(static_cast<size_t>(rng.below(static_cast<int64_t>(rank))));
  Dims dims;
  for (size_t dim : along)
    dims.push_back(program.makeDim(weights.dims[dim].size));
  Value scales = program.argument(element, dims);
  bool hasZero = rng.chance(40);
  std::vector<Value> inputs{weights, scales};
  std::vector<std::string> maps{formatMap(rank, all), formatMap(rank, along)};
  bool isUnsigned = weights.element == Element::I4 && rng.chance(50);
  if (hasZero) {
    inputs.push_back(program.argument(weights.element, dims));
    maps.push_back(formatMap(rank, along));
  }
  maps.push_back(formatMap(rank, all));
  Value output = emptyLike(program, weights, element);
  return program.generic(
      std::vector<bool>(rank, false), maps, inputs, {output},
      [&](Body &body, const std::vector<Value> &x) {
        Value number = x[0];
        if (hasZero) {
          // The difference of bytes, as wide as it is.
          Value wide = body.cast(x[0], Element::I32, isUnsigned);
          number =
              body.subtract(wide, body.cast(x[2], Element::I32, isUnsigned));
        }
        Value real = body.cast(number, element, isUnsigned && !hasZero);
        Value scale = body.scale(x[1], -2);
        return std::vector<Value>{body.multiply(real, scale)};
      })[0];
}

/// The ops between an argument and a matmul.
static Value makeProducer(Program &program, const Value &argument) {
  Rng &rng = program.rng;
  if (rng.chance(45))
    return argument;
  StepOptions options;
  options.allowCast = false;
  switch (argument.element) {
  case Element::I4:
  case Element::I8:
    return rng.chance(50) ? dequantize(program, argument,
                                       rng.pick({Element::F16, Element::F32}))
                          : makeCast(program, argument,
                                     rng.pick({Element::F16, Element::I32}));
  case Element::F16:
  case Element::BF16:
    return rng.chance(50) ? makeCast(program, argument, Element::F32)
                          : makeStep(program, argument, options);
  case Element::E4M3:
  case Element::E5M2:
    return makeCast(program, argument, rng.pick({Element::F16, Element::F32}));
  default:
    return makeStep(program, argument, options);
  }
}

/// Reduces the rows of `value`, and combines each element with the result of
/// its row.
static Value makeRows(Program &program, const Value &value,
                      const StepOptions &steps) {
  Rng &rng = program.rng;
  size_t rank = value.dims.size();
  std::vector<bool> reduced(rank, false);
  reduced[rng.chance(80)
              ? rank - 1
              : static_cast<size_t>(rng.below(static_cast<int64_t>(rank)))] =
      true;
  std::vector<size_t> all(rank), order;
  for (size_t i = 0; i < rank; ++i)
    all[i] = i;
  Value row = makeReduction(program, value, reduced, &order);
  StepOptions between = steps;
  between.allowCast = false;
  Value stepped = rng.chance(40) ? makeStep(program, row, between) : row;
  // A step may be a transposition or a reshape.
  if (stepped.dims.size() == row.dims.size() && rank == 2)
    row = stepped;
  int which = static_cast<int>(rng.below(3));
  Value output = emptyLike(program, value, row.element);
  return program.generic(
      std::vector<bool>(rank, false),
      {formatMap(rank, all), formatMap(rank, order), formatMap(rank, all)},
      {value, row}, {output}, [&](Body &body, const std::vector<Value> &x) {
        Value element = body.cast(x[0], row.element);
        Value result = which == 0   ? body.subtract(element, x[1])
                       : which == 1 ? body.add(element, x[1])
                                    : body.max(element, x[1]);
        return std::vector<Value>{result};
      })[0];
}

Case fuzz::generateFusion(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  StepOptions steps;
  steps.allowInexact = rng.chance(30);

  MatmulOptions options;
  options.budget = 200'000;
  bool hasProducers = rng.chance(50);
  if (hasProducers) {
    // Sums are in f32, independent of the operand type that the producers
    // yield.
    Element a = rng.pick({Element::I8, Element::F16, Element::BF16,
                          Element::F32, Element::E4M3});
    Element b = rng.pick({Element::I8, Element::F16, a, a});
    for (Element *element : {&a, &b})
      if (*element == Element::I8 && rng.chance(40))
        *element = Element::I4;
    options.types = MatmulTypes{a, b, Element::F32};
    options.makeOperand = [](Program &inner, const Value &argument) {
      Value operand = makeProducer(inner, argument);
      // No matmul mixes integers and floats.
      return isFloat(operand.element) ? operand
                                      : makeCast(inner, operand, Element::F16);
    };
  }
  Value value = makeMatmul(program, options);
  Value matmul = value;
  int64_t count = rng.between(hasProducers ? 0 : 1, 3);
  for (int64_t i = 0; i < count; ++i) {
    value = makeStep(program, value, steps);
    if (rng.chance(8))
      program.result(value);
  }
  // Reduces rows once or twice, optionally followed by a step or a cast.
  int64_t rows = rng.chance(50) ? rng.between(1, 2) : 0;
  for (int64_t i = 0; i < rows && value.dims.size() >= 2; ++i)
    value = makeRows(program, value, steps);
  if (rows && rng.chance(40))
    value = makeStep(program, value, steps);
  if (!value.dims.empty() && rng.chance(20)) {
    std::vector<bool> reduced(value.dims.size(), false);
    reduced[rng.chance(70) ? reduced.size() - 1
                           : static_cast<size_t>(rng.below(
                                 static_cast<int64_t>(reduced.size())))] = true;
    if (rng.chance(30))
      program.result(value);
    value = makeReduction(program, value, reduced);
  }
  if (rng.chance(8))
    program.result(matmul);
  if (!program.isResult(value))
    program.result(value);
  return program.finish("fusion");
}

Case fuzz::generateChain(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  StepOptions steps;
  steps.allowInexact = rng.chance(15);
  MatmulOptions options;
  options.budget = 100'000;
  options.isPlain = true;
  options.types =
      rng.pick({MatmulTypes{Element::F16, Element::F16, Element::F32},
                MatmulTypes{Element::BF16, Element::BF16, Element::F32},
                MatmulTypes{Element::F32, Element::F32, Element::F32},
                MatmulTypes{Element::I8, Element::I8, Element::I32}});
  Value value = makeMatmul(program, options);
  Value first = value;
  int64_t links = rng.between(1, 2);
  for (int64_t i = 0; i < links; ++i) {
    int64_t count = rng.between(0, 2);
    for (int64_t step = 0; step < count; ++step) {
      StepOptions between = steps;
      between.allowCast = false;
      value = makeStep(program, value, between);
    }
    // Back to what operands are.
    Element element = options.types->a;
    if (element == Element::I8 && !value.range.exact)
      element = Element::F32;
    if (value.element != element)
      value = makeCast(program, value, element);
    if (rng.chance(15))
      program.result(value);
    MatmulOptions next = options;
    next.lhs = value;
    next.types = MatmulTypes{element, element,
                             isFloat(element) ? Element::F32 : Element::I32};
    value = makeMatmul(program, next);
  }
  if (rng.chance(50))
    value = makeStep(program, value, steps);
  if (rng.chance(30))
    program.result(first);
  if (!program.isResult(value))
    program.result(value);
  return program.finish("chain");
}
