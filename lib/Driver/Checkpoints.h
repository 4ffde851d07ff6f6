//===- Checkpoints.h - Where the steps of a program begin and end -*- C++ -*-=//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DRIVER_CHECKPOINTS_H
#define LIB_DRIVER_CHECKPOINTS_H

#include "mlir/Pass/Pass.h"

#include <string>

namespace mlir::tessera {

/// The steps of a program, in the order of its host code.
struct ProgramSteps {
  size_t count = 0;
  /// See `CompiledProgram::steps`.
  std::string functions;
};

/// A pass on modules at stage Tasks that counts the steps of host code. If
/// there are several of them and `addCheckpoints` is set, adds checkpoints, and
/// writes the functions of the steps. `steps` outlives the pass. See
/// Checkpoints.cpp.
std::unique_ptr<Pass> createFindSteps(ProgramSteps &steps, bool addCheckpoints);

} // namespace mlir::tessera

#endif // LIB_DRIVER_CHECKPOINTS_H
