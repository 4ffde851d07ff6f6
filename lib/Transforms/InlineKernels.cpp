//===- InlineKernels.cpp - Put outlined kernels back in their launches ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAINLINEKERNELS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-inline-kernels"

STATISTIC(numInlinedKernels, "Number of launches of kernels inlined");

using namespace mlir;

namespace {

/// A launch's sizes may be narrower than index.
Value toIndex(OpBuilder &builder, Value value) {
  if (!value || value.getType().isIndex())
    return value;
  return arith::IndexCastOp::create(builder, value.getLoc(),
                                    builder.getIndexType(), value);
}

void inlineKernel(gpu::LaunchFuncOp call, gpu::GPUFuncOp kernel) {
  OpBuilder builder(call);
  auto getTypes = [](ArrayRef<BlockArgument> values) {
    return llvm::map_to_vector(
        values, [](BlockArgument value) { return value.getType(); });
  };
  auto index = [&](Value value) { return toIndex(builder, value); };
  auto launch = gpu::LaunchOp::create(
      builder, call.getLoc(), index(call.getGridSizeX()),
      index(call.getGridSizeY()), index(call.getGridSizeZ()),
      index(call.getBlockSizeX()), index(call.getBlockSizeY()),
      index(call.getBlockSizeZ()), call.getDynamicSharedMemorySize(),
      call.getAsyncToken() ? call.getAsyncToken().getType() : Type(),
      call.getAsyncDependencies(), getTypes(kernel.getWorkgroupAttributions()),
      getTypes(kernel.getPrivateAttributions()));
  IRMapping mapping;
  mapping.map(kernel.getArguments().take_front(call.getNumKernelOperands()),
              call.getKernelOperands());
  mapping.map(kernel.getWorkgroupAttributions(),
              launch.getWorkgroupAttributions());
  mapping.map(kernel.getPrivateAttributions(), launch.getPrivateAttributions());

  Region &body = launch.getBody();
  kernel.getBody().cloneInto(&body, mapping);
  Block *first = mapping.lookup(&kernel.getBody().front());
  body.front().getOperations().splice(body.front().end(),
                                      first->getOperations());
  first->erase();
  for (Block &block : body)
    if (auto end = dyn_cast<gpu::ReturnOp>(block.getTerminator())) {
      builder.setInsertionPoint(end);
      gpu::TerminatorOp::create(builder, end.getLoc());
      end.erase();
    }
  call->replaceAllUsesWith(launch->getResults());
  call.erase();
}

struct InlineKernelsPass
    : public tessera::impl::TesseraInlineKernelsBase<InlineKernelsPass> {
  /// No runtime launches in clusters of a hand-written kernel's size.
  LogicalResult rejectClusters() {
    WalkResult result = getOperation()->walk([](Operation *op) {
      auto call = dyn_cast<gpu::LaunchFuncOp>(op);
      auto launch = dyn_cast<gpu::LaunchOp>(op);
      if ((!call || !call.hasClusterSize()) &&
          (!launch || !launch.hasClusterSize()))
        return WalkResult::advance();
      op->emitError() << "launches in clusters are not supported: remove the "
                         "cluster size and the reads of cluster ids";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    if (failed(rejectClusters()))
      return signalPassFailure();
    SymbolTableCollection symbols;
    SmallVector<std::pair<gpu::LaunchFuncOp, gpu::GPUFuncOp>> calls;
    getOperation().walk([&](gpu::LaunchFuncOp call) {
      auto kernel = symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(
          call, call.getKernelAttr());
      // A gpu.launch cannot represent a queue of the caller's.
      if (kernel && !call.getAsyncObject())
        calls.emplace_back(call, kernel);
      else
        LDBG() << call.getLoc() << ": not inlined: "
               << (kernel ? "it has a queue" : "its kernel is not a gpu.func");
    });
    llvm::SetVector<Operation *> kernels;
    for (auto [call, kernel] : calls) {
      LDBG() << call.getLoc() << ": inlines " << kernel.getName();
      inlineKernel(call, kernel);
      ++numInlinedKernels;
      kernels.insert(kernel);
    }
    llvm::SetVector<Operation *> modules;
    for (Operation *kernel : kernels)
      if (SymbolTable::symbolKnownUseEmpty(kernel, getOperation())) {
        modules.insert(kernel->getParentOp());
        kernel->erase();
      }
    for (Operation *module : modules)
      if (module->getRegion(0).front().empty())
        module->erase();
  }
};

} // namespace
