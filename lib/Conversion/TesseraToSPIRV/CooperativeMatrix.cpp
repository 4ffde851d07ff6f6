//===- CooperativeMatrix.cpp - Fragments as cooperative matrices ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPV_KHR_cooperative_matrix. A fragment is one matrix for each tile of its
// instruction, in row-major order. A matrix is converted to and from vectors of
// known lane maps through scratch in workgroup memory: each subgroup has
// scratch for a few tiles, which are converted in turn.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Spirv.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

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

/// The tiles of both sides that pass through scratch at a time.
static std::array<int64_t, 2> getChunk(const Chip &chip, ConvertOp op) {
  auto from = getTile(chip, op.getSource().getType());
  auto to = getTile(chip, op.getResult().getType());
  return {std::max(from[0], to[0]), std::max(from[1], to[1])};
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
         !(fromMatrix && toMatrix && from.getRole() == to.getRole() &&
           getTile(chip, from) == getTile(chip, to));
}

int64_t mlir::tessera::getScratchBytes(const Chip &chip) {
  bool any = llvm::any_of(chip.instructions,
                          [](const auto &row) { return row.opaque; });
  return any ? chip.workgroupMemoryBytes / 7 : 0;
}

LogicalResult SpirvTarget::addScratch(gpu::GPUModuleOp module) {
  for (auto kernel : module.getOps<gpu::GPUFuncOp>()) {
    llvm::MapVector<Type, int64_t> sizes;
    kernel.walk([&](ConvertOp op) {
      if (!needsScratch(chip, op))
        return;
      auto [rows, cols] = getChunk(chip, op);
      int64_t &size = sizes[getPassedType(chip, op)];
      size = std::max(size, rows * cols);
    });
    if (sizes.empty())
      continue;
    std::optional<ArrayRef<int32_t>> block = kernel.getKnownBlockSize();
    if (!block)
      return kernel.emitError()
             << "target " << chip.target
             << " requires a constant workgroup size: launch the kernel with "
                "constants";
    int64_t threads = int64_t((*block)[0]) * (*block)[1] * (*block)[2];
    int64_t subgroups = llvm::divideCeil(threads, chip.subgroupSize);
    for (auto [element, size] : sizes) {
      auto type = MemRefType::get(
          {subgroups * size}, element, MemRefLayoutAttrInterface(),
          gpu::AddressSpaceAttr::get(module.getContext(),
                                     gpu::AddressSpace::Workgroup));
      scratch[{kernel, element}] = {
          kernel.addWorkgroupAttribution(type, kernel.getLoc()), size};
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
    auto [rows, cols] = getTile(target.chip, type);
    Value tile = spirv::CompositeConstructOp::create(
        rewriter, op.getLoc(), getMatrixType(target.chip, type), op.getValue());
    SmallVector<Value> tiles(type.getRows() / rows * (type.getCols() / cols),
                             tile);
    rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
    return success();
  }
};

struct MatrixConvertPattern : MatrixPattern<ConvertOp> {
  using MatrixPattern::MatrixPattern;

  /// Casts a matrix to another element type, with the same distribution.
  Value castMatrix(OpBuilder &builder, Location loc, Value matrix, Type element,
                   bool isUnsigned) const {
    auto type = cast<spirv::CooperativeMatrixType>(matrix.getType());
    Type from = type.getElementType();
    if (from == element)
      return matrix;
    auto to = spirv::CooperativeMatrixType::get(element, type.getRows(),
                                                type.getColumns(),
                                                type.getScope(), type.getUse());
    bool fromInteger = from.isInteger(), toInteger = element.isInteger();
    if (!fromInteger && !toInteger)
      return spirv::FConvertOp::create(builder, loc, to, matrix);
    if (fromInteger && toInteger && isUnsigned)
      return spirv::UConvertOp::create(builder, loc, to, matrix);
    if (fromInteger && toInteger)
      return spirv::SConvertOp::create(builder, loc, to, matrix);
    if (fromInteger && isUnsigned)
      return spirv::ConvertUToFOp::create(builder, loc, to, matrix);
    if (fromInteger)
      return spirv::ConvertSToFOp::create(builder, loc, to, matrix);
    if (isUnsigned)
      return spirv::ConvertFToUOp::create(builder, loc, to, matrix);
    return spirv::ConvertFToSOp::create(builder, loc, to, matrix);
  }

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
      for (Value tile : adaptor.getSource())
        tiles.push_back(
            castMatrix(rewriter, loc, tile, element, op.getIsUnsigned()));
      rewriter.replaceOpWithMultiple(op, {ValueRange(tiles)});
      return success();
    }

    auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
    Type passed = getPassedType(chip, op);
    std::pair<Value, int64_t> scratch = target.scratch.lookup({kernel, passed});
    Value memory = scratch.first;
    int64_t size = scratch.second;
    std::array<int64_t, 2> chunk = getChunk(chip, op);
    int64_t rows = chunk[0], cols = chunk[1];
    auto fromTile = getTile(chip, from), toTile = getTile(chip, to);
    IndexMath math(rewriter, loc);
    Value subgroup = gpu::SubgroupIdOp::create(rewriter, loc, nullptr);
    Value begin = math.mul(subgroup, size);
    Value stride = arith::ConstantIntOp::create(rewriter, loc, cols, 32);
    int64_t alignment = std::min<int64_t>(16, cols * getStorageBytes(passed));
    Value lane = target.getSubgroupLane(rewriter, loc);
    TileLayout layout;
    std::array<Value, 2> position;
    if (!fromMatrix || !toMatrix) {
      layout = *getTileLayout(chip, fromMatrix ? to : from);
      position = layout.getLaneOffset(rewriter, loc, lane);
    }
    auto getIndex = [&](Value row, Value col) -> Value {
      return math.add(begin, math.add(math.mul(row, cols), col));
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
                  memory, ValueRange{math.add(begin, i * cols + j)}, stride,
                  /*transposed=*/false,
                  std::min<int64_t>(alignment,
                                    fromTile[1] * getStorageBytes(passed)));
              continue;
            }
            for (int64_t reg = 0; reg < layout.map.getNumRegisters(); ++reg) {
              auto [row, col] = getPosition(math, position, layout, reg);
              Value value = vector::ExtractOp::create(rewriter, loc, tile, reg);
              value = emitElementCast(rewriter, loc, value, passed,
                                      op.getIsUnsigned());
              memref::StoreOp::create(
                  rewriter, loc, value, memory,
                  getIndex(math.add(row, i), math.add(col, j)));
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
                  ValueRange{math.add(begin, i * cols + j)}, stride,
                  /*transposed=*/false,
                  std::min<int64_t>(alignment,
                                    toTile[1] * getStorageBytes(passed)));
              continue;
            }
            SmallVector<Value> values;
            for (int64_t reg = 0; reg < layout.map.getNumRegisters(); ++reg) {
              auto [row, col] = getPosition(math, position, layout, reg);
              Value value = memref::LoadOp::create(
                  rewriter, loc, memory,
                  getIndex(math.add(row, i), math.add(col, j)));
              values.push_back(emitElementCast(rewriter, loc, value, element,
                                               op.getIsUnsigned()));
            }
            tile = vector::FromElementsOp::create(rewriter, loc,
                                                  layout.vectorType, values);
          }
      }
    rewriter.replaceOpWithMultiple(op, {ValueRange(results)});
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
        auto [rows, cols] = getTile(chip, type);
        results.append(type.getRows() / rows * (type.getCols() / cols),
                       getMatrixType(chip, type));
        return success();
      });
  patterns.add<MatrixLoadPattern, MatrixStorePattern, MatrixFillPattern,
               MatrixConvertPattern>(converter, patterns.getContext(), *this);
}
