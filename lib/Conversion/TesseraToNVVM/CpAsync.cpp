//===- CpAsync.cpp - cp.async ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cp.async (PTX ISA, "cp.async") copies 4, 8 or 16 bytes from global to
// workgroup memory without using registers, and fills the bytes beyond the
// given source size with zeros without reading them.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/MemoryIndex.h"
#include "NvidiaTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;
using namespace mlir::tessera;

bool NvidiaTarget::emitAsyncCopy(OpBuilder &builder, Location loc, Value source,
                                 ValueRange sourceIndices, Value target,
                                 ValueRange targetIndices, int64_t width,
                                 Value count) const {
  auto type = cast<MemRefType>(source.getType());
  int64_t bytes = width * getElementBits(type.getElementType()) / 8;
  if (!chip.asyncCopy || (bytes != 4 && bytes != 8 && bytes != 16) ||
      isWorkgroupMemory(type) || type.getRank() == 0 ||
      !type.isLastDimUnitStride())
    return false;
  if (isPacked(type.getElementType())) {
    if (count)
      count = arith::ShRUIOp::create(
          builder, loc, count, arith::ConstantIndexOp::create(builder, loc, 1));
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    auto view = [&](Value memory, ValueRange indices) {
      return emitByteView(builder, loc, memory,
                          emitByteIndex(builder, loc, memory, indices), bytes);
    };
    return emitAsyncCopy(builder, loc, view(source, sourceIndices), zero,
                         view(target, targetIndices), zero, bytes, count);
  }
  nvgpu::DeviceAsyncCopyOp::create(
      builder, loc, nvgpu::DeviceAsyncTokenType::get(builder.getContext()),
      target, targetIndices, source, sourceIndices, builder.getIndexAttr(width),
      count, bytes == 16 ? builder.getUnitAttr() : UnitAttr());
  return true;
}

void NvidiaTarget::emitAsyncCommit(OpBuilder &builder, Location loc) const {
  if (chip.asyncCopy)
    NVVM::CpAsyncCommitGroupOp::create(builder, loc);
}

void NvidiaTarget::emitAsyncWait(OpBuilder &builder, Location loc,
                                 int64_t pending,
                                 std::optional<int64_t>) const {
  if (chip.asyncCopy)
    NVVM::CpAsyncWaitGroupOp::create(builder, loc, pending);
}
