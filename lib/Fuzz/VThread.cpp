//===- VThread.cpp - Kernels of virtual threads, as written by hand -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

using namespace fuzz;

namespace {

/// C[v] = A[v] @ B[v] for a grid of virtual threads v in each workgroup, where
/// A, B or neither is the same for all of them.
struct Kernel {
  MatmulTypes types;
  std::vector<int64_t> grid;
  int64_t blocks;
  /// Fragments, and how many of them along K.
  int64_t m, n, k, steps;
  /// Rows and columns of the matrices that the tiles do not fill.
  int64_t shortM, shortN, shortK;
  bool isSharedA, isSharedB, isTransposedA, isTransposedB;
  bool isDepthFirst, hasInit;
};

} // namespace

static Kernel pickKernel(Rng &rng) {
  using E = Element;
  Kernel kernel;
  static const std::vector<MatmulTypes> types = {
      {E::F16, E::F16, E::F32},   {E::F16, E::F16, E::F16},
      {E::BF16, E::BF16, E::F32}, {E::I8, E::I8, E::I32},
      {E::F32, E::F32, E::F32},   {E::F64, E::F64, E::F64},
      {E::E4M3, E::E5M2, E::F32},
  };
  kernel.types = rng.pick(types);
  switch (rng.below(4)) {
  case 0:
    kernel.grid = {2, 2};
    break;
  case 1:
    kernel.grid = {rng.between(1, 3)};
    kernel.grid.push_back(rng.between(1, 3));
    break;
  default:
    kernel.grid = {rng.between(1, 5)};
  }
  kernel.blocks = rng.pick({1, 1, 2, 3});
  kernel.m = 16 * rng.pick({1, 1, 2});
  kernel.n = 16 * rng.pick({1, 1, 2});
  kernel.k = rng.pick({16, 16, 32});
  if (getInfo(kernel.types.a).bytes == 1)
    kernel.k = 32;
  // All that is done with fragments is code without loops; conversions of
  // 8-bit floats are long.
  int64_t most = getInfo(kernel.types.a).bytes > 1 ? 3100 : 2600;
  auto countNumbers = [&] {
    int64_t count = kernel.m * kernel.n + (kernel.m + kernel.n) * kernel.k;
    for (int64_t size : kernel.grid)
      count *= size;
    return count;
  };
  while (countNumbers() > most)
    if (kernel.m > 16)
      kernel.m = 16;
    else if (kernel.n > 16)
      kernel.n = 16;
    else
      --(kernel.grid[0] > kernel.grid.back() ? kernel.grid[0]
                                             : kernel.grid.back());
  kernel.steps = rng.between(1, 4);
  auto pickShort = [&](int64_t size) {
    return rng.chance(40) ? rng.below(size) : 0;
  };
  kernel.shortM = pickShort(kernel.m);
  kernel.shortN = pickShort(kernel.n);
  kernel.shortK = pickShort(kernel.k);
  kernel.isSharedA = rng.chance(35);
  kernel.isSharedB = !kernel.isSharedA && rng.chance(50);
  kernel.isTransposedA = rng.chance(25);
  kernel.isTransposedB = rng.chance(25);
  kernel.isDepthFirst = rng.chance(30);
  kernel.hasInit = rng.chance(30);
  return kernel;
}

static std::string formatFragment(int64_t rows, int64_t cols, Element element,
                                  const char *role) {
  return "!tessera.fragment<" + std::to_string(rows) + "x" +
         std::to_string(cols) + "x" + getInfo(element).name + ", " + role + ">";
}

Case fuzz::generateVThread(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  Kernel kernel = pickKernel(rng);
  int64_t count = kernel.blocks;
  for (int64_t size : kernel.grid)
    count *= size;

  int64_t rows = kernel.m - kernel.shortM, cols = kernel.n - kernel.shortN,
          depth = kernel.k * kernel.steps - kernel.shortK;
  auto makeMatrices = [&](Element element, bool isShared, bool isTransposed,
                          int64_t first, int64_t second) {
    return std::string("memref<") +
           std::to_string(isShared ? kernel.blocks : count) + "x" +
           std::to_string(isTransposed ? second : first) + "x" +
           std::to_string(isTransposed ? first : second) + "x" +
           getInfo(element).name + ">";
  };
  std::string aType = makeMatrices(kernel.types.a, kernel.isSharedA,
                                   kernel.isTransposedA, rows, depth);
  std::string bType = makeMatrices(kernel.types.b, kernel.isSharedB,
                                   kernel.isTransposedB, depth, cols);
  std::string cType =
      makeMatrices(kernel.types.accumulator, false, false, rows, cols);
  std::string a = program.argument(aType), b = program.argument(bType),
              c = program.argument(cType);

  std::string fragmentA =
      formatFragment(kernel.m, kernel.k, kernel.types.a, "a");
  std::string fragmentB =
      formatFragment(kernel.k, kernel.n, kernel.types.b, "b");
  std::string fragmentC =
      formatFragment(kernel.m, kernel.n, kernel.types.accumulator, "acc");

  std::string zero = program.index(0), one = program.index(1);
  std::string blocks = program.index(kernel.blocks);
  std::string perBlock = program.index(count / kernel.blocks);
  std::string step = program.index(kernel.k);
  std::string end = program.index(kernel.k * kernel.steps);
  std::string start = program.constant(kernel.types.accumulator, 0).name;

  // A single step can load what is shared outside of the region.
  bool isHoisted = kernel.steps == 1 && rng.chance(60);
  auto load = [&](const std::string &indent, const char *name,
                  const std::string &memory, const std::string &index,
                  const std::string &row, const std::string &col,
                  bool isTransposed, const std::string &memoryType,
                  const std::string &fragment) {
    program.line(indent + name + " = tessera.load " + memory + "[" + index +
                 ", " + (isTransposed ? col : row) + ", " +
                 (isTransposed ? row : col) + "]" +
                 (isTransposed ? " transpose" : "") + " : " + memoryType +
                 " -> " + fragment);
  };
  auto loadA = [&](const std::string &indent, const std::string &k) {
    load(indent, "%a", a, kernel.isSharedA ? "%bx" : "%which", zero, k,
         kernel.isTransposedA, aType, fragmentA);
  };
  auto loadB = [&](const std::string &indent, const std::string &k) {
    load(indent, "%b", b, kernel.isSharedB ? "%bx" : "%which", k, zero,
         kernel.isTransposedB, bType, fragmentB);
  };

  program.line("%lanes = gpu.subgroup_size : index");
  program.line("gpu.launch blocks(%bx, %by, %bz) in (%gx = " + blocks +
               ", %gy = " + one + ", %gz = " + one + ")");
  program.line("           threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = " +
               one + ", %sz = " + one + ") {");
  program.line("  %first = arith.muli %bx, " + perBlock + " : index");
  if (isHoisted && kernel.isSharedA)
    loadA("  ", zero);
  if (isHoisted && kernel.isSharedB)
    loadB("  ", zero);

  std::vector<std::string> indices;
  for (size_t i = 0; i < kernel.grid.size(); ++i)
    indices.push_back("%i" + std::to_string(i));
  program.line("  tessera.vthread (" + join(indices) + ") in (" +
               join(kernel.grid) + ")" +
               (kernel.isDepthFirst ? " order depth_first {" : " {"));
  std::string linear = indices[0];
  if (indices.size() == 2) {
    std::string width = program.index(kernel.grid[1]);
    program.line("    %row = arith.muli %i0, " + width + " : index");
    program.line("    %linear = arith.addi %row, %i1 : index");
    linear = "%linear";
  }
  program.line("    %which = arith.addi %first, " + linear + " : index");
  if (kernel.hasInit)
    program.line("    %init = tessera.load " + c + "[%which, " + zero + ", " +
                 zero + "] : " + cType + " -> " + fragmentC);
  else
    program.line("    %init = tessera.fill " + start + " : " + fragmentC);

  auto matmul = [&](const std::string &indent, const char *result,
                    const char *sum, const std::string &k) {
    if (!(isHoisted && kernel.isSharedA))
      loadA(indent, k);
    if (!(isHoisted && kernel.isSharedB))
      loadB(indent, k);
    program.line(indent + result + " = tessera.mma %a, %b, " + sum + " : " +
                 fragmentA + ", " + fragmentB + " -> " + fragmentC);
  };
  if (kernel.steps == 1) {
    matmul("    ", "%c", "%init", zero);
  } else {
    program.line("    %c = scf.for %k = " + zero + " to " + end + " step " +
                 step + " iter_args(%sum = %init) -> " + fragmentC + " {");
    matmul("      ", "%next", "%sum", "%k");
    program.line("      scf.yield %next : " + fragmentC);
    program.line("    }");
  }
  program.line("    tessera.store %c, " + c + "[%which, " + zero + ", " + zero +
               "] : " + fragmentC + ", " + cType);
  program.line("    tessera.yield");
  program.line("  }");
  program.line("  gpu.terminator");
  program.line("}");

  Range numbers{getInfo(kernel.types.a).filled, 0, true};
  Range sum = getTermSum(kernel.types.accumulator, kernel.types.a, numbers,
                         numbers, static_cast<double>(depth));
  sum = fuzz::add(kernel.types.accumulator, sum,
                  {getInfo(kernel.types.accumulator).filled, 0, true});
  if (!sum.exact)
    program.makeInexact();
  return program.finish("vthread");
}
