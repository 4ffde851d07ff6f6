//===- Emulation.h - A chip's lanes on the CPU ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOCPU_EMULATION_H
#define CONVERSION_TESSERATOCPU_EMULATION_H

#include "Conversion/FragmentToVector.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include <map>

namespace mlir::tessera {

/// The symbols that the kernels of a module call and refer to.
class EmulationSymbols {
public:
  /// A call of a function of the runtime.
  Value emitCall(OpBuilder &builder, Location loc, llvm::StringRef name,
                 ArrayRef<Value> operands, Type result);
  /// "the matrix instruction mma.m16n8k16.f32.f16 at matmul.mlir:5:3", as a
  /// constant.
  Value emitLocation(OpBuilder &builder, Location loc, llvm::StringRef what);
  /// The row in the form of the runtime. Null if the runtime lacks its types.
  Value emitInstruction(OpBuilder &builder, Location loc,
                        const MatrixInstruction &row, bool unsignedA,
                        bool unsignedB);
  /// Declares and defines all that was used.
  void declare(gpu::GPUModuleOp module) const;

private:
  // By name.
  std::map<std::string, FunctionType> functions;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::vector<int32_t>> instructions;
};

/// The words of `row` as a `tessera_matrix_instruction` of Runtime/CpuKernel.h.
/// Empty if that lacks its types.
std::vector<int32_t> describeInstruction(const MatrixInstruction &row,
                                         bool unsignedA, bool unsignedB);

/// Emits one kernel with calls of Runtime/CpuKernel.h for collective operations
/// of lanes. Each thread is a lane; data is passed through memory on its stack.
class EmulatedTarget : public FragmentTarget {
public:
  /// Adds placeholders for the kernel's context, and stack slots for the
  /// operands of a matrix instruction.
  EmulatedTarget(const Chip &chip, gpu::GPUFuncOp kernel,
                 EmulationSymbols &symbols);

  Value emitMma(OpBuilder &builder, Location loc, const MatrixInstruction &row,
                MmaOp op, Value a, Value b, Value acc) const override;
  /// A meeting of the lanes.
  void emitSubgroupBarrier(OpBuilder &builder, Location loc) const override;
  Value emitShuffle(OpBuilder &builder, Location loc, Value value,
                    Value lane) const override;
  bool emitAsyncCopy(OpBuilder &builder, Location loc, Value source,
                     ValueRange sourceIndices, Value target,
                     ValueRange targetIndices, int64_t width,
                     Value count) const override;
  void emitAsyncCommit(OpBuilder &builder, Location loc) const override;
  bool emitLdsLoad(OpBuilder &builder, Location loc, const LdsCopy &copy,
                   std::array<Value, 2> position, int64_t rows, Value begin,
                   int64_t number) const override;
  void emitAsyncWait(OpBuilder &builder, Location loc, int64_t pending,
                     std::optional<int64_t> ldsLoads) const override;

  /// `gpu.shuffle` and `gpu.lane_id` of the kernel.
  LogicalResult convertLaneOps() const;
  /// Ops of vendors' dialects for lanes (`isVendorLaneOp`), on a chip that
  /// emulates one that has them, and on the host's own chips.
  LogicalResult convertVendorOps() const;
  /// Adds checks before each access to memory, for its alignment, and for its
  /// bounds in workgroup memory. Must run while memory spaces are present.
  void checkAccesses() const;
  /// Replaces the placeholder for the context of a kernel by the context
  /// itself.
  static void setContext(Operation *kernel, Value context);

private:
  /// The threads of a subgroup: those of the chip that is emulated, or those of
  /// kernels with exchanges on the host's own chips.
  int64_t getLanes() const;
  Value emitCall(OpBuilder &builder, Location loc, llvm::StringRef name,
                 ArrayRef<Value> arguments, Type result = Type()) const;
  Value emitAddress(OpBuilder &builder, Location loc, Value memory,
                    ValueRange indices) const;

  LogicalResult convertMatmul(Operation *op) const;
  LogicalResult convertLdMatrix(Operation *operation) const;
  LogicalResult convertAsyncOp(Operation *operation) const;

  Operation *kernel;
  EmulationSymbols &symbols;
  Value context;
  /// Room for the registers of the largest instruction, in memory.
  Value aMemory, bMemory, accMemory;
};

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOCPU_EMULATION_H
