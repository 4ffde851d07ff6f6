//===- FlattenAllocations.cpp - Buffers without a layout ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAFLATTENALLOCATIONS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-flatten-allocations"

STATISTIC(numFlattened, "Number of allocations with a layout made dense");

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// A layout with constant strides.
struct StridedLayout {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  /// The elements up to the last one, with those between and ahead of them.
  int64_t extent = 0;
};
} // namespace

/// The layout of a buffer that upstream cannot allocate; none if it can, or if
/// the layout is not known.
static std::optional<StridedLayout> findLayout(MemRefType type) {
  StridedLayout layout;
  if (type.getLayout().isIdentity() || !type.hasStaticShape() ||
      failed(type.getStridesAndOffset(layout.strides, layout.offset)) ||
      ShapedType::isDynamic(layout.offset) || layout.offset < 0 ||
      llvm::any_of(
          layout.strides,
          [](int64_t stride) {
            return ShapedType::isDynamic(stride) || stride < 0;
          }))
    return std::nullopt;
  layout.extent = layout.offset;
  for (auto [size, stride] : llvm::zip_equal(type.getShape(), layout.strides)) {
    int64_t span;
    if (llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, span) ||
        llvm::AddOverflow(layout.extent, span, layout.extent))
      return std::nullopt;
  }
  if (llvm::AddOverflow(layout.extent, int64_t(type.getNumElements() != 0),
                        layout.extent))
    return std::nullopt;
  return layout;
}

static MemRefType getDenseType(MemRefType type, const StridedLayout &layout) {
  return MemRefType::get(layout.extent, type.getElementType(),
                         MemRefLayoutAttrInterface(), type.getMemorySpace());
}

static Value castToLayout(OpBuilder &builder, Location loc, MemRefType type,
                          Value dense, const StridedLayout &layout) {
  return memref::ReinterpretCastOp::create(builder, loc, type, dense,
                                           layout.offset, type.getShape(),
                                           layout.strides);
}

/// Replaces an allocation, and has its deallocations free the dense buffer.
template <typename OpT> static void flattenAllocation(OpT op) {
  std::optional<StridedLayout> layout = findLayout(op.getType());
  if (!layout)
    return;
  LDBG() << op.getLoc() << ": " << op.getType() << " is allocated as "
         << layout->extent << " elements";
  ++numFlattened;
  OpBuilder builder(op);
  auto dense =
      OpT::create(builder, op.getLoc(), getDenseType(op.getType(), *layout),
                  ValueRange(), op.getAlignmentAttr());
  Value view = castToLayout(builder, op.getLoc(), op.getType(), dense, *layout);
  op.getResult().replaceUsesWithIf(view, [&](OpOperand &use) {
    return !isa<memref::DeallocOp>(use.getOwner());
  });
  op.getResult().replaceAllUsesWith(dense.getResult());
  op.erase();
}

/// The initial value of the dense variable: zeros between the elements.
static Attribute flattenValue(DenseElementsAttr value, MemRefType type,
                              const StridedLayout &layout) {
  auto flat = RankedTensorType::get(layout.extent, type.getElementType());
  if (value.isSplat())
    return DenseElementsAttr::get(flat, value.getSplatValue<Attribute>());
  Attribute zero =
      Builder(type.getContext()).getZeroAttr(type.getElementType());
  SmallVector<Attribute> elements(layout.extent, zero);
  SmallVector<int64_t> point(type.getRank(), 0);
  for (Attribute element : value.getValues<Attribute>()) {
    int64_t address = layout.offset;
    for (auto [index, stride] : llvm::zip_equal(point, layout.strides))
      address += index * stride;
    elements[static_cast<size_t>(address)] = element;
    for (auto dim = static_cast<int64_t>(point.size()); dim-- > 0;) {
      auto at = static_cast<size_t>(dim);
      if (++point[at] < type.getDimSize(static_cast<unsigned>(dim)))
        break;
      point[at] = 0;
    }
  }
  return DenseElementsAttr::get(flat, elements);
}

/// A variable that is larger than this keeps its layout.
static constexpr int64_t maxGlobalElements = 1 << 22;

static void flattenGlobal(memref::GlobalOp op) {
  std::optional<StridedLayout> layout = findLayout(op.getType());
  if (!layout || layout->extent > maxGlobalElements)
    return;
  MemRefType type = op.getType(), dense = getDenseType(type, *layout);
  Attribute value = op.getInitialValueAttr();
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(value))
    value = flattenValue(elements, type, *layout);
  else if (value && !isa<UnitAttr>(value))
    return;
  // Each use must be one that can be replaced.
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(op, op->getParentOp());
  if (!uses || llvm::any_of(*uses, [](SymbolTable::SymbolUse use) {
        return !isa<memref::GetGlobalOp>(use.getUser());
      }))
    return;
  LDBG() << op.getLoc() << ": " << type << " has " << layout->extent
         << " elements";
  ++numFlattened;
  for (SymbolTable::SymbolUse use : *uses) {
    auto get = cast<memref::GetGlobalOp>(use.getUser());
    OpBuilder builder(get);
    Value base = memref::GetGlobalOp::create(builder, get.getLoc(), dense,
                                             get.getNameAttr());
    get.replaceAllUsesWith(
        castToLayout(builder, get.getLoc(), type, base, *layout));
    get.erase();
  }
  op.setTypeAttr(TypeAttr::get(dense));
  if (value)
    op.setInitialValueAttr(value);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Whether a buffer of this layout is a dense row-major array.
static bool isDense(MemRefType type, const StridedLayout &layout) {
  if (layout.offset != 0)
    return false;
  int64_t expected = 1;
  for (auto dim = static_cast<unsigned>(type.getRank()); dim-- > 0;) {
    if (type.getDimSize(dim) != 1 && layout.strides[dim] != expected)
      return false;
    expected *= type.getDimSize(dim);
  }
  return true;
}

/// Whether a function is one that the runtime may call, and nothing else.
static bool isEntry(func::FuncOp function) {
  return function.isPublic() && !function.isExternal() &&
         SymbolTable::symbolKnownUseEmpty(function, function->getParentOp());
}

/// Has the runtime pass dense buffers, whose elements are copied to buffers of
/// the layout, and back.
static void flattenArguments(func::FuncOp function) {
  auto hasLayout = [](Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    std::optional<StridedLayout> layout =
        buffer ? findLayout(buffer) : std::nullopt;
    return layout && !isDense(buffer, *layout);
  };
  // A buffer that is returned must not be freed.
  if (!llvm::any_of(function.getArgumentTypes(), hasLayout) ||
      !isEntry(function) ||
      llvm::any_of(function.getResultTypes(), llvm::IsaPred<BaseMemRefType>))
    return;
  SmallVector<func::ReturnOp> returns;
  function.walk([&](func::ReturnOp op) { returns.push_back(op); });
  for (BlockArgument argument : function.getArguments()) {
    if (!hasLayout(argument.getType()))
      continue;
    auto type = cast<MemRefType>(argument.getType());
    std::optional<StridedLayout> layout = findLayout(type);
    LDBG() << argument.getLoc() << ": an argument of type " << type
           << " is copied";
    ++numFlattened;
    Location loc = argument.getLoc();
    OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
    Value dense =
        memref::AllocOp::create(builder, loc, getDenseType(type, *layout));
    Value view = castToLayout(builder, loc, type, dense, *layout);
    argument.replaceAllUsesWith(view);
    argument.setType(MemRefType::get(type.getShape(), type.getElementType(),
                                     MemRefLayoutAttrInterface(),
                                     type.getMemorySpace()));
    memref::CopyOp::create(builder, loc, argument, view);
    for (func::ReturnOp op : returns) {
      builder.setInsertionPoint(op);
      memref::CopyOp::create(builder, loc, view, argument);
      memref::DeallocOp::create(builder, loc, dense);
    }
  }
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     function.getResultTypes()));
}

namespace {
struct FlattenAllocationsPass
    : public tessera::impl::TesseraFlattenAllocationsBase<
          FlattenAllocationsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<memref::AllocOp, memref::AllocaOp, memref::GlobalOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        flattenAllocation(alloc);
      else if (auto alloca = dyn_cast<memref::AllocaOp>(op))
        flattenAllocation(alloca);
      else
        flattenGlobal(cast<memref::GlobalOp>(op));
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      flattenArguments(function);
  }
};
} // namespace
