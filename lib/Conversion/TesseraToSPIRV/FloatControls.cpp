//===- FloatControls.cpp - Floating-point guarantees of kernels -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace mlir;
using namespace mlir::tessera;

void mlir::tessera::keepArithmetic(Operation *root) {
  root->walk([](Operation *op) {
    if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp,
            spirv::GLFmaOp>(op))
      op->setAttr("no_contraction", UnitAttr::get(op->getContext()));
  });
}

/// Whether `function` has arithmetic, comparisons or math functions on floats
/// of `bits` bits; matmuls do not count.
static bool computesWith(spirv::FuncOp function, unsigned bits) {
  return function
      .walk([&](Operation *op) {
        if (!isPure(op) ||
            isa<spirv::BitcastOp, spirv::CompositeConstructOp,
                spirv::CompositeExtractOp, spirv::CompositeInsertOp>(op))
          return WalkResult::advance();
        bool found = llvm::any_of(op->getOperandTypes(), [&](Type type) {
          Type element = getElementTypeOrSelf(type);
          return isa<FloatType, VectorType>(type) && isa<FloatType>(element) &&
                 element.getIntOrFloatBitWidth() == bits;
        });
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void mlir::tessera::keepNans(spirv::ModuleOp module, const Chip &chip) {
  OpBuilder b(module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto functions = llvm::to_vector(module.getOps<spirv::FuncOp>());
  for (spirv::FuncOp function : functions)
    for (unsigned bits : chip.keptNans)
      if (isEntryPoint(function) &&
          llvm::any_of(functions, [&](spirv::FuncOp other) {
            return (other == function || !isEntryPoint(other)) &&
                   computesWith(other, bits);
          }))
        spirv::ExecutionModeOp::create(
            b, function.getLoc(), function,
            spirv::ExecutionMode::SignedZeroInfNanPreserve,
            {static_cast<int32_t>(bits)});
}
