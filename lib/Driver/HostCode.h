//===- HostCode.h - Code that runs in this process --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_HOSTCODE_H
#define LIB_DRIVER_HOSTCODE_H

#include "TargetInfo/Chip.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir::tessera {

/// Modules of the LLVM dialect, compiled into this process. They see the
/// functions of `runtime::listHostImports`, and no others of the process.
class HostCode {
public:
  /// Null, and the reason in `why`, if there is no code for `chip` here.
  /// `isPortable`: for every processor that `chip` stands for.
  static std::unique_ptr<HostCode> create(const Chip &chip, bool isPortable,
                                          std::string &why);
  /// Compiles parts of the module that do not refer to each other, such as
  /// kernels, in the threads of its context. Takes ops of the module.
  /// `areKernels`: its functions run many times, even without loops.
  LogicalResult add(ModuleOp module, bool areKernels);
  /// Adds an object file that `getObjects` gave before. False, and the reason
  /// in `why`, if it is none.
  bool addObject(std::string object, std::string &why);
  /// The object files of all that was added, in order.
  const std::vector<std::string> &getObjects() const { return objects; }
  /// The address of a function, or null: `getLinkError` returns the reason.
  void *lookup(llvm::StringRef name);
  const std::string &getLinkError() const { return *linkError; }
  llvm::TargetMachine &getMachine() { return *machine; }

private:
  FailureOr<std::string> compile(ModuleOp module, bool runsOnce) const;

  const Chip *chip = nullptr;
  bool isPortable = false;
  std::vector<std::string> objects;
  std::shared_ptr<std::string> linkError = std::make_shared<std::string>();
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::tessera

#endif // LIB_DRIVER_HOSTCODE_H
