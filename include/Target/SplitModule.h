//===- SplitModule.h - Parts of a module that compile alone -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARGET_SPLITMODULE_H
#define TARGET_SPLITMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>
#include <vector>

namespace mlir::tessera {

/// Moves the definitions of a module of the LLVM dialect to others, in order,
/// so that no part refers to a definition of another one. Each part has the
/// declarations that it needs, and the attributes of the module.
///
/// `parts`: how many parts of about the same number of ops there are at most;
/// 0: as many as possible, so that equal modules have equal parts everywhere.
/// Empty, and the module is as it was, if it has fewer than `leastDefinitions`
/// independent definitions, or ops other than functions and variables.
SmallVector<OwningOpRef<ModuleOp>> splitModule(ModuleOp module, size_t parts,
                                               size_t leastDefinitions);

/// Calls `compile` for each of `parts`, in the threads of their context, and
/// returns the results in order. Diagnostics have the order of the parts.
FailureOr<std::vector<std::string>>
compileParts(ArrayRef<OwningOpRef<ModuleOp>> parts,
             llvm::function_ref<FailureOr<std::string>(ModuleOp)> compile);

} // namespace mlir::tessera

#endif // TARGET_SPLITMODULE_H
