//===- Verify.h - Checking what a program computed --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a program computed is compared with the reference if that
// takes no longer than a few seconds. For larger programs a part is compared:
//
// - Straight-line programs of linalg operations and tessera.contract, on
//   tensors or on memrefs: whole rows and columns of each output, from which
//   the evaluation works back to just those parts of the operands that they
//   need; and, where an output is the result of a matmul, all of it by random
//   projections
//   (Freivalds: C x = A (B x), for x of random signs).
// - A single kernel launch: some of its workgroups, and the elements that these
//   write.
//
//===----------------------------------------------------------------------===//

#ifndef REFERENCE_VERIFY_H
#define REFERENCE_VERIFY_H

#include "Reference/Compare.h"
#include "Reference/Interpreter.h"

#include <vector>

namespace mlir::tessera::reference {

struct VerifyOptions {
  Options evaluation;
  CompareOptions comparison;
  /// The sample sizes for an output that is too large to check in full.
  int64_t rows = 16;
  int64_t columns = 16;
  int64_t projections = 4;
  int64_t workgroups = 64;
  /// Sample even where everything could be evaluated.
  bool forceSampling = false;
  /// Give up (`TooLarge`) rather than sample.
  bool forbidSampling = false;
};

/// Elements of an output that depend on values which nothing specifies.
struct UnspecifiedElements {
  unsigned output = 0;
  /// The op that made the values: an allocation, or a `ub.poison`.
  Location loc;
  std::string op;
  /// A `ub.poison`: the program states that the value may be anything.
  bool isPoison = false;
  int64_t count = 0;
};

/// Something that the program computed.
struct ComputedOutput {
  /// A result of the entry function, or a memref argument.
  bool isResult = true;
  unsigned index = 0;
  Array array;
};

struct Verification {
  /// `Failed`: the reference cannot evaluate the program; an error was emitted.
  /// `TooLarge`: nothing could be checked.
  Status status = Status::Done;
  /// Why, in the last two cases.
  std::string message;
  /// Whether all that was checked is right.
  bool ok = true;
  /// Per output.
  std::vector<Comparison> comparisons;
  /// The extent of the check: "every element", or "16 rows and 16 columns in
  /// full, 4 random projections of everything".
  std::string checked;
  /// Whether that is all of the outputs.
  bool isComplete = true;
  /// Elements among those checked about which the reference knows nothing, of
  /// all outputs: see `Comparison::unverifiedCount`.
  int64_t unverifiedCount = 0;
  /// The elements that are not compared, since they may be anything. Found only
  /// where a comparison fails, the reference has NaNs, or `ub.poison` is used.
  std::vector<UnspecifiedElements> unspecified;
  /// Per output, 1 for each such element; empty for an output without any.
  std::vector<std::vector<uint8_t>> unspecifiedMasks;
};

/// Checks `outputs`, which the program computed from `arguments` (as they were
/// before; they are not changed).
Verification verify(func::FuncOp entry, ArrayRef<Array> arguments,
                    ArrayRef<ComputedOutput> outputs,
                    const VerifyOptions &options = {});

} // namespace mlir::tessera::reference

#endif // REFERENCE_VERIFY_H
