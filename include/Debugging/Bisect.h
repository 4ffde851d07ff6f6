//===- Bisect.h - The first op whose result differs -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_BISECT_H
#define DEBUGGING_BISECT_H

#include "Debugging/Diff.h"

#include "mlir/IR/OwningOpRef.h"

namespace tessera::execution {

/// A program that ends with the result of an op.
struct Cut {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  DiffProgram program;
  /// --arg for each argument.
  std::vector<std::string> arguments;
};

/// A fragment op within a kernel whose result differs.
struct FragmentDifference {
  /// A program that shows it.
  Cut cut;
  /// See `describe`.
  std::string op;
  /// Which element it is, and what it is on the two targets.
  std::string element;
  double other, base;
};

class Bisection {
public:
  Bisection(const ProgramOptions &options, DiffSide &base, DiffSide &other,
            const DiffProgram &program, RunGuard *guard);

  /// The program up to an op, whose result it returns. If it `isAlone`, results
  /// of other ops that it uses become arguments. Absent if it cannot be cut
  /// there.
  std::optional<Cut> cut(size_t number, bool isAlone);
  /// The number of the first op whose result differs, among `ops`; absent if
  /// none of them can be shown to.
  std::optional<size_t> find();
  /// A small program in which that op's result differs. Null if none does.
  std::optional<Cut> reduce(size_t number);
  /// The first fragment op in the kernel that this op launches whose result
  /// differs; absent, and `why`, if none can be shown to.
  std::optional<FragmentDifference> findFragment(size_t number,
                                                 std::string &why);

  std::vector<mlir::Operation *> ops;
  /// Programs that were run, on each of the two targets.
  unsigned runs = 0;
  /// Ops at which the program cannot be cut.
  unsigned uncut = 0;

private:
  /// A copy of a cut whose entry is changed before it is finished.
  Cut copy(const Cut &cut) const;
  /// Removes what nothing needs, and makes the arguments that are new.
  bool finish(Cut &cut) const;
  /// How the outputs of a cut differ; absent if it does not compile or run.
  std::optional<Difference> compare(const Cut &cut);
  std::optional<bool> differs(const Cut &cut);
  std::optional<bool> differsAt(size_t number);
  /// The candidates that an op takes its operands from.
  std::vector<size_t> getProducers(size_t number) const;
  /// The part of a program with one probe that is kept: all of it, the part
  /// before the probe, or that part with its constants folded.
  enum class Reduction { None, Shortened, Folded };
  /// A cut that ends with a launch and returns probes of the kernel's fragment
  /// ops with these numbers.
  std::optional<Cut> addProbes(const Cut &cut, llvm::ArrayRef<size_t> numbers,
                               bool eachIteration, Reduction reduction) const;

  const ProgramOptions &options;
  DiffSide &base, &other;
  const DiffProgram &program;
  /// The guard of all runs; may be null.
  RunGuard *guard;
  std::vector<std::optional<std::optional<bool>>> known;
};

/// Gives the function another return, of `values`; it has none any more.
void returnValues(mlir::func::FuncOp function,
                  llvm::ArrayRef<mlir::Value> values);

/// An op's name and its location in the file.
std::string describe(mlir::Operation *op);

} // namespace tessera::execution

#endif // DEBUGGING_BISECT_H
