//===- ShiftedReads.cpp - Wide reads from any element ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows that begin at any element cannot be read in aligned accesses of 16
// bytes. The two aligned accesses that cover 16 bytes of such a row can, and
// their contents are shifted in registers. In elements of two bytes, for a row
// that begins at element 3:
//
//      aligned access 0              aligned access 1
//    +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
//    |   |   |   | a | b | c | d | e | f | g | h |   |   |   |   |   |
//    +---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+---+
//                  <--------- the data --------->
//
// Neighboring threads read neighboring data, so that the second access of one
// thread is the first one of the next, and found in the cache. The last access,
// if the memory does not end with it, is replaced by reads of its elements.
//
//===----------------------------------------------------------------------===//

#include "ShiftedReads.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/MemoryIndex.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tessera;

/// The words of both accesses, and of the data.
static constexpr int64_t allWords = 2 * shiftedBytes / 4,
                         dataWords = shiftedBytes / 4;

bool mlir::tessera::canReadShifted(MemRefType source, const Chip &chip) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return chip.asyncCopy && chip.asyncCopyBytes > 1 && chip.alignedAccess &&
         chip.accessBytes >= shiftedBytes && !isWorkgroupMemory(source) &&
         source.getRank() > 0 && !isPacked(source.getElementType()) &&
         getElementBytes(source.getElementType()) < chip.asyncCopyBytes &&
         succeeded(source.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

/// The bytes from the base of `source`'s buffer to the end of its last element
/// (index).
static Value emitEnd(OpBuilder &builder, Location loc, Value source,
                     int64_t bytes) {
  IndexMath math(builder, loc);
  auto type = cast<MemRefType>(source.getType());
  SmallVector<int64_t> strides;
  int64_t known;
  (void)type.getStridesAndOffset(strides, known);
  if (type.hasStaticShape() && ShapedType::isStatic(known) &&
      llvm::none_of(strides, ShapedType::isDynamic)) {
    for (auto [size, stride] : llvm::zip(type.getShape(), strides))
      known += (size - 1) * stride;
    return math.constant((known + 1) * bytes);
  }
  SmallVector<Value> last;
  for (int64_t d = 0; d < type.getRank(); ++d)
    last.push_back(builder.createOrFold<arith::SubIOp>(
        loc, builder.createOrFold<memref::DimOp>(loc, source, math.constant(d)),
        math.constant(1)));
  Value elements = math.add(emitLinearIndex(builder, loc, source, last), 1);
  return math.mul(elements, math.constant(bytes));
}

/// The 16 aligned bytes at `from` (index), as vector<4xi32>.
static Value emitAligned(OpBuilder &builder, Location loc, Value source,
                         Value from) {
  Value view = emitByteView(builder, loc, source, from, shiftedBytes);
  Value bytes = vector::LoadOp::create(
      builder, loc, VectorType::get(shiftedBytes, builder.getI8Type()), view,
      ValueRange{arith::ConstantIndexOp::create(builder, loc, 0)},
      /*nontemporal=*/false, llvm::MaybeAlign(shiftedBytes));
  return vector::BitCastOp::create(
      builder, loc, VectorType::get(dataWords, builder.getI32Type()), bytes);
}

/// The bytes before `end` (index) that an aligned access does not cover, as
/// vector<4xi32> whose other bytes are zero. Reads elements of `bytes`, or
/// larger pieces if `end` is constant.
static Value emitTail(OpBuilder &builder, Location loc, Value source, Value end,
                      int64_t bytes) {
  IndexMath math(builder, loc);
  Type i64 = builder.getI64Type();
  Value rest = math.rem(end, math.constant(shiftedBytes)),
        from = math.sub(end, rest);
  std::optional<int64_t> known = getConstantIntValue(end);
  if (known)
    known = *known % shiftedBytes;
  auto readPiece = [&](OpBuilder &builder, int64_t at, int64_t size) {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
          view = emitByteView(builder, loc, source,
                              IndexMath(builder, loc).add(from, at), size);
    Value piece = vector::LoadOp::create(
        builder, loc, VectorType::get(size, builder.getI8Type()), view,
        ValueRange{zero}, /*nontemporal=*/false, llvm::MaybeAlign(size));
    Type bits = builder.getIntegerType(static_cast<unsigned>(8 * size));
    piece = vector::BitCastOp::create(builder, loc, VectorType::get(1, bits),
                                      piece);
    piece = vector::ExtractOp::create(builder, loc, piece, 0);
    piece = arith::ExtUIOp::create(builder, loc, i64, piece);
    return arith::ShLIOp::create(
               builder, loc, piece,
               arith::ConstantIntOp::create(builder, loc, at % 8 * 8, 64))
        .getResult();
  };
  Value zero = arith::ConstantIntOp::create(builder, loc, 0, 64);
  std::array<Value, 2> halves{zero, zero};
  for (int64_t at = 0, size; at < known.value_or(shiftedBytes); at += size) {
    size = bytes;
    while (known && size < 4 && at % (2 * size) == 0 && at + 2 * size <= *known)
      size *= 2;
    Value piece;
    if (known) {
      piece = readPiece(builder, at, size);
    } else {
      Value isInside = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::slt, math.constant(at), rest);
      piece =
          scf::IfOp::create(
              builder, loc, isInside,
              [&](OpBuilder &nested, Location loc) {
                scf::YieldOp::create(nested, loc, readPiece(nested, at, size));
              },
              [&](OpBuilder &nested, Location loc) {
                scf::YieldOp::create(nested, loc, zero);
              })
              .getResult(0);
    }
    halves[at / 8] = arith::OrIOp::create(builder, loc, halves[at / 8], piece);
  }
  Value both = vector::FromElementsOp::create(builder, loc,
                                              VectorType::get(2, i64), halves);
  return vector::BitCastOp::create(
      builder, loc, VectorType::get(dataWords, builder.getI32Type()), both);
}

/// Both accesses from byte `from` on where the second one, at least, is not
/// completely before `end`.
static Value emitLastWords(OpBuilder &builder, Location loc, Value source,
                           Value from, Value end, int64_t bytes) {
  IndexMath math(builder, loc);
  auto type = VectorType::get(dataWords, builder.getI32Type());
  Value zero =
            arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)),
        tail = emitTail(builder, loc, source, end, bytes),
        next = math.add(from, shiftedBytes);
  auto isBefore = [&](Value at, arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, at, end);
  };
  auto rest = [&](Value at) -> Value {
    return arith::SelectOp::create(
        builder, loc, isBefore(at, arith::CmpIPredicate::slt), tail, zero);
  };
  Value low = scf::IfOp::create(
                  builder, loc, isBefore(next, arith::CmpIPredicate::sle),
                  [&](OpBuilder &nested, Location loc) {
                    scf::YieldOp::create(
                        nested, loc, emitAligned(nested, loc, source, from));
                  },
                  [&](OpBuilder &nested, Location loc) {
                    scf::YieldOp::create(nested, loc, rest(from));
                  })
                  .getResult(0);
  return emitConcatenation(builder, loc, {low, rest(next)});
}

ShiftedWords mlir::tessera::emitShiftedRead(OpBuilder &builder, Location loc,
                                            Value source, ValueRange indices) {
  IndexMath math(builder, loc);
  Type element = cast<MemRefType>(source.getType()).getElementType(),
       i32 = builder.getI32Type();
  int64_t bytes = getElementBytes(element);
  Value at = math.mul(emitLinearIndex(builder, loc, source, indices),
                      math.constant(bytes)),
        first = math.rem(at, math.constant(shiftedBytes)),
        from = math.sub(at, first), end = emitEnd(builder, loc, source, bytes),
        fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                     math.add(from, 2 * shiftedBytes), end);
  auto read = scf::IfOp::create(
      builder, loc, fits,
      [&](OpBuilder &nested, Location loc) {
        Value next = IndexMath(nested, loc).add(from, shiftedBytes),
              low = emitAligned(nested, loc, source, from),
              high = emitAligned(nested, loc, source, next);
        scf::YieldOp::create(nested, loc,
                             emitConcatenation(nested, loc, {low, high}));
      },
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(
            nested, loc, emitLastWords(nested, loc, source, from, end, bytes));
      });
  return {read.getResult(0),
          arith::IndexCastOp::create(builder, loc, i32, first)};
}

/// `word` of the data without the elements from byte `end` (i32) on.
static Value emitKept(OpBuilder &builder, Location loc, Value word,
                      int64_t index, Value end) {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value, unsigned bits = 32) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, bits);
  };
  Value bits = arith::SubIOp::create(builder, loc, end, constant(4 * index));
  bits = arith::MaxSIOp::create(builder, loc, bits, constant(0));
  bits = arith::MinSIOp::create(builder, loc, bits, constant(4));
  bits = arith::ShLIOp::create(builder, loc, bits, constant(3));
  Value mask =
      arith::ShLIOp::create(builder, loc, constant(1, 64),
                            arith::ExtUIOp::create(builder, loc, i64, bits));
  mask = arith::SubIOp::create(builder, loc, mask, constant(1, 64));
  return arith::AndIOp::create(
      builder, loc, word,
      arith::TruncIOp::create(builder, loc, word.getType(), mask));
}

Value mlir::tessera::emitShiftedData(OpBuilder &builder, Location loc,
                                     ShiftedWords read, Type element,
                                     Value count) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto constant = [&](int64_t value, unsigned bits = 32) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, bits);
  };
  SmallVector<Value> words;
  for (int64_t i = 0; i < allWords; ++i)
    words.push_back(vector::ExtractOp::create(builder, loc, read.words, i));
  // By whole words, two and one, and then within a word.
  for (int64_t by : {2, 1}) {
    Value bit =
        arith::AndIOp::create(builder, loc, read.first, constant(4 * by));
    Value moves = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        bit, constant(0));
    for (size_t i = 0; i + by < words.size(); ++i)
      words[i] =
          arith::SelectOp::create(builder, loc, moves, words[i + by], words[i]);
    words.truncate(words.size() - by);
  }
  Value bits = arith::ShLIOp::create(
      builder, loc,
      arith::AndIOp::create(builder, loc, read.first, constant(3)),
      constant(3));
  bits = arith::ExtUIOp::create(builder, loc, i64, bits);
  SmallVector<Value> data;
  for (int64_t i = 0; i < dataWords; ++i) {
    Value low = arith::ExtUIOp::create(builder, loc, i64, words[i]),
          high = arith::ExtUIOp::create(builder, loc, i64, words[i + 1]);
    high = arith::ShLIOp::create(builder, loc, high, constant(32, 64));
    Value both = arith::OrIOp::create(builder, loc, low, high);
    both = arith::ShRUIOp::create(builder, loc, both, bits);
    data.push_back(arith::TruncIOp::create(builder, loc, i32, both));
  }
  auto combine = [&](OpBuilder &builder, ArrayRef<Value> words) -> Value {
    return vector::FromElementsOp::create(
        builder, loc, VectorType::get(dataWords, i32), words);
  };
  int64_t bytes = getElementBytes(element);
  Value result;
  if (!count) {
    result = combine(builder, data);
  } else {
    Value isWhole = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, count,
        arith::ConstantIndexOp::create(builder, loc, shiftedBytes / bytes));
    result =
        scf::IfOp::create(
            builder, loc, isWhole,
            [&](OpBuilder &nested, Location loc) {
              scf::YieldOp::create(nested, loc, combine(nested, data));
            },
            [&](OpBuilder &nested, Location loc) {
              Value end = arith::IndexCastOp::create(nested, loc, i32, count);
              end = arith::MulIOp::create(
                  nested, loc, end,
                  arith::ConstantIntOp::create(nested, loc, bytes, 32));
              SmallVector<Value> kept;
              for (auto [i, word] : llvm::enumerate(data))
                kept.push_back(
                    emitKept(nested, loc, word, static_cast<int64_t>(i), end));
              scf::YieldOp::create(nested, loc, combine(nested, kept));
            })
            .getResult(0);
  }
  return vector::BitCastOp::create(
      builder, loc, VectorType::get(shiftedBytes / bytes, element), result);
}
