//===- TensorMemory.cpp - Accumulators in tensor memory -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An accumulator that a chain of matmuls passes on, through loops, without
// other uses, has columns of its own and stays in place:
//
//   %r = scf.for ... iter_args(%acc = %init)      store %init, unless it is
//   zero
//     %new = tessera.mma %a, %b, %acc         ->  scf.for ...
//     scf.yield %new                                matmuls
//                                                 await; %r = load
//
// Any other mma is a chain of its own. Before and after a chain, the values of
// fragments are registers, as for all other instructions: no other part of the
// compiler deals with tensor memory.
//
//===----------------------------------------------------------------------===//

#include "TensorMemory.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Tcgen05.h"

#include "Conversion/FragmentToVector.h"
#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USETENSORMEMORY
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-tensor-memory"

STATISTIC(numTensorMemoryChains,
          "Number of accumulators kept in tensor memory");

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// An accumulator's way through a kernel.
struct Chain {
  /// Its matmuls, the last one first.
  SmallVector<MmaOp> matmuls;
  /// Loops that carry it, and as which of their values.
  SmallVector<std::pair<scf::ForOp, unsigned>> loops;
  Value init, last;
  const MatrixInstruction *row = nullptr;
  int64_t tiles = 0, firstColumn = 0;
};

class Converter {
public:
  Converter(gpu::GPUFuncOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip) {}

  LogicalResult run();

private:
  const MatrixInstruction *getRow(MmaOp op) const;
  bool trace(Value value, Value stop, Chain &chain) const;
  Chain findChain(MmaOp op) const;
  void convert(Chain &chain, TensorInstructions &instructions);
  void convertMatmul(MmaOp op, const Chain &chain, bool isFirst,
                     bool overwrites, TensorInstructions &instructions);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  /// Matmuls that are part of a chain.
  llvm::SmallPtrSet<Operation *, 4> taken;
};

} // namespace

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

const MatrixInstruction *Converter::getRow(MmaOp op) const {
  auto name = op->getAttrOfType<StringAttr>(
      TesseraDialect::InstructionAttrHelper::getNameStr());
  const MatrixInstruction *row =
      name ? chip.findInstruction(name.getValue()) : nullptr;
  return row && row->tensorMemory ? row : nullptr;
}

/// Follows `value` back to `stop`, or as far as possible if that is null. All
/// values on the path but the first must have no other uses.
bool Converter::trace(Value value, Value stop, Chain &chain) const {
  while (value != stop) {
    Value before;
    if (auto op = value.getDefiningOp<MmaOp>();
        op && getRow(op) && !taken.contains(op) &&
        (!chain.row || getRow(op) == chain.row)) {
      chain.row = getRow(op);
      chain.matmuls.push_back(op);
      before = op.getAcc();
    } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      Chain inside = chain;
      if (!loop.getYieldedValues()[number].hasOneUse() ||
          !trace(loop.getYieldedValues()[number], loop.getRegionIterArg(number),
                 inside) ||
          inside.matmuls.size() == chain.matmuls.size())
        break;
      chain = inside;
      chain.loops.push_back({loop, number});
      before = loop.getInitArgs()[number];
    } else {
      break;
    }
    if (before != stop && !before.hasOneUse()) {
      chain.init = before;
      return !stop;
    }
    if (before == stop && !before.hasOneUse())
      return false;
    value = before;
  }
  chain.init = value;
  return value == stop || !stop;
}

/// Finds the longest chain of the accumulator of `op`.
Chain Converter::findChain(MmaOp op) const {
  Chain best;
  for (Value last = op.getResult();;) {
    Chain chain;
    chain.last = last;
    if (!trace(last, /*stop=*/Value(), chain) ||
        !llvm::is_contained(chain.matmuls, op))
      break;
    best = chain;
    if (!last.hasOneUse())
      break;
    OpOperand &use = *last.use_begin();
    if (auto next = dyn_cast<MmaOp>(use.getOwner());
        next && &use == &next.getAccMutable())
      last = next.getResult();
    else if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()))
      last = loop.getTiedLoopResult(&use);
    else if (auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
             loop && isa<scf::YieldOp>(use.getOwner()))
      last = loop.getResult(use.getOperandNumber());
    else
      break;
  }
  FragmentType type = op.getAcc().getType();
  best.tiles = type.getNumElements() / (best.row->m * best.row->n);
  return best;
}

static bool isZero(Value value) {
  auto fill = value.getDefiningOp<FillOp>();
  return fill && (matchPattern(fill.getValue(), m_PosZeroFloat()) ||
                  matchPattern(fill.getValue(), m_Zero()));
}

/// Whether a loop has at least one iteration.
static bool runsOnce(scf::ForOp loop) {
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound());
  return begin && end && *begin < *end;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Clones the load of an operand for the one thread. Legalization ensures that
/// the operand is a load from memory that does not change before the mma.
static Value cloneLoad(OpBuilder &builder, Value operand) {
  return builder.clone(*operand.getDefiningOp<LoadOp>())->getResult(0);
}

void Converter::convertMatmul(MmaOp op, const Chain &chain, bool isFirst,
                              bool overwrites,
                              TensorInstructions &instructions) {
  Location loc = op.getLoc();
  OpBuilder builder(op);
  auto issuer =
      scf::IfOp::create(builder, loc, instructions.emitIsIssuer(builder, loc),
                        /*withElseRegion=*/false);
  issuer->setAttr(TesseraDialect::IssuerAttrHelper::getNameStr(),
                  builder.getUnitAttr());
  OpBuilder one = issuer.getThenBodyBuilder();
  NVVM::Tcgen05FenceOp::create(one, loc,
                               NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  Value a = cloneLoad(one, op.getA()), b = cloneLoad(one, op.getB());
  // The very first matmul overwrites, in the first iterations of its loops.
  Value adds;
  if (isFirst && overwrites)
    for (auto [loop, number] : chain.loops)
      if (loop->isProperAncestor(op)) {
        Value isLater =
            arith::CmpIOp::create(one, loc, arith::CmpIPredicate::ne,
                                  loop.getInductionVar(), loop.getLowerBound());
        adds = adds ? arith::OrIOp::create(one, loc, adds, isLater).getResult()
                    : isLater;
      }
  if (!adds)
    adds = arith::ConstantOp::create(one, loc,
                                     one.getBoolAttr(!(isFirst && overwrites)));
  instructions.emitMatmul(one, *chain.row, op, a, b, chain.firstColumn, adds);

  auto region = scf::ExecuteRegionOp::create(builder, loc, TypeRange());
  region->setAttr(TesseraDialect::StepAwaitAttrHelper::getNameStr(),
                  builder.getUnitAttr());
  OpBuilder inner = OpBuilder::atBlockBegin(&region.getRegion().emplaceBlock());
  instructions.emitAwait(inner, loc);
  instructions.emitMeeting(inner, loc);
  scf::YieldOp::create(inner, loc);
}

/// Casts a fragment to the vectors of its tiles, or back, as the conversion of
/// fragments does.
static SmallVector<Value> castTiles(OpBuilder &builder, Location loc,
                                    Value fragment, VectorType type,
                                    int64_t tiles) {
  return llvm::to_vector_of<Value>(
      UnrealizedConversionCastOp::create(
          builder, loc, SmallVector<Type>(tiles, type), fragment)
          .getResults());
}

void Converter::convert(Chain &chain, TensorInstructions &instructions) {
  MmaOp first = chain.matmuls.back();
  Location loc = first.getLoc();
  bool overwrites =
      isZero(chain.init) && llvm::all_of(chain.loops, [](const auto &entry) {
        return runsOnce(entry.first);
      });
  FragmentType fragment = first.getAcc().getType();
  auto type = VectorType::get(chain.row->accMap.getNumRegisters(),
                              fragment.getElementType());
  if (!overwrites) {
    // The start of the chain.
    OpBuilder before(chain.loops.empty() ||
                             !chain.loops.back().first->isProperAncestor(first)
                         ? first.getOperation()
                         : chain.loops.back().first.getOperation());
    instructions.emitStore(
        before, loc, *chain.row,
        castTiles(before, loc, chain.init, type, chain.tiles),
        chain.firstColumn);
  }
  OpBuilder after(kernel.getContext());
  after.setInsertionPointAfter(chain.last.getDefiningOp());
  instructions.emitAwait(after, loc);
  SmallVector<Value> tiles = instructions.emitLoad(
      after, loc, *chain.row, type, chain.tiles, chain.firstColumn);
  Value result = UnrealizedConversionCastOp::create(after, loc, fragment, tiles)
                     .getResult(0);
  chain.last.replaceAllUsesWith(result);
  for (MmaOp op : llvm::reverse(chain.matmuls)) {
    convertMatmul(op, chain, /*isFirst=*/op == first, overwrites, instructions);
    op.getResult().replaceAllUsesWith(op.getAcc());
    Value loads[] = {op.getA(), op.getB()};
    op.erase();
    for (Value load : loads)
      if (load.use_empty() && load.getDefiningOp())
        load.getDefiningOp()->erase();
  }
}

LogicalResult Converter::run() {
  SmallVector<Chain> chains;
  int64_t columns = 0;
  kernel.walk([&](MmaOp op) {
    if (!getRow(op) || taken.contains(op))
      return;
    Chain chain = findChain(op);
    for (MmaOp matmul : chain.matmuls)
      taken.insert(matmul);
    LDBG() << op.getLoc() << ": accumulator of " << chain.matmuls.size()
           << " matmuls and " << chain.loops.size() << " loops, from column "
           << columns;
    ++numTensorMemoryChains;
    chain.firstColumn = columns;
    columns += chain.tiles * chain.row->n;
    chains.push_back(std::move(chain));
  });
  if (chains.empty())
    return success();
  std::optional<ArrayRef<int32_t>> size = kernel.getKnownBlockSize();
  int64_t groupThreads = getFragmentGroup(kernel) * chip.subgroupSize;
  if (!size || (*size)[0] % groupThreads != 0 || (*size)[1] != 1 ||
      (*size)[2] != 1 || !kernel.getBody().hasOneBlock())
    return kernel.emitError()
           << "tensor memory requires a kernel of one block and a workgroup "
              "size along x that is a multiple of "
           << groupThreads;
  TensorInstructions instructions(kernel, chip, columns, (*size)[0]);
  if (instructions.getAllocatedColumns() > chip.tensorMemoryColumns)
    return kernel.emitError()
           << "the accumulators need " << instructions.getAllocatedColumns()
           << " columns of tensor memory, but " << chip.name << " has "
           << chip.tensorMemoryColumns;

  Block &top = kernel.getBody().front();
  auto begin = llvm::find_if(top, [](Operation &op) {
    return op.getNumRegions() || !isMemoryEffectFree(&op);
  });
  OpBuilder setUp(&top, begin);
  instructions.emitSetUp(setUp, kernel.getLoc());
  SmallVector<Operation *> loops;
  for (Chain &chain : chains) {
    convert(chain, instructions);
    for (auto [loop, number] : chain.loops)
      loops.push_back(loop);
  }
  OpBuilder end(top.getTerminator());
  instructions.emitEnd(end, kernel.getLoc());

  // Loops no longer carry values that they yield unchanged.
  RewritePatternSet patterns(kernel.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, kernel.getContext());
  if (failed(applyOpPatternsGreedily(loops, std::move(patterns))))
    return kernel.emitError()
           << "compiler defect: the patterns for loops of tensor memory still "
              "match after the last iteration";
  return success();
}

//===----------------------------------------------------------------------===//
// Information for the producer of the operands
//===----------------------------------------------------------------------===//

bool mlir::tessera::hasIssuers(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](scf::IfOp op) {
        return op->hasAttr(TesseraDialect::IssuerAttrHelper::getNameStr())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void mlir::tessera::emitReleaseByCompletion(OpBuilder &builder, Location loc,
                                            Value barriers, Value number,
                                            Value mask) {
  NVVM::Tcgen05CommitOp::create(
      builder, loc,
      BulkInstructions::emitPointer(builder, loc, barriers, number), mask,
      NVVM::CTAGroupKindAttr::get(builder.getContext(),
                                  NVVM::CTAGroupKind::CTA_1));
}

namespace {
struct UseTensorMemoryPass
    : public mlir::tessera::impl::UseTensorMemoryBase<UseTensorMemoryPass> {
  using UseTensorMemoryBase::UseTensorMemoryBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation(), "cuda");
    if (failed(found))
      return signalPassFailure();
    for (auto kernel : getOperation().getOps<gpu::GPUFuncOp>())
      if (failed(Converter(kernel, **found).run()))
        return signalPassFailure();
  }
};
} // namespace
