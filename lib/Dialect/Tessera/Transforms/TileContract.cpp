//===- TileContract.cpp - tessera.contract to a kernel of fragments -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tessera.contract becomes one gpu.launch. A workgroup computes one tile of
// the output, and each of its subgroups a part of that tile:
//
//                     N: grid y                        the tile of a workgroup
//            +--------+--------+-----             +----------+----------+
//   M:       | x=0    | x=0    |                  | subgroup | subgroup |
//   grid x   |   y=0  |   y=1  |                  | 0        | 1        |
//            +--------+--------+-----             +----------+----------+
//            | x=1    | x=1    |                  | 2        | 3        |
//            |   y=0  |   y=1  |                  |          |          |
//            +--------+--------+-----             +----------+----------+
//
// The tiles of M are x, which runs fastest: workgroups that run at the same
// time then share their columns of rhs, and advance along lhs; x is also the
// only dimension of a grid without a small limit. The batch is z.
//
// With `batches`, a workgroup computes this tile of several matrices, with
// proportionally more subgroups; with `subgroupBatches`, each subgroup computes
// several: first all their matmuls, then all their epilogues, so that the loads
// of one matrix do not wait for the stores of another. The staged operands of
// all matrices are one tile, stacked along the rows. If the batch ends before
// the last matrix, the loads of the last existing one are repeated, and nothing
// is stored.
//
//===----------------------------------------------------------------------===//

#include "ContractOperands.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Epilogue.h"
#include "SplitK.h"

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Scheduling/DieOrder.h"
#include "Scheduling/Schedule.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/TuningTask.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#include <numeric>

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERATILECONTRACT
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-tile-contract"

STATISTIC(numTiledContractions, "Number of tessera.contract tiled");

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Tiles one contraction.
class Tiler {
public:
  Tiler(ContractOp op, ScheduleAttr schedule, const Chip &chip)
      : op(op), schedule(schedule), chip(chip), builder(op.getLoc(), op),
        math(builder), form(getMatrixForm(op)),
        extents(getStaticExtents(op, form)), operands(op, form, builder) {
    auto pair = [](ArrayRef<int64_t> values) {
      return std::array<int64_t, 2>{values[0], values[1]};
    };
    block = pair(schedule.getWorkgroup());
    sub = pair(schedule.getSubgroup());
    vgrid = pair(schedule.getVthread());
    cluster = {schedule.getClusterM(), schedule.getClusterN()};
    tile = {sub[0] / vgrid[0], sub[1] / vgrid[1]};
    firstInput[0] = 3 + op.getExtras().size();
    firstInput[1] = firstInput[0] + op.getLhsInputs().size();
    batches = schedule.getBatches();
    subBatches = schedule.getSubgroupBatches();
    int64_t count = getLinearExtent(op, form.batch);
    ragged = ShapedType::isDynamic(count) || count % batches != 0;
    lastSteps = countLastSteps();
  }

  void run();

private:
  using BodyFn = function_ref<SmallVector<Value>(Value row, Value col,
                                                 ValueRange privates)>;

  FragmentType fragment(int64_t rows, int64_t cols, Type element, Role role) {
    return FragmentType::get(rows, cols, element, role);
  }
  /// Whether the tiles cover dimension `d` (M, N, K) exactly.
  bool divides(unsigned d, int64_t step) {
    return ShapedType::isStatic(extents[d]) && extents[d] % step == 0;
  }
  /// Whether all tiles are in bounds along M or N. All workgroups of a cluster
  /// compute the same number of tiles, some of which may be beyond the output.
  bool fits(unsigned d) { return divides(d, block[d] * cluster[d]); }
  /// See `lastSteps`. Without a producer, elements beyond the end of K are
  /// zeros anyway, and a constant number of steps is worth more.
  int64_t countLastSteps() {
    int64_t step = schedule.getK(), parts = schedule.getSplitK();
    if (!divides(2, step) ||
        (op.getProducer(0).empty() && op.getProducer(1).empty()))
      return 0;
    int64_t all = extents[2] / step,
            each = static_cast<int64_t>(llvm::divideCeil(all, parts)),
            last = all - (parts - 1) * each;
    return last > 0 && last < each ? last : 0;
  }
  /// Whether no step extends beyond the end of K.
  bool hasWholeSteps() {
    return lastSteps > 0 || divides(2, schedule.getK() * schedule.getSplitK());
  }

  /// Where a step's elements of an operand are: a tile, or the operand itself.
  struct StepSource {
    Value memory;
    SmallVector<Value> leading;
    /// The first row and column, in the order of memory. Null for 0.
    std::array<Value, 2> at;
    bool transposed = false, inBounds = true;
  };

  Value load(const MatrixView &view, Value row, Value col, FragmentType type,
             bool inBounds);
  /// Runs `body` for each vthread, with the first row and column of its part of
  /// the subgroup's tile, and hands each its share of `privates`.
  SmallVector<Value> forEachVThread(ValueRange privates, BodyFn body);

  SmallVector<Value> emitInit();
  SmallVector<Value> emitReduction(ValueRange init);
  /// Where lhs (0) or rhs (1) of this step, which begins at `k`, is for each of
  /// the subgroup's matrices.
  SmallVector<StepSource> emitSources(unsigned side, ArrayRef<MatrixView> views,
                                      Value k);
  /// The fragment of lhs (0) or rhs (1) of a step: loaded, and transformed by
  /// the producer. `k` is the start of the step along K; `row` and `col` are
  /// offsets in the step, `other` the fragment's first row of M, or column of
  /// N.
  Value emitOperand(unsigned side, const StepSource &from, Value row, Value col,
                    Value k, Value other, FragmentType type);
  void emitEpilogue(ValueRange accs);
  /// `emit` where matrix `s` of the subgroup is one of the batch.
  void emitIfInBatch(int64_t s, function_ref<void()> emit);
  /// This workgroup's columns of the sum over all parts of its tile, from
  /// accumulators of one of them.
  Value emitSum(Value acc);
  /// The elements of two fragments added up.
  Value addOld(Value sum, Value old);
  /// Workgroup memory for the tile of the output in `out`.
  Value addStagedOutput(const MatrixView &out);
  /// Whether the tile of an extra can lie where that of the output is made, and
  /// has rows for whole accesses.
  bool liesAsOutput(const MatrixView &extra, const MatrixView &out);
  /// Copies the tile of an extra to where that of the output is made.
  void loadExtra(const MatrixView &extra, Value staged, bool inBounds);
  /// The tile of the output at (x, y) of the grid of tiles, of the `z`-th batch
  /// and part of the reduction.
  void emitWorkgroupTile(Value x, Value y, Value z);
  void placeSubgroup();
  /// Whether the grid has one dimension for all tiles.
  bool isLinear() const {
    return schedule.getRaster() != 0 || schedule.getPersistent() != 0 ||
           schedule.getNumClustered() > 1;
  }
  /// All tiles, those of a cluster counted as one.
  Value getNumUnits() {
    return math.mul(math.mul(numUnits[0], numUnits[1]), numTiles[2]);
  }
  /// The index of the tile of workgroup `linear`, such that each die of the
  /// device computes consecutive tiles.
  Value emitDieOrder(Value linear);
  /// Walks through the tiles that this workgroup computes.
  void emitTiles();
  /// `emit` for each from `begin` to `end` in steps of `step`.
  void forEach(Value begin, Value end, Value step,
               function_ref<void(Value)> emit);

  ContractOp op;
  ScheduleAttr schedule;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  IndexMath math;
  MatrixForm form;
  std::array<int64_t, 3> extents;
  ContractOperands operands;
  std::array<int64_t, 2> block, sub, vgrid, tile, cluster;
  /// Matrices of a workgroup and of a subgroup, and whether the batch may end
  /// before a workgroup's last one.
  int64_t batches, subBatches;
  bool ragged;
  /// Where the inputs of the producers of lhs and rhs begin.
  std::array<unsigned, 2> firstInput;

  gpu::LaunchOp launch;
  /// Tiles along M and N, and the batch times the parts of the reduction.
  std::array<Value, 3> numTiles;
  /// Along M and N, those of a cluster counted as one.
  std::array<Value, 2> numUnits;
  /// The steps of the reduction: ceil(K / k), or those of one part of it.
  Value numSteps, firstK;
  /// Which part of the reduction this workgroup has.
  Value part;
  /// The steps of the last part, if all steps are whole and it has fewer than
  /// the others; otherwise 0.
  int64_t lastSteps;
  /// First row and column of the workgroup's tile, and of the subgroup's within
  /// it.
  std::array<Value, 2> blockAt, subInBlock;
  /// The first of the workgroup's matrices that is this subgroup's.
  Value firstSlot;
  /// For each of the subgroup's matrices its number in the batch, which may be
  /// beyond the end, and the indices of one that is not.
  SmallVector<Value> batchNumbers;
  SmallVector<SmallVector<Value>> batchIndices;
};

} // namespace

Value Tiler::load(const MatrixView &view, Value row, Value col,
                  FragmentType type, bool inBounds) {
  return LoadOp::create(builder, type, view.memory, view.getIndices(row, col),
                        view.transposed, inBounds, /*swizzled=*/false);
}

//===----------------------------------------------------------------------===//
// Virtual threads
//===----------------------------------------------------------------------===//

SmallVector<Value> Tiler::forEachVThread(ValueRange privates, BodyFn body) {
  int64_t count = vgrid[0] * vgrid[1];
  if (count == 1)
    return body(subInBlock[0], subInBlock[1], privates);
  // The results' types are known only once the body is there.
  Region region;
  Block *entry = &region.emplaceBlock();
  SmallVector<Value> yielded;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    std::array<Value, 2> at;
    for (unsigned d : {0, 1}) {
      entry->addArgument(builder.getIndexType(), op.getLoc());
      at[d] = vgrid[d] == 1 ? subInBlock[d] : Value();
    }
    SmallVector<Value> arguments;
    for (size_t i = 0; i < privates.size(); i += count)
      arguments.push_back(
          entry->addArgument(privates[i].getType(), op.getLoc()));
    for (unsigned d : {0, 1})
      if (!at[d])
        at[d] = arith::AddIOp::create(
            builder, subInBlock[d],
            arith::MulIOp::create(builder, entry->getArgument(d),
                                  math.constant(tile[d])));
    yielded = body(at[0], at[1], arguments);
    YieldOp::create(builder, yielded);
  }
  SmallVector<Type> types;
  for (Value value : yielded)
    types.append(count, value.getType());
  InterleaveAttr order;
  if (schedule.getInterleave() != 0)
    order = InterleaveAttr::get(builder.getContext(), schedule.getInterleave());
  auto vthread = VThreadOp::create(
      builder, types, privates, ArrayRef<int64_t>{vgrid[0], vgrid[1]}, order);
  vthread.getBody().takeBody(region);
  return SmallVector<Value>(vthread.getResults());
}

//===----------------------------------------------------------------------===//
// The reduction
//===----------------------------------------------------------------------===//

SmallVector<Value> Tiler::emitInit() {
  Type acc = op.getAccumulatorType();
  FragmentType type = fragment(tile[0], tile[1], acc, Role::Acc);
  Value init = op.getInit();
  // Parts start from zero, and the old value is added last; with the reduction
  // in a cluster, the first part starts from the initial value.
  if (schedule.getSplitK() > 1) {
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(acc));
    if (schedule.addsInCluster() && init)
      init = arith::SelectOp::create(
          builder,
          arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, part,
                                math.constant(0)),
          init, zero);
    else
      init = zero;
  }
  if (init) {
    init = FillOp::create(builder, type, init);
    return SmallVector<Value>(vgrid[0] * vgrid[1], init);
  }
  MatrixView out = operands.viewMatrix(2);
  bool inBounds = fits(0) && fits(1);
  Type element = getElementTypeOrSelf(op.getOutput().getType());
  return forEachVThread({}, [&](Value row, Value col, ValueRange) {
    Value old = load(out, math.add(blockAt[0], row), math.add(blockAt[1], col),
                     type.cloneWithElementType(element), inBounds);
    if (element != acc)
      old = ConvertOp::create(builder, type, old, /*isUnsigned=*/false);
    return SmallVector<Value>{old};
  });
}

Value Tiler::emitOperand(unsigned side, const StepSource &from, Value row,
                         Value col, Value k, Value other, FragmentType type) {
  std::array<Value, 2> position{row, col};
  if (from.transposed)
    std::swap(position[0], position[1]);
  SmallVector<Value> indices(from.leading);
  for (unsigned d : {0, 1})
    indices.push_back(from.at[d] ? math.add(from.at[d], position[d])
                                 : position[d]);
  Region &producer = op.getProducer(side);
  Type raw = getElementTypeOrSelf(from.memory.getType());
  Value loaded = LoadOp::create(builder, type.cloneWithElementType(raw),
                                from.memory, indices, from.transposed,
                                from.inBounds, /*swizzled=*/false);
  if (producer.empty())
    return loaded;

  // Where the fragment begins along K.
  Value along = math.add(k, side == 0 ? col : row);
  // The other inputs: matrices, vectors along K or along M (N), scalars.
  Block &inner = producer.front();
  ArrayRef<unsigned> otherDims = side == 0 ? form.m : form.n;
  SmallVector<Value> inputs{loaded};
  SmallVector<std::pair<unsigned, unsigned>> argumentOf{{0, 0}};
  IRMapping mapping;
  for (unsigned i = 1; i < inner.getNumArguments(); ++i) {
    unsigned operand = firstInput[side] + i - 1;
    bool readsK = operands.reads(operand, form.k),
         readsOther = operands.reads(operand, otherDims);
    FragmentType inputType =
        type.cloneWithElementType(inner.getArgument(i).getType());
    Value input;
    if (operands.isQuotient(operand)) {
      if (!readsOther) {
        Value vector = operands.viewQuotient(operand, {}, along);
        mapping.map(inner.getArgument(i),
                    memref::LoadOp::create(builder, vector, ValueRange()));
        continue;
      }
      // One value for the whole fragment along K.
      input = BroadcastOp::create(
          builder, inputType, operands.viewQuotient(operand, otherDims, along),
          other, /*dimension=*/side == 0 ? 1 : 0, /*inBounds=*/fits(side));
    } else if (readsK && readsOther) {
      MatrixView view = operands.viewMatrix(operand);
      input = load(view, side == 0 ? other : along, side == 0 ? along : other,
                   inputType, /*inBounds=*/false);
    } else if (readsK || readsOther) {
      Value vector = operands.viewVector(
          operand, readsK ? ArrayRef<unsigned>(form.k) : otherDims);
      // A vector along the rows does not vary along the columns.
      bool alongRows = readsK == (side == 1);
      input = BroadcastOp::create(
          builder, inputType, vector, readsK ? along : other,
          /*dimension=*/alongRows ? 1 : 0, /*inBounds=*/false);
    } else {
      mapping.map(inner.getArgument(i), operands.loadScalar(operand));
      continue;
    }
    argumentOf.push_back({i, inputs.size()});
    inputs.push_back(input);
  }
  auto map = MapOp::create(builder, type, inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody());
  for (Value input : inputs)
    body->addArgument(cast<FragmentType>(input.getType()).getElementType(),
                      op.getLoc());
  for (auto [argument, input] : argumentOf)
    mapping.map(inner.getArgument(argument), body->getArgument(input));
  for (Operation &nested : inner.without_terminator())
    builder.clone(nested, mapping);
  Value result = mapping.lookupOrDefault(
      cast<YieldOp>(inner.getTerminator()).getValues()[0]);
  // A producer may map the zeros beyond the end of K to other values.
  if (!hasWholeSteps()) {
    Type indexType = builder.getIndexType();
    SmallVector<Value> coordinates{body->addArgument(indexType, op.getLoc()),
                                   body->addArgument(indexType, op.getLoc())};
    Value at = math.add(along, coordinates[side == 0 ? 1 : 0]);
    Value inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, at,
                                         operands.getK());
    Value zero = arith::ConstantOp::create(
        builder, builder.getZeroAttr(result.getType()));
    result = arith::SelectOp::create(builder, inside, result, zero);
  }
  YieldOp::create(builder, result);
  return map;
}

SmallVector<Tiler::StepSource>
Tiler::emitSources(unsigned side, ArrayRef<MatrixView> views, Value k) {
  int64_t step = schedule.getK();
  bool gathers = form.gather[side] || batches > 1;
  // Gathers check the end of K as well where copies may run ahead of it.
  bool kDivides = hasWholeSteps();
  std::optional<int64_t> knownSteps = getConstantIntValue(numSteps);
  bool ahead = !knownSteps || *knownSteps < schedule.getStages();
  bool kBeyond = !kDivides || (gathers && ahead), otherBeyond = !fits(side);
  Value row = side == 0 ? blockAt[0] : k, col = side == 0 ? k : blockAt[1];
  SmallVector<StepSource> sources(subBatches);
  // Without staging, subgroups of other matrices have tiles of their own.
  if (batches > 1 && schedule.getStages() == 0) {
    for (auto [source, view] : llvm::zip_equal(sources, views)) {
      source = {view.memory, view.leading, {row, col}, view.transposed};
      source.inBounds = kDivides && !otherBeyond;
      if (view.transposed)
        std::swap(source.at[0], source.at[1]);
    }
    return sources;
  }
  TileBounds beyond{side == 0 ? otherBeyond : kBeyond,
                    side == 0 ? kBeyond : otherBeyond};
  std::array<int64_t, 2> shape{side == 0 ? block[0] : step,
                               side == 0 ? step : block[1]};
  Value tile = operands.createTile(side, views.front(), row, col, shape, beyond,
                                   chip.accessBytes);
  for (auto [s, source] : llvm::enumerate(sources)) {
    source.memory = tile;
    source.transposed = views.front().transposed;
    if (batches > 1)
      source.at = {
          math.mul(math.add(firstSlot, s), shape[source.transposed ? 1 : 0]),
          Value()};
  }
  return sources;
}

SmallVector<Value> Tiler::emitReduction(ValueRange init) {
  if (extents[2] == 0)
    return SmallVector<Value>(init);
  std::array<SmallVector<MatrixView>, 2> views;
  for (unsigned side : {0, 1})
    for (int64_t s = 0; s < subBatches; ++s) {
      operands.setBatch(batchIndices[s]);
      MatrixView &view = views[side].emplace_back();
      if (form.gather[side] || (batches > 1 && schedule.getStages() > 0))
        view.transposed = isStoredTransposed(op, form, side);
      else
        view = operands.viewMatrix(side);
    }
  Value steps = numSteps;
  if (lastSteps) {
    Value isLast =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, part,
                              math.constant(schedule.getSplitK() - 1));
    steps = arith::SelectOp::create(builder, isLast, math.constant(lastSteps),
                                    numSteps);
  }
  auto loop = scf::ForOp::create(builder, math.constant(0), steps,
                                 math.constant(1), init);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  int64_t k = schedule.getK();
  Value at = math.add(firstK, math.mul(loop.getInductionVar(), k));
  SmallVector<StepSource> a = emitSources(0, views[0], at),
                          b = emitSources(1, views[1], at);
  // A step has several parts if a producer's inputs change within it.
  int64_t length = k;
  if (int64_t longest = getLargestStep(op, form))
    length = std::gcd(longest, k);
  size_t count = vgrid[0] * vgrid[1];
  SmallVector<Value> matmuls;
  for (int64_t s = 0; s < subBatches; ++s) {
    operands.setBatch(batchIndices[s]);
    llvm::append_range(
        matmuls,
        forEachVThread(
            loop.getRegionIterArgs().slice(s * count, count),
            [&](Value row, Value col, ValueRange privates) {
              Value matmul = privates[0];
              for (int64_t part = 0; part < k; part += length) {
                Value within = math.constant(part);
                Value aValue = emitOperand(
                    0, a[s], row, within, at, math.add(blockAt[0], row),
                    fragment(tile[0], length, op.getFactorType(0), Role::A));
                Value bValue = emitOperand(
                    1, b[s], within, col, at, math.add(blockAt[1], col),
                    fragment(length, tile[1], op.getFactorType(1), Role::B));
                matmul = MmaOp::create(builder, matmul.getType(), aValue,
                                       bValue, matmul, op.getUnsignedA(),
                                       op.getUnsignedB(), op.getPrecision());
              }
              return SmallVector<Value>{matmul};
            }));
  }
  scf::YieldOp::create(builder, matmuls);
  return SmallVector<Value>(loop.getResults());
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

void Tiler::emitEpilogue(ValueRange accs) {
  // In a cluster, each workgroup finishes a share of the columns.
  std::array<int64_t, 2> shape = tile;
  if (schedule.addsInCluster())
    shape[1] /= schedule.getSplitK();
  FragmentType accType =
      fragment(shape[0], shape[1], op.getAccumulatorType(), Role::Acc);
  bool inBoundsM = fits(0), inBoundsN = fits(1);
  bool inBounds = inBoundsM && inBoundsN;

  // Views and scalars are the same for all vthreads. The parts of a reduction
  // are stored as they are.
  bool isPart = schedule.leavesParts();
  size_t numExtras = isPart ? 0 : op.getExtras().size();
  SmallVector<MatrixView> views(numExtras);
  SmallVector<Value> scalars(numExtras);
  for (size_t e = 0; e < numExtras; ++e) {
    unsigned operand = 3 + e;
    bool m = operands.reads(operand, form.m),
         n = operands.reads(operand, form.n);
    if (m && n)
      views[e] = operands.viewMatrix(operand);
    else if (m || n)
      views[e].memory = operands.viewVector(operand, m ? form.m : form.n);
    else
      scalars[e] = operands.loadScalar(operand);
  }
  MatrixView out = operands.viewMatrix(2);
  Value staged;
  bool swizzled = false;
  // The one extra that is read where the output is made.
  std::optional<size_t> brought;
  if (schedule.getStageOutput()) {
    staged = addStagedOutput(out);
    swizzled = getSwizzlePhases(cast<MemRefType>(staged.getType())) != 0;
    for (size_t e = 0; e < numExtras && !brought; ++e)
      if (operands.reads(3 + e, form.m) && operands.reads(3 + e, form.n) &&
          liesAsOutput(views[e], out))
        brought = e;
    if (brought)
      loadExtra(views[*brought], staged, inBounds);
  }
  Block &region = op.getEpilogue().front();
  bool reducesRows = op.reducesRows();
  // The reductions see no columns beyond the end of a row.
  std::optional<int64_t> rowLength;
  if (extents[1] != tile[1])
    rowLength = extents[1];

  forEachVThread(accs, [&](Value row, Value col, ValueRange privates) {
    Value result = privates[0];
    std::array<Value, 2> inBlock{row, col};
    if (out.transposed)
      std::swap(inBlock[0], inBlock[1]);
    row = math.add(blockAt[0], row);
    col = math.add(blockAt[1], col);
    if (schedule.addsInCluster()) {
      col = math.add(col, math.mul(part, shape[1]));
      result = emitSum(result);
      if (!op.getInit())
        result = addOld(
            result, load(out, row, col,
                         accType.cloneWithElementType(
                             getElementTypeOrSelf(op.getOutput().getType())),
                         inBounds));
    }
    if (!isPart) {
      EpilogueEmitter emitter(region, shape, rowLength, builder);
      emitter.setElements(region.getArgument(0), result);
      for (size_t e = 0; e < numExtras; ++e) {
        Value argument = region.getArgument(1 + e);
        bool m = operands.reads(3 + e, form.m),
             n = operands.reads(3 + e, form.n);
        FragmentType type = accType.cloneWithElementType(argument.getType());
        auto broadcast = [&](FragmentType to) {
          return BroadcastOp::create(builder, to, views[e].memory,
                                     m ? row : col, /*dimension=*/m ? 1 : 0,
                                     m ? inBoundsM : inBoundsN);
        };
        if (scalars[e])
          emitter.setScalar(argument, scalars[e]);
        else if (e == brought)
          emitter.setElements(argument,
                              LoadOp::create(builder, type, staged, inBlock,
                                             out.transposed, /*inBounds=*/true,
                                             swizzled));
        else if (m && n)
          emitter.setElements(argument,
                              load(views[e], row, col, type, inBounds));
        else if (m && reducesRows)
          emitter.setColumn(
              argument,
              broadcast(fragment(tile[0], 1, argument.getType(), Role::Acc)));
        else
          emitter.setElements(argument, broadcast(type));
      }
      result = emitter.emit(/*asColumn=*/!operands.reads(2, form.n));
    }
    if (staged) {
      StoreOp::create(builder, result, staged, inBlock, out.transposed,
                      /*inBounds=*/true, /*atomicAdd=*/false, swizzled);
      return SmallVector<Value>();
    }
    // An output without N has one column.
    bool isColumn = cast<FragmentType>(result.getType()).getCols() == 1,
         hasColumns = operands.reads(2, form.n);
    StoreOp::create(builder, result, out.memory, out.getIndices(row, col),
                    out.transposed,
                    hasColumns ? inBounds : inBoundsM && isColumn,
                    schedule.addsAtomically(), /*swizzled=*/false);
    return SmallVector<Value>();
  });
  if (!staged)
    return;
  gpu::BarrierOp::create(builder);
  auto type = cast<MemRefType>(staged.getType());
  Value zero = math.constant(0);
  CopyOp::create(builder, staged, ValueRange{zero, zero}, out.memory,
                 out.getIndices(blockAt[0], blockAt[1]),
                 builder.getDenseI64ArrayAttr(type.getShape()), inBounds,
                 /*alignment=*/nullptr, /*contiguous=*/nullptr,
                 /*window=*/nullptr, /*swizzled=*/false,
                 /*fromSwizzled=*/swizzled);
}

bool Tiler::liesAsOutput(const MatrixView &extra, const MatrixView &out) {
  auto type = cast<MemRefType>(extra.memory.getType());
  return extra.transposed == out.transposed &&
         type.getElementType() == getElementTypeOrSelf(out.memory.getType()) &&
         hasRowsOfMultiple(type, chip.accessBytes);
}

/// Each element is read and written by one thread: between the two it needs no
/// barrier.
void Tiler::loadExtra(const MatrixView &extra, Value staged, bool inBounds) {
  auto type = cast<MemRefType>(staged.getType());
  Value zero = math.constant(0);
  CopyOp::create(builder, extra.memory,
                 extra.getIndices(blockAt[0], blockAt[1]), staged,
                 ValueRange{zero, zero},
                 builder.getDenseI64ArrayAttr(type.getShape()), inBounds,
                 /*alignment=*/nullptr, /*contiguous=*/nullptr,
                 /*window=*/nullptr,
                 /*swizzled=*/getSwizzlePhases(type) != 0,
                 /*fromSwizzled=*/false);
  gpu::BarrierOp::create(builder);
}

Value Tiler::emitSum(Value acc) {
  Type element = op.getAccumulatorType();
  auto type = MemRefType::get(
      {block[0] * block[1]}, element, MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(builder.getContext(),
                                 gpu::GPUDialect::getWorkgroupAddressSpace()));
  Value memory = launch.addWorkgroupAttribution(type, op.getLoc());
  return SumPartsOp::create(
      builder,
      fragment(tile[0], tile[1] / schedule.getSplitK(), element, Role::Acc),
      acc, memory, static_cast<uint64_t>(schedule.getSplitK()));
}

Value Tiler::addOld(Value sum, Value old) {
  auto type = cast<FragmentType>(sum.getType());
  if (old.getType() != type)
    old = ConvertOp::create(builder, type, old, /*isUnsigned=*/false);
  auto map = MapOp::create(builder, type, ValueRange{sum, old});
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody());
  Type element = type.getElementType();
  Value l = body->addArgument(element, op.getLoc()),
        r = body->addArgument(element, op.getLoc());
  Value result = isa<FloatType>(element)
                     ? arith::AddFOp::create(builder, l, r).getResult()
                     : arith::AddIOp::create(builder, l, r).getResult();
  YieldOp::create(builder, result);
  return map;
}

Value Tiler::addStagedOutput(const MatrixView &out) {
  SmallVector<int64_t> shape{block[0], block[1]};
  if (out.transposed)
    std::swap(shape[0], shape[1]);
  auto type = MemRefType::get(
      shape, cast<MemRefType>(out.memory.getType()).getElementType(),
      MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(builder.getContext(),
                                 gpu::GPUDialect::getWorkgroupAddressSpace()));
  // The tile before this one may still be read.
  if (builder.getInsertionBlock() != &launch.getBody().front())
    gpu::BarrierOp::create(builder);
  return launch.addWorkgroupAttribution(type, op.getLoc());
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

void Tiler::placeSubgroup() {
  int64_t subCols = block[1] / sub[1];
  Value zero = math.constant(0);
  subInBlock = {zero, zero};
  firstSlot = zero;
  if (schedule.getNumSubgroups() == schedule.getSubgroupsPerFragment())
    return;
  Value id = gpu::SubgroupIdOp::create(builder, /*upper_bound=*/nullptr);
  if (batches > subBatches) {
    Value ofTile = math.constant(schedule.getSubgroupsOfTile());
    firstSlot = math.mul(math.div(id, ofTile), subBatches);
    if (schedule.getSubgroupsOfTile() == schedule.getSubgroupsPerFragment())
      return;
    id = math.rem(id, ofTile);
  }
  if (schedule.getSubgroupsPerFragment() > 1)
    id = math.div(id, math.constant(schedule.getSubgroupsPerFragment()));
  std::array<Value, 2> position{id, id};
  if (subCols > 1)
    position = {math.div(id, math.constant(subCols)),
                math.rem(id, math.constant(subCols))};
  for (unsigned d : {0, 1})
    if (block[d] > sub[d])
      subInBlock[d] = math.mul(position[d], sub[d]);
}

void Tiler::emitWorkgroupTile(Value x, Value y, Value z) {
  blockAt = {math.mul(x, block[0]), math.mul(y, block[1])};
  firstK = math.constant(0);
  Value batch = z;
  if (schedule.getSplitK() > 1) {
    // The parts of one tile are neighbours.
    Value parts = math.constant(schedule.getSplitK());
    bool one = getConstantIntValue(operands.getNumBatches()) == int64_t(1);
    part = one ? z : math.rem(z, parts);
    batch = one ? math.constant(0) : math.div(z, parts);
    operands.setSlice(schedule.leavesParts() && !schedule.addsAtomically()
                          ? part
                          : math.constant(0));
    firstK = math.mul(part, math.mul(numSteps, schedule.getK()));
  }
  batchNumbers.clear();
  batchIndices.clear();
  Value first = math.mul(batch, batches);
  operands.setSlots(first, batches, ragged);
  for (int64_t s = 0; s < subBatches; ++s) {
    Value number = math.add(first, math.add(firstSlot, s));
    batchNumbers.push_back(number);
    if (batches > 1 && ragged)
      number = math.min(number,
                        math.sub(operands.getNumBatches(), math.constant(1)));
    operands.setBatch(number);
    batchIndices.push_back(operands.getBatch());
  }
  SmallVector<Value> init;
  for (ArrayRef<Value> indices : batchIndices) {
    operands.setBatch(indices);
    llvm::append_range(init, emitInit());
  }
  SmallVector<Value> accs = emitReduction(init);
  size_t count = vgrid[0] * vgrid[1];
  for (int64_t s = 0; s < subBatches; ++s)
    emitIfInBatch(s, [&] {
      operands.setBatch(batchIndices[s]);
      emitEpilogue(ArrayRef(accs).slice(s * count, count));
    });
}

void Tiler::emitIfInBatch(int64_t s, function_ref<void()> emit) {
  if (batches == 1 || !ragged)
    return emit();
  auto branch = scf::IfOp::create(
      builder,
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, batchNumbers[s],
                            operands.getNumBatches()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emit();
}

void Tiler::forEach(Value begin, Value end, Value step,
                    function_ref<void(Value)> emit) {
  auto loop = scf::ForOp::create(builder, begin, end, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  emit(loop.getInductionVar());
}

/// Workgroup 0 runs on the first die, 1 on the second, and so on. Within each
/// window of `dies * run` workgroups, those of one die compute `run` tiles that
/// follow each other, and so share operands in the die's cache. The last
/// workgroups, of less than a window, keep their order.
Value Tiler::emitDieOrder(Value linear) {
  if (chip.dies <= 1 || schedule.getRaster() == 0 ||
      schedule.getPersistent() != 0 || schedule.getNumClustered() > 1)
    return linear;
  int64_t run = countTilesOfDie(chip, schedule.getRaster());
  Value dies = math.constant(chip.dies),
        window = math.constant(chip.dies * run), units = getNumUnits(),
        inWindow = math.rem(linear, window),
        place = math.add(math.mul(math.rem(inWindow, dies), run),
                         math.div(inWindow, dies)),
        ordered = math.add(math.sub(linear, inWindow), place);
  std::optional<int64_t> known = getConstantIntValue(units);
  if (known && *known % (chip.dies * run) == 0)
    return ordered;
  Value whole = math.sub(units, math.rem(units, window));
  Value isWhole =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, linear, whole);
  return arith::SelectOp::create(builder, isWhole, ordered, linear);
}

void Tiler::emitTiles() {
  gpu::KernelDim3 ids = launch.getBlockIds(), grid = launch.getGridSize();
  int64_t raster = schedule.getRaster();
  if (!isLinear()) {
    std::optional<int64_t> known = getConstantIntValue(numTiles[2]);
    if (known && *known <= maxGridYZ)
      return emitWorkgroupTile(ids.x, ids.y, ids.z);
    // More batches than a grid can have are walked through by each workgroup.
    return forEach(ids.z, numTiles[2], grid.z,
                   [&](Value z) { emitWorkgroupTile(ids.x, ids.y, z); });
  }

  // A linear grid. The tiles of one batch come in bands of `raster` rows of
  // tiles; within a band, the rows run fastest. Tiles of a cluster are counted
  // as one; its workgroups follow each other in the grid, along M first.
  int64_t clustered = schedule.getNumClustered();
  Value rank = math.rem(ids.x, math.constant(clustered));
  Value parts = math.constant(clustered), begin = math.div(ids.x, parts);
  // With bands of one row, columns run fastest; where a persistent workgroup's
  // tiles are whole rows apart, it stays in its column, which is then known
  // before the loop.
  std::optional<int64_t> columns = getConstantIntValue(numUnits[1]);
  bool hasColumn = clustered == 1 && columns && *columns > 0 &&
                   (raster == 1 || *columns == 1) &&
                   schedule.getPersistent() % *columns == 0;
  Value column = hasColumn ? math.rem(begin, numUnits[1]) : Value();
  auto emitLinear = [&](Value linear) {
    Value perBatch = math.mul(numUnits[0], numUnits[1]);
    Value z = math.div(linear, perBatch), rest = math.rem(linear, perBatch);
    Value first = math.constant(0), rows = numUnits[0], inBand = rest;
    if (hasColumn)
      return emitWorkgroupTile(math.div(rest, numUnits[1]), column, z);
    if (raster > 0) {
      Value band = math.constant(raster / cluster[0]);
      Value perBand = math.mul(band, numUnits[1]);
      first = math.mul(math.div(rest, perBand), band);
      rows = math.min(math.sub(numUnits[0], first), band);
      inBand = math.rem(rest, perBand);
    }
    Value x = math.add(first, math.rem(inBand, rows)),
          y = math.div(inBand, rows);
    if (clustered > 1) {
      Value m = math.constant(cluster[0]);
      x = math.add(math.mul(x, m), math.rem(rank, m));
      y = math.add(math.mul(y, cluster[1]), math.div(rank, m));
    }
    emitWorkgroupTile(x, y, z);
  };
  if (schedule.getPersistent() == 0)
    return emitLinear(emitDieOrder(begin));
  forEach(begin, getNumUnits(), math.div(grid.x, parts), emitLinear);
}

void Tiler::run() {
  // An output without elements needs no kernel, whose code would divide by
  // zero.
  if (llvm::is_contained(cast<ShapedType>(op.getOutput().getType()).getShape(),
                         0)) {
    op.erase();
    return;
  }

  // On the host: extents, grid and threads.
  Value one = math.constant(1);
  int64_t splitK = schedule.getSplitK();
  if (schedule.addsAtomically())
    operands.setWorkspace(createAtomicWorkspace(op, builder));
  else if (schedule.leavesParts())
    operands.setWorkspace(createSplitWorkspace(op, splitK, builder));
  numTiles = {
      math.ceilDiv(operands.getM(), block[0]),
      math.ceilDiv(operands.getN(), block[1]),
      math.mul(math.ceilDiv(operands.getNumBatches(), batches), splitK)};
  numSteps = math.ceilDiv(operands.getK(), schedule.getK() * splitK);
  std::array<Value, 3> grid = numTiles;
  numUnits = {math.ceilDiv(numTiles[0], cluster[0]),
              math.ceilDiv(numTiles[1], cluster[1])};
  if (isLinear()) {
    Value total = math.mul(getNumUnits(), schedule.getNumClustered());
    if (schedule.getPersistent() != 0)
      total = math.min(total, math.constant(schedule.getPersistent()));
    grid = {total, one, one};
  } else {
    std::optional<int64_t> known = getConstantIntValue(numTiles[2]);
    if (!known || *known > maxGridYZ)
      grid[2] = math.min(numTiles[2], math.constant(maxGridYZ));
  }
  Value lanes = gpu::SubgroupSizeOp::create(builder, /*upper_bound=*/nullptr);
  Value threads = math.mul(lanes, schedule.getNumSubgroups());

  launch = gpu::LaunchOp::create(builder, grid[0], grid[1], grid[2], threads,
                                 one, one);
  launch->setAttr(TesseraDialect::ScheduleAttrHelper::getNameStr(), schedule);
  for (StringRef name :
       {TesseraDialect::ScheduleOriginAttrHelper::getNameStr(),
        TesseraDialect::SchedulePredictionAttrHelper::getNameStr()})
    if (Attribute text = op->getAttr(name))
      launch->setAttr(name, text);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&launch.getBody().front());
    placeSubgroup();
    emitTiles();
    builder.setInsertionPointToEnd(&launch.getBody().front());
    gpu::TerminatorOp::create(builder);
  }
  if (Value workspace = operands.getWorkspace())
    emitSplitReduction(op, workspace, builder);
  op.erase();
}

namespace {
struct TesseraTileContractPass
    : public tessera::impl::TesseraTileContractBase<TesseraTileContractPass> {
  using TesseraTileContractBase::TesseraTileContractBase;

  void runOnOperation() override {
    auto tile = [](ContractOp op, const Chip &chip) -> LogicalResult {
      ScheduleAttr schedule = op.getScheduleAttr();
      if (!schedule)
        schedule = getDefaultSchedule(op, chip);
      if (failed(checkSchedule(op, schedule, chip)))
        return failure();
      LDBG() << op.getLoc() << ": " << schedule
             << (op.getScheduleAttr() ? "" : " (the default)");
      ++numTiledContractions;
      Tiler(op, schedule, chip).run();
      return success();
    };
    if (failed(forEachOnChip<ContractOp>(getOperation(), isOnMemRefs, tile)))
      return signalPassFailure();
    // Merges equal constants, to keep the IR readable.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};
} // namespace
