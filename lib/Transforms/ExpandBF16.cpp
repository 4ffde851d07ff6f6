//===- ExpandBF16.cpp - bf16 by integers ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a CPU without instructions for bf16, LLVM converts f32 to bf16 by a call
// of a library function for each element, and shuffles vectors of bf16 element
// by element through memory. It holds a short vector that comes from another
// block as f32, so that each branch converts back. Integers of the same bits
// have none of this.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDBF16
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-bf16"

using namespace mlir;

/// Whether an operand or a result of `op` has elements of bf16.
static bool hasBF16(Operation *op) {
  auto isBF16 = [](Type type) { return getElementTypeOrSelf(type).isBF16(); };
  return llvm::any_of(op->getOperandTypes(), isBF16) ||
         llvm::any_of(op->getResultTypes(), isBF16);
}

/// Whether `op` only moves elements, so that their type may be an integer.
static bool onlyMoves(Operation *op) {
  return isa<arith::BitcastOp, arith::SelectOp, arith::ConstantOp,
             vector::BitCastOp, vector::BroadcastOp, vector::ExtractOp,
             vector::FromElementsOp, vector::GatherOp, vector::InsertOp,
             vector::LoadOp, vector::MaskedLoadOp, vector::MaskedStoreOp,
             vector::ShuffleOp, vector::StoreOp, func::ReturnOp,
             UnrealizedConversionCastOp>(op) ||
         // The type of a global is elsewhere.
         (isa<memref::MemRefDialect, scf::SCFDialect, cf::ControlFlowDialect>(
              op->getDialect()) &&
          !isa<memref::GetGlobalOp>(op));
}

/// Replaces the type bf16 in `function` by i16.
static void replaceByIntegers(Operation *function) {
  AttrTypeReplacer replacer;
  auto i16 = IntegerType::get(function->getContext(), 16);
  replacer.addReplacement([=](BFloat16Type) -> Type { return i16; });
  replacer.addReplacement([=](FloatAttr value) -> std::optional<Attribute> {
    if (!value.getType().isBF16())
      return std::nullopt;
    return IntegerAttr::get(i16, value.getValue().bitcastToAPInt());
  });
  replacer.addReplacement(
      [=](DenseFPElementsAttr values) -> std::optional<Attribute> {
        if (!values.getElementType().isBF16())
          return std::nullopt;
        return values.mapValues(
            i16, [](const APFloat &value) { return value.bitcastToAPInt(); });
      });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  // Casts between the two have become the identity.
  function->walk([](arith::BitcastOp op) {
    if (op.getType() != op.getIn().getType())
      return;
    op.replaceAllUsesWith(op.getIn());
    op.erase();
  });
}

namespace {

struct ExpandBF16Pass
    : public tessera::impl::TesseraExpandBF16Base<ExpandBF16Pass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    // Callers and their functions agree on types.
    DenseSet<StringAttr> used;
    getOperation()->walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        used.insert(call.getCalleeAttr().getAttr());
      else if (auto address = dyn_cast<func::ConstantOp>(op))
        used.insert(address.getValueAttr().getAttr());
    });
    getOperation()->walk([&](func::FuncOp function) {
      if (used.contains(function.getSymNameAttr()))
        return;
      WalkResult result = function.walk([&](Operation *op) {
        if (op == function || !hasBF16(op) || onlyMoves(op))
          return WalkResult::advance();
        LDBG() << function.getName() << ": computes with bf16: " << *op;
        return WalkResult::interrupt();
      });
      if (!result.wasInterrupted())
        replaceByIntegers(function);
    });
  }
};

} // namespace
