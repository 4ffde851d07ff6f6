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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

static StringRef getPtxType(StringRef type, bool isUnsigned, bool tf32) {
  if (tf32)
    return "tf32";
  return llvm::StringSwitch<StringRef>(type)
      .Case("i8", isUnsigned ? "u8" : "s8")
      .Case("i32", "s32")
      .Case("f8E4M3FN", "e4m3")
      .Case("f8E5M2", "e5m2")
      .Default(type);
}

/// What one register operand of a type is: its constraint letter.
static char getConstraint(Type type) {
  return type.isF64() ? 'd' : type.isF32() ? 'f' : 'r';
}

/// A lane's vector as the registers that the instruction takes: 32-bit words,
/// or whole f64 and accumulator elements.
static SmallVector<Value> unpack(OpBuilder &builder, Location loc, Value vector,
                                 bool tf32) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementTypeBitWidth() < 32) {
    int64_t words = type.getNumElements() * type.getElementTypeBitWidth() / 32;
    vector = vector::BitCastOp::create(
        builder, loc, VectorType::get(words, builder.getI32Type()), vector);
    type = cast<VectorType>(vector.getType());
  }
  SmallVector<Value> words;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value word = vector::ExtractOp::create(builder, loc, vector, i);
    if (tf32)
      word = NVVM::ConvertFloatToTF32Op::create(
          builder, loc, builder.getI32Type(), word, NVVM::FPRoundingMode::RNA,
          NVVM::SaturationMode::NONE, /*relu=*/false);
    words.push_back(word);
  }
  return words;
}

Value NvidiaTarget::emitMma(OpBuilder &builder, Location loc,
                            const MatrixInstruction &row, MmaOp op, Value a,
                            Value b, Value acc) const {
  SmallVector<Value> aWords = unpack(builder, loc, a, row.tf32),
                     bWords = unpack(builder, loc, b, row.tf32),
                     accWords = unpack(builder, loc, acc, false);
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
    add(std::string("=") + getConstraint(word.getType()));
  for (Value word : llvm::concat<Value>(aWords, bWords)) {
    add(std::string(1, getConstraint(word.getType())));
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
  SmallVector<Value> words;
  for (int64_t i = 0, e = types.size(); i < e; ++i)
    words.push_back(
        types.size() == 1
            ? call.getResult(0)
            : LLVM::ExtractValueOp::create(builder, loc, call.getResult(0), i));
  Value vector = vector::FromElementsOp::create(
      builder, loc, VectorType::get(words.size(), words[0].getType()), words);
  if (vector.getType() == acc.getType())
    return vector;
  return vector::BitCastOp::create(builder, loc, acc.getType(), vector);
}
