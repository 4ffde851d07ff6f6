//===- SerializeAsync.cpp - Run asynchronous host ops in order ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERASERIALIZEASYNC
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-serialize-async"

STATISTIC(numSerializedOps, "Number of ops of the host that lost a token or "
                            "became an op without one");

using namespace mlir;

namespace {

/// The same op without results that are tokens.
void dropTokens(Operation *op, IRRewriter &rewriter) {
  SmallVector<Type> types;
  SmallVector<Value> kept;
  for (Value result : op->getResults())
    if (!isa<gpu::AsyncTokenType>(result.getType())) {
      types.push_back(result.getType());
      kept.push_back(result);
    }
  if (types.size() == op->getNumResults())
    return;
  rewriter.setInsertionPoint(op);
  Operation *copy = Operation::create(
      op->getLoc(), op->getName(), types, op->getOperands(),
      op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
      /*successors=*/{}, op->getNumRegions());
  rewriter.insert(copy);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    to.takeBody(from);
  for (auto [from, to] : llvm::zip_equal(kept, copy->getResults()))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.eraseOp(op);
}

struct SerializeAsyncPass
    : public tessera::impl::TesseraSerializeAsyncBase<SerializeAsyncPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    SmallVector<func::CallOp> calls;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<gpu::GPUModuleOp>(op))
        return WalkResult::skip();
      if (auto call = dyn_cast<func::CallOp>(op))
        calls.push_back(call);
      if (isa<gpu::AsyncOpInterface, gpu::HostRegisterOp, gpu::HostUnregisterOp,
              gpu::SetDefaultDeviceOp>(op))
        ops.push_back(op);
      return WalkResult::advance();
    });
    IRRewriter rewriter(&getContext());
    for (func::CallOp call : calls)
      replaceCall(call, rewriter);
    // The state of a queue of the caller's, an LLVM pointer, is unknown.
    llvm::erase_if(ops, [](Operation *op) {
      auto launch = dyn_cast<gpu::LaunchFuncOp>(op);
      return launch && launch.getAsyncObject();
    });
    for (Operation *op : ops)
      // The methods of the interface only add dependencies.
      llvm::TypeSwitch<Operation *>(op)
          .Case<gpu::AllocOp, gpu::DeallocOp, gpu::MemcpyOp, gpu::MemsetOp,
                gpu::WaitOp, gpu::LaunchOp, gpu::LaunchFuncOp>(
              [](auto op) { op.getAsyncDependenciesMutable().clear(); });
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (isa<gpu::AsyncTokenType>(result.getType()) && !result.use_empty()) {
          InFlightDiagnostic diagnostic =
              op->emitError() << "the token of this op is used by an op other "
                                 "than one of the gpu dialect on the host; "
                                 "wait for it with gpu.wait instead";
          diagnostic.attachNote(result.getUsers().begin()->getLoc())
              << "it is used here";
          return signalPassFailure();
        }
    for (Operation *op : ops)
      serialize(op, rewriter);
  }

  void serialize(Operation *op, IRRewriter &rewriter) {
    bool hadToken = false;
    for (Type type : op->getResultTypes())
      hadToken |= isa<gpu::AsyncTokenType>(type);
    Location loc = op->getLoc();
    rewriter.setInsertionPoint(op);
    LDBG() << loc << ": " << op->getName();
    numSerializedOps += hadToken || !isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op);
    if (auto alloc = dyn_cast<gpu::AllocOp>(op)) {
      Value memory = memref::AllocOp::create(
          rewriter, loc, alloc.getType(), alloc.getDynamicSizes(),
          alloc.getSymbolOperands(), /*alignment=*/IntegerAttr());
      rewriter.replaceAllUsesWith(alloc.getMemref(), memory);
      rewriter.eraseOp(op);
    } else if (auto dealloc = dyn_cast<gpu::DeallocOp>(op)) {
      memref::DeallocOp::create(rewriter, loc, dealloc.getMemref());
      rewriter.eraseOp(op);
    } else if (auto copy = dyn_cast<gpu::MemcpyOp>(op)) {
      memref::CopyOp::create(rewriter, loc, copy.getSrc(), copy.getDst());
      rewriter.eraseOp(op);
    } else if (auto fill = dyn_cast<gpu::MemsetOp>(op)) {
      linalg::FillOp::create(rewriter, loc, fill.getValue(), fill.getDst());
      rewriter.eraseOp(op);
    } else if (isa<gpu::WaitOp, gpu::HostRegisterOp, gpu::HostUnregisterOp,
                   gpu::SetDefaultDeviceOp>(op)) {
      rewriter.eraseOp(op);
    } else {
      dropTokens(op, rewriter);
    }
  }

  /// Functions of upstream's GPU runners, whose memory has two addresses.
  void replaceCall(func::CallOp call, IRRewriter &rewriter) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || !callee.isExternal())
      return;
    StringRef name = call.getCallee();
    rewriter.setInsertionPoint(call);
    if (name.starts_with("mgpuMemGetDeviceMemRef") &&
        call.getNumOperands() == 1 && call.getNumResults() == 1 &&
        call.getOperand(0).getType() == call.getResult(0).getType())
      rewriter.replaceOp(call, call.getOperands());
    else if ((name.starts_with("fillResource") ||
              name.starts_with("fillF32Buffer") ||
              name.starts_with("fillI32Buffer")) &&
             call.getNumOperands() == 2 && call.getNumResults() == 0 &&
             isa<MemRefType>(call.getOperand(0).getType())) {
      linalg::FillOp::create(rewriter, call.getLoc(), call.getOperand(1),
                             call.getOperand(0));
      rewriter.eraseOp(call);
    }
  }
};

} // namespace
