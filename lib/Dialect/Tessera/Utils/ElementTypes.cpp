//===- ElementTypes.cpp - Sizes of elements in memory ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ElementTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::isPacked(Type type) { return type.isSignlessInteger(4); }

int64_t mlir::tessera::getElementBits(Type type) {
  return isPacked(type) ? 4 : 8 * getElementBytes(type);
}

int64_t mlir::tessera::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}
