//===- KPackedTiles.cpp - k-packed (VNNI) tiles ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand wants runs of a column in each lane, and a staged tile has rows.
// Where nothing but such loads reads a tile, the threads that copy it have as
// many rows each as elements fill a word, and write words of a column. With two
// elements in a word:
//
//      as copied                      as kept
//      r0c0 r0c1 r0c2 r0c3 ...        r0c0 r1c0 r0c1 r1c1 r0c2 r1c2 ...
//      r1c0 r1c1 r1c2 r1c3 ...        r2c0 r3c0 r2c1 r3c1 r2c2 r3c2 ...
//      r2c0 r2c1 r2c2 r2c3 ...        ...
//
// A line is as long as the instruction's operand is wide, B columns, and the
// lines of the next B columns follow. So the words of a column are nearer to
// each other than to those that the same lane reads of other columns: two of
// them are one load (ds_read2_b32, ds_read2_b64), in the registers where they
// are wanted.
// Lanes of neighbouring columns read neighbouring words, which are in different
// banks: the tile is not swizzled besides.
//
// With P elements in a word and R rows, element (r, c) is the
//
//   ((c / B * R + r / P * P) * B + c mod B * P + r mod P)-th.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Patterns.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tessera;

std::optional<KPacking> mlir::tessera::getKPacking(Operation *op) {
  auto is = op->getAttrOfType<DenseI64ArrayAttr>(
      TesseraDialect::KPackedAttrHelper::getNameStr());
  if (!is)
    return std::nullopt;
  return KPacking{is[0], is[1]};
}

Value mlir::tessera::emitKPackedView(OpBuilder &builder, Location loc,
                                     Value memory, KPacking by) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides, shape(type.getShape());
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    llvm_unreachable("k-packed tiles have known strides");
  int64_t cols = shape.pop_back_val(), rows = shape.pop_back_val();
  shape.append({cols / by.columns, rows, by.columns * by.rows});
  strides.resize(strides.size() - 2);
  strides.append({rows * by.columns, by.columns, 1});
  auto view = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), offset, strides),
      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(builder, loc, view, memory, offset,
                                           shape, strides);
}

/// Whether rows from `index` on, `count` of them, are whole words of columns.
static bool isWhole(Value index, int64_t count, int64_t rows) {
  return count % rows == 0 && getKnownDivisor(index) % rows == 0;
}

/// Whether the copy may take eight rows of bytes: each thread then permutes
/// whole words of four columns, and reads half as many columns of twice as many
/// rows, which should need no tests of bounds.
template <typename CopyLike> static bool mayPackEightBytes(CopyLike op) {
  ArrayRef<int64_t> shape = op.getShape();
  std::optional<int64_t> threads = getCopyThreads(op);
  return threads && !op.isGather() && shape[0] * shape[1] >= 8 * 4 * *threads &&
         (op.getInBounds() ||
          isProvablyInBounds(op.getSourceType(), op.getSourceIndices(), shape));
}

/// Whether the copy may write words of columns to `memory`.
template <typename CopyLike>
static bool mayPackK(CopyLike op, Value memory, int64_t rows) {
  ValueRange to = op.getTargetIndices();
  bool hasEightBytes =
      rows == 8 && getElementBits(op.getTargetType().getElementType()) == 8;
  return op.getSource() != memory && !op.getFromSwizzled() &&
         (!hasEightBytes || mayPackEightBytes(op)) &&
         (op.getInBounds() ||
          isProvablyInBounds(op.getTargetType(), to, op.getShape())) &&
         isWhole(to[to.size() - 2], op.getShape()[0], rows);
}

/// The number of columns of the memory that the instruction reads, if each lane
/// reads whole words of these; otherwise 0.
static int64_t getColumns(LoadOp op, int64_t rows, const Chip &chip) {
  FragmentType type = op.getResult().getType();
  FailureOr<TileLayout> layout = getTileLayout(chip, type);
  if (failed(layout) || layout->inMemory)
    return 0;
  // Eight rows at a time need many registers: only for an instruction that uses
  // packed elements directly.
  if (isPacked(type.getElementType()) &&
      (type.getRole() == Role::A ? layout->instruction->aType
                                 : layout->instruction->bType) != "i4")
    return 0;
  unsigned fast = op.getTranspose() ? 0 : 1, slow = 1 - fast;
  std::array<int64_t, 2> shape{type.getRows(), type.getCols()};
  ValueRange from = op.getIndices();
  SmallVector<int64_t, 2> extents{shape[slow], shape[fast]};
  int64_t columns = layout->getExtent(fast);
  bool fits =
      (op.getInBounds() ||
       isProvablyInBounds(op.getMemRefType(), from, extents)) &&
      isWhole(from[from.size() - 2], shape[slow], rows) &&
      getKnownDivisor(from.back()) % columns == 0 &&
      layout->map.getContiguous(slow) >= rows &&
      llvm::all_of(layout->map.getLanes(), [&](const LaneMap::Step &step) {
        return step[slow] % rows == 0;
      });
  return fits ? columns : 0;
}

/// How the tile at `memory` can be kept in words of `rows`, if it can.
static std::optional<KPacking> findKPacking(Value memory, int64_t rows,
                                            const Chip &chip) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getRank() < 2 || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || offset != 0)
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape().take_back(2);
  KPacking found{rows, 0};
  if (shape[0] % rows)
    return std::nullopt;
  for (Operation *user : memory.getUsers()) {
    if (auto load = dyn_cast<LoadOp>(user)) {
      int64_t columns = getColumns(load, found.rows, chip);
      if (columns == 0 || (found.columns != 0 && found.columns != columns))
        return std::nullopt;
      found.columns = columns;
    } else if (auto copy = dyn_cast<CopyOp>(user)) {
      if (!mayPackK(copy, memory, found.rows))
        return std::nullopt;
    } else if (auto copy = dyn_cast<AsyncCopyOp>(user)) {
      if (!mayPackK(copy, memory, found.rows))
        return std::nullopt;
    } else {
      return std::nullopt;
    }
  }
  if (found.columns == 0 || shape[1] % found.columns)
    return std::nullopt;
  return found;
}

/// The same in words of as many rows as the loads permit: from those that fill
/// eight bytes down to four bytes; for packed elements, eight.
static std::optional<KPacking> findKPacking(Value memory, const Chip &chip) {
  int64_t bits =
      getElementBits(cast<MemRefType>(memory.getType()).getElementType());
  if ((bits & chip.transposingReadBits) != 0 || bits >= 32)
    return std::nullopt;
  for (int64_t least = 32 / bits, rows = bits < 8 ? least : 64 / bits;
       rows >= least; rows /= 2)
    if (std::optional<KPacking> found = findKPacking(memory, rows, chip))
      return found;
  return std::nullopt;
}

/// Whether `memory` is the kernel's own workgroup memory.
static bool isAttribution(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto kernel =
      argument
          ? dyn_cast_or_null<gpu::GPUFuncOp>(argument.getOwner()->getParentOp())
          : gpu::GPUFuncOp();
  return kernel &&
         llvm::is_contained(kernel.getWorkgroupAttributions(), memory);
}

void mlir::tessera::markKPackedTiles(Operation *root, const Chip &chip) {
  if (!chip.packsColumns || chip.asyncCopy)
    return;
  llvm::SetVector<Value> tiles;
  auto collect = [&](Value memory) {
    // Only a whole buffer, not a part of one.
    if (isWorkgroupMemory(cast<MemRefType>(memory.getType())) &&
        (isAttribution(memory) || memory.getDefiningOp<memref::ViewOp>()))
      tiles.insert(memory);
  };
  root->walk([&](Operation *op) {
    if (auto copy = dyn_cast<CopyOp>(op))
      collect(copy.getTarget());
    if (auto copy = dyn_cast<AsyncCopyOp>(op))
      collect(copy.getTarget());
  });
  for (Value memory : tiles) {
    std::optional<KPacking> found = findKPacking(memory, chip);
    if (!found)
      continue;
    Builder builder(memory.getContext());
    for (Operation *user : memory.getUsers())
      user->setAttr(
          TesseraDialect::KPackedAttrHelper::getNameStr(),
          builder.getDenseI64ArrayAttr({found->rows, found->columns}));
  }
}
