//===- PackKernelArguments.cpp - Calling convention of CPU kernels --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/PackedCall.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_PACKKERNELARGUMENTS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-pack-kernel-arguments"

STATISTIC(numPackedKernels,
          "Number of kernels that take an array of arguments");

using namespace mlir;
using namespace mlir::tessera;

/// The context, and the fields of the workgroup memory's descriptor: allocated
/// and aligned pointer, offset, size, stride.
static constexpr unsigned numTrailing = 6;
/// Index of `workgroupMemory` in `tessera_workgroup`, in 8-byte fields.
static constexpr int32_t workgroupMemoryField = 12;

namespace {

struct PackKernelArgumentsPass
    : public mlir::tessera::impl::PackKernelArgumentsBase<
          PackKernelArgumentsPass> {
  void runOnOperation() override {
    for (auto kernel :
         llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>()))
      if (kernel->hasAttr(TesseraDialect::KernelAttrHelper::getNameStr()))
        pack(kernel);
  }

  void pack(LLVM::LLVMFuncOp kernel) {
    assert(kernel.getNumArguments() >= numTrailing &&
           "convert-tessera-to-cpu adds the context and the memory");
    LDBG() << kernel.getName() << ": " << kernel.getNumArguments()
           << " arguments";
    ++numPackedKernels;
    OpBuilder builder(kernel);
    Location loc = kernel.getLoc();
    MLIRContext *context = &getContext();
    auto pointer = LLVM::LLVMPointerType::get(context);
    Type i64 = builder.getI64Type();
    builder.setInsertionPointAfter(kernel);
    auto wrapper = LLVM::LLVMFuncOp::create(
        builder, loc, getPackedName(kernel.getName()),
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                    {pointer, pointer}));
    builder.setInsertionPointToStart(wrapper.addEntryBlock(builder));
    Value array = wrapper.getArgument(0), ctx = wrapper.getArgument(1);
    SmallVector<Value> arguments = unpackArguments(
        builder, loc, kernel, array, kernel.getNumArguments() - numTrailing);
    auto constant = [&](int64_t value) -> Value {
      return LLVM::ConstantOp::create(builder, loc, i64,
                                      builder.getI64IntegerAttr(value));
    };
    Value field =
        LLVM::GEPOp::create(builder, loc, pointer, i64, ctx,
                            ArrayRef<LLVM::GEPArg>{workgroupMemoryField});
    Value memory = LLVM::LoadOp::create(builder, loc, pointer, field);
    arguments.append({ctx, memory, memory, constant(0),
                      constant(std::numeric_limits<int64_t>::max()),
                      constant(1)});
    LLVM::CallOp::create(builder, loc, kernel, arguments);
    LLVM::ReturnOp::create(builder, loc, ValueRange());
    kernel.setLinkage(LLVM::Linkage::Internal);
  }
};

} // namespace
