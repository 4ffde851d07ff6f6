//===- Matmul.cpp - Matmuls in linalg's forms -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

#include <algorithm>

using namespace fuzz;

MatmulTypes fuzz::pickMatmulTypes(Rng &rng) {
  using E = Element;
  static const std::vector<MatmulTypes> types = {
      {E::F16, E::F16, E::F32},   {E::F16, E::F16, E::F32},
      {E::F16, E::F16, E::F16},   {E::BF16, E::BF16, E::F32},
      {E::BF16, E::BF16, E::F32}, {E::BF16, E::BF16, E::BF16},
      {E::F32, E::F32, E::F32},   {E::F32, E::F32, E::F32},
      {E::F64, E::F64, E::F64},   {E::I8, E::I8, E::I32},
      {E::I8, E::I8, E::I32},     {E::E4M3, E::E4M3, E::F32},
      {E::E5M2, E::E5M2, E::F32}, {E::E4M3, E::E5M2, E::F32},
      {E::E5M2, E::E4M3, E::F16}, {E::E4M3, E::E4M3, E::F16},
      {E::F16, E::F32, E::F32},   {E::I32, E::I32, E::I32},
  };
  return rng.pick(types);
}

namespace {

/// The role of a loop of a matmul.
enum class Role { Batch, M, N, K };

/// The loops and operands of a matmul. The loops of an operand are in the order
/// of its dimensions.
struct Shape {
  std::vector<Role> loops;
  std::vector<size_t> lhs, rhs, output;
  /// A named op, whose maps these are; empty for any.
  std::string name;
  /// Whether the maps must be printed with the name.
  bool hasMaps = false;
};

} // namespace

/// Named ops, whose operands may be transposed where they have a matrix.
static Shape pickNamedShape(Rng &rng, bool isPlain) {
  using R = Role;
  struct Named {
    const char *name;
    Shape shape;
  };
  static const std::vector<Named> all = {
      {"linalg.matmul", {{R::M, R::N, R::K}, {0, 2}, {2, 1}, {0, 1}, {}}},
      {"linalg.batch_matmul",
       {{R::Batch, R::M, R::N, R::K}, {0, 1, 3}, {0, 3, 2}, {0, 1, 2}, {}}},
      {"linalg.matmul", {{R::M, R::N, R::K}, {0, 2}, {2, 1}, {0, 1}, {}}},
      {"linalg.matvec", {{R::M, R::K}, {0, 1}, {1}, {0}, {}}},
      {"linalg.vecmat", {{R::N, R::K}, {1}, {1, 0}, {0}, {}}},
      {"linalg.batch_matvec",
       {{R::Batch, R::M, R::K}, {0, 1, 2}, {0, 2}, {0, 1}, {}}},
      {"linalg.batch_vecmat",
       {{R::Batch, R::N, R::K}, {0, 2}, {0, 2, 1}, {0, 1}, {}}},
      {"linalg.batch_reduce_matmul",
       {{R::K, R::M, R::N, R::K}, {0, 1, 3}, {0, 3, 2}, {1, 2}, {}}},
      {"linalg.dot", {{R::K}, {0}, {0}, {}, {}}},
      {"linalg.mmt4d",
       {{R::M, R::N, R::K, R::M, R::N, R::K},
        {0, 2, 3, 5},
        {1, 2, 4, 5},
        {0, 1, 3, 4},
        {}}},
  };
  const Named &named = all[static_cast<size_t>(
      isPlain ? rng.below(2) : rng.below(static_cast<int64_t>(all.size())))];
  Shape shape = named.shape;
  shape.name = named.name;
  if (!isPlain &&
      (shape.name == "linalg.matmul" || shape.name == "linalg.batch_matmul")) {
    for (std::vector<size_t> *operand : {&shape.lhs, &shape.rhs})
      if (rng.chance(35)) {
        std::swap(operand->back(), (*operand)[operand->size() - 2]);
        shape.hasMaps = true;
      }
  }
  return shape;
}

/// Any number of loops of each role, and any order of the operands' dimensions.
static Shape pickFreeShape(Rng &rng) {
  Shape shape;
  auto addLoops = [&](Role role, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      shape.loops.push_back(role);
  };
  addLoops(Role::Batch, rng.pick({0, 0, 1, 1, 2}));
  addLoops(Role::M, rng.pick({1, 1, 1, 2, 0}));
  addLoops(Role::N, rng.pick({1, 1, 1, 2, 0}));
  addLoops(Role::K, rng.pick({1, 1, 1, 2}));
  if (rng.chance(50))
    rng.shuffle(shape.loops);
  for (size_t i = 0; i < shape.loops.size(); ++i) {
    Role role = shape.loops[i];
    // A batch may be one of one operand only, which reads the same for all.
    int missing = role == Role::Batch && rng.chance(20)
                      ? static_cast<int>(rng.between(1, 2))
                      : 0;
    if (role != Role::N && missing != 1)
      shape.lhs.push_back(i);
    if (role != Role::M && missing != 2)
      shape.rhs.push_back(i);
    if (role != Role::K)
      shape.output.push_back(i);
  }
  for (std::vector<size_t> *operand : {&shape.lhs, &shape.rhs, &shape.output})
    if (rng.chance(50))
      rng.shuffle(*operand);
  return shape;
}

Value fuzz::makeMatmul(Program &program, const MatmulOptions &options) {
  Rng &rng = program.rng;
  MatmulTypes types = options.types ? *options.types : pickMatmulTypes(rng);
  // Without a draw of `rng`, whose other programs stay as they are.
  if (program.machine.drawsInt4 && !options.types && !options.lhs &&
      Rng(Rng(rng).next(), 3).chance(40))
    types = {Element::I4, Element::I4, Element::I32};
  bool isNamed = options.isPlain || rng.chance(50);
  Shape shape =
      isNamed ? pickNamedShape(rng, options.isPlain) : pickFreeShape(rng);
  if (options.lhs) {
    // A matrix, or matrices, come as they are.
    shape = {
        {Role::M, Role::N, Role::K}, {0, 2}, {2, 1}, {0, 1}, "linalg.matmul"};
    if (options.lhs->dims.size() == 3)
      shape = {{Role::Batch, Role::M, Role::N, Role::K},
               {0, 1, 3},
               {0, 3, 2},
               {0, 1, 2},
               "linalg.batch_matmul"};
    types.a = options.lhs->element;
  }

  // Sizes.
  size_t count = shape.loops.size();
  std::vector<int64_t> sizes = pickSizes(rng, count, options.budget);
  // Rows that bulk copies can read, where there are any.
  if (program.machine.hasGroups && Rng(Rng(rng).next(), 2).chance(70))
    for (const std::vector<size_t> *operand :
         {&shape.lhs, &shape.rhs, &shape.output})
      if (!operand->empty())
        sizes[operand->back()] = (sizes[operand->back()] + 15) / 16 * 16;
  if (options.lhs)
    for (size_t i = 0; i < shape.lhs.size(); ++i)
      sizes[shape.lhs[i]] = options.lhs->dims[i].size;
  if (options.lhs && countElements(options.lhs->dims) > 0) {
    int64_t limit = options.budget / countElements(options.lhs->dims);
    size_t n = count - 2;
    sizes[n] = std::min(sizes[n], std::max<int64_t>(limit, 1));
  }
  double terms = 1;
  for (size_t i = 0; i < count; ++i)
    if (shape.loops[i] == Role::K)
      terms *= static_cast<double>(sizes[i]);

  // Operands.
  auto makeDims = [&](const std::vector<size_t> &loops) {
    std::vector<int64_t> extents;
    for (size_t loop : loops)
      extents.push_back(sizes[loop]);
    return program.makeDims(extents);
  };
  auto makeOperand = [&](Element element, const std::vector<size_t> &loops) {
    Value argument = program.argument(element, makeDims(loops));
    return options.makeOperand ? options.makeOperand(program, argument)
                               : argument;
  };
  Value lhs = options.lhs ? *options.lhs : makeOperand(types.a, shape.lhs);
  Value rhs = makeOperand(types.b, shape.rhs);
  types.a = lhs.element;
  types.b = rhs.element;

  // The output: filled, or what an argument holds.
  Dims outputDims = makeDims(shape.output);
  Value output;
  if (rng.chance(25)) {
    output = program.argument(types.accumulator, outputDims);
  } else {
    output = program.empty(
        types.accumulator, outputDims,
        [&](size_t dim) -> std::pair<const Value *, size_t> {
          for (auto [operand, loops] :
               {std::pair(&lhs, &shape.lhs), std::pair(&rhs, &shape.rhs)}) {
            auto found =
                std::find(loops->begin(), loops->end(), shape.output[dim]);
            if (found != loops->end())
              return {operand, static_cast<size_t>(found - loops->begin())};
          }
          return {nullptr, 0};
        });
    output = program.fill(
        output, rng.chance(80) ? 0 : static_cast<double>(rng.between(-5, 5)));
  }

  // Unsigned integers are extended so in the body, or by the op's attribute.
  bool isNarrow = types.a == types.b &&
                  (types.a == Element::I8 || types.a == Element::I4) &&
                  types.accumulator == Element::I32;
  bool isUnsignedA = isNarrow && rng.chance(25);
  bool isUnsignedB =
      isNarrow && (isUnsignedA ? rng.chance(70) : rng.chance(10));
  Range a = lhs.range, b = rhs.range;
  if (isUnsignedA)
    a.bound = 2 * getInfo(types.a).largest + 1;
  if (isUnsignedB)
    b.bound = 2 * getInfo(types.b).largest + 1;
  Range sum = fuzz::add(types.accumulator, output.range,
                        getTermSum(types.accumulator, types.a, a, b, terms));
  int64_t matrices = 1;
  for (size_t i = 0; i < count; ++i)
    if (shape.loops[i] == Role::Batch)
      matrices *= sizes[i];
  std::string schedule =
      pickSchedule(program, types, /*isStaged=*/false, matrices);

  std::vector<std::string> maps = {formatMap(count, shape.lhs),
                                   formatMap(count, shape.rhs),
                                   formatMap(count, shape.output)};
  bool isFree = shape.name.empty();
  bool needsBody = isUnsignedA || isUnsignedB;
  if (needsBody && isUnsignedA && isUnsignedB &&
      shape.name == "linalg.matmul" && rng.chance(50)) {
    std::string attributes = "{cast = #linalg.type_fn<cast_unsigned>";
    if (!schedule.empty())
      attributes += ", " + schedule.substr(1);
    else
      attributes += "}";
    return program.structured(
        shape.name +
            (shape.hasMaps ? " indexing_maps = [" + join(maps) + "] " : " ") +
            attributes,
        {lhs, rhs}, output, sum);
  }
  bool useContract = isFree && !needsBody && rng.chance(50);
  if (useContract || (!isFree && !needsBody)) {
    std::string name = useContract ? "linalg.contract" : shape.name;
    if (useContract || shape.hasMaps)
      name += " indexing_maps = [" + join(maps) + "]";
    if (!schedule.empty())
      name += " " + schedule;
    return program.structured(name, {lhs, rhs}, output, sum);
  }

  std::vector<bool> loops;
  for (Role role : shape.loops)
    loops.push_back(role == Role::K);
  return program.generic(
      loops, maps, {lhs, rhs}, {output},
      [&](Body &body, const std::vector<Value> &x) {
        Value first = body.cast(x[0], types.accumulator, isUnsignedA);
        Value second = body.cast(x[1], types.accumulator, isUnsignedB);
        bool isSwapped = rng.chance(20);
        Value product = isSwapped ? body.multiply(second, first)
                                  : body.multiply(first, second);
        isSwapped = rng.chance(30);
        Value result =
            isSwapped ? body.add(product, x[2]) : body.add(x[2], product);
        result.range = sum;
        return std::vector<Value>{result};
      },
      schedule)[0];
}

Case fuzz::generateContraction(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  program.usesMemRefs = rng.chance(15);
  program.result(makeMatmul(program));
  return program.finish("contraction");
}
