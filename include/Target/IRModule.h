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

/// A module of LLVM IR with a context of its own. LLVM's diagnostics become
/// diagnostics of the op that the module was made from, or of the inline
/// assembly that they are about; nothing is printed. A fatal error of LLVM
/// becomes one too: the module is then abandoned, and its memory is not freed.
class IRModule {
public:
  explicit IRModule(Operation *op);
  ~IRModule();
  IRModule(const IRModule &) = delete;
  IRModule &operator=(const IRModule &) = delete;

  llvm::LLVMContext &getContext() { return *context; }
  llvm::Module &get() { return *module; }
  /// `newModule` is of this context. The ops of inline assembly that it was
  /// translated from are in `source`.
  void set(std::unique_ptr<llvm::Module> newModule, Operation *source);

  /// Runs LLVM's optimizations for `machine`.
  LogicalResult optimize(llvm::TargetMachine &machine);
  /// Returns what `machine` emits for the module.
  FailureOr<std::string> emit(llvm::TargetMachine &machine,
                              llvm::CodeGenFileType type);

private:
  struct Message {
    llvm::DiagnosticSeverity severity;
    std::string text;
    /// The number of the inline assembly that it is about, from 1; else 0.
    uint64_t assembly;
  };
  class Listener;

  /// Calls `action`, and reports LLVM's diagnostics.
  LogicalResult run(llvm::TargetMachine &machine,
                    llvm::function_ref<void()> action);

  Operation *op;
  std::vector<Location> assemblies;
  /// LLVM's diagnostics that are not reported yet.
  std::vector<Message> messages;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

} // namespace mlir::tessera

#endif // TARGET_IRMODULE_H
