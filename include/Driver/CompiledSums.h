//===- CompiledSums.h - How sums were compiled, for the reference -*- C++ -*-=//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DRIVER_COMPILEDSUMS_H
#define DRIVER_COMPILEDSUMS_H

#include "Driver/Compiler.h"
#include "Reference/Interpreter.h"

#include <optional>
#include <vector>

namespace mlir::tessera {

/// The accumulator of a matmul in the form that the reference expects:
/// `matmul` is "64x64x16 f16 x f16 -> f32". Absent for integer sums.
std::optional<reference::CompiledSum> describeSum(llvm::StringRef matmul,
                                                  llvm::StringRef location,
                                                  int unitBits,
                                                  int64_t unitLength);

/// The accumulators of all matmuls of a compiled program.
std::vector<reference::CompiledSum>
describeSums(llvm::ArrayRef<MatmulReport> matmuls);

} // namespace mlir::tessera

#endif // DRIVER_COMPILEDSUMS_H
