//===- GroupOrder.cpp - Groups that issue matmuls in turn -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each group has a hardware barrier (PTX ISA, "bar"), at which it waits before
// its matmuls and at which the group before it arrives after its own. The last
// group arrives at that of the first one at the start of the kernel. All groups
// execute the same number of turns, since all loops of the kernel have the same
// bounds for the whole workgroup.
//
//===----------------------------------------------------------------------===//

#include "GroupOrder.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "PtxRegisters.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-use-bulk-copies"

using namespace mlir;
using namespace mlir::tessera;

/// The first and the last of the matmuls that a group issues before it lets the
/// next group continue. A group does no element-wise work between them.
using Turn = std::pair<MmaOp, MmaOp>;

static SmallVector<Turn> findTurns(Region &consumers) {
  SmallVector<Turn> turns;
  consumers.walk([&](Block *block) {
    bool isOpen = false;
    for (Operation &op : *block) {
      if (auto matmul = dyn_cast<MmaOp>(op)) {
        if (isOpen)
          turns.back().second = matmul;
        else
          turns.push_back({matmul, matmul});
        isOpen = true;
      } else if (op.getNumRegions() != 0 ||
                 isa<AwaitOp, ReduceOp, ConvertOp>(op)) {
        isOpen = false;
      }
    }
  });
  return turns;
}

/// Whether the matmuls are two or more, and the first one is waited for later.
static bool hasOverlap(const Turn &turn) {
  auto [first, last] = turn;
  return first != last &&
         first->hasAttr(TesseraDialect::OverlappedAttrHelper::getNameStr());
}

void mlir::tessera::orderGroups(gpu::GPUFuncOp kernel, Region &consumers,
                                int32_t threads, int32_t firstBarrier,
                                const Chip &chip) {
  // Three groups, of which two would always wait, took a quarter longer in
  // order (docs/benchmarks/h200-attention.md).
  constexpr int32_t orderedGroups = 2;
  auto group =
      static_cast<int32_t>(getFragmentGroup(kernel) * chip.subgroupSize);
  if (threads != orderedGroups * group)
    return;
  SmallVector<Turn> turns = findTurns(consumers);
  if (llvm::none_of(turns, hasOverlap))
    return;
  LDBG() << kernel.getName() << ": " << orderedGroups
         << " groups issue matmuls in turn, " << turns.size()
         << " turns in the program";

  Location loc = kernel.getLoc();
  auto number = [&](OpBuilder &builder, int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  auto arrive = [&](OpBuilder &builder, Value barrier) {
    emitAssembly(builder, loc,
                 "bar.arrive $0, " + std::to_string(threads) + ";", {barrier},
                 /*updated=*/{}, /*touchesMemory=*/true);
  };
  OpBuilder builder = OpBuilder::atBlockBegin(&consumers.front());
  Value thread = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                            emitLinearThread(builder, kernel));
  Value isLast =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, thread,
                            number(builder, threads - group));
  Value first = number(builder, firstBarrier),
        second = number(builder, firstBarrier + 1),
        own = arith::SelectOp::create(builder, loc, isLast, second, first),
        next = arith::SelectOp::create(builder, loc, isLast, first, second);
  auto branch = scf::IfOp::create(builder, loc, isLast,
                                  /*withElseRegion=*/false);
  OpBuilder start = branch.getThenBodyBuilder();
  arrive(start, next);
  for (auto [from, to] : turns) {
    builder.setInsertionPoint(from);
    NVVM::BarrierOp::create(builder, loc, TypeRange(), own,
                            number(builder, threads),
                            NVVM::BarrierReductionAttr(), Value());
    builder.setInsertionPointAfter(to);
    arrive(builder, next);
  }
}
