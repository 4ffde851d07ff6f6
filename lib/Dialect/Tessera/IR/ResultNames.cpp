//===- ResultNames.cpp - Names of printed values --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   %a = tessera.load ...  %b = tessera.load ...  %acc = tessera.mma %a, %b,
//   ...
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"

using namespace mlir;
using namespace mlir::tessera;

/// A fragment is called by its role: `a`, `b`, `acc`.
static void nameByRole(OpAsmSetValueNameFn setName, Value value) {
  setName(value, stringifyRole(cast<FragmentType>(value.getType()).getRole()));
}

void FillOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameByRole(setName, getResult());
}
void LoadOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameByRole(setName, getResult());
}
void MmaOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameByRole(setName, getResult());
}
void MapOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameByRole(setName, getResult());
}
void BroadcastOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameByRole(setName, getResult());
}
void ReduceOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameByRole(setName, getResult());
}
void ConvertOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  nameByRole(setName, getResult());
}
void TileOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), "tile");
}
