//===- BlockReductions.cpp - Long reductions in blocks --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row of tiles reads all of rhs, and a column of tiles all of lhs. Where K is
// long, what a tile has read is not in the cache any more when the next tile
// reads it. Blocks of K follow each other, and add to the same sums:
//
//          K                        block 0        block 1
//       +-------+---+              +----+  +---+  +----+  +---+
//     M |  lhs  |   |  K           |    |  |   |  |    |  |   |
//       +-------+   |       =>     +----+  +---+  +----+  +---+
//               |rhs|
//               |   |              sums = lhs0 * rhs0
//               +---+              output = epilogue(sums + lhs1 * rhs1)
//                 N
//
//===----------------------------------------------------------------------===//

#include "ContractSlices.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#include <cmath>

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERABLOCKREDUCTIONS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-block-reductions"

STATISTIC(numBlockedReductions, "Number of reductions divided into blocks");

using namespace mlir;
using namespace mlir::tessera;

/// Most blocks of a reduction: each is a kernel.
static constexpr int64_t mostBlocks = 16;

/// The bytes of lhs (0) or rhs (1).
static double getBytes(ContractOp op, unsigned side) {
  auto type = cast<MemRefType>((side ? op.getRhs() : op.getLhs()).getType());
  return double(type.getNumElements()) *
         double(getElementBytes(type.getElementType()));
}

/// Whether memory can limit the matmul: that of narrow elements is limited by
/// conversions, except by dot products.
static bool isFast(ContractOp op, const MatrixForm &form, const Chip &chip) {
  constexpr int64_t wordBytes = 4;
  auto isWord = [](Value operand) {
    return getElementBytes(getElementTypeOrSelf(operand.getType())) >=
           wordBytes;
  };
  return (isWord(op.getLhs()) && isWord(op.getRhs())) ||
         usesDotProducts(op, form, chip);
}

/// The extent of a block of K, or all of K where blocks do not pay. Measured on
/// two cores, in ms without blocks and with them: 4096 cubed 1148 and 673,
/// 4096x1024x4096 348 and 178, 200x4096x11008 224 and 102; but 4096x512x4096,
/// whose rhs has 8 MiB, 86.0 and 86.3, and 4096x256x4096 42.8 and 50.9.
static int64_t chooseBlock(ContractOp op, const MatrixForm &form,
                           const Chip &chip) {
  // Blocks are equal, and have at least 3/4 of the intended extent.
  constexpr int64_t multiple = 16, farCaches = 10;
  int64_t k = getStaticExtents(op, form)[2];
  double cache = double(chip.policy.cacheBytes),
         blocks = double(k * getElementBytes(op.getAccumulatorType())) /
                  double(chip.policy.blockBytes);
  if (getBytes(op, 0) <= cache || getBytes(op, 1) <= farCaches * cache ||
      blocks < 1.5)
    return k;
  return llvm::alignTo(
      llvm::divideCeil(k, std::min<int64_t>(std::ceil(blocks), mostBlocks)),
      multiple);
}

static bool canBlock(ContractOp op, const MatrixForm &form, const Chip &chip) {
  return chip.policy.blockBytes > 0 && !op.getScheduleAttr() &&
         form.k.size() == 1 && !form.gather[0] && !form.gather[1] &&
         op.getProducer(0).empty() && op.getProducer(1).empty() &&
         !op.reducesRows() && isFast(op, form, chip) &&
         llvm::all_of(op.getMappedOperands(), [](Value operand) {
           return cast<MemRefType>(operand.getType()).hasStaticShape();
         });
}

/// Makes `part` store its sums to `sums`.
static void storeSums(ContractOp part, Value sums) {
  Block &epilogue = part.getEpilogue().front();
  auto yield = cast<YieldOp>(epilogue.getTerminator());
  yield->setOperands(epilogue.getArgument(0));
  while (&epilogue.front() != yield)
    yield->getPrevNode()->erase();
  epilogue.eraseArguments(1, epilogue.getNumArguments() - 1);
  part.getExtrasMutable().clear();
  part.setMapsAttr(ArrayAttr::get(part.getContext(),
                                  part.getMaps().getValue().take_front(3)));
  part.getOutputMutable().assign(sums);
}

/// Makes the epilogue of `part` begin with the sum of its own and `sums`.
static void addSums(ContractOp part, Value sums) {
  Block &epilogue = part.getEpilogue().front();
  Location loc = part.getLoc();
  Type type = part.getAccumulatorType();
  SmallVector<Attribute> maps(part.getMaps().getValue());
  maps.push_back(maps[2]);
  part.getExtrasMutable().append(sums);
  part.setMapsAttr(ArrayAttr::get(part.getContext(), maps));
  Value own = epilogue.getArgument(0), before = epilogue.addArgument(type, loc);
  auto builder = OpBuilder::atBlockBegin(&epilogue);
  Value sum = ArithBuilder(builder, loc).add(before, own);
  own.replaceAllUsesExcept(sum, sum.getDefiningOp());
}

/// Replaces `op` by contractions of `block` terms each.
static void divide(ContractOp op, unsigned dim, int64_t block) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  int64_t extent = getStaticExtent(op, dim);
  Type type = op.getAccumulatorType();
  auto output = cast<MemRefType>(op.getOutput().getType());
  bool isInOutput = output.getElementType() == type && op.getExtras().empty();
  Value sums = op.getOutput(), zero;
  if (!isInOutput) {
    sums = memref::AllocOp::create(builder,
                                   MemRefType::get(output.getShape(), type));
    zero = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  }
  for (int64_t at = 0; at < extent; at += block) {
    int64_t size = std::min(block, extent - at);
    bool isFirst = at == 0, isLast = at + size == extent;
    ContractOp part = cloneSlice(builder, op, dim, at, size);
    describeSlice(part, "terms " + Twine(at) + " to " + Twine(at + size - 1) +
                            " of " + Twine(extent) + " along K");
    if (!isLast)
      storeSums(part, sums);
    if (!isInOutput && isLast)
      addSums(part, sums);
    else if (!isFirst)
      part.getInitMutable().clear();
    else if (!isInOutput)
      part.getInitMutable().assign(zero);
  }
  if (!isInOutput)
    memref::DeallocOp::create(builder, sums);
  op.erase();
}

namespace {
struct TesseraBlockReductionsPass
    : public tessera::impl::TesseraBlockReductionsBase<
          TesseraBlockReductionsPass> {
  using TesseraBlockReductionsBase::TesseraBlockReductionsBase;

  void runOnOperation() override {
    auto run = [&](ContractOp op, const Chip &chip) {
      MatrixForm form = getMatrixForm(op);
      if (!canBlock(op, form, chip))
        return success();
      int64_t extent = getStaticExtent(op, form.k[0]),
              block = chooseBlock(op, form, chip);
      if (block >= extent)
        return success();
      LDBG() << op.getLoc() << ": blocks of " << block << " of " << extent;
      divide(op, form.k[0], block);
      ++numBlockedReductions;
      return success();
    };
    if (failed(forEachOnChip<ContractOp>(getOperation(), isOnMemRefs, run)))
      signalPassFailure();
  }
};
} // namespace
