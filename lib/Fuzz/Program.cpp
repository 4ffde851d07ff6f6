//===- Program.cpp - A random program, as it is written -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Program.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace fuzz;

std::string Value::type() const {
  if (isScalar)
    return getInfo(element).name;
  std::string text = isMemRef ? "memref<" : "tensor<";
  for (const Dim &dim : dims)
    text += (dim.isDynamic ? "?" : std::to_string(dim.size)) + "x";
  return text + getInfo(element).name + ">";
}

/// "1.5" or "3", as MLIR reads it.
static std::string formatNumber(Element element, double value) {
  char buffer[64];
  if (isFloat(element))
    std::snprintf(buffer, sizeof(buffer), "%.17e", value);
  else
    std::snprintf(buffer, sizeof(buffer), "%lld",
                  static_cast<long long>(value));
  if (std::trunc(value) == value && isFloat(element))
    std::snprintf(buffer, sizeof(buffer), "%.1f", value);
  return buffer;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Value Body::op(const std::string &name, const std::string &operands,
               const std::string &type, Element element, const Range &range) {
  Value value{program.fresh(), element, {}, range};
  value.isScalar = true;
  text += indent;
  text += value.name;
  text += " = ";
  text += name + " " + operands + " : " + type + "\n";
  return value;
}

static std::string pair(const Value &a, const Value &b) {
  return a.name + ", " + b.name;
}

Value Body::add(const Value &a, const Value &b) {
  return op(isFloat(a.element) ? "arith.addf" : "arith.addi", pair(a, b),
            a.type(), a.element, fuzz::add(a.element, a.range, b.range));
}

Value Body::subtract(const Value &a, const Value &b) {
  return op(isFloat(a.element) ? "arith.subf" : "arith.subi", pair(a, b),
            a.type(), a.element, fuzz::add(a.element, a.range, b.range));
}

Value Body::multiply(const Value &a, const Value &b) {
  return op(isFloat(a.element) ? "arith.mulf" : "arith.muli", pair(a, b),
            a.type(), a.element, fuzz::multiply(a.element, a.range, b.range));
}

Value Body::max(const Value &a, const Value &b) {
  return op(isFloat(a.element) ? "arith.maximumf" : "arith.maxsi", pair(a, b),
            a.type(), a.element, unite(a.range, b.range));
}

Value Body::min(const Value &a, const Value &b) {
  return op(isFloat(a.element) ? "arith.minimumf" : "arith.minsi", pair(a, b),
            a.type(), a.element, unite(a.range, b.range));
}

Value Body::clamp(const Value &a, double least, double greatest) {
  Value low = constant(a.element, least);
  Value high = constant(a.element, greatest);
  Value result = min(max(a, low), high);
  result.range.bound =
      std::min(a.range.bound, std::max(std::fabs(least), std::fabs(greatest)));
  return result;
}

Value Body::scale(const Value &a, int exponent) {
  Value result = multiply(a, constant(a.element, std::ldexp(1.0, exponent)));
  result.range = asElement(a.element, {std::ldexp(a.range.bound, exponent),
                                       a.range.grid + exponent, a.range.exact});
  return result;
}

Value Body::constant(Element element, double value) {
  return program.constant(element, value);
}

Value Body::cast(const Value &a, Element element, bool isUnsigned) {
  if (a.element == element)
    return a;
  const ElementInfo &from = getInfo(a.element), &to = getInfo(element);
  std::string type = a.type() + std::string(" to ") + to.name;
  auto make = [&](const char *name, Range range) {
    return op(name, a.name, type, element, asElement(element, range));
  };
  if (from.isFloat && to.isFloat) {
    // Neither is a part of the other.
    if (from.bytes == to.bytes)
      return cast(cast(a, Element::F32), element);
    return make(from.bytes < to.bytes ? "arith.extf" : "arith.truncf", a.range);
  }
  if (!from.isFloat && !to.isFloat) {
    if (from.precision < to.precision) {
      Range range = a.range;
      if (isUnsigned)
        range.bound = 2 * from.largest + 1;
      return make(isUnsigned ? "arith.extui" : "arith.extsi", range);
    }
    Value clamped = clamp(a, -to.largest, to.largest);
    return op("arith.trunci", clamped.name, type, element,
              asElement(element, clamped.range));
  }
  if (to.isFloat) {
    Range range = a.range;
    if (isUnsigned)
      range.bound = 2 * from.largest + 1;
    return make(isUnsigned ? "arith.uitofp" : "arith.sitofp", range);
  }
  // The largest i32 is not representable in f32.
  Value clamped =
      clamp(a, -std::min(to.largest, 1e6), std::min(to.largest, 1e6));
  return op("arith.fptosi", clamped.name, type, element,
            asElement(element, clamped.range));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Program::Program(Rng &rng, const Machine &machine)
    : rng(rng), machine(machine) {
  dynamicPercent = rng.pick({0, 0, 0, 100, 50});
}

std::string Program::fresh() { return "%v" + std::to_string(nextValue++); }

void Program::line(const std::string &line) { text += "  " + line + "\n"; }

Dim Program::makeDim(int64_t size) {
  return {size, rng.chance(dynamicPercent)};
}

Dims Program::makeDims(const std::vector<int64_t> &sizes) {
  Dims dims;
  for (int64_t size : sizes)
    dims.push_back(makeDim(size));
  return dims;
}

Value Program::argument(Element element, const Dims &dims) {
  Value value{"%arg" + std::to_string(signature.size()),
              element,
              dims,
              {getInfo(element).filled, 0, true}};
  value.isMemRef = usesMemRefs;
  std::string spec = "int:" + std::to_string(rng.below(1000));
  std::string shape;
  bool isDynamic = false;
  for (const Dim &dim : dims) {
    isDynamic |= dim.isDynamic;
    shape += (shape.empty() ? "" : "x") + std::to_string(dim.size);
  }
  if (isDynamic)
    spec += ":" + shape + (dims.size() == 1 ? "x" : "");
  signature.push_back(value.name + ": " + value.type());
  arguments.push_back("--arg=" + spec);
  return value;
}

std::string Program::argument(const std::string &type) {
  std::string name = "%arg" + std::to_string(signature.size());
  signature.push_back(name + ": " + type);
  arguments.push_back("--arg=int:" + std::to_string(rng.below(1000)));
  return name;
}

Value Program::constant(Element element, double value) {
  std::string number = formatNumber(element, value);
  std::string key = number + " : " + getInfo(element).name;
  std::string &name = constants[key];
  if (name.empty()) {
    name = "%c" + std::to_string(constants.size() - 1);
    constantText += "  " + name + " = arith.constant " + key + "\n";
  }
  int grid = 0;
  double scaled = std::fabs(value);
  while (grid > -40 && std::trunc(scaled) != scaled) {
    scaled *= 2;
    --grid;
  }
  Value result{name, element, {}, {std::fabs(value), grid, true}};
  result.isScalar = true;
  result.range = asElement(element, result.range);
  return result;
}

std::string Program::index(int64_t value) {
  return constant(Element::Index, static_cast<double>(value)).name;
}

std::string Program::size(const Dim &dim, const Value *source,
                          size_t position) {
  if (!source)
    return index(dim.size);
  std::string at = index(static_cast<int64_t>(position));
  std::string name = fresh();
  line(name + " = " + (source->isMemRef ? "memref" : "tensor") + ".dim " +
       source->name + ", " + at + " : " + source->type());
  return name;
}

Value Program::empty(Element element, const Dims &dims,
                     const FindSource &find) {
  if (usesMemRefs)
    return argument(element, dims);
  std::vector<std::string> sizes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!dims[i].isDynamic)
      continue;
    auto [source, position] =
        find ? find(i) : std::pair<const Value *, size_t>(nullptr, 0);
    sizes.push_back(size(dims[i], source, position));
  }
  Value value{fresh(), element, dims, {}};
  line(value.name + " = tensor.empty(" + join(sizes) + ") : " + value.type());
  return value;
}

Value Program::fill(const Value &output, double value) {
  Value number = constant(output.element, value);
  return structured("linalg.fill", {number}, output, number.range);
}

/// "ins(%a, %b : tensor<...>, tensor<...>)".
static std::string formatOperands(const char *name,
                                  const std::vector<Value> &values) {
  if (values.empty())
    return "";
  std::vector<std::string> names, types;
  for (const Value &value : values) {
    names.push_back(value.name);
    types.push_back(value.type());
  }
  return std::string(" ") + name + "(" + join(names) + " : " + join(types) +
         ")";
}

Value Program::structured(const std::string &op,
                          const std::vector<Value> &inputs, const Value &output,
                          const Range &range, const std::string &suffix) {
  Value result = output;
  result.range = range;
  std::string line = op + formatOperands("ins", inputs) +
                     formatOperands("outs", {output}) + suffix;
  if (output.isMemRef) {
    this->line(line);
    this->result(result);
    return result;
  }
  result.name = fresh();
  this->line(result.name + " = " + line + " -> " + result.type());
  return result;
}

std::vector<Value> Program::generic(const std::vector<bool> &loops,
                                    const std::vector<std::string> &maps,
                                    const std::vector<Value> &inputs,
                                    const std::vector<Value> &outputs,
                                    const MakeBody &makeBody,
                                    const std::string &attribute) {
  std::vector<std::string> iterators;
  for (bool isReduction : loops)
    iterators.push_back(isReduction ? "\"reduction\"" : "\"parallel\"");

  Body body(*this, "    ");
  std::vector<Value> arguments;
  std::vector<std::string> declarations;
  for (const std::vector<Value> *operands : {&inputs, &outputs})
    for (const Value &operand : *operands) {
      Value element{fresh(), operand.element, {}, operand.range};
      element.isScalar = true;
      arguments.push_back(element);
      declarations.push_back(element.name + ": " + element.type());
    }
  std::vector<Value> yielded = makeBody(body, arguments);

  std::vector<Value> results;
  std::vector<std::string> names, types, yieldedNames, yieldedTypes;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Value result = outputs[i];
    result.range = yielded[i].range;
    yieldedNames.push_back(yielded[i].name);
    yieldedTypes.push_back(yielded[i].type());
    types.push_back(result.type());
    if (result.isMemRef) {
      this->result(result);
    } else {
      result.name = fresh();
      names.push_back(result.name);
    }
    results.push_back(result);
  }
  std::string assigned = names.empty() ? "" : join(names) + " = ";
  line(assigned + "linalg.generic {");
  line("    indexing_maps = [" + join(maps) + "],");
  line("    iterator_types = [" + join(iterators) + "]}");
  line("   " + formatOperands("ins", inputs) + formatOperands("outs", outputs) +
       (attribute.empty() ? "" : " attrs = " + attribute) + " {");
  line("^bb0(" + join(declarations) + "):");
  text += body.text;
  line("  linalg.yield " + join(yieldedNames) + " : " + join(yieldedTypes));
  line(names.empty()       ? "}"
       : names.size() == 1 ? "} -> " + types[0]
                           : "} -> (" + join(types) + ")");
  return results;
}

void Program::result(const Value &value) { results.push_back(value); }

bool Program::isResult(const Value &value) const {
  return std::any_of(results.begin(), results.end(), [&](const Value &result) {
    return result.name == value.name;
  });
}

Case Program::finish(const std::string &kind) {
  Case result;
  result.kind = kind;
  std::vector<std::string> names, types;
  for (const Value &value : results) {
    isExact &= value.range.exact;
    if (value.isMemRef)
      continue;
    names.push_back(value.name);
    types.push_back(value.type());
  }
  result.isExact = isExact;
  result.text = "func.func @main(" + join(signature) + ")" +
                (types.empty() ? "" : " -> (" + join(types) + ")") + " {\n" +
                constantText + text + "  return" +
                (names.empty() ? "" : " " + join(names) + " : " + join(types)) +
                "\n}\n";
  result.options = arguments;
  return result;
}
