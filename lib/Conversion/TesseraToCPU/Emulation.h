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

/// The functions of Runtime/CpuKernel.h for what lanes do together. Each thread
/// is a lane; what it hands over goes through memory of its stack.
class EmulatedTarget : public FragmentTarget {
public:
  /// Gives each kernel of `module` a place for its context, and for what a
  /// matrix instruction takes.
  EmulatedTarget(const Chip &chip, gpu::GPUModuleOp module);

  Value emitMma(OpBuilder &builder, Location loc, const MatrixInstruction &row,
                MmaOp op, Value a, Value b, Value acc) const override;
  Value emitShuffle(OpBuilder &builder, Location loc, Value value,
                    Value lane) const override;
  bool emitAsyncCopy(OpBuilder &builder, Location loc, Value source,
                     ValueRange sourceIndices, Value target,
                     ValueRange targetIndices, int64_t width,
                     Value count) const override;
  void emitAsyncCommit(OpBuilder &builder, Location loc) const override;
  void emitAsyncWait(OpBuilder &builder, Location loc,
                     int64_t pending) const override;

  /// `gpu.shuffle` and `gpu.lane_id` of the kernels.
  LogicalResult convertLaneOps() const;
  /// A check of each access to memory that is of a vector, or to workgroup
  /// memory. While memory spaces are there.
  void checkAccesses() const;
  /// The functions and constants that were used.
  void declare() const;
  /// Replaces the place for the context of a kernel by the context itself.
  static void setContext(Operation *kernel, Value context);

private:
  /// What a matrix instruction takes: room on the stack for the largest.
  struct Registers {
    Value a, b, acc;
  };

  Value getContext(OpBuilder &builder) const;
  const Registers &getRegisters(OpBuilder &builder) const;
  /// "the product mma.m16n8k16.f32.f16 at matmul.mlir:5:3", as a constant.
  Value emitPlace(OpBuilder &builder, Location loc, llvm::StringRef what) const;
  Value emitAddress(OpBuilder &builder, Location loc, Value memory,
                    ValueRange indices) const;
  void emitCall(OpBuilder &builder, Location loc, llvm::StringRef name,
                ArrayRef<Value> arguments) const;
  Value emitCall(OpBuilder &builder, Location loc, llvm::StringRef name,
                 ArrayRef<Value> arguments, Type result) const;

  mutable gpu::GPUModuleOp module;
  llvm::DenseMap<Operation *, Registers> registers;
  llvm::DenseMap<Operation *, Value> contexts;
  // By name.
  mutable std::map<std::string, FunctionType> functions;
  mutable std::map<std::string, std::string> texts;
  mutable std::map<std::string, std::vector<int32_t>> instructions;
};

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOCPU_EMULATION_H
