//===- CooperativeMatrix.cpp - Fragments as cooperative matrices ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_KHR_cooperative_matrix. A fragment is one matrix for each tile of its
// instruction, in row-major order. A matrix is converted to and from vectors of
// known lane maps through scratch in workgroup memory: each subgroup has
// scratch for a few tiles, which are converted in turn, or for whole rows if
// these are reduced. Columns that lanes hold are broadcast to matrices through
// it, too.
//
// An element-wise function is arithmetic of matrices where SPIR-V has it, and a
// loop over a lane's elements of them otherwise, whatever their positions are.
//
// On a device that reduces matrices (SPV_NV_cooperative_matrix2), a column is a
// matrix for each tile of rows that is the same in all of its columns, and
// accumulators become operands without workgroup memory.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "MatrixMaps.h"
#include "Spirv.h"
#include "Target/MatrixFunctions.h"
#include "TargetInfo/Chip.h"
#include "TargetInfo/RowMaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

#include "../FragmentToVector/Patterns.h"

using namespace mlir;
using namespace mlir::tessera;

/// The extents of a tile, of a matrix or of a lane map.
static std::array<int64_t, 2> getTile(const Chip &chip, FragmentType type) {
  const LaneMap &map = chip.findInstruction(type.getInstruction().getValue())
                           ->getMap(type.getRole());
  return {map.getRows(), map.getCols()};
}

static spirv::CooperativeMatrixType getMatrixType(const Chip &chip,
                                                  FragmentType type) {
  auto [rows, cols] = getTile(chip, type);
  auto use = type.getRole() == Role::A ? spirv::CooperativeMatrixUseKHR::MatrixA
             : type.getRole() == Role::B
                 ? spirv::CooperativeMatrixUseKHR::MatrixB
                 : spirv::CooperativeMatrixUseKHR::MatrixAcc;
  return spirv::CooperativeMatrixType::get(type.getElementType(), rows, cols,
                                           spirv::Scope::Subgroup, use);
}

/// The matrices of a fragment: one for each tile, and for a column one for each
/// tile of rows.
static int64_t countMatrices(const Chip &chip, FragmentType type) {
  auto [rows, cols] = getTile(chip, type);
  return type.getRows() / rows * std::max<int64_t>(type.getCols() / cols, 1);
}

/// A pointer to an element of `memory`, which LowerMemory makes one.
static Value emitAddress(OpBuilder &builder, Location loc,
                         const SpirvEnvironment &environment, Value memory,
                         ValueRange indices, int64_t alignment) {
  auto type = cast<MemRefType>(memory.getType());
  auto storage = isWorkgroupMemory(type) ? spirv::StorageClass::Workgroup
                                         : environment.global;
  SmallVector<Value> inputs{memory};
  inputs.append(indices.begin(), indices.end());
  auto address = UnrealizedConversionCastOp::create(
      builder, loc,
      TypeRange{spirv::PointerType::get(getStorageType(type.getElementType()),
                                        storage)},
      inputs);
  address->setAttr("alignment", builder.getI64IntegerAttr(alignment));
  return address.getResult(0);
}

namespace {

/// The common description of the memory of a matrix load or store.
struct MatrixAccess {
  MatrixAccess(OpBuilder &builder, Location loc,
               const SpirvEnvironment &environment, Value memory,
               ValueRange indices, bool transposed, int64_t bytes)
      : address(emitAddress(builder, loc, environment, memory, indices, bytes)),
        layout(spirv::CooperativeMatrixLayoutKHRAttr::get(
            builder.getContext(),
            transposed ? spirv::CooperativeMatrixLayoutKHR::ColumnMajor
                       : spirv::CooperativeMatrixLayoutKHR::RowMajor)) {
    bool isWorkgroup = isWorkgroupMemory(cast<MemRefType>(memory.getType()));
    if (isWorkgroup && !environment.saysVisible)
      return;
    access = spirv::MemoryAccessAttr::get(
        builder.getContext(), isWorkgroup
                                  ? spirv::MemoryAccess::NonPrivatePointer
                                  : spirv::MemoryAccess::Aligned);
    if (!isWorkgroup)
      alignment = builder.getI32IntegerAttr(static_cast<int32_t>(bytes));
  }

  Value address;
  spirv::CooperativeMatrixLayoutKHRAttr layout;
  /// Null if no operands are needed.
  spirv::MemoryAccessAttr access;
  /// Null in workgroup memory.
  IntegerAttr alignment;
};

} // namespace

static Value emitMatrixLoad(OpBuilder &builder, Location loc,
                            const SpirvEnvironment &environment,
                            spirv::CooperativeMatrixType type, Value memory,
                            ValueRange indices, Value stride, bool transposed,
                            int64_t alignment) {
  MatrixAccess from(builder, loc, environment, memory, indices, transposed,
                    alignment);
  return spirv::KHRCooperativeMatrixLoadOp::create(
      builder, loc, type, from.address, from.layout, stride, from.access,
      from.alignment);
}

static void emitMatrixStore(OpBuilder &builder, Location loc,
                            const SpirvEnvironment &environment, Value matrix,
                            Value memory, ValueRange indices, Value stride,
                            bool transposed, int64_t alignment) {
  MatrixAccess to(builder, loc, environment, memory, indices, transposed,
                  alignment);
  spirv::KHRCooperativeMatrixStoreOp::create(builder, loc, to.address, matrix,
                                             to.layout, stride, to.access,
                                             to.alignment);
}

/// The alignment in bytes of each tile of an access, given that of the first
/// one: tiles are adjacent.
template <typename Access>
static int64_t getMatrixAlignment(Access op, const Chip &chip,
                                  FragmentType type) {
  auto [rows, cols] = getTile(chip, type);
  int64_t row = (op.getTranspose() ? rows : cols) *
                getStorageBytes(type.getElementType());
  auto first = op->template getAttrOfType<IntegerAttr>(
                     TesseraDialect::AlignmentAttrHelper::getNameStr())
                   .getInt();
  return std::min(first, row);
}

/// From a row of `memory` to the next, in elements (i32).
static Value emitRowStride(OpBuilder &builder, Location loc, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t stride = strides[strides.size() - 2];
  if (!ShapedType::isDynamic(stride))
    return arith::ConstantIntOp::create(builder, loc, stride, 32);
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, loc, memory);
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                    metadata.getStrides()[strides.size() - 2]);
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

namespace {
/// The elements that pass through scratch at a time.
struct Chunk {
  int64_t rows, cols;
  /// From a row to the next one, in elements.
  int64_t pitch;
  int64_t getSize() const { return rows * pitch; }
};
} // namespace

static bool hasMapOf(ArrayRef<MatrixInstruction> maps, FragmentType type) {
  return llvm::any_of(maps, [&](const MatrixInstruction &row) {
    return type.getInstruction() &&
           type.getInstruction().getValue() == row.name;
  });
}

/// Whether the fragment has one of the chip's maps by rows.
static bool isByRows(const Chip &chip, FragmentType type) {
  return hasMapOf(getRowMaps(chip), type);
}

/// Whether the fragment has one of the chip's maps for stores.
static bool isForStores(const Chip &chip, FragmentType type) {
  return hasMapOf(getStoreMaps(chip), type);
}

/// The tiles of both sides. Where lanes hold rows, all rows of `wideCols`
/// columns, unless that is 0, in rows that are padded: neither the lanes'
/// accesses to 16 bytes of their rows nor those of a matrix then meet in the
/// same banks of workgroup memory. So are the rows of a map for stores.
static Chunk getChunk(const Chip &chip, ConvertOp op, Type passed,
                      int64_t wideCols) {
  FragmentType fromType = op.getSource().getType(),
               toType = op.getResult().getType();
  auto from = getTile(chip, fromType), to = getTile(chip, toType);
  int64_t rows = std::max(from[0], to[0]), cols = std::max(from[1], to[1]);
  if (isForStores(chip, fromType) || isForStores(chip, toType))
    return {rows, cols, cols + getStorePadding(getStorageBytes(passed))};
  bool fromRows = isByRows(chip, fromType);
  if (wideCols == 0 || !(fromRows || isByRows(chip, toType)))
    return {rows, cols, cols};
  if (fromType.getCols() % wideCols == 0 && wideCols % cols == 0)
    cols = wideCols;
  const std::array<int64_t, 2> &byRows = fromRows ? from : to;
  int64_t padding = getStorageBytes(passed) < 4 ? 8 : byRows[1];
  return {fromType.getRows(), cols, cols + padding};
}

/// The element type that passes through.
static Type getPassedType(const Chip &chip, ConvertOp op) {
  // Vectors are cast where they are, matrices before they are stored.
  return isOpaque(chip, op.getResult().getType())
             ? op.getResult().getType().getElementType()
             : op.getSource().getType().getElementType();
}

static bool needsScratch(const Chip &chip, ConvertOp op) {
  FragmentType from = op.getSource().getType(), to = op.getResult().getType();
  bool fromMatrix = isOpaque(chip, from), toMatrix = isOpaque(chip, to);
  return (fromMatrix || toMatrix) &&
         !(fromMatrix && toMatrix &&
           (from.getRole() == to.getRole() || convertsInPlace(chip, op)) &&
           getTile(chip, from) == getTile(chip, to));
}

int64_t mlir::tessera::getScratchBytes(const Chip &chip) {
  bool any = llvm::any_of(chip.instructions,
                          [](const auto &row) { return row.opaque; });
  return any ? chip.workgroupMemoryBytes / 7 : 0;
}

/// Whether the result is a matrix that a column by rows is broadcast to.
static bool broadcastsColumn(const Chip &chip, BroadcastOp op) {
  auto from = dyn_cast<FragmentType>(op.getSource().getType());
  return from && isByRows(chip, from) &&
         isOpaque(chip, op.getResult().getType());
}

/// The largest number of columns of a fragment that is reduced along rows which
/// lanes hold.
static int64_t getReducedCols(const Chip &chip, gpu::GPUFuncOp kernel) {
  int64_t cols = 0;
  kernel.walk([&](ReduceOp op) {
    FragmentType type = op.getSource().getType();
    if (op.getDimension() == 1 && isByRows(chip, type))
      cols = std::max(cols, type.getCols());
  });
  return cols;
}

/// Lets the memories of tiles, which are not accessed any more where the first
/// of `users` accesses scratch, be used for it: scratch of their own would
/// reduce the number of workgroups that an SM has at a time. On an H200, a
/// convolution with 18 KiB instead of 13 took 1.6 times as long
/// (docs/benchmarks/h200-vulkan.md). Returns whether they can.
static bool shareTiles(gpu::GPUFuncOp kernel, ArrayRef<Operation *> users,
                       const SpirvEnvironment &environment) {
  Block &body = kernel.getBody().front();
  Operation *first = nullptr;
  for (Operation *user : users) {
    Operation *ancestor = body.findAncestorOpInBlock(*user);
    if (!ancestor)
      return false;
    if (!first || ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  if (kernel.getWorkgroupAttributions().empty() ||
      !llvm::hasSingleElement(kernel.getBody()))
    return false;
  SmallVector<Value> memories(kernel.getWorkgroupAttributions());
  while (!memories.empty())
    for (Operation *op : memories.pop_back_val().getUsers()) {
      Operation *ancestor = body.findAncestorOpInBlock(*op);
      if (!ancestor || !ancestor->isBeforeInBlock(first))
        return false;
      for (Value result : op->getResults())
        if (isa<BaseMemRefType>(result.getType()))
          memories.push_back(result);
    }
  OpBuilder builder(first);
  emitBarrier(builder, first->getLoc(), spirv::Scope::Workgroup, environment,
              /*ordersGlobal=*/false);
  return true;
}

LogicalResult SpirvTarget::addScratch(gpu::GPUModuleOp module) {
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    SmallVector<ConvertOp> conversions;
    kernel.walk([&](ConvertOp op) {
      if (needsScratch(chip, op))
        conversions.push_back(op);
    });
    // Columns that are broadcast, of f32.
    int64_t factors = 0;
    kernel.walk([&](BroadcastOp op) {
      if (broadcastsColumn(chip, op)) {
        FragmentType type = op.getResult().getType();
        factors = std::max(factors, type.getRows() * getTile(chip, type)[1]);
      }
    });
    if (conversions.empty() && factors == 0)
      continue;
    bool sharesTiles =
        factors == 0 && shareTiles(kernel,
                                   SmallVector<Operation *>(conversions.begin(),
                                                            conversions.end()),
                                   getSpirvEnvironment());
    std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
    if (!block)
      return kernel.emitError()
             << "target " << chip.target
             << " requires a constant workgroup size: launch the kernel with "
                "constants";
    int64_t threads = int64_t((*block)[0]) * (*block)[1] * (*block)[2];
    int64_t subgroups = llvm::divideCeil(threads, chip.subgroupSize);
    int64_t available = chip.workgroupMemoryBytes + getScratchBytes(chip);
    for (BlockArgument memory : kernel.getWorkgroupAttributions()) {
      auto type = cast<MemRefType>(memory.getType());
      available -=
          type.getNumElements() * getStorageBytes(type.getElementType());
    }
    // Columns pass through the memory of other conversions of f32.
    Type f32 = Float32Type::get(module.getContext());
    // Whole rows where there is memory for them.
    llvm::MapVector<Type, int64_t> sizes;
    for (int64_t cols : {getReducedCols(chip, kernel), int64_t(0)}) {
      sizes.clear();
      int64_t bytes = 0;
      if (factors != 0)
        sizes[f32] = factors;
      for (ConvertOp op : conversions) {
        Type passed = getPassedType(chip, op);
        int64_t &size = sizes[passed];
        size = std::max(size, getChunk(chip, op, passed, cols).getSize());
      }
      for (auto [element, size] : sizes)
        bytes += size * getStorageBytes(element);
      wideCols[kernel] = cols;
      if (bytes * subgroups <= available)
        break;
    }
    for (auto [element, size] : sizes) {
      auto type = MemRefType::get(
          {subgroups * size}, element, MemRefLayoutAttrInterface(),
          gpu::AddressSpaceAttr::get(module.getContext(),
                                     gpu::AddressSpace::Workgroup));
      scratch[{kernel, element}] = {
          kernel.addWorkgroupAttribution(type, kernel.getLoc()), size};
      if (sharesTiles)
        kernel.setWorkgroupAttributionAttr(
            kernel.getNumWorkgroupAttributions() - 1, sharesTilesName,
            UnitAttr::get(module.getContext()));
    }
  }
  return success();
}

namespace {

template <typename Op> class MatrixPattern : public OpConversionPattern<Op> {
public:
  MatrixPattern(const TypeConverter &converter, MLIRContext *context,
                const SpirvTarget &target)
      : OpConversionPattern<Op>(converter, context, /*benefit=*/2),
        target(target) {}

protected:
  /// Calls `visit` with the position in memory of each tile of `op`, a load or
  /// a store of a fragment of `type`, in row-major order of the tiles.
  void forEachTile(OpBuilder &builder, Op op, FragmentType type,
                   llvm::function_ref<void(ValueRange)> visit) const {
    auto [rows, cols] = getTile(target.chip, type);
    IndexMath math(builder, op.getLoc());
    for (int64_t i = 0; i < type.getRows(); i += rows)
      for (int64_t j = 0; j < type.getCols(); j += cols) {
        SmallVector<Value> indices(op.getIndices());
        bool transposed = op.getTranspose();
        Value &row = indices[indices.size() - 2], &col = indices.back();
        row = math.add(row, transposed ? j : i);
        col = math.add(col, transposed ? i : j);
        visit(indices);
      }
  }

  const SpirvTarget &target;
};

struct MatrixLoadPattern : MatrixPattern<LoadOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(LoadOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getType();
    if (!isOpaque(target.chip, type))
      return rewriter.notifyMatchFailure(op, "not a cooperative matrix");
    Location loc = op.getLoc();
    Value stride = emitRowStride(rewriter, loc, op.getMemory());
    int64_t alignment = getMatrixAlignment(op, target.chip, type);
    SmallVector<Value> tiles;
    forEachTile(rewriter, op, type, [&](ValueRange indices) {
      tiles.push_back(
          emitMatrixLoad(rewriter, loc, target.getSpirvEnvironment(),
                         getMatrixType(target.chip, type), op.getMemory(),
                         indices, stride, op.getTranspose(), alignment));
    });
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

struct MatrixStorePattern : MatrixPattern<StoreOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(StoreOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto type = cast<FragmentType>(op.getValue().getType());
    if (!isOpaque(target.chip, type))
      return rewriter.notifyMatchFailure(op, "not a cooperative matrix");
    Location loc = op.getLoc();
    Value stride = emitRowStride(rewriter, loc, op.getMemory());
    int64_t alignment = getMatrixAlignment(op, target.chip, type);
    ValueRange tiles = adaptor.getValue();
    size_t next = 0;
    forEachTile(rewriter, op, type, [&](ValueRange indices) {
      emitMatrixStore(rewriter, loc, target.getSpirvEnvironment(),
                      tiles[next++], op.getMemory(), indices, stride,
                      op.getTranspose(), alignment);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct MatrixFillPattern : MatrixPattern<FillOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(FillOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getResult().getType();
    if (!isOpaque(target.chip, type))
      return rewriter.notifyMatchFailure(op, "not a cooperative matrix");
    Value tile = spirv::CompositeConstructOp::create(
        rewriter, op.getLoc(), getMatrixType(target.chip, type), op.getValue());
    SmallVector<Value> tiles(countMatrices(target.chip, type), tile);
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

struct MatrixConvertPattern : MatrixPattern<ConvertOp> {
  using MatrixPattern::MatrixPattern;

  /// Where each element of a lane's part of a tile is: row and column.
  static std::array<Value, 2> getPosition(IndexMath &math,
                                          std::array<Value, 2> lane,
                                          const TileLayout &layout,
                                          int64_t reg) {
    auto [row, col] = layout.map.at(0, reg);
    return {math.add(lane[0], row), math.add(lane[1], col)};
  }

  LogicalResult
  matchAndRewrite(ConvertOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Chip &chip = target.chip;
    FragmentType from = op.getSource().getType(), to = op.getResult().getType();
    bool fromMatrix = isOpaque(chip, from), toMatrix = isOpaque(chip, to);
    if (!fromMatrix && !toMatrix)
      return rewriter.notifyMatchFailure(op, "not of cooperative matrices");
    Location loc = op.getLoc();
    Type element = to.getElementType();
    if (!needsScratch(chip, op)) {
      SmallVector<Value> tiles;
      bool hasAccumulators = hasMatricesOf(chip, from, element);
      for (Value tile : adaptor.getSource()) {
        auto type = getMatrixType(chip, to);
        if (from.getRole() != to.getRole() && !hasAccumulators) {
          tiles.push_back(spirv::FConvertOp::create(rewriter, loc, type, tile));
          continue;
        }
        tile = castMatrix(rewriter, loc, tile, element, op.getIsUnsigned());
        tiles.push_back(tile.getType() == type
                            ? tile
                            : callMatrixFunction(rewriter, loc,
                                                 matrix_functions::Convert,
                                                 type, tile));
      }
      rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
      return success();
    }

    auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
    Type passed = getPassedType(chip, op);
    std::pair<Value, int64_t> scratch = target.scratch.lookup({kernel, passed});
    Value memory = scratch.first;
    int64_t size = scratch.second;
    Chunk chunk = getChunk(chip, op, passed, target.wideCols.lookup(kernel));
    int64_t rows = chunk.rows, cols = chunk.cols, pitch = chunk.pitch;
    auto fromTile = getTile(chip, from), toTile = getTile(chip, to);
    IndexMath math(rewriter, loc);
    Value subgroup = gpu::SubgroupIdOp::create(rewriter, loc, nullptr);
    Value begin = math.mul(subgroup, size);
    Value stride = arith::ConstantIntOp::create(rewriter, loc, pitch, 32);
    int64_t bytes = getStorageBytes(passed),
            alignment = std::min<int64_t>(16, (pitch & -pitch) * bytes);
    Value lane = target.getSubgroupLane(rewriter, loc);
    TileLayout layout;
    std::array<Value, 2> position;
    // Adjacent elements of a lane that are accessed at once.
    int64_t width = 1;
    if (!fromMatrix || !toMatrix) {
      layout = *getTileLayout(chip, fromMatrix ? to : from);
      position = layout.getLaneOffset(rewriter, loc, lane);
      FragmentType known = fromMatrix ? to : from;
      if (isByRows(chip, known) || isForStores(chip, known))
        width = std::min<int64_t>(layout.map.getContiguous(1), 16 / bytes);
    }
    auto vectorType = VectorType::get(width, passed);
    auto accessAlignment =
        llvm::MaybeAlign(static_cast<uint64_t>(width * bytes));
    auto getIndex = [&](int64_t i, int64_t j, int64_t reg) -> Value {
      auto [row, col] = getPosition(math, position, layout, reg);
      return math.add(
          begin, math.add(math.mul(math.add(row, i), pitch), math.add(col, j)));
    };
    SmallVector<Value> results(to.getRows() / toTile[0] *
                               (to.getCols() / toTile[1]));
    ValueRange sources = adaptor.getSource();
    for (int64_t r = 0; r < from.getRows(); r += rows)
      for (int64_t c = 0; c < from.getCols(); c += cols) {
        // Waits until all lanes have read the previous contents.
        emitBarrier(rewriter, loc, spirv::Scope::Subgroup,
                    target.getSpirvEnvironment(), /*ordersGlobal=*/false);
        for (int64_t i = 0; i < rows; i += fromTile[0])
          for (int64_t j = 0; j < cols; j += fromTile[1]) {
            Value tile =
                sources[(r + i) / fromTile[0] * (from.getCols() / fromTile[1]) +
                        (c + j) / fromTile[1]];
            if (fromMatrix) {
              emitMatrixStore(
                  rewriter, loc, target.getSpirvEnvironment(),
                  castMatrix(rewriter, loc, tile, passed, op.getIsUnsigned()),
                  memory, ValueRange{math.add(begin, i * pitch + j)}, stride,
                  /*transposed=*/false,
                  std::min<int64_t>(alignment, fromTile[1] * bytes));
              continue;
            }
            for (int64_t reg = 0; reg < layout.map.getNumRegisters();
                 reg += width) {
              SmallVector<Value> values;
              for (int64_t w = 0; w < width; ++w)
                values.push_back(emitElementCast(
                    rewriter, loc,
                    vector::ExtractOp::create(rewriter, loc, tile, reg + w),
                    passed, op.getIsUnsigned()));
              if (width == 1)
                memref::StoreOp::create(rewriter, loc, values[0], memory,
                                        getIndex(i, j, reg));
              else
                vector::StoreOp::create(rewriter, loc,
                                        vector::FromElementsOp::create(
                                            rewriter, loc, vectorType, values),
                                        memory, getIndex(i, j, reg),
                                        /*nontemporal=*/false, accessAlignment);
            }
          }
        emitBarrier(rewriter, loc, spirv::Scope::Subgroup,
                    target.getSpirvEnvironment(), /*ordersGlobal=*/false);
        for (int64_t i = 0; i < rows; i += toTile[0])
          for (int64_t j = 0; j < cols; j += toTile[1]) {
            Value &tile =
                results[(r + i) / toTile[0] * (to.getCols() / toTile[1]) +
                        (c + j) / toTile[1]];
            if (toMatrix) {
              tile = emitMatrixLoad(
                  rewriter, loc, target.getSpirvEnvironment(),
                  getMatrixType(chip, to), memory,
                  ValueRange{math.add(begin, i * pitch + j)}, stride,
                  /*transposed=*/false,
                  std::min<int64_t>(alignment, toTile[1] * bytes));
              continue;
            }
            SmallVector<Value> values;
            for (int64_t reg = 0; reg < layout.map.getNumRegisters();
                 reg += width) {
              Value index = getIndex(i, j, reg), loaded;
              if (width > 1)
                loaded = vector::LoadOp::create(
                    rewriter, loc, vectorType, memory, index,
                    /*nontemporal=*/false, accessAlignment);
              for (int64_t w = 0; w < width; ++w) {
                Value value =
                    loaded
                        ? vector::ExtractOp::create(rewriter, loc, loaded, w)
                              .getResult()
                        : memref::LoadOp::create(rewriter, loc, memory, index)
                              .getResult();
                values.push_back(emitElementCast(rewriter, loc, value, element,
                                                 op.getIsUnsigned()));
              }
            }
            tile = vector::FromElementsOp::create(rewriter, loc,
                                                  layout.vectorType, values);
          }
      }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
    return success();
  }
};

/// An element-wise function, by ops of matrices and by loops over elements.
struct MatrixMapPattern : MatrixPattern<MapOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(MapOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getResult().getType();
    if (!isOpaque(target.chip, type))
      return rewriter.notifyMatchFailure(op, "not of cooperative matrices");
    auto [rows, cols] = getTile(target.chip, type);
    int64_t perRow = std::max<int64_t>(type.getCols() / cols, 1);
    SmallVector<Value> tiles;
    for (int64_t t = 0; t < countMatrices(target.chip, type); ++t) {
      SmallVector<Value> inputs;
      for (ValueRange input : adaptor.getInputs())
        inputs.push_back(input[t]);
      FailureOr<Value> tile =
          emitMatrixMap(rewriter, op, inputs, getMatrixType(target.chip, type),
                        {t / perRow * rows, t % perRow * cols});
      if (failed(tile))
        return rewriter.notifyMatchFailure(op, "not a function of matrices");
      tiles.push_back(*tile);
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

/// The tiles of a row are combined element by element first.
struct MatrixReducePattern : MatrixPattern<ReduceOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(ReduceOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getSource().getType();
    if (!isOpaque(target.chip, type) ||
        !isOpaque(target.chip, op.getResult().getType()))
      return rewriter.notifyMatchFailure(op, "not of cooperative matrices");
    int64_t perRow = type.getCols() / getTile(target.chip, type)[1];
    SmallVector<Value> columns;
    ValueRange tiles = adaptor.getSource();
    for (; !tiles.empty(); tiles = tiles.drop_front(perRow))
      columns.push_back(emitMatrixReduction(rewriter, op.getLoc(), op.getKind(),
                                            tiles.take_front(perRow)));
    rewriter.replaceOpWithMultiple(op, {ValueRange(columns)});
    return success();
  }
};

/// A column of matrices, which is the same for all tiles of its rows.
struct MatrixColumnPattern : MatrixPattern<BroadcastOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getResult().getType();
    auto from = dyn_cast<FragmentType>(op.getSource().getType());
    if (!from || !isOpaque(target.chip, from) || !isOpaque(target.chip, type) ||
        op.getDimension() != 1)
      return rewriter.notifyMatchFailure(op, "not a column of matrices");
    int64_t perRow = type.getCols() / getTile(target.chip, type)[1];
    SmallVector<Value> tiles;
    for (Value column : adaptor.getSource())
      tiles.append(perRow, column);
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

/// A row in memory: each tile is loaded with a stride of 0.
struct MatrixRowPattern : MatrixPattern<BroadcastOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(BroadcastOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    FragmentType type = op.getResult().getType();
    if (!isOpaque(target.chip, type) ||
        !isa<MemRefType>(op.getSource().getType()))
      return rewriter.notifyMatchFailure(op, "not a row in memory");
    Location loc = op.getLoc();
    auto [rows, cols] = getTile(target.chip, type);
    Value stride = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
    auto known = op->getAttrOfType<IntegerAttr>(
        TesseraDialect::AlignmentAttrHelper::getNameStr());
    int64_t alignment = std::min<int64_t>(
        {16, known.getInt(), cols * getStorageBytes(type.getElementType())});
    IndexMath math(rewriter, loc);
    SmallVector<Value> row;
    for (int64_t j = 0; j < type.getCols(); j += cols) {
      row.push_back(emitMatrixLoad(rewriter, loc, target.getSpirvEnvironment(),
                                   getMatrixType(target.chip, type),
                                   op.getSource(),
                                   ValueRange{math.add(op.getIndex(), j)},
                                   stride, /*transposed=*/false, alignment));
    }
    SmallVector<Value> tiles;
    for (int64_t i = 0; i < type.getRows(); i += rows)
      llvm::append_range(tiles, row);
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

/// A column whose rows lanes hold: a tile in workgroup memory, with
/// the row's element in all columns, is loaded as a matrix, which is the same
/// for all tiles of these rows.
struct MatrixBroadcastPattern : MatrixPattern<BroadcastOp> {
  using MatrixPattern::MatrixPattern;
  LogicalResult
  matchAndRewrite(BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const Chip &chip = target.chip;
    if (!broadcastsColumn(chip, op))
      return rewriter.notifyMatchFailure(op, "not a column for matrices");
    Location loc = op.getLoc();
    FragmentType type = op.getResult().getType();
    std::array<int64_t, 2> tile = getTile(chip, type);
    FailureOr<TileLayout> layout =
        getTileLayout(chip, cast<FragmentType>(op.getSource().getType()));
    if (failed(layout))
      return rewriter.notifyMatchFailure(op, "no lane map");
    std::pair<Value, int64_t> scratch = target.scratch.lookup(
        {op->getParentOfType<gpu::GPUFuncOp>(), type.getElementType()});
    Value memory = scratch.first;
    IndexMath math(rewriter, loc);
    Value subgroup = gpu::SubgroupIdOp::create(rewriter, loc, nullptr);
    Value begin = math.mul(subgroup, scratch.second);
    Value lane = target.getSubgroupLane(rewriter, loc);
    Value row = layout->getLaneOffset(rewriter, loc, lane)[0];
    // The lanes of a row write parts of it.
    constexpr int64_t width = 4;
    int64_t cols = tile[1], height = layout->getExtent(0),
            lanesOfRow = chip.subgroupSize / height, bytes = 4 * width;
    Value part = math.mul(math.rem(lane, math.constant(lanesOfRow)), width);
    emitBarrier(rewriter, loc, spirv::Scope::Subgroup,
                target.getSpirvEnvironment(), /*ordersGlobal=*/false);
    for (int64_t t = 0; t < layout->tiles[0]; ++t) {
      Value value = vector::ExtractOp::create(
          rewriter, loc, adaptor.getSource()[t], int64_t(0));
      Value all = vector::BroadcastOp::create(
          rewriter, loc, VectorType::get(width, value.getType()), value);
      auto store = [&](OpBuilder &builder, int64_t col) {
        IndexMath inner(builder, loc);
        Value index = inner.add(
            begin, inner.add(inner.mul(inner.add(row, t * height), cols),
                             inner.add(part, col)));
        vector::StoreOp::create(builder, loc, all, memory, index,
                                /*nontemporal=*/false,
                                llvm::MaybeAlign(static_cast<uint64_t>(bytes)));
      };
      for (int64_t col = 0; col < cols; col += width * lanesOfRow) {
        if (col + width * lanesOfRow <= cols) {
          store(rewriter, col);
          continue;
        }
        // More lanes than the row has parts.
        Value inside =
            arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                                  part, math.constant(cols - col));
        auto branch = scf::IfOp::create(rewriter, loc, inside);
        OpBuilder inner = branch.getThenBodyBuilder();
        store(inner, col);
      }
    }
    emitBarrier(rewriter, loc, spirv::Scope::Subgroup,
                target.getSpirvEnvironment(), /*ordersGlobal=*/false);
    Value stride = arith::ConstantIntOp::create(rewriter, loc, cols, 32);
    SmallVector<Value> tiles;
    for (int64_t i = 0; i < type.getRows(); i += tile[0]) {
      Value matrix = emitMatrixLoad(rewriter, loc, target.getSpirvEnvironment(),
                                    getMatrixType(chip, type), memory,
                                    ValueRange{math.add(begin, i * cols)},
                                    stride, /*transposed=*/false, bytes);
      tiles.append(type.getCols() / cols, matrix);
    }
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

} // namespace

/// A matrix of the type of `like`, of integers, all of whose elements have the
/// lower bits of `value`.
static Value emitSplat(OpBuilder &builder, Location loc, Value like,
                       int64_t value) {
  auto type = cast<spirv::CooperativeMatrixType>(like.getType());
  unsigned bits = type.getElementType().getIntOrFloatBitWidth();
  Value element = arith::ConstantOp::create(
      builder, loc,
      builder.getIntegerAttr(
          type.getElementType(),
          APInt(64, static_cast<uint64_t>(value)).trunc(bits)));
  return spirv::CompositeConstructOp::create(builder, loc, type, element);
}

/// Signedness is a property of the matmul: a matrix of i8 has none
/// (SPV_KHR_cooperative_matrix, Cooperative Matrix Operands). Devices support
/// matmuls of two signed matrices, of two unsigned ones, or both.
///
/// For a matmul of the other sign, an operand x is passed with its first bit
/// inverted, x', and J is the value of 0x80 there: 128, or -128. Either way x =
/// x' - J, so that with J for a matrix whose elements are all J
///
///     a b = a' b  - J b                      only a is changed
///     a b = a' b' - (a' J + J b' - J J)      both are; J J is 2^14 k
///     everywhere
///
/// modulo 2^32, as sums of i32 are.
Value SpirvTarget::emitMma(OpBuilder &builder, Location loc,
                           const MatrixInstruction &row, MmaOp op, Value a,
                           Value b, Value acc) const {
  if (!row.opaque)
    return row.matrixUnit ? emitDpas(builder, loc, row, op, a, b, acc)
                          : Value();
  using O = spirv::CooperativeMatrixOperandsKHR;
  auto multiply = [&](Value x, Value y, Value sum, O operands) -> Value {
    spirv::CooperativeMatrixOperandsKHRAttr attr;
    if (operands != O::None)
      attr = spirv::CooperativeMatrixOperandsKHRAttr::get(builder.getContext(),
                                                          operands);
    return spirv::KHRCooperativeMatrixMulAddOp::create(
        builder, loc, sum.getType(), x, y, sum, attr);
  };
  if (row.aType != "i8")
    return multiply(a, b, acc, O::None);
  using Signs = MatrixInstruction::Signs;
  bool unsignedA = op.getUnsignedA(), unsignedB = op.getUnsignedB();
  // Use signed matmuls, the alternative with fewer sign changes.
  bool isSigned = row.signs == Signs::Signed ||
                  (row.signs == Signs::Both && !(unsignedA && unsignedB));
  bool flipsA = unsignedA == isSigned, flipsB = unsignedB == isSigned;
  O operands = isSigned ? O::ASigned | O::BSigned | O::CSigned | O::ResultSigned
                        : O::None;
  auto flip = [&](Value x) -> Value {
    return spirv::ISubOp::create(builder, loc, x,
                                 emitSplat(builder, loc, x, -128));
  };
  if (flipsA)
    a = flip(a);
  if (flipsB)
    b = flip(b);
  Value matmul = multiply(a, b, acc, operands);
  if (!flipsA && !flipsB)
    return matmul;
  Value excess =
      emitSplat(builder, loc, acc, flipsA && flipsB ? -(row.k << 14) : 0);
  if (flipsB)
    excess = multiply(a, emitSplat(builder, loc, b, -128), excess, operands);
  if (flipsA)
    excess = multiply(emitSplat(builder, loc, a, -128), b, excess, operands);
  return spirv::ISubOp::create(builder, loc, matmul, excess);
}

void SpirvTarget::populateOpaque(TypeConverter &converter,
                                 RewritePatternSet &patterns) const {
  converter.addConversion(
      [this](FragmentType type,
             SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
        if (!isOpaque(chip, type))
          return std::nullopt;
        results.append(countMatrices(chip, type), getMatrixType(chip, type));
        return success();
      });
  patterns.add<MatrixLoadPattern, MatrixStorePattern, MatrixFillPattern,
               MatrixConvertPattern, MatrixMapPattern, MatrixReducePattern,
               MatrixColumnPattern, MatrixRowPattern, MatrixBroadcastPattern>(
      converter, patterns.getContext(), *this);
}
