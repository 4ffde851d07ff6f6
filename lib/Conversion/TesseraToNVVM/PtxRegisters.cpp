//===- PtxRegisters.cpp - Vectors of a lane as PTX's registers ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxRegisters.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
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

char mlir::tessera::getPtxConstraint(Type type) {
  return type.isF64() ? 'd' : type.isF32() ? 'f' : 'r';
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
