//===- HostCode.h - Code that runs in this process --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_HOSTCODE_H
#define LIB_DRIVER_HOSTCODE_H

#include "Dialect/Tessera/Target/Chip.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include <memory>

namespace mlir::tessera {

/// Modules of the LLVM dialect, compiled into this process. They see the
/// runtime's functions.
class HostCode {
public:
  static FailureOr<std::unique_ptr<HostCode>> create(Operation *op,
                                                     const Chip &chip);
  LogicalResult add(ModuleOp module);
  /// The address of a function, or null.
  void *lookup(llvm::StringRef name);

private:
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::tessera

#endif // LIB_DRIVER_HOSTCODE_H
