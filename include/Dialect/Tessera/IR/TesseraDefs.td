//===- TesseraDefs.td - All of the tessera dialect ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The definitions that the dialect registers and its documentation lists: those
// of Tessera.h, and those with headers of their own.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_TESSERADEFS_TD
#define TESSERA_IR_TESSERADEFS_TD

include "Dialect/Tessera/IR/TesseraOps.td"
include "Dialect/Tessera/IR/WindowScheduleAttr.td"

#endif // TESSERA_IR_TESSERADEFS_TD
