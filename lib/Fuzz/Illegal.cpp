//===- Illegal.cpp - Programs that must be rejected -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

using namespace fuzz;

namespace {

/// A schedule that no chip takes, and the expected diagnostic.
struct Mistake {
  const char *schedule;
  const char *diagnostic;
};

} // namespace

static const Mistake mistakes[] = {
    {"workgroup = [64, 64], subgroup = [48, 32], k = 16",
     "schedule_c2: the subgroup's tile (48) does not divide the workgroup's "
     "(64) in dimension 0"},
    {"workgroup = [64, 64], subgroup = [32, 32], k = 16, vthread = [1, 3]",
     "schedule_c3: the vthread grid (3) does not divide the subgroup's tile "
     "(32) in dimension 1"},
    {"workgroup = [64, 64], subgroup = [32, 32], k = 24, kFragment = 16",
     "schedule_c4: kFragment (16) does not divide k (24)"},
    {"workgroup = [64, 0], subgroup = [32, 32], k = 16",
     "schedule_c1: workgroup must have two elements of at least 1, not "
     "[64, 0]"},
    {"workgroup = [64], subgroup = [32, 32], k = 16", "error: "},
    {"workgroup = [64, 64], subgroup = [32, 32], depth = 16",
     "unknown schedule field 'depth': expected workgroup"},
    {"workgroup = [4096, 4096], subgroup = [16, 16], k = 16",
     "the nearest legal schedule has workgroup"},
    {"workgroup = [128, 128], subgroup = [64, 64], k = 1024, stages = 16",
     " bytes of workgroup memory, but "},
};

Case fuzz::generateIllegal(Rng &rng, const Machine &machine) {
  Program program(rng, machine);
  std::vector<int64_t> sizes;
  for (int i = 0; i < 3; ++i)
    sizes.push_back(pickSize(rng, 200, /*allowZero=*/false));
  Element element = rng.pick({Element::F16, Element::F32, Element::BF16});
  Value a = program.argument(element, program.makeDims({sizes[0], sizes[2]}));
  Value b = program.argument(element, program.makeDims({sizes[2], sizes[1]}));
  Value c =
      program.argument(Element::F32, program.makeDims({sizes[0], sizes[1]}));
  const Mistake &mistake = rng.pick(mistakes);
  program.result(program.structured(
      std::string("linalg.matmul {tessera.schedule = #tessera.schedule<") +
          mistake.schedule + ">}",
      {a, b}, c, {}));
  Case result = program.finish("illegal");
  result.expected = Expected::Rejected;
  result.diagnostic = mistake.diagnostic;
  return result;
}
