//===- Reductions.cpp - The steps of reductions ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elementwise.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::reference;

Elementwise::Function
tessera::reference::getReductionFunction(ReductionKind kind, bool isFloat) {
  switch (kind) {
  case ReductionKind::Add:
    return isFloat ? addFloats : addIntegers;
  case ReductionKind::Mul:
    return isFloat ? multiplyFloats : multiplyIntegers;
  case ReductionKind::Max:
    return isFloat ? maximumFloat : maximumSigned;
  case ReductionKind::Min:
    return isFloat ? minimumFloat : minimumSigned;
  case ReductionKind::MaxNum:
    return maximumNumber;
  case ReductionKind::MinNum:
    return minimumNumber;
  case ReductionKind::MaxU:
    return maximumUnsigned;
  case ReductionKind::MinU:
    return minimumUnsigned;
  }
  return nullptr;
}
