//===- Interpreter.h - The reference interpreter ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates a program as it was written, on the host and in higher precision,
// to check what a compiled program computed. It shares no code with the
// compiler beyond the dialects themselves.
//
// Numbers. Floating-point values are doubles and are rounded to a narrower type
// where the program requires it (`arith.truncf`, `tessera.convert`, an `arith`
// constant), and nowhere else: not by arithmetic, not when they are stored.
// Integers wrap to their width.
//
// Errors. Each value carries a bound on how far a correct implementation, which
// computes in the types that the program names, may be from it (a running error
// analysis): arithmetic whose result the type cannot hold adds a rounding, a
// sum of products adds what any order of accumulation can lose, and what was
// lost already is carried through each operation. Where everything is
// representable (small integers) the bound is zero, and equality is demanded. A
// rounding that the program asks for is not an error when what it rounds has
// none. Where no bound is known it is infinite.
//
// The bounds of long sums are what rounding errors add up to with overwhelming
// likelihood (they grow with the square root of the length, plus a drift for
// hardware that truncates), not the worst case. They follow the accumulator
// that was compiled (`Options::sums`).
//
// Threads. The threads of a workgroup run in step, statement by statement,
// where a barrier or a collective operation asks for it; a barrier that not all
// of them reach is an error. `gpu.subgroup_size` is 1: a subgroup is one
// thread, which owns whole fragments. In a program with lane-level operations
// (`gpu.subgroup_mma_*`, shuffles, subgroup reductions) it is
// `Options::subgroupSize`, and in a kernel with a vendor's ops on lanes that of
// these ops.
//
// Memory that was never written holds NaN, or an odd integer pattern; so does
// `ub.poison`. With `Options::unspecified` they hold other numbers: an element
// of a result that differs then is one that may be anything.
//
//===----------------------------------------------------------------------===//

#ifndef REFERENCE_INTERPRETER_H
#define REFERENCE_INTERPRETER_H

#include "Flags/CompileFlags.h"
#include "Reference/Array.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::tessera::reference {

/// How the sums of a contraction of the program were compiled. The bounds on
/// their errors follow from it.
struct CompiledSum {
  /// "file:line:column" of the contraction. One that names no operation of the
  /// program, or that is empty, counts for each contraction that no other
  /// names.
  std::string location;
  /// Significand bits of the accumulator: 11 for f16, 24 for f32, 53 for f64.
  int bits = 24;
  /// Significand bits that the matrix unit keeps of a sum where that are fewer
  /// bits than the accumulator has, else 0.
  int unitBits = 0;
  /// The number of terms that are added up with so few bits before their sum is
  /// added to the accumulator with all of its bits; 0 for all terms.
  int64_t unitLength = 0;
};

/// How a run takes coarse sums: those that are rounded to few bits again and
/// again, such as sums in f16, and in the 14 bits of some matrix units.
enum class CoarseSums {
  /// In double precision, with a bound on what they lose.
  Bounded,
  /// As a device rounds them, in one of two ways that have little in common: an
  /// instruction's products at once, from the first to the last, or few of them
  /// at once, from the last to the first. Error bounds then have only what
  /// everything else may lose.
  EmulatedForward,
  EmulatedBackward,
  /// In double precision, without 32 consecutive terms of each sum of 64 or
  /// more. Error bounds have no meaning. Shows what such a fault changes.
  WithoutStep
};

struct Options {
  /// How much work to take on, in multiply-adds of a native matrix product
  /// (about 1e9 of them take a second on one core); an interpreted operation
  /// counts as several.
  int64_t maxWork = 4'000'000'000;
  /// How many seconds to take at most.
  double maxSeconds = 60;
  /// Host threads; 0 for as many as the machine has.
  unsigned threads = 0;
  /// Threads in a subgroup of a program with lane-level operations.
  int64_t subgroupSize = 32;
  /// How sums of products were compiled. A contraction that is not among them
  /// is expected to be summed in the type that the program names, and that of
  /// 8-bit floats in as few as 14 bits.
  std::vector<CompiledSum> sums;
  CoarseSums coarseSums = CoarseSums::Bounded;
  /// Memory that was never written, and `ub.poison`, hold other numbers than
  /// usual. Results that differ depend on them.
  enum class Unspecified { Usual, OtherAtOneOp, OtherEverywhere };
  Unspecified unspecified = Unspecified::Usual;
  /// For `OtherAtOneOp`: the op that allocates, or the `ub.poison`.
  Operation *otherAt = nullptr;
  /// The flags that the program was compiled with.
  CompileFlags flags;
  /// Whether f32 matmuls may have rounded their operands to tf32, even if the
  /// program does not permit it.
  bool permitsTf32() const { return flags.allowTf32; }
  /// Evaluate only so many workgroups of each launch: the first, the last, and
  /// some between; fewer where `maxWork` does not suffice. All of them where it
  /// is absent.
  std::optional<int64_t> sampledWorkgroups;
  /// Picks those between.
  uint64_t seed = 1;
};

enum class Status {
  Done,
  /// An error was emitted at the operation in question.
  Failed,
  /// It exceeds `Options::maxWork` or `Options::maxSeconds`. Nothing was
  /// emitted.
  TooLarge
};

struct Outcome {
  Status status = Status::Done;
  /// The error message.
  std::string message;
  /// The results of the entry function.
  SmallVector<Array> results;
  /// The work done, in the unit of `Options::maxWork`.
  int64_t work = 0;
  /// Workgroups that were evaluated, of how many.
  int64_t workgroups = 0;
  int64_t allWorkgroups = 0;
  /// Significand bits of the coarsest sum; 0 where no sum is coarse.
  int coarseBits = 0;
  /// Whether terms were left out of a sum (`CoarseSums::WithoutStep`).
  bool leftOutStep = false;
  /// The ops that made values which nothing specifies: those that allocate
  /// memory, and each `ub.poison`. In the order of their first evaluation.
  /// Empty for a program that was evaluated as a copy (without TOSA).
  SmallVector<Operation *> unspecified;

  bool succeeded() const { return status == Status::Done; }
};

/// Evaluates `entry`, which is not changed. There is an array for each argument
/// (rank 0 for scalars); those for memrefs are updated in place, also when the
/// evaluation fails midway.
Outcome run(func::FuncOp entry, MutableArrayRef<Array> arguments,
            const Options &options = {});

} // namespace mlir::tessera::reference

#endif // REFERENCE_INTERPRETER_H
