//===- OrderLoads.cpp - Matrices where they are multiplied ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A driver's compiler preserves the order in which cooperative matrices are
// loaded. A step's matmuls are computed row by row: all matrices of b are
// needed for the first row, and one of a for each row. So b's loads are kept in
// place, and each of a's is loaded before its row of matmuls, while those of
// the previous row are in flight. On an H200, 4096 cubed of f16 is 306 TFLOP/s
// that way and 297 with all loads first (docs/benchmarks/h200-vulkan.md).
//
// If a is in registers already (the queries and weights of attention), it and
// the accumulators leave none for all matrices of b: each of b's is loaded
// right before its first matmul, too.
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether a load may be moved over `op`.
static bool isPassable(Operation *op) {
  return isa<spirv::LoadOp, spirv::KHRCooperativeMatrixLoadOp,
             spirv::KHRCooperativeMatrixMulAddOp>(op) ||
         (op->getNumRegions() == 0 && isPure(op));
}

/// The first matmul of `load`'s block that uses it; null if it has other uses,
/// or is an operand b while a is of this block.
static Operation *findFirstMatmul(spirv::KHRCooperativeMatrixLoadOp load) {
  Operation *first = nullptr;
  for (OpOperand &use : load.getResult().getUses()) {
    auto matmul = dyn_cast<spirv::KHRCooperativeMatrixMulAddOp>(use.getOwner());
    if (!matmul || matmul->getBlock() != load->getBlock())
      return nullptr;
    if (matmul.getA() != load.getResult()) {
      Operation *a = matmul.getA().getDefiningOp();
      if (matmul.getB() != load.getResult() ||
          (a && a->getBlock() == load->getBlock()))
        return nullptr;
    }
    if (!first || matmul->isBeforeInBlock(first))
      first = matmul;
  }
  return first;
}

void mlir::tessera::orderLoads(gpu::GPUFuncOp kernel) {
  SmallVector<spirv::KHRCooperativeMatrixLoadOp> loads;
  kernel.walk(
      [&](spirv::KHRCooperativeMatrixLoadOp op) { loads.push_back(op); });
  for (spirv::KHRCooperativeMatrixLoadOp load : loads) {
    Operation *matmul = findFirstMatmul(load);
    if (!matmul)
      continue;
    Operation *next = load->getNextNode();
    while (next != matmul && isPassable(next))
      next = next->getNextNode();
    load->moveBefore(next);
  }
}
