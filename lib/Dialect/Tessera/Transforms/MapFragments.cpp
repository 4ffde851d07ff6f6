//===- MapFragments.cpp - Matmuls of a step to register fragments ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mma of a step of 64x32 by 32x64 elements, with kFragment = 16:
//
//   %a = load %A[r, 0] : 64x32          %a0 = load %A[r, 0] : 64x16
//   %b = load %B[0, c] : 32x64    ->    %b0 = load %B[0, c] : 16x64
//   %d = mma %a, %b, %acc               %d0 = mma %a0, %b0, %acc
//                                       %a1 = load %A[r, 16] : 64x16  ...
//
// Ops between load and mma (map, broadcast, convert) are split as well. More
// than a few parts become a loop. So do parts of scalar instructions, of which
// a lane would have thousands: compilers take time that grows faster than their
// number.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Scheduling/Schedule.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAMAPFRAGMENTS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-map-fragments"

STATISTIC(numCutMmas, "Number of tessera.mma split along K");

using namespace mlir;
using namespace mlir::tessera;

/// Whether `value`, an operand of an mma, can be split along K.
static bool canCut(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<LoadOp, FillOp>(op))
    return true;
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return isa<MemRefType>(broadcast.getSource().getType());
  if (auto convert = dyn_cast<ConvertOp>(op))
    return convert.getSource().getType().getRole() ==
               convert.getResult().getType().getRole() &&
           canCut(convert.getSource());
  if (auto map = dyn_cast<MapOp>(op))
    return llvm::all_of(map.getInputs(), canCut);
  return false;
}

namespace {
/// Splits the operands of one mma.
struct Cutter {
  ImplicitLocOpBuilder &builder;
  /// The start of the part, and its length.
  Value offset;
  int64_t length;

  Value add(Value a, Value b) {
    return builder.createOrFold<arith::AddIOp>(a, b);
  }
  /// K runs along the columns of a, and along the rows of b.
  static unsigned getDimension(FragmentType type) {
    return type.getRole() == Role::A ? 1 : 0;
  }
  FragmentType cut(FragmentType type) const {
    bool cols = getDimension(type) == 1;
    return FragmentType::get(cols ? type.getRows() : length,
                             cols ? length : type.getCols(),
                             type.getElementType(), type.getRole());
  }
  Value cut(Value value);
};
} // namespace

Value Cutter::cut(Value value) {
  auto type = cast<FragmentType>(value.getType());
  unsigned dimension = getDimension(type);
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  if (auto load = dyn_cast<LoadOp>(op)) {
    SmallVector<Value> indices(load.getIndices());
    unsigned along = load.getTranspose() ? 1 - dimension : dimension;
    Value &index = indices[indices.size() - 2 + along];
    index = add(index, offset);
    return LoadOp::create(builder, op->getLoc(), cut(type), load.getMemory(),
                          indices, load.getTranspose(), load.getInBounds(),
                          load.getSwizzled());
  }
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    // `dimension` is the one along which it does not vary.
    Value index = broadcast.getIndex();
    if (static_cast<unsigned>(broadcast.getDimension()) != dimension)
      index = add(index, offset);
    return BroadcastOp::create(
        builder, op->getLoc(), cut(type), broadcast.getSource(), index,
        broadcast.getDimension(), broadcast.getInBounds());
  }
  for (Value operand : op->getOperands())
    if (isa<FragmentType>(operand.getType()))
      mapping.map(operand, cut(operand));
  Operation *clone = builder.clone(*op, mapping);
  clone->getResult(0).setType(cut(type));
  if (auto map = dyn_cast<MapOp>(clone); map && map.takesCoordinates()) {
    Block &body = map.getBody().front();
    Value coordinate = body.getArgument(body.getNumArguments() - 2 + dimension);
    OpBuilder inner(&body, body.begin());
    auto moved = arith::AddIOp::create(inner, op->getLoc(), coordinate, offset);
    coordinate.replaceAllUsesExcept(moved, moved);
  }
  return clone->getResult(0);
}

namespace {
/// The extent of parts of a matmul along K, and whether they are in a loop.
struct Parts {
  int64_t length;
  bool areLooped;
};
} // namespace

/// The multiply-adds of a lane along so much of K, twice as many where operands
/// are converted; 0 where the matrix unit, or a subgroup of one lane, computes
/// `op`.
static int64_t countScalars(MmaOp op, const Chip *chip, int64_t length) {
  FragmentType a = op.getA().getType(), b = op.getB().getType(),
               acc = op.getAcc().getType();
  if (!chip || !chip->hasLanes() ||
      hasMatrixMultiply(*chip, a.getElementType(), b.getElementType(),
                        acc.getElementType()))
    return 0;
  int64_t each = a.getElementType() == acc.getElementType() ? 1 : 2;
  return acc.getRows() * acc.getCols() * length * each / chip->subgroupSize;
}

/// The extent of the parts of `op` along K: that of the schedule, or a shorter
/// one with fewer scalar instructions, in a loop.
static Parts chooseParts(MmaOp op, const Chip *chip, ScheduleAttr schedule) {
  constexpr int64_t mostUnrolled = 1024, mostOfPart = 512, shortest = 8;
  int64_t k = op.getA().getType().getCols(), length = schedule.getKFragment(),
          // The matmuls of virtual threads stand side by side.
      together = schedule.getNumVThreads();
  auto count = [&](int64_t extent) {
    return together * countScalars(op, chip, extent);
  };
  bool isLong =
      count(std::min(k, length * maxUnrolledFragments)) > mostUnrolled;
  while (isLong && length % (2 * shortest) == 0 && count(length) > mostOfPart)
    length /= 2;
  return {length, isLong || k / length > maxUnrolledFragments};
}

/// Splits `op` into ops along K.
static void cutMatmul(MmaOp op, Parts of) {
  int64_t length = of.length;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  int64_t k = op.getA().getType().getCols(), parts = k / length;
  assert(k % length == 0 && "parts of unequal length");
  LDBG() << op.getLoc() << ": K of " << k << " in parts of " << length
         << (of.areLooped ? ", in a loop" : ", unrolled");
  ++numCutMmas;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, value);
  };
  auto emit = [&](Value offset, Value acc) -> Value {
    Cutter cutter{builder, offset, length};
    Value a = cutter.cut(op.getA()), b = cutter.cut(op.getB());
    return MmaOp::create(builder, acc.getType(), a, b, acc, op.getUnsignedA(),
                         op.getUnsignedB(), op.getPrecision());
  };
  Value acc = op.getAcc();
  if (!of.areLooped) {
    for (int64_t i = 0; i < parts; ++i)
      acc = emit(constant(i * length), acc);
  } else {
    auto loop = scf::ForOp::create(builder, constant(0), constant(k),
                                   constant(length), acc);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value next = emit(loop.getInductionVar(), loop.getRegionIterArg(0));
    scf::YieldOp::create(builder, next);
    acc = loop.getResult(0);
  }
  // The ops that computed the operands, if they have no other uses.
  SmallVector<Operation *> dead;
  for (Value operand : {op.getA(), op.getB()})
    dead.push_back(operand.getDefiningOp());
  op.getResult().replaceAllUsesWith(acc);
  op.erase();
  while (!dead.empty()) {
    Operation *feeder = dead.pop_back_val();
    if (!feeder || !feeder->use_empty())
      continue;
    for (Value operand : feeder->getOperands())
      if (isa<FragmentType>(operand.getType()) &&
          !llvm::is_contained(dead, operand.getDefiningOp()))
        dead.push_back(operand.getDefiningOp());
    llvm::erase(dead, feeder);
    feeder->erase();
  }
}

namespace {
struct TesseraMapFragmentsPass
    : public tessera::impl::TesseraMapFragmentsBase<TesseraMapFragmentsPass> {
  using TesseraMapFragmentsBase::TesseraMapFragmentsBase;

  void runOnOperation() override {
    const Chip *chip = findAttachedChip(getOperation());
    getOperation()->walk([&](gpu::LaunchOp launch) {
      auto schedule = launch->getAttrOfType<ScheduleAttr>(
          TesseraDialect::ScheduleAttrHelper::getNameStr());
      if (!schedule)
        return;
      int64_t length = schedule.getKFragment();
      SmallVector<MmaOp> matmuls;
      launch.walk([&](MmaOp op) {
        int64_t k = op.getA().getType().getCols();
        if (k % length == 0 && canCut(op.getA()) && canCut(op.getB()))
          matmuls.push_back(op);
      });
      for (MmaOp op : matmuls)
        if (Parts parts = chooseParts(op, chip, schedule);
            parts.length < op.getA().getType().getCols())
          cutMatmul(op, parts);
    });
  }
};
} // namespace
