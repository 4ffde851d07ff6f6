//===- Cluster.cpp - Sums over thread block clusters ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each thread stores its elements in its workgroup's memory, with adjacent
// threads side by side, and reads those of its share from all workgroups of the
// cluster (PTX ISA, "mapa", "barrier.cluster"): a thread's elements are those
// of the same thread in the other workgroups. A second barrier keeps the memory
// alive until all have read it. Exited threads, such as the producer's, count
// as arrived.
//
//===----------------------------------------------------------------------===//

#include "NvidiaTarget.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Dialect/Tessera/Utils/Threads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::tessera;

SmallVector<Value> NvidiaTarget::emitClusterSum(OpBuilder &builder,
                                                SumPartsOp op,
                                                ValueRange values,
                                                int64_t rows) const {
  if (chip.clusterWorkgroups == 1)
    return {};
  Location loc = op.getLoc();
  IndexMath math(builder, loc);
  auto parts = static_cast<int64_t>(op.getParts());
  int64_t perRow = static_cast<int64_t>(values.size()) / rows,
          share = perRow / parts;
  auto memory = cast<MemRefType>(op.getMemory().getType());
  Type element = memory.getElementType();
  int64_t bytes = getElementBytes(element),
          threads =
              memory.getNumElements() / static_cast<int64_t>(values.size());
  auto kernel = op->getParentOfType<gpu::GPUFuncOp>();
  Value thread = emitLinearThread(builder, kernel);

  auto pointerIn = [&](NVVM::NVVMMemorySpace space) {
    return LLVM::LLVMPointerType::get(builder.getContext(),
                                      static_cast<unsigned>(space));
  };
  Value first = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc,
                                                               op.getMemory());
  auto pointTo = [&](Value address) -> Value {
    Value bits =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
    return LLVM::IntToPtrOp::create(
        builder, loc, pointerIn(NVVM::NVVMMemorySpace::Shared), bits);
  };
  auto at = [&](Value pointer, int64_t number) -> Value {
    return LLVM::GEPOp::create(
        builder, loc, pointer.getType(), builder.getI8Type(), pointer,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number * threads * bytes)});
  };
  Value mine = math.add(first, math.mul(thread, bytes));
  Value here = pointTo(mine);
  for (auto [number, value] : llvm::enumerate(values))
    LLVM::StoreOp::create(builder, loc, value,
                          at(here, static_cast<int64_t>(number)));
  auto synchronize = [&] {
    NVVM::ClusterArriveOp::create(builder, loc, builder.getUnitAttr());
    NVVM::ClusterWaitOp::create(builder, loc, builder.getUnitAttr());
  };
  synchronize();

  // The workgroup's number in the cluster, which is along z.
  Value rank = NVVM::BlockInClusterIdZOp::create(
      builder, loc, builder.getI32Type(), LLVM::ConstantRangeAttr());
  Value offset = math.mul(
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), rank),
      share * threads * bytes);
  Value shared = pointTo(math.add(mine, offset));
  SmallVector<Value> sums;
  for (int64_t p = 0; p < parts; ++p) {
    Value number = arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(p)));
    Value there = NVVM::MapaOp::create(
        builder, loc, pointerIn(NVVM::NVVMMemorySpace::SharedCluster), shared,
        number);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t e = 0; e < share; ++e) {
        Value value = LLVM::LoadOp::create(builder, loc, element,
                                           at(there, row * perRow + e));
        if (p == 0) {
          sums.push_back(value);
          continue;
        }
        Value &sum = sums[row * share + e];
        sum = isa<FloatType>(element)
                  ? arith::AddFOp::create(builder, loc, sum, value).getResult()
                  : arith::AddIOp::create(builder, loc, sum, value).getResult();
      }
  }
  synchronize();
  return sums;
}
