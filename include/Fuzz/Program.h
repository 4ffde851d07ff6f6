//===- Program.h - A random program, as it is written -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUZZ_PROGRAM_H
#define FUZZ_PROGRAM_H

#include "Fuzz/Types.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fuzz {

/// A value of a program: a tensor, a memref, or a scalar (no dimensions).
struct Value {
  std::string name;
  Element element = Element::F32;
  Dims dims;
  Range range;
  bool isMemRef = false;
  bool isScalar = false;

  std::string type() const;
};

/// The outcome that a case expects of gpu-runner.
enum class Expected { Verified, Rejected };

/// One program and how to run it, as determined by the seed and the index.
struct Case {
  std::string kind;
  std::string text;
  /// gpu-runner's options, but the file and the target.
  std::vector<std::string> options;
  Expected expected = Expected::Verified;
  /// Every output must be compared without a tolerance.
  bool isExact = false;
  /// A fault is planted in an output, which gpu-runner must find.
  bool hasFault = false;
  /// For rejected programs: the text of the diagnostic, including the fix.
  std::string diagnostic;
};

class Program;

/// The region of a linalg.generic, and scalar values in it.
class Body {
public:
  Body(Program &program, std::string indent)
      : program(program), indent(std::move(indent)) {}

  /// `%x = OP OPERANDS : TYPE`.
  Value op(const std::string &name, const std::string &operands,
           const std::string &type, Element element, const Range &range);
  Value add(const Value &a, const Value &b);
  Value subtract(const Value &a, const Value &b);
  Value multiply(const Value &a, const Value &b);
  Value max(const Value &a, const Value &b);
  Value min(const Value &a, const Value &b);
  Value clamp(const Value &a, double least, double greatest);
  Value scale(const Value &a, int exponent);
  /// To another element type, clamped to what an integer holds. Integers are
  /// taken for unsigned where that is asked for.
  Value cast(const Value &a, Element element, bool isUnsigned = false);
  Value constant(Element element, double value);

  Program &program;
  std::string indent;
  std::string text;
};

/// Properties of the machine that runs the cases.
struct Machine {
  /// Has instructions of four subgroups together.
  bool hasGroups = false;
  /// With instructions for 128 rows, which four or eight subgroups have, rather
  /// than for the 64 of a warpgroup.
  bool hasWideGroups = false;
  /// Matmuls of i4 with i4 are drawn.
  bool drawsInt4 = false;
};

/// Writes a function `main` op by op.
class Program {
public:
  Program(Rng &rng, const Machine &machine);

  Rng &rng;
  const Machine &machine;
  /// Whether buffers are memrefs and results out-parameters.
  bool usesMemRefs = false;

  /// Dimensions of these sizes, some of which are dynamic, as is this program's
  /// habit.
  Dims makeDims(const std::vector<int64_t> &sizes);
  Dim makeDim(int64_t size);
  /// Whether dimensions can be dynamic.
  bool isDynamic() const { return dynamicPercent > 0; }

  Value argument(Element element, const Dims &dims);
  /// An argument of any MLIR type, for programs written as text.
  std::string argument(const std::string &type);
  Value constant(Element element, double value);
  std::string index(int64_t value);

  /// A size as an SSA value: a dimension of `source`, or a constant.
  std::string size(const Dim &dim, const Value *source = nullptr,
                   size_t position = 0);
  /// An output to write to: tensor.empty, or an argument. `find` returns for
  /// each dimension the value that has it, if known.
  using FindSource =
      std::function<std::pair<const Value *, size_t>(size_t dim)>;
  Value empty(Element element, const Dims &dims,
              const FindSource &find = nullptr);
  Value fill(const Value &output, double value);

  /// A named op with `ins` and `outs`; returns its result.
  Value structured(const std::string &op, const std::vector<Value> &inputs,
                   const Value &output, const Range &range,
                   const std::string &suffix = "");
  /// A linalg.generic. `loops` states for each loop whether it is a reduction;
  /// `body` gets the block's arguments and returns what it yields.
  using MakeBody = std::function<std::vector<Value>(
      Body &body, const std::vector<Value> &arguments)>;
  std::vector<Value>
  generic(const std::vector<bool> &loops, const std::vector<std::string> &maps,
          const std::vector<Value> &inputs, const std::vector<Value> &outputs,
          const MakeBody &body, const std::string &attribute = "");

  std::string fresh();
  void line(const std::string &text);
  void result(const Value &value);
  /// Whether `value` is among the results.
  bool isResult(const Value &value) const;
  void makeInexact() { isExact = false; }

  Case finish(const std::string &kind);

private:
  int dynamicPercent;
  int nextValue = 0;
  bool isExact = true;
  std::vector<std::string> signature;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> constants;
  std::string constantText, text;
  std::vector<Value> results;
};

} // namespace fuzz

#endif // FUZZ_PROGRAM_H
