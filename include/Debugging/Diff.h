//===- Diff.h - Targets against each other ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DEBUGGING_DIFF_H
#define DEBUGGING_DIFF_H

#include "Execution/Compile.h"
#include "Execution/Devices.h"
#include "Execution/Execution.h"

#include "Reference/Compare.h"
#include "Reference/Interpreter.h"

namespace tessera::execution {

/// One target of --diff. All of them run in this process.
struct DiffSide {
  /// As --diff names it.
  std::string name;
  Target target;
  compiler::CompileOptions compileOptions;
  CacheUse cache;
  /// How the sums of the program that was run last were compiled.
  std::vector<compiler::reference::CompiledSum> sums;
};

/// A program that is run on several targets, with the same arguments.
struct DiffProgram {
  mlir::ModuleOp module;
  /// The text that it was read from; null for one that is made of another,
  /// which is not kept.
  const llvm::MemoryBuffer *source = nullptr;
  Entry entry;
  std::vector<runtime::HostArray> arguments;
};

/// Compiles a program, or takes it from the cache, and runs it on a target.
LogicalResult runOn(const ProgramOptions &options, DiffSide &side,
                    const DiffProgram &program, std::vector<Output> &outputs,
                    Report &report);

/// How the outputs of two targets differ.
struct Difference {
  std::vector<compiler::reference::Comparison> outputs;
  /// Elements for which the reference has no error bound: they must be equal.
  int64_t withoutBound = 0;
  bool ok() const;
};

/// How the sums were compiled for the last runs of two targets.
std::vector<compiler::reference::CompiledSum> mergeSums(const DiffSide &base,
                                                        const DiffSide &other);

/// Compares outputs of two targets with each other: by --tolerance, else by
/// what the reference's error bounds allow both together, given how the sums
/// were compiled. `unbounded` gets the reason if there are none; the outputs
/// must then be equal.
FailureOr<Difference>
compareSides(const ProgramOptions &options, const DiffProgram &program,
             ArrayRef<compiler::reference::CompiledSum> sums,
             const std::vector<Output> &base, const std::vector<Output> &other,
             std::string &unbounded, Report &report);

/// --diff: runs the program on each target, and compares with the first.
/// `base` gets the first one's outputs.
LogicalResult diff(const ProgramOptions &options, KeptDevices &kept,
                   mlir::ModuleOp module, const llvm::MemoryBuffer &source,
                   const compiler::CompileOptions &compileOptions,
                   std::vector<Output> &base, Report &report);

/// --bisect: looks for the first op whose result differs between two targets,
/// and writes a program that ends with it. Quietly does its runs.
LogicalResult bisect(const ProgramOptions &options, DiffSide &base,
                     DiffSide &other, const DiffProgram &program,
                     Report &report);

} // namespace tessera::execution

#endif // DEBUGGING_DIFF_H
