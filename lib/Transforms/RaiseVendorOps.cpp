//===- RaiseVendorOps.cpp - Vendors' lane ops as portable code ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which ops the chip has, whether the others can be raised, and what of the
// kernel depends on the size of subgroups. VendorExpansion.cpp emits the code.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/Threads.h"
#include "Dialect/Tessera/Utils/VendorOps.h"
#include "TargetInfo/TargetInfo.h"
#include "Transforms/Passes.h"
#include "VendorExpansion.h"
#include "WorkgroupUniformity.h"

#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERARAISEVENDOROPS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-raise-vendor-ops"

STATISTIC(numRaisedOps, "Number of ops of vendors raised to portable code");

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Which ops
//===----------------------------------------------------------------------===//

/// Whether the lanes of a subgroup execute the op together.
static bool isCollective(Operation *op) {
  return getLaneMatmul(op) || isa<nvgpu::LdMatrixOp>(op);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The number of threads of the kernel's workgroups, if it is constant.
static std::optional<int64_t> getKernelThreads(Operation *kernel) {
  SmallVector<std::optional<int64_t>> sizes;
  if (auto launch = dyn_cast<gpu::LaunchOp>(kernel)) {
    gpu::KernelDim3 operands = launch.getBlockSizeOperandValues();
    for (Value size : {operands.x, operands.y, operands.z})
      sizes.push_back(getConstantIntValue(size));
  } else if (std::optional<ArrayRef<int32_t>> known =
                 cast<gpu::GPUFuncOp>(kernel).getKnownBlockSize()) {
    sizes.append(known->begin(), known->end());
  } else {
    return std::nullopt;
  }
  int64_t count = 1;
  for (std::optional<int64_t> size : sizes)
    if (!size || *size < 1 || llvm::MulOverflow(count, *size, count))
      return std::nullopt;
  return count;
}

namespace {

/// An op to raise.
struct VendorOp {
  Operation *op;
  /// Null unless it is a matrix instruction.
  const MatrixInstruction *row;
};

/// Raises the ops of one kernel.
class KernelRaising {
public:
  KernelRaising(Operation *kernel, const Chip &chip)
      : kernel(kernel), chip(chip), uniformity(kernel) {}

  LogicalResult run() {
    if (failed(findOps()))
      return failure();
    // Where the chip has the ops, its subgroups are those of the ops, except on
    // the host, which has no lanes.
    if (ops.empty() && chip.hasLanes())
      return success();
    if (failed(checkThreads()) || failed(resolveSubgroups()))
      return failure();
    if (!ops.empty())
      emitRemark();
    VendorExpansion expansion(kernel, numThreads);
    for (const VendorOp &vendorOp : ops)
      expansion.reserve(vendorOp.op, vendorOp.row, lanes);
    for (gpu::ShuffleOp shuffle : shuffles)
      expansion.reserve(shuffle, /*row=*/nullptr, lanes);
    expansion.allocate();
    for (const VendorOp &vendorOp : ops)
      expand(expansion, vendorOp);
    for (gpu::ShuffleOp shuffle : shuffles)
      expansion.expandShuffle(shuffle, lanes);
    replaceTokens();
    numRaisedOps += ops.size();
    return success();
  }

private:
  InFlightDiagnostic emitError(Operation *op) const {
    InFlightDiagnostic diag = op->emitOpError();
    diag << "cannot be raised to portable code, and " << chip.target << ":"
         << chip.name << " does not have it: ";
    return diag;
  }

  LogicalResult findOps() {
    WalkResult result = kernel->walk([&](Operation *op) {
      if (!isVendorLaneOp(op))
        return WalkResult::advance();
      bool isRaised = !keepsVendorOp(chip, op);
      const MatrixInstruction *row = nullptr;
      if (isRaised && failed(checkOp(op, row)))
        return WalkResult::interrupt();
      if (!first) {
        first = op;
        lanes = getNumVendorLanes(op);
      } else if (lanes != getNumVendorLanes(op)) {
        op->emitOpError() << "is for subgroups of " << getNumVendorLanes(op)
                          << " lanes, and next to " << first->getName()
                          << ", which is for subgroups of " << lanes;
        return WalkResult::interrupt();
      }
      if (isRaised)
        ops.push_back({op, row});
      hasCollectives |= isCollective(op);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Sets the row of a matrix instruction.
  LogicalResult checkOp(Operation *op, const MatrixInstruction *&row) const {
    std::optional<LaneMatmul> matmul = getLaneMatmul(op);
    if (!matmul)
      return success();
    if (!matmul->unsupported.empty())
      return emitError(op) << "it has " << matmul->unsupported;
    row = findOwnInstruction(op);
    if (!row)
      return emitError(op) << "no chip in the tables has an instruction of "
                              "this shape and these types";
    return success();
  }

  LogicalResult checkThreads() {
    for (const VendorOp &vendorOp : ops)
      if (isCollective(vendorOp.op) && failed(checkCollective(vendorOp.op)))
        return failure();
    return success();
  }

  /// The threads of a workgroup meet at `op`.
  LogicalResult checkCollective(Operation *op) {
    std::optional<int64_t> count = getKernelThreads(kernel);
    if (!count || *count % lanes)
      return emitError(op) << "the workgroup must have a constant number of "
                              "threads, a multiple of "
                           << lanes;
    numThreads = *count;
    if (numThreads == lanes || uniformity.isReachedByAll(op))
      return success();
    return emitError(op) << "the control flow around it may differ between "
                            "the subgroups of a workgroup";
  }

  /// Ops on subgroups mean those of `lanes` threads. Computes the queries, and
  /// finds the shuffles to expand.
  LogicalResult resolveSubgroups() {
    if (chip.subgroupSize == lanes)
      return success();
    // Copies beside fragments: the subgroups are those of the fragments.
    bool hasFragments =
        kernel
            ->walk([](Operation *op) {
              return isa_and_nonnull<TesseraDialect>(op->getDialect())
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            })
            .wasInterrupted();
    if (hasFragments && !hasCollectives)
      return success();
    RewritePatternSet patterns(kernel->getContext());
    for (unsigned bits : {32, 64}) {
      populateGpuLowerSubgroupReduceToShufflePatterns(
          patterns, static_cast<unsigned>(lanes), bits, 64 / bits);
      populateGpuLowerClusteredSubgroupReduceToShufflePatterns(
          patterns, static_cast<unsigned>(lanes), bits, 64 / bits);
    }
    walkAndApplyPatterns(kernel, std::move(patterns));
    SmallVector<Operation *> queries;
    WalkResult result = kernel->walk([&](Operation *op) {
      if (isa<gpu::LaneIdOp, gpu::SubgroupIdOp, gpu::SubgroupSizeOp,
              gpu::NumSubgroupsOp>(op)) {
        queries.push_back(op);
      } else if (auto shuffle = dyn_cast<gpu::ShuffleOp>(op)) {
        if (getConstantIntValue(shuffle.getWidth()) != lanes) {
          reject(op) << "its width must be " << lanes;
          return WalkResult::interrupt();
        }
        if (failed(checkCollective(op)))
          return WalkResult::interrupt();
        shuffles.push_back(shuffle);
      } else if (isa<gpu::SubgroupReduceOp, gpu::RotateOp,
                     gpu::SubgroupBroadcastOp, gpu::WarpExecuteOnLane0Op,
                     gpu::SubgroupMmaLoadMatrixOp, gpu::SubgroupMmaComputeOp>(
                     op) ||
                 isa_and_nonnull<TesseraDialect>(op->getDialect())) {
        reject(op) << "it cannot be raised";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (Operation *op : queries)
      resolve(op);
    return success();
  }

  InFlightDiagnostic reject(Operation *op) const {
    InFlightDiagnostic diag = op->emitOpError();
    diag << "is next to " << first->getName() << ", an op for subgroups of "
         << lanes << " lanes, and " << chip.target << ":" << chip.name
         << " has subgroups of " << chip.subgroupSize << ": ";
    return diag;
  }

  void resolve(Operation *op) const {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Value size = arith::ConstantIndexOp::create(builder, loc, lanes),
          value = size;
    if (isa<gpu::NumSubgroupsOp>(op))
      value = arith::CeilDivUIOp::create(builder, loc,
                                         emitNumThreads(builder, op), size);
    else if (isa<gpu::LaneIdOp>(op))
      value = arith::RemUIOp::create(builder, loc,
                                     emitLinearThread(builder, op), size);
    else if (isa<gpu::SubgroupIdOp>(op))
      value = arith::DivUIOp::create(builder, loc,
                                     emitLinearThread(builder, op), size);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  void emitRemark() const {
    llvm::MapVector<StringRef, int64_t> counts;
    for (const VendorOp &vendorOp : ops)
      ++counts[vendorOp.op->getName().getStringRef()];
    InFlightDiagnostic remark = kernel->emitRemark();
    remark << "raised to portable code, through workgroup memory: ";
    llvm::interleaveComma(counts, remark, [&](const auto &entry) {
      remark << entry.second << " " << entry.first;
    });
    bool hasAny = llvm::any_of(ops, [&](const VendorOp &vendorOp) {
      return hasInstruction(chip, vendorOp.op);
    });
    if (hasAny)
      remark << "; upstream has no lowering of such forms for " << chip.target
             << ":" << chip.name;
    else
      remark << "; " << chip.target << ":" << chip.name
             << " does not have such instructions";
  }

  void expand(VendorExpansion &expansion, const VendorOp &vendorOp) {
    Operation *op = vendorOp.op;
    LDBG() << op->getLoc() << ": " << op->getName();
    if (vendorOp.row)
      return expansion.expandMatmul(op, *vendorOp.row);
    if (auto load = dyn_cast<nvgpu::LdMatrixOp>(op))
      return expansion.expandLdMatrix(load);
    if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op))
      VendorExpansion::expandCopy(copy);
    // A thread's copies are complete: their tokens order nothing.
    OpBuilder builder(op);
    if (op->getNumResults() != 0) {
      op->getResult(0).replaceAllUsesWith(
          arith::ConstantIntOp::create(builder, op->getLoc(), 0, 32)
              .getResult());
      hasTokens = true;
    }
    op->erase();
  }

  void replaceTokens() const {
    if (!hasTokens)
      return;
    AttrTypeReplacer replacer;
    replacer.addReplacement(
        [](nvgpu::DeviceAsyncTokenType type) -> std::optional<Type> {
          return IntegerType::get(type.getContext(), 32);
        });
    replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/false,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }

  Operation *kernel;
  const Chip &chip;
  WorkgroupUniformity uniformity;
  /// The kernel's first op of a vendor, and those to raise.
  Operation *first = nullptr;
  SmallVector<VendorOp> ops;
  SmallVector<gpu::ShuffleOp> shuffles;
  int64_t lanes = 0, numThreads = 0;
  /// Whether lanes execute some of the vendor's ops together.
  bool hasCollectives = false;
  bool hasTokens = false;
};

struct RaiseVendorOpsPass
    : public tessera::impl::TesseraRaiseVendorOpsBase<RaiseVendorOpsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> kernels, threadOps;
    bool hasDescriptor = false;
    getOperation()->walk([&](Operation *op) {
      if (isa<nvgpu::TmaCreateDescriptorOp>(op)) {
        op->emitOpError() << "is not supported: the runtime creates no tensor "
                             "maps of programs; copy tiles by "
                             "nvgpu.device_async_copy, or write the kernel "
                             "with linalg, for which TMA is used";
        hasDescriptor = true;
      }
      if (isVendorThreadOp(op))
        threadOps.push_back(op);
      if (!isa<gpu::LaunchOp, gpu::GPUFuncOp>(op))
        return;
      bool hasOps = op->walk([](Operation *inner) {
                        return isVendorLaneOp(inner) ? WalkResult::interrupt()
                                                     : WalkResult::advance();
                      }).wasInterrupted();
      if (hasOps)
        kernels.push_back(op);
    });
    if (hasDescriptor)
      return signalPassFailure();
    if (kernels.empty() && threadOps.empty())
      return;
    FailureOr<const Chip *> chip = getChip(getOperation());
    if (failed(chip))
      return signalPassFailure();
    for (Operation *kernel : kernels)
      if (failed(KernelRaising(kernel, **chip).run()))
        return signalPassFailure();
    for (Operation *op : threadOps) {
      const TargetInfo *owner =
          findDialectOwner(op->getName().getDialectNamespace());
      if (owner && owner->name == (*chip)->target)
        continue;
      if (failed(expandVendorThreadOp(op)))
        return signalPassFailure();
    }
  }
};

} // namespace
