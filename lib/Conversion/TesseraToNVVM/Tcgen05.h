//===- Tcgen05.h - The instructions of tensor memory ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 8.7, "TensorCore 5th Generation Family Instructions" (tcgen05).
// Tensor memory is 128 lanes of 512 columns of 32 bits, in each SM. An address
// has the lane in its high half and the column in its low half. A workgroup
// allocates columns; its subgroup w can read and write lanes 32 * (w mod 4) and
// the 31 lanes after it.
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_TCGEN05_H
#define CONVERSION_TESSERATONVVM_TCGEN05_H

#include "BulkInstructions.h"

#include "TargetInfo/Chip.h"

namespace mlir::tessera {

/// The bits of a matrix descriptor of tcgen05.mma above the offsets, for panels
/// of rows of `pitch` bytes (PTX ISA, "Shared memory descriptor"): the constant
/// 1 in bits 46 to 48, and in bits 61 to 63 the swizzle: 2 for 128 bytes, 4 for
/// 64 and 6 for 32.
uint64_t getTensorDescriptorKind(int64_t pitch);

/// The instruction descriptor of a matmul (PTX ISA, "Instruction descriptor",
/// table for .kind::tf32, .kind::f16, .kind::f8f6f4 and .kind::i8).
uint32_t getInstructionDescriptor(const MatrixInstruction &row, MmaOp op);

/// Emits the instructions of one kernel whose accumulators are in tensor
/// memory: a number of columns for each of its groups of subgroups. All threads
/// of the kernel execute the emitted code, unless stated otherwise.
class TensorInstructions {
public:
  TensorInstructions(gpu::GPUFuncOp kernel, const Chip &chip, int64_t columns,
                     int64_t threads);

  /// How many columns the workgroup allocates: a power of two.
  int64_t getAllocatedColumns() const { return allocated; }

  /// Allocates the columns and sets an mbarrier up for each group.
  void emitSetUp(OpBuilder &builder, Location loc);
  /// Releases the columns, after their last read.
  void emitEnd(OpBuilder &builder, Location loc);

  /// Whether this is the thread that issues its group's matmuls (i1).
  Value emitIsIssuer(OpBuilder &builder, Location loc);
  /// Emits all instructions of `op`, on the group's columns from `first` on.
  /// The sums start from zero if `adds` (i1) is false. Executed by one thread.
  void emitMatmul(OpBuilder &builder, const MatrixInstruction &row, MmaOp op,
                  Value a, Value b, int64_t first, Value adds);
  /// Waits until all matmuls that the group's thread has issued are complete.
  void emitAwait(OpBuilder &builder, Location loc);
  /// A barrier of the group, which also orders its accesses to tensor memory.
  void emitMeeting(OpBuilder &builder, Location loc);

  /// The tiles of an accumulator, a vector each, from the group's columns from
  /// `first` on. All lanes have read them when this is done.
  SmallVector<Value> emitLoad(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, VectorType type,
                              int64_t tiles, int64_t first);
  /// Stores them there, for matmuls that are issued later.
  void emitStore(OpBuilder &builder, Location loc, const MatrixInstruction &row,
                 ValueRange tiles, int64_t first);

private:
  Value number(OpBuilder &builder, Location loc, int64_t value);
  /// The address of column `column` of the group, as i32.
  Value emitAddress(OpBuilder &builder, Location loc, int64_t column);
  /// The address of this subgroup's part of an accumulator that starts there:
  /// its lanes, and with more than four subgroups its columns.
  Value emitShare(OpBuilder &builder, Location loc,
                  const MatrixInstruction &row, int64_t column);
  /// The group's mbarrier, by its number among `barriers`.
  Value emitDone(OpBuilder &builder, Location loc);
  /// Calls `access` with each run of registers of a tile that are neighbouring
  /// columns: the first register, their count, and the first column.
  static void forEachRun(const MatrixInstruction &row,
                         function_ref<void(int64_t, int64_t, int64_t)> access);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  /// Columns of a group, and threads of the workgroup.
  int64_t columns, threads;
  int64_t allocated, groupThreads;
  BulkInstructions instructions;
  /// The address that was allocated, then an mbarrier for each group.
  Value barriers;
  /// The parity of the next phase of the mbarrier: a variable of each thread,
  /// which LLVM promotes to a register.
  Value parity;
  /// The values that the whole kernel uses: the id of the thread and of its
  /// group (index), and the first column (i32).
  Value thread, group, base;
};

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_TCGEN05_H
