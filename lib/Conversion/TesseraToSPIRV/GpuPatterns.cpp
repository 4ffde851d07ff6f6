//===- GpuPatterns.cpp - The gpu dialect in kernels -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   gpu.thread_id..    built-in variables
//   gpu.barrier        spirv.ControlBarrier, with what the memory model asks
//                      for
//   gpu.shuffle        spirv.GroupNonUniformShuffle
//   gpu.return         spirv.Return
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Positions of threads
//===----------------------------------------------------------------------===//

namespace {

/// The workgroups of a kernel, and the device that runs them.
struct KernelShape {
  ArrayRef<int32_t> block;
  const Chip &chip;
  const SpirvEnvironment &environment;
};

/// Reads the position of a thread, by scalars of the index type.
class PositionReader {
public:
  PositionReader(OpBuilder &b, Operation *op, const KernelShape &shape)
      : b(b), op(op), shape(shape) {}

  Value read(spirv::BuiltIn builtin, unsigned dimension = 0);
  /// The position in the workgroup.
  Value readThread(gpu::Dimension dimension);
  /// The linear id over all threads of the workgroup, x first.
  Value readLinearThread();
  Value getExtent(gpu::Dimension dimension) {
    return constant(shape.block[static_cast<unsigned>(dimension)]);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, op->getLoc(), value);
  }

private:
  OpBuilder &b;
  Operation *op;
  const KernelShape &shape;
};

} // namespace

Value PositionReader::read(spirv::BuiltIn builtin, unsigned dimension) {
  // Numbers of three components have the width of an address with OpenCL, and
  // those of one component never.
  bool isNumber = builtin == spirv::BuiltIn::LocalInvocationId ||
                  builtin == spirv::BuiltIn::WorkgroupId ||
                  builtin == spirv::BuiltIn::NumWorkgroups;
  Type word = b.getIntegerType(isNumber ? shape.environment.numberBits : 32);
  Value vector = spirv::getBuiltinVariableValue(op, builtin, word, b);
  Value value = vector;
  if (isa<VectorType>(vector.getType()))
    value = spirv::CompositeExtractOp::create(b, op->getLoc(), vector,
                                              {int32_t(dimension)});
  return arith::IndexCastUIOp::create(b, op->getLoc(), b.getIndexType(), value);
}

Value PositionReader::readThread(gpu::Dimension dimension) {
  auto d = static_cast<unsigned>(dimension);
  ArrayRef<int32_t> block = shape.block;
  const Chip &chip = shape.chip;
  if (block[d] == 1)
    return constant(0);
  // The device decides how threads form subgroups.
  if (d == 0 && block[1] == 1 && block[2] == 1 && chip.hasLanes() &&
      block[0] % chip.subgroupSize == 0) {
    Value subgroup = read(spirv::BuiltIn::SubgroupId);
    Value lane = read(spirv::BuiltIn::SubgroupLocalInvocationId);
    Value size = constant(chip.subgroupSize);
    Value first = arith::MulIOp::create(b, op->getLoc(), subgroup, size);
    return arith::AddIOp::create(b, op->getLoc(), first, lane);
  }
  return read(spirv::BuiltIn::LocalInvocationId, d);
}

Value PositionReader::readLinearThread() {
  Value thread = readThread(gpu::Dimension::z);
  for (gpu::Dimension d : {gpu::Dimension::y, gpu::Dimension::x}) {
    Value extent = getExtent(d);
    thread = b.createOrFold<arith::MulIOp>(op->getLoc(), thread, extent);
    thread = b.createOrFold<arith::AddIOp>(op->getLoc(), thread, readThread(d));
  }
  return thread;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {

/// A pattern that knows the kernel.
template <typename Op> struct KernelPattern : OpRewritePattern<Op> {
  KernelPattern(MLIRContext *context, const KernelShape &shape)
      : OpRewritePattern<Op>(context), shape(shape) {}

  const KernelShape &shape;
};

/// Replaces a query of a position by the value that `Derived::read` returns.
template <typename Derived, typename Op>
struct PositionPattern : KernelPattern<Op> {
  using KernelPattern<Op>::KernelPattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    PositionReader reader(rewriter, op, this->shape);
    rewriter.replaceOp(op,
                       static_cast<const Derived *>(this)->read(op, reader));
    return success();
  }
};

struct ThreadIdPattern : PositionPattern<ThreadIdPattern, gpu::ThreadIdOp> {
  using PositionPattern::PositionPattern;
  Value read(gpu::ThreadIdOp op, PositionReader &reader) const {
    return reader.readThread(op.getDimension());
  }
};

struct BlockIdPattern : PositionPattern<BlockIdPattern, gpu::BlockIdOp> {
  using PositionPattern::PositionPattern;
  Value read(gpu::BlockIdOp op, PositionReader &reader) const {
    return reader.read(spirv::BuiltIn::WorkgroupId,
                       static_cast<unsigned>(op.getDimension()));
  }
};

struct GridDimPattern : PositionPattern<GridDimPattern, gpu::GridDimOp> {
  using PositionPattern::PositionPattern;
  Value read(gpu::GridDimOp op, PositionReader &reader) const {
    return reader.read(spirv::BuiltIn::NumWorkgroups,
                       static_cast<unsigned>(op.getDimension()));
  }
};

struct BlockDimPattern : PositionPattern<BlockDimPattern, gpu::BlockDimOp> {
  using PositionPattern::PositionPattern;
  Value read(gpu::BlockDimOp op, PositionReader &reader) const {
    return reader.getExtent(op.getDimension());
  }
};

struct GlobalIdPattern : KernelPattern<gpu::GlobalIdOp> {
  using KernelPattern::KernelPattern;
  LogicalResult matchAndRewrite(gpu::GlobalIdOp op,
                                PatternRewriter &rewriter) const override {
    PositionReader reader(rewriter, op, shape);
    Value group = reader.read(spirv::BuiltIn::WorkgroupId,
                              static_cast<unsigned>(op.getDimension()));
    Value extent = reader.getExtent(op.getDimension());
    Value first = arith::MulIOp::create(rewriter, op.getLoc(), group, extent);
    Value thread = reader.readThread(op.getDimension());
    rewriter.replaceOpWithNewOp<arith::AddIOp>(op, first, thread);
    return success();
  }
};

struct LaneIdPattern : PositionPattern<LaneIdPattern, gpu::LaneIdOp> {
  using PositionPattern::PositionPattern;
  Value read(gpu::LaneIdOp, PositionReader &reader) const {
    return shape.chip.hasLanes()
               ? reader.read(spirv::BuiltIn::SubgroupLocalInvocationId)
               : reader.constant(0);
  }
};

struct SubgroupIdPattern
    : PositionPattern<SubgroupIdPattern, gpu::SubgroupIdOp> {
  using PositionPattern::PositionPattern;
  Value read(gpu::SubgroupIdOp, PositionReader &reader) const {
    return shape.chip.hasLanes() ? reader.read(spirv::BuiltIn::SubgroupId)
                                 : reader.readLinearThread();
  }
};

struct SubgroupSizePattern
    : PositionPattern<SubgroupSizePattern, gpu::SubgroupSizeOp> {
  using PositionPattern::PositionPattern;
  Value read(gpu::SubgroupSizeOp, PositionReader &reader) const {
    return reader.constant(shape.chip.subgroupSize);
  }
};

struct BarrierPattern : KernelPattern<gpu::BarrierOp> {
  using KernelPattern::KernelPattern;
  LogicalResult matchAndRewrite(gpu::BarrierOp op,
                                PatternRewriter &rewriter) const override {
    emitBarrier(rewriter, op.getLoc(), spirv::Scope::Workgroup,
                shape.environment);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnPattern : OpRewritePattern<gpu::ReturnOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(gpu::ReturnOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<spirv::ReturnOp>(op);
    return success();
  }
};

struct ShufflePattern : OpRewritePattern<gpu::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(gpu::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getValid().use_empty())
      return rewriter.notifyMatchFailure(op, "the `valid` result is used");
    Value moved = emitShuffle(op, rewriter);
    rewriter.replaceAllUsesWith(op.getShuffleResult(), moved);
    rewriter.eraseOp(op);
    return success();
  }

private:
  static Value emitShuffle(gpu::ShuffleOp op, OpBuilder &b) {
    Location loc = op.getLoc();
    auto scope = spirv::ScopeAttr::get(b.getContext(), spirv::Scope::Subgroup);
    Value data = op.getValue(), by = op.getOffset();
    switch (op.getMode()) {
    case gpu::ShuffleMode::IDX:
      return spirv::GroupNonUniformShuffleOp::create(b, loc, scope, data, by);
    case gpu::ShuffleMode::XOR:
      return spirv::GroupNonUniformShuffleXorOp::create(b, loc, scope, data,
                                                        by);
    case gpu::ShuffleMode::UP:
      return spirv::GroupNonUniformShuffleUpOp::create(b, loc, scope, data, by);
    case gpu::ShuffleMode::DOWN:
      return spirv::GroupNonUniformShuffleDownOp::create(b, loc, scope, data,
                                                         by);
    }
    llvm_unreachable("unknown mode of a shuffle");
  }
};

} // namespace

LogicalResult mlir::tessera::convertGpuOps(spirv::FuncOp function,
                                           ArrayRef<int32_t> block,
                                           const Chip &chip) {
  KernelShape shape{block, chip, *getSpirvEnvironment(chip.target)};
  RewritePatternSet patterns(function.getContext());
  patterns.add<ThreadIdPattern, BlockIdPattern, GridDimPattern, BlockDimPattern,
               GlobalIdPattern, LaneIdPattern, SubgroupIdPattern,
               SubgroupSizePattern, BarrierPattern>(function.getContext(),
                                                    shape);
  patterns.add<ReturnPattern, ShufflePattern>(function.getContext());
  walkAndApplyPatterns(function, std::move(patterns));
  WalkResult result = function.walk([&](Operation *op) {
    if (!isa_and_nonnull<gpu::GPUDialect>(op->getDialect()))
      return WalkResult::advance();
    InFlightDiagnostic diagnostic = op->emitError();
    diagnostic << "target " << shape.environment.target << " does not support ";
    if (isa<gpu::ShuffleOp>(op))
      diagnostic << "the `valid` result of a shuffle";
    else
      diagnostic << op->getName();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void mlir::tessera::emitBarrier(OpBuilder &builder, Location loc,
                                spirv::Scope scope,
                                const SpirvEnvironment &environment,
                                bool ordersGlobal) {
  using S = spirv::MemorySemantics;
  auto semantics = S::AcquireRelease | S::WorkgroupMemory;
  if (ordersGlobal)
    semantics = semantics | environment.globalSemantics;
  if (environment.saysVisible)
    semantics = semantics | S::MakeAvailable | S::MakeVisible;
  spirv::ControlBarrierOp::create(builder, loc, scope, scope, semantics);
}
