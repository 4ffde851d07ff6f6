//===- ExpandCollectives.cpp - Reductions over a workgroup ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   memory[thread] = value
//   barrier
//   for half of 32, 16, .. 1 (unrolled):
//     if thread < half and thread + half < count:
//       memory[thread] = memory[thread] op memory[thread + half]
//     barrier
//   result = memory[0]
//   barrier                        before the memory is used again
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Threads.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Utils/GPUUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDCOLLECTIVES
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-collectives"

STATISTIC(numExpandedReductions,
          "Number of reductions over a workgroup expanded");

using namespace mlir;
using namespace mlir::tessera;

/// The number of threads of a workgroup, if it is constant.
static std::optional<int64_t> getNumThreads(gpu::LaunchOp launch) {
  gpu::KernelDim3 sizes = launch.getBlockSizeOperandValues();
  int64_t count = 1;
  for (Value size : {sizes.x, sizes.y, sizes.z}) {
    std::optional<int64_t> constant = getConstantIntValue(size);
    if (!constant || *constant < 1 ||
        llvm::MulOverflow(count, *constant, count))
      return std::nullopt;
  }
  return count;
}

/// One step of the reduction: combines two values.
static Value combine(OpBuilder &builder, gpu::AllReduceOp op, Value left,
                     Value right) {
  if (std::optional<gpu::AllReduceOperation> kind = op.getOp())
    return vector::makeArithReduction(
        builder, op.getLoc(), gpu::convertReductionKind(*kind), left, right);
  Block &body = op.getBody().front();
  IRMapping mapping;
  mapping.map(body.getArgument(0), left);
  mapping.map(body.getArgument(1), right);
  for (Operation &inner : body.without_terminator())
    builder.clone(inner, mapping);
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

/// Replaces `op` by a tree of combinations in `memory`, of an element for each
/// of `count` threads.
static void expand(gpu::AllReduceOp op, Value memory, int64_t count) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value thread = emitLinearThread(builder, op);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  memref::StoreOp::create(builder, loc, op.getValue(), memory, thread);
  gpu::BarrierOp::create(builder, loc);
  for (auto half = static_cast<int64_t>(
           llvm::PowerOf2Ceil(static_cast<uint64_t>(count)) / 2);
       half > 0; half /= 2) {
    // A thread combines if it is one of the first half and its partner exists.
    Value active =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, thread,
                              constant(std::min(half, count - half)));
    auto branch = scf::IfOp::create(builder, loc, active);
    OpBuilder inner = branch.getThenBodyBuilder();
    Value other = arith::AddIOp::create(
        inner, loc, thread, arith::ConstantIndexOp::create(inner, loc, half));
    Value left = memref::LoadOp::create(inner, loc, memory, thread);
    Value right = memref::LoadOp::create(inner, loc, memory, other);
    memref::StoreOp::create(inner, loc, combine(inner, op, left, right), memory,
                            thread);
    gpu::BarrierOp::create(builder, loc);
  }
  Value result = memref::LoadOp::create(builder, loc, memory, constant(0));
  gpu::BarrierOp::create(builder, loc);
  op.replaceAllUsesWith(result);
  op.erase();
}

namespace {

struct ExpandCollectivesPass
    : public tessera::impl::TesseraExpandCollectivesBase<
          ExpandCollectivesPass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](gpu::LaunchOp launch) {
      return succeeded(expandLaunch(launch)) ? WalkResult::skip()
                                             : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult expandLaunch(gpu::LaunchOp launch) {
    SmallVector<gpu::AllReduceOp> ops;
    launch.getBody().walk([&](gpu::AllReduceOp op) { ops.push_back(op); });
    if (ops.empty())
      return success();
    std::optional<int64_t> count = getNumThreads(launch);
    if (!count)
      return ops.front().emitError()
             << "gpu.all_reduce requires a workgroup of a constant size";
    LDBG() << launch.getLoc() << ": " << ops.size() << " reductions over "
           << *count << " threads";
    // Reductions of one type use the same memory, one after the other.
    llvm::DenseMap<Type, Value> memory;
    for (gpu::AllReduceOp op : ops) {
      Type type = op.getType();
      bool isSupported = type.isIndex() || type.isF16() || type.isBF16() ||
                         type.isF32() || type.isF64() || type.isInteger(8) ||
                         type.isInteger(16) || type.isInteger(32) ||
                         type.isInteger(64);
      if (!isSupported)
        return op.emitError()
               << "gpu.all_reduce of " << type
               << " is not supported: use index, an integer of 8, 16, 32 or 64 "
                  "bits, f16, bf16, f32 or f64";
      if (op->getParentWithTrait<OpTrait::IsIsolatedFromAbove>() !=
          launch->getParentWithTrait<OpTrait::IsIsolatedFromAbove>())
        return op.emitError() << "must be in the body of its launch";
      if (!op.getOp() && !op.getBody().hasOneBlock())
        return op.emitError()
               << "the body of gpu.all_reduce must have a single block";
      Value &buffer = memory[type];
      if (!buffer)
        buffer = launch.addWorkgroupAttribution(
            MemRefType::get({*count}, type, MemRefLayoutAttrInterface(),
                            gpu::AddressSpaceAttr::get(
                                &getContext(), gpu::AddressSpace::Workgroup)),
            op.getLoc());
      expand(op, buffer, *count);
      ++numExpandedReductions;
    }
    return success();
  }
};

} // namespace
