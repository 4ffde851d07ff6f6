//===- Work.h - Tasks of a run ------------------------*- C++ -*-----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TUNING_RUN_TASKLIST_H
#define TUNING_RUN_TASKLIST_H

#include "Driver/Compiler.h"
#include "Runtime/VendorLibrary.h"
#include "Tuning/Database.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera::tuning {

namespace compiler = mlir::tessera;
namespace runtime = ::tessera::runtime;

/// A matmul or an attention by itself, from the programs to be tuned.
struct Task {
  compiler::tuning::TaskText text;
  /// How often it occurs in the programs, and where first.
  unsigned count = 1;
  std::string location;
  /// How often it occurs in each program that has it, by the program's position
  /// in the command line. Empty for tasks of a database.
  std::vector<std::pair<size_t, unsigned>> uses;
  /// The least milliseconds by the roofline.
  double roof = 0;
  /// The program (`makeTaskProgram`).
  mlir::OwningOpRef<mlir::ModuleOp> program;
  /// It adds to what the output holds; and its result is exact for small
  /// integers, in whatever order it is computed.
  bool isAdded = false, isExact = true;
  /// As a vendor's library takes it, if it does.
  std::optional<runtime::LibraryMatmul> matmul;

  mlir::Operation *getOp() const;
};

/// The programs that `work` names: `.mlir` files, ONNX models (`.onnx`), files
/// with a shape on each line (`.txt`), and shapes:
///
///   MxNxK:TYPE               a matmul; then `:OUT`: the output's type
///   batch:BxMxNxK:TYPE       B of them
///   conv:NxHxWxCxFxRxS:TYPE  NHWC, F filters of RxS, padded so that HxW stays
///                            for stride 1; `/2` after S: its stride
///   attention:BxQxKxD:TYPE   B heads; then `:causal`
///
/// `batch` is the size of the first dimension of each input of a model that
/// leaves it open. Returns their tasks for a chip, each once. Prints what
/// cannot be tuned, with the reason, and errors; after an error the result is
/// empty.
mlir::FailureOr<std::vector<Task>>
collectTasks(mlir::ArrayRef<std::string> work, std::optional<int64_t> batch,
             const compiler::CompileOptions &options,
             mlir::MLIRContext &context, llvm::raw_ostream &messages);

/// Keeps the `count` tasks with the largest part of the time of their programs,
/// each of which counts the same. `getTime` estimates the time of one run of a
/// task. Returns the part of all time that they have.
double keepLargest(std::vector<Task> &tasks, size_t count,
                   llvm::function_ref<double(const Task &)> getTime);

/// The tasks of a database that have records for a chip, or the one with a key.
mlir::FailureOr<std::vector<Task>>
readTasks(compiler::tuning::Database &database, const std::string &key,
          const compiler::CompileOptions &options, mlir::MLIRContext &context,
          llvm::raw_ostream &messages);

/// The supported forms of shapes, for --help.
extern const char *const shapeHelp;

/// The program of a shape in that notation; nothing, and what is wrong in
/// `why`, if it is none.
std::optional<std::string> makeProgram(mlir::StringRef shape, std::string &why);

} // namespace tessera::tuning

#endif // TUNING_RUN_TASKLIST_H
