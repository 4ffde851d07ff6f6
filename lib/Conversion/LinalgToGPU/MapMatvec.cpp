//===- MapMatvec.cpp - Matrix-vector products to SIMT kernels -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A matmul with one row or one column reads each element of its matrix once: it
// is memory bound, and a matrix unit would compute unused rows. It is lowered
// as a reduction over K. Where the matrix unit has instructions for weights of
// 8 or 4 bits, these stay matmuls: plain threads would take longer to widen
// them than memory takes to deliver them. So do matmuls by weights that do not
// stay in the cache where the chip has a schedule for few columns, whose copies
// have more bytes on their way than threads.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "Scheduling/FewColumnsSchedule.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/WeightsSchedule.h"
#include "Simt.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAMAPMATVEC
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-map-matvec"

STATISTIC(numMappedMatvecs,
          "Number of tessera.contract of vectors mapped to threads");

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

/// `value` as the accumulator's type, whose shape it keeps.
static Value widen(ImplicitLocOpBuilder &builder, Value value, Type element,
                   bool isUnsigned) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  unsigned wide = element.getIntOrFloatBitWidth(),
           narrow = from.getIntOrFloatBitWidth();
  if (isa<FloatType>(element)) {
    if (narrow < wide)
      return arith::ExtFOp::create(builder, type, value);
    return arith::TruncFOp::create(builder, type, value);
  }
  if (narrow > wide)
    return arith::TruncIOp::create(builder, type, value);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, type, value);
  return arith::ExtSIOp::create(builder, type, value);
}

/// Extents of M, N and K of `op`, as far as they are known.
static std::array<int64_t, 3> getMatrixExtents(ContractOp op) {
  ContractOp::Dims dims = op.getDims();
  return {getLinearExtent(op, dims.m), getLinearExtent(op, dims.n),
          getLinearExtent(op, dims.k)};
}

/// Whether `op` is a matmul of one row or one column that this pass can
/// express.
static bool isMappable(ContractOp op) {
  if (!isOnMemRefs(op) || op.getScheduleAttr() || op.reducesRows())
    return false;
  auto [m, n, k] = getMatrixExtents(op);
  if (m != 1 && n != 1)
    return false;
  // Otherwise, elements may be outside of an operand.
  for (unsigned i : {0, 1, 2})
    if (!op.getMap(i).isProjectedPermutation())
      return false;
  // Formats of one width convert only through a wider one.
  Type acc = op.getAccumulatorType();
  for (Type element : {op.getFactorType(0), op.getFactorType(1),
                       getElementTypeOrSelf(op.getOutput().getType())}) {
    if (element == acc)
      continue;
    if (!element.isIntOrFloat() ||
        isa<FloatType>(element) != isa<FloatType>(acc) ||
        element.getIntOrFloatBitWidth() == acc.getIntOrFloatBitWidth())
      return false;
  }
  return true;
}

/// The elements of lhs (side 0) or rhs (1) at `position`, after its producer,
/// in the accumulator's type.
static Value emitFactor(ImplicitLocOpBuilder &builder, ContractOp op,
                        unsigned side, const Position &position) {
  Value value = emitLoad(
      builder, {side ? op.getRhs() : op.getLhs(), op.getMap(side)}, position);
  Region &producer = op.getProducer(side);
  if (!producer.empty()) {
    Block &body = producer.front();
    IRMapping mapping;
    mapping.map(body.getArgument(0), value);
    OperandRange inputs = side ? op.getRhsInputs() : op.getLhsInputs();
    for (auto [i, input] : llvm::enumerate(inputs))
      mapping.map(
          body.getArgument(1 + i),
          emitLoad(builder, {input, op.getInputMap(side, i)}, position));
    cloneBody(builder, body, position, mapping);
    value =
        simt::broadcast(builder,
                        mapping.lookupOrDefault(
                            cast<YieldOp>(body.getTerminator()).getValues()[0]),
                        position.width);
  }
  return widen(builder, value, op.getAccumulatorType(),
               side ? op.getUnsignedB() : op.getUnsignedA());
}

/// The steps of a thread along K, each of which takes longer than a part adds
/// to the second kernel. Measured on an H200, settled: 1x1000x2048 takes 15.7
/// us in f16 and 9.7 in i8 with 32 steps at least, 6.2 and 4.6 with 8, and 4.0
/// and 3.4 with 4.
static constexpr int64_t leastSteps = 4;

static ReductionReport mapMatvec(ContractOp op, const Chip &chip) {
  ImplicitLocOpBuilder host(op.getLoc(), op);
  Reduction reduction(op.getLoc());
  for (OpFoldResult extent : op.getExtents(host))
    reduction.sizes.push_back(
        getValueOrCreateConstantIndexOp(host, op.getLoc(), extent));
  AffineMap out = op.getMap(2);
  for (unsigned d = 0; d < out.getNumDims(); ++d)
    if (!out.isFunctionOfDim(d))
      reduction.reduction.push_back(d);
  for (AffineExpr result : out.getResults())
    reduction.parallel.push_back(cast<AffineDimExpr>(result).getPosition());
  Operand lhs{op.getLhs(), op.getMap(0)}, rhs{op.getRhs(), op.getMap(1)},
      output{op.getOutput(), out};
  reduction.leastStepsOfPart = leastSteps;
  reduction.operands = {lhs, rhs};
  reduction.outputs = {output};
  Type acc = op.getAccumulatorType();
  reduction.results = {
      {acc, vector::CombiningKind::ADD, host.getZeroAttr(acc)}};

  for (unsigned side : {0, 1})
    if (!op.getProducer(side).empty())
      reduction.vectorizable &= canVectorize(op.getProducer(side).front());
  reduction.accumulate = [&](ImplicitLocOpBuilder &builder,
                             const Position &position,
                             ValueRange accs) -> SmallVector<Value> {
    Value a = emitFactor(builder, op, 0, position),
          b = emitFactor(builder, op, 1, position);
    if (isa<FloatType>(acc))
      return {math::FmaOp::create(builder, a, b, accs[0])};
    Value product = arith::MulIOp::create(builder, a, b);
    return {arith::AddIOp::create(builder, accs[0], product)};
  };

  Block &epilogue = op.getEpilogue().front();
  reduction.vectorFinish = canVectorize(epilogue);
  reduction.finish = [&](ImplicitLocOpBuilder &builder,
                         const Position &position, ValueRange values) {
    Value start = op.getInit()
                      ? simt::broadcast(builder, op.getInit(), position.width)
                      : widen(builder, emitLoad(builder, output, position), acc,
                              /*isUnsigned=*/false);
    Value sum = isa<FloatType>(acc)
                    ? Value(arith::AddFOp::create(builder, start, values[0]))
                    : arith::AddIOp::create(builder, start, values[0]);
    IRMapping mapping;
    mapping.map(epilogue.getArgument(0), sum);
    for (auto [e, extra] : llvm::enumerate(op.getExtras()))
      if (!epilogue.getArgument(1 + e).use_empty())
        mapping.map(epilogue.getArgument(1 + e),
                    emitLoad(builder, {extra, op.getMap(3 + e)}, position));
    cloneBody(builder, epilogue, position, mapping);
    Value result = mapping.lookupOrDefault(
        cast<YieldOp>(epilogue.getTerminator()).getValues()[0]);
    emitStore(builder, result, output, position);
  };
  ReductionReport report = emitReduction(host, reduction, chip);

  // For --explain.
  std::array<int64_t, 3> extents = getMatrixExtents(op);
  auto [m, n, k] = extents;
  std::string how =
      llvm::Twine("plain threads, ").concat(report.how).str() + ": with " +
      (m == 1 ? n == 1 ? "one row and one column" : "one row" : "one column") +
      ", memory limits it";
  report.launch->setAttr(
      TesseraDialect::PlainMatmulAttrHelper::getNameStr(),
      PlainMatmulAttr::get(op.getContext(), extents, op.getFactorType(0),
                           op.getFactorType(1), acc, host.getStringAttr(how)));
  op.erase();
  return report;
}

namespace {
struct TesseraMapMatvecPass
    : public tessera::impl::TesseraMapMatvecBase<TesseraMapMatvecPass> {
  using TesseraMapMatvecBase::TesseraMapMatvecBase;

  void runOnOperation() override {
    // Schedules of the other contractions are chosen later.
    markAnalysesPreserved<ScheduleRankings>();
    auto map = [](ContractOp op, const Chip &chip) {
      Location loc = op.getLoc();
      if (getWeightsSchedule(op, chip)) {
        LDBG() << loc << ": left to the matrix unit, which widens its weights";
        return success();
      }
      if (getFewColumnsSchedule(op, chip)) {
        LDBG() << loc << ": left to the matrix unit, whose copies run ahead";
        return success();
      }
      ReductionReport report = mapMatvec(op, chip);
      LDBG() << loc << ": " << report.how;
      ++numMappedMatvecs;
      return success();
    };
    if (failed(forEachOnChip<ContractOp>(getOperation(), isMappable, map)))
      signalPassFailure();
  }
};
} // namespace
