//===- BulkInstructions.cpp - The instructions of bulk copies -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of more than 128 bytes is stored in panels of 128 or 64 bytes (see
// `tessera.copy`), and one instruction copies one panel, since TMA's swizzle
// spans that much (CUDA driver API, CUtensorMapSwizzle).
//
// Windows over an image use TMA's "im2col mode" (PTX ISA): the coordinates are
// those of the first window's corner, and the offsets are the position within
// the windows.
//
//===----------------------------------------------------------------------===//

#include "BulkInstructions.h"
#include "PtxRegisters.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "Runtime/TensorMap.h"
#include "Target/NVIDIA/BulkCopies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

Value mlir::tessera::emitIsThread(OpBuilder &builder, gpu::GPUFuncOp kernel,
                                  int64_t number) {
  Location loc = kernel.getLoc();
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                               emitLinearThread(builder, kernel),
                               IndexMath(builder, loc).constant(number));
}

int64_t mlir::tessera::getTileBytes(CopyOp op) {
  return op.getShape()[0] * op.getShape()[1] *
         getElementBytes(op.getSourceType().getElementType());
}

/// The rows and columns of a panel, or of the shared part of it.
static std::array<int64_t, 2> getBox(CopyOp op, const SharedTile *shared) {
  int64_t bits = getElementBits(op.getSourceType().getElementType());
  return *getSharedBox({op.getShape()[0], op.getShape()[1]}, bits,
                       shared ? shared->parts : 1);
}

/// An index as a pointer to workgroup memory.
static Value emitShared(OpBuilder &builder, Location loc, Value address) {
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  Value bits =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), space),
      bits);
}

static Value emitI32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantOp::create(
      builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

//===----------------------------------------------------------------------===//
// mbarrier (PTX ISA, "Parallel Synchronization and Communication Instructions")
//===----------------------------------------------------------------------===//

// docs/Rationale/Upstream.md explains where NVVM's ops would emit other code
// than the inline assembly.

Value BulkInstructions::addBarriers(Location loc, int64_t count) {
  Builder builder(kernel.getContext());
  return kernel.addWorkgroupAttribution(
      MemRefType::get({count}, builder.getI64Type(),
                      MemRefLayoutAttrInterface(),
                      gpu::AddressSpaceAttr::get(builder.getContext(),
                                                 gpu::AddressSpace::Workgroup)),
      loc);
}

Value BulkInstructions::emitPointer(OpBuilder &builder, Location loc,
                                    Value barriers, Value number) {
  IndexMath math(builder, loc);
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, barriers);
  return emitShared(builder, loc, math.add(base, math.mul(number, 8)));
}

void BulkInstructions::emitInit(OpBuilder &builder, Location loc,
                                Value barriers, int64_t number,
                                int64_t arrivals) {
  Value at = emitPointer(builder, loc, barriers,
                         IndexMath(builder, loc).constant(number));
  NVVM::MBarrierInitOp::create(builder, loc, at,
                               emitI32(builder, loc, arrivals),
                               /*predicate=*/Value());
}

void BulkInstructions::emitExpectation(OpBuilder &builder, Location loc,
                                       Value barriers, Value number,
                                       int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(
      builder, loc, /*res=*/Type(), emitPointer(builder, loc, barriers, number),
      emitI32(builder, loc, bytes), NVVM::MemScopeKind::CTA, /*relaxed=*/false,
      /*predicate=*/Value());
}

/// The number of lanes (i32), or zero if not `when`.
static Value emitLanes(OpBuilder &builder, Location loc, int64_t count,
                       Value when) {
  Value lanes = emitI32(builder, loc, count);
  if (!when)
    return lanes;
  return arith::SelectOp::create(builder, loc, when, lanes,
                                 emitI32(builder, loc, 0));
}

void BulkInstructions::emitArrival(OpBuilder &builder, Location loc,
                                   Value barriers, Value number, Value when) {
  Value lane = arith::IndexCastOp::create(
      builder, loc, builder.getI32Type(),
      gpu::LaneIdOp::create(builder, loc, /*upper_bound=*/nullptr));
  emitAssembly(builder, loc,
               "{\n.reg .pred p;\nsetp.lt.u32 p, $1, $2;\n"
               "@p mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
               {emitPointer(builder, loc, barriers, number), lane,
                emitLanes(builder, loc, 1, when)},
               /*updated=*/{}, /*touchesMemory=*/true);
}

// Without the scope of the cluster, which is a fence of the whole device and a
// cache invalidation for each step: 1.5 times the time at 4096 cubed. The
// readers' writes need not be visible; only the order matters, of completed
// reads and of copies by TMA.
void BulkInstructions::emitArrivals(OpBuilder &builder, Location loc,
                                    Value barriers, Value number, Value rank,
                                    int64_t count, Value when) {
  Value lane = arith::IndexCastOp::create(
      builder, loc, builder.getI32Type(),
      gpu::LaneIdOp::create(builder, loc, /*upper_bound=*/nullptr));
  emitAssembly(
      builder, loc,
      "{\n.reg .pred p;\n.reg .b64 there;\n"
      "setp.lt.u32 p, $2, $3;\n@p mapa.shared::cluster.u64 there, $0, $1;\n"
      "@p mbarrier.arrive.shared::cluster.b64 _, [there];\n}",
      {emitPointer(builder, loc, barriers, number), rank, lane,
       emitLanes(builder, loc, count, when)},
      /*updated=*/{}, /*touchesMemory=*/true);
}

void BulkInstructions::emitWait(OpBuilder &builder, Location loc,
                                Value barriers, Value number, Value parity) {
  emitAssembly(builder, loc,
               "{\n.reg .pred p;\nWAIT:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
               "@p bra DONE;\nbra WAIT;\nDONE:\n}",
               {emitPointer(builder, loc, barriers, number), parity},
               /*updated=*/{}, /*touchesMemory=*/true);
}

//===----------------------------------------------------------------------===//
// cp.async.bulk.tensor (PTX ISA, "Data Movement and Conversion Instructions")
//===----------------------------------------------------------------------===//

Value BulkInstructions::emitMap(OpBuilder &builder, CopyOp op, Value argument,
                                std::array<int64_t, 2> tileBox,
                                const std::optional<BulkWindow> &window) {
  auto type = cast<MemRefType>(argument.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  SmallVector<int64_t> box(type.getRank() - 2, 1);
  llvm::append_range(box, tileBox);
  int64_t span = box.back() * bytes;
  int64_t number = cast<BlockArgument>(argument).getArgNumber();
  auto attribute = [&](const std::string &symbol) {
    NamedAttrList entries;
    entries.set("argument", builder.getI64IntegerAttr(number));
    entries.set("box", builder.getDenseI64ArrayAttr(box));
    entries.set("swizzle", builder.getI64IntegerAttr(span));
    entries.set("symbol", FlatSymbolRefAttr::get(builder.getContext(), symbol));
    if (window) {
      entries.set("lower", builder.getDenseI64ArrayAttr(window->lower));
      entries.set("extent", builder.getDenseI64ArrayAttr(window->extent));
      entries.set("stride", builder.getDenseI64ArrayAttr(window->stride));
    }
    return entries.getDictionary(builder.getContext());
  };
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto getName = [&](size_t i) {
    return (kernel.getName() + "_map_" + Twine(i)).str();
  };
  for (auto [i, known] : llvm::enumerate(maps))
    if (known == attribute(getName(i)))
      return LLVM::AddressOfOp::create(builder, op.getLoc(), pointer,
                                       getName(i));
  std::string name = getName(maps.size());
  maps.push_back(attribute(name));
  OpBuilder outside(kernel);
  LLVM::GlobalOp::create(
      outside, op.getLoc(),
      LLVM::LLVMArrayType::get(builder.getI8Type(),
                               ::tessera::runtime::tensorMapBytes),
      /*isConstant=*/true, LLVM::Linkage::External, name, Attribute());
  return LLVM::AddressOfOp::create(builder, op.getLoc(), pointer, name);
}

void BulkInstructions::emitPrefetches(OpBuilder &builder, Location loc) {
  for (Attribute map : maps) {
    auto symbol = cast<DictionaryAttr>(map).getAs<FlatSymbolRefAttr>("symbol");
    Value address = LLVM::AddressOfOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        symbol.getValue());
    NVVM::PrefetchOp::create(
        builder, loc, NVVM::PrefetchCacheLevelAttr(),
        NVVM::CacheEvictionPriorityAttr(), address, /*predicate=*/Value(),
        /*tensormap=*/builder.getUnitAttr(), /*uniform=*/UnitAttr(),
        /*in_param_space=*/UnitAttr());
  }
}

void BulkInstructions::forEachPanel(
    OpBuilder &builder, CopyOp op, Value first, ValueRange indices,
    const SharedTile *shared, function_ref<void(Value, ValueRange)> emit) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  int64_t bytes = getElementBytes(op.getSourceType().getElementType());
  auto [rows, columns] = getBox(op, shared);
  // A part of the rows of all panels, or a part of the panels.
  int64_t allRows = op.getShape()[0], end = op.getShape()[1];
  SmallVector<Value> from(llvm::reverse(indices));
  if (shared && rows < allRows) {
    Value row = math.mul(shared->part, rows);
    from[1] = math.add(from[1], row);
    first = math.add(first, math.mul(row, columns * bytes));
  } else if (shared) {
    end /= shared->parts;
    Value column = math.mul(shared->part, end);
    from[0] = math.add(from[0], column);
    first = math.add(first, math.mul(column, rows * bytes));
  }
  for (int64_t at = 0; at < end; at += columns) {
    SmallVector<Value> position(from);
    position[0] = math.add(position[0], at);
    for (Value &index : position)
      index =
          arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
    emit(emitShared(builder, loc, math.add(first, at * allRows * bytes)),
         position);
  }
}

namespace {
/// The origin of a copy of windows.
struct WindowPosition {
  /// The first window's position in the image: an index for each dimension.
  SmallVector<Value> indices;
  /// The position within it in the dimensions that windows move over, innermost
  /// first (i16).
  SmallVector<Value> offsets;
};
} // namespace

/// Computes the position of a row and a column of the matrix that `window`
/// describes.
static WindowPosition emitWindowPosition(OpBuilder &builder, Location loc,
                                         WindowAttr attribute,
                                         const BulkWindow &window, Value row,
                                         Value col) {
  IndexMath math(builder, loc);
  auto delinearize = [&](Value linear, ArrayRef<int64_t> extents) {
    SmallVector<Value> sizes, at(extents.size());
    for (int64_t extent : extents)
      sizes.push_back(math.constant(extent));
    auto dims = llvm::to_vector(
        llvm::seq<unsigned>(0, static_cast<unsigned>(extents.size())));
    math.delinearize(linear, sizes, dims, at);
    return at;
  };
  ArrayRef<int64_t> cols = attribute.getCols();
  SmallVector<Value> rowAt = delinearize(row, attribute.getRows()),
                     colAt = delinearize(col, cols);
  WindowPosition position;
  for (auto [d, rowDim, colDim] : llvm::enumerate(window.row, window.col)) {
    Value index = rowDim ? rowAt[*rowDim] : math.constant(0);
    if (d > 0) {
      index =
          math.add(math.mul(index, window.stride[d - 1]), window.lower[d - 1]);
      Value offset = colDim ? math.mul(colAt[*colDim], window.dilation[d])
                            : math.constant(0);
      position.offsets.push_back(arith::IndexCastOp::create(
          builder, loc, builder.getI16Type(), offset));
    }
    position.indices.push_back(index);
  }
  std::reverse(position.offsets.begin(), position.offsets.end());
  // Beyond the last column, where a part of the reduction may end, the channels
  // are out of bounds and read as zeros.
  int64_t all = 1;
  for (int64_t extent : cols)
    all *= extent;
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                       col, math.constant(all));
  position.indices.push_back(arith::SelectOp::create(
      builder, loc, inside, colAt.back(), math.constant(cols.back())));
  return position;
}

void BulkInstructions::emitLoad(OpBuilder &builder, CopyOp op,
                                ValueRange sourceIndices, Value memory,
                                Value slot, Value barriers, Value number,
                                const SharedTile *shared) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  Value barrier = emitPointer(builder, loc, barriers, number);
  std::optional<BulkWindow> window;
  WindowPosition position;
  if (op.getWindow()) {
    std::string why;
    window = matchBulkWindow(*op.getWindow(), op.getSourceType(), op.getShape(),
                             chip, why);
    position = emitWindowPosition(builder, loc, *op.getWindow(), *window,
                                  sourceIndices[0], sourceIndices[1]);
  } else {
    llvm::append_range(position.indices, sourceIndices);
  }
  Value map = emitMap(builder, op, op.getSource(), getBox(op, shared), window);
  Value first = math.add(
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory),
      math.mul(slot, getTileBytes(op)));
  auto cluster = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  forEachPanel(builder, op, first, position.indices, shared,
               [&](Value to, ValueRange at) {
                 to = LLVM::AddrSpaceCastOp::create(builder, loc, cluster, to);
                 NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
                     builder, loc, to, map, at, barrier, position.offsets,
                     /*multicastMask=*/shared ? shared->mask : Value(),
                     /*l2CacheHint=*/Value(),
                     window ? NVVM::TMALoadMode::IM2COL
                            : NVVM::TMALoadMode::TILE,
                     /*isCTAOnly=*/false, NVVM::CTAGroupKindAttr(),
                     /*predicate=*/Value());
               });
}

void BulkInstructions::emitStore(OpBuilder &builder, CopyOp op,
                                 ValueRange targetIndices, Value memory,
                                 Value slot) {
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  Value map =
      emitMap(builder, op, op.getTarget(), getBox(op, /*shared=*/nullptr));
  Value first = math.add(
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memory),
      math.mul(slot, getTileBytes(op)));
  forEachPanel(builder, op, first, targetIndices, /*shared=*/nullptr,
               [&](Value from, ValueRange position) {
                 NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
                     builder, loc, map, from, position, /*l2CacheHint=*/Value(),
                     NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
               });
  NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
}

void BulkInstructions::emitStoreWait(OpBuilder &builder, Location loc) {
  NVVM::CpAsyncBulkWaitGroupOp::create(
      builder, loc, builder.getI32IntegerAttr(0), builder.getUnitAttr());
}
