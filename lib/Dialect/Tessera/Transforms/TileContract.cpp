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
// time then share their columns of rhs, and walk down lhs; and x is the only
// dimension of a grid that has no small limit. The batch is z.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Transforms/Schedule.h"
#include "Dialect/Tessera/Transforms/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERATILECONTRACT
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// The most workgroups that a grid may have along z on every target.
static constexpr int64_t maxGridZ = 65535;

namespace {

/// A matrix in memory, as a memref of rank 2: rows and columns, or the other
/// way round.
struct MatrixView {
  Value memory;
  bool transposed = false;
};

/// Tiles one contraction.
class Tiler {
public:
  Tiler(ContractOp op, ScheduleAttr schedule, const Chip &chip)
      : op(op), schedule(schedule), chip(chip), builder(op.getLoc(), op),
        extents(getStaticExtents(op)) {
    auto pair = [](ArrayRef<int64_t> values) {
      return std::array<int64_t, 2>{values[0], values[1]};
    };
    block = pair(schedule.getWorkgroup());
    sub = pair(schedule.getSubgroup());
    vgrid = pair(schedule.getVthread());
    tile = {sub[0] / vgrid[0], sub[1] / vgrid[1]};
  }

  void run();

private:
  using BodyFn = function_ref<SmallVector<Value>(Value row, Value col,
                                                 ValueRange privates)>;

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, value);
  }
  Value add(Value a, Value b) {
    return builder.createOrFold<arith::AddIOp>(a, b);
  }
  Value mul(Value a, int64_t b) {
    return builder.createOrFold<arith::MulIOp>(a, constant(b));
  }
  /// ceil(value / divisor).
  Value ceilDiv(Value value, int64_t divisor);

  FragmentType fragment(int64_t rows, int64_t cols, Type element, Role role) {
    return FragmentType::get(rows, cols, element, role);
  }
  /// Whether the tiles cover dimension `d` (M, N, K) exactly.
  bool divides(unsigned d, int64_t step) {
    return ShapedType::isStatic(extents[d]) && extents[d] % step == 0;
  }

  Value getOperand(unsigned operand);
  /// Operand `operand` at the batch, without the dimensions other than `keep`.
  Value viewAtBatch(unsigned operand, ArrayRef<unsigned> keep);
  MatrixView viewMatrix(unsigned operand);

  Value load(const MatrixView &view, Value row, Value col, FragmentType type,
             bool inBounds);
  /// Runs `body` for each vthread, with the first row and column of its part of
  /// the output, and hands each its share of `privates`.
  SmallVector<Value> forEachVThread(ValueRange privates, BodyFn body);

  SmallVector<Value> emitInit();
  SmallVector<Value> emitReduction(ValueRange init);
  /// The products of one step, from tiles of lhs and rhs that begin at the
  /// given row (column) and k.
  SmallVector<Value> emitProducts(const MatrixView &a, const MatrixView &b,
                                  Value aRow, Value bCol, Value aK, Value bK,
                                  Value stage, bool inBounds, ValueRange accs);
  void emitEpilogue(ValueRange accs);
  void emitWorkgroupTile();

  ContractOp op;
  ScheduleAttr schedule;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  std::array<int64_t, 3> extents;
  std::array<int64_t, 2> block, sub, vgrid, tile;

  gpu::LaunchOp launch;
  /// The steps of the reduction: ceil(K / k).
  Value numSteps;
  /// The batch dimensions' indices of this workgroup.
  DenseMap<unsigned, Value> batchIndex;
  /// First row and column of the workgroup's and of the subgroup's tile, and of
  /// the latter within the former.
  std::array<Value, 2> blockAt, subAt, subInBlock;
  Value aBuffer, bBuffer;
};

} // namespace

Value Tiler::ceilDiv(Value value, int64_t divisor) {
  if (divisor == 1)
    return value;
  return builder.createOrFold<arith::DivUIOp>(add(value, constant(divisor - 1)),
                                              constant(divisor));
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Value Tiler::getOperand(unsigned operand) {
  if (operand == 0)
    return op.getLhs();
  if (operand == 1)
    return op.getRhs();
  if (operand == 2)
    return op.getOutput();
  return op.getExtras()[operand - 3];
}

Value Tiler::viewAtBatch(unsigned operand, ArrayRef<unsigned> keep) {
  Value memory = getOperand(operand);
  auto type = cast<MemRefType>(memory.getType());
  AffineMap map = op.getMap(operand);
  if (map.getNumResults() == keep.size())
    return memory;
  SmallVector<OpFoldResult> offsets, sizes,
      strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<int64_t> shape;
  for (unsigned r = 0; r < map.getNumResults(); ++r) {
    unsigned dim = map.getDimPosition(r);
    if (llvm::is_contained(keep, dim)) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(
          memref::getMixedSize(builder, builder.getLoc(), memory, r));
      shape.push_back(type.getDimSize(r));
    } else {
      offsets.push_back(getAsOpFoldResult(batchIndex.lookup(dim)));
      sizes.push_back(builder.getIndexAttr(1));
    }
  }
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, reduced, memory, offsets, sizes,
                                   strides);
}

MatrixView Tiler::viewMatrix(unsigned operand) {
  auto dims = getMatrixDims(op, operand);
  MatrixView view;
  view.transposed = isStoredTransposed(op, operand);
  SmallVector<unsigned> keep;
  for (std::optional<unsigned> dim : dims)
    if (dim && op.getMap(operand).isFunctionOfDim(*dim))
      keep.push_back(*dim);
  view.memory = viewAtBatch(operand, keep);
  auto type = cast<MemRefType>(view.memory.getType());
  if (type.getRank() == 2) {
    // Where the first dimension runs fastest, it becomes the last.
    AffineMap map = op.getMap(operand);
    bool rowsLast = false;
    for (unsigned r = 0; r < map.getNumResults(); ++r) {
      if (map.getDimPosition(r) == dims[0])
        rowsLast = true;
      else if (map.getDimPosition(r) == dims[1])
        rowsLast = false;
    }
    if (rowsLast != view.transposed)
      view.memory = memref::TransposeOp::create(
          builder, view.memory,
          AffineMapAttr::get(AffineMap::getPermutationMap(
              ArrayRef<unsigned>{1, 0}, builder.getContext())));
    return view;
  }
  // A vector is a matrix of one row; it runs along the columns.
  SmallVector<ReassociationIndices> reassociation;
  SmallVector<int64_t> shape{1, 1};
  if (type.getRank() == 1) {
    reassociation.push_back({0, 1});
    shape[1] = type.getDimSize(0);
  }
  view.memory =
      memref::ExpandShapeOp::create(builder, shape, view.memory, reassociation);
  return view;
}

Value Tiler::load(const MatrixView &view, Value row, Value col,
                  FragmentType type, bool inBounds) {
  SmallVector<Value> indices{row, col};
  if (view.transposed)
    std::swap(indices[0], indices[1]);
  return LoadOp::create(builder, type, view.memory, indices, view.transposed,
                        inBounds, /*swizzled=*/false);
}

//===----------------------------------------------------------------------===//
// Virtual threads
//===----------------------------------------------------------------------===//

SmallVector<Value> Tiler::forEachVThread(ValueRange privates, BodyFn body) {
  int64_t count = vgrid[0] * vgrid[1];
  if (count == 1)
    return body(subAt[0], subAt[1], privates);
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
      at[d] = vgrid[d] == 1 ? subAt[d] : Value();
    }
    SmallVector<Value> arguments;
    for (size_t i = 0; i < privates.size(); i += count)
      arguments.push_back(
          entry->addArgument(privates[i].getType(), op.getLoc()));
    for (unsigned d : {0, 1})
      if (!at[d])
        at[d] = arith::AddIOp::create(
            builder, subAt[d],
            arith::MulIOp::create(builder, entry->getArgument(d),
                                  constant(tile[d])));
    yielded = body(at[0], at[1], arguments);
    YieldOp::create(builder, yielded);
  }
  SmallVector<Type> types;
  for (Value value : yielded)
    types.append(count, value.getType());
  auto vthread = VThreadOp::create(builder, types, privates,
                                   ArrayRef<int64_t>{vgrid[0], vgrid[1]},
                                   Interleave::BreadthFirst);
  vthread.getBody().takeBody(region);
  return SmallVector<Value>(vthread.getResults());
}

//===----------------------------------------------------------------------===//
// The reduction
//===----------------------------------------------------------------------===//

SmallVector<Value> Tiler::emitInit() {
  Type acc = op.getAccumulatorType();
  FragmentType type = fragment(tile[0], tile[1], acc, Role::Acc);
  if (op.getInit()) {
    Value init = FillOp::create(builder, type, op.getInit());
    return SmallVector<Value>(vgrid[0] * vgrid[1], init);
  }
  MatrixView out = viewMatrix(2);
  bool inBounds = divides(0, block[0]) && divides(1, block[1]);
  Type element = getElementTypeOrSelf(op.getOutput().getType());
  return forEachVThread({}, [&](Value row, Value col, ValueRange) {
    Value old =
        load(out, row, col, type.cloneWithElementType(element), inBounds);
    if (element != acc)
      old = ConvertOp::create(builder, type, old, /*isUnsigned=*/false);
    return SmallVector<Value>{old};
  });
}

SmallVector<Value> Tiler::emitProducts(const MatrixView &a, const MatrixView &b,
                                       Value aRow, Value bCol, Value aK,
                                       Value bK, Value stage, bool inBounds,
                                       ValueRange accs) {
  int64_t kf = schedule.getKFragment();
  FragmentType aType = fragment(
      tile[0], kf, getElementTypeOrSelf(op.getLhs().getType()), Role::A);
  FragmentType bType = fragment(
      kf, tile[1], getElementTypeOrSelf(op.getRhs().getType()), Role::B);
  auto loadAt = [&](const MatrixView &view, Value row, Value col,
                    FragmentType type) -> Value {
    SmallVector<Value> indices;
    if (stage)
      indices.push_back(stage);
    indices.push_back(view.transposed ? col : row);
    indices.push_back(view.transposed ? row : col);
    return LoadOp::create(builder, type, view.memory, indices, view.transposed,
                          inBounds, /*swizzled=*/false);
  };
  // Rows of lhs and columns of rhs, from those of the output.
  auto moved = [&](Value at, Value from, Value to) -> Value {
    if (from == to)
      return at;
    return add(to, builder.createOrFold<arith::SubIOp>(at, from));
  };
  auto step = [&](Value k, ValueRange values) {
    return forEachVThread(values, [&](Value row, Value col,
                                      ValueRange privates) {
      Value aValue = loadAt(a, moved(row, subAt[0], aRow), add(aK, k), aType);
      Value bValue = loadAt(b, add(bK, k), moved(col, subAt[1], bCol), bType);
      Value product = MmaOp::create(builder, privates[0].getType(), aValue,
                                    bValue, privates[0], op.getUnsignedA(),
                                    op.getUnsignedB(), op.getPrecision());
      return SmallVector<Value>{product};
    });
  };
  int64_t steps = schedule.getK() / kf;
  SmallVector<Value> values(accs);
  if (steps <= 4) {
    for (int64_t i = 0; i < steps; ++i)
      values = step(constant(i * kf), values);
    return values;
  }
  auto loop = scf::ForOp::create(
      builder, constant(0), constant(schedule.getK()), constant(kf), values);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      step(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> Tiler::emitReduction(ValueRange init) {
  MatrixView a = viewMatrix(0), b = viewMatrix(1);
  int64_t k = schedule.getK(), stages = schedule.getStages();
  bool kDivides = divides(2, k);
  bool aInBounds = divides(0, block[0]) && kDivides,
       bInBounds = divides(1, block[1]) && kDivides;
  Value zero = constant(0), one = constant(1);

  auto forSteps =
      [&](Value begin, Value end, ValueRange first,
          function_ref<SmallVector<Value>(Value, ValueRange)> body) {
        auto loop = scf::ForOp::create(builder, begin, end, one, first);
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToStart(loop.getBody());
        SmallVector<Value> next =
            body(loop.getInductionVar(), loop.getRegionIterArgs());
        scf::YieldOp::create(builder, next);
        return SmallVector<Value>(loop.getResults());
      };

  if (stages == 0)
    return forSteps(zero, numSteps, init, [&](Value index, ValueRange accs) {
      Value at = mul(index, k);
      return emitProducts(a, b, subAt[0], subAt[1], at, at, {},
                          aInBounds && bInBounds, accs);
    });

  // With copies ahead of their use, the last steps have none left to start.
  // Where bounds are known it pays to run these on their own: all copies are
  // then within bounds. Elsewhere, a copy past the end of K gives zeros.
  std::optional<int64_t> knownSteps = getConstantIntValue(numSteps);
  bool peel = stages > 1 && (aInBounds || bInBounds) && knownSteps &&
              *knownSteps >= stages;
  if (stages > 1 && !peel)
    aInBounds = bInBounds = false;

  StagedTiles tiles = getStagedTiles(op, schedule, chip);
  // Starts a copy of both tiles of step `index` into `stage`.
  auto stageTiles = [&](Value index, Value stage) {
    Value at = mul(index, k);
    auto copy = [&](const MatrixView &view, Value row, Value col, Value buffer,
                    std::array<int64_t, 2> shape, bool inBounds) {
      SmallVector<Value> from{view.transposed ? col : row,
                              view.transposed ? row : col},
          to{zero, zero};
      if (stage)
        to.insert(to.begin(), stage);
      IntegerAttr alignment = builder.getI64IntegerAttr(
          std::min(getKnownTileAlignment(view.memory, from),
                   getKnownTileAlignment(buffer, to)));
      if (stages == 1)
        CopyOp::create(builder, view.memory, from, buffer, to, shape, inBounds,
                       alignment, /*contiguous=*/nullptr, /*swizzled=*/false);
      else
        AsyncCopyOp::create(builder, TokenType::get(builder.getContext()),
                            view.memory, from, buffer, to, shape, inBounds,
                            alignment, /*contiguous=*/nullptr,
                            /*swizzled=*/false);
    };
    copy(a, blockAt[0], at, aBuffer, tiles.a, aInBounds);
    copy(b, at, blockAt[1], bBuffer, tiles.b, bInBounds);
  };
  MatrixView aStaged{aBuffer, a.transposed}, bStaged{bBuffer, b.transposed};
  auto compute = [&](Value stage, ValueRange accs) {
    return emitProducts(aStaged, bStaged, subInBlock[0], subInBlock[1], zero,
                        zero, stage, /*inBounds=*/true, accs);
  };

  if (stages == 1)
    return forSteps(zero, numSteps, init, [&](Value index, ValueRange accs) {
      gpu::BarrierOp::create(builder);
      stageTiles(index, {});
      gpu::BarrierOp::create(builder);
      return compute({}, accs);
    });

  for (int64_t s = 0; s < stages - 1; ++s)
    stageTiles(constant(s), constant(s));
  Value depth = constant(stages);
  auto slotOf = [&](Value index) -> Value {
    return arith::RemUIOp::create(builder, index, depth);
  };
  Value lastCopied = peel ? constant(*knownSteps - (stages - 1)) : numSteps;
  SmallVector<Value> sums =
      forSteps(zero, lastCopied, init, [&](Value index, ValueRange accs) {
        // All but the copies of the last stages - 2 steps are complete. After
        // the barrier, all are done with the stage that the next copies go to.
        WaitOp::create(builder, ValueRange(), 2 * (stages - 2));
        gpu::BarrierOp::create(builder);
        Value next = add(index, constant(stages - 1));
        stageTiles(next, slotOf(next));
        return compute(slotOf(index), accs);
      });
  WaitOp::create(builder, ValueRange(), 0);
  if (!peel)
    return sums;
  gpu::BarrierOp::create(builder);
  return forSteps(lastCopied, numSteps, sums,
                  [&](Value index, ValueRange accs) {
                    return compute(slotOf(index), accs);
                  });
}

//===----------------------------------------------------------------------===//
// The epilogue
//===----------------------------------------------------------------------===//

void Tiler::emitEpilogue(ValueRange accs) {
  Type acc = op.getAccumulatorType(),
       element = getElementTypeOrSelf(op.getOutput().getType());
  FragmentType accType = fragment(tile[0], tile[1], acc, Role::Acc);
  bool inBoundsM = divides(0, block[0]), inBoundsN = divides(1, block[1]);
  bool inBounds = inBoundsM && inBoundsN;
  MatrixForm dims = getMatrixForm(op);
  auto reads = [&](unsigned operand, std::optional<unsigned> dim) {
    return dim && op.getMap(operand).isFunctionOfDim(*dim);
  };

  // Views and scalars are the same for all vthreads.
  size_t numExtras = op.getExtras().size();
  SmallVector<MatrixView> views(numExtras);
  SmallVector<Value> scalars(numExtras);
  for (size_t e = 0; e < numExtras; ++e) {
    unsigned operand = 3 + e;
    bool m = reads(operand, dims.m), n = reads(operand, dims.n);
    if (m && n) {
      views[e] = viewMatrix(operand);
    } else if (m || n) {
      views[e].memory = viewAtBatch(operand, {m ? *dims.m : *dims.n});
    } else {
      SmallVector<Value> indices;
      AffineMap map = op.getMap(operand);
      for (unsigned r = 0; r < map.getNumResults(); ++r)
        indices.push_back(batchIndex.lookup(map.getDimPosition(r)));
      scalars[e] = memref::LoadOp::create(builder, op.getExtras()[e], indices);
    }
  }
  MatrixView out = viewMatrix(2);
  Block &region = op.getEpilogue().front();
  auto yield = cast<YieldOp>(region.getTerminator());
  bool trivial = yield.getValues()[0] == region.getArgument(0);

  forEachVThread(accs, [&](Value row, Value col, ValueRange privates) {
    Value result = privates[0];
    if (!trivial) {
      SmallVector<Value> inputs{result};
      IRMapping mapping;
      SmallVector<std::pair<unsigned, unsigned>> inputOf;
      for (size_t e = 0; e < numExtras; ++e) {
        if (scalars[e]) {
          mapping.map(region.getArgument(1 + e), scalars[e]);
          continue;
        }
        bool m = reads(3 + e, dims.m), n = reads(3 + e, dims.n);
        FragmentType type = accType.cloneWithElementType(
            getElementTypeOrSelf(op.getExtras()[e].getType()));
        inputOf.push_back({1 + e, inputs.size()});
        if (m && n)
          inputs.push_back(load(views[e], row, col, type, inBounds));
        else
          inputs.push_back(BroadcastOp::create(
              builder, type, views[e].memory, m ? row : col,
              /*dimension=*/m ? 1 : 0, m ? inBoundsM : inBoundsN));
      }
      auto map =
          MapOp::create(builder, accType.cloneWithElementType(element), inputs);
      OpBuilder::InsertionGuard guard(builder);
      Block *body = builder.createBlock(&map.getBody());
      for (Value input : inputs)
        body->addArgument(cast<FragmentType>(input.getType()).getElementType(),
                          op.getLoc());
      mapping.map(region.getArgument(0), body->getArgument(0));
      for (auto [argument, input] : inputOf)
        mapping.map(region.getArgument(argument), body->getArgument(input));
      for (Operation &nested : region)
        builder.clone(nested, mapping);
      result = map;
    }
    SmallVector<Value> indices{row, col};
    if (out.transposed)
      std::swap(indices[0], indices[1]);
    StoreOp::create(builder, result, out.memory, indices, out.transposed,
                    inBounds);
    return SmallVector<Value>();
  });
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

void Tiler::emitWorkgroupTile() {
  SmallVector<Value> accs = emitReduction(emitInit());
  emitEpilogue(accs);
}

void Tiler::run() {
  // On the host: extents, grid and threads.
  MatrixForm dims = getMatrixForm(op);
  SmallVector<Value> sizes;
  for (OpFoldResult size : op.getExtents(builder))
    sizes.push_back(
        getValueOrCreateConstantIndexOp(builder, op.getLoc(), size));
  Value one = constant(1);
  auto sizeOf = [&](std::optional<unsigned> dim) {
    return dim ? sizes[*dim] : one;
  };
  std::array<Value, 3> grid{ceilDiv(sizeOf(dims.m), block[0]),
                            ceilDiv(sizeOf(dims.n), block[1]), one};
  numSteps = ceilDiv(sizeOf(dims.k), schedule.getK());
  Value numBatches = one;
  for (unsigned dim : dims.batch)
    numBatches = builder.createOrFold<arith::MulIOp>(numBatches, sizes[dim]);
  // More batches than a grid can have are walked through by each workgroup.
  std::optional<int64_t> knownBatches = getConstantIntValue(numBatches);
  bool loopOverBatches = !knownBatches || *knownBatches > maxGridZ;
  grid[2] =
      loopOverBatches
          ? builder.createOrFold<arith::MinUIOp>(numBatches, constant(maxGridZ))
          : numBatches;
  int64_t numSubgroups = (block[0] / sub[0]) * (block[1] / sub[1]);
  Value lanes = gpu::SubgroupSizeOp::create(builder, /*upper_bound=*/nullptr);
  Value threads = mul(lanes, numSubgroups);

  launch = gpu::LaunchOp::create(builder, grid[0], grid[1], grid[2], threads,
                                 one, one);
  launch->setAttr(getScheduleAttrName(), schedule);
  if (int64_t stages = schedule.getStages()) {
    StagedTiles tiles = getStagedTiles(op, schedule, chip);
    auto space = gpu::AddressSpaceAttr::get(
        op.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
    auto addBuffer = [&](std::array<int64_t, 2> shape, int64_t padding,
                         Value operand) -> Value {
      SmallVector<int64_t> dims{shape[0], shape[1] + padding};
      if (stages > 1)
        dims.insert(dims.begin(), stages);
      auto type = MemRefType::get(dims, getElementTypeOrSelf(operand.getType()),
                                  MemRefLayoutAttrInterface(), space);
      return launch.addWorkgroupAttribution(type, op.getLoc());
    };
    aBuffer = addBuffer(tiles.a, tiles.aPadding, op.getLhs());
    bBuffer = addBuffer(tiles.b, tiles.bPadding, op.getRhs());
  }

  // In the kernel.
  builder.setInsertionPointToStart(&launch.getBody().front());
  gpu::KernelDim3 ids = launch.getBlockIds();
  blockAt = {mul(ids.x, block[0]), mul(ids.y, block[1])};
  int64_t subCols = block[1] / sub[1];
  subAt = blockAt;
  Value zero = constant(0);
  subInBlock = {zero, zero};
  if (numSubgroups > 1) {
    Value id = gpu::SubgroupIdOp::create(builder, /*upper_bound=*/nullptr);
    std::array<Value, 2> position{id, id};
    if (subCols > 1) {
      position[0] = arith::DivUIOp::create(builder, id, constant(subCols));
      position[1] = arith::RemUIOp::create(builder, id, constant(subCols));
    }
    for (unsigned d : {0, 1})
      if (block[d] > sub[d]) {
        subInBlock[d] = mul(position[d], sub[d]);
        subAt[d] = add(blockAt[d], subInBlock[d]);
      }
  }

  auto setBatch = [&](Value linear) {
    // The last batch dimension runs fastest.
    for (unsigned dim : llvm::reverse(dims.batch)) {
      bool first = dim == dims.batch.front();
      if (getConstantIntValue(sizes[dim]) == 1) {
        batchIndex[dim] = zero;
        continue;
      }
      batchIndex[dim] =
          first
              ? linear
              : arith::RemUIOp::create(builder, linear, sizes[dim]).getResult();
      if (!first)
        linear = arith::DivUIOp::create(builder, linear, sizes[dim]);
    }
  };
  if (!loopOverBatches) {
    setBatch(ids.z);
    emitWorkgroupTile();
  } else {
    auto loop =
        scf::ForOp::create(builder, ids.z, numBatches, launch.getGridSize().z);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    setBatch(loop.getInductionVar());
    emitWorkgroupTile();
    // The next batch reuses the staged tiles.
    if (schedule.getStages() > 0)
      gpu::BarrierOp::create(builder);
  }
  builder.setInsertionPointToEnd(&launch.getBody().front());
  gpu::TerminatorOp::create(builder);
  op.erase();
}

namespace {
struct TesseraTileContractPass
    : public tessera::impl::TesseraTileContractBase<TesseraTileContractPass> {
  using TesseraTileContractBase::TesseraTileContractBase;

  void runOnOperation() override {
    SmallVector<ContractOp> ops;
    getOperation()->walk([&](ContractOp op) {
      if (isa<MemRefType>(op.getOutput().getType()))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    FailureOr<const Chip *> found = getChip(getOperation(), target, chip);
    if (failed(found))
      return signalPassFailure();
    for (ContractOp op : ops) {
      ScheduleAttr schedule = op.getScheduleAttr();
      if (!schedule)
        schedule = getDefaultSchedule(op, **found);
      if (failed(checkSchedule(op, schedule, **found)))
        return signalPassFailure();
      Tiler(op, schedule, **found).run();
    }
  }
};
} // namespace
