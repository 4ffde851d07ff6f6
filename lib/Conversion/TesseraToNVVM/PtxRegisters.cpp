//===- PtxRegisters.cpp - Vectors of a lane as PTX's registers ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxRegisters.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

StringRef mlir::tessera::getPtxType(StringRef type, bool isUnsigned,
                                    bool tf32) {
  if (tf32)
    return "tf32";
  return llvm::StringSwitch<StringRef>(type)
      .Case("i8", isUnsigned ? "u8" : "s8")
      .Case("i32", "s32")
      .Case("f8E4M3FN", "e4m3")
      .Case("f8E5M2", "e5m2")
      .Default(type);
}

/// The inline assembly constraint of a register operand of a type.
static char getConstraint(Type type) {
  if (type.isF64())
    return 'd';
  if (type.isF32())
    return 'f';
  return isa<LLVM::LLVMPointerType>(type) || type.isInteger(64) ? 'l' : 'r';
}

SmallVector<Value> mlir::tessera::unpackRegisters(OpBuilder &builder,
                                                  Location loc, Value vector,
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

Value mlir::tessera::packRegisters(OpBuilder &builder, Location loc,
                                   Value results, int64_t count,
                                   VectorType type, int64_t first,
                                   int64_t total) {
  SmallVector<Value> words;
  for (int64_t i = first; i < first + count; ++i)
    words.push_back(
        total == 1 ? results
                   : LLVM::ExtractValueOp::create(builder, loc, results, i));
  Value vector = vector::FromElementsOp::create(
      builder, loc, VectorType::get(count, words[0].getType()), words);
  if (vector.getType() == type)
    return vector;
  return vector::BitCastOp::create(builder, loc, type, vector);
}

Value mlir::tessera::emitAssembly(OpBuilder &builder, Location loc,
                                  StringRef text, ValueRange operands,
                                  ValueRange updated, bool touchesMemory,
                                  bool overwrites) {
  // Outputs, then operands, then the inputs tied to the outputs.
  SmallVector<std::string> constraints;
  for (Type type : updated.getTypes())
    constraints.push_back(std::string("=") + getConstraint(type));
  for (Type type : operands.getTypes())
    constraints.push_back(std::string(1, getConstraint(type)));
  for (size_t i = 0; i < updated.size() && !overwrites; ++i)
    constraints.push_back(llvm::utostr(i));
  if (touchesMemory)
    constraints.push_back("~{memory}");
  SmallVector<Value> inputs(operands);
  if (!overwrites)
    llvm::append_range(inputs, updated);
  SmallVector<Type> results(updated.getTypes());
  if (results.size() > 1)
    results = {LLVM::LLVMStructType::getLiteral(builder.getContext(), results)};
  auto assembly = LLVM::InlineAsmOp::create(
      builder, loc, results, inputs, text, llvm::join(constraints, ","),
      /*has_side_effects=*/touchesMemory, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  return results.empty() ? Value() : assembly.getResult(0);
}
