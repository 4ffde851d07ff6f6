//===- RegisterRequest.cpp - Kernels that ask for more registers ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Spirv.h"
#include "Target/KernelFacts.h"
#include "TargetInfo/Chip.h"

#include "mlir/Analysis/Liveness.h"

using namespace mlir;
using namespace mlir::tessera;

/// The 4-byte registers of a thread for a fragment; at least one for each
/// element if it `widens` narrower ones.
static int64_t countRegisters(Value fragment, bool widens, const Chip &chip) {
  auto type = dyn_cast<FragmentType>(fragment.getType());
  if (!type || isOpaque(chip, type))
    return 0;
  FailureOr<TileLayout> layout = getTileLayout(chip, type);
  if (failed(layout) || layout->inMemory)
    return 0;
  int64_t ofElement = getElementBits(type.getElementType()),
          bits = layout->getNumTiles() * layout->map.getNumRegisters() *
                 (widens ? std::max<int64_t>(ofElement, 32) : ofElement);
  return static_cast<int64_t>(llvm::divideCeil(bits, 32));
}

/// The registers of all fragments that are live when `op` is executed. Ops
/// other than matmuls compute with elements of four bytes.
static int64_t countLive(const Liveness &liveness, Operation *op,
                         const Chip &chip) {
  int64_t registers = 0;
  bool widens = !isa<MmaOp>(op);
  for (Value value :
       liveness.getLiveness(op->getBlock())->currentlyLiveValues(op))
    if (value.getDefiningOp() != op)
      registers += countRegisters(value, widens, chip);
  // Values that loops around it do not change, and that are used after them.
  for (Operation *parent = op->getParentOp();
       parent && !isa<gpu::GPUFuncOp>(parent); parent = parent->getParentOp())
    for (Value value :
         liveness.getLiveness(parent->getBlock())->currentlyLiveValues(parent))
      if (value.getDefiningOp() != parent &&
          !llvm::is_contained(parent->getOperands(), value) &&
          llvm::none_of(value.getUsers(), [&](Operation *user) {
            return parent->isProperAncestor(user);
          }))
        registers += countRegisters(value, widens, chip);
  return registers;
}

void mlir::tessera::requestRegisters(gpu::GPUFuncOp kernel, const Chip &chip) {
  if (chip.largeRegistersPerThread <= chip.registersPerThread)
    return;
  // A compute unit has them for this number of threads, and runs the whole
  // workgroup.
  int64_t threads = 1;
  for (int32_t extent :
       kernel.getKnownBlockSize().value_or(ArrayRef<int32_t>()))
    threads *= extent;
  if (threads * chip.largeRegistersPerThread > chip.registersPerWorkgroup)
    return;
  Liveness liveness(kernel);
  int64_t most = 0;
  // Epilogues that read matrices have more live than matmuls have.
  kernel.walk([&](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<FragmentType>))
      most = std::max(most, countLive(liveness, op, chip));
  });
  // A quarter of the registers is for addresses; a gather needs one, and a
  // condition, for each of the elements on their way to workgroup memory.
  bool gathers = false;
  kernel.walk([&](CopyOp op) { gathers |= op.isGather(); });
  int64_t share = gathers && most > 0 ? 2 : 3;
  if (most > chip.registersPerThread / 4 * share)
    kernel->setAttr(TesseraDialect::RegistersAttrHelper::getNameStr(),
                    Builder(kernel.getContext())
                        .getI64IntegerAttr(chip.largeRegistersPerThread));
}
