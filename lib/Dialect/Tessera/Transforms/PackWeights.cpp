//===- PackWeights.cpp - Constant weights of few bits along K -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weights that registers widen are read in runs of K. Constants that are stored
// along N, as ONNX does, are transposed when the program is loaded.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "PackImages.h"

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Scheduling/WeightsSchedule.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPACKWEIGHTS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-pack-weights"

STATISTIC(numPackedWeights, "Number of constant weights stored along K");

using namespace mlir;
using namespace mlir::tessera;

/// Copies rhs of `op` to its transpose, if this gives the op the schedule of
/// narrow weights.
static void packWeights(ContractOp op, const Chip &chip) {
  Value weights = op.getRhs();
  auto type = cast<MemRefType>(weights.getType());
  if (op.getScheduleAttr() || op.getProducer(1).empty() ||
      type.getRank() != 2 || !type.hasStaticShape() ||
      !isLargeConstant(weights) || getWeightsSchedule(op, chip))
    return;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  ArrayAttr maps = op.getMaps();
  auto packed = MemRefType::get({type.getDimSize(1), type.getDimSize(0)},
                                type.getElementType());
  auto memory = memref::AllocOp::create(
      builder, packed, builder.getI64IntegerAttr(chip.accessBytes));
  setOperand(op, 1, memory, {1, 0});
  if (!getWeightsSchedule(op, chip)) {
    LDBG() << op.getLoc() << ": not packed: no schedule of narrow weights";
    op.setMapsAttr(maps);
    op.getRhsMutable().assign(weights);
    memory.erase();
    return;
  }
  AffineMap target = builder.getMultiDimIdentityMap(2),
            source = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0},
                                                  builder.getContext());
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      builder, ValueRange{weights}, ValueRange{memory},
      ArrayRef<AffineMap>{source, target}, iterators,
      [](OpBuilder &nested, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(nested, loc, arguments[0]);
      });
  std::string why;
  llvm::raw_string_ostream(why)
      << "copies weights of a matmul, " << type.getDimSize(0) << "x"
      << type.getDimSize(1) << "x" << type.getElementType()
      << ", to rows along K";
  copy->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(),
                builder.getStringAttr(why));
  builder.setInsertionPointAfter(op);
  memref::DeallocOp::create(builder, memory);
  LDBG() << op.getLoc() << ": " << why;
  ++numPackedWeights;
}

namespace {
struct TesseraPackWeightsPass
    : public tessera::impl::TesseraPackWeightsBase<TesseraPackWeightsPass> {
  using TesseraPackWeightsBase::TesseraPackWeightsBase;

  void runOnOperation() override {
    auto pack = [](ContractOp op, const Chip &chip) {
      packWeights(op, chip);
      return success();
    };
    if (failed(forEachOnChip<ContractOp>(getOperation(), isOnMemRefs, pack)))
      signalPassFailure();
  }
};
} // namespace
