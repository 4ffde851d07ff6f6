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

  // Outputs, then a and b, then the accumulators tied to the outputs.
  std::string constraints;
  auto add = [&](const std::string &constraint) {
    constraints += (constraints.empty() ? "" : ",") + constraint;
  };
  SmallVector<Value> operands;
  for (Value word : accWords)
    add(std::string("=") + getPtxConstraint(word.getType()));
  for (Value word : llvm::concat<Value>(aWords, bWords)) {
    add(std::string(1, getPtxConstraint(word.getType())));
    operands.push_back(word);
  }
  for (auto [i, word] : llvm::enumerate(accWords)) {
    add(llvm::utostr(i));
    operands.push_back(word);
  }
  SmallVector<Type> types(accWords.size(), accWords[0].getType());
  Type result =
      types.size() == 1
          ? types[0]
          : LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  auto call = LLVM::InlineAsmOp::create(
      builder, loc, result, operands, text, constraints,
      /*has_side_effects=*/false, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  int64_t count = types.size();
  return packRegisters(builder, loc, call.getResult(0), count,
                       cast<VectorType>(acc.getType()), /*first=*/0, count);
}
