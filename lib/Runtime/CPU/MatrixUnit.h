//===- MatrixUnit.h - A matrix instruction, executed by its maps *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_CPU_MATRIXUNIT_H
#define TESSERA_LIB_RUNTIME_CPU_MATRIXUNIT_H

#include "Runtime/CpuKernel.h"

#include <string>

namespace tessera::runtime {

/// Executes `instruction` on the registers of its lanes: arrays of as many
/// pointers as it has lanes. False, and the reason in `why`, if lanes that hold
/// the same element disagree about it; nothing is written then.
bool executeMatrixInstruction(const tessera_matrix_instruction &instruction,
                              const void *const *a, const void *const *b,
                              void *const *acc, std::string &why);

} // namespace tessera::runtime

#endif // TESSERA_LIB_RUNTIME_CPU_MATRIXUNIT_H
