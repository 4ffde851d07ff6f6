//===- CopyPatterns.cpp - copy, async_copy, wait --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tile is cut into chunks of one access, which the workgroup's threads take
// in turn: neighbouring threads take neighbouring chunks.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Utils.h"
#include "Patterns.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tessera;

/// Chunks up to which a thread's share is unrolled.
static constexpr int64_t maxUnroll = 32;

/// The number of threads in the workgroup, if the kernel says.
static std::optional<int64_t> getNumThreads(Operation *op) {
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  if (!kernel)
    return std::nullopt;
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  if (!size)
    return std::nullopt;
  int64_t n = 1;
  for (int32_t extent : *size)
    n *= extent;
  return n;
}

namespace {

/// One op's copy, chunk by chunk.
template <typename CopyLike> class CopyEmitter {
public:
  CopyEmitter(CopyLike op, const FragmentTarget &target, bool async)
      : op(op), target(target), async(async), loc(op.getLoc()),
        shape(op.getShape()), source(op.getSource()), to(op.getTarget()) {
    element = op.getSourceType().getElementType();
    int64_t bytes = getElementBytes(element);
    width = 1;
    if (isInnerContiguous(op.getSourceType()) &&
        isInnerContiguous(op.getTargetType())) {
      int64_t limit = target.chip.accessBytes;
      if (target.chip.alignedAccess) {
        int64_t alignment = op.getAlignment().value_or(bytes);
        limit = std::min(limit, alignment);
      }
      while (width * 2 * bytes <= limit && shape[1] % (width * 2) == 0)
        width *= 2;
    }
    sourceInside =
        op.getInBounds() ||
        isProvablyInBounds(op.getSourceType(), op.getSourceIndices(), shape);
    targetInside =
        op.getInBounds() ||
        isProvablyInBounds(op.getTargetType(), op.getTargetIndices(), shape);
    numThreads = getNumThreads(op);
  }

  void emit(OpBuilder &builder) {
    IndexMath math(builder, loc);
    int64_t perRow = shape[1] / width, chunks = shape[0] * perRow;
    if (numThreads == 1) {
      // Rows and columns as loops of their own: no division.
      auto rows = scf::ForOp::create(builder, loc, math.constant(0),
                                     math.constant(shape[0]), math.constant(1));
      OpBuilder rowBuilder(rows.getBody()->getTerminator());
      IndexMath rowMath(rowBuilder, loc);
      auto cols = scf::ForOp::create(rowBuilder, loc, rowMath.constant(0),
                                     rowMath.constant(shape[1]),
                                     rowMath.constant(width));
      OpBuilder colBuilder(cols.getBody()->getTerminator());
      emitChunk(colBuilder, rows.getInductionVar(), cols.getInductionVar());
      return;
    }
    Value thread = emitLinearThread(builder, op);
    auto emitAt = [&](OpBuilder &builder, Value chunk) {
      IndexMath math(builder, loc);
      Value row =
          arith::DivUIOp::create(builder, loc, chunk, math.constant(perRow));
      Value col = math.mul(
          arith::RemUIOp::create(builder, loc, chunk, math.constant(perRow)),
          width);
      emitChunk(builder, row, col);
    };
    if (numThreads && llvm::divideCeil(chunks, *numThreads) <= maxUnroll) {
      for (int64_t first = 0; first < chunks; first += *numThreads) {
        Value chunk = math.add(thread, first);
        if (first + *numThreads <= chunks) {
          emitAt(builder, chunk);
          continue;
        }
        Value some =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                  chunk, math.constant(chunks));
        scf::IfOp::create(builder, loc, some,
                          [&](OpBuilder &nested, Location loc) {
                            emitAt(nested, chunk);
                            scf::YieldOp::create(nested, loc);
                          });
      }
      return;
    }
    auto loop = scf::ForOp::create(builder, loc, thread, math.constant(chunks),
                                   emitNumThreads(builder, op));
    OpBuilder nested(loop.getBody()->getTerminator());
    emitAt(nested, loop.getInductionVar());
  }

private:
  /// How many of the chunk's elements from `place` on lie in `memory`.
  Value emitCount(OpBuilder &builder, Value memory,
                  std::array<Value, 2> place) {
    IndexMath math(builder, loc);
    int64_t rank = cast<MemRefType>(memory.getType()).getRank();
    Value rows = memref::DimOp::create(builder, loc, memory, rank - 2);
    Value cols = memref::DimOp::create(builder, loc, memory, rank - 1);
    Value left = arith::SubIOp::create(builder, loc, cols, place[1]);
    left = arith::MaxSIOp::create(builder, loc, left, math.constant(0));
    left = arith::MinSIOp::create(builder, loc, left, math.constant(width));
    Value rowInside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, place[0], rows);
    return arith::SelectOp::create(builder, loc, rowInside, left,
                                   math.constant(0));
  }

  void emitChunk(OpBuilder &builder, Value row, Value col) {
    IndexMath math(builder, loc);
    auto place = [&](ValueRange indices) {
      return std::array<Value, 2>{math.add(indices[indices.size() - 2], row),
                                  math.add(indices[indices.size() - 1], col)};
    };
    auto all = [](ValueRange indices, std::array<Value, 2> place) {
      SmallVector<Value> result(indices.drop_back(2));
      result.append({place[0], place[1]});
      return result;
    };
    std::array<Value, 2> from = place(op.getSourceIndices()),
                         into = place(op.getTargetIndices());
    SmallVector<Value> fromAll = all(op.getSourceIndices(), from),
                       intoAll = all(op.getTargetIndices(), into);
    Value count = sourceInside ? Value() : emitCount(builder, source, from);
    if (async && targetInside &&
        target.emitAsyncCopy(builder, loc, source, fromAll, to, intoAll, width,
                             count))
      return;

    VectorType type = VectorType::get(width, element);
    auto constantZero = [&](OpBuilder &builder, Type type) -> Value {
      return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    };
    llvm::MaybeAlign align =
        target.chip.alignedAccess
            ? llvm::MaybeAlign(width * getElementBytes(element))
            : llvm::MaybeAlign();
    Value whole;
    auto isWhole = [&](Value count) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                   count, math.constant(width));
    };
    // Read: a whole chunk at once, a partial one under a mask.
    Value value;
    auto read = [&](OpBuilder &builder) -> Value {
      if (width == 1)
        return memref::LoadOp::create(builder, loc, source, fromAll);
      return vector::LoadOp::create(builder, loc, type, source, fromAll, false,
                                    align);
    };
    if (!count) {
      value = read(builder);
    } else {
      whole = isWhole(count);
      value = scf::IfOp::create(
                  builder, loc, whole,
                  [&](OpBuilder &nested, Location loc) {
                    scf::YieldOp::create(nested, loc, read(nested));
                  },
                  [&](OpBuilder &nested, Location loc) {
                    Value zero =
                        constantZero(nested, width == 1 ? element : Type(type));
                    Value partial = zero;
                    if (width > 1) {
                      Value mask = emitMask(nested, loc, count, width);
                      partial = vector::MaskedLoadOp::create(
                          nested, loc, type, source, fromAll, mask, zero);
                    }
                    scf::YieldOp::create(nested, loc, partial);
                  })
                  .getResult(0);
    }
    // Write.
    auto write = [&](OpBuilder &builder) {
      if (width == 1)
        memref::StoreOp::create(builder, loc, value, to, intoAll);
      else
        vector::StoreOp::create(builder, loc, value, to, intoAll, false, align);
    };
    if (targetInside) {
      write(builder);
      return;
    }
    Value room = emitCount(builder, to, into);
    scf::IfOp::create(
        builder, loc, isWhole(room),
        [&](OpBuilder &nested, Location loc) {
          write(nested);
          scf::YieldOp::create(nested, loc);
        },
        [&](OpBuilder &nested, Location loc) {
          if (width > 1) {
            Value mask = emitMask(nested, loc, room, width);
            vector::MaskedStoreOp::create(nested, loc, to, intoAll, mask,
                                          value);
          }
          scf::YieldOp::create(nested, loc);
        });
  }

  CopyLike op;
  const FragmentTarget &target;
  bool async;
  Location loc;
  ArrayRef<int64_t> shape;
  Value source, to;
  Type element;
  int64_t width;
  bool sourceInside, targetInside;
  std::optional<int64_t> numThreads;
};

struct CopyPattern : FragmentPattern<CopyOp> {
  using FragmentPattern::FragmentPattern;
  LogicalResult
  matchAndRewrite(CopyOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    CopyEmitter<CopyOp>(op, target, /*async=*/false).emit(rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};

struct AsyncCopyPattern : FragmentPattern<AsyncCopyOp> {
  using FragmentPattern::FragmentPattern;
  LogicalResult
  matchAndRewrite(AsyncCopyOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    CopyEmitter<AsyncCopyOp>(op, target, target.chip.asyncCopy).emit(rewriter);
    target.emitAsyncCommit(rewriter, op.getLoc());
    rewriter.replaceOpWithMultiple(op, {ValueRange()});
    return success();
  }
};

struct WaitPattern : FragmentPattern<WaitOp> {
  using FragmentPattern::FragmentPattern;
  LogicalResult
  matchAndRewrite(WaitOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    target.emitAsyncWait(rewriter, op.getLoc(), op.getPending());
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

void mlir::tessera::populateCopyPatterns(const TypeConverter &converter,
                                         RewritePatternSet &patterns,
                                         const FragmentTarget &target) {
  patterns.add<CopyPattern, AsyncCopyPattern, WaitPattern>(
      converter, patterns.getContext(), target);
}
