//===- Kinds.cpp - The kinds of programs ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fuzz/Kinds.h"

using namespace fuzz;

const std::vector<Kind> &fuzz::getKinds() {
  static const std::vector<Kind> kinds = {
      {"contraction", 6, generateContraction, "matmuls in all forms of linalg"},
      {"conv", 4, generateConvolution, "convolutions and pooling"},
      {"fusion", 4, generateFusion,
       "matmuls with producers, epilogues and reductions"},
      {"chain", 2, generateChain, "chains of matmuls"},
      {"elementwise", 2, generateElementwise, "element-wise generics"},
      {"reduction", 2, generateReduction, "reductions over any dimensions"},
      {"movement", 2, generateMovement,
       "transposes, slices, padding, gathers, softmax"},
      {"vthread", 2, generateVThread,
       "hand-written kernels of virtual threads"},
      {"illegal", 1, generateIllegal, "schedules that must be rejected"},
  };
  return kinds;
}

const Kind &fuzz::pickKind(uint64_t seed, uint64_t index) {
  // Not from the case's own numbers: those are the generator's.
  Rng rng(seed ^ 0x6B696E64, index);
  int64_t sum = 0;
  for (const Kind &kind : getKinds())
    sum += kind.weight;
  int64_t at = rng.below(sum);
  for (const Kind &kind : getKinds()) {
    at -= kind.weight;
    if (at < 0)
      return kind;
  }
  return getKinds().back();
}

Case fuzz::generateCase(uint64_t seed, uint64_t index, const Machine &machine) {
  Rng rng(seed, index);
  return pickKind(seed, index).generate(rng, machine);
}
