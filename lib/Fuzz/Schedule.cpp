//===- Schedule.cpp - Random schedules ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

using namespace fuzz;

namespace {

/// A schedule as #tessera.schedule holds it.
struct Schedule {
  int64_t workgroup[2], subgroup[2], vthread[2];
  int64_t k, kFragment, stages;
};

/// An entry that not every schedule has.
struct OptionalEntry {
  const char *name;
  int percent;
  std::vector<const char *> values;
};

} // namespace

/// Name, how often, and which values.
static const std::vector<OptionalEntry> &getOptionalEntries() {
  static const std::vector<OptionalEntry> entries = {
      {"interleave", 10, {"1"}},       {"splitK", 10, {"2", "3", "4"}},
      {"raster", 10, {"1", "2", "3"}}, {"persistent", 10, {"1", "3", "7"}},
      {"swizzle", 30, {"true"}},
  };
  return entries;
}

/// Workgroup memory that every chip has.
static constexpr int64_t memoryBytes = 40 * 1024;

/// Numbers in a subgroup's fragments.
static int64_t countFragments(const Schedule &s) {
  return s.subgroup[0] * s.subgroup[1] +
         (s.subgroup[0] + s.subgroup[1]) * s.kFragment;
}

/// The most of them, where compilation is to take a second or so. Tests of
/// bounds, which sizes not known make necessary, are long.
static int64_t getMost(const Program &program) {
  return program.isDynamic() ? 512 : 1024;
}

/// Bytes of the staged operands, rows padded as any chip pads them.
static int64_t countBytes(const Schedule &s, int64_t aBytes, int64_t bBytes) {
  int64_t padded = s.workgroup[0] + s.workgroup[1] + 32;
  int64_t a = (s.k + 16) * padded * aBytes, b = (s.k + 16) * padded * bBytes;
  return s.stages * (a > b ? a : b);
}

/// Whether rows of so many bytes can be swizzled.
static bool isSwizzle(int64_t bytes) {
  return bytes == 32 || bytes == 64 || bytes % 128 == 0;
}

/// Whether the staged operands can be swizzled, whichever way they are stored.
static bool canSwizzle(const Schedule &s, int64_t aBytes, int64_t bBytes) {
  return s.stages > 0 && isSwizzle(s.k * aBytes) && isSwizzle(s.k * bBytes) &&
         isSwizzle(s.workgroup[0] * aBytes) &&
         isSwizzle(s.workgroup[1] * bBytes);
}

/// Whether partial sums of this type can be added atomically.
static bool hasAtomicAdd(Element accumulator) {
  return accumulator == Element::F32 || accumulator == Element::F64 ||
         accumulator == Element::I32;
}

/// "name = [M, N], ".
static std::string format(const char *name, const int64_t (&pair)[2]) {
  return std::string(name) + " = [" + std::to_string(pair[0]) + ", " +
         std::to_string(pair[1]) + "], ";
}

/// A schedule for groups of four subgroups, as Hopper's warpgroups: fragments
/// of 64 rows, and operands in swizzled workgroup memory. Its instructions take
/// some types only along K, and some not at all: then it is rejected. If
/// `isWide`, fragments have 128 rows and at least 16 columns; eight subgroups
/// own those of 256 columns.
static std::string pickGroupSchedule(Rng &rng, int64_t bytes, bool isWide) {
  Schedule s;
  s.subgroup[0] = 64 * rng.pick({1, 1, 1, 2});
  s.subgroup[1] = rng.pick({8, 32, 64, 64, 128, 256});
  if (isWide) {
    s.subgroup[0] = 128;
    s.subgroup[1] = std::max<int64_t>(s.subgroup[1], 16);
  }
  s.workgroup[0] = s.subgroup[0] * rng.pick({1, 1, 2, 3});
  s.workgroup[1] = s.subgroup[1] * rng.pick({1, 1, 2});
  s.k = rng.pick({32, 64, 128}) / bytes;
  s.stages = rng.pick({1, 2, 3, 4, 5});
  // A slot for each stage, and the output's tile.
  constexpr int64_t most = 200 * 1024;
  int64_t output = s.workgroup[0] * s.workgroup[1] * 4;
  while (s.stages > 1 &&
         output + s.stages * (s.workgroup[0] + s.workgroup[1]) * s.k * bytes >
             most)
    --s.stages;
  std::string text =
      "{tessera.schedule = #tessera.schedule<" +
      format("workgroup", s.workgroup) + format("subgroup", s.subgroup) +
      "k = " + std::to_string(s.k) + ", stages = " + std::to_string(s.stages) +
      ", swizzle = true, subgroupsPerFragment = " +
      (isWide && s.subgroup[1] == 256 ? "8" : "4");
  if (s.subgroup[0] == 128 && !isWide && rng.chance(50))
    text += ", vthread = [2, 1]";
  if (rng.chance(15))
    text += ", splitK = " + std::to_string(rng.between(2, 4));
  if (rng.chance(20))
    text += ", raster = " + std::to_string(rng.between(1, 3));
  // A grid that is not a multiple of the cluster is rejected.
  int64_t cluster = rng.chance(25) ? 2 : 1;
  if (rng.chance(60))
    text += ", persistent = " + std::to_string(rng.between(1, 5) * cluster);
  if (rng.chance(60))
    text += ", stageOutput = true";
  if (cluster > 1)
    text += rng.chance(50) ? ", cluster = [2, 1]" : ", cluster = [1, 2]";
  return text + ">}";
}

std::string fuzz::pickSchedule(Program &program, const MatmulTypes &types,
                               bool isStaged, int64_t matrices) {
  Rng &rng = program.rng;
  if (!rng.chance(50))
    return "";
  int64_t aBytes = getInfo(types.a).bytes, bBytes = getInfo(types.b).bytes;
  if (program.machine.hasGroups) {
    Rng own(Rng(rng).next(), 1);
    if (own.chance(60))
      return pickGroupSchedule(own, aBytes, program.machine.hasWideGroups);
  }
  Schedule s;
  s.kFragment = rng.pick({8, 16, 16, 32, 4});
  s.k = s.kFragment * rng.pick({1, 2, 3, 4});
  for (int d : {0, 1}) {
    // Fragments of 8x8 upward exist everywhere; a workgroup has 8 subgroups at
    // most.
    int64_t fragment = 8 * rng.pick({1, 2, 2, 2, 3, 4});
    s.vthread[d] = rng.pick({1, 1, 1, 2, fragment > 16 ? 1 : 3});
    s.subgroup[d] = fragment * s.vthread[d];
    s.workgroup[d] = rng.pick({1, 1, 2, d == 0 ? 4 : 1});
  }
  // A subgroup's numbers are in its registers, and all that is done with them
  // is code without loops.
  while (countFragments(s) > getMost(program)) {
    if (s.subgroup[0] == 8 && s.subgroup[1] == 8) {
      s.kFragment /= 2;
      s.k /= 2;
    }
    for (int d : {0, 1}) {
      if (s.vthread[d] > 1)
        s.subgroup[d] -= s.subgroup[d] / s.vthread[d]--;
      else if (s.subgroup[d] > 8)
        s.subgroup[d] -= 8;
    }
  }
  for (int d : {0, 1})
    s.workgroup[d] *= s.subgroup[d];
  s.stages = rng.pick({0, 1, 2, 3, 4});
  while (s.stages > 0 && countBytes(s, aBytes, bBytes) > memoryBytes)
    --s.stages;
  // Where operands are gathered, they are staged.
  if (isStaged && s.stages == 0)
    s.stages = 1;

  std::string text = "{tessera.schedule = #tessera.schedule<" +
                     format("workgroup", s.workgroup) +
                     format("subgroup", s.subgroup) +
                     "k = " + std::to_string(s.k) +
                     ", kFragment = " + std::to_string(s.kFragment) +
                     ", stages = " + std::to_string(s.stages);
  if (s.vthread[0] * s.vthread[1] > 1 || rng.chance(30))
    text += ", vthread = [" + std::to_string(s.vthread[0]) + ", " +
            std::to_string(s.vthread[1]) + "]";
  bool isSplit = false;
  for (const OptionalEntry &entry : getOptionalEntries())
    if (rng.chance(entry.percent) && (std::string(entry.name) != "swizzle" ||
                                      canSwizzle(s, aBytes, bBytes))) {
      text += std::string(", ") + entry.name;
      if (!entry.values.empty())
        text += std::string(" = ") + rng.pick(entry.values);
      isSplit |= std::string(entry.name) == "splitK";
    }
  // By draws of their own: the following draws do not depend on these fields.
  Rng own(Rng(rng).next(), 0);
  bool isAtomic = isSplit && hasAtomicAdd(types.accumulator) && own.chance(50);
  if (isAtomic)
    text += ", splitKReduction = atomic";
  if (own.chance(isAtomic ? 2 : 20))
    return text + ", stageOutput = true>}";
  // Matrices of a batch multiply what a workgroup, or a subgroup, has of one.
  if (matrices > 1 && own.chance(60)) {
    int64_t each = own.pick({1, 1, 2}), batches = each * own.pick({1, 2, 3, 4});
    if (batches > 1 && batches <= matrices &&
        each * countFragments(s) <= getMost(program) &&
        batches * countBytes(s, aBytes, bBytes) <= memoryBytes)
      text += ", batches = " + std::to_string(batches) +
              ", subgroupBatches = " + std::to_string(each);
  }
  return text + ">}";
}
