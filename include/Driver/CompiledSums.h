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

/// The accumulator of a matrix product, as the reference takes it: `product` is
/// "64x64x16 f16 x f16 -> f32". None where the sums are integers.
std::optional<reference::CompiledSum> describeSum(llvm::StringRef product,
                                                  llvm::StringRef location,
                                                  int unitBits,
                                                  int64_t unitLength);

/// Those of all products of a program that was compiled here.
std::vector<reference::CompiledSum>
describeSums(llvm::ArrayRef<ProductReport> products);

} // namespace mlir::tessera

#endif // DRIVER_COMPILEDSUMS_H
