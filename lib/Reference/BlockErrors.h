//===- BlockErrors.h - Errors of blocks of elements -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_BLOCKERRORS_H
#define LIB_REFERENCE_BLOCKERRORS_H

#include "Reference/Compare.h"

namespace mlir::tessera::reference {

/// Compares the blocks of an output of a program with coarse sums
/// (`options.losses`), and adds what it finds to `result`.
void compareBlocks(function_ref<double(int64_t)> got, const Array &reference,
                   const CompareOptions &options, Comparison &result);

/// A number with two digits, for messages: "0.0012".
std::string formatShort(double value);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_BLOCKERRORS_H
