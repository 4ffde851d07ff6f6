//===- Program.h - What an entry takes and gives ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPU_RUNNER_PROGRAM_H
#define GPU_RUNNER_PROGRAM_H

#include "Options.h"

#include "Runtime/HostArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace runner {

/// An argument or a result of an entry.
struct Slot {
  enum Kind { Scalar, Tensor, MemRef };
  Kind kind = Scalar;
  mlir::Type type;
  runtime::ElementType element = runtime::ElementType::F32;
  /// -1 for dynamic dimensions; empty for a scalar.
  std::vector<int64_t> shape;
  /// A memref argument that the program may write: an output.
  bool mayWrite = false;

  bool isBuffer() const { return kind != Scalar; }
  /// The type as the program spells it.
  std::string str() const;
};

/// The function that is run.
struct Entry {
  mlir::func::FuncOp function;
  std::vector<Slot> arguments, results;
};

/// Reads the program into `sources`, which diagnostics show lines of.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(const Options &options,
                                              llvm::SourceMgr &sources,
                                              mlir::MLIRContext &context,
                                              Report &report);

/// Looks up the entry and what it takes.
LogicalResult findEntry(mlir::ModuleOp module, StringRef name, Entry &entry,
                        Report &report);

} // namespace runner

#endif // GPU_RUNNER_PROGRAM_H
