//===- EpilogueVectors.cpp - Early loads of epilogue vectors --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueVectors.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace mlir::tessera;

/// The registers that matmuls need besides their accumulators: addresses,
/// slots, and loop counters. ptxas uses 40 for the largest tiles.
static constexpr int64_t registersOfSteps = 48;

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

/// The loop of matmuls that precedes `op` in its block, and the registers of
/// the sums there.
static std::optional<std::pair<scf::ForOp, int64_t>>
findMatmuls(Operation *op, const Chip &chip) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    auto loop = dyn_cast<scf::ForOp>(before);
    if (!loop)
      continue;
    int64_t sums = 0;
    bool isKnown = true;
    loop.walk([&](MmaOp matmul) {
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
    return std::pair(loop, sums);
  }
  return std::nullopt;
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
  llvm::DenseMap<Operation *, int64_t> taken;
  DominanceInfo dominance(kernel);
  for (BroadcastOp op : vectors) {
    auto matmuls = findMatmuls(op, chip);
    std::optional<int64_t> count =
        countRegisters(op.getResult().getType(), chip, op.getDimension());
    if (!matmuls || !count)
      continue;
    auto [loop, sums] = *matmuls;
    int64_t &used = taken[loop];
    if (sums + registersOfSteps + used + *count > registers ||
        !dominance.dominates(op.getIndex(), loop))
      continue;
    used += *count;
    op->moveBefore(loop);
  }
}
