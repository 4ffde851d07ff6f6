//===- ProtectArguments.cpp - Callers keep their tensors ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPROTECTARGUMENTS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

namespace {
struct TesseraProtectArgumentsPass
    : public tessera::impl::TesseraProtectArgumentsBase<
          TesseraProtectArgumentsPass> {
  using TesseraProtectArgumentsBase::TesseraProtectArgumentsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isPrivate() || func.isExternal())
      return;
    StringRef name = bufferization::BufferizationDialect::kWritableAttrName;
    Builder builder(func.getContext());
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (isa<TensorType>(func.getArgument(i).getType()) &&
          !func.getArgAttr(i, name))
        func.setArgAttr(i, name, builder.getBoolAttr(false));
  }
};
} // namespace
