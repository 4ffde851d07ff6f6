//===- BulkPipelines.h - A kernel's pipelines of bulk copies -----*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_BULKPIPELINES_H
#define CONVERSION_TESSERATONVVM_BULKPIPELINES_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Target/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::tessera {

/// The copies to some memories, and the waits for them.
struct Pipeline {
  SmallVector<Value> memories;
  SmallVector<AsyncCopyOp> copies;
  SmallVector<WaitOp> waits;
  /// Workgroup memory with one i64 for each slot: the mbarriers at which copies
  /// arrive, and with a producer those at which readers do.
  Value barriers, read;

  int64_t getNumSlots() const {
    return cast<MemRefType>(memories[0].getType()).getDimSize(0);
  }
};

/// What a subgroup of its own can take over of a pipeline: the copies before a
/// loop, and those of the loop, each for `slots - 1` steps later.
struct ProducerParts {
  SmallVector<AsyncCopyOp> before, within;
  scf::ForOp loop;
  /// The pipeline's barriers, which readers and the producer need no more.
  SmallVector<gpu::BarrierOp> barriers;
};

/// The pipelines of one kernel.
class BulkPipelines {
public:
  BulkPipelines(gpu::GPUFuncOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip) {}

  /// Makes the kernel's asynchronous copies bulk copies, if all can be.
  void run();

private:
  /// BulkCopies.cpp: what can be converted.
  bool collect();
  std::string explainNot();
  std::string explainNot(const Pipeline &pipeline);
  std::string explainNot(AsyncCopyOp op);
  void convert(Pipeline &pipeline);
  void convert(Pipeline &pipeline, AsyncCopyOp op);
  void convert(Pipeline &pipeline, WaitOp op);

  /// CopyProducer.cpp: a subgroup that does nothing but copy.
  std::optional<ProducerParts> matchProducer(const Pipeline &pipeline);
  void specialize(Pipeline &pipeline, ProducerParts &parts);

  /// BulkPipelines.cpp: the instructions.

  /// Whether this is the first thread of the workgroup (i1).
  Value emitIsFirst(OpBuilder &builder);
  /// Workgroup memory for one mbarrier for each slot.
  Value addBarriers(Location loc, int64_t slots);
  /// The pipeline's barriers, by the first thread; all others wait for that.
  void emitSetUp(OpBuilder &builder, Location loc, const Pipeline &pipeline);
  /// The pointer to a slot's barrier.
  Value emitBarrier(OpBuilder &builder, Location loc, Value barriers,
                    Value slot);
  /// Rows and columns of one bulk copy of `op`'s tile.
  std::array<int64_t, 2> getBox(AsyncCopyOp op);
  /// The address of the tensor map of a copy's source, which launches make.
  Value emitMap(OpBuilder &builder, AsyncCopyOp op);
  /// `op` by one thread, whose indices `mapping` may replace.
  void emitCopy(OpBuilder &builder, Pipeline &pipeline, AsyncCopyOp op,
                const IRMapping &mapping);
  /// Arrives at the barrier of `slot`, once for the subgroup.
  void emitArrival(OpBuilder &builder, Location loc, Value barriers,
                   Value slot);
  /// Waits until the barrier of `step`'s slot has been through as many phases
  /// as steps have used the slot up to this one, less `turnsBefore`.
  void emitWait(OpBuilder &builder, Location loc, Value barriers, int64_t slots,
                Value step, int64_t turnsBefore);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  SmallVector<Pipeline> pipelines;
  SmallVector<Attribute> maps;
};

/// Bytes of a swizzled row at most (CUDA driver API, CUtensorMapSwizzle).
inline constexpr int64_t maxBulkSpan = 128;
/// Where patterns of eight swizzled rows begin in workgroup memory.
inline constexpr int64_t swizzlePatternBytes = 1024;

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_BULKPIPELINES_H
