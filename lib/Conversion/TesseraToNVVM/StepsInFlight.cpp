//===- StepsInFlight.cpp - Matmuls in flight across steps -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepsInFlight.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "TargetInfo/Chip.h"

using namespace mlir;
using namespace mlir::tessera;

/// One slot is kept longer, and with fewer remaining slots copies would be too
/// late.
static constexpr int64_t leastSlots = 4;

/// More groups keep the matrix unit busy by themselves: three took a hundredth
/// longer so, where two took a fifth less (docs/benchmarks/h200-schedules.md).
static constexpr int64_t mostGroups = 2;

MmaOp mlir::tessera::findMatmulInFlight(scf::ForOp loop,
                                        const StagingPlan &plan,
                                        const Chip &chip, int64_t threads) {
  const StagingStep *step = nullptr;
  for (const StagingStep &each : plan.steps) {
    if (!loop->isProperAncestor(CopyOp(each.copies.front())))
      continue;
    if (step)
      return {};
    step = &each;
  }
  if (!step || CopyOp(step->copies.front())->getBlock() != loop.getBody())
    return {};
  for (const TileSet &tiles : plan.tiles)
    for (CopyOp copy : step->copies)
      if (llvm::is_contained(tiles.memories, copy.getTarget()) &&
          tiles.slots < leastSlots)
        return {};

  MmaOp matmul;
  for (auto [load, supplier] : plan.suppliers) {
    if (&plan.steps[supplier] != step)
      continue;
    auto user =
        load->hasOneUse() ? dyn_cast<MmaOp>(*load->user_begin()) : MmaOp();
    if (!user || (matmul && user != matmul))
      return {};
    matmul = user;
  }
  if (!matmul || matmul->getBlock() != loop.getBody() ||
      matmul->hasAttr(TesseraDialect::OverlappedAttrHelper::getNameStr()))
    return {};
  auto name = matmul->getAttrOfType<StringAttr>(
      TesseraDialect::InstructionAttrHelper::getNameStr());
  const MatrixInstruction *row =
      name ? chip.findInstruction(name.getValue()) : nullptr;
  if (!row || !row->aInMemory || !row->bInMemory ||
      threads > mostGroups * row->subgroups * chip.subgroupSize ||
      row->sumsApart(matmul.getPrecision()))
    return {};
  // The iterations carry the sums, and nothing else.
  auto sums = dyn_cast<BlockArgument>(matmul.getAcc());
  if (!sums || sums.getOwner() != loop.getBody() || !sums.hasOneUse() ||
      sums.getArgNumber() == 0 || !matmul.getResult().hasOneUse())
    return {};
  OpOperand &use = *matmul.getResult().use_begin();
  if (use.getOwner() != loop.getBody()->getTerminator() ||
      use.getOperandNumber() + 1 != sums.getArgNumber())
    return {};
  return matmul;
}

void mlir::tessera::awaitMatmul(scf::ForOp loop, unsigned number) {
  Value sums = loop.getResult(number);
  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  auto await = AwaitOp::create(builder, loop.getLoc(), sums.getType(), sums,
                               /*kept=*/ValueRange(), /*pending=*/0);
  sums.replaceAllUsesExcept(await.getResult(), await);
}
