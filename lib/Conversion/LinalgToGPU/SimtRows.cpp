//===- SimtRows.cpp - One kernel for the ops of a group of rows -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A team of threads computes each row. A thread has the same columns in every
// op of the group:
//
//      columns ->   lane 0 | lane 1 | ... | lane 0 | lane 1 | ...
//                   '---- chunk 0 ----'     '---- chunk 1 ----'
//
// The result of a reduction is in a register of every thread of the team, and
// so is what an op computes for each row. The elements between the ops are kept
// in one of three ways:
//
//   registers  The chunks are unrolled, and all loads precede the first op.
//              Where the team and its vectors make a thread's share small.
//   again      Each reduction, and each element-wise op that stores, is a loop
//              over the chunks, which computes the elements that it needs anew.
//              Where rows are longer than that.
//   memory     Each op is a loop over the chunks, and stores its results: a
//              thread reads back what it wrote itself. On chips whose threads
//              compute whole rows, and where computing anew would read elements
//              that the kernel has overwritten.
//
// In the first two, memory that no other op reads is not written. There, rows
// that begin anywhere still have aligned vectors, whose first column differs
// from row to row:
//
//      columns ->   head | vector of lane 0 | lane 1 | ... | tail
//
// The elements before the first vector and after the last one, fewer than a
// vector each, are a chunk of one element for each of the first lanes: the
// edge.
//
//===----------------------------------------------------------------------===//

#include "Simt.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

/// The most elements of 4 bytes of one row that a thread keeps in registers,
/// and where the team has several subgroups, which then wait for each other.
static constexpr int64_t mostElements = 32, mostSharedElements = 16;

/// The most threads of a team: workgroups of more have too few registers.
static constexpr int64_t mostThreads = 1024;

/// Elements that a thread loads before it uses the first, where it computes
/// elements anew.
static constexpr int64_t elementsInFlight = 16;

/// Chunks of a reduction that a thread accumulates side by side, so that an
/// accumulation does not wait for the one before.
static constexpr int64_t accumulators = 4;

static bool reduces(Operation *op) {
  return cast<linalg::LinalgOp>(op).getNumReductionLoops() != 0;
}

namespace {
/// A vector of columns of one thread, or one column.
struct Chunk {
  Value column;
  int64_t width = 1;
  /// Whether the vector is within the row; null if it is for all threads.
  /// `column` is within it in any case.
  Value isWithin;
  /// The values loaded and computed at these columns: by memory and the map of
  /// the access (null for the element of the row and the column), and by op.
  DenseMap<std::pair<Value, AffineMap>, Value> loads;
  DenseMap<Operation *, SmallVector<Value>> results;
};

class RowEmitter {
public:
  RowEmitter(const RowGroup &group, ReductionStarts starts, const Chip &chip)
      : group(group), starts(starts), chip(chip),
        builder(makeLoc(group), group.ops.back()), math(builder) {}

  void run();

private:
  enum class Keep { Registers, Again, Memory };
  using ChunkFn =
      function_ref<SmallVector<Value>(MutableArrayRef<Chunk>, ValueRange)>;

  static Location makeLoc(const RowGroup &group) {
    SmallVector<Location> locs;
    for (linalg::LinalgOp op : group.ops)
      locs.push_back(op.getLoc());
    return FusedLoc::get(group.ops.front()->getContext(), locs);
  }
  void findSources();
  /// Whether `op` computes one element for each row.
  bool isOfRow(Operation *op) {
    return reduces(op) ||
           !getRowLoops(cast<linalg::LinalgOp>(op), group).column;
  }
  /// Whether computing `op` reads elements of `memory` that an op before the
  /// group wrote.
  bool readsInitial(linalg::LinalgOp op, Value memory);
  /// Whether elements can be computed anew wherever an op reads them.
  bool canComputeAgain();
  bool isStored(linalg::LinalgOp op, unsigned output);
  void viewMemory();
  void chooseWidth();
  void chooseTeam();
  /// The most columns of a vector where rows begin anywhere in memory.
  int64_t getWidestVector();
  /// Uses vectors that begin at another column in each row, if that is better
  /// than the accesses that all rows permit.
  void alignRows();
  /// Whether the operand moves with the rows and the columns of the group.
  bool isAligned(OpOperand &operand);
  void emitRow(Value row);
  void emitReduction(linalg::LinalgOp op);
  void emitElements(linalg::LinalgOp op);
  void emitElementOfRow(linalg::LinalgOp op);
  /// Stores an element of the row.
  void storeOfRow(OpOperand &output, Value value);
  /// Runs `body` at the columns of this thread, at `count` chunks at a time
  /// where elements are in memory.
  SmallVector<Value> emitColumns(ValueRange first, int64_t count, ChunkFn body);
  Chunk makeChunk(Value column, bool isFull);
  Chunk makeEdge();
  /// The first column of this thread.
  Value getOwnColumn() {
    Value own = math.mul(lane, width);
    return alignsRows ? math.add(firstVector, own) : own;
  }
  /// The columns that vectors cover in every row.
  int64_t getLeastColumns() const {
    return alignsRows ? (group.columns - width + 1) / width * width
                      : group.columns;
  }
  /// The operands whose elements `op` reads at each column.
  SmallVector<OpOperand *> getReadOperands(linalg::LinalgOp op);
  /// Loads what `op` needs, also to compute what it reads: at `chunk`, or the
  /// elements of rows. Without `all`, leaves out what other rows read as well,
  /// such as a scale for each column.
  void load(linalg::LinalgOp op, Chunk *chunk, bool all = true);
  /// The element of the operand.
  Value read(OpOperand &operand, Chunk &chunk);
  Value readMemory(OpOperand &operand, Chunk *chunk);
  SmallVector<Value> &compute(linalg::LinalgOp op, Chunk &chunk);
  /// The operand as it is accessed: written memory by one view of it for all
  /// ops, so that no two arguments of the kernel are the same memory.
  Operand getOperand(OpOperand &operand);
  /// The position of `column` in the operand.
  Position getPosition(OpOperand &operand, Value column, int64_t points);
  void store(OpOperand &output, Value value, Value column, int64_t points);
  /// Inserts into the branch for threads that have a row, and `condition`.
  void insertWithin(Value condition);
  /// The combination of a value of each thread of the team, in all of them.
  Value combineTeam(Value value, vector::CombiningKind kind);
  /// Erases an allocation that no kernel uses, with its views.
  static void eraseUnused(Value memory);

  const RowGroup &group;
  ReductionStarts starts;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  IndexMath math;
  Keep keep = Keep::Memory;

  /// The op of the group that wrote what an operand reads, and its output; null
  /// where that was written before.
  DenseMap<OpOperand *, std::pair<Operation *, unsigned>> sources;
  /// The op of the group that writes memory last.
  DenseMap<Value, Operation *> lastWriters;
  /// Written memory as rows and columns, or as rows alone.
  DenseMap<Value, Operand> views;
  /// The results of reductions and of ops on elements of rows.
  DenseMap<Operation *, SmallVector<Value>> sums;
  /// Elements of rows that were loaded.
  DenseMap<std::pair<Value, AffineMap>, Value> rowLoads;
  /// The chunks of a row, where elements are in registers.
  SmallVector<Chunk> chunks;
  /// Where vectors are aligned in each row: the elements before the first and
  /// after the last one, and the columns of these vectors.
  std::optional<Chunk> edge;
  Value firstVector, lastVector;
  bool alignsRows = false;
  /// The position of the row in each op.
  DenseMap<Operation *, Position> positions;
  int64_t width = 1, team = 1, threads = 1, lanes = 1;
  gpu::LaunchOp launch;
  Value thread, lane, row, inside;
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

SmallVector<OpOperand *> RowEmitter::getReadOperands(linalg::LinalgOp op) {
  SmallVector<OpOperand *> operands;
  for (OpOperand &operand : op->getOpOperands())
    if (!op.getMatchingBlockArgument(&operand).use_empty() &&
        !(reduces(op) && op.isDpsInit(&operand)))
      operands.push_back(&operand);
  return operands;
}

void RowEmitter::findSources() {
  DenseMap<Value, std::pair<Operation *, unsigned>> writers;
  for (linalg::LinalgOp op : group.ops) {
    for (OpOperand &operand : op->getOpOperands())
      sources[&operand] = writers.lookup(getMemoryRoot(operand.get()));
    for (auto [i, output] : llvm::enumerate(op.getDpsInits())) {
      writers[getMemoryRoot(output)] = {op, static_cast<unsigned>(i)};
      lastWriters[getMemoryRoot(output)] = op;
    }
  }
}

bool RowEmitter::readsInitial(linalg::LinalgOp op, Value memory) {
  return llvm::any_of(getReadOperands(op), [&](OpOperand *operand) {
    Operation *source = sources.lookup(operand).first;
    if (!source)
      return getMemoryRoot(operand->get()) == memory;
    return !isOfRow(source) &&
           readsInitial(cast<linalg::LinalgOp>(source), memory);
  });
}

bool RowEmitter::canComputeAgain() {
  for (auto [memory, writer] : lastWriters) {
    // An op after the one that stores would read what that wrote.
    bool isWritten = false;
    for (linalg::LinalgOp op : group.ops) {
      if (isWritten && readsInitial(op, memory))
        return false;
      isWritten |= op == writer;
    }
  }
  return true;
}

bool RowEmitter::isStored(linalg::LinalgOp op, unsigned output) {
  Value memory = getMemoryRoot(op.getDpsInits()[output]);
  return keep == Keep::Memory || (lastWriters.lookup(memory) == op &&
                                  !llvm::is_contained(group.inner, memory));
}

void RowEmitter::viewMemory() {
  for (auto [memory, writer] : lastWriters) {
    if (keep != Keep::Memory && llvm::is_contained(group.inner, memory))
      continue;
    Value view = memory;
    int64_t rank = cast<MemRefType>(memory.getType()).getRank();
    if (rank > 1) {
      ReassociationIndices all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      view = memref::CollapseShapeOp::create(
          builder, view, ArrayRef<ReassociationIndices>{all});
    }
    if (cast<MemRefType>(memory.getType()).getNumElements() != group.rows) {
      auto type =
          MemRefType::get({group.rows, group.columns},
                          cast<MemRefType>(memory.getType()).getElementType());
      view = memref::ExpandShapeOp::create(
          builder, type, view,
          ArrayRef<ReassociationIndices>{ReassociationIndices{0, 1}});
    }
    int64_t viewRank = cast<MemRefType>(view.getType()).getRank();
    // The view has two indices, one, or none.
    SmallVector<AffineExpr> indices;
    for (int64_t d = 0; d < viewRank; ++d)
      indices.push_back(builder.getAffineDimExpr(static_cast<unsigned>(d)));
    views[memory] = {view, AffineMap::get(2, 0, indices, builder.getContext())};
  }
}

Operand RowEmitter::getOperand(OpOperand &operand) {
  auto view = views.find(getMemoryRoot(operand.get()));
  if (view != views.end())
    return view->second;
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  return {operand.get(), op.getMatchingIndexingMap(&operand)};
}

Position RowEmitter::getPosition(OpOperand &operand, Value column,
                                 int64_t points) {
  Position position = positions.lookup(operand.getOwner());
  if (views.contains(getMemoryRoot(operand.get())))
    position = {{row, column}, 1};
  else if (position.along < position.index.size())
    position.index[position.along] = column;
  position.width = points;
  if (alignsRows && points > 1 && isa<MemRefType>(operand.get().getType()))
    position.alignment =
        getElementBits(getElementTypeOrSelf(operand.get().getType())) / 8 *
        (isAligned(operand) ? points : 1);
  return position;
}

Value RowEmitter::readMemory(OpOperand &operand, Chunk *chunk) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  Value memory = operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  RowLoops loops = getRowLoops(op, group);
  RowAccess access = getRowAccess(operand, loops);
  // Ops of the group may have different loops of one iteration.
  if (access != RowAccess::Other) {
    map = AffineMap();
    while (isa_and_present<memref::ExpandShapeOp, memref::CollapseShapeOp>(
        memory.getDefiningOp()))
      memory = memory.getDefiningOp<ViewLikeOpInterface>().getViewSource();
  }
  bool isSame = !isa<MemRefType>(memory.getType()) ||
                access == RowAccess::Row || !loops.column;
  if (isSame && keep != Keep::Memory) {
    Value &value = rowLoads[{memory, map}];
    if (!value)
      value = emitLoad(builder, getOperand(operand),
                       getPosition(operand, math.constant(0), 1));
    return value;
  }
  if (!chunk)
    return {};
  Value &value = chunk->loads[{memory, map}];
  if (!value)
    value = emitLoad(builder, getOperand(operand),
                     getPosition(operand, chunk->column, chunk->width));
  return value;
}

Value RowEmitter::read(OpOperand &operand, Chunk &chunk) {
  auto [source, output] = sources.lookup(&operand);
  Value value;
  if (source && isOfRow(source))
    value = sums[source][output];
  else if (source && keep != Keep::Memory)
    value = compute(cast<linalg::LinalgOp>(source), chunk)[output];
  else
    value = readMemory(operand, &chunk);
  return simt::broadcast(builder, value, chunk.width);
}

void RowEmitter::load(linalg::LinalgOp op, Chunk *chunk, bool all) {
  if (chunk && chunk->results.contains(op))
    return;
  for (OpOperand *operand : getReadOperands(op)) {
    Operation *source = sources.lookup(operand).first;
    if (source && (keep != Keep::Memory || isOfRow(source))) {
      if (!isOfRow(source))
        load(cast<linalg::LinalgOp>(source), chunk, all);
    } else if (all || getRowAccess(*operand, getRowLoops(op, group)) !=
                          RowAccess::Other) {
      readMemory(*operand, chunk);
    }
  }
}

void RowEmitter::store(OpOperand &output, Value value, Value column,
                       int64_t points) {
  emitStore(builder, simt::broadcast(builder, value, points),
            getOperand(output), getPosition(output, column, points));
}

void RowEmitter::eraseUnused(Value memory) {
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers()))
    if (isa<ViewLikeOpInterface>(user)) {
      for (Value view : user->getResults())
        eraseUnused(view);
      user->erase();
    }
  if (!memory.getDefiningOp<memref::AllocOp>())
    return;
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers()))
    user->erase();
  memory.getDefiningOp()->erase();
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

/// As many columns at a time as all operands permit.
void RowEmitter::chooseWidth() {
  std::optional<int64_t> most;
  for (linalg::LinalgOp op : group.ops) {
    RowLoops loops = getRowLoops(op, group);
    if (!loops.column)
      continue;
    if (!canVectorize(*op.getBlock())) {
      width = 1;
      return;
    }
    SmallVector<Operand> own, others;
    for (OpOperand &operand : op->getOpOperands()) {
      Value memory = getMemoryRoot(operand.get());
      if (!isa<MemRefType>(operand.get().getType()) ||
          (keep != Keep::Memory && llvm::is_contained(group.inner, memory)))
        continue;
      Operand where = getOperand(operand);
      bool isOwn = views.contains(memory);
      unsigned along = isOwn ? 1 : *loops.column;
      if (getMovement(where, along) == Movement::Strided) {
        width = 1;
        return;
      }
      if (getMovement(where, along) == Movement::Contiguous)
        (isOwn ? own : others).push_back(where);
    }
    for (auto &[operands, along] :
         {std::pair(own, 1U), std::pair(others, *loops.column)})
      if (!operands.empty())
        most = std::min(most.value_or(chip.policy.simt.threads * 64),
                        getVectorWidth(operands, along, chip));
  }
  width = most.value_or(1);
  while (width > 1 && group.columns % width)
    width /= 2;
}

bool RowEmitter::isAligned(OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  Value memory = operand.get();
  if (!isa<MemRefType>(memory.getType()) ||
      getRowAccess(operand, getRowLoops(op, group)) != RowAccess::Element)
    return false;
  while (isa_and_present<memref::ExpandShapeOp, memref::CollapseShapeOp,
                         memref::CastOp>(memory.getDefiningOp()))
    memory = memory.getDefiningOp<ViewLikeOpInterface>().getViewSource();
  // A buffer, which is aligned to the widest access.
  return cast<MemRefType>(memory.getType()).getLayout().isIdentity() &&
         (isa<BlockArgument>(memory) ||
          isa_and_present<memref::AllocOp>(memory.getDefiningOp()));
}

int64_t RowEmitter::getWidestVector() {
  int64_t widest = group.columns / 2;
  for (linalg::LinalgOp op : group.ops) {
    RowLoops loops = getRowLoops(op, group);
    if (!loops.column)
      continue;
    if (!canVectorize(*op.getBlock()))
      return 1;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<MemRefType>(operand.get().getType());
      if (!type ||
          llvm::is_contained(group.inner, getMemoryRoot(operand.get())))
        continue;
      Operand where{operand.get(), op.getMatchingIndexingMap(&operand)};
      Movement movement = getMovement(where, *loops.column);
      if (movement == Movement::None)
        continue;
      int64_t bits = getElementBits(type.getElementType());
      if (movement == Movement::Strided || bits % 8 != 0)
        return 1;
      if (isAligned(operand))
        widest = std::min(widest, 8 * chip.accessBytes / bits);
      // Other memory is accessed from any column on, which an index that
      // divides the column does not permit.
      else if (llvm::any_of(where.map.getResults(), [&](AffineExpr result) {
                 return result.isFunctionOfDim(*loops.column) &&
                        !isa<AffineDimExpr>(result);
               }))
        return 1;
    }
  }
  return widest > 1 ? llvm::bit_floor(static_cast<uint64_t>(widest)) : 1;
}

void RowEmitter::alignRows() {
  if (keep == Keep::Memory || !chip.alignedAccess)
    return;
  // Columns that the team computes, with those that no thread needs.
  auto countColumns = [&]() -> int64_t {
    return team * (llvm::divideCeil(group.columns / width, team) * width +
                   (alignsRows ? 1 : 0));
  };
  Keep before = keep;
  int64_t narrow = width, columns = countColumns();
  for (width = getWidestVector(); width > narrow; width /= 2) {
    keep = Keep::Again;
    alignsRows = true;
    chooseTeam();
    // The team has a thread for each element of the edge. An eighth more
    // columns costs less than accesses of single elements.
    if (team >= 2 * width - 2 && countColumns() * 8 <= columns * 9 &&
        (keep != Keep::Again || canComputeAgain()))
      return;
  }
  alignsRows = false;
  width = narrow;
  keep = before == Keep::Memory ? before : Keep::Again;
  chooseTeam();
}

void RowEmitter::chooseTeam() {
  threads = std::min(chip.policy.simt.threads, chip.maxThreads);
  lanes = std::min(chip.subgroupSize, threads);
  team = 1;
  int64_t steps = group.columns / width, most = threads;
  // Words of 4 bytes for each column that are live from one op to the next.
  int64_t words = 0;
  DenseSet<Value> seen;
  for (linalg::LinalgOp op : group.ops)
    for (OpOperand *operand : getReadOperands(op))
      if (!sources.lookup(operand).first &&
          getRowAccess(*operand, getRowLoops(op, group)) ==
              RowAccess::Element &&
          seen.insert(getMemoryRoot(operand->get())).second)
        words += std::max<int64_t>(
            1, getElementBits(getElementTypeOrSelf(operand->get().getType())) /
                   32);
  auto getElements = [&] {
    return llvm::divideCeil(steps, team) * width * std::max<int64_t>(1, words);
  };
  if (keep != Keep::Memory)
    most = std::max(most, std::min(mostThreads, chip.maxThreads));
  while (team < lanes && team < steps)
    team *= 2;
  // Several subgroups, unless there are rows for all of them,
  while (team >= lanes && lanes > 1 && team < threads && team < steps &&
         group.rows * team < chip.policy.simt.workgroups * threads)
    team *= 2;
  // or unless one has registers for the row.
  while (keep != Keep::Memory && team >= lanes && lanes > 1 && team < most &&
         team < steps &&
         getElements() > (team == lanes || team >= threads
                              ? mostElements
                              : mostSharedElements))
    team *= 2;
  if (keep == Keep::Again && getElements() <= mostElements)
    keep = Keep::Registers;
  threads = std::max(threads, team);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Chunk RowEmitter::makeChunk(Value column, bool isFull) {
  Chunk chunk;
  chunk.column = column;
  chunk.width = width;
  if (isFull)
    return chunk;
  int64_t end = alignsRows ? group.columns - width + 1 : group.columns;
  chunk.isWithin = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                         column, math.constant(end));
  chunk.column = math.min(
      column, alignsRows ? lastVector : math.constant(group.columns - width));
  return chunk;
}

Chunk RowEmitter::makeEdge() {
  // A row begins at element row * columns of memory that is aligned.
  Value count = math.constant(width), columns = math.constant(group.columns);
  auto getOffset = [&](Value of) {
    return math.rem(math.mul(of, columns), count);
  };
  Value tail = getOffset(math.add(row, math.constant(1)));
  firstVector = math.rem(math.sub(count, getOffset(row)), count);
  lastVector = math.sub(math.sub(columns, tail), count);
  Chunk chunk;
  chunk.isWithin = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                         lane, math.add(firstVector, tail));
  Value isHead = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, lane,
                                       firstVector);
  Value behind =
      math.add(math.sub(math.add(lastVector, count), firstVector), lane);
  chunk.column = arith::SelectOp::create(
      builder, isHead, lane,
      math.min(behind, math.constant(group.columns - 1)));
  return chunk;
}

SmallVector<Value> RowEmitter::emitColumns(ValueRange first, int64_t count,
                                           ChunkFn body) {
  if (keep == Keep::Registers)
    return body(chunks, first);
  // Where vectors are aligned, the number of these in a row varies by one.
  int64_t step = team * width, least = getLeastColumns(), most = group.columns;
  if (keep == Keep::Again)
    count = std::max(chip.policy.simt.unroll, elementsInFlight / width);
  count = std::max<int64_t>(1, std::min(count, least / step));
  int64_t block = count * step, end = least / block * block;
  Value own = getOwnColumn();
  SmallVector<Value> carried(first);
  if (end > 0) {
    auto loop =
        scf::ForOp::create(builder, math.constant(0), math.constant(end),
                           math.constant(block), carried);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Chunk> some;
    for (int64_t i = 0; i < count; ++i)
      some.push_back(makeChunk(math.add(math.add(loop.getInductionVar(), own),
                                        math.constant(i * step)),
                               /*isFull=*/true));
    SmallVector<Value> next = body(some, loop.getRegionIterArgs());
    if (!first.empty())
      scf::YieldOp::create(builder, next);
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  SmallVector<Chunk> rest;
  for (int64_t at = end; at + (alignsRows ? width : 1) <= most; at += step)
    rest.push_back(
        makeChunk(math.add(own, math.constant(at)), at + step <= least));
  if (!rest.empty())
    carried = body(rest, carried);
  return carried;
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
  if (count > 4 && count <= lanes) {
    Value own = math.add(from, math.rem(thread, math.constant(count)));
    value = memref::LoadOp::create(builder, buffer, own);
    return gpu::SubgroupReduceOp::create(
        builder, value, toAllReduce(kind), /*uniform=*/true,
        count < lanes ? std::optional<uint32_t>(count) : std::nullopt);
  }
  value = memref::LoadOp::create(builder, buffer, from);
  for (int64_t i = 1; i < count; ++i)
    value = vector::makeArithReduction(
        builder, builder.getLoc(), kind, value,
        memref::LoadOp::create(builder, buffer,
                               math.add(from, math.constant(i))));
  return value;
}

SmallVector<Value> &RowEmitter::compute(linalg::LinalgOp op, Chunk &chunk) {
  if (auto known = chunk.results.find(op); known != chunk.results.end())
    return known->second;
  IRMapping mapping;
  for (OpOperand *operand : getReadOperands(op))
    mapping.map(op.getMatchingBlockArgument(operand), read(*operand, chunk));
  Block &body = *op.getBlock();
  Position position = positions.lookup(op);
  position.index[position.along] = chunk.column;
  position.width = chunk.width;
  cloneBody(builder, body, position, mapping);
  SmallVector<Value> values;
  for (Value value : body.getTerminator()->getOperands())
    values.push_back(mapping.lookupOrDefault(value));
  return chunk.results[op] = values;
}

void RowEmitter::insertWithin(Value condition) {
  Value all = inside;
  if (condition)
    all = all ? arith::AndIOp::create(builder, condition, all) : condition;
  if (all)
    builder.setInsertionPointToStart(
        scf::IfOp::create(builder, all, /*withElseRegion=*/false).thenBlock());
}

void RowEmitter::emitReduction(linalg::LinalgOp op) {
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
  auto accumulate = [&](Chunk &chunk, ValueRange carried) {
    IRMapping mapping;
    for (OpOperand *operand : getReadOperands(op))
      mapping.map(op.getMatchingBlockArgument(operand), read(*operand, chunk));
    mapping.map(op.getRegionOutputArgs(), carried);
    Position position = positions.lookup(op);
    position.index[position.along] = chunk.column;
    position.width = chunk.width;
    cloneBody(builder, body, position, mapping);
    SmallVector<Value> next;
    Value isWithin = chunk.isWithin;
    if (isWithin && chunk.width > 1)
      isWithin = simt::broadcast(builder, isWithin, chunk.width);
    for (auto [value, before] :
         llvm::zip_equal(body.getTerminator()->getOperands(), carried)) {
      next.push_back(simt::broadcast(builder, mapping.lookupOrDefault(value),
                                     chunk.width));
      if (isWithin)
        next.back() =
            arith::SelectOp::create(builder, isWithin, next.back(), before);
    }
    return next;
  };
  int64_t parts =
      std::clamp<int64_t>(group.columns / (team * width), 1, accumulators);
  size_t n = first.size();
  first.reserve(n * parts);
  for (size_t i = n; i < n * parts; ++i)
    first.push_back(Value(first[i - n]));
  SmallVector<Value> partial = emitColumns(
      first, parts, [&](MutableArrayRef<Chunk> some, ValueRange carried) {
        for (Chunk &chunk : some)
          load(op, &chunk);
        SmallVector<Value> next(carried);
        for (auto [i, chunk] : llvm::enumerate(some)) {
          size_t begin = i % parts * n;
          llvm::copy(accumulate(chunk, ValueRange(next).slice(begin, n)),
                     next.begin() + begin);
        }
        return next;
      });
  for (int64_t part = 1; part < parts; ++part)
    for (size_t i = 0; i < n; ++i)
      partial[i] = vector::makeArithReduction(
          builder, op.getLoc(), kinds[i], partial[i], partial[part * n + i]);
  SmallVector<Value> own;
  for (size_t i = 0; i < n; ++i) {
    Value sum = partial[i];
    if (width > 1) {
      Value vector = sum;
      sum = vector::ExtractOp::create(builder, vector, 0);
      for (int64_t e = 1; e < width; ++e)
        sum = vector::makeArithReduction(
            builder, op.getLoc(), kinds[i], sum,
            vector::ExtractOp::create(builder, vector, e));
    }
    own.push_back(sum);
  }
  if (edge)
    own = accumulate(*edge, own);
  for (auto [i, output] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value sum = own[i];
    // All threads read the start before the barrier, and one of them writes
    // after it.
    Value start = starts.lookup(op)[i];
    if (auto [source, number] = sources.lookup(&output); !start && source)
      start = sums[source][number];
    if (!start)
      start = emitLoad(builder, getOperand(output),
                       getPosition(output, math.constant(0), 1));
    sum = combineTeam(sum, kinds[i]);
    sum =
        vector::makeArithReduction(builder, op.getLoc(), kinds[i], start, sum);
    sums[op].push_back(sum);
    if (isStored(op, i))
      storeOfRow(output, sum);
  }
}

void RowEmitter::storeOfRow(OpOperand &output, Value value) {
  OpBuilder::InsertionGuard guard(builder);
  Value leads;
  if (team > 1)
    leads = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane,
                                  math.constant(0));
  insertWithin(leads);
  store(output, value, math.constant(0), 1);
}

void RowEmitter::emitElementOfRow(linalg::LinalgOp op) {
  IRMapping mapping;
  for (OpOperand *operand : getReadOperands(op)) {
    auto [source, output] = sources.lookup(operand);
    Value value;
    if (source)
      value = sums[source][output];
    else if (keep == Keep::Memory)
      value = emitLoad(builder, getOperand(*operand),
                       getPosition(*operand, math.constant(0), 1));
    else
      value = readMemory(*operand, nullptr);
    mapping.map(op.getMatchingBlockArgument(operand), value);
  }
  Block &body = *op.getBlock();
  cloneBody(builder, body, positions.lookup(op), mapping);
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    sums[op].push_back(mapping.lookupOrDefault(value));
    if (isStored(op, static_cast<unsigned>(i)))
      storeOfRow(*op.getDpsInitOperand(i), sums[op].back());
  }
}

void RowEmitter::emitElements(linalg::LinalgOp op) {
  SmallVector<unsigned> stored;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i)
    if (isStored(op, i))
      stored.push_back(i);
  if (keep == Keep::Again && stored.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  auto emitChunks = [&](MutableArrayRef<Chunk> some) {
    for (Chunk &chunk : some)
      load(op, &chunk);
    for (Chunk &chunk : some)
      compute(op, chunk);
    for (Chunk &chunk : some) {
      if (stored.empty())
        break;
      OpBuilder::InsertionGuard guard(builder);
      insertWithin(chunk.isWithin);
      for (unsigned i : stored)
        store(*op.getDpsInitOperand(i), chunk.results[op][i], chunk.column,
              chunk.width);
    }
  };
  emitColumns({}, 1, [&](MutableArrayRef<Chunk> some, ValueRange) {
    // The remaining loads hit a cache, and would take more registers if all of
    // them preceded the first use.
    if (keep == Keep::Registers)
      for (Chunk &chunk : some)
        emitChunks(chunk);
    else
      emitChunks(some);
    return SmallVector<Value>();
  });
  if (edge)
    emitChunks(*edge);
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void RowEmitter::emitRow(Value linear) {
  row = linear;
  sums.clear();
  for (linalg::LinalgOp op : group.ops) {
    RowLoops loops = getRowLoops(op, group);
    SmallVector<Value> sizes;
    for (int64_t extent : op.getStaticLoopRanges())
      sizes.push_back(math.constant(extent));
    Position &position = positions[op];
    position.index.assign(sizes.size(), math.constant(0));
    position.along = loops.column.value_or(static_cast<unsigned>(sizes.size()));
    math.delinearize(row, sizes, loops.rows, position.index);
  }
  if (alignsRows)
    edge = makeEdge();
  if (keep == Keep::Registers) {
    int64_t step = team * width;
    Value own = getOwnColumn();
    for (int64_t at = 0; at + (alignsRows ? width : 1) <= group.columns;
         at += step)
      chunks.push_back(makeChunk(math.add(own, math.constant(at)),
                                 at + step <= getLeastColumns()));
  }
  // Elements that an op stores are loaded before. Operands that all rows read
  // hit a cache, and would take registers from here on.
  if (keep != Keep::Memory)
    for (linalg::LinalgOp op : group.ops) {
      load(op, nullptr, /*all=*/false);
      if (keep == Keep::Registers)
        for (Chunk &chunk : chunks)
          load(op, &chunk, /*all=*/false);
      if (edge)
        load(op, &*edge, /*all=*/false);
    }
  for (linalg::LinalgOp op : group.ops)
    if (reduces(op))
      emitReduction(op);
    else if (isOfRow(op))
      emitElementOfRow(op);
    else
      emitElements(op);
}

void RowEmitter::run() {
  findSources();
  if (chip.policy.simt.threads > 1)
    keep = Keep::Again;
  viewMemory();
  chooseWidth();
  chooseTeam();
  if (keep == Keep::Again && !canComputeAgain()) {
    keep = Keep::Memory;
    viewMemory();
    chooseWidth();
    chooseTeam();
  }
  alignRows();
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
  if (keep != Keep::Memory)
    for (Value memory : group.inner)
      eraseUnused(memory);
}

void simt::emitRowGroup(const RowGroup &group, ReductionStarts starts,
                        const Chip &chip) {
  RowEmitter(group, starts, chip).run();
}
