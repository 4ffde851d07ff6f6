//===- Utils.cpp - Helpers of several passes ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Utils.h"
#include "TargetInfo/TargetInfo.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

/// The divisor of 0, and the limit of all divisors: larger ones do not matter
/// for alignment.
static constexpr int64_t maxDivisor = 4096;

FailureOr<const Chip *> mlir::tessera::findChipOrError(Operation *op,
                                                       llvm::StringRef target,
                                                       llvm::StringRef name) {
  name = getChipOrDefault(target, name);
  if (const Chip *chip = findChip(target, name))
    return chip;
  std::vector<std::string> known = getKnownChips(target, name);
  if (known.empty())
    return op->emitError() << "unknown target '" << target << "': known are "
                           << listTargetNames("and");
  return op->emitError() << "unknown chip '" << name << "' of target '"
                         << target << "': known are, nearest first: "
                         << llvm::join(known, ", ");
}

FailureOr<const Chip *> mlir::tessera::getChip(Operation *op) {
  for (Operation *at = op; at; at = at->getParentOp())
    if (auto attribute = at->getAttrOfType<ChipAttr>(ChipAttr::getAttrName()))
      return findChipOrError(op, attribute.getTarget(), attribute.getName());
  return op->emitError()
         << "unknown chip to compile for: no module around this op has the "
            "attribute 'tessera.chip'; attach it by tessera-attach-chip";
}

FailureOr<const Chip *> mlir::tessera::getChip(Operation *op,
                                               llvm::StringRef target) {
  FailureOr<const Chip *> chip = getChip(op);
  if (succeeded(chip) && (*chip)->target != target)
    return op->emitError() << "a chip of target " << target
                           << " is required, but the module is compiled for "
                           << (*chip)->target << ":" << (*chip)->name;
  return chip;
}

void mlir::tessera::attachChip(ModuleOp module, const Chip &chip) {
  MLIRContext *context = module.getContext();
  // A program of upstream's dialects does not load it.
  context->getOrLoadDialect<TesseraDialect>();
  auto name = StringAttr::get(context, ChipAttr::getAttrName());
  module.walk([&](Operation *op) { op->removeAttr(name); });
  module->setAttr(name, ChipAttr::get(context, chip.target, chip.name));
}

bool mlir::tessera::isSwizzledTile(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  return load && load.getSwizzled() && isWorkgroupMemory(load.getMemRefType());
}

bool mlir::tessera::isPacked(Type type) { return type.isSignlessInteger(4); }

int64_t mlir::tessera::getElementBits(Type type) {
  return isPacked(type) ? 4 : 8 * getElementBytes(type);
}

int64_t mlir::tessera::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static int64_t clampDivisor(int64_t value) {
  value = std::abs(value);
  return value == 0 || value > maxDivisor ? std::gcd(value, maxDivisor) : value;
}

/// The elements that `op`, if it gathers, promises to be side by side.
static std::optional<int64_t> getGatherGroup(Operation *op) {
  if (auto copy = dyn_cast_or_null<CopyOp>(op))
    return copy.getContiguousElements();
  if (auto copy = dyn_cast_or_null<AsyncCopyOp>(op))
    return copy.getContiguousElements();
  if (auto tile = dyn_cast_or_null<TileOp>(op))
    return tile.getContiguous().value_or(1);
  return std::nullopt;
}

static int64_t getKnownDivisor(Value value, int depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant == 0 ? maxDivisor : clampDivisor(*constant);
  if (depth == 0)
    return 1;
  auto recurse = [&](Value operand) {
    return getKnownDivisor(operand, depth - 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::gcd(recurse(loop.getLowerBound()), recurse(loop.getStep()));
    // The column at which a group of a gather starts.
    if (argument.getArgNumber() == 1)
      if (std::optional<int64_t> group =
              getGatherGroup(argument.getOwner()->getParentOp()))
        return clampDivisor(*group);
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op))
    return clampDivisor(recurse(op->getOperand(0)) *
                        recurse(op->getOperand(1)));
  if (isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return std::gcd(recurse(op->getOperand(0)), recurse(op->getOperand(1)));
  if (isa<arith::SelectOp>(op))
    return std::gcd(recurse(op->getOperand(1)), recurse(op->getOperand(2)));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp>(op))
    return recurse(op->getOperand(0));
  if (isa<arith::ShLIOp>(op))
    if (std::optional<int64_t> bits = getConstantIntValue(op->getOperand(1)))
      if (*bits >= 0 && *bits < 12)
        return clampDivisor(recurse(op->getOperand(0)) << *bits);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    // Each operand is a multiple of its divisor.
    AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> dims, symbols;
    for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
      if (i < map.getNumDims())
        dims.push_back(getAffineDimExpr(i, op->getContext()) *
                       recurse(operand));
      else
        symbols.push_back(
            getAffineSymbolExpr(i - map.getNumDims(), op->getContext()) *
            recurse(operand));
    }
    return clampDivisor(map.getResult(0)
                            .replaceDimsAndSymbols(dims, symbols)
                            .getLargestKnownDivisor());
  }
  return 1;
}

int64_t mlir::tessera::getKnownDivisor(Value value) {
  return ::getKnownDivisor(value, 16);
}

int64_t mlir::tessera::getKnownTileAlignment(Value memory, ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  // Steps are in bits, since packed elements are smaller than a byte.
  int64_t bits = getElementBits(type.getElementType());
  int64_t least = bits / 8;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return least;
  auto getStep = [&](int64_t stride, int64_t divisor) {
    return ShapedType::isDynamic(stride)
               ? bits * divisor
               : std::gcd<int64_t>(8 * maxDivisor, stride * divisor * bits);
  };
  int64_t alignment = 8 * 16;
  auto meet = [&](int64_t step) {
    alignment = std::gcd(alignment, step == 0 ? 8 * maxDivisor : step);
  };
  for (auto [index, stride] : llvm::zip(indices, strides))
    meet(getStep(stride, getKnownDivisor(index)));
  // From row to row.
  if (type.getRank() >= 2)
    meet(getStep(strides[type.getRank() - 2], 1));

  // The base: follow views to where they start.
  while (Operation *op = memory.getDefiningOp()) {
    if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
      SmallVector<int64_t> sourceStrides;
      if (failed(subview.getSourceType().getStridesAndOffset(sourceStrides,
                                                             offset)))
        return least;
      for (auto [position, stride] :
           llvm::zip(subview.getMixedOffsets(), sourceStrides)) {
        std::optional<int64_t> constant = getConstantIntValue(position);
        int64_t divisor = constant ? clampDivisor(*constant)
                                   : getKnownDivisor(cast<Value>(position));
        meet(constant && *constant == 0 ? 0 : getStep(stride, divisor));
      }
      memory = subview.getSource();
    } else if (isa<memref::CastOp, memref::ExpandShapeOp,
                   memref::CollapseShapeOp, memref::TransposeOp,
                   memref::MemorySpaceCastOp>(op)) {
      memory = op->getOperand(0);
    } else if (auto view = dyn_cast<memref::ViewOp>(op)) {
      meet(8 * getKnownDivisor(view.getByteShift()));
      memory = view.getSource();
    } else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
      for (OpFoldResult position : cast.getMixedOffsets()) {
        std::optional<int64_t> constant = getConstantIntValue(position);
        meet(constant ? *constant * bits
                      : getKnownDivisor(llvm::cast<Value>(position)) * bits);
      }
      memory = cast.getSource();
    } else {
      break;
    }
  }
  // The remaining value is a buffer, unless its type has an offset.
  auto base = dyn_cast<MemRefType>(memory.getType());
  if (!base || failed(base.getStridesAndOffset(strides, offset)))
    return least;
  meet(ShapedType::isDynamic(offset) ? bits : offset * bits);
  return std::max(alignment / 8, least);
}

//===----------------------------------------------------------------------===//
// Packed elements
//===----------------------------------------------------------------------===//

/// `memory` with elements of bytes: the same pointer, offset, sizes and
/// strides.
static Value viewAsBytes(OpBuilder &builder, Location loc, Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  auto bytes = MemRefType::get(type.getShape(), builder.getI8Type(),
                               type.getLayout(), type.getMemorySpace());
  return UnrealizedConversionCastOp::create(builder, loc, bytes, memory)
      .getResult(0);
}

Value mlir::tessera::emitLinearIndex(OpBuilder &builder, Location loc,
                                     Value memory, ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides(type.getRank(), ShapedType::kDynamic);
  int64_t offset = ShapedType::kDynamic;
  (void)type.getStridesAndOffset(strides, offset);
  auto metadata = memref::ExtractStridedMetadataOp::create(
      builder, loc, viewAsBytes(builder, loc, memory));
  auto toValue = [&](int64_t known, Value dynamic) -> Value {
    return ShapedType::isDynamic(known)
               ? dynamic
               : Value(arith::ConstantIndexOp::create(builder, loc, known));
  };
  Value linear = toValue(offset, metadata.getOffset());
  for (auto [index, known, dynamic] :
       llvm::zip(indices, strides, metadata.getStrides())) {
    Value step = builder.createOrFold<arith::MulIOp>(loc, index,
                                                     toValue(known, dynamic));
    linear = builder.createOrFold<arith::AddIOp>(loc, linear, step);
  }
  return linear;
}

/// Half of `index`, rounded down.
static Value emitHalf(OpBuilder &builder, Location loc, Value index) {
  return builder.createOrFold<arith::ShRUIOp>(
      loc, index, arith::ConstantIndexOp::create(builder, loc, 1));
}

Value mlir::tessera::emitByteIndex(OpBuilder &builder, Location loc,
                                   Value memory, ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  auto isEven = [](int64_t value) {
    return ShapedType::isStatic(value) && value % 2 == 0;
  };
  if (indices.empty() || failed(type.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || !isEven(offset) ||
      !llvm::all_of(ArrayRef(strides).drop_back(), isEven))
    return emitHalf(builder, loc,
                    emitLinearIndex(builder, loc, memory, indices));
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value byte = constant(offset / 2);
  for (auto [index, stride] :
       llvm::zip(indices.drop_back(), ArrayRef(strides).drop_back())) {
    Value step =
        builder.createOrFold<arith::MulIOp>(loc, index, constant(stride / 2));
    byte = builder.createOrFold<arith::AddIOp>(loc, byte, step);
  }
  return builder.createOrFold<arith::AddIOp>(
      loc, byte, emitHalf(builder, loc, indices.back()));
}

Value mlir::tessera::emitByteView(OpBuilder &builder, Location loc,
                                  Value memory, Value first, int64_t count) {
  auto metadata = memref::ExtractStridedMetadataOp::create(
      builder, loc, viewAsBytes(builder, loc, memory));
  auto type = MemRefType::get(
      {count}, builder.getI8Type(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}),
      cast<MemRefType>(memory.getType()).getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, loc, type, metadata.getBaseBuffer(), OpFoldResult(first),
      ArrayRef<OpFoldResult>{builder.getIndexAttr(count)},
      ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

namespace {
/// The thread's number and the workgroup's size, dimension by dimension.
struct ThreadGrid {
  std::array<Value, 3> ids, sizes;
};
} // namespace

static ThreadGrid emitThreadGrid(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  ThreadGrid grid;
  if (auto launch = op->getParentOfType<gpu::LaunchOp>()) {
    gpu::KernelDim3 id = launch.getThreadIds(), size = launch.getBlockSize();
    gpu::KernelDim3 operands = launch.getBlockSizeOperandValues();
    grid.ids = {id.x, id.y, id.z};
    grid.sizes = {size.x, size.y, size.z};
    // A constant size is more precise than the body's argument for it.
    std::array<Value, 3> values{operands.x, operands.y, operands.z};
    for (int d : {0, 1, 2})
      if (std::optional<int64_t> constant = getConstantIntValue(values[d]))
        grid.sizes[d] = arith::ConstantIndexOp::create(builder, loc, *constant);
    return grid;
  }
  gpu::Dimension dims[] = {gpu::Dimension::x, gpu::Dimension::y,
                           gpu::Dimension::z};
  std::optional<ArrayRef<int32_t>> known;
  if (auto kernel = op->getParentOfType<gpu::GPUFuncOp>())
    known = kernel.getKnownBlockSize();
  for (int d : {0, 1, 2}) {
    if (known && (*known)[d] == 1)
      grid.ids[d] = arith::ConstantIndexOp::create(builder, loc, 0);
    else
      grid.ids[d] = gpu::ThreadIdOp::create(builder, loc, dims[d]);
    if (known)
      grid.sizes[d] = arith::ConstantIndexOp::create(builder, loc, (*known)[d]);
    else
      grid.sizes[d] = gpu::BlockDimOp::create(builder, loc, dims[d]);
  }
  return grid;
}

Value mlir::tessera::emitLinearThread(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  ThreadGrid grid = emitThreadGrid(builder, op);
  Value linear;
  for (int d : {2, 1, 0}) {
    if (getConstantIntValue(grid.sizes[d]) == int64_t(1))
      continue;
    linear =
        linear ? arith::AddIOp::create(
                     builder, loc, grid.ids[d],
                     arith::MulIOp::create(builder, loc, linear, grid.sizes[d]))
               : grid.ids[d];
  }
  return linear ? linear
                : Value(arith::ConstantIndexOp::create(builder, loc, 0));
}

Value mlir::tessera::emitNumThreads(OpBuilder &builder, Operation *op) {
  Location loc = op->getLoc();
  ThreadGrid grid = emitThreadGrid(builder, op);
  return arith::MulIOp::create(
      builder, loc,
      arith::MulIOp::create(builder, loc, grid.sizes[0], grid.sizes[1]),
      grid.sizes[2]);
}

int64_t mlir::tessera::getFragmentGroup(Operation *op) {
  auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
  if (!kernel)
    kernel = op->getParentOfType<gpu::GPUFuncOp>();
  auto group = kernel ? kernel->getAttrOfType<IntegerAttr>(getGroupAttrName())
                      : IntegerAttr();
  return group ? group.getInt() : 1;
}
