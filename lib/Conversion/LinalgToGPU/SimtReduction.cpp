//===- SimtReduction.cpp - Reductions by many threads ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which way the operand of the most dimensions lies in memory decides. Where a
// dimension of the reduction runs fastest, "rows": a team of threads works on
// one result, each on vectors that lie a team apart.
//
//      reduction ->     lane 0 | lane 1 | ... | lane 0 | lane 1 | ...
//
// The lanes' values are combined by gpu.subgroup_reduce, those of several
// subgroups through workgroup memory. Where a dimension of the results runs
// fastest, "columns": each thread owns a vector of results, and the rows of
// threads of a workgroup share the reduction, through workgroup memory again.
//
//      reduction   thread row 0:  thread 0 | thread 1 | ...
//          |       thread row 1:  thread 0 | thread 1 | ...
//          v       thread row 0:  ...
//
// Where that makes too few workgroups to fill the chip, the reduction is split
// over the grid's y: each leaves a partial result, and a second kernel reduces
// these.
//
//===----------------------------------------------------------------------===//

#include "Simt.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

/// Steps that a thread should have at least where more threads share a
/// reduction, and where more workgroups do.
static constexpr int64_t minStepsPerThread = 16, minStepsPerSplit = 32;

/// Parts into which a chip of many threads splits a reduction at least: for
/// fewer, the second kernel takes about as long as it saves.
static constexpr int64_t minParts = 4;
/// The threads of a workgroup that has all columns.
static constexpr int64_t mostColumnThreads = 512;

gpu::AllReduceOperation simt::toAllReduce(vector::CombiningKind kind) {
  using From = vector::CombiningKind;
  using To = gpu::AllReduceOperation;
  switch (kind) {
  case From::ADD:
    return To::ADD;
  case From::MUL:
    return To::MUL;
  case From::MINUI:
    return To::MINUI;
  case From::MINSI:
    return To::MINSI;
  case From::MINNUMF:
    return To::MINNUMF;
  case From::MAXUI:
    return To::MAXUI;
  case From::MAXSI:
    return To::MAXSI;
  case From::MAXNUMF:
    return To::MAXNUMF;
  case From::AND:
    return To::AND;
  case From::OR:
    return To::OR;
  case From::XOR:
    return To::XOR;
  case From::MINIMUMF:
    return To::MINIMUMF;
  case From::MAXIMUMF:
    return To::MAXIMUMF;
  }
  return To::ADD;
}

namespace {

class Emitter {
public:
  Emitter(OpBuilder &outer, const Reduction &reduction, const Chip &chip)
      : r(reduction), chip(chip),
        builder(reduction.loc, outer.getInsertionBlock(),
                outer.getInsertionPoint()),
        math(builder) {}

  ReductionReport run();

private:
  using Values = SmallVector<Value>;
  using StepFn = function_ref<Values(Value, ValueRange)>;

  std::optional<int64_t> getSize(unsigned dim) {
    return getConstantIntValue(r.sizes[dim]);
  }
  int64_t getThreads() const {
    return std::min(chip.policy.simt.threads, chip.maxThreads);
  }
  /// Whether workgroups of one thread walk through many points.
  bool walks() const {
    return getThreads() == 1 && chip.policy.simt.pointsPerThread > 1;
  }
  /// The dimensions of the reduction, those of one element last: threads share
  /// the first.
  SmallVector<unsigned> getReductionDims() const;
  void chooseDirection();
  void emitRows();
  void emitColumns();

  Values identities(int64_t width);
  Values combine(ValueRange a, ValueRange b);
  /// The elements of vectors, combined in a tree.
  Values combineElements(ValueRange vectors);
  /// `for i = begin to end step step`, which carries `first`.
  Values emitFor(Value begin, Value end, Value step, ValueRange first,
                 StepFn body);
  /// Loops over the reduction's dimensions except `along` around `body`; the
  /// slowest is distributed over threads, from `first` on in steps of `step`.
  Values emitOuterLoops(ArrayRef<unsigned> dims, Value first, Value step,
                        ValueRange accs, function_ref<Values(ValueRange)> body);
  /// The part of `size` that falls to this workgroup, if `dim` is split.
  std::pair<Value, Value> getPart(std::optional<unsigned> dim, Value size);

  /// Chooses the number of workgroups over which the reduction is split along
  /// `dim`, which has `units` to distribute: as many as fill the chip, given
  /// those for the results, such that each has at least `least` points of the
  /// reduction.
  void chooseSplit(Value workgroups, unsigned dim, Value units, int64_t least);
  /// Stores the results, or the workgroup's partial ones.
  void emitFinish(const Position &position, Value linear, ValueRange values);
  void emitSecondPass();
  gpu::LaunchOp launch(Value gridX, int64_t threads);
  /// Workgroup memory of a launch.
  Value addBuffer(gpu::LaunchOp op, ArrayRef<int64_t> shape, Type element);

  const Reduction &r;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  IndexMath math;
  ReductionReport report;

  /// The dimension that runs fastest.
  unsigned along = 0;
  bool rows = false;
  int64_t width = 1;
  /// Indices of the current point.
  Values index;
  /// The dimension that is split, over how many workgroups, and which this is.
  std::optional<unsigned> splitDim;
  Value numSplits, split;
  Values partials;
};

} // namespace

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

Emitter::Values Emitter::identities(int64_t width) {
  Values values;
  for (const Reduction::Result &result : r.results) {
    TypedAttr value = result.identity;
    if (width > 1)
      value =
          SplatElementsAttr::get(VectorType::get(width, result.type), value);
    values.push_back(arith::ConstantOp::create(builder, value));
  }
  return values;
}

Emitter::Values Emitter::combine(ValueRange a, ValueRange b) {
  Values values;
  for (auto [result, x, y] : llvm::zip(r.results, a, b))
    values.push_back(
        vector::makeArithReduction(builder, r.loc, result.kind, x, y));
  return values;
}

Emitter::Values Emitter::combineElements(ValueRange vectors) {
  Values values(vectors);
  // Integers are combined in any order, floats always in the same order. (LLVM
  // 22 also miscompiles partial sums of multiplied i8 values on CPUs with
  // VNNI.)
  if (width > 1 && llvm::all_of(r.results, [](const Reduction::Result &result) {
        return isa<IntegerType>(result.type);
      })) {
    for (auto [result, value] : llvm::zip(r.results, values))
      value = vector::ReductionOp::create(builder, result.kind, value);
    return values;
  }
  for (int64_t n = width / 2; n >= 1; n /= 2) {
    Values low, high;
    for (Value value : values) {
      SmallVector<int64_t> first, second;
      for (int64_t i = 0; i < n; ++i) {
        first.push_back(i);
        second.push_back(n + i);
      }
      low.push_back(vector::ShuffleOp::create(builder, value, value, first));
      high.push_back(vector::ShuffleOp::create(builder, value, value, second));
    }
    values = combine(low, high);
  }
  if (width > 1)
    for (Value &value : values)
      value = vector::ExtractOp::create(builder, value, 0);
  return values;
}

Emitter::Values Emitter::emitFor(Value begin, Value end, Value step,
                                 ValueRange first, StepFn body) {
  auto loop = scf::ForOp::create(builder, begin, end, step, first);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop that carries nothing has its terminator already.
  if (!first.empty())
    scf::YieldOp::create(builder, next);
  return Values(loop.getResults());
}

std::pair<Value, Value> Emitter::getPart(std::optional<unsigned> dim,
                                         Value size) {
  if (!splitDim || dim != splitDim)
    return {math.constant(0), size};
  Value part = math.ceilDiv(size, numSplits);
  Value begin = math.min(math.mul(split, part), size);
  return {begin, math.min(math.add(begin, part), size)};
}

Emitter::Values Emitter::emitOuterLoops(ArrayRef<unsigned> dims, Value first,
                                        Value step, ValueRange accs,
                                        function_ref<Values(ValueRange)> body) {
  if (dims.empty())
    return body(accs);
  unsigned d = dims.front();
  if (getSize(d) == int64_t(1) && getConstantIntValue(step) == int64_t(1)) {
    index[d] = math.constant(0);
    return emitOuterLoops(dims.drop_front(), first, step, accs, body);
  }
  std::pair<Value, Value> part = getPart(d, r.sizes[d]);
  Value begin = part.first, end = part.second;
  auto emitRest = [&](Value at, ValueRange accs) {
    index[d] = at;
    return emitOuterLoops(dims.drop_front(), math.constant(0), math.constant(1),
                          accs, body);
  };
  // All threads have the same number of steps if these divide the extent, and
  // the loop's bounds show it.
  std::optional<int64_t> length = getConstantIntValue(math.sub(end, begin)),
                         each = getConstantIntValue(step);
  if (!length || !each || *length % *each)
    return emitFor(math.add(begin, first), end, step, accs, emitRest);
  return emitFor(math.constant(0), math.constant(*length), step, accs,
                 [&](Value at, ValueRange accs) {
                   return emitRest(math.add(math.add(begin, first), at), accs);
                 });
}

gpu::LaunchOp Emitter::launch(Value gridX, int64_t threads) {
  gpu::LaunchOp op = createLaunch(
      builder, gridX, numSplits ? numSplits : math.constant(1), threads);
  split = op.getBlockIds().y;
  report.launch = op;
  return op;
}

Value Emitter::addBuffer(gpu::LaunchOp op, ArrayRef<int64_t> shape,
                         Type element) {
  auto space = gpu::AddressSpaceAttr::get(
      builder.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  return op.addWorkgroupAttribution(
      MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space),
      r.loc);
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

SmallVector<unsigned> Emitter::getReductionDims() const {
  SmallVector<unsigned> dims = r.reduction;
  std::stable_partition(dims.begin(), dims.end(), [&](unsigned d) {
    return getConstantIntValue(r.sizes[d]) != int64_t(1);
  });
  return dims;
}

void Emitter::chooseDirection() {
  // The operand of the most dimensions is the largest.
  const Operand *main = nullptr;
  unsigned most = 0;
  std::optional<unsigned> fastest;
  for (const Operand &operand : r.operands) {
    if (!isa<MemRefType>(operand.memory.getType()))
      continue;
    unsigned count = 0;
    for (unsigned d = 0; d < operand.map.getNumDims(); ++d)
      count += operand.map.isFunctionOfDim(d) &&
               getConstantIntValue(r.sizes[d]) != int64_t(1);
    if (main && count <= most)
      continue;
    most = count;
    main = &operand;
    fastest = getFastestDim(operand, r.parallel);
  }
  if (fastest && llvm::is_contained(r.reduction, *fastest)) {
    rows = true;
    along = *fastest;
  } else if (fastest && llvm::is_contained(r.parallel, *fastest)) {
    along = *fastest;
  } else if (r.parallel.empty()) {
    rows = true;
    along = r.reduction.back();
  } else {
    along = r.parallel.back();
  }
  if (!r.vectorizable)
    return;
  SmallVector<Operand> moving;
  for (const Operand &operand : r.operands)
    if (getMovement(operand, along) == Movement::Contiguous)
      moving.push_back(operand);
  width = getVectorWidth(moving, along, chip);
}

void Emitter::chooseSplit(Value workgroups, unsigned dim, Value units,
                          int64_t least) {
  std::optional<int64_t> known = getConstantIntValue(workgroups);
  if (!r.mayBeSplit || !known || 2 * *known > chip.policy.simt.workgroups ||
      !getStaticProduct(r.sizes, r.parallel))
    return;
  Value most =
      math.constant(chip.policy.simt.workgroups / std::max<int64_t>(*known, 1));
  Value wanted =
      math.ceilDiv(math.product(r.sizes, r.reduction), math.constant(least));
  Value count =
      math.max(math.min(math.min(wanted, units), most), math.constant(1));
  std::optional<int64_t> parts = getConstantIntValue(count);
  if (parts && *parts < (walks() ? 2 : minParts))
    return;
  splitDim = dim;
  numSplits = count;
  int64_t points = *getStaticProduct(r.sizes, r.parallel);
  known = getConstantIntValue(count);
  for (const Reduction::Result &result : r.results) {
    auto type = MemRefType::get({known.value_or(ShapedType::kDynamic), points},
                                result.type);
    SmallVector<Value> sizes;
    if (!known)
      sizes.push_back(count);
    partials.push_back(memref::AllocOp::create(builder, type, sizes));
  }
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void Emitter::emitFinish(const Position &position, Value linear,
                         ValueRange values) {
  if (numSplits) {
    AffineMap identity = builder.getMultiDimIdentityMap(2);
    Position to;
    to.index = {split, linear};
    to.along = 1;
    to.width = position.width;
    for (auto [partial, value] : llvm::zip(partials, values))
      emitStore(builder, value, {partial, identity}, to);
    return;
  }
  if (position.width == 1 || r.vectorFinish) {
    r.finish(builder, position, values);
    return;
  }
  for (int64_t i = 0; i < position.width; ++i) {
    Position point = position;
    point.width = 1;
    point.index[position.along] =
        math.add(position.index[position.along], math.constant(i));
    Values elements;
    for (Value value : values)
      elements.push_back(vector::ExtractOp::create(builder, value, i));
    r.finish(builder, point, elements);
  }
}

void Emitter::emitSecondPass() {
  Reduction second(r.loc);
  second.sizes = {math.constant(*getStaticProduct(r.sizes, r.parallel)),
                  numSplits};
  second.parallel = {0};
  second.reduction = {1};
  second.results = r.results;
  second.vectorFinish = false;
  second.mayBeSplit = false;
  AffineMap map = AffineMap::getPermutationMap(ArrayRef<unsigned>{1, 0},
                                               builder.getContext());
  for (Value partial : partials)
    second.operands.push_back({partial, map});
  second.accumulate = [&](ImplicitLocOpBuilder &b, const Position &position,
                          ValueRange accs) {
    Values values;
    for (auto [i, partial] : llvm::enumerate(partials))
      values.push_back(
          vector::makeArithReduction(b, r.loc, r.results[i].kind, accs[i],
                                     emitLoad(b, {partial, map}, position)));
    return values;
  };
  // The first pass numbers results with its fastest dimension last.
  SmallVector<unsigned> order(r.parallel);
  if (!rows) {
    llvm::erase(order, along);
    order.push_back(along);
  }
  second.finish = [&](ImplicitLocOpBuilder &b, const Position &position,
                      ValueRange values) {
    Position point;
    point.index.resize(r.sizes.size());
    IndexMath(b).delinearize(position.index[0], r.sizes, order, point.index);
    r.finish(b, point, values);
  };
  emitReduction(builder, second, chip);
  for (Value partial : partials)
    memref::DeallocOp::create(builder, partial);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void Emitter::emitRows() {
  int64_t lanes = chip.subgroupSize, threads = getThreads();
  SmallVector<unsigned> outer;
  for (unsigned d : getReductionDims())
    if (d != along)
      outer.push_back(d);
  std::optional<int64_t> extent = getSize(along),
                         outerSize = getStaticProduct(r.sizes, outer),
                         points = getStaticProduct(r.sizes, r.parallel);
  while (extent && width > 1 && width > *extent)
    width /= 2;
  Value steps = math.div(r.sizes[along], math.constant(width));

  // A team is a part of a subgroup, a subgroup, or several.
  int64_t team = 1;
  while (team < lanes && (!extent || team * width < *extent))
    team *= 2;
  while (team >= lanes && lanes > 1 && team < threads && points &&
         *points * team < chip.policy.simt.workgroups * threads &&
         (!extent || !outerSize ||
          *extent / width * *outerSize / team >= minStepsPerThread))
    team *= 2;
  int64_t teams = threads / team;
  // Vectors in flight at a time.
  int64_t unroll = chip.policy.simt.unroll;
  while (extent && unroll > 1 && *extent / width / team < unroll)
    unroll /= 2;

  // The points that one thread (or team) computes in sequence.
  Value total = math.product(r.sizes, r.parallel);
  Value perTeam = math.constant(1);
  if (walks())
    perTeam = math.max(math.div(math.constant(chip.policy.simt.pointsPerThread),
                                math.max(math.product(r.sizes, r.reduction),
                                         math.constant(1))),
                       math.constant(1));
  Value perGroup = math.mul(perTeam, teams);
  Value groups = math.ceilDiv(total, perGroup);
  if (team == threads) {
    unsigned dim = outer.empty() ? along : outer.front();
    Value units =
        dim == along ? math.div(steps, math.constant(team)) : r.sizes[dim];
    chooseSplit(groups, dim, units,
                std::max(minStepsPerSplit * team * width,
                         walks() ? 4 * chip.policy.simt.pointsPerThread : 1));
  }

  gpu::LaunchOp op;
  {
    OpBuilder::InsertionGuard guard(builder);
    op = launch(groups, threads);
    Value thread = math.constant(0), lane = thread, mine = thread;
    if (threads > 1) {
      thread = op.getThreadIds().x;
      mine = math.div(thread, math.constant(team));
      lane = math.rem(thread, math.constant(team));
    }
    // Subgroups reduce together: those without a result of their own do the
    // last one again, and do not store it.
    Value inside;
    auto emitPoint = [&](Value linear) {
      index.assign(r.sizes.size(), Value());
      math.delinearize(linear, r.sizes, r.parallel, index);
      Value teamSize = math.constant(team);
      auto accumulate = [&](Value at, int64_t pointWidth, ValueRange accs) {
        Position position{index, along, pointWidth};
        position.index[along] = at;
        return r.accumulate(builder, position, accs);
      };
      Values accs;
      for (int64_t u = 0; u < unroll; ++u)
        llvm::append_range(accs, identities(width));
      bool hasTail = width > 1 && (!extent || *extent % width);
      if (hasTail)
        llvm::append_range(accs, identities(1));
      size_t n = r.results.size();
      accs = emitOuterLoops(
          outer, math.constant(0), math.constant(1), accs,
          [&](ValueRange carried) {
            Values values(carried);
            auto [begin, end] = getPart(along, steps);
            // Blocks of `unroll` vectors for each thread, then single vectors.
            Value block = math.mul(teamSize, unroll);
            Value numBlocks = math.div(math.sub(end, begin), block);
            if (unroll > 1) {
              Values main(values.begin(), values.begin() + unroll * n);
              Value from = math.add(begin, lane);
              main = emitFor(
                  math.constant(0), numBlocks, math.constant(1), main,
                  [&](Value b, ValueRange now) {
                    Values next;
                    for (int64_t u = 0; u < unroll; ++u) {
                      Value step = math.add(math.add(from, math.mul(b, block)),
                                            math.constant(u * team));
                      llvm::append_range(next, accumulate(math.mul(step, width),
                                                          width,
                                                          now.slice(u * n, n)));
                    }
                    return next;
                  });
              llvm::copy(main, values.begin());
              begin = math.add(begin, math.mul(numBlocks, block));
            }
            Values rest(values.begin(), values.begin() + n);
            rest =
                emitFor(math.add(begin, lane), end, teamSize, rest,
                        [&](Value step, ValueRange now) {
                          return accumulate(math.mul(step, width), width, now);
                        });
            llvm::copy(rest, values.begin());
            if (hasTail) {
              Value size = r.sizes[along];
              Value first = math.add(math.mul(steps, width), lane);
              if (splitDim == along) {
                Value last = arith::CmpIOp::create(
                    builder, arith::CmpIPredicate::eq,
                    math.add(split, math.constant(1)), numSplits);
                first = arith::SelectOp::create(builder, last, first, size);
              }
              Values tail(values.begin() + unroll * n, values.end());
              tail = emitFor(first, size, teamSize, tail,
                             [&](Value at, ValueRange now) {
                               return accumulate(at, 1, now);
                             });
              llvm::copy(tail, values.begin() + unroll * n);
            }
            return values;
          });
      // Within the thread,
      Values tail;
      if (hasTail)
        tail.assign(accs.begin() + unroll * n, accs.end());
      for (int64_t u = unroll / 2; u >= 1; u /= 2)
        for (int64_t i = 0; i < u; ++i) {
          Values sum = combine(ValueRange(accs).slice(i * n, n),
                               ValueRange(accs).slice((i + u) * n, n));
          llvm::copy(sum, accs.begin() + i * n);
        }
      accs.resize(n);
      accs = combineElements(accs);
      if (hasTail)
        accs = combine(accs, tail);
      // within the subgroup,
      int64_t cluster = std::min(team, lanes);
      if (cluster > 1)
        for (auto [result, value] : llvm::zip(r.results, accs))
          value = gpu::SubgroupReduceOp::create(
              builder, value, toAllReduce(result.kind), /*uniform=*/true,
              cluster < lanes ? std::optional<uint32_t>(cluster)
                              : std::nullopt);
      // and within the workgroup.
      Values buffers;
      Value subgroup;
      if (team > lanes) {
        subgroup = math.div(thread, math.constant(lanes));
        Value leads = arith::CmpIOp::create(
            builder, arith::CmpIPredicate::eq,
            math.rem(thread, math.constant(lanes)), math.constant(0));
        for (const Reduction::Result &result : r.results)
          buffers.push_back(addBuffer(op, {threads / lanes}, result.type));
        auto guard =
            scf::IfOp::create(builder, leads, /*withElseRegion=*/false);
        builder.setInsertionPointToStart(guard.thenBlock());
        for (auto [buffer, value] : llvm::zip(buffers, accs))
          memref::StoreOp::create(builder, value, buffer, subgroup);
        builder.setInsertionPointAfter(guard);
        gpu::BarrierOp::create(builder);
      }
      Value stores = inside;
      if (team > 1) {
        stores = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, lane,
                                       math.constant(0));
        if (inside)
          stores = arith::AndIOp::create(builder, stores, inside);
      }
      OpBuilder::InsertionGuard insertion(builder);
      if (stores) {
        auto guard =
            scf::IfOp::create(builder, stores, /*withElseRegion=*/false);
        builder.setInsertionPointToStart(guard.thenBlock());
      }
      for (int64_t i = 1; i < team / lanes; ++i) {
        Values others;
        for (Value buffer : buffers)
          others.push_back(memref::LoadOp::create(
              builder, buffer, math.add(subgroup, math.constant(i))));
        accs = combine(accs, others);
      }
      emitFinish(Position{index, along, 1}, linear, accs);
    };

    Value first = math.mul(op.getBlockIds().x, perGroup);
    if (getConstantIntValue(perTeam) == int64_t(1)) {
      Value linear = math.add(first, mine);
      if (teams > 1 && (!points || *points % teams)) {
        inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                       linear, total);
        linear = math.min(linear, math.sub(total, math.constant(1)));
      }
      emitPoint(linear);
    } else {
      // One thread is a workgroup's only team.
      Value end = math.min(math.add(first, perGroup), total);
      emitFor(first, end, math.constant(1), {}, [&](Value at, ValueRange) {
        emitPoint(at);
        return Values();
      });
    }
  }
  builder.setInsertionPointAfter(op);
  report.how =
      (team == 1       ? "a thread for each row"
       : team < lanes  ? llvm::Twine(team) + " lanes for each row"
       : team == lanes ? llvm::Twine("a subgroup for each row")
                       : llvm::Twine(team / lanes) + " subgroups for each row")
          .str();
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

/// Makes each thread load several vectors before it uses the first: the
/// innermost loops of `op` are unrolled, and ops that do not depend on results
/// of the previous steps are moved to the front.
static void unrollLoads(gpu::LaunchOp op, int64_t unroll) {
  SmallVector<scf::ForOp> loops;
  op.walk([&](scf::ForOp loop) {
    bool readsOnly =
        !loop.getBody()
             ->walk([](Operation *inner) {
               return isa<scf::ForOp>(inner) ||
                              hasEffect<MemoryEffects::Write>(inner)
                          ? WalkResult::interrupt()
                          : WalkResult::advance();
             })
             .wasInterrupted();
    if (readsOnly && loop.getNumRegionIterArgs())
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops) {
    FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, unroll);
    if (failed(unrolled) || !unrolled->mainLoopOp)
      continue;
    scf::ForOp wide = *unrolled->mainLoopOp;
    llvm::SmallPtrSet<Operation *, 16> later;
    Operation *first = nullptr;
    Block *body = wide.getBody();
    auto isLater = [&](Value value) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        return argument.getOwner() == body && argument.getArgNumber() > 0;
      return later.contains(value.getDefiningOp());
    };
    for (Operation &inner :
         llvm::make_early_inc_range(body->without_terminator())) {
      bool depends = false;
      inner.walk([&](Operation *nested) {
        depends |= llvm::any_of(nested->getOperands(), isLater);
      });
      if (depends) {
        later.insert(&inner);
        if (!first)
          first = &inner;
      } else if (first) {
        inner.moveBefore(first);
      }
    }
  }
}

void Emitter::emitColumns() {
  int64_t lanes = chip.subgroupSize, threads = getThreads();
  std::optional<int64_t> extent = getSize(along);
  SmallVector<unsigned> others;
  for (unsigned d : r.parallel)
    if (d != along)
      others.push_back(d);
  // Threads that stop at barriers have whole vectors.
  if (!walks())
    while (width > 1 && (!extent || *extent % width))
      width /= 2;

  SmallVector<unsigned> order(others);
  order.push_back(along);
  Value vectors = math.div(r.sizes[along], math.constant(width));
  SmallVector<Value> vectorSizes(r.sizes);
  vectorSizes[along] = vectors;
  std::optional<int64_t> total = getStaticProduct(vectorSizes, order);
  SmallVector<unsigned> reduced = getReductionDims();
  unsigned slowest = reduced.front();
  std::optional<int64_t> slowestSize = getSize(slowest);

  // Rows of threads that share the reduction, as long as a subgroup or as the
  // columns that there are.
  int64_t threadRows = 1, least = std::min(lanes, threads);
  if (total && *total > 0)
    least = std::min(least, static_cast<int64_t>(llvm::PowerOf2Ceil(*total)));
  if (!walks())
    while (threads / threadRows > least &&
           (total ? *total * threadRows < chip.policy.simt.workgroups * threads
                  : threadRows < 4) &&
           (!slowestSize || *slowestSize / threadRows >= minStepsPerThread))
      threadRows *= 2;
  // A reduction that is too short for parts is shared by more threads, if one
  // workgroup has all columns.
  auto isShort = [&] {
    return total && *total <= least && slowestSize &&
           *slowestSize < minParts * minStepsPerSplit * threadRows;
  };
  while (!walks() && threads / threadRows == least && isShort() &&
         *slowestSize / threadRows >= 2 * minStepsPerThread &&
         2 * threads <= mostColumnThreads && 2 * threads <= chip.maxThreads) {
    threadRows *= 2;
    threads *= 2;
  }
  int64_t columns = threads / threadRows;

  auto accumulateAt = [&](Value at, int64_t pointWidth, Value threadRow) {
    auto accs = identities(pointWidth);
    return emitOuterLoops(reduced, threadRow, math.constant(threadRows), accs,
                          [&](ValueRange carried) {
                            Position position{index, along, pointWidth};
                            position.index[along] = at;
                            return r.accumulate(builder, position, carried);
                          });
  };

  gpu::LaunchOp op;
  if (walks()) {
    // Workgroups of one thread, each with a piece of this dimension at as many
    // indices of the others as make up the requested points.
    SmallVector<int64_t> widths;
    if (width > 1)
      widths = {width * chip.policy.simt.unroll, width};
    widths.push_back(1);
    while (extent && widths.front() > 1 && widths.front() > *extent)
      widths.erase(widths.begin());
    Value one = math.constant(1);
    Value perPoint = math.max(math.product(r.sizes, r.reduction), one);
    Value points = math.max(
        math.div(math.constant(chip.policy.simt.pointsPerThread), perPoint),
        one);
    // Pieces start at whole vectors.
    Value piece = math.mul(math.ceilDiv(points, math.constant(widths.front())),
                           widths.front());
    Value numRows = math.product(r.sizes, others);
    Value rowsEach =
        math.max(math.div(points, math.max(r.sizes[along], one)), one);
    Value numPieces = math.ceilDiv(r.sizes[along], piece);
    Value groups = math.mul(math.ceilDiv(numRows, rowsEach), numPieces);
    chooseSplit(groups, slowest, r.sizes[slowest],
                std::max<int64_t>(minStepsPerSplit,
                                  4 * chip.policy.simt.pointsPerThread /
                                      widths.front()));
    OpBuilder::InsertionGuard guard(builder);
    op = launch(groups, 1);
    Value block = op.getBlockIds().x;
    Value rowBegin = math.mul(math.div(block, numPieces), rowsEach);
    Value rowEnd = math.min(math.add(rowBegin, rowsEach), numRows);
    Value begin = math.mul(math.rem(block, numPieces), piece);
    Value end = math.min(math.add(begin, piece), r.sizes[along]);
    index.assign(r.sizes.size(), Value());
    auto emitRow = [&](Value row) {
      math.delinearize(row, r.sizes, others, index);
      Value from = begin;
      for (int64_t w : widths) {
        Value count = math.div(math.sub(end, from), math.constant(w));
        Value to = math.add(from, math.mul(count, w));
        emitFor(from, to, math.constant(w), {}, [&](Value at, ValueRange) {
          Values accs = accumulateAt(at, w, math.constant(0));
          index[along] = at;
          emitFinish(Position{index, along, w},
                     math.add(math.mul(row, r.sizes[along]), at), accs);
          return Values();
        });
        from = to;
      }
    };
    emitFor(rowBegin, rowEnd, one, {}, [&](Value row, ValueRange) {
      emitRow(row);
      return Values();
    });
  } else {
    Value count = math.product(vectorSizes, order);
    Value groups = math.ceilDiv(count, math.constant(columns));
    // A short reduction by one workgroup has more threads instead.
    int64_t steps = isShort() ? minStepsPerSplit
                              : r.leastStepsOfPart.value_or(minStepsPerSplit);
    if (columns == least)
      chooseSplit(groups, slowest,
                  math.div(r.sizes[slowest], math.constant(threadRows)),
                  steps * threadRows);
    OpBuilder::InsertionGuard guard(builder);
    op = launch(groups, threads);
    Value thread = op.getThreadIds().x, column = thread, row = math.constant(0);
    if (threadRows > 1) {
      column = math.rem(thread, math.constant(columns));
      row = math.div(thread, math.constant(columns));
    }
    Value linear = math.add(math.mul(op.getBlockIds().x, columns), column);
    Value inside;
    if (!total || *total % columns)
      inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, linear,
                                     count);
    // Barriers are for all threads, and the last column will do for those
    // without one. Without barriers, these have nothing to do.
    if (inside && threadRows > 1)
      linear = math.min(linear, math.sub(count, math.constant(1)));
    if (inside && threadRows == 1) {
      auto body = scf::IfOp::create(builder, inside, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(body.thenBlock());
      inside = {};
    }
    index.assign(r.sizes.size(), Value());
    math.delinearize(linear, vectorSizes, order, index);
    index[along] = math.mul(index[along], width);
    Values accs = accumulateAt(index[along], width, row);
    if (threadRows > 1) {
      AffineMap identity = builder.getMultiDimIdentityMap(2);
      SmallVector<Operand> buffers;
      for (const Reduction::Result &result : r.results)
        buffers.push_back(
            {addBuffer(op, {threadRows, columns * width}, result.type),
             identity});
      Position at;
      at.index = {row, math.mul(column, width)};
      at.along = 1;
      at.width = width;
      for (auto [buffer, value] : llvm::zip(buffers, accs))
        emitStore(builder, value, buffer, at);
      gpu::BarrierOp::create(builder);
      Value stores = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                           row, math.constant(0));
      if (inside)
        stores = arith::AndIOp::create(builder, stores, inside);
      auto body = scf::IfOp::create(builder, stores, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(body.thenBlock());
      for (int64_t i = 1; i < threadRows; ++i) {
        at.index[0] = math.constant(i);
        Values other;
        for (const Operand &buffer : buffers)
          other.push_back(emitLoad(builder, buffer, at));
        accs = combine(accs, other);
      }
    }
    Value linearPoint = math.mul(linear, width);
    emitFinish(Position{index, along, width}, linearPoint, accs);
    unrollLoads(op, chip.policy.simt.unroll);
  }
  builder.setInsertionPointAfter(op);
  report.how =
      "a thread for each " +
      (width == 1 ? std::string("column") : std::to_string(width) + " columns");
  if (threadRows > 1)
    report.how +=
        ", " + std::to_string(threadRows) + " rows of threads in a workgroup";
}

ReductionReport Emitter::run() {
  chooseDirection();
  if (rows)
    emitRows();
  else
    emitColumns();
  if (numSplits) {
    std::optional<int64_t> known = getConstantIntValue(numSplits);
    report.how += ", in " +
                  (known ? std::to_string(*known) : std::string("several")) +
                  " parts that a second kernel sums up";
    emitSecondPass();
  }
  return report;
}

ReductionReport simt::emitReduction(OpBuilder &builder,
                                    const Reduction &reduction,
                                    const Chip &chip) {
  OpBuilder::InsertionGuard guard(builder);
  return Emitter(builder, reduction, chip).run();
}
