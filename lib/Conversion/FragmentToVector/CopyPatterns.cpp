//===- CopyPatterns.cpp - copy, async_copy, wait --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tile is divided into chunks of one access, which are assigned to the
// workgroup's threads cyclically: adjacent threads copy adjacent chunks. The
// region of a gather is evaluated once for each chunk, at its first element.
// For a tile in a k-packed layout (KPackedTiles.cpp), a thread copies one
// chunk of each of the rows that fill a word.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "Patterns.h"
#include "ShiftedReads.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::tessera;

/// Chunks up to which a thread's share is unrolled.
static constexpr int64_t maxUnroll = 32;

std::optional<int64_t> mlir::tessera::getCopyThreads(Operation *op) {
  if (auto some = op->getAttrOfType<IntegerAttr>(
          TesseraDialect::CopyThreadsAttrHelper::getNameStr()))
    return some.getInt();
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
        shape(op.getShape()), source(op.getSource()), to(op.getTarget()),
        gathers(op.isGather()), packing(getKPacking(op)) {
    if (packing)
      together = packing->rows;
    element = op.getSourceType().getElementType();
    int64_t bits = getElementBits(element);
    packed = isPacked(element);
    alignment = op.getAlignment().value_or(bits / 8);
    auto known = op->template getAttrOfType<IntegerAttr>(
        TesseraDialect::AlignmentAttrHelper::getNameStr());
    targetAlignment = known ? known.getInt() : alignment;
    // If memory has room after an odd row, its last byte is padded.
    odd = packed && shape[1] % 2 == 1 &&
          isProvablyInBounds(op.getTargetType(), op.getTargetIndices(),
                             {shape[0], shape[1] + 1});
    single =
        packed && (gathers || odd || !isInnerContiguous(op.getSourceType()));
    width = 1;
    if (readsShifted()) {
      shifted = true;
      width = 8 * shiftedBytes / bits;
    } else if (single) {
      width = shape[1] % 2 == 0 || odd ? 2 : 1;
    } else if (isInnerContiguous(op.getSourceType()) &&
               isInnerContiguous(op.getTargetType())) {
      int64_t limit = target.chip.accessBytes;
      if (target.chip.alignedAccess)
        limit = std::min(limit, getAlignment());
      if (gathers)
        limit = std::min(limit, op.getContiguousElements() * bits / 8);
      // Within one chunk of 16 bytes, where these are permuted.
      if (op.getSwizzled() && together == 1)
        limit = std::min({limit, int64_t(16), targetAlignment});
      if (op.getFromSwizzled())
        limit = std::min(
            {limit, int64_t(16),
             std::max(bits / 8,
                      getKnownTileAlignment(source, op.getSourceIndices()))});
      while (width * 2 * bits <= 8 * limit && shape[1] % (width * 2) == 0)
        width *= 2;
    }
    sourceInside =
        gathers || op.getInBounds() ||
        isProvablyInBounds(op.getSourceType(), op.getSourceIndices(), shape);
    targetInside =
        op.getInBounds() ||
        isProvablyInBounds(op.getTargetType(), op.getTargetIndices(), shape);
    numThreads = getCopyThreads(op);
    // Limited to a line, and such that all threads have work. Packed elements
    // are read in whole bytes.
    while (packing && width > (packed ? 2 : 1) &&
           (packing->columns % width ||
            getKnownDivisor(op.getTargetIndices().back()) % width ||
            (numThreads &&
             shape[0] / together * (shape[1] / width) < *numThreads)))
      width /= 2;
  }

  /// Verifies that several threads can write the target.
  LogicalResult check() {
    if (!packed || packing ||
        (width > 1 && targetInside && targetAlignment > 0 &&
         isInnerContiguous(op.getTargetType())))
      return success();
    return op.emitOpError()
           << "writes i4 elements, two of which share a byte: the rows of a "
              "tile must have an even number of elements, or room for one "
              "more, start at whole bytes of the target, and lie within it";
  }

  /// Writes the data before `position` instead of immediately, so that reads
  /// are in flight during the ops in between. Chunks that only some threads
  /// have are written immediately.
  void writeBefore(Operation *position) { writePosition = position; }

  void emit(OpBuilder &builder) {
    IndexMath math(builder, loc);
    int64_t perRow = llvm::divideCeil(shape[1], width),
            allRows = shape[0] / together, chunks = allRows * perRow;
    if (numThreads == 1) {
      // Rows and columns as loops of their own: no division.
      auto rows =
          scf::ForOp::create(builder, loc, math.constant(0),
                             math.constant(shape[0]), math.constant(together));
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
      Value row = math.mul(
          arith::DivUIOp::create(builder, loc, chunk, math.constant(perRow)),
          together);
      Value col = math.mul(
          arith::RemUIOp::create(builder, loc, chunk, math.constant(perRow)),
          width);
      emitChunk(builder, row, col);
    };
    // If the threads together copy whole rows, each stays in its column. For
    // this purpose a few threads may be idle if the copy would not be unrolled
    // otherwise.
    int64_t rows = numThreads ? *numThreads / perRow : 0,
            active = rows * perRow;
    if (rows && allRows > rows && allRows % rows == 0 &&
        (active == *numThreads ||
         (chunks > maxUnroll * *numThreads && 4 * active >= 3 * *numThreads))) {
      if (active == *numThreads)
        return emitRows(builder, thread, perRow, rows);
      Value isActive =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread,
                                math.constant(active));
      scf::IfOp::create(builder, loc, isActive,
                        [&](OpBuilder &nested, Location loc) {
                          emitRows(nested, thread, perRow, rows);
                          scf::YieldOp::create(nested, loc);
                        });
      return;
    }
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
                                   numThreads ? math.constant(*numThreads)
                                              : emitNumThreads(builder, op));
    OpBuilder nested(loop.getBody()->getTerminator());
    emitAt(nested, loop.getInductionVar());
  }

  /// Whether registers should hold the chunks on their way to workgroup memory,
  /// on a target with asynchronous copies: it has none for these, and a thread
  /// has few of them.
  bool isHeld() {
    constexpr int64_t most = 16;
    int64_t bytes = width * getElementBits(element) / 8,
            perRow = llvm::divideCeil(shape[1], width);
    bool runsAsync = targetInside && together == 1 && !single && !shifted &&
                     bytes >= target.chip.asyncCopyBytes;
    return !runsAsync && numThreads && !isWorkgroupMemory(op.getSourceType()) &&
           shape[0] / together * perRow <= most * *numThreads;
  }
  /// Whether the same holds for a copy that is not asynchronous.
  bool isHeldShortly() { return shifted && isHeld(); }

private:
  /// Whether chunks are read by aligned accesses that are shifted, because the
  /// rows of the source are aligned to less than the smallest asynchronous
  /// copy. Those of the target are aligned to a chunk.
  bool readsShifted() {
    return target.chip.asyncCopyBytes > alignment && !gathers && !packing &&
           !op.getFromSwizzled() &&
           shape[1] * getElementBits(element) % (8 * shiftedBytes) == 0 &&
           getKnownTileAlignment(to, op.getTargetIndices()) >= shiftedBytes &&
           isInnerContiguous(op.getTargetType()) &&
           canReadShifted(op.getSourceType(), target.chip);
  }

  /// Emits the chunks of a thread in its column, if all threads together copy
  /// `rows` rows (each of which is `together` rows of the tile) of `perRow`
  /// chunks at a time.
  void emitRows(OpBuilder &builder, Value thread, int64_t perRow,
                int64_t rows) {
    IndexMath math(builder, loc);
    Value row = math.mul(math.div(thread, math.constant(perRow)), together),
          col = math.mul(math.rem(thread, math.constant(perRow)), width);
    rows *= together;
    int64_t passes = shape[0] / rows;
    if (passes <= maxUnroll) {
      for (int64_t i = 0; i < passes; ++i)
        emitChunk(builder, math.add(row, i * rows), col);
      return;
    }
    int64_t atOnce = 16;
    while (passes % atOnce)
      atOnce /= 2;
    auto loop = scf::ForOp::create(builder, loc, math.constant(0),
                                   math.constant(shape[0]),
                                   math.constant(atOnce * rows));
    OpBuilder nested(loop.getBody()->getTerminator());
    IndexMath inner(nested, loc);
    Value first = inner.add(row, loop.getInductionVar());
    for (int64_t i = 0; i < atOnce; ++i)
      emitChunk(nested, inner.add(first, i * rows), col);
  }

  /// The alignment of chunks. Packed elements that may start in the middle of a
  /// byte are shifted in units of four bytes.
  int64_t getAlignment() const {
    return packed && alignment == 0 ? std::min<int64_t>(4, targetAlignment)
                                    : alignment;
  }
  llvm::MaybeAlign getAccessAlignment(int64_t known) const {
    return tessera::getAccessAlignment(element, width, known,
                                       target.chip.alignedAccess);
  }

  /// Where a chunk is read.
  struct Origin {
    SmallVector<Value> indices;
    /// Its row and column in the source's tile; empty if the tile has no single
    /// origin.
    SmallVector<Value, 2> position;
    /// The number of its elements that are in bounds (index); null: all.
    Value count;
    /// Whether all are in bounds (i1), if `count` is not null.
    Value whole;
  };

  Value emitIsWhole(OpBuilder &builder, Value count, int64_t all) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, count,
                                 IndexMath(builder, loc).constant(all));
  }

  /// The position of a chunk in the last two dimensions.
  std::array<Value, 2> getPosition(OpBuilder &builder, ValueRange indices,
                                   Value row, Value col) {
    IndexMath math(builder, loc);
    return {math.add(indices[indices.size() - 2], row),
            math.add(indices[indices.size() - 1], col)};
  }

  /// Where the chunk is in a tile of the source.
  Origin emitTileOrigin(OpBuilder &builder, Value row, Value col) {
    std::array<Value, 2> position =
        getPosition(builder, op.getSourceIndices(), row, col);
    std::array<Value, 2> kept = position;
    if (op.getFromSwizzled())
      kept = emitSwizzledPosition(builder, loc, op.getSourceType(), position[0],
                                  position[1]);
    Origin origin;
    llvm::append_range(origin.indices, op.getSourceIndices().drop_back(2));
    origin.indices.append({kept[0], kept[1]});
    if (!op.getFromSwizzled() &&
        op->hasAttr(TesseraDialect::UniformAttrHelper::getNameStr()))
      origin.position = {row, col};
    if (!sourceInside) {
      int64_t all = single ? 1 : width;
      origin.count = emitCountInBounds(builder, loc, source, position, all);
      origin.whole = emitIsWhole(builder, origin.count, all);
    }
    return origin;
  }

  /// The index at which the region places the chunk: all of it or nothing.
  Origin emitGatherOrigin(OpBuilder &builder, Value row, Value col) {
    IndexMath math(builder, loc);
    Block &block = op.getGather().front();
    IRMapping mapping;
    mapping.map(block.getArgument(0), row);
    mapping.map(block.getArgument(1), col);
    for (Operation &inner : block.without_terminator())
      builder.clone(inner, mapping);
    Origin origin;
    for (Value value : block.getTerminator()->getOperands())
      origin.indices.push_back(mapping.lookupOrDefault(value));
    Value inside = origin.indices.pop_back_val();
    if (getConstantIntValue(inside) == int64_t(-1) ||
        getConstantIntValue(inside) == int64_t(1))
      return origin;
    origin.count = arith::SelectOp::create(
        builder, loc, inside, math.constant(width), math.constant(0));
    origin.whole = inside;
    return origin;
  }

  /// The chunk by an asynchronous copy, if the target has one for it.
  bool emitAsyncChunk(OpBuilder &builder, const Origin &from,
                      ValueRange targetIndices) {
    IndexMath math(builder, loc);
    SmallVector<Value> indices(from.indices);
    // An element out of bounds is not read, but its address must still be
    // valid.
    if (gathers && from.count)
      for (Value &index : indices)
        index = arith::SelectOp::create(builder, loc, from.whole, index,
                                        math.constant(0));
    return target.emitAsyncCopy(builder, loc, source, indices, to,
                                targetIndices, width, from.count);
  }

  /// Whether each chunk is completely inside or outside of `type`: rows are
  /// whole chunks.
  bool isWholeOrNothing(MemRefType type) const {
    int64_t length = type.getDimSize(type.getRank() - 1);
    return target.chip.alignedAccess && ShapedType::isStatic(length) &&
           length % width == 0;
  }

  /// The chunk's elements, zero if they are out of bounds.
  Value emitRead(OpBuilder &builder, const Origin &from, int64_t count) {
    auto type = VectorType::get(count, element);
    auto read = [&](OpBuilder &builder) -> Value {
      if (!from.position.empty() && !from.count)
        if (Value elements =
                target.emitTileRead(builder, loc, source, op.getSourceIndices(),
                                    from.position, count))
          return elements;
      if (count == 1)
        return memref::LoadOp::create(builder, loc, source, from.indices);
      return vector::LoadOp::create(builder, loc, type, source, from.indices,
                                    false, getAccessAlignment(alignment));
    };
    if (!from.count)
      return read(builder);
    if (count == 1 || gathers || isWholeOrNothing(op.getSourceType()))
      if (Value guarded = target.emitGuardedRead(
              builder, loc, source, from.indices, count, from.whole))
        return guarded;
    // A whole chunk at once, a partial one under a mask.
    return scf::IfOp::create(
               builder, loc, from.whole,
               [&](OpBuilder &nested, Location loc) {
                 scf::YieldOp::create(nested, loc, read(nested));
               },
               [&](OpBuilder &nested, Location loc) {
                 Type all = count == 1 ? element : Type(type);
                 Value zero = arith::ConstantOp::create(
                     nested, loc, nested.getZeroAttr(all));
                 Value partial = zero;
                 if (count > 1 && !gathers) {
                   Value mask = emitMask(nested, loc, from.count, count);
                   partial = vector::MaskedLoadOp::create(
                       nested, loc, type, source, from.indices, mask, zero);
                 }
                 scf::YieldOp::create(nested, loc, partial);
               })
        .getResult(0);
  }

  /// A chunk whose elements are read one by one.
  Value emitSingleReads(OpBuilder &builder, Value row, Value col) {
    SmallVector<Value> elements;
    auto readAt = [&](OpBuilder &builder, Value position) {
      Origin from = gathers ? emitGatherOrigin(builder, row, position)
                            : emitTileOrigin(builder, row, position);
      return emitRead(builder, from, 1);
    };
    for (int64_t i = 0; i < width; ++i) {
      IndexMath math(builder, loc);
      Value position = math.add(col, i);
      if (!odd || i == 0) {
        elements.push_back(readAt(builder, position));
        continue;
      }
      Value inRow =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                position, math.constant(shape[1]));
      auto branch = scf::IfOp::create(
          builder, loc, inRow,
          [&](OpBuilder &nested, Location loc) {
            scf::YieldOp::create(nested, loc, readAt(nested, position));
          },
          [&](OpBuilder &nested, Location loc) {
            Value zero = arith::ConstantOp::create(nested, loc,
                                                   nested.getZeroAttr(element));
            scf::YieldOp::create(nested, loc, zero);
          });
      elements.push_back(branch.getResult(0));
    }
    return vector::FromElementsOp::create(
        builder, loc, VectorType::get(width, element), elements);
  }

  void emitWrite(OpBuilder &builder, Value value, std::array<Value, 2> into,
                 ValueRange indices) {
    llvm::MaybeAlign align = getAccessAlignment(targetAlignment);
    auto write = [&](OpBuilder &builder) {
      if (width == 1)
        memref::StoreOp::create(builder, loc, value, to, indices);
      else
        vector::StoreOp::create(builder, loc, value, to, indices, false, align);
    };
    if (targetInside) {
      write(builder);
      return;
    }
    // Rows that are swizzled are whole chunks.
    Value room = emitCountInBounds(builder, loc, to, into, width);
    Value whole = emitIsWhole(builder, room, width);
    if (isWholeOrNothing(op.getTargetType()) &&
        target.emitGuardedWrite(builder, loc, value, to, indices, whole))
      return;
    scf::IfOp::create(
        builder, loc, whole,
        [&](OpBuilder &nested, Location loc) {
          write(nested);
          scf::YieldOp::create(nested, loc);
        },
        [&](OpBuilder &nested, Location loc) {
          if (width > 1 && !op.getSwizzled()) {
            Value mask = emitMask(nested, loc, room, width);
            vector::MaskedStoreOp::create(nested, loc, to, indices, mask,
                                          value);
          }
          scf::YieldOp::create(nested, loc);
        });
  }

  /// Copies the chunk asynchronously if all of it is in bounds, and otherwise
  /// by a read and a write: an asynchronous copy cannot fill a part of a byte.
  bool emitAsyncIfWhole(OpBuilder &builder, const Origin &from,
                        std::array<Value, 2> into, ValueRange intoAll) {
    // Not reported to the conversion: there may be no such copy.
    OpBuilder untold(builder.getInsertionBlock(), builder.getInsertionPoint());
    auto branch = scf::IfOp::create(untold, loc, from.whole,
                                    /*withElseRegion=*/true);
    Origin whole = from;
    whole.count = whole.whole = {};
    OpBuilder thenBuilder = branch.getThenBodyBuilder(),
              elseBuilder = branch.getElseBodyBuilder();
    if (!emitAsyncChunk(thenBuilder, whole, intoAll)) {
      branch.erase();
      return false;
    }
    emitWrite(elseBuilder, emitRead(elseBuilder, from, width), into, intoAll);
    return true;
  }

  /// Interleaves chunks of `width` elements: words of columns, as one vector.
  Value emitKPacking(OpBuilder &builder, SmallVector<Value> chunks) {
    if (width == 1)
      return vector::FromElementsOp::create(
          builder, loc, VectorType::get(together, element), chunks);
    if (Value words = emitByteKPacking(builder, chunks))
      return words;
    // Interleaves adjacent rows in pairs, then pairs of the results: if an
    // element is half a register, only the first step needs instructions.
    for (int64_t ofColumn = 1; chunks.size() > 1; ofColumn *= 2) {
      SmallVector<Value> next;
      for (size_t i = 0; i < chunks.size(); i += 2) {
        SmallVector<int64_t> order;
        for (int64_t column = 0; column < width; ++column)
          for (int64_t ofOdd : {int64_t(0), width * ofColumn})
            for (int64_t j = 0; j < ofColumn; ++j)
              order.push_back(ofOdd + column * ofColumn + j);
        next.push_back(vector::ShuffleOp::create(builder, loc, chunks[i],
                                                 chunks[i + 1], order));
      }
      chunks = std::move(next);
    }
    return chunks.front();
  }

  /// The same of bytes, four or eight rows, where the target permutes the bytes
  /// of words: two instructions for each word. Else null.
  Value emitByteKPacking(OpBuilder &builder, ArrayRef<Value> chunks) {
    constexpr uint32_t lowPairs = 0x05010400, highPairs = 0x07030602,
                       lowHalves = 0x05040100, highHalves = 0x07060302;
    if (together % 4 || width % 4 || getElementBits(element) != 8)
      return {};
    Type i32 = builder.getI32Type();
    SmallVector<Value> rows, all;
    for (Value chunk : chunks)
      rows.push_back(vector::BitCastOp::create(
          builder, loc, VectorType::get(width / 4, i32), chunk));
    int64_t ofColumn = together / 4;
    all.resize(width * ofColumn);
    for (int64_t i = 0; i < width / 4; ++i)
      for (int64_t four = 0; four < ofColumn; ++four) {
        auto row = [&](int64_t r) -> Value {
          return vector::ExtractOp::create(builder, loc, rows[4 * four + r], i);
        };
        auto permute = [&](Value low, Value high, uint32_t selector) {
          return target.emitBytePermute(builder, loc, low, high, selector);
        };
        // Columns 0 and 1, and 2 and 3, of two rows each.
        int64_t column = 4 * i;
        for (uint32_t pairs : {lowPairs, highPairs}) {
          Value upper = permute(row(0), row(1), pairs);
          if (!upper)
            return {};
          Value lower = permute(row(2), row(3), pairs);
          for (uint32_t halves : {lowHalves, highHalves})
            all[ofColumn * column++ + four] = permute(upper, lower, halves);
        }
      }
    Value words = vector::FromElementsOp::create(
        builder, loc, VectorType::get(width * ofColumn, i32), all);
    return vector::BitCastOp::create(
        builder, loc, VectorType::get(width * together, element), words);
  }

  /// The same for packed elements: eight rows, in words of four bytes.
  ///
  /// If a row's chunk fills a word, this is the transposition of an 8x8 matrix:
  /// words whose indices differ in one bit exchange the elements whose
  /// positions differ in that bit. Shorter chunks share a word with those of
  /// the rows that follow at the distance of a chunk's width, which are then in
  /// their final position.
  Value emitPackedKPacking(OpBuilder &builder, ArrayRef<Value> chunks) {
    constexpr int64_t ofWord = 8;
    Type i32 = builder.getI32Type();
    auto constant = [&](uint32_t value) -> Value {
      return arith::ConstantIntOp::create(builder, loc,
                                          static_cast<int32_t>(value), 32);
    };
    auto shift = [&](Value word, int64_t positions, bool up) -> Value {
      if (positions == 0)
        return word;
      Value by = constant(static_cast<uint32_t>(4 * positions));
      return up ? arith::ShLIOp::create(builder, loc, word, by).getResult()
                : arith::ShRUIOp::create(builder, loc, word, by).getResult();
    };
    auto merge = [&](Value low, Value high) -> Value {
      return arith::OrIOp::create(builder, loc, low, high);
    };
    auto mask = [&](Value word, uint32_t bits) -> Value {
      return arith::AndIOp::create(builder, loc, word, constant(bits));
    };
    // The number of columns that fill a word at once.
    int64_t atOnce = std::min(width, ofWord);
    Type part = builder.getIntegerType(static_cast<unsigned>(4 * atOnce));
    SmallVector<Value> all;
    for (int64_t first = 0; first < width; first += atOnce) {
      SmallVector<Value> words;
      for (auto [i, chunk] : llvm::enumerate(chunks)) {
        auto row = static_cast<int64_t>(i);
        Value parts = vector::BitCastOp::create(
            builder, loc, VectorType::get(width / atOnce, part), chunk);
        Value word =
            vector::ExtractOp::create(builder, loc, parts, first / atOnce);
        if (atOnce < ofWord)
          word = arith::ExtUIOp::create(builder, loc, i32, word);
        word = shift(word, row / atOnce * atOnce, /*up=*/true);
        if (row < atOnce)
          words.push_back(word);
        else
          words[row % atOnce] = merge(words[row % atOnce], word);
      }
      for (int64_t bit = 1; bit < atOnce; bit *= 2) {
        // The positions without the bit.
        uint32_t low = bit == 1   ? 0x0f0f0f0f
                       : bit == 2 ? 0x00ff00ff
                                  : 0x0000ffff;
        for (int64_t i = 0; i < atOnce; ++i) {
          if (i & bit)
            continue;
          Value even = words[i], odd = words[i + bit];
          words[i] =
              merge(mask(even, low), shift(mask(odd, low), bit, /*up=*/true));
          words[i + bit] =
              merge(mask(shift(even, bit, /*up=*/false), low), mask(odd, ~low));
        }
      }
      llvm::append_range(all, words);
    }
    return vector::FromElementsOp::create(builder, loc,
                                          VectorType::get(width, i32), all);
  }

  /// A chunk of each row that fills a word, to a tile that is interleaved.
  void emitKPackedChunk(OpBuilder &builder, Value row, Value col) {
    IndexMath math(builder, loc);
    SmallVector<Value> chunks;
    for (int64_t i = 0; i < together; ++i) {
      Value at = math.add(row, i);
      if (single) {
        chunks.push_back(emitSingleReads(builder, at, col));
        continue;
      }
      Origin from = gathers ? emitGatherOrigin(builder, at, col)
                            : emitTileOrigin(builder, at, col);
      chunks.push_back(emitRead(builder, from, width));
    }
    if (writePosition &&
        builder.getInsertionBlock() == writePosition->getBlock()) {
      OpBuilder later(writePosition);
      target.emitLateUse(later, loc);
      writeWords(later, std::move(chunks), row, col);
      return;
    }
    writeWords(builder, std::move(chunks), row, col);
  }

  void writeWords(OpBuilder &builder, SmallVector<Value> chunks, Value row,
                  Value col) {
    IndexMath math(builder, loc);
    std::array<Value, 2> into =
        getPosition(builder, op.getTargetIndices(), row, col);
    Value words = packed ? emitPackedKPacking(builder, chunks)
                         : emitKPacking(builder, std::move(chunks)),
          view = emitKPackedView(builder, loc, to, *packing),
          columns = math.constant(packing->columns),
          line = math.div(into[1], columns),
          inLine = math.rem(into[1], columns);
    // Lines are aligned as their length is, and chunks as theirs.
    int64_t wordBytes = together * getElementBits(element) / 8,
            each = std::min(width, target.chip.accessBytes / wordBytes),
            ofWord = packed ? 1 : together;
    for (int64_t i = 0; i < width; i += each) {
      SmallVector<Value> indices(op.getTargetIndices().drop_back(2));
      indices.append({line, into[0], math.mul(math.add(inLine, i), together)});
      Value part = words;
      if (each < width)
        part = vector::ExtractStridedSliceOp::create(
            builder, loc, words, ArrayRef<int64_t>{i * ofWord},
            ArrayRef<int64_t>{each * ofWord}, ArrayRef<int64_t>{1});
      if (packed)
        part = vector::BitCastOp::create(
            builder, loc, VectorType::get(each * together, element), part);
      vector::StoreOp::create(builder, loc, part, view, indices,
                              /*nontemporal=*/false,
                              llvm::MaybeAlign(each * wordBytes));
    }
  }

  void emitChunk(OpBuilder &builder, Value row, Value col) {
    if (together > 1) {
      emitKPackedChunk(builder, row, col);
      return;
    }
    std::array<Value, 2> into =
        getPosition(builder, op.getTargetIndices(), row, col);
    std::array<Value, 2> kept = into;
    if (op.getSwizzled())
      kept = emitSwizzledPosition(builder, loc, op.getTargetType(), into[0],
                                  into[1]);
    SmallVector<Value> intoAll(op.getTargetIndices().drop_back(2));
    intoAll.append({kept[0], kept[1]});
    if (single) {
      emitWrite(builder, emitSingleReads(builder, row, col), into, intoAll);
      return;
    }
    Origin from = gathers ? emitGatherOrigin(builder, row, col)
                          : emitTileOrigin(builder, row, col);
    if (shifted) {
      emitShiftedChunk(builder, from, into, intoAll);
      return;
    }
    bool mayCopy = async && targetInside && (!packed || alignment > 0);
    bool mayHalve =
        packed && from.count &&
        !op->hasAttr(TesseraDialect::WholeBytesAttrHelper::getNameStr());
    if (mayCopy && mayHalve ? emitAsyncIfWhole(builder, from, into, intoAll)
                            : mayCopy && emitAsyncChunk(builder, from, intoAll))
      return;
    Value chunk = emitRead(builder, from, width);
    if (writePosition &&
        builder.getInsertionBlock() == writePosition->getBlock()) {
      OpBuilder later(writePosition);
      target.emitLateUse(later, loc);
      emitWrite(later, chunk, into, intoAll);
      return;
    }
    emitWrite(builder, chunk, into, intoAll);
  }

  /// A chunk of unaligned rows. It is shifted when it is written, so that the
  /// reads of several chunks are in flight at once.
  void emitShiftedChunk(OpBuilder &builder, const Origin &from,
                        std::array<Value, 2> into, ValueRange intoAll) {
    ShiftedWords read = emitShiftedRead(builder, loc, source, from.indices);
    bool isLate = writePosition &&
                  builder.getInsertionBlock() == writePosition->getBlock();
    OpBuilder later = isLate ? OpBuilder(writePosition) : builder;
    if (isLate)
      target.emitLateUse(later, loc);
    emitWrite(later, emitShiftedData(later, loc, read, element, from.count),
              into, intoAll);
  }

  /// Where writes go; null: where the reads are.
  Operation *writePosition = nullptr;
  CopyLike op;
  const FragmentTarget &target;
  bool async;
  Location loc;
  ArrayRef<int64_t> shape;
  Value source, to;
  bool gathers;
  /// How the target is interleaved, if it is; then how many rows fill a word.
  std::optional<KPacking> packing;
  int64_t together = 1;
  Type element;
  /// The alignment of the rows of source and target, in bytes.
  int64_t alignment;
  /// The alignment of the target's rows alone.
  int64_t targetAlignment;
  /// Whether two elements share a byte, and then whether they are read one by
  /// one.
  bool packed, single;
  /// Whether chunks are read from any element on (ShiftedReads.h).
  bool shifted = false;
  /// Whether rows have an odd number of elements that share bytes.
  bool odd;
  int64_t width;
  bool sourceInside, targetInside;
  std::optional<int64_t> numThreads;
};

struct CopyPattern : FragmentPattern<CopyOp> {
  using FragmentPattern::FragmentPattern;
  LogicalResult
  matchAndRewrite(CopyOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    CopyEmitter<CopyOp> emitter(op, target, /*async=*/false);
    if (failed(emitter.check()))
      return failure();
    bool isHeld = emitter.isHeldShortly();
    if (isHeld) {
      Operation *position = op->getNextNode();
      while (isa<CopyOp>(position))
        position = position->getNextNode();
      emitter.writeBefore(position);
    }
    emitter.emit(rewriter);
    if (isHeld)
      target.emitSubgroupBarrier(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct AsyncCopyPattern : FragmentPattern<AsyncCopyOp> {
  using FragmentPattern::FragmentPattern;

  /// The last op in the op's block before the copy is waited for, or before the
  /// next copy of the same operand: one step's data is in registers at a time.
  static Operation *getLastPosition(AsyncCopyOp op) {
    auto waits = [&](Operation &other) {
      auto copy = dyn_cast<AsyncCopyOp>(other);
      return other.hasTrait<OpTrait::IsTerminator>() ||
             (copy && copy.getTarget() == op.getTarget()) ||
             other.walk([](WaitOp) { return WalkResult::interrupt(); })
                 .wasInterrupted();
    };
    Operation *position = op->getNextNode();
    while (!waits(*position))
      position = position->getNextNode();
    return position;
  }

  LogicalResult
  matchAndRewrite(AsyncCopyOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (getDirectWidth(op)) {
      if (!emitLdsCopy(rewriter, op, target))
        return rewriter.notifyMatchFailure(
            op, "the target has no load to LDS of this width");
      target.emitAsyncCommit(rewriter, op.getLoc());
      rewriter.replaceOpWithMultiple(op, {ValueRange()});
      return success();
    }
    CopyEmitter<AsyncCopyOp> emitter(op, target, target.chip.asyncCopy);
    if (failed(emitter.check()))
      return failure();
    // Without asynchronous copies, registers hold the data in flight.
    bool isHeld =
        target.chip.asyncCopy ? emitter.isHeld() : target.chip.hasLanes();
    if (isHeld)
      emitter.writeBefore(getLastPosition(op));
    emitter.emit(rewriter);
    // Otherwise an assembler may move the reads down to the writes, a few at a
    // time.
    if (isHeld && target.chip.asyncCopy)
      target.emitSubgroupBarrier(rewriter, op.getLoc());
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
    target.emitAsyncWait(rewriter, op.getLoc(), op.getPending(),
                         getLdsLoads(op));
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
