//===- IRModule.h - LLVM IR with its context --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_IRMODULE_H
#define TARGET_IRMODULE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::tessera {

/// A module of LLVM IR with its own context. LLVM's diagnostics become
/// diagnostics of the op that the module was translated from, or of the inline
/// assembly op that they concern; they are not printed. A fatal error of LLVM
/// also becomes a diagnostic: the module is then abandoned, and its memory is
/// not freed.
class IRModule {
public:
  explicit IRModule(Operation *op);
  ~IRModule();
  IRModule(const IRModule &) = delete;
  IRModule &operator=(const IRModule &) = delete;

  llvm::LLVMContext &getContext() { return *context; }
  llvm::Module &get() { return *module; }
  /// `newModule` must belong to this context. `source` contains the inline
  /// assembly ops that it was translated from.
  void set(std::unique_ptr<llvm::Module> newModule, Operation *source);

  /// Runs LLVM's optimizations for `machine`: all of them, or those that take
  /// little time for code that runs once.
  LogicalResult optimize(llvm::TargetMachine &machine, bool runsOnce = false);
  /// Returns what `machine` emits for the module.
  FailureOr<std::string> emit(llvm::TargetMachine &machine,
                              llvm::CodeGenFileType type);

private:
  struct Message {
    llvm::DiagnosticSeverity severity;
    std::string text;
    /// The number of the inline assembly that the diagnostic concerns, from 1;
    /// otherwise 0.
    uint64_t assembly;
  };
  class Listener;

  /// Calls `action`, and reports LLVM's diagnostics.
  LogicalResult run(llvm::TargetMachine &machine,
                    llvm::function_ref<void()> action);

  Operation *op;
  std::vector<Location> assemblies;
  /// LLVM diagnostics that have not been reported yet.
  std::vector<Message> messages;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

} // namespace mlir::tessera

#endif // TARGET_IRMODULE_H
