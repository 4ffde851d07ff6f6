//===- EpilogueVectors.cpp - Early loads of epilogue vectors --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueVectors.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Target/NVIDIA/BulkCopies.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace mlir::tessera;

/// The registers of a lane for a fragment of that type: for a vector whose
/// elements are `broadcast` along the other dimension, each once. Empty if no
/// instruction defines the layout.
static std::optional<int64_t>
countRegisters(FragmentType type, const Chip &chip,
               std::optional<unsigned> broadcast = std::nullopt) {
  StringAttr name = type.getInstruction();
  const MatrixInstruction *row =
      name ? chip.findInstruction(name.getValue()) : nullptr;
  if (!row)
    return std::nullopt;
  const LaneMap &tile = row->getMap(type.getRole());
  LaneMap map = broadcast ? tile.dropDimension(*broadcast) : tile;
  int64_t rows = type.getRows() / tile.getRows(),
          cols = type.getCols() / tile.getCols(),
          tiles = !broadcast        ? rows * cols
                  : *broadcast == 0 ? cols
                                    : rows;
  return llvm::divideCeil(tiles * map.getNumRegisters() *
                              getElementBits(type.getElementType()),
                          32);
}

/// The matmuls that precede `op` in its block, in a loop or, with a single
/// step, in the block itself, and the registers of the sums there.
static std::optional<std::pair<Operation *, int64_t>>
findMatmuls(Operation *op, const Chip &chip) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (!isa<scf::ForOp, MmaOp>(before))
      continue;
    int64_t sums = 0;
    bool isKnown = true;
    before->walk([&](MmaOp matmul) {
      std::optional<int64_t> count =
          countRegisters(matmul.getAcc().getType(), chip);
      isKnown &= count.has_value();
      auto name = matmul->getAttrOfType<StringAttr>(
          TesseraDialect::InstructionAttrHelper::getNameStr());
      const MatrixInstruction *row =
          name ? chip.findInstruction(name.getValue()) : nullptr;
      bool isApart = row && row->sumsApart(matmul.getPrecision());
      sums += count.value_or(0) * (isApart ? 2 : 1);
    });
    if (!sums || !isKnown)
      return std::nullopt;
    return std::pair(before, sums);
  }
  return std::nullopt;
}

/// The first op before which `op` may be in the block of `matmul`: before the
/// wait for the tiles of its step.
static Operation *findStep(Operation *matmul, BroadcastOp op) {
  Operation *first = &matmul->getBlock()->front();
  for (Value value : op->getOperands())
    if (Operation *def = value.getDefiningOp();
        def && def->getBlock() == first->getBlock() &&
        !def->isBeforeInBlock(first))
      first = def->getNextNode();
  return first;
}

/// Whether nothing but loads touches `memory`.
static bool isOnlyRead(Value memory) {
  return isa<BlockArgument>(memory) &&
         llvm::all_of(memory.getUsers(), [](Operation *user) {
           return isa<BroadcastOp, LoadOp>(user);
         });
}

void mlir::tessera::loadVectorsEarly(gpu::GPUFuncOp kernel, const Chip &chip,
                                     int64_t registers) {
  SmallVector<BroadcastOp> vectors;
  kernel.walk([&](BroadcastOp op) {
    if (isa<MemRefType>(op.getSource().getType()) && isOnlyRead(op.getSource()))
      vectors.push_back(op);
  });
  // So that an index that is the same in all iterations is known before a loop.
  for (BroadcastOp op : vectors)
    for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
         loop = loop->getParentOfType<scf::ForOp>())
      moveLoopInvariantCode(loop);
  llvm::DenseMap<Operation *, int64_t> taken;
  DominanceInfo dominance(kernel);
  for (BroadcastOp op : vectors) {
    auto matmuls = findMatmuls(op, chip);
    std::optional<int64_t> count =
        countRegisters(op.getResult().getType(), chip, op.getDimension());
    if (!matmuls || !count)
      continue;
    auto [matmul, sums] = *matmuls;
    int64_t &used = taken[matmul];
    if (sums + registersOfSteps + used + *count > registers ||
        !dominance.dominates(op.getIndex(), matmul))
      continue;
    used += *count;
    // A loop begins with a wait for its first step, which precedes the matmul
    // of a single one.
    op->moveBefore(isa<scf::ForOp>(matmul) ? matmul : findStep(matmul, op));
    // All tiles of a workgroup may be in the same columns.
    while (auto tiles = dyn_cast<scf::ForOp>(op->getParentOp())) {
      if (!tiles.isDefinedOutsideOfLoop(op.getIndex()))
        break;
      op->moveBefore(tiles);
    }
  }
}
