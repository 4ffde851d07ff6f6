//===- Elementwise.cpp - Element-wise ops ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

#include <algorithm>

using namespace fuzz;

Value fuzz::emptyLike(Program &program, const Value &input, Element element) {
  return program.empty(element, input.dims, [&](size_t dim) {
    return std::pair<const Value *, size_t>(&input, dim);
  });
}

Value fuzz::makeCast(Program &program, const Value &input, Element element,
                     bool isUnsigned) {
  Value output = emptyLike(program, input, element);
  size_t rank = input.dims.size();
  std::vector<size_t> all(rank);
  for (size_t i = 0; i < rank; ++i)
    all[i] = i;
  std::string map = formatMap(rank, all);
  return program.generic(
      std::vector<bool>(rank, false), {map, map}, {input}, {output},
      [&](Body &body, const std::vector<Value> &x) {
        return std::vector<Value>{body.cast(x[0], element, isUnsigned)};
      })[0];
}

/// |x|.
static Value abs(Body &body, const Value &x) {
  if (isFloat(x.element))
    return body.op("math.absf", x.name, x.type(), x.element, x.range);
  // The least integer would stay as it is.
  Value clamped = body.clamp(x, -100, 100);
  return body.op("math.absi", clamped.name, x.type(), x.element, clamped.range);
}

/// A function of floats whose results are rounded.
static Value transcendental(Body &body, const Value &x, int which) {
  auto inexact = [](double bound) { return Range{bound, -1074, false}; };
  auto unary = [&](const char *name, const Value &operand, double bound) {
    return body.op(name, operand.name, operand.type(), operand.element,
                   inexact(bound));
  };
  switch (which) {
  case 0: // exp(-|x|)
  {
    Value magnitude = abs(body, x);
    Value negative = body.subtract(body.constant(x.element, 0), magnitude);
    return unary("math.exp", negative, 1);
  }
  case 1:
    return unary("math.tanh", x, 1);
  case 2: // sqrt(|x|)
    return unary("math.sqrt", abs(body, x), x.range.bound + 1);
  case 3: // rsqrt(|x| + 1)
    return unary("math.rsqrt",
                 body.add(abs(body, x), body.constant(x.element, 1)), 1);
  case 4: // x / (1 + |x|)
  {
    Value divisor = body.add(abs(body, x), body.constant(x.element, 1));
    return body.op("arith.divf", x.name + ", " + divisor.name, x.type(),
                   x.element, inexact(1));
  }
  case 5: // gelu
  {
    Value scaled =
        body.multiply(x, body.constant(x.element, 0.7071067811865475));
    Value erf = unary("math.erf", scaled, 1);
    Value sum = body.add(erf, body.constant(x.element, 1));
    Value half = body.multiply(x, body.constant(x.element, 0.5));
    Value result = body.multiply(half, sum);
    result.range.exact = false;
    return result;
  }
  default: // 1 / (1 + exp(-clamp(x)))
  {
    Value negative = body.subtract(body.constant(x.element, 0), x);
    Value exponential = unary("math.exp", body.clamp(negative, -20, 20), 1e9);
    Value divisor = body.add(exponential, body.constant(x.element, 1));
    Value one = body.constant(x.element, 1);
    return body.op("arith.divf", one.name + ", " + divisor.name, x.type(),
                   x.element, inexact(1));
  }
  }
}

/// x where a comparison with y holds, else y.
static Value select(Body &body, const Value &x, const Value &y) {
  bool isReal = isFloat(x.element);
  std::string predicate = isReal ? body.program.rng.pick({"olt", "oge", "ogt"})
                                 : body.program.rng.pick({"slt", "sge", "ne"});
  std::string condition = body.program.fresh();
  body.text += body.indent + condition + " = arith.cmp" +
               (isReal ? "f " : "i ") + predicate + ", " + x.name + ", " +
               y.name + " : " + x.type() + "\n";
  return body.op("arith.select", condition + ", " + x.name + ", " + y.name,
                 x.type(), x.element, unite(x.range, y.range));
}

/// A function of one value.
static Value unary(Body &body, const Value &x, bool allowInexact) {
  Rng &rng = body.program.rng;
  bool isReal = isFloat(x.element);
  if (isReal && allowInexact && rng.chance(40))
    return transcendental(body, x, static_cast<int>(rng.below(7)));
  switch (rng.below(6)) {
  case 0: // relu
    return body.max(x, body.constant(x.element, 0));
  case 1:
    return body.clamp(x, -static_cast<double>(rng.between(1, 20)), 20);
  case 2:
    return isReal ? body.scale(x, static_cast<int>(rng.between(-3, 2)))
                  : body.multiply(x, body.constant(x.element, 3));
  case 3:
    return body.add(
        x, body.constant(x.element, static_cast<double>(rng.between(-9, 9))));
  case 4:
    return body.subtract(body.constant(x.element, 0), x);
  default:
    return abs(body, x);
  }
}

/// A function of two values of one type.
static Value binary(Body &body, const Value &x, const Value &y) {
  switch (body.program.rng.below(7)) {
  case 0:
  case 1:
    return body.add(x, y);
  case 2:
    return body.subtract(x, y);
  case 3:
    return body.multiply(x, y);
  case 4:
    return body.max(x, y);
  case 5:
    return body.min(x, y);
  default:
    return select(body, x, y);
  }
}

/// The type that comes after an element type, where there is another.
static Element pickResultElement(Rng &rng, const Value &x) {
  switch (x.element) {
  case Element::F32:
    return rng.pick({Element::F16, Element::BF16, Element::F64, Element::F16});
  case Element::I32:
    return rng.pick({Element::I8, Element::F32, Element::F16});
  case Element::F16:
    return rng.pick({Element::F32, Element::BF16});
  case Element::BF16:
    return Element::F32;
  case Element::F64:
    return Element::F32;
  case Element::I8:
    return rng.pick({Element::I32, Element::F16, Element::F32});
  default:
    return Element::F32;
  }
}

/// An element type that another operand of an op on `element` may have.
static Element pickOperandElement(Rng &rng, Element element) {
  if (rng.chance(75))
    return element;
  switch (element) {
  case Element::F32:
    return rng.pick({Element::F16, Element::BF16, Element::I8});
  case Element::I32:
    return Element::I8;
  case Element::F64:
    return Element::F32;
  case Element::F16:
  case Element::BF16:
    return Element::F32;
  default:
    return element;
  }
}

Value fuzz::makeStep(Program &program, const Value &input,
                     const StepOptions &options) {
  Rng &rng = program.rng;
  size_t rank = input.dims.size();

  // Sums of narrow types are of wider ones.
  Element compute = getInfo(input.element).bytes == 1
                        ? (isFloat(input.element) ? Element::F32 : Element::I32)
                        : input.element;
  Element stored = compute;
  if (options.allowCast && rng.chance(25)) {
    Value wide = input;
    wide.element = compute;
    stored = pickResultElement(rng, wide);
  }
  // A rounded number on the edge could become either integer.
  if (!isFloat(stored) && isFloat(compute) && !input.range.exact)
    stored = compute;

  std::vector<size_t> all(rank);
  for (size_t i = 0; i < rank; ++i)
    all[i] = i;
  std::vector<Value> inputs{input};
  std::vector<std::string> maps{formatMap(rank, all)};
  // Another operand: along some of the dimensions, in any order.
  if (rng.chance(65)) {
    std::vector<size_t> along;
    switch (rng.below(5)) {
    case 0: // the last one: a bias
    case 1:
      if (rank)
        along = {rank - 1};
      break;
    case 2: // all
      along = all;
      if (rng.chance(30))
        rng.shuffle(along);
      break;
    case 3: // any
      for (size_t dim : all)
        if (rng.chance(50))
          along.push_back(dim);
      rng.shuffle(along);
      break;
    default: // one number
      break;
    }
    Dims dims;
    for (size_t dim : along) {
      dims.push_back(program.makeDim(input.dims[dim].size));
    }
    Element element = pickOperandElement(rng, compute);
    inputs.push_back(program.argument(element, dims));
    maps.push_back(formatMap(rank, along));
  }
  Value output = emptyLike(program, input, stored);
  maps.push_back(formatMap(rank, all));

  return program.generic(
      std::vector<bool>(rank, false), maps, inputs, {output},
      [&](Body &body, const std::vector<Value> &x) {
        Value value = body.cast(x[0], compute);
        if (inputs.size() > 1)
          value = binary(body, value, body.cast(x[1], compute));
        if (inputs.size() == 1 || rng.chance(40))
          value = unary(body, value, options.allowInexact);
        if (!isFloat(stored) && isFloat(compute) && !value.range.exact)
          value = body.constant(compute, 1);
        return std::vector<Value>{body.cast(value, stored)};
      })[0];
}

Value fuzz::makeReduction(Program &program, const Value &input,
                          const std::vector<bool> &reduced,
                          std::vector<size_t> *order) {
  Rng &rng = program.rng;
  size_t rank = input.dims.size();
  std::vector<size_t> all(rank), kept;
  double count = 1;
  for (size_t i = 0; i < rank; ++i) {
    all[i] = i;
    if (!reduced[i]) {
      kept.push_back(i);
      continue;
    }
    count *= static_cast<double>(input.dims[i].size);
  }
  if (rng.chance(20))
    rng.shuffle(kept);
  if (order)
    *order = kept;
  Dims dims;
  for (size_t dim : kept)
    dims.push_back(input.dims[dim]);
  bool isReal = isFloat(input.element);
  Element element = getInfo(input.element).bytes == 1
                        ? (isReal ? Element::F32 : Element::I32)
                        : input.element;
  if (element == Element::F16 || element == Element::BF16)
    element = Element::F32;

  Value output = program.empty(element, dims, [&](size_t dim) {
    return std::pair<const Value *, size_t>(&input, kept[dim]);
  });
  int which = static_cast<int>(rng.below(5));
  // The products of many numbers are large.
  bool isProduct = which == 4 && count <= 8;
  bool isSum = which <= 1 || (which == 4 && !isProduct);
  double start = isSum ? 0 : isProduct ? 1 : which == 2 ? -1000 : 1000;
  Value init = program.fill(output, start);
  return program.generic(reduced, {formatMap(rank, all), formatMap(rank, kept)},
                         {input}, {init},
                         [&](Body &body, const std::vector<Value> &x) {
                           Value value = body.cast(x[0], element);
                           Value result;
                           Range range = value.range;
                           if (isSum) {
                             result = body.add(x[1], value);
                             range.bound = range.bound * std::max(count, 1.0);
                           } else if (isProduct) {
                             result = body.multiply(x[1], value);
                             double bound = 1;
                             for (int i = 0; i < static_cast<int>(count); ++i)
                               bound *= std::max(range.bound, 1.0);
                             range.bound = bound;
                             range.grid *= std::max(static_cast<int>(count), 1);
                           } else if (which == 2) {
                             result = body.max(x[1], value);
                             range = unite(range, x[1].range);
                           } else {
                             result = body.min(x[1], value);
                             range = unite(range, x[1].range);
                           }
                           result.range = asElement(element, range);
                           return std::vector<Value>{result};
                         })[0];
}

Case fuzz::generateElementwise(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  program.usesMemRefs = rng.chance(15);
  Element element =
      rng.pick({Element::F32, Element::F32, Element::F16, Element::BF16,
                Element::F64, Element::I32, Element::I8});
  size_t rank = static_cast<size_t>(rng.between(0, 4));
  Value value =
      program.argument(element, program.makeDims(pickSizes(rng, rank, 20'000)));
  int64_t steps = rng.between(1, 4);
  StepOptions options;
  options.allowInexact = rng.chance(40);
  for (int64_t i = 0; i < steps; ++i) {
    value = makeStep(program, value, options);
    if (rng.chance(15))
      program.result(value);
  }
  if (!program.isResult(value))
    program.result(value);
  return program.finish("elementwise");
}

Case fuzz::generateReduction(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  Element element =
      rng.pick({Element::F32, Element::F32, Element::F16, Element::BF16,
                Element::F64, Element::I32, Element::I8});
  size_t rank = static_cast<size_t>(rng.between(1, 4));
  Value value = program.argument(
      element, program.makeDims(pickSizes(rng, rank, 20'000, 2000)));
  StepOptions options;
  options.allowInexact = rng.chance(20);
  if (rng.chance(40))
    value = makeStep(program, value, options);
  int64_t count = rng.chance(25) ? 2 : 1;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<bool> reduced(rank);
    for (size_t dim = 0; dim < rank; ++dim)
      reduced[dim] = rng.chance(50);
    reduced[static_cast<size_t>(rng.below(static_cast<int64_t>(rank)))] = true;
    Value sum = makeReduction(program, value, reduced);
    if (rng.chance(40))
      sum = makeStep(program, sum, options);
    program.result(sum);
  }
  return program.finish("reduction");
}
