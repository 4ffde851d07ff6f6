//===- VendorExpansion.h - Portable code for vendors' ops -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_VENDOREXPANSION_H
#define LIB_TRANSFORMS_VENDOREXPANSION_H

#include "TargetInfo/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::tessera {

/// Replaces ops of one kernel that lanes execute together.
class VendorExpansion {
public:
  /// `kernel` is a `gpu.launch` or a `gpu.func` of so many threads in each
  /// workgroup.
  VendorExpansion(Operation *kernel, int64_t numThreads)
      : kernel(kernel), numThreads(numThreads) {}

  /// Reserves memory for `op`, of `lanes` lanes.
  void reserve(Operation *op, const MatrixInstruction *row, int64_t lanes);
  /// Adds the reserved memory to the kernel.
  void allocate();

  /// Each of these replaces and erases the op, except `expandCopy`, which
  /// leaves it with its token.
  void expandMatmul(Operation *op, const MatrixInstruction &row);
  void expandLdMatrix(nvgpu::LdMatrixOp op);
  static void expandCopy(nvgpu::DeviceAsyncCopyOp op);
  void expandShuffle(gpu::ShuffleOp op, int64_t lanes);

private:
  /// A buffer in workgroup memory, of a row of elements for each subgroup.
  struct Buffer {
    enum Use : uint32_t { A, B, Rows, Values };
    int64_t subgroups = 0, elements = 0;
    Value memory;
  };

  /// The threads of a subgroup at an op.
  struct Lanes {
    Value lane, subgroup;
  };
  using Key = std::pair<Buffer::Use, Type>;

  void reserve(Buffer::Use use, Type element, int64_t lanes, int64_t count) {
    Buffer &buffer = buffers[{use, element}];
    buffer.subgroups = numThreads / lanes;
    buffer.elements = std::max(buffer.elements, count);
  }
  Lanes getLanes(OpBuilder &builder, Operation *op, int64_t lanes) const;
  void storeOperand(OpBuilder &builder, Location loc, const Lanes &lanes,
                    Value operand, const LaneMap &map, Buffer::Use use,
                    bool isUnsigned, std::array<int64_t, 2> strides);

  Operation *kernel;
  int64_t numThreads;
  llvm::MapVector<Key, Buffer> buffers;
};

/// Whether `op` is one of amdgpu that each thread executes by itself, or a
/// barrier, for which there is portable code.
bool isVendorThreadOp(Operation *op);

/// Replaces and erases such an op. Fails, with an error, if it cannot.
LogicalResult expandVendorThreadOp(Operation *op);

} // namespace mlir::tessera

#endif // LIB_TRANSFORMS_VENDOREXPANSION_H
