//===- MapLinalgToSimt.cpp - linalg ops to kernels of scalar threads ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that are not matmuls of fragments become kernels too, one per op, or per
// group of ops on rows (RowGroups.h).
// Dimensions that are contiguous in all operands are collapsed. The kernel
// depends on the kind of op:
//
//   a reduction by a known operation     many threads (SimtReduction.cpp)
//   several ops on the same rows         a team for each row (SimtRows.cpp)
//   element-wise, an operand transposed  tiles in workgroup memory, or in the
//                                        registers of a single thread
//   element-wise                         threads with a vector each
//   anything else                        a thread with a point each; dimensions
//                                        of a reduction are loops inside
//
// Points are consecutive in the order of the output in memory, over the threads
// of a workgroup:
//
//   linear = block * 256 + thread;  (i, j) = (linear / J, linear % J)
//
// or, if the chip's threads compute many points each, along its fastest
// dimension within a thread.
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToGPU/InitialFill.h"
#include "Conversion/LinalgToGPU/PointMapping.h"
#include "Conversion/LinalgToGPU/RowGroups.h"
#include "Conversion/Passes.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/IR/WindowSchedule.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/InterleaveVectors.h"
#include "Scheduling/WindowTask.h"
#include "Simt.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAMAPLINALGTOSIMT
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-map-linalg-to-simt"

STATISTIC(numMappedOps, "Number of linalg ops mapped to threads");
STATISTIC(numDroppedSchedules,
          "Number of tuned window schedules that are not legal and not used");

using namespace mlir;
using namespace mlir::tessera;

using namespace mlir::tessera::simt;

/// Rows and columns of a tile that is transposed in workgroup memory.
static constexpr int64_t tileSize = 32;

//===----------------------------------------------------------------------===//
// Collapsing
//===----------------------------------------------------------------------===//

/// Whether `first` and the dimension after it are contiguous in the memory of
/// every operand of `op`, so that they can be collapsed.
static bool canCollapse(linalg::LinalgOp op, unsigned first) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  if (iterators[first] != iterators[first + 1])
    return false;
  bool used = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    std::optional<unsigned> at =
        map.getResultPosition(getAffineDimExpr(first, op->getContext()));
    bool uses = map.isFunctionOfDim(first) || map.isFunctionOfDim(first + 1);
    if (!uses)
      continue;
    used = true;
    if (!at || *at + 1 >= map.getNumResults() ||
        map.getResult(*at + 1) != getAffineDimExpr(first + 1, op->getContext()))
      return false;
    for (auto [r, result] : llvm::enumerate(map.getResults()))
      if (r != *at && r != *at + 1 &&
          (result.isFunctionOfDim(first) || result.isFunctionOfDim(first + 1)))
        return false;
    SmallVector<ReassociationIndices> groups;
    for (int64_t r = 0; r < type.getRank(); ++r)
      if (r == *at + 1)
        groups.back().push_back(r);
      else
        groups.push_back({r});
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(type, groups))
      return false;
  }
  return used;
}

/// `op` with the dimensions collapsed that its operands allow.
static linalg::LinalgOp collapse(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic || generic.hasIndexSemantics() || generic.getNumLoops() < 2 ||
      !llvm::all_of(generic.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return op;
  SmallVector<ReassociationIndices> groups;
  bool any = false;
  for (unsigned d = 0; d < generic.getNumLoops(); ++d) {
    if (d > 0 && canCollapse(op, d - 1)) {
      groups.back().push_back(d);
      any = true;
    } else {
      groups.push_back({d});
    }
  }
  if (!any)
    return op;
  IRRewriter rewriter(op);
  FailureOr<linalg::CollapseResult> result =
      linalg::collapseOpIterationDims(op, groups, rewriter);
  if (failed(result))
    return op;
  op->erase();
  return result->collapsedOp;
}

/// Named ops as generic ones.
static linalg::LinalgOp generalize(linalg::LinalgOp op) {
  IRRewriter rewriter(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return op;
  return cast<linalg::LinalgOp>(generic->getOperation());
}

//===----------------------------------------------------------------------===//
// Mapping
//===----------------------------------------------------------------------===//

namespace {
/// Maps one linalg op.
class Mapper {
public:
  /// `starts` are the outputs' values ahead of a reduction; null where they are
  /// in memory.
  Mapper(linalg::LinalgOp op, ArrayRef<Value> starts, const Chip &chip)
      : op(op), starts(starts), chip(chip), builder(op.getLoc(), op),
        math(builder) {}

  LogicalResult run();

private:
  Operand getOperand(OpOperand &operand) {
    return {operand.get(), op.getMatchingIndexingMap(&operand)};
  }
  /// The values of output `i` ahead of a reduction.
  Value getStart(ImplicitLocOpBuilder &b, unsigned i,
                 const Position &position) {
    if (starts[i])
      return simt::broadcast(b, starts[i], position.width);
    return emitLoad(b, getOperand(*op.getDpsInitOperand(i)), position);
  }
  BlockArgument getReadArgument(OpOperand &operand) {
    return simt::getReadArgument(op, operand);
  }

  /// Many threads for each result; fails if the op's combiners are not known.
  LogicalResult emitReduction();
  /// Chooses the points that one thread computes, or takes them from the
  /// schedule of a window.
  LogicalResult choosePoints();
  /// Creates a launch of that many threads, with the purpose and the schedule
  /// of the op.
  gpu::LaunchOp launchPoints(Value gridX, Value gridY, int64_t threads);
  void launchThreads();
  void launchChunks();
  /// The dimension along which an input is contiguous, if the output is
  /// contiguous along another.
  std::optional<unsigned> getTransposedDim();
  void launchTiles(unsigned other);
  /// The elements along a row and a column of a block that is transposed in
  /// registers; 0 if the body is not computed for vectors.
  int64_t getBlockWidth();
  void launchBlocks(unsigned other);
  void emitBlock(unsigned other, int64_t width);
  /// The part of `end` that a workgroup computes, at most `step`.
  std::pair<Value, Value> getChunk(Value block, Value step, Value end);
  /// Runs the function in a loop, with the index of dimension `d`.
  void emitLoop(unsigned d, Value from, Value to, int64_t step,
                function_ref<void()> body);

  /// The op at the parallel indices that are set, for `width` points.
  void emitPoints(int64_t width);
  /// One run of the body. `carried` are the outputs' values so far; null where
  /// they are in memory.
  SmallVector<Value> emitBody(const Position &position,
                              ArrayRef<Value> carried);
  /// The arguments of the body at `position`, and what it yields.
  IRMapping mapArguments(const Position &position, ArrayRef<Value> carried);
  SmallVector<Value> getYielded(const IRMapping &mapping);
  /// One run of the body for each point: vectors of what it yields.
  SmallVector<Value> emitSeparately(const Position &all);
  /// A body with loops for the points at `first` of each of the rows.
  void emitLoops(const Position &first);

  linalg::LinalgOp op;
  ArrayRef<Value> starts;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  IndexMath math;
  /// Extents of the iteration dimensions, and the current indices.
  SmallVector<Value> sizes, index;
  SmallVector<unsigned> parallel, reduction;
  /// The points of a thread.
  PointMapping points;
  /// The schedule of a window that threads compute; null for other ops.
  WindowScheduleAttr schedule;
  /// Whether the program or a record has it.
  bool isGiven = false;
  /// Elements of operands that have been read already, by operand number.
  DenseMap<unsigned, Value> loaded;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult Mapper::emitReduction() {
  Block &body = *op.getBlock();
  SmallVector<Operation *> combiners;
  Reduction what(op.getLoc());
  auto reject = [&](StringRef why) -> LogicalResult {
    LDBG() << op.getLoc() << ": one thread for each result: " << why;
    return failure();
  };
  if (op.hasIndexSemantics() && body.getNumArguments() == 0)
    return reject("it has indices and no operands");
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    AffineMap map = op.getMatchingIndexingMap(&output);
    if (llvm::any_of(reduction,
                     [&](unsigned d) { return map.isFunctionOfDim(d); }) ||
        !llvm::all_of(parallel,
                      [&](unsigned d) { return map.isFunctionOfDim(d); }))
      return reject("an output's map is not of the parallel dimensions");
    Operation *combiner = getCombiner(op, i);
    if (!combiner || llvm::is_contained(combiners, combiner))
      return reject("an output is not combined by a single known op");
    combiners.push_back(combiner);
    what.results.push_back({combiner->getResult(0).getType(),
                            *linalg::getCombinerOpKind(combiner),
                            *arith::getNeutralElement(combiner)});
    what.outputs.push_back(getOperand(output));
  }
  // The combiners end the body: nothing else sees a partial result.
  for (Operation *combiner : combiners)
    if (!combiner->hasOneUse())
      return reject("the body uses a partial result");
  for (OpOperand *input : op.getDpsInputOperands())
    if (getReadArgument(*input))
      what.operands.push_back(getOperand(*input));
  what.sizes = sizes;
  what.parallel = parallel;
  what.reduction = reduction;
  what.vectorizable = canVectorize(body);
  what.vectorFinish = true;

  what.accumulate = [&](ImplicitLocOpBuilder &b, const Position &position,
                        ValueRange accs) {
    IRMapping mapping;
    for (OpOperand *input : op.getDpsInputOperands())
      if (BlockArgument argument = getReadArgument(*input))
        mapping.map(argument, emitLoad(b, getOperand(*input), position));
    for (auto [argument, acc] : llvm::zip(op.getRegionOutputArgs(), accs))
      mapping.map(argument, acc);
    cloneBody(b, body, position, mapping);
    SmallVector<Value> results;
    for (Value value : body.getTerminator()->getOperands())
      results.push_back(
          simt::broadcast(b, mapping.lookupOrDefault(value), position.width));
    return results;
  };
  what.finish = [&](ImplicitLocOpBuilder &b, const Position &position,
                    ValueRange values) {
    for (auto [i, value] : llvm::enumerate(values)) {
      Value old = getStart(b, i, position);
      emitStore(b,
                vector::makeArithReduction(b, op.getLoc(), what.results[i].kind,
                                           old, value),
                what.outputs[i], position);
    }
  };
  simt::emitReduction(builder, what, chip);
  return success();
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

std::optional<unsigned> Mapper::getTransposedDim() {
  if (!reduction.empty() || parallel.size() < 2 || points.width > 1)
    return std::nullopt;
  unsigned inner = parallel.back();
  for (OpOperand &output : op.getDpsInitsMutable())
    if (getMovement(getOperand(output), inner) != Movement::Contiguous ||
        getReadArgument(output))
      return std::nullopt;
  // A thread does not write half of a byte of workgroup memory.
  for (Value input : op.getDpsInputs())
    if (isPacked(getElementTypeOrSelf(input.getType())))
      return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!getReadArgument(*input) || !isa<MemRefType>(input->get().getType()))
      continue;
    Operand operand = getOperand(*input);
    std::optional<unsigned> fastest = getFastestDim(operand, {});
    // Where one is short, a line of memory serves for its neighbours as well.
    auto isLong = [&](unsigned d) {
      std::optional<int64_t> size = getConstantIntValue(sizes[d]);
      return !size || *size >= tileSize / 2;
    };
    if (fastest && *fastest != inner && operand.map.isFunctionOfDim(inner) &&
        isLong(*fastest) && isLong(inner))
      return fastest;
  }
  return std::nullopt;
}

gpu::LaunchOp Mapper::launchPoints(Value gridX, Value gridY, int64_t threads) {
  gpu::LaunchOp launch = createLaunch(builder, gridX, gridY, threads);
  if (Attribute packing =
          op->getAttr(TesseraDialect::PackingAttrHelper::getNameStr()))
    launch->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(), packing);
  if (schedule)
    launch->setAttr(windowScheduleName, schedule);
  if (Attribute origin =
          op->getAttr(TesseraDialect::ScheduleOriginAttrHelper::getNameStr()))
    launch->setAttr(TesseraDialect::ScheduleOriginAttrHelper::getNameStr(),
                    origin);
  return launch;
}

/// Emits tiles of the last parallel dimension and of `other`. Operands that are
/// contiguous along the latter are read along it, and transposed in workgroup
/// memory, whose rows are padded by one element to avoid bank conflicts in both
/// directions.
void Mapper::launchTiles(unsigned other) {
  unsigned inner = parallel.back();
  SmallVector<unsigned> rest;
  for (unsigned d : parallel)
    if (d != inner && d != other)
      rest.push_back(d);
  Value tile = math.constant(tileSize);
  SmallVector<Value> counts(sizes);
  counts[inner] = math.ceilDiv(sizes[inner], tile);
  counts[other] = math.ceilDiv(sizes[other], tile);
  SmallVector<unsigned> order(rest);
  order.append({other, inner});
  int64_t threads = points.threads, rowsAtOnce = threads / tileSize;
  gpu::LaunchOp launch =
      launchPoints(math.product(counts, order), math.constant(1), threads);
  Value column = math.rem(launch.getThreadIds().x, tile);
  Value row = math.div(launch.getThreadIds().x, tile);
  SmallVector<Value> first(sizes.size());
  math.delinearize(launch.getBlockIds().x, counts, order, first);
  first[inner] = math.mul(first[inner], tileSize);
  first[other] = math.mul(first[other], tileSize);
  index = first;

  // Runs the function in every thread, for the point `slow` rows down and
  // `fast` columns to the right in the tile, if it is in bounds.
  auto forEachRow = [&](unsigned slowDim, unsigned fastDim,
                        function_ref<void(Value slow)> body) {
    for (int64_t r = 0; r < tileSize; r += rowsAtOnce) {
      Value slow = math.add(row, math.constant(r));
      index[slowDim] = math.add(first[slowDim], slow);
      index[fastDim] = math.add(first[fastDim], column);
      Value inside = arith::AndIOp::create(
          builder,
          arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                index[slowDim], sizes[slowDim]),
          arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                index[fastDim], sizes[fastDim]));
      OpBuilder::InsertionGuard guard(builder);
      auto branch =
          scf::IfOp::create(builder, inside, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(branch.thenBlock());
      body(slow);
    }
  };
  auto space = gpu::AddressSpaceAttr::get(
      op.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  SmallVector<std::pair<unsigned, Value>> buffers;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Operand operand = getOperand(*input);
    if (!getReadArgument(*input) || !operand.map.isFunctionOfDim(inner) ||
        getMovement(operand, other) != Movement::Contiguous)
      continue;
    Type element = getElementTypeOrSelf(input->get().getType());
    Value buffer = launch.addWorkgroupAttribution(
        MemRefType::get({tileSize, tileSize + 1}, element,
                        MemRefLayoutAttrInterface(), space),
        op.getLoc());
    buffers.push_back({input->getOperandNumber(), buffer});
    forEachRow(inner, other, [&](Value slow) {
      Value value = emitLoad(builder, operand, Position{index});
      memref::StoreOp::create(builder, value, buffer, ValueRange{slow, column});
    });
  }
  gpu::BarrierOp::create(builder);
  forEachRow(other, inner, [&](Value slow) {
    for (auto [number, buffer] : buffers)
      loaded[number] =
          memref::LoadOp::create(builder, buffer, ValueRange{column, slow});
    emitPoints(1);
  });
}

int64_t Mapper::getBlockWidth() {
  // More vectors of the operand and of the output would not fit in registers.
  constexpr int64_t most = 16;
  if (!canVectorize(*op.getBlock()))
    return 0;
  int64_t bytes = 1;
  for (Value operand : op->getOperands()) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (isPacked(element) || !isDense(element))
      return 0;
    bytes = std::max(bytes, getElementBytes(element));
  }
  return std::min(chip.accessBytes / bytes, most);
}

/// Emits a block of `width` times `width` points at the current indices. The
/// operands that are contiguous along `other` are read along it:
///
///     other                        other
///     |  a0 b0 c0 d0   width       |  a0 a1 a2 a3
///     v  a1 b1 c1 d1   vectors     v  b0 b1 b2 b3   a vector of the output
///        a2 b2 c2 d2      ->          c0 c1 c2 c3   along the last dimension
///        a3 b3 c3 d3                  d0 d1 d2 d3
void Mapper::emitBlock(unsigned other, int64_t width) {
  unsigned inner = parallel.back();
  const SmallVector<Value> first(index);
  auto moveTo = [&](unsigned d, int64_t distance) {
    index = first;
    index[d] = math.add(first[d], math.constant(distance));
  };
  SmallVector<std::pair<unsigned, SmallVector<Value>>> transposed;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Operand operand = getOperand(*input);
    if (!getReadArgument(*input) || !operand.map.isFunctionOfDim(inner) ||
        !isa<MemRefType>(input->get().getType()) ||
        getMovement(operand, other) != Movement::Contiguous)
      continue;
    SmallVector<Value> rows;
    for (int64_t i = 0; i < width; ++i) {
      moveTo(inner, i);
      rows.push_back(emitLoad(builder, operand, Position{index, other, width}));
    }
    interleaveVectors(builder, op.getLoc(), rows);
    transposed.push_back({input->getOperandNumber(), rows});
  }
  for (int64_t i = 0; i < width; ++i) {
    moveTo(other, i);
    for (auto &[number, columns] : transposed)
      loaded[number] = columns[i];
    emitPoints(width);
  }
  loaded.clear();
  index = first;
}

/// Workgroups of one thread: x runs over pieces of `other` and the dimensions
/// before it, y over pieces of the last dimension. A piece is transposed in
/// blocks, the last dimension in the outer loop: the thread reads some adjacent
/// lines of each page, and the lines that it writes follow each other.
void Mapper::launchBlocks(unsigned other) {
  constexpr int64_t adjacent = 4;
  int64_t width = getBlockWidth();
  unsigned inner = parallel.back();
  SmallVector<unsigned> order;
  for (unsigned d : parallel)
    if (d != inner && d != other)
      order.push_back(d);
  order.push_back(other);
  Value ofOther = math.constant(adjacent * width),
        ofInner = math.constant(std::max(
            chip.policy.simt.pointsPerThread / (adjacent * width), width));
  SmallVector<Value> counts(sizes);
  counts[other] = math.ceilDiv(sizes[other], ofOther);
  gpu::LaunchOp launch =
      launchPoints(math.product(counts, order),
                   math.ceilDiv(sizes[inner], ofInner), /*threads=*/1);
  math.delinearize(launch.getBlockIds().x, counts, order, index);
  Value begin, end, otherBegin, otherEnd;
  std::tie(begin, end) =
      getChunk(launch.getBlockIds().y, ofInner, sizes[inner]);
  std::tie(otherBegin, otherEnd) =
      getChunk(index[other], ofOther, sizes[other]);
  auto getMiddle = [&](Value from, Value to) {
    Value blocks = math.div(math.sub(to, from), math.constant(width));
    return math.add(from, math.mul(blocks, width));
  };
  Value middle = getMiddle(begin, end),
        otherMiddle = getMiddle(otherBegin, otherEnd);
  emitLoop(inner, begin, middle, width, [&] {
    emitLoop(other, otherBegin, otherMiddle, width,
             [&] { emitBlock(other, width); });
  });
  auto isWhole = [&](unsigned d) {
    std::optional<int64_t> extent = getConstantIntValue(sizes[d]);
    return extent && *extent % width == 0;
  };
  auto emitRest = [&](Value from, Value to, Value otherFrom) {
    emitLoop(other, otherFrom, otherEnd, 1,
             [&] { emitLoop(inner, from, to, 1, [&] { emitPoints(1); }); });
  };
  if (!isWhole(other))
    emitRest(begin, middle, otherMiddle);
  if (!isWhole(inner))
    emitRest(middle, end, otherBegin);
}

/// A thread for each point, or for each vector of points.
void Mapper::launchThreads() {
  SmallVector<Value> counts(sizes);
  unsigned inner = parallel.empty() ? 0 : parallel.back();
  int64_t width = points.width, rows = points.rows;
  unsigned rowDim = points.rowDim, lineDim = points.lineDim;
  if (width > 1)
    counts[inner] = math.ceilDiv(sizes[inner], math.constant(width));
  if (rows > 1)
    counts[rowDim] = math.div(sizes[rowDim], math.constant(rows));
  if (points.lines > 1)
    counts[lineDim] = math.div(sizes[lineDim], math.constant(points.lines));
  Value total = math.product(counts, parallel);
  int64_t threads = points.threads;
  gpu::LaunchOp launch = launchPoints(
      math.ceilDiv(total, math.constant(threads)), math.constant(1), threads);
  Value linear =
      arith::AddIOp::create(builder, math.mul(launch.getBlockIds().x, threads),
                            launch.getThreadIds().x);
  Value inside =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, linear, total);
  auto guard = scf::IfOp::create(builder, inside, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guard.thenBlock());
  math.delinearize(linear, counts, parallel, index);
  if (rows > 1) {
    Value &row = index[rowDim];
    row = math.mul(row, rows);
  }
  if (points.lines > 1) {
    Value &line = index[lineDim];
    line = math.mul(line, points.lines);
  }
  if (width == 1) {
    emitPoints(1);
    return;
  }
  Value first = math.mul(index[inner], width);
  index[inner] = first;
  std::optional<int64_t> extent = getConstantIntValue(sizes[inner]);
  if (extent && *extent % width == 0) {
    emitPoints(width);
    return;
  }
  // The last vector may be a part of one.
  Value whole = arith::CmpIOp::create(builder, arith::CmpIPredicate::ule,
                                      math.add(first, math.constant(width)),
                                      sizes[inner]);
  auto choice = scf::IfOp::create(builder, whole, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(choice.thenBlock());
  emitPoints(width);
  builder.setInsertionPointToStart(choice.elseBlock());
  auto loop =
      scf::ForOp::create(builder, first, sizes[inner], math.constant(1));
  builder.setInsertionPointToStart(loop.getBody());
  index[inner] = loop.getInductionVar();
  emitPoints(1);
}

std::pair<Value, Value> Mapper::getChunk(Value block, Value step, Value end) {
  Value begin = arith::MulIOp::create(builder, block, step);
  return {begin,
          arith::MinUIOp::create(
              builder, arith::AddIOp::create(builder, begin, step), end)};
}

void Mapper::emitLoop(unsigned d, Value from, Value to, int64_t step,
                      function_ref<void()> body) {
  auto loop = scf::ForOp::create(builder, from, to, math.constant(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  index[d] = loop.getInductionVar();
  body();
}

/// Workgroups of one thread: x runs over rows (the parallel dimensions but the
/// last, linearized), y over pieces of the last.
void Mapper::launchChunks() {
  Value one = math.constant(1);
  if (parallel.empty()) {
    launchPoints(one, one, /*threads=*/1);
    emitPoints(1);
    return;
  }
  unsigned inner = parallel.back();
  ArrayRef<unsigned> outer = ArrayRef<unsigned>(parallel).drop_back();
  Value numRows = math.product(sizes, outer);
  // The number of rows that make up the requested points.
  Value requested = math.constant(chip.policy.simt.pointsPerThread);
  Value rows = math.max(math.div(requested, math.max(sizes[inner], one)), one);
  gpu::LaunchOp launch =
      launchPoints(outer.empty() ? one : math.ceilDiv(numRows, rows),
                   math.ceilDiv(sizes[inner], requested), /*threads=*/1);
  auto [rowBegin, rowEnd] = getChunk(launch.getBlockIds().x, rows, numRows);
  auto [begin, end] = getChunk(launch.getBlockIds().y, requested, sizes[inner]);
  if (!outer.empty()) {
    auto loop = scf::ForOp::create(builder, rowBegin, rowEnd, one);
    builder.setInsertionPointToStart(loop.getBody());
    math.delinearize(loop.getInductionVar(), sizes, outer, index);
  }
  auto emitPieces = [&](Value from, Value to, int64_t step) {
    emitLoop(inner, from, to, step, [&] { emitPoints(step); });
  };
  int64_t width = points.width;
  if (width > 1) {
    Value count = math.div(math.sub(end, begin), math.constant(width));
    Value middle = math.add(begin, math.mul(count, width));
    emitPieces(begin, middle, width);
    begin = middle;
  }
  std::optional<int64_t> extent = getConstantIntValue(sizes[inner]);
  if (width == 1 || !extent || *extent % width)
    emitPieces(begin, end, 1);
}

IRMapping Mapper::mapArguments(const Position &position,
                               ArrayRef<Value> carried) {
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = getReadArgument(operand);
    if (!argument)
      continue;
    Value value = loaded.lookup(operand.getOperandNumber());
    if (op.isDpsInit(&operand))
      value = carried[operand.getOperandNumber() - op.getNumDpsInputs()];
    mapping.map(argument,
                value ? value
                      : emitLoad(builder, getOperand(operand), position));
  }
  return mapping;
}

SmallVector<Value> Mapper::getYielded(const IRMapping &mapping) {
  SmallVector<Value> results;
  for (Value value : op.getBlock()->getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

SmallVector<Value> Mapper::emitBody(const Position &position,
                                    ArrayRef<Value> carried) {
  IRMapping mapping = mapArguments(position, carried);
  cloneBody(builder, *op.getBlock(), position, mapping);
  return getYielded(mapping);
}

void Mapper::emitLoops(const Position &first) {
  SmallVector<Position> accesses, positions;
  SmallVector<IRMapping> mappings;
  SmallVector<Value> noValues(op.getNumDpsInits());
  Strip strip;
  if (points.isStrip)
    strip = {first.width, *getConstantIntValue(sizes[first.along])};
  Lines lines{points.lines};
  if (lines.count > 1)
    lines.stride = getSlidingStride(*op.getBlock(), points.lineDim);
  for (int64_t i = 0; i < points.lines * points.rows; ++i) {
    Position access = first;
    auto move = [&](unsigned dim, int64_t distance) {
      if (distance != 0)
        access.index[dim] =
            math.add(access.index[dim], math.constant(distance));
    };
    move(points.rowDim, i % points.rows);
    move(points.lineDim, i / points.rows);
    IRMapping arguments = mapArguments(access, noValues);
    for (int64_t point = 0; point < strip.width; ++point) {
      mappings.push_back(arguments);
      positions.push_back(access);
      if (!points.isStrip)
        continue;
      positions.back().width = 1;
      positions.back().index[first.along] =
          math.add(access.index[first.along], point);
      for (BlockArgument argument : op.getBlock()->getArguments())
        if (Value all = arguments.lookupOrNull(argument);
            all && isa<VectorType>(all.getType()))
          mappings.back().map(argument,
                              vector::ExtractOp::create(builder, all, point));
    }
    accesses.push_back(std::move(access));
  }
  cloneLoops(builder, *op.getBlock(), positions, mappings, strip, lines,
             points.unrolledIterations, chip);
  for (auto [row, access] : llvm::enumerate(accesses)) {
    auto ofRow = ArrayRef<IRMapping>(mappings).slice(
        row * static_cast<size_t>(strip.width),
        static_cast<size_t>(strip.width));
    SmallVector<SmallVector<Value>> values(op.getNumDpsInits());
    for (const IRMapping &mapping : ofRow)
      for (auto [list, value] : llvm::zip_equal(values, getYielded(mapping)))
        list.push_back(value);
    for (auto [list, output] :
         llvm::zip_equal(values, op.getDpsInitsMutable())) {
      Value value = list.front();
      if (points.isStrip)
        value = vector::FromElementsOp::create(
            builder, VectorType::get(access.width, value.getType()), list);
      emitStore(builder, value, getOperand(output), access);
    }
  }
}

SmallVector<Value> Mapper::emitSeparately(const Position &all) {
  SmallVector<SmallVector<Value>> values(op.getNumDpsInits());
  for (int64_t i = 0; i < all.width; ++i) {
    Position position{all.index, all.along, 1};
    position.index[all.along] = math.add(all.index[all.along], i);
    SmallVector<Value> noValues(op.getNumDpsInits());
    for (auto [list, value] :
         llvm::zip_equal(values, emitBody(position, noValues)))
      list.push_back(value);
  }
  SmallVector<Value> vectors;
  for (ArrayRef<Value> list : values)
    vectors.push_back(vector::FromElementsOp::create(
        builder, VectorType::get(all.width, list[0].getType()), list));
  return vectors;
}

void Mapper::emitPoints(int64_t width) {
  unsigned numOutputs = op.getNumDpsInits();
  Position position{index, parallel.empty() ? 0 : parallel.back(), width};
  auto storeOutputs = [&](ValueRange values) {
    for (auto [value, output] : llvm::zip(values, op.getDpsInitsMutable()))
      emitStore(builder, value, getOperand(output), position);
  };
  if (points.hasLoops && (width > 1 || points.rows > 1 || points.lines > 1))
    return emitLoops(position);
  if (points.isSeparate && width > 1)
    return storeOutputs(emitSeparately(position));
  if (reduction.empty()) {
    storeOutputs(emitBody(position, SmallVector<Value>(numOutputs)));
    return;
  }

  // Outputs that do not move with the reduction stay in registers.
  bool carry = llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &output) {
    AffineMap map = op.getMatchingIndexingMap(&output);
    return llvm::none_of(reduction,
                         [&](unsigned d) { return map.isFunctionOfDim(d); });
  });
  Value zero = math.constant(0), one = math.constant(1);
  SmallVector<Value> values;
  if (carry)
    for (unsigned i = 0; i < numOutputs; ++i)
      values.push_back(getStart(builder, i, position));
  SmallVector<scf::ForOp> loops;
  for (unsigned d : reduction) {
    auto loop = scf::ForOp::create(builder, zero, sizes[d], one, values);
    loops.push_back(loop);
    builder.setInsertionPointToStart(loop.getBody());
    position.index[d] = loop.getInductionVar();
    values.assign(loop.getRegionIterArgs().begin(),
                  loop.getRegionIterArgs().end());
  }
  if (!carry) {
    storeOutputs(emitBody(position, SmallVector<Value>(numOutputs)));
    return;
  }
  SmallVector<Value> results = emitBody(position, values);
  for (scf::ForOp loop : llvm::reverse(loops)) {
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, results);
    results.assign(loop.getResults().begin(), loop.getResults().end());
    builder.setInsertionPointAfter(loop);
  }
  storeOutputs(results);
}

LogicalResult Mapper::choosePoints() {
  StringRef originName = TesseraDialect::ScheduleOriginAttrHelper::getNameStr();
  PointMappings mappings(op, chip);
  points = mappings.getDefault();
  parallel = points.parallel;
  if (!getWindowOp(op))
    return success();
  schedule = mappings.getDefaultSchedule();
  WindowScheduleAttr given = getWindowSchedule(op);
  if (!given)
    return success();
  std::string why = mappings.explain(given);
  auto origin = op->getAttrOfType<StringAttr>(originName);
  if (!why.empty() && !origin)
    return op.emitError(why);
  if (!why.empty()) {
    ++numDroppedSchedules;
    op.emitWarning() << "the tuned schedule of this window ("
                     << origin.getValue() << ") is not used: " << why
                     << "; tune it again";
    op->setAttr(originName, builder.getStringAttr(
                                "the compiler's choice: the tuned schedule is "
                                "no longer legal"));
    return success();
  }
  schedule = given;
  points = mappings.get(given);
  isGiven = true;
  if (!origin)
    op->setAttr(originName, builder.getStringAttr("set in the program"));
  return success();
}

LogicalResult Mapper::run() {
  for (Range range : op.createLoopRanges(builder, op.getLoc()))
    sizes.push_back(
        getValueOrCreateConstantIndexOp(builder, op.getLoc(), range.size));
  index.resize(sizes.size());
  op.getParallelDims(parallel);
  for (unsigned d = 0; d < sizes.size(); ++d)
    if (!llvm::is_contained(parallel, d))
      reduction.push_back(d);
  if (reduction.empty() || failed(emitReduction())) {
    if (failed(choosePoints()))
      return failure();
    std::optional<unsigned> transposed;
    if (!isGiven)
      transposed = getTransposedDim();
    if (chip.policy.simt.pointsPerThread > 1) {
      if (transposed && getBlockWidth() > 1)
        launchBlocks(*transposed);
      else
        launchChunks();
    } else if (transposed && points.threads % tileSize == 0) {
      schedule = {};
      points.rows = points.lines = 1;
      launchTiles(*transposed);
    } else {
      launchThreads();
    }
  }
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// `copy` as a linalg op.
static linalg::LinalgOp toLinalg(memref::CopyOp copy) {
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  auto type = cast<MemRefType>(copy.getSource().getType());
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, ValueRange{copy.getSource()}, ValueRange{copy.getTarget()},
      ArrayRef<AffineMap>{map, map}, iterators,
      [](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(builder, loc, arguments[0]);
      });
  copy.erase();
  return cast<linalg::LinalgOp>(generic.getOperation());
}

/// Whether `op` runs on the device.
static bool isInKernel(Operation *op) {
  return op->getParentOfType<gpu::LaunchOp>() ||
         op->getParentOfType<gpu::GPUFuncOp>();
}

/// Whether a condition is false if all scalars that host code reads are zero.
static bool isFalseForZeros(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return isFalseForZeros(both.getLhs()) || isFalseForZeros(both.getRhs());
  return condition.getDefiningOp<memref::LoadOp>() != nullptr;
}

/// A loop whose condition depends on device memory must end where nothing has
/// been computed: host code runs once to plan its memory, and runs to its end
/// after an error.
static LogicalResult checkWhile(scf::WhileOp loop) {
  auto reads = [](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    return load && !load.getMemRef().getDefiningOp<memref::AllocaOp>() &&
                   !isInKernel(load)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  if (!loop->walk(reads).wasInterrupted() ||
      isFalseForZeros(loop.getConditionOp().getCondition()))
    return success();
  return loop.emitError()
         << "reads device memory, but its condition may be true if all of it "
            "is zero: let the condition be an element that is read, or its "
            "conjunction with others";
}

/// Whether host code accesses elements of buffers, other than by reads of
/// scalars. Its runs are not planned, and end at the first access after an
/// error.
static bool accessesBuffers(Operation *function) {
  WalkResult result = function->walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<gpu::LaunchOp, gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto load = dyn_cast<memref::LoadOp>(op);
    bool isScalar = load && load.getMemRefType().hasStaticShape() &&
                    load.getMemRefType().getNumElements() == 1;
    return isa<memref::StoreOp>(op) || (load && !isScalar)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {
struct TesseraMapLinalgToSimtPass
    : public tessera::impl::TesseraMapLinalgToSimtBase<
          TesseraMapLinalgToSimtPass> {
  using TesseraMapLinalgToSimtBase::TesseraMapLinalgToSimtBase;

  void runOnOperation() override {
    SmallVector<RowGroup> groups;
    getOperation()->walk([&](Block *block) {
      Operation *parent = block->getParentOp();
      if (!isa<gpu::LaunchOp, gpu::GPUFuncOp>(parent) && !isInKernel(parent))
        llvm::append_range(groups, gatherRowGroups(*block));
    });
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      if (!isInKernel(copy) && isa<MemRefType>(copy.getSource().getType()) &&
          isa<MemRefType>(copy.getTarget().getType()))
        copies.push_back(copy);
    });
    for (memref::CopyOp copy : copies)
      toLinalg(copy);

    auto isMapped = [](linalg::LinalgOp op) {
      return !isInKernel(op) && op.hasPureBufferSemantics() &&
             op->getNumRegions() == 1 && op.getBlock();
    };
    // Reductions keep their initial values in registers.
    DenseMap<Operation *, SmallVector<Value>> starts;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isMapped(op) || op.getNumReductionLoops() == 0)
        return;
      SmallVector<Value> &values = starts[op];
      for (OpOperand &output : op.getDpsInitsMutable()) {
        linalg::FillOp fill = findInitialFill(op, output);
        values.push_back(fill ? fill.getInputs()[0] : Value());
        if (fill)
          fill.erase();
      }
    });

    if (!groups.empty()) {
      FailureOr<const Chip *> chip = getChip(getOperation());
      if (failed(chip))
        return signalPassFailure();
      for (const RowGroup &group : groups) {
        linalg::LinalgOp last = group.ops.back();
        LDBG() << last.getLoc() << ": a kernel for " << group.ops.size()
               << " ops on " << group.rows << " rows of " << group.columns;
        numMappedOps += group.ops.size();
        simt::emitRowGroup(group, starts, **chip);
      }
    }
    auto map = [&](linalg::LinalgOp op, const Chip &chip) {
      Attribute packing =
          op->getAttr(TesseraDialect::PackingAttrHelper::getNameStr());
      SmallVector<Value> first = starts.lookup(op);
      if (getWindowSchedule(op) && !getWindowOp(op))
        op.emitWarning() << "window_schedule has no effect: this op is not a "
                            "window that threads compute point by point";
      linalg::LinalgOp mapped = collapse(generalize(op));
      if (packing)
        mapped->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(),
                        packing);
      LDBG() << mapped.getLoc() << ": " << mapped.getNumParallelLoops()
             << " parallel and " << mapped.getNumReductionLoops()
             << " reduction loops";
      ++numMappedOps;
      first.resize(mapped.getNumDpsInits());
      return Mapper(mapped, first, chip).run();
    };
    if (failed(forEachOnChip<linalg::LinalgOp>(getOperation(), isMapped, map)))
      return signalPassFailure();
    if (accessesBuffers(getOperation()))
      return;
    WalkResult result =
        getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
          if (isa<gpu::LaunchOp, gpu::GPUModuleOp>(op))
            return WalkResult::skip();
          auto loop = dyn_cast<scf::WhileOp>(op);
          return loop && failed(checkWhile(loop)) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
        });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
