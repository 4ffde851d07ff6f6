//===- SimtRows.cpp - One kernel for the ops of a group of rows -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team of threads computes each row. A thread has the same columns in every
// op of the group, so that it reads back what it wrote itself:
//
//      columns ->   lane 0 | lane 1 | ... | lane 0 | lane 1 | ...
//
// The result of a reduction is in a register of every thread of the team.
//
//===----------------------------------------------------------------------===//

#include "Simt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

namespace {
class RowEmitter {
public:
  RowEmitter(const RowGroup &group, ReductionStarts starts, const Chip &chip)
      : group(group), starts(starts), chip(chip),
        builder(makeLoc(group), group.ops.back()), math(builder) {}

  void run();

private:
  static Location makeLoc(const RowGroup &group) {
    SmallVector<Location> locs;
    for (linalg::LinalgOp op : group.ops)
      locs.push_back(op.getLoc());
    return FusedLoc::get(group.ops.front()->getContext(), locs);
  }
  void viewMemory();
  void chooseWidth();
  void chooseTeam();
  void emitRow(Value row);
  void emitReduction(linalg::LinalgOp op, const Position &position,
                     const RowLoops &loops);
  void emitElements(linalg::LinalgOp op, const Position &position,
                    const RowLoops &loops);
  /// Runs `body` at the columns of this thread.
  SmallVector<Value>
  emitColumns(Position position, ValueRange first,
              function_ref<SmallVector<Value>(const Position &, ValueRange)>);
  /// The operand as it is accessed: written memory by one view of it for all
  /// ops, so that no two arguments of the kernel are the same memory.
  Operand getOperand(OpOperand &operand, const RowLoops &loops);
  /// The element of the operand at `position`.
  Value read(OpOperand &operand, const Position &position,
             const RowLoops &loops);
  /// The position in the view of written memory.
  Position getOwnPosition(const Position &position, const RowLoops &loops);
  void store(OpOperand &output, Value value, const Position &position,
             const RowLoops &loops);
  /// The combination of a value of each thread of the team, in all of them.
  Value combineTeam(Value value, vector::CombiningKind kind);

  const RowGroup &group;
  ReductionStarts starts;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  IndexMath math;

  /// Written memory as rows and columns, or as rows alone.
  DenseMap<Value, Operand> views;
  /// The elements of rows that are in registers.
  DenseMap<Value, Value> registers;
  int64_t width = 1, team = 1, threads = 1, lanes = 1;
  gpu::LaunchOp launch;
  Value thread, lane, row, inside;
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void RowEmitter::viewMemory() {
  for (linalg::LinalgOp op : group.ops)
    for (Value output : op.getDpsInits()) {
      Value root = getMemoryRoot(output);
      if (views.contains(root))
        continue;
      Value view = root;
      int64_t rank = cast<MemRefType>(root.getType()).getRank();
      if (rank > 1) {
        ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
        view = memref::CollapseShapeOp::create(
            builder, view, ArrayRef<ReassociationIndices>{all});
      }
      if (cast<MemRefType>(root.getType()).getNumElements() != group.rows) {
        auto type =
            MemRefType::get({group.rows, group.columns},
                            cast<MemRefType>(root.getType()).getElementType());
        view = memref::ExpandShapeOp::create(
            builder, type, view,
            ArrayRef<ReassociationIndices>{ReassociationIndices{0, 1}});
      }
      int64_t viewRank = cast<MemRefType>(view.getType()).getRank();
      // The view has two indices, one, or none.
      SmallVector<AffineExpr> indices;
      for (int64_t d = 0; d < viewRank; ++d)
        indices.push_back(builder.getAffineDimExpr(static_cast<unsigned>(d)));
      views[root] = {view, AffineMap::get(2, 0, indices, op.getContext())};
    }
}

Operand RowEmitter::getOperand(OpOperand &operand, const RowLoops &loops) {
  auto view = views.find(getMemoryRoot(operand.get()));
  if (view != views.end())
    return view->second;
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  return {operand.get(), op.getMatchingIndexingMap(&operand)};
}

Position RowEmitter::getOwnPosition(const Position &position,
                                    const RowLoops &loops) {
  Position own;
  own.index = {row, position.index[loops.column]};
  own.along = 1;
  own.width = position.width;
  return own;
}

Value RowEmitter::read(OpOperand &operand, const Position &position,
                       const RowLoops &loops) {
  Value root = getMemoryRoot(operand.get());
  if (Value known = registers.lookup(root))
    return simt::broadcast(builder, known, position.width);
  Operand where = getOperand(operand, loops);
  return emitLoad(builder, where,
                  views.contains(root) ? getOwnPosition(position, loops)
                                       : position);
}

void RowEmitter::store(OpOperand &output, Value value, const Position &position,
                       const RowLoops &loops) {
  emitStore(builder, simt::broadcast(builder, value, position.width),
            getOperand(output, loops), getOwnPosition(position, loops));
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// As many columns at a time as all operands permit.
void RowEmitter::chooseWidth() {
  std::optional<int64_t> most;
  for (linalg::LinalgOp op : group.ops) {
    RowLoops loops = getRowLoops(op, group);
    if (!canVectorize(*op.getBlock())) {
      width = 1;
      return;
    }
    SmallVector<Operand> own, others;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      Operand where = getOperand(operand, loops);
      bool isOwn = views.contains(getMemoryRoot(operand.get()));
      unsigned along = isOwn ? 1 : loops.column;
      if (getMovement(where, along) == Movement::Strided) {
        width = 1;
        return;
      }
      if (getMovement(where, along) == Movement::Contiguous)
        (isOwn ? own : others).push_back(where);
    }
    for (auto &[operands, along] :
         {std::pair(own, 1U), std::pair(others, loops.column)})
      if (!operands.empty())
        most = std::min(most.value_or(chip.policy.simt.threads * 64),
                        getVectorWidth(operands, along, chip));
  }
  width = most.value_or(1);
  while (width > 1 && group.columns % width)
    width /= 2;
}

void RowEmitter::chooseTeam() {
  threads = std::min(chip.policy.simt.threads, chip.maxThreads);
  lanes = std::min(chip.subgroupSize, threads);
  int64_t steps = group.columns / width;
  while (team < lanes && team < steps)
    team *= 2;
  // Several subgroups, unless there are rows for all of them.
  while (team >= lanes && lanes > 1 && team < threads && team < steps &&
         group.rows * team < chip.policy.simt.workgroups * threads)
    team *= 2;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

SmallVector<Value> RowEmitter::emitColumns(
    Position position, ValueRange first,
    function_ref<SmallVector<Value>(const Position &, ValueRange)> body) {
  auto loop = scf::ForOp::create(builder, math.mul(lane, width),
                                 math.constant(group.columns),
                                 math.constant(team * width), first);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  position.index[position.along] = loop.getInductionVar();
  position.width = width;
  SmallVector<Value> next = body(position, loop.getRegionIterArgs());
  if (!first.empty())
    scf::YieldOp::create(builder, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value RowEmitter::combineTeam(Value value, vector::CombiningKind kind) {
  int64_t cluster = std::min(team, lanes);
  if (cluster > 1)
    value = gpu::SubgroupReduceOp::create(
        builder, value, toAllReduce(kind), /*uniform=*/true,
        cluster < lanes ? std::optional<uint32_t>(cluster) : std::nullopt);
  if (team <= lanes)
    return value;
  auto space = gpu::AddressSpaceAttr::get(
      builder.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  Value buffer = launch.addWorkgroupAttribution(
      MemRefType::get({threads / lanes}, value.getType(),
                      MemRefLayoutAttrInterface(), space),
      builder.getLoc());
  Value subgroup = math.div(thread, math.constant(lanes));
  Value leads = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                      math.rem(thread, math.constant(lanes)),
                                      math.constant(0));
  auto guard = scf::IfOp::create(builder, leads, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(guard.thenBlock());
    memref::StoreOp::create(builder, value, buffer, subgroup);
  }
  gpu::BarrierOp::create(builder);
  // The team's first subgroup.
  int64_t count = team / lanes;
  Value from = math.mul(math.div(subgroup, math.constant(count)), count);
  value = memref::LoadOp::create(builder, buffer, from);
  for (int64_t i = 1; i < count; ++i)
    value = vector::makeArithReduction(
        builder, builder.getLoc(), kind, value,
        memref::LoadOp::create(builder, buffer,
                               math.add(from, math.constant(i))));
  return value;
}

void RowEmitter::emitReduction(linalg::LinalgOp op, const Position &position,
                               const RowLoops &loops) {
  Block &body = *op.getBlock();
  SmallVector<Value> first;
  SmallVector<vector::CombiningKind> kinds;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    Operation *combiner = getCombiner(op, i);
    kinds.push_back(*linalg::getCombinerOpKind(combiner));
    TypedAttr identity = *arith::getNeutralElement(combiner);
    if (width > 1)
      identity = SplatElementsAttr::get(
          VectorType::get(width, combiner->getResult(0).getType()), identity);
    first.push_back(arith::ConstantOp::create(builder, identity));
  }
  SmallVector<Value> sums =
      emitColumns(position, first, [&](const Position &at, ValueRange carried) {
        IRMapping mapping;
        for (OpOperand *input : op.getDpsInputOperands()) {
          BlockArgument argument = op.getMatchingBlockArgument(input);
          if (!argument.use_empty())
            mapping.map(argument, read(*input, at, loops));
        }
        for (auto [argument, value] :
             llvm::zip_equal(op.getRegionOutputArgs(), carried))
          mapping.map(argument, value);
        cloneBody(builder, body, at, mapping);
        SmallVector<Value> next;
        for (Value value : body.getTerminator()->getOperands())
          next.push_back(simt::broadcast(
              builder, mapping.lookupOrDefault(value), at.width));
        return next;
      });
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value sum = sums[i];
    if (width > 1) {
      Value vector = sum;
      sum = vector::ExtractOp::create(builder, vector, 0);
      for (int64_t e = 1; e < width; ++e)
        sum = vector::makeArithReduction(
            builder, op.getLoc(), kinds[i], sum,
            vector::ExtractOp::create(builder, vector, e));
    }
    // All threads read the start before the barrier, and one of them writes
    // after it.
    Position at = position;
    at.index[loops.column] = math.constant(0);
    Value start = starts.lookup(op)[i];
    if (!start)
      start = read(output, at, loops);
    sum = combineTeam(sum, kinds[i]);
    sum =
        vector::makeArithReduction(builder, op.getLoc(), kinds[i], start, sum);
    registers[getMemoryRoot(output.get())] = sum;

    Value stores = inside;
    if (team > 1) {
      stores = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane,
                                     math.constant(0));
      if (inside)
        stores = arith::AndIOp::create(builder, stores, inside);
    }
    OpBuilder::InsertionGuard guard(builder);
    if (stores)
      builder.setInsertionPointToStart(
          scf::IfOp::create(builder, stores, /*withElseRegion=*/false)
              .thenBlock());
    store(output, sum, at, loops);
  }
}

void RowEmitter::emitElements(linalg::LinalgOp op, const Position &position,
                              const RowLoops &loops) {
  OpBuilder::InsertionGuard guard(builder);
  if (inside)
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, inside, /*withElseRegion=*/false)
            .thenBlock());
  emitColumns(position, {}, [&](const Position &at, ValueRange) {
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      if (!argument.use_empty())
        mapping.map(argument, read(operand, at, loops));
    }
    Block &body = *op.getBlock();
    cloneBody(builder, body, at, mapping);
    for (auto [value, output] : llvm::zip_equal(
             body.getTerminator()->getOperands(), op.getDpsInitsMutable()))
      store(output, mapping.lookupOrDefault(value), at, loops);
    return SmallVector<Value>();
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void RowEmitter::emitRow(Value linear) {
  row = linear;
  registers.clear();
  for (linalg::LinalgOp op : group.ops) {
    RowLoops loops = getRowLoops(op, group);
    SmallVector<Value> sizes;
    for (int64_t extent : op.getStaticLoopRanges())
      sizes.push_back(math.constant(extent));
    Position position;
    position.index.assign(sizes.size(), math.constant(0));
    position.along = loops.column;
    math.delinearize(row, sizes, loops.rows, position.index);
    if (op.getNumReductionLoops() != 0)
      emitReduction(op, position, loops);
    else
      emitElements(op, position, loops);
  }
}

void RowEmitter::run() {
  viewMemory();
  chooseWidth();
  chooseTeam();
  int64_t teams = threads / team;
  // A workgroup of one thread computes as many rows as make up its points.
  int64_t rowsEach =
      threads == 1 ? std::max<int64_t>(
                         chip.policy.simt.pointsPerThread / group.columns, 1)
                   : 1;
  int64_t groups = llvm::divideCeil(group.rows, teams * rowsEach);
  {
    OpBuilder::InsertionGuard guard(builder);
    launch =
        createLaunch(builder, math.constant(groups), math.constant(1), threads);
    Value block = launch.getBlockIds().x;
    thread = lane = math.constant(0);
    if (threads == 1) {
      Value begin = math.mul(block, rowsEach);
      Value end = math.min(math.add(begin, math.constant(rowsEach)),
                           math.constant(group.rows));
      auto loop = scf::ForOp::create(builder, begin, end, math.constant(1));
      builder.setInsertionPointToStart(loop.getBody());
      emitRow(loop.getInductionVar());
    } else {
      thread = launch.getThreadIds().x;
      lane = math.rem(thread, math.constant(team));
      Value linear = math.add(math.mul(block, teams),
                              math.div(thread, math.constant(team)));
      // All threads take part in barriers: those without a row compute the last
      // one again, and do not store it.
      if (group.rows % teams) {
        inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                       linear, math.constant(group.rows));
        linear = math.min(linear, math.constant(group.rows - 1));
      }
      emitRow(linear);
    }
  }
  for (linalg::LinalgOp op : group.ops)
    op->erase();
}

void simt::emitRowGroup(const RowGroup &group, ReductionStarts starts,
                        const Chip &chip) {
  RowEmitter(group, starts, chip).run();
}
