//===- VThreadUniformity.cpp - Uniformity over vthreads -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VThreadUniformity.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::isCollective(Operation *op) {
  return isa<gpu::BarrierOp, WaitOp>(op);
}

Operation *mlir::tessera::findCollective(Operation *op) {
  Operation *found = nullptr;
  op->walk([&](Operation *inner) {
    found = isCollective(inner) ? inner : nullptr;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

/// Whether `op`, regions aside, only computes and reads.
static bool onlyReads(Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
           op->hasTrait<OpTrait::IsTerminator>();
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::all_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read>(effect.getEffect());
  });
}

VThreadUniformity::VThreadUniformity(VThreadOp op, bool shareFragments)
    : body(op.getBody()), shareFragments(shareFragments) {
  Block &block = body.front();
  unsigned rank = op.getGrid().size();
  for (auto [d, extent] : llvm::enumerate(op.getGrid()))
    if (extent > 1)
      mark(block.getArgument(d));
  for (unsigned i = 0; i < op.getNumPrivates(); ++i)
    for (int64_t t = 1; t < op.getNumVThreads(); ++t)
      if (op.getPrivate(i, t) != op.getPrivate(i, 0))
        mark(block.getArgument(rank + i));
  do {
    changed = false;
    body.walk([&](Operation *inner) { visit(inner); });
  } while (changed);
}

void VThreadUniformity::mark(Value value) {
  if (shareFragments && isa<FragmentType>(value.getType()))
    return;
  changed |= divergent.insert(value).second;
}

bool VThreadUniformity::isUniform(Operation *op) const {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return false;
  return !op->walk([&](Operation *inner) {
              bool good = onlyReads(inner) &&
                          llvm::all_of(inner->getOperands(), [&](Value value) {
                            return isUniform(value);
                          });
              return good ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

bool VThreadUniformity::isForwardedDivergent(
    OpOperand &operand, const RegionBranchSuccessorMapping &mapping) const {
  auto found = mapping.find(&operand);
  return found != mapping.end() &&
         llvm::any_of(found->second,
                      [&](Value input) { return !isUniform(input); });
}

OpOperand *
VThreadUniformity::findDivergentControl(RegionBranchOpInterface op) const {
  RegionBranchSuccessorMapping mapping;
  op.getSuccessorOperandInputMapping(mapping);
  auto find = [&](Operation *branch) -> OpOperand * {
    for (OpOperand &operand : branch->getOpOperands())
      if (!mapping.contains(&operand) && !isUniform(operand.get()))
        return &operand;
    return nullptr;
  };
  if (OpOperand *operand = find(op))
    return operand;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        if (OpOperand *operand = find(block.getTerminator()))
          return operand;
  return nullptr;
}

void VThreadUniformity::visitBranch(RegionBranchOpInterface op) {
  if (findDivergentControl(op)) {
    markAll(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        markAll(block.getArguments());
    return;
  }
  // All values that one value is forwarded to diverge together.
  RegionBranchSuccessorMapping mapping;
  op.getSuccessorOperandInputMapping(mapping);
  for (auto &[operand, inputs] : mapping)
    if (!isUniform(operand->get()) || isForwardedDivergent(*operand, mapping))
      markAll(inputs);
}

void VThreadUniformity::visit(Operation *op) {
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    visitBranch(branch);
  else if (op->getNumResults() && !isUniform(op))
    markAll(op->getResults());
}
