//===- LowerDeallocations.cpp - bufferization.dealloc to comparisons ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERALOWERDEALLOCATIONS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-lower-deallocations"

STATISTIC(numLoweredDeallocations, "Number of bufferization.dealloc lowered");

using namespace mlir;
using namespace mlir::tessera;

static void lower(bufferization::DeallocOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto addressOf = [&](Value memref) -> Value {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, memref);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value a,
                     Value b) -> Value {
    return arith::CmpIOp::create(builder, predicate, a, b);
  };
  SmallVector<Value> memrefs = llvm::map_to_vector(op.getMemrefs(), addressOf),
                     retained =
                         llvm::map_to_vector(op.getRetained(), addressOf);
  SmallVector<Value> conditions(op.getConditions());

  // The owner of a retained memref is the owner of a memref with the same
  // address.
  for (auto [result, address] :
       llvm::zip(op.getUpdatedConditions(), retained)) {
    Value owned = arith::ConstantIntOp::create(builder, 0, 1);
    for (auto [other, condition] : llvm::zip(memrefs, conditions)) {
      Value same = compare(arith::CmpIPredicate::eq, address, other);
      owned = builder.createOrFold<arith::OrIOp>(
          owned, builder.createOrFold<arith::AndIOp>(same, condition));
    }
    result.replaceAllUsesWith(owned);
  }
  // A memref is freed if it is owned, not retained, and not one before it that
  // is freed already.
  SmallVector<Value> free(conditions);
  for (size_t i = 0; i < memrefs.size(); ++i) {
    for (Value address : retained)
      free[i] = arith::AndIOp::create(
          builder, free[i],
          compare(arith::CmpIPredicate::ne, memrefs[i], address));
    for (size_t j = 0; j < i; ++j) {
      Value same = compare(arith::CmpIPredicate::eq, memrefs[i], memrefs[j]);
      Value again = arith::AndIOp::create(builder, same, free[j]);
      Value yes = arith::ConstantIntOp::create(builder, 1, 1);
      free[i] = arith::AndIOp::create(
          builder, free[i], arith::XOrIOp::create(builder, again, yes));
    }
  }
  for (auto [memref, condition] : llvm::zip(op.getMemrefs(), free)) {
    auto guard =
        scf::IfOp::create(builder, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(guard.thenBlock());
    memref::DeallocOp::create(builder, memref);
  }
  op.erase();
}

namespace {
struct TesseraLowerDeallocationsPass
    : public tessera::impl::TesseraLowerDeallocationsBase<
          TesseraLowerDeallocationsPass> {
  using TesseraLowerDeallocationsBase::TesseraLowerDeallocationsBase;

  void runOnOperation() override {
    SmallVector<bufferization::DeallocOp> ops;
    getOperation()->walk(
        [&](bufferization::DeallocOp op) { ops.push_back(op); });
    for (bufferization::DeallocOp op : ops) {
      LDBG() << op.getLoc() << ": frees up to " << op.getMemrefs().size()
             << " buffers, keeps " << op.getRetained().size();
      lower(op);
      ++numLoweredDeallocations;
    }
  }
};
} // namespace
