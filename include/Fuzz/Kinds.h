//===- Kinds.h - The kinds of programs, and what they share -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUZZ_KINDS_H
#define FUZZ_KINDS_H

#include "Fuzz/Program.h"

#include <optional>

namespace fuzz {

/// A kind of program.
struct Kind {
  const char *name;
  /// How many cases of all, relative to the other kinds.
  int weight;
  Case (*generate)(Rng &rng, const Machine &machine);
  const char *summary;
};

/// All kinds, in the order in which they are listed.
const std::vector<Kind> &getKinds();
/// The kind of a case, which the seed and the index decide.
const Kind &pickKind(uint64_t seed, uint64_t index);
Case generateCase(uint64_t seed, uint64_t index, const Machine &machine);

Case generateContraction(Rng &rng, const Machine &machine);
Case generateConvolution(Rng &rng, const Machine &machine);
Case generateFusion(Rng &rng, const Machine &machine);
Case generateChain(Rng &rng, const Machine &machine);
Case generateElementwise(Rng &rng, const Machine &machine);
Case generateReduction(Rng &rng, const Machine &machine);
Case generateMovement(Rng &rng, const Machine &machine);
Case generateVThread(Rng &rng, const Machine &machine);
Case generateIllegal(Rng &rng, const Machine &machine);

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// The types of a matmul: those of the operands, and that of the sums and the
/// result.
struct MatmulTypes {
  Element a, b, accumulator;
};
MatmulTypes pickMatmulTypes(Rng &rng);

/// The properties of a matmul to generate.
struct MatmulOptions {
  std::optional<MatmulTypes> types;
  /// The left operand, a matrix of any type; else an argument is made.
  std::optional<Value> lhs;
  /// At most that many multiplications.
  int64_t budget = 300'000;
  /// Only linalg.matmul and linalg.batch_matmul, as they come.
  bool isPlain = false;
  /// Applied to each operand that is made: a cast, a dequantization.
  std::function<Value(Program &program, const Value &argument)> makeOperand;
};
/// Writes a contraction in one of linalg's forms; returns its result.
Value makeMatmul(Program &program, const MatmulOptions &options = {});

/// `{tessera.schedule = #tessera.schedule<...>}`, for about half of the calls
/// (else nothing); `isStaged` where operands are gathered, `matrices` of a
/// batch.
std::string pickSchedule(Program &program, const MatmulTypes &types,
                         bool isStaged = false, int64_t matrices = 1);

//===----------------------------------------------------------------------===//
// Element-wise
//===----------------------------------------------------------------------===//

/// The building blocks of an element-wise op.
struct StepOptions {
  /// exp, tanh and their like.
  bool allowInexact = false;
  /// A result of another element type.
  bool allowCast = true;
};
/// One element-wise linalg op on `input`, perhaps with a broadcast operand.
Value makeStep(Program &program, const Value &input,
               const StepOptions &options = {});
/// `input` as another element type, by an op of its own.
Value makeCast(Program &program, const Value &input, Element element,
               bool isUnsigned = false);
/// A reduction of `input` over some of its dimensions. `order` receives those
/// that the result has.
Value makeReduction(Program &program, const Value &input,
                    const std::vector<bool> &reduced,
                    std::vector<size_t> *order = nullptr);
/// The result of an element-wise op in place of `input`, of the same shape.
Value emptyLike(Program &program, const Value &input, Element element);

} // namespace fuzz

#endif // FUZZ_KINDS_H
