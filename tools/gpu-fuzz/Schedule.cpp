//===- Schedule.cpp - Random schedules ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kinds.h"

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

/// What every chip has of workgroup memory.
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

std::string fuzz::pickSchedule(Program &program, Element a, Element b,
                               bool isStaged) {
  Rng &rng = program.rng;
  if (!rng.chance(50))
    return "";
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
  auto isLeast = [&](int d) { return s.vthread[d] == 1 && s.subgroup[d] <= 8; };
  while (countFragments(s) > getMost(program) && !(isLeast(0) && isLeast(1)))
    for (int d : {0, 1}) {
      if (s.vthread[d] > 1)
        s.subgroup[d] -= s.subgroup[d] / s.vthread[d]--;
      else if (s.subgroup[d] > 8)
        s.subgroup[d] -= 8;
    }
  for (int d : {0, 1})
    s.workgroup[d] *= s.subgroup[d];
  s.stages = rng.pick({0, 1, 2, 3, 4});
  int64_t aBytes = getInfo(a).bytes, bBytes = getInfo(b).bytes;
  while (s.stages > 0 && countBytes(s, aBytes, bBytes) > memoryBytes)
    --s.stages;
  // Where operands are gathered, they are staged.
  if (isStaged && s.stages == 0)
    s.stages = 1;

  auto format = [](const char *name, const int64_t (&pair)[2]) {
    return std::string(name) + " = [" + std::to_string(pair[0]) + ", " +
           std::to_string(pair[1]) + "], ";
  };
  std::string text = "{tessera.schedule = #tessera.schedule<" +
                     format("workgroup", s.workgroup) +
                     format("subgroup", s.subgroup) +
                     "k = " + std::to_string(s.k) +
                     ", kFragment = " + std::to_string(s.kFragment) +
                     ", stages = " + std::to_string(s.stages);
  if (s.vthread[0] * s.vthread[1] > 1 || rng.chance(30))
    text += ", vthread = [" + std::to_string(s.vthread[0]) + ", " +
            std::to_string(s.vthread[1]) + "]";
  for (const OptionalEntry &entry : getOptionalEntries())
    if (rng.chance(entry.percent) && (std::string(entry.name) != "swizzle" ||
                                      canSwizzle(s, aBytes, bBytes))) {
      text += std::string(", ") + entry.name;
      if (!entry.values.empty())
        text += std::string(" = ") + rng.pick(entry.values);
    }
  return text + ">}";
}
