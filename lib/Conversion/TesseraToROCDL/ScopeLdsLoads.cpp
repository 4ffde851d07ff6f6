//===- ScopeLdsLoads.cpp - Alias scopes of loads to LDS -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM assumes that a load to LDS in flight may write any LDS address that
// later accesses use, and waits for it before the first of them, although that
// access belongs to the previous step, which overlaps with the load. Between
// two barriers, no access touches the target of a copy in flight
// (`tessera.async_copy`); alias scopes express this.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_SCOPELDSLOADS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-scope-lds-loads"

STATISTIC(numScopedLoads, "Number of loads to LDS given an alias scope");

using namespace mlir;
using namespace mlir::tessera;

static bool isLoadToLds(Operation *op) {
  return isa<ROCDL::LoadToLDSOp, ROCDL::RawPtrBufferLoadLdsOp>(op);
}

/// Whether `op` is an access to workgroup memory by the lanes themselves.
static bool isAccess(LLVM::AliasAnalysisOpInterface op) {
  auto isLds = [](Value pointer) {
    auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
    return type && type.getAddressSpace() ==
                       ROCDL::ROCDLDialect::kSharedMemoryAddressSpace;
  };
  return !isLoadToLds(op) && llvm::any_of(op.getAccessedOperands(), isLds);
}

namespace {
struct ScopeLdsLoadsPass
    : public tessera::impl::ScopeLdsLoadsBase<ScopeLdsLoadsPass> {
  using ScopeLdsLoadsBase::ScopeLdsLoadsBase;
  void runOnOperation() override {
    Builder builder(&getContext());
    getOperation()->walk([&](LLVM::LLVMFuncOp kernel) {
      SmallVector<LLVM::AliasAnalysisOpInterface> loads;
      kernel.walk([&](LLVM::AliasAnalysisOpInterface op) {
        if (isLoadToLds(op))
          loads.push_back(op);
      });
      if (loads.empty())
        return;
      LDBG() << kernel.getName() << ": " << loads.size() << " loads to LDS";
      numScopedLoads += loads.size();
      auto domain = LLVM::AliasScopeDomainAttr::get(
          &getContext(), builder.getStringAttr("workgroup memory"));
      auto scope = builder.getArrayAttr(LLVM::AliasScopeAttr::get(
          domain, builder.getStringAttr("copies under way")));
      for (LLVM::AliasAnalysisOpInterface load : loads)
        load.setAliasScopes(scope);
      kernel.walk([&](LLVM::AliasAnalysisOpInterface op) {
        if (isAccess(op))
          op.setNoAliasScopes(scope);
      });
    });
  }
};
} // namespace
