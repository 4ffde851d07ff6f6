//===- ExpandKernelLinalg.cpp - Linalg in hand-written kernels ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDKERNELLINALG
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-kernel-linalg"

STATISTIC(numExpandedLinalgOps,
          "Number of linalg ops in kernels lowered to loops");

using namespace mlir;
using namespace mlir::tessera;

namespace {

struct ExpandKernelLinalgPass
    : public tessera::impl::TesseraExpandKernelLinalgBase<
          ExpandKernelLinalgPass> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](gpu::LaunchOp launch) {
      launch.getBody().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
      return WalkResult::skip();
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      if (!op.hasPureBufferSemantics()) {
        op->emitError()
            << "linalg on tensors in a gpu.launch is not supported: "
               "use memrefs, or move it out of the launch";
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(op);
      if (failed(linalg::linalgOpToLoops(rewriter, op))) {
        op->emitError() << "cannot be lowered to loops in a gpu.launch: use a "
                           "linalg op on memrefs";
        return signalPassFailure();
      }
      LDBG() << op.getLoc() << ": " << op->getName() << " to "
             << op.getNumLoops() << " loops";
      ++numExpandedLinalgOps;
      rewriter.eraseOp(op);
    }
  }
};

} // namespace
