//===- BulkCopies.cpp - Pipelined copies by the bulk copy engine ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pipeline is the memories that a `tessera.wait steps` names, the copies to
// them, and the waits for them. Each slot has an mbarrier (PTX ISA, "Parallel
// Synchronization and Communication Instructions: mbarrier"). A step's copies
// arrive at the barrier of the step's slot, each once, with the bytes that it
// will have moved; the phase is over when these are there. Step s is the
// s / S-th to use its slot of S, so its phase has the parity of that number.
//
// What a slot held has been read when its next copies are issued. Where a
// subgroup of its own can issue them (CopyProducer.cpp), readers arrive at a
// second barrier of the slot; elsewhere the first thread issues copies behind
// the loop's barrier, before which readers have waited for their instructions.
//
// A row of more than 128 bytes lies in panels of 128 (see `tessera.copy`), and
// a bulk copy moves one panel, since the engine's swizzle spans that much.
//
//===----------------------------------------------------------------------===//

#include "BulkPipelines.h"
#include "NvidiaTarget.h"

#include "Conversion/Passes.h"
#include "Conversion/TensorMaps.h"
#include "Dialect/Tessera/Transforms/IndexMath.h"
#include "Dialect/Tessera/Transforms/Utils.h"
#include "Runtime/TensorMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USEBULKCOPIES
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// What can be converted
//===----------------------------------------------------------------------===//

/// False where some copy or wait is not a pipeline's.
bool BulkPipelines::collect() {
  llvm::DenseMap<Value, unsigned> pipelineOf;
  bool all = true;
  kernel.walk([&](WaitOp op) {
    all &= op.getFrom() && op.getTokens().empty();
    if (!op.getFrom())
      return;
    auto [it, isNew] =
        pipelineOf.try_emplace(op.getMemories()[0], pipelines.size());
    if (isNew) {
      pipelines.emplace_back();
      llvm::append_range(pipelines.back().memories, op.getMemories());
      for (Value memory : op.getMemories().drop_front())
        all &= pipelineOf.try_emplace(memory, it->second).second;
    }
    Pipeline &pipeline = pipelines[it->second];
    all &= llvm::equal(pipeline.memories, op.getMemories());
    pipeline.waits.push_back(op);
  });
  kernel.walk([&](AsyncCopyOp op) {
    auto it = pipelineOf.find(op.getTarget());
    all &= it != pipelineOf.end();
    if (it != pipelineOf.end())
      pipelines[it->second].copies.push_back(op);
  });
  return all;
}

/// Empty, or why `op` is no business of the engine.
std::string BulkPipelines::explainNot(AsyncCopyOp op) {
  MemRefType source = op.getSourceType(), target = op.getTargetType();
  auto argument = dyn_cast<BlockArgument>(op.getSource());
  if (!argument || argument.getOwner() != &kernel.getBody().front() ||
      argument.getArgNumber() >= kernel.getNumArguments())
    return "what is copied is no argument of the kernel";
  std::string what =
      "argument " + std::to_string(argument.getArgNumber()) + " of the kernel";
  if (op.isGather())
    return what + " is gathered";
  int64_t bits = getElementBits(source.getElementType());
  if (!op.getSwizzled() || getSwizzlePhases(target) < 2)
    return "the tiles are not swizzled";
  if (!op.getToken().use_empty() || target.getRank() != 3 ||
      source.getRank() < 2 ||
      source.getRank() > ::tessera::runtime::maxTensorMapRank || bits < 8 ||
      source.getElementType() != target.getElementType())
    return what + " is of another rank or type than the engine takes";
  // All of a slot.
  ArrayRef<int64_t> shape = op.getShape();
  for (int d : {1, 2})
    if (getConstantIntValue(op.getTargetIndices()[d]) != int64_t(0) ||
        target.getDimSize(d) != shape[d - 1])
      return "a copy fills part of its memory only";
  if (shape[0] > ::tessera::runtime::maxTensorMapBox ||
      shape[0] * shape[1] * bits / 8 % swizzlePatternBytes)
    return "tiles of " + std::to_string(shape[0]) + "x" +
           std::to_string(shape[1]) + " have more than " +
           std::to_string(::tessera::runtime::maxTensorMapBox) +
           " rows, or no whole pattern of " +
           std::to_string(swizzlePatternBytes) + " bytes";
  // As the engine asks of the source.
  int64_t offset;
  SmallVector<int64_t> strides;
  auto isAligned = [&](int64_t distance) {
    return ShapedType::isStatic(distance) && distance * bits % 128 == 0;
  };
  if (failed(source.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || !isAligned(offset) ||
      !llvm::all_of(ArrayRef(strides).drop_back(), [&](int64_t stride) {
        return stride > 0 && isAligned(stride);
      }))
    return "rows of " + what +
           " are not known to begin at multiples of 16 bytes";
  return "";
}

std::string BulkPipelines::explainNot(const Pipeline &pipeline) {
  for (AsyncCopyOp op : pipeline.copies)
    if (std::string why = explainNot(op); !why.empty())
      return why;
  // Phases are counted from the beginning of the kernel.
  if (pipeline.copies.empty() ||
      pipeline.copies.front()->getParentOfType<LoopLikeOpInterface>() ||
      !llvm::all_of(pipeline.memories, llvm::IsaPred<BlockArgument>))
    return "workgroups walk through several tiles";
  return "";
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

void BulkPipelines::convert(Pipeline &pipeline, AsyncCopyOp op) {
  OpBuilder builder(op);
  auto issue = scf::IfOp::create(builder, op.getLoc(), emitIsFirst(builder),
                                 /*withElseRegion=*/false);
  builder.setInsertionPointToStart(issue.thenBlock());
  emitCopy(builder, pipeline, op, IRMapping());
  op.erase();
}

void BulkPipelines::convert(Pipeline &pipeline, WaitOp op) {
  Location loc = op.getLoc();
  OpBuilder builder(op);
  auto waitFor = [&](OpBuilder &builder, Value step) {
    emitWait(builder, loc, pipeline.barriers, pipeline.getNumSlots(), step,
             /*turnsBefore=*/0);
  };
  auto next = op.getTo().getDefiningOp<arith::AddIOp>();
  if (next && next.getLhs() == op.getFrom() &&
      getConstantIntValue(next.getRhs()) == int64_t(1)) {
    waitFor(builder, op.getFrom());
  } else {
    auto loop = scf::ForOp::create(builder, loc, op.getFrom(), op.getTo(),
                                   IndexMath(builder, loc).constant(1));
    OpBuilder body(loop.getBody()->getTerminator());
    waitFor(body, loop.getInductionVar());
  }
  op.erase();
}

void BulkPipelines::convert(Pipeline &pipeline) {
  AsyncCopyOp first = pipeline.copies.front();
  OpBuilder builder(first);
  pipeline.barriers = addBarriers(first.getLoc(), pipeline.getNumSlots());
  emitSetUp(builder, first.getLoc(), pipeline);
  for (AsyncCopyOp op : pipeline.copies)
    convert(pipeline, op);
  for (WaitOp op : pipeline.waits)
    convert(pipeline, op);
}

/// Bytes of workgroup memory with the barriers, each pipeline's in buffers of
/// their own.
static int64_t countBytes(gpu::GPUFuncOp kernel, int64_t numPipelines) {
  int64_t bytes = numPipelines * 2 * swizzlePatternBytes;
  for (BlockArgument buffer : kernel.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(buffer.getType());
    int64_t bits =
        type.getNumElements() * getElementBits(type.getElementType());
    bytes += llvm::alignTo(llvm::divideCeil(bits, 8), swizzlePatternBytes);
  }
  return bytes;
}

std::string BulkPipelines::explainNot() {
  if (!collect() || pipelines.empty())
    return "some copies are in no pipelined loop";
  for (const Pipeline &pipeline : pipelines)
    if (std::string why = explainNot(pipeline); !why.empty())
      return why;
  for (BlockArgument buffer : kernel.getWorkgroupAttributions())
    if (!cast<MemRefType>(buffer.getType()).hasStaticShape())
      return "workgroup memory has no static shape";
  if (int64_t bytes = countBytes(kernel, pipelines.size());
      bytes > chip.workgroupMemoryBytes)
    return "tiles and barriers need " + std::to_string(bytes) +
           " bytes of workgroup memory, " + chip.name + " has " +
           std::to_string(chip.workgroupMemoryBytes);
  return "";
}

void BulkPipelines::run() {
  bool anyCopy = false;
  kernel.walk([&](AsyncCopyOp) { anyCopy = true; });
  if (!anyCopy)
    return;
  Builder builder(kernel.getContext());
  auto report = [&](const std::string &text) {
    kernel->setAttr(getCopiesAttrName(), builder.getStringAttr(text));
  };
  if (std::string why = explainNot(); !why.empty()) {
    report("asynchronous copies by all threads: " + why);
    return;
  }
  if (std::optional<ProducerParts> parts = matchProducer(pipelines.front())) {
    specialize(pipelines.front(), *parts);
    report("bulk copies by a subgroup of their own");
  } else {
    for (Pipeline &pipeline : pipelines)
      convert(pipeline);
    report("bulk copies by the first thread: besides one pipelined loop the "
           "kernel has barriers, or steps that are no loop");
  }
  kernel->setAttr(getTensorMapsAttrName(), builder.getArrayAttr(maps));
}

namespace {
struct UseBulkCopiesPass
    : public mlir::tessera::impl::UseBulkCopiesBase<UseBulkCopiesPass> {
  using UseBulkCopiesBase::UseBulkCopiesBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda", chip);
    if (failed(found))
      return signalPassFailure();
    if (getComputeCapability(**found) < 90)
      return;
    // Only there do buffers begin at patterns of swizzled rows.
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (getFragmentGroup(kernel) > 1)
        BulkPipelines(kernel, **found).run();
  }
};
} // namespace
