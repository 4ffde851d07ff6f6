//===- HoistConstantTensors.cpp - Compute constants once ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This runs before fusion, which would compute a constant anew in each kernel
// that reads it.
//
//===----------------------------------------------------------------------===//

#include "Graph/Passes.h"
#include "Loader.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAHOISTCONSTANTTENSORS
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-hoist-constant-tensors"

STATISTIC(numHoistedTensors, "Number of tensors computed by the loader");

using namespace mlir;
using namespace mlir::tessera;

/// Reshapes of a resource are resources of other shapes.
static void foldReshapes(func::FuncOp function) {
  SmallVector<Operation *> reshapes;
  function.walk([&](Operation *op) {
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      reshapes.push_back(op);
  });
  for (Operation *op : reshapes) {
    auto constant = op->getOperand(0).getDefiningOp<arith::ConstantOp>();
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    auto resource =
        constant ? dyn_cast<DenseResourceElementsAttr>(constant.getValue())
                 : DenseResourceElementsAttr();
    if (!resource || !type || !type.hasStaticShape() || type.getEncoding())
      continue;
    OpBuilder builder(op);
    op->replaceAllUsesWith(arith::ConstantOp::create(
        builder, op->getLoc(), type,
        DenseResourceElementsAttr::get(type, resource.getRawHandle())));
    op->erase();
  }
}

namespace {

/// The rows of the matmul `op`; nothing if it is not one, or has dynamic
/// extents.
static std::optional<int64_t> countRows(linalg::LinalgOp op, Value weights) {
  auto out = op->getNumResults() == 1
                 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                 : RankedTensorType();
  auto type = cast<RankedTensorType>(weights.getType());
  if (!linalg::isaContractionOpInterface(op) || !out || !out.hasStaticShape() ||
      type.getNumElements() == 0)
    return std::nullopt;
  int64_t k = 1;
  for (auto [extent, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::reduction)
      k *= extent;
  return out.getNumElements() * k / type.getNumElements();
}

/// Whether `value`, of floats that follow from integers of few bits, is an
/// operand of matmuls of so few rows that they take as long as it takes to
/// read: narrow integers are then read in less time, and widened in registers.
static bool isReadNarrow(Value value) {
  constexpr int64_t mostRows = 16;
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user))
             return isReadNarrow(user->getResult(0));
           auto op = dyn_cast<linalg::LinalgOp>(user);
           std::optional<int64_t> rows =
               op ? countRows(op, value) : std::optional<int64_t>();
           return rows && *rows <= mostRows;
         });
}

/// Whether `op` computes floats from constant integers of at most 8 bits that
/// are read where they are used.
static bool isDequantizedLater(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic->getNumResults() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(generic->getResult(0).getType())))
    return false;
  auto result = cast<RankedTensorType>(generic->getResult(0).getType());
  bool isNarrow = llvm::any_of(generic.getDpsInputs(), [&](Value input) {
    auto type = dyn_cast<RankedTensorType>(input.getType());
    return type && type.getElementType().isInteger() &&
           type.getElementTypeBitWidth() <= 8 && type.hasStaticShape() &&
           result.hasStaticShape() &&
           type.getNumElements() == result.getNumElements();
  });
  return isNarrow && isReadNarrow(generic->getResult(0));
}

/// The values of a function that follow from constants alone.
class ConstantValues {
public:
  explicit ConstantValues(func::FuncOp function) {
    for (Operation &op : function.getBody().front())
      if (follows(&op))
        values.insert(op.result_begin(), op.result_end());
  }

  bool contains(Value value) const { return values.contains(value); }

  /// Whether an op computes elements from those of constants, and no more of
  /// them than they have, up to padding: a broadcast is cheaper where it is
  /// read.
  bool isWorthwhile(Operation *op) const {
    if (!isa<linalg::LinalgOp, tensor::PadOp>(op) &&
        !op->hasTrait<OpTrait::Elementwise>())
      return false;
    if (isa<linalg::FillOp, linalg::BroadcastOp>(op) || isDequantizedLater(op))
      return false;
    int64_t most = 0;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    SmallVector<Value> inputs = linalgOp
                                    ? llvm::to_vector(linalgOp.getDpsInputs())
                                    : llvm::to_vector(op->getOperands());
    for (Value input : inputs)
      if (auto type = dyn_cast<RankedTensorType>(input.getType());
          type && !isSplat(input))
        most = std::max(most, type.getNumElements());
    constexpr int64_t mostPadding = 4;
    return llvm::all_of(op->getResultTypes(), [&](Type result) {
      auto type = dyn_cast<RankedTensorType>(result);
      return type && type.hasStaticShape() &&
             type.getNumElements() <= mostPadding * most;
    });
  }

private:
  static bool isSplat(Value value) {
    DenseElementsAttr elements;
    return matchPattern(value, m_Constant(&elements)) && elements.isSplat();
  }

  bool follows(Operation *op) const {
    if (!isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>() ||
        !llvm::all_of(op->getResultTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return tensor ? tensor.hasStaticShape() : type.isIntOrIndexOrFloat();
        }))
      return false;
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    return llvm::all_of(used, [&](Value value) { return contains(value); });
  }

  llvm::DenseSet<Value> values;
};

struct HoistConstantTensorsPass
    : public tessera::impl::TesseraHoistConstantTensorsBase<
          HoistConstantTensorsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!hasLiftedConstants(module))
      return;
    for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
      if (!function.isExternal() && function.getBody().hasOneBlock()) {
        foldReshapes(function);
        hoist(function);
      }
  }

  /// Whether a use of a constant reads it. One that is overwritten would be
  /// copied in each run.
  static bool isRead(OpOperand &use) {
    auto destination = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return !destination || !destination.isDpsInit(&use);
  }

  void hoist(func::FuncOp function) {
    ConstantValues constants(function);
    SmallVector<Value> hoisted;
    for (Operation &op : function.getBody().front()) {
      if (op.getNumResults() != 1 || !constants.contains(op.getResult(0)) ||
          !constants.isWorthwhile(&op))
        continue;
      Value result = op.getResult(0);
      // Whether the run reads it.
      bool isNeeded = llvm::any_of(result.getUses(), [&](OpOperand &use) {
        Operation *user = use.getOwner();
        return user->getNumResults() == 0 ||
               !constants.contains(user->getResult(0)) ||
               !constants.isWorthwhile(user);
      });
      if (isNeeded && llvm::all_of(result.getUses(), isRead))
        hoisted.push_back(result);
    }
    if (hoisted.empty())
      return;
    func::FuncOp loader = getLoader(getOperation());
    OpBuilder builder(loader.getBody().front().getTerminator());
    IRMapping mapping;
    for (Value value : hoisted) {
      LDBG() << value.getLoc() << ": computed by the loader";
      ++numHoistedTensors;
      repeat(value, mapping, builder);
      move(value, mapping.lookup(value), builder);
    }
  }

  /// Computes a value again, with what it follows from.
  static void repeat(Value value, IRMapping &mapping, OpBuilder &builder) {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value operand : used)
      repeat(operand, mapping, builder);
    builder.clone(*op, mapping);
  }

  /// Stores `computed` in a global, which replaces `value`.
  void move(Value value, Value computed, OpBuilder &builder) {
    Location loc = value.getLoc();
    auto type = cast<RankedTensorType>(value.getType());
    auto memory = MemRefType::get(type.getShape(), type.getElementType());
    std::string name = addComputedGlobal(getOperation(), loc, memory);
    Value destination = memref::GetGlobalOp::create(builder, loc, memory, name);
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, /*result=*/Type(), computed, destination,
        /*restrict=*/true, /*writable=*/true);
    OpBuilder own(value.getDefiningOp());
    Value global = memref::GetGlobalOp::create(own, loc, memory, name);
    value.replaceAllUsesWith(
        bufferization::ToTensorOp::create(own, loc, type, global,
                                          /*restrict=*/true));
  }
};

} // namespace
