//===- Movement.cpp - Programs that move data: transposes, slices, gathers ===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

#include <algorithm>

using namespace fuzz;

/// An op on `input` that has one result, of the shape and with the operands
/// that are written out.
static Value write(Program &program, const Value &input, const Dims &dims,
                   const std::string &text, const std::string &types) {
  Value result = input;
  result.dims = dims;
  result.name = program.fresh();
  program.line(result.name + " = " + text + " : " + types +
               (types.empty() ? "" : " ") + "to " + result.type());
  return result;
}

static Value transpose(Program &program, const Value &input) {
  size_t rank = input.dims.size();
  std::vector<size_t> permutation = pickPermutation(program.rng, rank);
  Dims dims;
  for (size_t dim : permutation)
    dims.push_back(input.dims[dim]);
  Value output = program.empty(input.element, dims, [&](size_t dim) {
    return std::pair<const Value *, size_t>(&input, permutation[dim]);
  });
  Value result = output;
  result.range = input.range;
  result.name = program.fresh();
  program.line(result.name + " = linalg.transpose ins(" + input.name + " : " +
               input.type() + ") outs(" + output.name + " : " + output.type() +
               ") permutation = [" + join(permutation) + "]");
  return result;
}

static Value broadcast(Program &program, const Value &input) {
  int64_t at = program.rng.between(0, static_cast<int64_t>(input.dims.size()));
  Dims dims = input.dims;
  dims.insert(dims.begin() + at, program.makeDim(pickSize(program.rng, 6)));
  Value output = program.empty(
      input.element, dims, [&](size_t dim) -> std::pair<const Value *, size_t> {
        size_t added = static_cast<size_t>(at);
        if (dim == added)
          return {nullptr, 0};
        return {&input, dim < added ? dim : dim - 1};
      });
  Value result = output;
  result.range = input.range;
  result.name = program.fresh();
  program.line(result.name + " = linalg.broadcast ins(" + input.name + " : " +
               input.type() + ") outs(" + output.name + " : " + output.type() +
               ") dimensions = [" + std::to_string(at) + "]");
  return result;
}

/// Whether `value` is empty: upstream rejects slices of it.
static bool isEmpty(const Value &value) {
  for (const Dim &dim : value.dims)
    if (dim.size == 0)
      return true;
  return false;
}

static Value extractSlice(Program &program, const Value &input) {
  if (isEmpty(input))
    return input;
  std::vector<int64_t> offsets, sizes, strides;
  Dims dims;
  for (const Dim &dim : input.dims) {
    int64_t stride = program.rng.pick({1, 1, 1, 2, 3});
    int64_t offset = dim.size ? program.rng.below(dim.size) : 0;
    int64_t most = (dim.size - offset + stride - 1) / stride;
    int64_t size = most > 0 ? program.rng.between(1, most) : 0;
    if (program.rng.chance(30)) {
      offset = 0;
      stride = 1;
      size = dim.size;
    }
    offsets.push_back(offset);
    sizes.push_back(size);
    strides.push_back(stride);
    dims.push_back({size, false});
  }
  return write(program, input, dims,
               "tensor.extract_slice " + input.name + "[" + join(offsets) +
                   "] [" + join(sizes) + "] [" + join(strides) + "]",
               input.type());
}

static Value insertSlice(Program &program, const Value &input) {
  std::vector<int64_t> offsets, sizes, strides;
  Dims dims;
  for (const Dim &dim : input.dims) {
    int64_t stride = program.rng.pick({1, 1, 1, 2});
    int64_t offset = program.rng.below(4);
    offsets.push_back(offset);
    sizes.push_back(dim.size);
    strides.push_back(stride);
    // Upstream wants the offset of nothing, too, to be that of an element.
    int64_t reached = offset + std::max<int64_t>(dim.size - 1, 0) * stride + 1;
    dims.push_back(program.makeDim(reached + program.rng.below(4)));
  }
  Value source = input;
  // Sizes are constants here, and the types are static.
  for (Dim &dim : source.dims)
    dim.isDynamic = false;
  if (source.type() != input.type()) {
    source.name = program.fresh();
    program.line(source.name + " = tensor.cast " + input.name + " : " +
                 input.type() + " to " + source.type());
  }
  Value target = program.argument(input.element, dims);
  Value result = target;
  result.range = unite(input.range, target.range);
  result.name = program.fresh();
  program.line(result.name + " = tensor.insert_slice " + source.name +
               " into " + target.name + "[" + join(offsets) + "] [" +
               join(sizes) + "] [" + join(strides) + "] : " + source.type() +
               " into " + target.type());
  return result;
}

static Value pad(Program &program, const Value &input) {
  std::vector<int64_t> low, high;
  std::vector<std::string> indices;
  Dims dims = input.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    low.push_back(program.rng.between(0, 3));
    high.push_back(program.rng.between(0, 3));
    dims[i].size += low[i] + high[i];
    indices.push_back("%p" + std::to_string(i) + ": index");
  }
  Value value =
      program.constant(input.element, program.rng.pick({0, 0, 1, -2}));
  Value result = input;
  result.dims = dims;
  result.range = unite(input.range, value.range);
  result.name = program.fresh();
  program.line(result.name + " = tensor.pad " + input.name + " low[" +
               join(low) + "] high[" + join(high) + "] {");
  program.line("^bb0(" + join(indices) + "):");
  program.line("  tensor.yield " + value.name + " : " + value.type());
  program.line("} : " + input.type() + " to " + result.type());
  return result;
}

static Value concatenate(Program &program, const Value &input) {
  size_t at = static_cast<size_t>(
      program.rng.below(static_cast<int64_t>(input.dims.size())));
  Dims dims = input.dims;
  dims[at] = {pickSize(program.rng, 20), input.dims[at].isDynamic};
  Value other = program.argument(input.element, dims);
  Value result = input;
  result.dims[at].size += dims[at].size;
  result.range = unite(input.range, other.range);
  result.name = program.fresh();
  program.line(result.name + " = tensor.concat dim(" + std::to_string(at) +
               ") " + input.name + ", " + other.name + " : (" + input.type() +
               ", " + other.type() + ") -> " + result.type());
  return result;
}

static Value collapse(Program &program, const Value &input) {
  size_t at = static_cast<size_t>(
      program.rng.below(static_cast<int64_t>(input.dims.size()) - 1));
  Dims dims;
  std::string groups;
  for (size_t i = 0; i < input.dims.size(); ++i) {
    groups += groups.empty() ? "[" : ", [";
    if (i != at) {
      dims.push_back(input.dims[i]);
      groups += std::to_string(i) + "]";
      continue;
    }
    const Dim &next = input.dims[i + 1];
    dims.push_back({input.dims[i].size * next.size,
                    input.dims[i].isDynamic || next.isDynamic});
    groups += std::to_string(i) + ", " + std::to_string(i + 1) + "]";
    ++i;
  }
  Value result = input;
  result.dims = dims;
  result.name = program.fresh();
  program.line(result.name + " = tensor.collapse_shape " + input.name + " [" +
               groups + "] : " + input.type() + " into " + result.type());
  return result;
}

/// Rows that an argument of indices names.
static Value gather(Program &program, const Value &input) {
  Rng &rng = program.rng;
  Dims indexDims = program.makeDims({pickSize(rng, 40)});
  Element indexElement = rng.pick({Element::Index, Element::I32});
  Value indices = program.argument(indexElement, indexDims);
  Dims dims = input.dims;
  dims[0] = indexDims[0];
  Value output = program.empty(
      input.element, dims, [&](size_t dim) -> std::pair<const Value *, size_t> {
        return {dim ? &input : &indices, dim};
      });
  size_t rank = dims.size();
  std::vector<size_t> all(rank);
  for (size_t i = 0; i < rank; ++i)
    all[i] = i;
  return program.generic(
      std::vector<bool>(rank, false),
      {formatMap(rank, {0}), formatMap(rank, all)}, {indices}, {output},
      [&](Body &body, const std::vector<Value> &x) {
        Value row = x[0];
        if (indexElement != Element::Index) {
          // -8 to 8, where 0 to 8 are needed.
          Value positive = body.max(row, body.constant(Element::I32, 0));
          row = body.op("arith.index_cast", positive.name, "i32 to index",
                        Element::Index, {8, 0, true});
        }
        std::vector<std::string> position{row.name};
        for (size_t dim = 1; dim < rank; ++dim) {
          std::string index = program.fresh();
          body.text += body.indent + index + " = linalg.index " +
                       std::to_string(dim) + " : index\n";
          position.push_back(index);
        }
        return std::vector<Value>{
            body.op("tensor.extract", input.name + "[" + join(position) + "]",
                    input.type(), input.element, input.range)};
      })[0];
}

static Value softmax(Program &program, const Value &input) {
  int64_t at = program.rng.below(static_cast<int64_t>(input.dims.size()));
  Value output = emptyLike(program, input, input.element);
  Value result = output;
  result.range = {1, -1074, false};
  result.name = program.fresh();
  program.line(result.name + " = linalg.softmax dimension(" +
               std::to_string(at) + ") ins(" + input.name + " : " +
               input.type() + ") outs(" + output.name + " : " + output.type() +
               ") -> " + result.type());
  return result;
}

Case fuzz::generateMovement(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  Element element =
      rng.pick({Element::F32, Element::F32, Element::F16, Element::BF16,
                Element::F64, Element::I32, Element::I8});
  size_t rank = static_cast<size_t>(rng.between(1, 3));
  std::vector<int64_t> sizes = pickSizes(rng, rank, 8'000, 120);
  bool isGather = rng.chance(20);
  // Indices go up to 8.
  if (isGather)
    sizes[0] = std::max<int64_t>(sizes[0], 9);
  Value value = program.argument(element, program.makeDims(sizes));
  if (isGather)
    value = gather(program, value);
  int64_t steps = rng.between(isGather ? 0 : 1, 3);
  for (int64_t i = 0; i < steps; ++i) {
    size_t dims = value.dims.size();
    switch (rng.below(10)) {
    case 0:
      value = transpose(program, value);
      break;
    case 1:
      value = dims < 4 ? broadcast(program, value) : transpose(program, value);
      break;
    case 2:
      value = extractSlice(program, value);
      break;
    case 3:
      value = insertSlice(program, value);
      break;
    case 4:
      value = pad(program, value);
      break;
    case 5:
      value = concatenate(program, value);
      break;
    case 6:
      if (dims > 1)
        value = collapse(program, value);
      break;
    case 7:
      if (isFloat(value.element) && dims > 0 && value.element != Element::F64)
        value = softmax(program, value);
      break;
    default:
      value = makeStep(program, value);
    }
    if (rng.chance(10) && !program.isResult(value))
      program.result(value);
  }
  if (!program.isResult(value))
    program.result(value);
  return program.finish("movement");
}
