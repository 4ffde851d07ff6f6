//===- BytePermutes.cpp - Bytes of registers to words by prmt -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A byte becomes a float as the low bits of 2^23. `prmt` does that in one
// instruction: it selects four bytes of two registers, the one that has the
// byte, and the constant.
//
//        word  3 2 1 0      constant  7 6 5 4
//
//        result of byte 2 of the word:  7 6 5 2
//
// The same instruction makes any word of the bytes of two others: shuffles of
// bytes, as pairs of floats are made from.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/FixedPoint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USEBYTEPERMUTES
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-byte-permutes"

using namespace mlir;
using namespace mlir::tessera;

static constexpr int64_t bytesOfWord = 4;

/// The vector that element `index` of `vector` was taken from, by way of other
/// vectors, and its index there. Null if it was a scalar.
static std::pair<Value, int64_t> findElement(Value vector, int64_t index) {
  while (Operation *op = vector.getDefiningOp()) {
    if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
      int64_t from = shuffle.getMask()[static_cast<size_t>(index)];
      int64_t size = shuffle.getV1VectorType().getNumElements();
      if (from < 0)
        return {};
      vector = from < size ? shuffle.getV1() : shuffle.getV2();
      index = from < size ? from : from - size;
    } else if (auto join = dyn_cast<vector::FromElementsOp>(op)) {
      auto part = join.getElements()[static_cast<size_t>(index)]
                      .getDefiningOp<vector::ExtractOp>();
      if (!part || part.hasDynamicPosition() ||
          part.getSourceVectorType().getRank() != 1)
        return {};
      vector = part.getSource();
      index = part.getStaticPosition().back();
    } else {
      break;
    }
  }
  return {vector, index};
}

namespace {
/// The words of vectors of bytes.
class Words {
public:
  Words(PatternRewriter &rewriter, Location loc)
      : rewriter(rewriter), loc(loc) {}

  /// A word with the byte `index` of `bytes`, and its number there.
  std::pair<Value, int64_t> get(Value bytes, int64_t index) {
    int64_t count = cast<VectorType>(bytes.getType()).getNumElements(),
            each = count % 4 == 0 ? 4 : 2;
    Value &word = words[{bytes, index / each}];
    if (!word) {
      Type type = rewriter.getIntegerType(static_cast<unsigned>(8 * each));
      Value all = vector::BitCastOp::create(
          rewriter, loc, VectorType::get(count / each, type), bytes);
      word = vector::ExtractOp::create(rewriter, loc, all, index / each);
      if (each == 2)
        word =
            arith::ExtUIOp::create(rewriter, loc, rewriter.getI32Type(), word);
    }
    return {word, index % each};
  }

private:
  PatternRewriter &rewriter;
  Location loc;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> words;
};

/// Bytes with constant bits above them.
struct PermuteBytes : public OpRewritePattern<arith::XOrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::XOrIOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto extended = op.getLhs().getDefiningOp<arith::ExtUIOp>();
    APInt constant;
    if (!type || type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isInteger(32) || !extended ||
        !getElementTypeOrSelf(extended.getIn().getType()).isInteger(8) ||
        !matchPattern(op.getRhs(), m_ConstantInt(&constant)))
      return rewriter.notifyMatchFailure(op, "not bytes with constant bits");
    int64_t count = type.getNumElements();
    SmallVector<std::pair<Value, int64_t>> sources;
    for (int64_t i = 0; i < count; ++i) {
      auto [bytes, index] = findElement(extended.getIn(), i);
      if (!bytes || cast<VectorType>(bytes.getType()).getRank() != 1 ||
          cast<VectorType>(bytes.getType()).getNumElements() % 2)
        return rewriter.notifyMatchFailure(op, "not of registers");
      sources.push_back({bytes, index});
    }

    Location loc = op.getLoc();
    auto number = [&](uint64_t value) -> Value {
      return arith::ConstantOp::create(
          rewriter, loc,
          rewriter.getI32IntegerAttr(static_cast<int32_t>(value)));
    };
    uint64_t bits = constant.getZExtValue(), low = bits & 0xff;
    Value high = number(bits & ~uint64_t(0xff));
    Words words(rewriter, loc);
    llvm::DenseMap<Value, Value> changed;
    SmallVector<Value> results;
    for (auto [bytes, index] : sources) {
      auto [word, byte] = words.get(bytes, index);
      if (low) {
        Value &other = changed[word];
        if (!other)
          other = arith::XOrIOp::create(rewriter, loc, word,
                                        number(low * 0x01010101));
        word = other;
      }
      results.push_back(NVVM::PermuteOp::create(
          rewriter, loc, rewriter.getI32Type(), word, high,
          number(0x7650 + static_cast<uint64_t>(byte)),
          NVVM::PermuteMode::DEFAULT));
    }
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, results);
    return success();
  }
};

/// Shuffles of bytes, each word of which has bytes of at most two words.
struct PermuteShuffle : public OpRewritePattern<vector::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getResultVectorType();
    if (type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isInteger(8) ||
        type.getNumElements() % bytesOfWord)
      return rewriter.notifyMatchFailure(op, "not words of bytes");
    // The vector and the number of its word of each byte, and the byte's.
    using Word = std::pair<Value, int64_t>;
    SmallVector<std::array<std::pair<Word, int64_t>, bytesOfWord>> wanted;
    bool hasChange = false;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      auto [bytes, index] = findElement(op.getResult(), i);
      if (!bytes || cast<VectorType>(bytes.getType()).getRank() != 1 ||
          cast<VectorType>(bytes.getType()).getNumElements() % bytesOfWord)
        return rewriter.notifyMatchFailure(op, "not of registers");
      if (i % bytesOfWord == 0)
        wanted.emplace_back();
      wanted.back()[static_cast<size_t>(i % bytesOfWord)] = {
          {bytes, index / bytesOfWord}, index % bytesOfWord};
      hasChange |= index % bytesOfWord != i % bytesOfWord;
    }
    if (!hasChange)
      return rewriter.notifyMatchFailure(op, "no byte of a word moves");
    for (const auto &bytes : wanted) {
      SmallVector<Word> words;
      for (const auto &[word, byte] : bytes)
        if (!llvm::is_contained(words, word))
          words.push_back(word);
      if (words.size() > 2)
        return rewriter.notifyMatchFailure(op, "a word of more than two");
    }

    Location loc = op.getLoc();
    Words words(rewriter, loc);
    auto getWord = [&](const Word &word) {
      return words.get(word.first, word.second * bytesOfWord).first;
    };
    SmallVector<Value> results;
    for (const auto &bytes : wanted) {
      Word first = bytes[0].first, second = first;
      int32_t selector = 0;
      for (const auto &[i, byte] : llvm::enumerate(bytes)) {
        bool isSecond = byte.first != first;
        if (isSecond)
          second = byte.first;
        selector |= static_cast<int32_t>(byte.second + (isSecond ? 4 : 0))
                    << (4 * i);
      }
      results.push_back(NVVM::PermuteOp::create(
          rewriter, loc, rewriter.getI32Type(), getWord(first), getWord(second),
          arith::ConstantOp::create(rewriter, loc,
                                    rewriter.getI32IntegerAttr(selector)),
          NVVM::PermuteMode::DEFAULT));
    }
    Value all = vector::FromElementsOp::create(
        rewriter, loc,
        VectorType::get(static_cast<int64_t>(results.size()),
                        rewriter.getI32Type()),
        results);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, type, all);
    return success();
  }
};

struct UseBytePermutesPass
    : public mlir::tessera::impl::UseBytePermutesBase<UseBytePermutesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<PermuteBytes, PermuteShuffle>(&getContext());
    if (failed(applyToFixedPoint(getOperation(), std::move(patterns),
                                 "permutes of bytes")))
      signalPassFailure();
  }
};
} // namespace
