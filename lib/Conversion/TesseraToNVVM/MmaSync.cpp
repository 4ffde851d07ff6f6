//===- MmaSync.cpp - mma.sync ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One spelling for every row of the table (PTX ISA, "mma"):
//
//   mma.sync.aligned.SHAPE.row.col.D.A.B.C  {d...}, {a...}, {b...}, {c...};
//
// as inline assembly, because nvvm.mma.sync has neither the f64 shapes of sm_90
// nor the 8-bit floats.
//
//===----------------------------------------------------------------------===//

#include "NvidiaTarget.h"
#include "PtxRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

Value NvidiaTarget::emitMma(OpBuilder &builder, Location loc,
                            const MatrixInstruction &row, MmaOp op, Value a,
                            Value b, Value acc) const {
  // One subgroup's; those of groups have conversions of their own.
  if (row.subgroups > 1)
    return {};
  SmallVector<Value> aWords = unpackRegisters(builder, loc, a, row.tf32),
                     bWords = unpackRegisters(builder, loc, b, row.tf32),
                     accWords = unpackRegisters(builder, loc, acc, false);
  StringRef shape = StringRef(row.name).split('.').second.split('.').first;
  StringRef aType = getPtxType(row.aType, op.getUnsignedA(), row.tf32),
            bType = getPtxType(row.bType, op.getUnsignedB(), row.tf32),
            accType = getPtxType(row.accType, false, false);

  unsigned next = 0;
  auto registers = [&](size_t count) {
    std::string text = "{";
    for (size_t i = 0; i < count; ++i)
      text += (i ? ", $" : "$") + llvm::utostr(next++);
    return text + "}";
  };
  std::string accText = registers(accWords.size());
  std::string text = ("mma.sync.aligned." + shape + ".row.col." + accType +
                      "." + aType + "." + bType + "." + accType + " ")
                         .str();
  text += accText + ", " + registers(aWords.size());
  text += ", " + registers(bWords.size()) + ", " + accText + ";";

  SmallVector<Value> operands(aWords);
  llvm::append_range(operands, bWords);
  Value sums = emitAssembly(builder, loc, text, operands, accWords,
                            /*touchesMemory=*/false);
  int64_t count = accWords.size();
  return packRegisters(builder, loc, sums, count,
                       cast<VectorType>(acc.getType()), /*first=*/0, count);
}
