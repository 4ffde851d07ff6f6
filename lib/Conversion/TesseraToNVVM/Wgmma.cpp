//===- Wgmma.cpp - wgmma.mma_async ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warpgroup's matmuls (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions"). Operands are read from workgroup memory, which a 64-bit
// matrix descriptor describes:
//
//   bits  0 to 13   address of the tile's first element, / 16
//   bits 16 to 29   leading dimension byte offset, / 16
//   bits 32 to 45   stride dimension byte offset, / 16
//   bits 62 to 63   swizzle: 1 of 128 bytes, 2 of 64, 3 of 32
//
// (The descriptor of tcgen05.mma has the same addresses and offsets, and other
// bits above them: Tcgen05.h.)
//
// The memory holds panels of rows of at most 128 bytes, swizzled in patterns of
// 8 rows (see `tessera.copy`). The stride dimension is from one pattern to the
// next. For a transposed operand (a column-major, b row-major), the leading
// dimension is from one panel to the next; for the other order it is not used,
// since one instruction's K is within a row of a panel.
//
// One inline assembly issues all instructions of a matmul and waits for them,
// unless the matmul is marked as overlapping with other work
// (OverlapMatmuls.cpp): then `tessera.await` waits, in an inline assembly that
// has the registers as operands, including those of a, which the instructions
// read until then. For a matmul that is in flight across iterations of a loop
// (StepsInFlight.h), the wait is for the previous iteration.
//
// Instructions that keep few bits of their sums (8-bit floats) start from zero
// every 128 elements of K, and their result is added to the accumulator by
// plain additions, unless the op's precision permits otherwise.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Swizzle.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "NvidiaTarget.h"
#include "PtxRegisters.h"
#include "TargetInfo/Chip.h"
#include "Tcgen05.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tessera;

/// The bytes of a row of a panel: operands are stored in panels of columns,
/// each of which has all rows.
static int64_t getPanelBytes(MemRefType type) {
  return getSwizzlePanelBytes(type.getShape().back() *
                              getElementBytes(type.getElementType()));
}

Value NvidiaTarget::emitMemoryOperand(OpBuilder &builder, Location loc,
                                      LoadOp op, const TileLayout &layout,
                                      Value row, Value col) const {
  MemRefType type = op.getMemRefType();
  int64_t bytes = getElementBytes(type.getElementType());
  if (!layout.inMemory || !isWorkgroupMemory(type) || !op.getSwizzled() ||
      getSwizzlePhases(type) < 2)
    return {};
  int64_t rows = type.getShape()[type.getRank() - 2];
  // Bytes of a panel's row, and of a pattern of eight.
  int64_t pitch = getPanelBytes(type), pattern = 8 * pitch,
          perRow = pitch / bytes;
  Role role = op.getType().getRole();
  // Whether rows of the memory run along K.
  bool alongK = op.getTranspose() == (role == Role::B);
  int64_t alongRow = layout.getExtent(op.getTranspose() ? 0 : 1),
          downRows = layout.getExtent(op.getTranspose() ? 1 : 0);
  // Tiles start at whole patterns, and one instruction's K is within a panel.
  int64_t slowDivisor = getKnownDivisor(row),
          fastDivisor = getKnownDivisor(col);
  if (slowDivisor % 8 || downRows % 8 || fastDivisor % (16 / bytes) ||
      (alongK && (perRow % alongRow || fastDivisor % alongRow)) ||
      (!alongK && alongRow > perRow && fastDivisor % perRow) ||
      (!alongK && alongRow <= perRow && fastDivisor % alongRow))
    return {};

  // In units of 16 bytes, of which workgroup memory has less than 2^14: so sums
  // do not overflow the first field, and descriptors of tiles at a constant
  // distance differ by that constant.
  constexpr int64_t unit = 16;
  IndexMath math(builder, loc);
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto narrow = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, loc, i32, value);
  };
  auto constant = [&](Type type, uint64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc,
        builder.getIntegerAttr(type, static_cast<int64_t>(value)));
  };
  auto add = [&](Value sum, Value count, int64_t units) -> Value {
    return arith::AddIOp::create(
        builder, loc, sum,
        arith::MulIOp::create(builder, loc, narrow(count),
                              constant(i32, static_cast<uint64_t>(units))));
  };
  uint64_t leading = alongK ? unit : rows * pitch, stride = pattern;
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc,
                                                              op.getMemory());
  // Within a cluster, the higher bits of the address select the workgroup.
  Value within =
      arith::AndIOp::create(builder, loc, narrow(base), constant(i32, 0x3ffff));
  Value low = arith::AddIOp::create(
      builder, loc,
      arith::ShRUIOp::create(builder, loc, within, constant(i32, 4)),
      constant(i32, ((leading / unit) & 0x3fff) << 16));
  // Leading indices count whole memories of the last two dimensions.
  Value slot;
  for (auto [d, index] : llvm::enumerate(op.getIndices().drop_back(2)))
    slot = slot ? math.add(math.mul(slot, type.getShape()[d]), index) : index;
  if (slot)
    low = add(low, slot, rows * type.getShape().back() * bytes / unit);
  low = add(low, math.div(col, math.constant(perRow)), rows * pitch / unit);
  low = add(low, row, pitch / unit);
  low = add(low,
            math.div(math.rem(col, math.constant(perRow)),
                     math.constant(unit / bytes)),
            1);
  uint64_t high = (stride / unit) << 32 | (layout.instruction->tensorMemory
                                               ? getTensorDescriptorKind(pitch)
                                               : uint64_t(pitch == 128  ? 1
                                                          : pitch == 64 ? 2
                                                                        : 3)
                                                     << 62);
  // The words are combined last. LLVM makes 64-bit sums of an `or` and the
  // steps of a loop, and ptxas 13.0 loses the high word of their constants.
  constexpr unsigned wordBits = 32;
  Value upper = arith::ConstantOp::create(
      builder, loc,
      builder.getI32IntegerAttr(static_cast<int32_t>(high >> wordBits)));
  Value words = vector::FromElementsOp::create(
      builder, loc, VectorType::get({2}, i32), ValueRange{low, upper});
  return vector::ExtractOp::create(
      builder, loc,
      vector::BitCastOp::create(builder, loc, VectorType::get({1}, i64), words),
      ArrayRef<int64_t>{0});
}

namespace {

/// The instructions of one matmul of a warpgroup. Tiles of adjacent columns are
/// one instruction, if b permits it: the instruction's number of columns may be
/// any multiple of 8 (of 16 from 32 on, for integers) up to 256 (PTX ISA,
/// "wgmma.mma_async", shapes), the registers of its sums are those of the tiles
/// one after the other, and its descriptor of b is that of the first tile.
struct Matmul {
  Matmul(const MatrixInstruction &row, MmaOp op);

  /// The inline assembly of the instructions for elements `first` to `end` of
  /// K, counted in instructions. $0 and on are the sums, of `perTile` registers
  /// for each tile, followed by a and by the descriptors of b, of the first
  /// column of each instruction. `overwrites`:
  /// the sums start from zero. `pending`: the number of matmuls, including this
  /// one, that may still be in flight after it; empty: any number.
  std::string formatAssembly(int64_t first, int64_t end, int64_t perTile,
                             bool overwrites,
                             std::optional<int64_t> pending) const;

  /// Tiles in each dimension.
  int64_t m, n, k;
  /// The most tiles of adjacent columns that are one instruction.
  int64_t columns = 1;
  /// Registers of a tile of a; 0: one descriptor.
  int64_t aWords;

private:
  std::string formatName(int64_t tiles) const;

  const MatrixInstruction &row;
  std::string types, suffix;
};

} // namespace

/// Whether the tiles of a fragment of b are adjacent for one descriptor: along
/// K each tile is some rows of the memory, one after the other. Otherwise the
/// fragment must begin with a panel, of which the descriptor has the distance.
static bool hasAdjacentColumns(MmaOp op) {
  auto load = op.getB().getDefiningOp<LoadOp>();
  if (!load)
    return false;
  if (load.getTranspose())
    return true;
  MemRefType type = load.getMemRefType();
  int64_t bytes = getElementBytes(type.getElementType()),
          perRow = getPanelBytes(type) / bytes;
  return getKnownDivisor(load.getIndices().back()) % perRow == 0;
}

Matmul::Matmul(const MatrixInstruction &row, MmaOp op)
    : m(op.getAcc().getType().getRows() / row.m),
      n(op.getAcc().getType().getCols() / row.n),
      k(op.getA().getType().getCols() / row.k),
      aWords(row.aInMemory
                 ? 0
                 : row.aMap.getNumRegisters() *
                       getElementBytes(op.getA().getType().getElementType()) /
                       4),
      row(row) {
  if (hasAdjacentColumns(op))
    columns = 256 / row.n;
  // 24 columns are the only odd number of eights for integers.
  if (row.accType == "i32" && row.n < 16)
    columns = 1;
  StringRef a = getPtxType(row.aType, op.getUnsignedA(), row.tf32),
            b = getPtxType(row.bType, op.getUnsignedB(), row.tf32),
            sum = getPtxType(row.accType, false, false);
  types = ("." + sum + "." + a + "." + b + " ").str();
  // Integer instructions do not have factors of 1 and -1 for the operands.
  if (row.accType != "i32")
    suffix = ", 1, 1";
  // The instruction's own order is a by rows and b by columns.
  if (row.anyOrder && row.aInMemory)
    suffix += op->hasAttr(TesseraDialect::TransposedAAttrHelper::getNameStr())
                  ? ", 1"
                  : ", 0";
  if (row.anyOrder)
    suffix += op->hasAttr(TesseraDialect::TransposedBAttrHelper::getNameStr())
                  ? ", 0"
                  : ", 1";
}

std::string Matmul::formatName(int64_t tiles) const {
  return "wgmma.mma_async.sync.aligned.m64n" + llvm::utostr(tiles * row.n) +
         "k" + llvm::utostr(row.k) + types;
}

/// "{$first, ...}": a list of `count` registers.
static std::string formatRegisters(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + llvm::utostr(first + i);
  return text + "}";
}

std::string Matmul::formatAssembly(int64_t first, int64_t end, int64_t perTile,
                                   bool overwrites,
                                   std::optional<int64_t> pending) const {
  std::string text = "{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n";
  if (overwrites)
    text += ".reg .pred q;\nsetp.ne.b32 q, 0, 0;\n";
  text += "wgmma.fence.sync.aligned;\n";
  int64_t perA = std::max<int64_t>(1, aWords), a = m * n * perTile,
          b = a + m * k * perA, perStep = llvm::divideCeil(n, columns);
  for (int64_t s = first; s < end; ++s)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; j += columns) {
        int64_t left = a + (i * k + s) * perA, tiles = std::min(columns, n - j);
        text += formatName(tiles) +
                formatRegisters((i * n + j) * perTile, tiles * perTile) + ", " +
                (aWords ? formatRegisters(left, aWords)
                        : "$" + llvm::utostr(left)) +
                ", $" + llvm::utostr(b + s * perStep + j / columns) +
                (overwrites && s == first ? ", q" : ", p") + suffix + ";\n";
      }
  text += "wgmma.commit_group.sync.aligned;\n";
  if (pending)
    text += "wgmma.wait_group.sync.aligned " + llvm::utostr(*pending) + ";\n";
  return text + "}";
}

/// Whether the sums start from zero: the instruction then need not read them.
static bool beginsAtZero(MmaOp op) {
  auto fill = op.getAcc().getDefiningOp<FillOp>();
  return fill && (matchPattern(fill.getValue(), m_PosZeroFloat()) ||
                  matchPattern(fill.getValue(), m_Zero()));
}

SmallVector<Value> NvidiaTarget::emitMatmul(OpBuilder &builder, Location loc,
                                            const MatrixInstruction &row,
                                            MmaOp op, ValueRange a,
                                            ValueRange b,
                                            ValueRange acc) const {
  if (row.subgroups != 4 || row.tensorMemory)
    return {};
  auto accType = cast<VectorType>(acc[0].getType());
  SmallVector<Value> accWords, operands;
  for (Value tile : acc)
    llvm::append_range(accWords, unpackRegisters(builder, loc, tile, false));
  int64_t perTile = accWords.size() / acc.size();
  auto addDescriptor = [&](Value tile) {
    operands.push_back(
        vector::ExtractOp::create(builder, loc, tile, ArrayRef<int64_t>{0}));
  };
  for (Value tile : a) {
    if (row.aInMemory)
      addDescriptor(tile);
    else
      llvm::append_range(operands, unpackRegisters(builder, loc, tile, false));
  }
  Matmul matmul(row, op);
  for (auto [at, tile] : llvm::enumerate(b))
    if (static_cast<int64_t>(at) % matmul.n % matmul.columns == 0)
      addDescriptor(tile);
  bool apart = row.sumsApart(op.getPrecision()),
       overwrites = apart || beginsAtZero(op);
  std::optional<int64_t> pending;
  if (!op->hasAttr(TesseraDialect::OverlappedAttrHelper::getNameStr()))
    pending =
        op->hasAttr(TesseraDialect::InFlightAttrHelper::getNameStr()) ? 1 : 0;
  int64_t step = apart ? std::max<int64_t>(1, maxFewBits / row.k) : matmul.k;
  SmallVector<Value> sums(acc);
  for (int64_t first = 0; first < matmul.k; first += step) {
    int64_t end = std::min(first + step, matmul.k);
    Value words = emitAssembly(
        builder, loc,
        matmul.formatAssembly(first, end, perTile, overwrites, pending),
        operands, accWords, /*touchesMemory=*/true, overwrites);
    for (auto [tile, sum] : llvm::enumerate(sums)) {
      Value part = packRegisters(builder, loc, words, perTile, accType,
                                 tile * perTile, accWords.size());
      sum = apart ? arith::AddFOp::create(builder, loc, sum, part).getResult()
                  : part;
    }
  }
  return sums;
}

SmallVector<Value> NvidiaTarget::emitAwait(OpBuilder &builder, Location loc,
                                           AwaitOp op, ValueRange matmul,
                                           ValueRange kept) const {
  auto type = cast<VectorType>(matmul[0].getType());
  SmallVector<Value> words, operands;
  for (Value tile : matmul)
    llvm::append_range(words, unpackRegisters(builder, loc, tile, false));
  for (Value tile : kept)
    llvm::append_range(operands, unpackRegisters(builder, loc, tile, false));
  // ptxas moves a wait up past all independent instructions, so that overlapped
  // work would run after the wait. It does not move a wait past two of these.
  std::string text =
      op.getKept().empty() ? "" : "bar.warp.sync -1;\nbar.warp.sync -1;\n";
  text +=
      "wgmma.wait_group.sync.aligned " + llvm::utostr(op.getPending()) + ";";
  Value results = emitAssembly(builder, loc, text, operands, words,
                               /*touchesMemory=*/true);
  int64_t perTile = words.size() / matmul.size();
  SmallVector<Value> tiles;
  for (size_t tile = 0; tile < matmul.size(); ++tile)
    tiles.push_back(packRegisters(builder, loc, results, perTile, type,
                                  tile * perTile, words.size()));
  return tiles;
}

void mlir::tessera::emitProxyFence(OpBuilder &builder, Location loc) {
  NVVM::FenceProxyOp::create(
      builder, loc,
      NVVM::ProxyKindAttr::get(builder.getContext(),
                               NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(builder.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

void mlir::tessera::fenceMemoryOperands(Operation *root) {
  root->walk([](gpu::BarrierOp barrier) {
    if (getFragmentGroup(barrier) == 1)
      return;
    OpBuilder builder(barrier);
    emitProxyFence(builder, barrier.getLoc());
  });
}
