//===- InlineKernels.cpp - Put outlined kernels back in their launches ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

/// One of the extents of a launch.
Value get(const gpu::KernelDim3 &sizes, gpu::Dimension dimension) {
  return dimension == gpu::Dimension::x   ? sizes.x
         : dimension == gpu::Dimension::y ? sizes.y
                                          : sizes.z;
}

constexpr gpu::Dimension dimensions[] = {gpu::Dimension::x, gpu::Dimension::y,
                                         gpu::Dimension::z};

/// Computes the queries of clusters of `sizes` in the body of a launch from
/// those of workgroups.
void expandClusters(gpu::LaunchOp launch, const gpu::KernelDim3 &sizes) {
  OpBuilder builder(launch);
  for (gpu::Dimension dimension : dimensions) {
    Location loc = launch.getLoc();
    Value rest = arith::RemUIOp::create(
        builder, loc, get(launch.getGridSizeOperandValues(), dimension),
        get(sizes, dimension));
    Value isMultiple =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest,
                              arith::ConstantIndexOp::create(builder, loc, 0));
    cf::AssertOp::create(builder, loc, isMultiple,
                         "the grid must be a multiple of the cluster size");
  }
  SmallVector<Operation *> queries;
  launch.getBody().walk([&](Operation *op) {
    if (isa<gpu::ClusterIdOp, gpu::ClusterDimOp, gpu::ClusterDimBlocksOp,
            gpu::ClusterBlockIdOp>(op))
      queries.push_back(op);
  });
  for (Operation *op : queries) {
    builder.setInsertionPoint(op);
    Location loc = op->getLoc();
    auto dimension =
        op->getAttrOfType<gpu::DimensionAttr>("dimension").getValue();
    Value size = get(sizes, dimension);
    Value value = size;
    if (isa<gpu::ClusterDimOp>(op))
      value = arith::DivUIOp::create(
          builder, loc, gpu::GridDimOp::create(builder, loc, dimension), size);
    else if (!isa<gpu::ClusterDimBlocksOp>(op)) {
      value = gpu::BlockIdOp::create(builder, loc, dimension);
      value =
          isa<gpu::ClusterIdOp>(op)
              ? arith::DivUIOp::create(builder, loc, value, size).getResult()
              : arith::RemUIOp::create(builder, loc, value, size).getResult();
    }
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

gpu::LaunchOp inlineKernel(gpu::LaunchFuncOp call, gpu::GPUFuncOp kernel) {
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
  if (call.hasClusterSize()) {
    builder.setInsertionPoint(launch);
    expandClusters(launch, {index(call.getClusterSizeX()),
                            index(call.getClusterSizeY()),
                            index(call.getClusterSizeZ())});
  }
  call->replaceAllUsesWith(launch->getResults());
  call.erase();
  return launch;
}

/// The accesses of a launch or kernel to globals in workgroup memory.
SmallVector<memref::GetGlobalOp> findWorkgroupGlobals(Operation *root) {
  SmallVector<memref::GetGlobalOp> found;
  root->walk([&](memref::GetGlobalOp get) {
    if (gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
            cast<MemRefType>(get.getType())))
      found.push_back(get);
  });
  return found;
}

/// Each workgroup of a launch has its own globals in workgroup memory: they
/// become attributions of the launch.
void placeWorkgroupGlobals(gpu::LaunchOp launch) {
  llvm::MapVector<StringRef, Value> places;
  for (memref::GetGlobalOp get : findWorkgroupGlobals(launch)) {
    Value &place = places[get.getName()];
    if (!place)
      place = launch.addWorkgroupAttribution(get.getType(), get.getLoc());
    get.replaceAllUsesWith(place);
    get.erase();
  }
}

/// A launch in clusters becomes one without.
void dropClusters(gpu::LaunchOp launch) {
  gpu::KernelDim3 sizes = *launch.getClusterSizeOperandValues();
  OpBuilder builder = OpBuilder::atBlockBegin(&launch.getBody().front());
  gpu::KernelDim3 ids = *launch.getClusterIds(),
                  bodySizes = *launch.getClusterSize();
  // The region's ids of clusters become queries.
  for (gpu::Dimension dimension : dimensions) {
    get(ids, dimension)
        .replaceAllUsesWith(
            gpu::ClusterIdOp::create(builder, launch.getLoc(), dimension));
    get(bodySizes, dimension).replaceAllUsesWith(get(sizes, dimension));
  }
  constexpr unsigned first = 12, count = 6;
  launch.getBody().front().eraseArguments(first, count);
  launch.getClusterSizeXMutable().clear();
  launch.getClusterSizeYMutable().clear();
  launch.getClusterSizeZMutable().clear();
  expandClusters(launch, sizes);
}

struct InlineKernelsPass
    : public tessera::impl::TesseraInlineKernelsBase<InlineKernelsPass> {
  void runOnOperation() override {
    getOperation()->walk([](gpu::LaunchOp launch) {
      if (launch.hasClusterSize())
        dropClusters(launch);
    });
    SymbolTableCollection symbols;
    llvm::SetVector<Operation *> globals;
    SmallVector<gpu::LaunchOp> launches;
    getOperation()->walk(
        [&](gpu::LaunchOp launch) { launches.push_back(launch); });
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
      if (failed(collectGlobals(kernel, symbols, globals)))
        return signalPassFailure();
      placeWorkgroupGlobals(inlineKernel(call, kernel));
      ++numInlinedKernels;
      kernels.insert(kernel);
    }
    for (gpu::LaunchOp launch : launches) {
      if (failed(collectGlobals(launch, symbols, globals)))
        return signalPassFailure();
      placeWorkgroupGlobals(launch);
    }
    llvm::SetVector<Operation *> modules;
    for (Operation *kernel : kernels)
      if (SymbolTable::symbolKnownUseEmpty(kernel, getOperation())) {
        modules.insert(kernel->getParentOp());
        kernel->erase();
      }
    for (Operation *global : globals)
      if (SymbolTable::symbolKnownUseEmpty(global, global->getParentOp()))
        global->erase();
    for (Operation *module : modules)
      if (module->getRegion(0).front().empty())
        module->erase();
  }

  /// Adds the globals in workgroup memory that a launch or kernel refers to.
  static LogicalResult collectGlobals(Operation *root,
                                      SymbolTableCollection &symbols,
                                      llvm::SetVector<Operation *> &globals) {
    for (memref::GetGlobalOp get : findWorkgroupGlobals(root)) {
      auto global = symbols.lookupNearestSymbolFrom<memref::GlobalOp>(
          get, get.getNameAttr());
      if (!global)
        continue;
      if (isa_and_nonnull<ElementsAttr>(global.getInitialValueAttr()))
        return global.emitOpError()
               << "is in workgroup memory, which has no contents when a kernel "
                  "begins: declare it 'uninitialized', and store to it";
      globals.insert(global);
    }
    return success();
  }
};

} // namespace
