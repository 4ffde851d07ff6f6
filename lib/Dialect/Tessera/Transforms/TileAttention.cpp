//===- TileAttention.cpp - tessera.attention to a kernel of fragments -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One tessera.attention becomes one gpu.launch. A workgroup computes a tile of
// the queries of one matrix of the batch, which is divided by rows among its
// subgroups, and iterates over the keys in blocks, from the last to the first:
// keys out of bounds, and the diagonal of a causal mask, are then in the first
// blocks. For block b, with the scores S, the weights P, and the output O
// before the division:
//
//   prologue:  S = Q K[last]                            P = softmax step of S
//   loop:      S = Q K[b]      O += P V[b + 1]          P = softmax step of S
//   epilogue:                  O += P V[first]          store O / l
//
// The two matmuls of an iteration are independent.
//
// Blocks that lie outside of the bounds of the keys (a causal mask, a window, a
// length) are not visited. Where a bound is a value in memory, or the keys are
// in pages, each row of a tile is gathered: from its page, and only if it is
// within the bound.
//
// If few queries see many keys, the keys are divided into parts (`splitK`),
// each with workgroups of its own, and a second kernel combines the results of
// the parts: AttentionParts.cpp. Batch dimensions that share keys and values
// are rows of the tile like queries: `countFoldedDims`.
//
//===----------------------------------------------------------------------===//

#include "AttentionParts.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "Scheduling/AttentionSchedule.h"
#include "Scheduling/Schedule.h"
#include "Scheduling/TuningTask.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERATILEATTENTION
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-tile-attention"

STATISTIC(numTiledAttentions, "Number of tessera.attention tiled");

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// Tiles one attention.
class AttentionTiler {
public:
  AttentionTiler(AttentionOp op, ScheduleAttr schedule, const Chip &chip)
      : op(op), schedule(schedule), chip(chip), builder(op.getLoc(), op),
        math(builder), rows(schedule.getWorkgroup()[0]),
        keys(schedule.getWorkgroup()[1]), subRows(schedule.getSubgroup()[0]),
        d(getTileWidth(op, AttentionOp::D, schedule)),
        e(getTileWidth(op, AttentionOp::E, schedule)),
        parts(schedule.getSplitK()), folded(countFoldedDims(op)),
        gathers(gathersKeys(op)), firsts(op.getFirstKeys()),
        lasts(op.getLastKeys()), element(op.getOperandType()),
        f32(builder.getF32Type()) {}

  void run();

private:
  using Scalars = function_ref<Value(ValueRange)>;

  /// The state that a block of keys passes to the next one: the largest score
  /// of each row and the sum of its weights, for the queries of a subgroup, and
  /// the weights.
  struct Softmax {
    Value largest, sum, weights;
    /// The factor by which sums of earlier blocks are multiplied.
    Value shrink;
  };

  FragmentType fragment(int64_t height, int64_t width, Role role) {
    return FragmentType::get(height, width, role == Role::Acc ? f32 : element,
                             role);
  }
  Value number(float value) {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  }
  bool isStaged() const { return schedule.getStages() > 0; }
  /// Whether the tile of `operand` is in workgroup memory.
  bool isStaged(unsigned operand) const {
    return isStaged() &&
           !(operand == AttentionOp::Query && keepsQuery(schedule, chip));
  }
  /// Whether tiles of `step` cover `dim` exactly, where rows are M.
  bool divides(AttentionOp::Dim dim, int64_t step) {
    int64_t extent =
        dim == AttentionOp::M ? getRowExtent(op) : op.getStaticExtent(dim);
    return ShapedType::isStatic(extent) && extent != 0 && extent % step == 0;
  }

  void viewOperands();
  /// The view of a query or output in which rows are one dimension.
  Value foldRows(Value view);
  /// The batch dimensions that are not rows of the tile.
  SmallVector<unsigned> getBatchDims() {
    return llvm::to_vector(llvm::seq(0u, op.getNumBatchDims() - folded));
  }
  /// Operand `operand` at the batch, and at (row, 0) of its matrix.
  SmallVector<Value> getIndices(unsigned operand, Value row);
  /// The element-wise function `body` of `inputs`.
  Value map(ValueRange inputs, Scalars body);
  Value fill(FragmentType type, float value) {
    return FillOp::create(builder, type, number(value));
  }

  /// Workgroup memory for a tile of `operand`.
  Value addTile(unsigned operand, int64_t height);
  /// Barrier, copies of tiles from the rows on, barrier: nothing where tiles
  /// are not staged.
  struct Copy {
    unsigned operand;
    Value row, tile;
    int64_t height;
  };
  void stage(ArrayRef<Copy> copies);
  /// A fragment of operand `operand` from (row, 0) of its tile, which is at
  /// `tileRow` of the matrix.
  Value load(unsigned operand, Value tile, Value tileRow, Value row,
             FragmentType type, bool transposed);
  Value loadQuery() { return keptQuery ? keptQuery : emitQueryLoad(); }
  Value emitQueryLoad() {
    return load(AttentionOp::Query, queryTile, blockRow, subRow,
                fragment(subRows, d, Role::A), /*transposed=*/false);
  }
  Value loadKey(Value tile, Value at) {
    return load(AttentionOp::Key, tile, at, math.constant(0),
                fragment(d, keys, Role::B), /*transposed=*/true);
  }
  Value loadValue(Value tile, Value at) {
    return load(AttentionOp::Value, tile, at, math.constant(0),
                fragment(keys, e, Role::B), /*transposed=*/false);
  }
  /// Matmul 0 is that of query and key, 1 that of weights and value.
  Value multiply(unsigned matmul, Value a, Value b, Value acc) {
    OpBuilder &plain = builder;
    return MmaOp::create(plain, getMatmulLoc(matmul), acc.getType(), a, b, acc,
                         /*unsignedA=*/false, /*unsignedB=*/false,
                         Precision::Ieee);
  }
  /// The source location of that matmul, if the op was fused from several.
  Location getMatmulLoc(unsigned matmul) {
    auto fused = dyn_cast<FusedLoc>(op.getLoc());
    return fused && fused.getLocations().size() > matmul
               ? fused.getLocations()[matmul]
               : op.getLoc();
  }

  /// How many blocks, of those that a tile of queries sees, have a key that
  /// some of its queries do not see.
  int64_t countMasked();
  /// Whether a part may have no block of keys; it then has one that is hidden.
  bool mayBeEmpty() {
    int64_t extent = op.getStaticExtent(AttentionOp::N);
    return parts > 1 &&
           (!firsts.empty() || !lasts.empty() ||
            ShapedType::isDynamic(extent) || extent <= (parts - 1) * keys);
  }
  /// Whether bounds that are the same for all queries of a tile, or parts, hide
  /// the end of a block.
  bool hidesEnd() {
    return !divides(AttentionOp::N, keys) || mayBeEmpty() ||
           llvm::any_of(lasts,
                        [](const AttentionOp::Bound &b) { return !b.row; });
  }
  bool needsMask() { return !firsts.empty() || !lasts.empty() || hidesEnd(); }
  /// Whether the blocks that need a mask have a loop of their own, where a
  /// branch would end the overlap of matmuls: they are the first blocks, and of
  /// known number. Few queries are not worth it, since their time is that of
  /// reading the keys.
  bool hasMaskedLoop() {
    return schedule.getSubgroupsPerFragment() > 1 && parts == 1 &&
           folded == 0 && firsts.empty() && countMasked() > 1;
  }
  /// The sum of a bound's terms, for a number that takes the query's place.
  Value emitBound(const AttentionOp::Bound &bound, Value query);
  /// The first, and one more than the last, query of the tile or, with
  /// `inSubgroup`, of the subgroup.
  Value getFirstQuery(bool inSubgroup);
  Value getQueryEnd(bool inSubgroup);
  /// The value of `region` for `arguments`.
  Value emitRegion(OpBuilder &at, Region &region, ValueRange arguments);
  /// The arguments of a region for the batch; those of folded dimensions are
  /// `ofFolded`, or not used.
  SmallVector<Value> getBatchArguments(ArrayRef<Value> ofFolded);
  /// The value of `emit` for key `n`. `otherwise` for a key that does not
  /// exist, for which `emit` would read out of bounds. `mayExceed`: even if
  /// blocks divide the keys.
  Value emitForKey(OpBuilder &at, Value n, Value otherwise, bool mayExceed,
                   function_ref<Value(OpBuilder &, Value)> emit);
  /// Builds the region of a copy of keys or values from row `row` on.
  void buildGather(CopyOp copy, unsigned operand, Value row);
  /// The scores as the region `score` computes them.
  Value applyScore(Value scores, Value at);
  /// Masks the `scores` of the block of keys at `at`: hidden ones become -inf.
  Value mask(Value scores, Value at);
  /// The same where the block may have such a key.
  Value maskIfNeeded(Value scores, Value at);
  Softmax step(Value scores, Value largest, Value sum);
  Value scaleRows(Value matrix, Value factors);
  /// The weights as an operand of the next matmul.
  Value makeOperand(Value weights);

  /// The last causal tiles have the most keys: they are started first.
  bool startsWithLast() {
    return llvm::any_of(lasts,
                        [](const AttentionOp::Bound &b) { return b.row; });
  }
  /// All tiles of a workgroup, of which there are `persistent` at most.
  void emitPersistentTiles();
  void emitTile(Value x, Value y, Value z);
  void emitResult(Value sums, Value total);
  /// Stores the result of a part: the sums of the values, and the largest score
  /// and the sum of the weights of each row.
  void emitPart(Value sums, Value largest, Value total);

  AttentionOp op;
  ScheduleAttr schedule;
  const Chip &chip;
  ImplicitLocOpBuilder builder;
  IndexMath math;
  int64_t rows, keys, subRows;
  /// The widths of the tiles.
  int64_t d, e;
  /// The number of parts of the keys, and of batch dimensions that are rows.
  int64_t parts;
  unsigned folded;
  /// Whether keys and values are gathered.
  bool gathers;
  SmallVector<AttentionOp::Bound> firsts, lasts;
  Type element, f32;

  gpu::LaunchOp launch;
  /// The operands, with their rows and columns last.
  std::array<Value, 4> memory;
  /// The iteration dimensions of their batch, in order.
  std::array<SmallVector<unsigned>, 4> batchDims;
  /// The extents of the iteration dimensions.
  SmallVector<Value> sizes, index;
  /// The number of rows: queries times the extents of the folded dimensions.
  Value numRows;
  AttentionParts partMemory;
  /// The part of the workgroup, and the number of keys up to its end.
  Value part, keyEnd;
  /// The value of the region `length`, and the number of keys that some query
  /// of the tile sees or may read.
  Value length, numVisible;
  /// The first key that all queries of the tile see, as far as bounds are the
  /// same for them; null without such a bound.
  Value keyBegin;
  Value numTiles, numBatches;
  /// The number of persistent workgroups.
  Value numWorkgroups;
  Value queryTile, keyTile, valueTile, firstKeyTile, lastValueTile;
  /// Null if the output is stored directly to memory.
  Value outputTile;
  /// The queries of a subgroup in registers; null if each block of keys loads
  /// them.
  Value keptQuery;
  /// The first query of the workgroup, and of the subgroup in its tile.
  Value blockRow, subRow;
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void AttentionTiler::viewOperands() {
  sizes.resize(op.getMap(0).getNumDims());
  index.resize(sizes.size());
  for (unsigned i = 0; i < 4; ++i) {
    AffineMap map = op.getMap(i);
    Value operand = op->getOperand(i);
    unsigned row = op.getPosition(AttentionOp::getRows(i)),
             col = op.getPosition(AttentionOp::getCols(i));
    unsigned page = op.getNumPageDims(i);
    SmallVector<unsigned> order(page), last(2);
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (dim == row || dim == col)
        last[dim == col] = page + r;
      else
        batchDims[i].push_back(dim);
      if (!sizes[dim]) {
        int64_t known = op.getStaticExtent(dim);
        if (ShapedType::isStatic(known))
          sizes[dim] = math.constant(known);
        else if (op.hasPages() && dim == op.getPosition(AttentionOp::N))
          sizes[dim] = op.getNumKeys();
        else
          sizes[dim] = memref::DimOp::create(builder, operand, page + r);
      }
    }
    bool foldsRows = folded > 0 && AttentionOp::getRows(i) == AttentionOp::M;
    if (foldsRows)
      llvm::sort(batchDims[i]);
    for (unsigned dim : batchDims[i])
      order.push_back(page +
                      *map.getResultPosition(builder.getAffineDimExpr(dim)));
    llvm::append_range(order, last);
    memory[i] = operand;
    if (!llvm::is_sorted(order))
      memory[i] = memref::TransposeOp::create(
          builder, operand,
          AffineMapAttr::get(
              AffineMap::getPermutationMap(order, builder.getContext())));
    if (foldsRows) {
      memory[i] = foldRows(memory[i]);
      batchDims[i].resize(batchDims[i].size() - folded);
    }
  }
  unsigned m = op.getPosition(AttentionOp::M);
  numRows = math.product(sizes, llvm::to_vector(llvm::seq(m - folded, m + 1)));
}

Value AttentionTiler::foldRows(Value view) {
  auto rank = static_cast<unsigned>(cast<MemRefType>(view.getType()).getRank());
  SmallVector<ReassociationIndices> groups;
  for (unsigned r = 0; r < rank; ++r)
    if (groups.empty() || r < rank - folded - 1 || r == rank - 1)
      groups.push_back({r});
    else
      groups.back().push_back(r);
  return memref::CollapseShapeOp::create(builder, view, groups);
}

SmallVector<Value> AttentionTiler::getIndices(unsigned operand, Value row) {
  SmallVector<Value> indices;
  for (unsigned dim : batchDims[operand])
    indices.push_back(index[dim]);
  indices.append({row, math.constant(0)});
  return indices;
}

Value AttentionTiler::addTile(unsigned operand, int64_t height) {
  int64_t width = AttentionOp::getCols(operand) == AttentionOp::E ? e : d;
  bool isOutput = operand == AttentionOp::Output;
  Type type =
      isOutput ? getElementTypeOrSelf(op.getOutput().getType()) : element;
  if (!schedule.getSwizzle() && !isOutput)
    width += 8 * chip.rowPaddingBytes / getElementBits(element);
  auto tileType = MemRefType::get(
      {height, width}, type, MemRefLayoutAttrInterface(),
      gpu::AddressSpaceAttr::get(builder.getContext(),
                                 gpu::GPUDialect::getWorkgroupAddressSpace()));
  return launch.addWorkgroupAttribution(tileType, op.getLoc());
}

void AttentionTiler::stage(ArrayRef<Copy> copies) {
  if (!isStaged())
    return;
  gpu::BarrierOp::create(builder);
  Value zero = math.constant(0);
  SmallVector<Value> to{zero, zero};
  for (const Copy &copy : copies) {
    if (!isStaged(copy.operand))
      continue;
    SmallVector<Value> from = getIndices(copy.operand, copy.row);
    int64_t width = copy.operand == AttentionOp::Value ? e : d;
    if (gathers && AttentionOp::getRows(copy.operand) == AttentionOp::N) {
      int64_t extent = op.getStaticExtent(AttentionOp::getCols(copy.operand));
      // The largest power of two that divides a row.
      int64_t run = std::gcd(extent & -extent, width);
      // The first element of a page, which may be any page.
      if (op.hasPages())
        from.insert(from.begin(), math.constant(1));
      int64_t alignment =
          std::min({getKnownTileAlignment(memory[copy.operand], from),
                    getKnownTileAlignment(copy.tile, to),
                    run * getElementBits(element) / 8});
      auto gathered = CopyOp::create(
          builder, memory[copy.operand], ValueRange(), copy.tile, to,
          builder.getDenseI64ArrayAttr({copy.height, width}),
          /*inBounds=*/false,
          alignment ? builder.getI64IntegerAttr(alignment) : IntegerAttr(),
          builder.getI64IntegerAttr(run), /*window=*/nullptr,
          schedule.getSwizzle(), /*fromSwizzled=*/false);
      buildGather(gathered, copy.operand, copy.row);
      continue;
    }
    int64_t alignment =
        std::min(getKnownTileAlignment(memory[copy.operand], from),
                 getKnownTileAlignment(copy.tile, to));
    bool inBounds = divides(AttentionOp::getRows(copy.operand), copy.height) &&
                    divides(AttentionOp::getCols(copy.operand), width);
    CopyOp::create(
        builder, memory[copy.operand], from, copy.tile, to,
        builder.getDenseI64ArrayAttr({copy.height, width}), inBounds,
        alignment ? builder.getI64IntegerAttr(alignment) : IntegerAttr(),
        /*contiguous=*/nullptr, /*window=*/nullptr, schedule.getSwizzle(),
        /*fromSwizzled=*/false);
  }
  gpu::BarrierOp::create(builder);
}

SmallVector<Value> AttentionTiler::getBatchArguments(ArrayRef<Value> ofFolded) {
  SmallVector<Value> arguments;
  unsigned kept = op.getNumBatchDims() - folded;
  for (unsigned dim = 0, end = op.getNumBatchDims(); dim < end; ++dim)
    arguments.push_back(dim < kept         ? index[dim]
                        : ofFolded.empty() ? math.constant(0)
                                           : ofFolded[dim - kept]);
  return arguments;
}

/// Whether a small error of a value in the region remains small.
static bool isContinuous(Region &region) {
  return llvm::none_of(region.front(), [](Operation &op) {
    return isa<arith::CmpFOp, arith::FPToSIOp, arith::FPToUIOp, arith::RemFOp,
               arith::BitcastOp, math::FloorOp, math::CeilOp, math::RoundOp,
               math::RoundEvenOp, math::TruncOp>(op);
  });
}

/// Clones an op of the region of scores. These become weights by an approximate
/// exponential (see `step`), so that quotients of f32 and tanh on the way to
/// them are approximate too: a correctly rounded quotient is a sequence with a
/// branch on some chips, and scores have one for each key.
///
///   tanh(x) = 1 - 2 / (1 + 2^(x 2 log2(e))), within 2^-20 of it
static void cloneApproximately(OpBuilder &at, Operation &op,
                               IRMapping &mapping) {
  Operation *made = at.clone(op, mapping);
  Type type = op.getNumResults() == 1 ? op.getResult(0).getType() : Type();
  if (!type || !type.isF32())
    return;
  auto approximate = arith::FastMathFlags::afn | arith::FastMathFlags::arcp;
  if (auto quotient = dyn_cast<arith::DivFOp>(made)) {
    quotient.setFastmath(quotient.getFastmath() | approximate);
    return;
  }
  auto tanh = dyn_cast<math::TanhOp>(made);
  if (!tanh)
    return;
  ImplicitLocOpBuilder builder(op.getLoc(), at);
  auto number = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
  };
  Value one = number(1), two = number(2),
        factor = number(2 * llvm::numbers::log2ef);
  Value exponent = arith::MulFOp::create(builder, tanh.getOperand(), factor);
  Value power =
      math::Exp2Op::create(builder, exponent, arith::FastMathFlags::afn);
  Value sum = arith::AddFOp::create(builder, power, one);
  Value share = arith::DivFOp::create(builder, two, sum, approximate);
  mapping.map(op.getResult(0), arith::SubFOp::create(builder, one, share));
  tanh.erase();
}

Value AttentionTiler::emitRegion(OpBuilder &at, Region &region,
                                 ValueRange arguments) {
  Block &body = region.front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  bool isApproximate = &region == &op.getScore() && isContinuous(region);
  for (Operation &inner : body.without_terminator())
    if (isApproximate)
      cloneApproximately(at, inner, mapping);
    else
      at.clone(inner, mapping);
  return mapping.lookupOrDefault(
      cast<YieldOp>(body.getTerminator()).getValues()[0]);
}

Value AttentionTiler::emitForKey(OpBuilder &at, Value n, Value otherwise,
                                 bool mayExceed,
                                 function_ref<Value(OpBuilder &, Value)> emit) {
  Location loc = op.getLoc();
  IndexMath indices(at, loc);
  Value numKeys = sizes[op.getPosition(AttentionOp::N)];
  // If there is a key, the last one takes the place of those after it.
  if (int64_t known = op.getStaticExtent(AttentionOp::N);
      ShapedType::isStatic(known) && known > 0)
    return emit(at, !mayExceed && divides(AttentionOp::N, keys)
                        ? n
                        : indices.min(n, indices.constant(known - 1)));
  Value exists =
      arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ult, n, numKeys);
  auto branch = scf::IfOp::create(at, loc, otherwise.getType(), exists,
                                  /*withElseRegion=*/true);
  OpBuilder inner = branch.getThenBodyBuilder();
  scf::YieldOp::create(inner, loc, emit(inner, n));
  OpBuilder other = branch.getElseBodyBuilder();
  scf::YieldOp::create(other, loc, otherwise);
  return branch.getResult(0);
}

void AttentionTiler::buildGather(CopyOp copy, unsigned operand, Value row) {
  OpBuilder::InsertionGuard guard(builder);
  Location loc = op.getLoc();
  Type indexType = builder.getIndexType();
  Region &region = copy.getGather();
  Block *body = builder.createBlock(&region, region.end(),
                                    {indexType, indexType}, {loc, loc});
  Value n = math.add(row, body->getArgument(0)), j = body->getArgument(1);
  auto isBelow = [&](Value value, Value limit) -> Value {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, value,
                                 limit);
  };
  auto require = [&](Value &inside, Value condition) {
    inside = arith::AndIOp::create(builder, inside, condition);
  };
  Value inside = isBelow(n, numVisible);
  int64_t width = operand == AttentionOp::Value ? e : d,
          extent = op.getStaticExtent(AttentionOp::getCols(operand));
  if (width > extent)
    require(inside, isBelow(j, math.constant(extent)));
  SmallVector<Value> results;
  Value inPage = n;
  if (op.hasPages()) {
    SmallVector<Value> arguments = getBatchArguments({});
    Value page = emitForKey(builder, n, math.constant(0), /*mayExceed=*/true,
                            [&](OpBuilder &at, Value key) {
                              SmallVector<Value> all(arguments);
                              all.push_back(key);
                              return emitRegion(at, op.getPage(), all);
                            });
    Value numPages = memref::DimOp::create(builder, memory[operand], 0);
    require(inside, isBelow(page, numPages));
    results.push_back(page);
    inPage = math.rem(n, math.constant(op.getPageSize()));
  }
  llvm::append_range(results,
                     ArrayRef(getIndices(operand, inPage)).drop_back());
  results.append({j, inside});
  YieldOp::create(builder, results);
}

Value AttentionTiler::load(unsigned operand, Value tile, Value tileRow,
                           Value row, FragmentType type, bool transposed) {
  if (isStaged(operand))
    return LoadOp::create(builder, type, tile,
                          ValueRange{row, math.constant(0)}, transposed,
                          /*inBounds=*/true, schedule.getSwizzle());
  bool inBounds = divides(AttentionOp::getRows(operand),
                          operand == AttentionOp::Query ? rows : keys);
  return LoadOp::create(builder, type, memory[operand],
                        getIndices(operand, math.add(tileRow, row)), transposed,
                        inBounds, /*swizzled=*/false);
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

Value AttentionTiler::map(ValueRange inputs, Scalars body) {
  auto result = MapOp::create(builder, inputs[0].getType(), inputs);
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&result.getBody());
  for (size_t i = 0; i < inputs.size(); ++i)
    block->addArgument(f32, op.getLoc());
  YieldOp::create(builder, body(block->getArguments()));
  return result;
}

Value AttentionTiler::emitBound(const AttentionOp::Bound &bound, Value query) {
  Value value = math.constant(bound.constant);
  auto add = [&](Value other) {
    value = arith::AddIOp::create(builder, other, value);
  };
  if (bound.row)
    add(query);
  if (bound.length)
    add(length);
  return value;
}

Value AttentionTiler::getFirstQuery(bool inSubgroup) {
  if (folded > 0)
    return math.constant(0);
  return inSubgroup ? math.add(blockRow, subRow) : blockRow;
}

Value AttentionTiler::getQueryEnd(bool inSubgroup) {
  if (folded > 0)
    return sizes[op.getPosition(AttentionOp::M)];
  return math.add(getFirstQuery(inSubgroup), inSubgroup ? subRows : rows);
}

int64_t AttentionTiler::countMasked() {
  bool isUniform = llvm::none_of(
      lasts, [](const AttentionOp::Bound &bound) { return bound.row; });
  if (isUniform)
    return 1;
  // Where a bound depends on the length, its offset is not known.
  std::optional<int64_t> offset;
  if (lasts.size() == 1 && !lasts[0].length)
    offset = lasts[0].constant;
  // The first query that a block can hide keys from is at a multiple of `rows`,
  // or the first one of all.
  int64_t queries = folded > 0 ? op.getStaticExtent(AttentionOp::M) : rows;
  if (queries == 1 ||
      (folded == 0 && keys % rows == 0 && offset && *offset % rows == 0))
    return 1;
  return llvm::divideCeil(queries - 1, keys) + 1;
}

Value AttentionTiler::mask(Value scores, Value at) {
  auto result = MapOp::create(builder, scores.getType(), scores);
  // The value that is the same for all elements, in 32 bits: a tile has fewer
  // rows.
  Type i32 = builder.getI32Type();
  auto narrow = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, i32, value);
  };
  Value numKeys, numHidden, firstRow;
  // The keys of query 0 from and up to, relative to the block.
  SmallVector<Value> from, upTo;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(result);
    auto relative = [&](Value key) -> Value {
      return narrow(arith::SubIOp::create(builder, key, at));
    };
    if (hidesEnd())
      numKeys = relative(keyEnd);
    if (keyBegin)
      numHidden = relative(keyBegin);
    auto addRows = [&](ArrayRef<AttentionOp::Bound> bounds,
                       SmallVectorImpl<Value> &list) {
      for (const AttentionOp::Bound &bound : bounds) {
        if (!bound.row)
          continue;
        if (!firstRow)
          firstRow = math.add(blockRow, subRow);
        Value query = folded == 0 ? firstRow : Value(math.constant(0));
        list.push_back(relative(emitBound(bound, query)));
      }
    };
    addRows(lasts, upTo);
    addRows(firsts, from);
    if (firstRow && folded > 0)
      firstRow = narrow(firstRow);
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&result.getBody());
  Value score = block->addArgument(f32, op.getLoc());
  Type indexType = builder.getIndexType();
  Value i = narrow(block->addArgument(indexType, op.getLoc())),
        j = narrow(block->addArgument(indexType, op.getLoc()));
  Value seen;
  auto require = [&](arith::CmpIPredicate predicate, Value limit) {
    Value condition = arith::CmpIOp::create(builder, predicate, j, limit);
    seen = seen ? arith::AndIOp::create(builder, seen, condition).getResult()
                : condition;
  };
  if (numKeys)
    require(arith::CmpIPredicate::slt, numKeys);
  if (numHidden)
    require(arith::CmpIPredicate::sge, numHidden);
  // Rows of several heads: the query of each.
  if (folded > 0 && firstRow)
    i = arith::RemUIOp::create(
        builder, arith::AddIOp::create(builder, firstRow, i),
        arith::ConstantOp::create(
            builder, builder.getI32IntegerAttr(static_cast<int32_t>(
                         op.getStaticExtent(AttentionOp::M)))));
  for (Value limit : upTo)
    require(arith::CmpIPredicate::sle,
            arith::AddIOp::create(builder, i, limit));
  for (Value limit : from)
    require(arith::CmpIPredicate::sge,
            arith::AddIOp::create(builder, i, limit));
  Value hidden = number(-std::numeric_limits<float>::infinity());
  YieldOp::create(builder, ValueRange{arith::SelectOp::create(builder, seen,
                                                              score, hidden)});
  return result;
}

Value AttentionTiler::maskIfNeeded(Value scores, Value at) {
  if (countMasked() <= 1 && firsts.empty())
    return scores;
  // A branch would end the overlap of the softmax with an asynchronous matmul.
  if (schedule.getSubgroupsPerFragment() > 1)
    return mask(scores, at);
  // The block's last key, and the last keys that the subgroup's first query
  // sees; its first key, and the first ones that its last query sees.
  Value hides;
  auto add = [&](arith::CmpIPredicate predicate, Value key, Value bound) {
    Value own = arith::CmpIOp::create(builder, predicate, key, bound);
    hides = hides ? arith::OrIOp::create(builder, hides, own).getResult() : own;
  };
  if (countMasked() > 1) {
    Value lastKey = math.add(at, keys - 1);
    for (const AttentionOp::Bound &bound : lasts)
      if (bound.row)
        add(arith::CmpIPredicate::sgt, lastKey,
            emitBound(bound, getFirstQuery(/*inSubgroup=*/true)));
  }
  for (const AttentionOp::Bound &bound : firsts)
    add(arith::CmpIPredicate::slt, at,
        emitBound(bound, math.sub(getQueryEnd(/*inSubgroup=*/true),
                                  math.constant(1))));
  auto branch = scf::IfOp::create(builder, scores.getType(), hides,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, mask(scores, at));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, scores);
  return branch.getResult(0);
}

Value AttentionTiler::applyScore(Value scores, Value at) {
  if (!op.hasScore())
    return scores;
  auto result = MapOp::create(builder, scores.getType(), scores);
  Value firstRow;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(result);
    firstRow = math.add(blockRow, subRow);
  }
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&result.getBody());
  Type indexType = builder.getIndexType();
  Value score = block->addArgument(f32, op.getLoc()),
        row = math.add(firstRow, block->addArgument(indexType, op.getLoc())),
        n = math.add(at, block->addArgument(indexType, op.getLoc()));
  bool reads = op.getScore()
                   .walk([](Operation *inner) {
                     return isMemoryEffectFree(inner) ? WalkResult::advance()
                                                      : WalkResult::interrupt();
                   })
                   .wasInterrupted();
  // A tile may have more rows than there are.
  if (reads && !divides(AttentionOp::M, rows))
    row = math.min(row, math.sub(numRows, math.constant(1)));
  Value query = row;
  SmallVector<Value> ofFolded(folded);
  if (folded > 0) {
    Value rest = row;
    for (unsigned dim = op.getPosition(AttentionOp::M), i = folded;; --dim) {
      Value extent = sizes[dim];
      // The first of these dimensions has what is left.
      bool isFirst = i == 0;
      (dim == op.getPosition(AttentionOp::M) ? query : ofFolded[i]) =
          isFirst ? rest : math.rem(rest, extent);
      if (isFirst)
        break;
      rest = math.div(rest, extent);
      --i;
    }
  }
  SmallVector<Value> batch = getBatchArguments(ofFolded);
  auto emit = [&](OpBuilder &inner, Value key) {
    SmallVector<Value> arguments{score};
    llvm::append_range(arguments, batch);
    arguments.append({query, key});
    return emitRegion(inner, op.getScore(), arguments);
  };
  YieldOp::create(
      builder, reads ? emitForKey(builder, n, score, /*mayExceed=*/false, emit)
                     : emit(builder, n));
  return result;
}

AttentionTiler::Softmax AttentionTiler::step(Value scores, Value largest,
                                             Value sum) {
  // Powers of 2 instead of e, with the factor folded into the difference: one
  // multiplication and addition for each score.
  Value factor = number(static_cast<float>(op.getScale().convertToDouble() *
                                           llvm::numbers::log2e));
  auto fused = arith::FastMathFlags::contract;
  auto power = [&](Value score, Value bias) -> Value {
    Value matmul = arith::MulFOp::create(builder, score, factor, fused);
    Value exponent = arith::AddFOp::create(builder, matmul, bias, fused);
    return math::Exp2Op::create(builder, exponent, arith::FastMathFlags::afn);
  };
  FragmentType column = fragment(subRows, 1, Role::Acc);
  Softmax result;
  result.largest =
      ReduceOp::create(builder, column, ReductionKind::Max, scores, 1);
  if (largest)
    result.largest = map({largest, result.largest}, [&](ValueRange x) -> Value {
      return arith::MaximumFOp::create(builder, x[0], x[1]);
    });
  // For a query that has not seen any key yet, the difference of two infinities
  // would be NaN.
  Value bias = map(result.largest, [&](ValueRange x) -> Value {
    Value none =
        arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, x[0],
                              number(-std::numeric_limits<float>::infinity()));
    Value minus = arith::MulFOp::create(
        builder, x[0],
        number(-static_cast<float>(op.getScale().convertToDouble() *
                                   llvm::numbers::log2e)));
    return arith::SelectOp::create(builder, none, number(0), minus);
  });
  Value biases = BroadcastOp::create(builder, scores.getType(), bias,
                                     /*index=*/Value(), /*dimension=*/1,
                                     /*inBounds=*/false);
  Value weights = map({scores, biases},
                      [&](ValueRange x) -> Value { return power(x[0], x[1]); });
  result.sum =
      ReduceOp::create(builder, column, ReductionKind::Add, weights, 1);
  if (largest) {
    result.shrink = map({largest, bias}, [&](ValueRange x) -> Value {
      return power(x[0], x[1]);
    });
    result.sum =
        map({sum, result.shrink, result.sum}, [&](ValueRange x) -> Value {
          Value kept = arith::MulFOp::create(builder, x[0], x[1], fused);
          return arith::AddFOp::create(builder, kept, x[2], fused);
        });
  }
  result.weights = weights;
  return result;
}

Value AttentionTiler::makeOperand(Value weights) {
  return ConvertOp::create(builder, fragment(subRows, keys, Role::A), weights,
                           /*isUnsigned=*/false);
}

Value AttentionTiler::scaleRows(Value matrix, Value factors) {
  Value all = BroadcastOp::create(builder, matrix.getType(), factors,
                                  /*index=*/Value(), /*dimension=*/1,
                                  /*inBounds=*/false);
  return map({matrix, all}, [&](ValueRange x) -> Value {
    return arith::MulFOp::create(builder, x[0], x[1]);
  });
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void AttentionTiler::emitPersistentTiles() {
  Value workgroup = launch.getBlockIds().x, workgroups = numWorkgroups,
        zero = math.constant(0), total = math.mul(numTiles, numBatches);
  if (!startsWithLast()) {
    // The tiles of a matrix are adjacent: they share its keys and values.
    auto loop = scf::ForOp::create(builder, workgroup, total, workgroups);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value tile = loop.getInductionVar();
    emitTile(math.rem(tile, numTiles), math.div(tile, numTiles), zero);
    return;
  }
  // From the longest tiles to the shortest, in rounds of one tile for each
  // workgroup. Every other round is in the opposite order, so that the
  // workgroup with the longest tile of one has the shortest of the next.
  auto emitPosition = [&](Value round) -> Value {
    Value isOdd =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::ne,
                              math.rem(round, math.constant(2)), zero);
    return arith::SelectOp::create(
        builder, isOdd,
        math.sub(math.sub(workgroups, math.constant(1)), workgroup), workgroup);
  };
  Value whole = math.div(total, workgroups);
  Value hasMore =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                            emitPosition(whole), math.rem(total, workgroups));
  Value rounds = math.add(whole, arith::IndexCastUIOp::create(
                                     builder, builder.getIndexType(), hasMore));
  auto loop = scf::ForOp::create(builder, zero, rounds, math.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar(),
        tile = math.add(math.mul(round, workgroups), emitPosition(round));
  emitTile(math.div(tile, numBatches), math.rem(tile, numBatches), zero);
}

void AttentionTiler::emitTile(Value x, Value y, Value z) {
  math.delinearize(y, sizes, getBatchDims(), index);
  Value zero = math.constant(0), one = math.constant(1);
  bool isCausal = startsWithLast();
  if (isCausal)
    x = math.sub(math.sub(numTiles, one), x);
  blockRow = math.mul(x, rows);
  if (op.hasLength()) {
    // Such that distances fit into 32 bits.
    constexpr int64_t farthest = int64_t(1) << 30;
    length = emitRegion(builder, op.getLength(), getBatchArguments({}));
    length = arith::MaxSIOp::create(builder, length, math.constant(-farthest));
    length = arith::MinSIOp::create(builder, length, math.constant(farthest));
  }
  Value numKeys = sizes[op.getPosition(AttentionOp::N)];
  keyEnd = numKeys;
  Value queryEnd;
  if (isCausal) {
    queryEnd = getQueryEnd(/*inSubgroup=*/false);
    // Keys that no query sees are not read.
    if (gathers && !divides(AttentionOp::M, rows) && folded == 0)
      queryEnd = math.min(queryEnd, numRows);
  }
  for (const AttentionOp::Bound &bound : lasts) {
    // One more than the last key that the tile's last query sees.
    AttentionOp::Bound end = bound;
    if (!bound.row)
      ++end.constant;
    Value seen = emitBound(end, queryEnd);
    seen = arith::MaxSIOp::create(builder, seen, zero);
    numKeys = math.min(numKeys, seen);
    if (!bound.row)
      keyEnd = math.min(keyEnd, seen);
  }
  numVisible = numKeys;
  // If there are no keys, all of one block is masked.
  Value numBlocks = math.max(math.ceilDiv(numKeys, keys), one);
  Value first = zero, end = numBlocks;
  Value firstKey;
  keyBegin = {};
  for (const AttentionOp::Bound &bound : firsts) {
    Value seen = emitBound(bound, getFirstQuery(/*inSubgroup=*/false));
    seen = arith::MaxSIOp::create(builder, seen, zero);
    firstKey = firstKey ? math.max(firstKey, seen) : seen;
    if (!bound.row)
      keyBegin = keyBegin ? math.max(keyBegin, seen) : seen;
  }
  if (firstKey) {
    first = math.min(math.div(firstKey, math.constant(keys)),
                     math.sub(numBlocks, one));
    numBlocks = math.sub(numBlocks, first);
  }
  if (parts > 1) {
    // Parts differ by one block at most; an empty one has the block after it.
    part = z;
    Value count = math.constant(parts), before = first;
    first = math.div(math.mul(part, numBlocks), count);
    end = math.div(math.mul(math.add(part, 1), numBlocks), count);
    if (firstKey) {
      first = math.add(before, first);
      end = math.add(before, end);
    }
    keyEnd = math.min(keyEnd, math.mul(end, keys));
    end = math.max(end, math.add(first, 1));
  }
  numBlocks = math.sub(end, first);
  Value last = math.mul(math.sub(end, one), keys);

  // The queries of the tile before are read until its last scores. Keys are
  // copied before that.
  if (schedule.getPersistent() != 0) {
    stage({{AttentionOp::Key, last, firstKeyTile, keys}});
    if (isStaged(AttentionOp::Query))
      stage({{AttentionOp::Query, blockRow, queryTile, rows}});
  } else {
    if (isStaged(AttentionOp::Query))
      stage({{AttentionOp::Query, blockRow, queryTile, rows}});
    stage({{AttentionOp::Key, last, firstKeyTile, keys}});
  }
  keptQuery = {};
  if (keepsQuery(schedule, chip))
    keptQuery = emitQueryLoad();
  Value none = fill(fragment(subRows, keys, Role::Acc), 0);
  Value scores = multiply(0, loadQuery(), loadKey(firstKeyTile, last), none);
  scores = applyScore(scores, last);
  if (needsMask())
    scores = mask(scores, last);
  Softmax softmax = step(scores, Value(), Value());
  Value sums = fill(fragment(subRows, e, Role::Acc), 0);

  SmallVector<Value> state{sums, softmax.largest, softmax.sum,
                           makeOperand(softmax.weights)};
  auto emitBlocks = [&](Value from, Value to, bool isMasked) {
    auto loop = scf::ForOp::create(builder, from, to, one, state);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange old = loop.getRegionIterArgs();
    // Copies that run ahead may belong to steps that do not exist.
    Value ahead = math.add(loop.getInductionVar(), 2);
    if (hasOwnFirstTiles(schedule))
      ahead = math.min(ahead, numBlocks);
    Value block = math.sub(end, ahead), keyAt = math.mul(block, keys),
          valueAt = math.mul(math.add(block, 1), keys);
    stage({{AttentionOp::Key, keyAt, keyTile, keys},
           {AttentionOp::Value, valueAt, valueTile, keys}});
    Value query = loadQuery(), key = loadKey(keyTile, keyAt);
    Value next, scores;
    // Operands in registers are loaded where they are used.
    if (schedule.getSubgroupsPerFragment() == 1) {
      scores = multiply(0, query, key, none);
      next = multiply(1, old[3], loadValue(valueTile, valueAt), old[0]);
    } else {
      Value value = loadValue(valueTile, valueAt);
      scores = multiply(0, query, key, none);
      next = multiply(1, old[3], value, old[0]);
    }
    scores = applyScore(scores, keyAt);
    if (isMasked)
      scores = maskIfNeeded(scores, keyAt);
    softmax = step(scores, old[1], old[2]);
    next = scaleRows(next, softmax.shrink);
    // After the matmul that reads the old weights, the new ones can reuse their
    // registers.
    scf::YieldOp::create(builder, ValueRange{next, softmax.largest, softmax.sum,
                                             makeOperand(softmax.weights)});
    state.assign(loop.getResults().begin(), loop.getResults().end());
  };
  Value loopEnd = math.sub(numBlocks, one), masked = zero;
  bool isMasked = needsMask();
  if (isMasked && hasMaskedLoop()) {
    // The blocks of the diagonal have a loop of their own.
    masked = math.min(loopEnd, math.constant(countMasked() - 1));
    emitBlocks(zero, masked, /*isMasked=*/true);
    isMasked = false;
  }
  emitBlocks(masked, loopEnd, isMasked);
  Value firstValue = math.mul(first, keys);
  stage({{AttentionOp::Value, firstValue, lastValueTile, keys}});
  sums = multiply(1, state[3], loadValue(lastValueTile, firstValue), state[0]);
  if (parts > 1)
    emitPart(sums, state[1], state[2]);
  else
    emitResult(sums, state[2]);
}

void AttentionTiler::emitPart(Value sums, Value largest, Value total) {
  SmallVector<Value> at{part};
  for (unsigned dim : getBatchDims())
    at.push_back(index[dim]);
  at.push_back(math.add(blockRow, subRow));
  auto store = [&](Value value, Value to, int64_t column, bool fits) {
    SmallVector<Value> indices(at);
    indices.push_back(math.constant(column));
    StoreOp::create(builder, value, to, indices, /*transpose=*/false,
                    divides(AttentionOp::M, rows) && fits,
                    /*atomicAdd=*/false, /*swizzled=*/false);
  };
  store(sums, partMemory.sums, 0, divides(AttentionOp::E, e));
  store(largest, partMemory.statistics, 0, true);
  store(total, partMemory.statistics, 1, true);
}

void AttentionTiler::emitResult(Value sums, Value total) {
  // A query that sees no key: 0 or NaN instead of 0 / 0.
  float empty =
      op.getEmptyIsNan() ? std::numeric_limits<float>::quiet_NaN() : 0;
  Value factors = map(total, [&](ValueRange x) -> Value {
    Value none = arith::CmpFOp::create(builder, arith::CmpFPredicate::OEQ, x[0],
                                       number(0));
    return arith::SelectOp::create(
        builder, none, number(empty),
        arith::DivFOp::create(builder, number(1), x[0]));
  });
  Value result = scaleRows(sums, factors);
  Type type = getElementTypeOrSelf(op.getOutput().getType());
  if (type != f32)
    result = ConvertOp::create(
        builder,
        cast<FragmentType>(result.getType()).cloneWithElementType(type), result,
        /*isUnsigned=*/false);
  bool inBounds = divides(AttentionOp::M, rows) && divides(AttentionOp::E, e);
  if (!outputTile) {
    StoreOp::create(builder, result, memory[AttentionOp::Output],
                    getIndices(AttentionOp::Output, math.add(blockRow, subRow)),
                    /*transpose=*/false, inBounds, /*atomicAdd=*/false,
                    /*swizzled=*/false);
    return;
  }
  // The tile before this one may still be read.
  if (builder.getInsertionBlock() != &launch.getBody().front())
    gpu::BarrierOp::create(builder);
  auto tileType = cast<MemRefType>(outputTile.getType());
  bool swizzled = getSwizzlePhases(tileType) != 0;
  Value zero = math.constant(0);
  StoreOp::create(builder, result, outputTile, ValueRange{subRow, zero},
                  /*transpose=*/false, /*inBounds=*/true, /*atomicAdd=*/false,
                  swizzled);
  gpu::BarrierOp::create(builder);
  CopyOp::create(builder, outputTile, ValueRange{zero, zero},
                 memory[AttentionOp::Output],
                 getIndices(AttentionOp::Output, blockRow),
                 builder.getDenseI64ArrayAttr(tileType.getShape()), inBounds,
                 /*alignment=*/nullptr, /*contiguous=*/nullptr,
                 /*window=*/nullptr, /*swizzled=*/false,
                 /*fromSwizzled=*/swizzled);
}

void AttentionTiler::run() {
  if (llvm::is_contained(cast<ShapedType>(op.getOutput().getType()).getShape(),
                         0)) {
    op.erase();
    return;
  }
  viewOperands();
  Value one = math.constant(1);
  numTiles = math.ceilDiv(numRows, rows);
  numBatches = math.product(sizes, getBatchDims());
  std::optional<int64_t> known = getConstantIntValue(numBatches);
  bool walks = schedule.getPersistent() == 0 && (!known || *known > maxGridYZ);
  Value gridY =
      walks ? math.min(numBatches, math.constant(maxGridYZ)) : numBatches;
  Value lanes = gpu::SubgroupSizeOp::create(builder, /*upper_bound=*/nullptr);
  Value threads = math.mul(lanes, schedule.getNumSubgroups());
  if (parts > 1)
    partMemory = createAttentionParts(op, parts, sizes, builder);
  Value gridX = numTiles;
  if (schedule.getPersistent() != 0) {
    gridX = numWorkgroups = math.min(math.mul(numTiles, numBatches),
                                     math.constant(schedule.getPersistent()));
    gridY = one;
  }
  launch = gpu::LaunchOp::create(builder, gridX, gridY, math.constant(parts),
                                 threads, one, one);
  launch->setAttr(TesseraDialect::ScheduleAttrHelper::getNameStr(), schedule);
  if (Attribute origin =
          op->getAttr(TesseraDialect::ScheduleOriginAttrHelper::getNameStr()))
    launch->setAttr(TesseraDialect::ScheduleOriginAttrHelper::getNameStr(),
                    origin);
  std::string purpose = "attention: two matmuls and the softmax between them";
  if (parts > 1)
    purpose += "; keys in " + std::to_string(parts) +
               " parts, which a second kernel combines";
  launch->setAttr(TesseraDialect::PurposeAttrHelper::getNameStr(),
                  builder.getStringAttr(purpose));

  builder.setInsertionPointToStart(&launch.getBody().front());
  subRow = math.constant(0);
  if (rows > subRows) {
    Value id = gpu::SubgroupIdOp::create(builder, /*upper_bound=*/nullptr);
    if (schedule.getSubgroupsPerFragment() > 1)
      id = math.div(id, math.constant(schedule.getSubgroupsPerFragment()));
    subRow = math.mul(id, subRows);
  }
  if (isStaged()) {
    if (isStaged(AttentionOp::Query))
      queryTile = addTile(AttentionOp::Query, rows);
    keyTile = firstKeyTile = addTile(AttentionOp::Key, keys);
    valueTile = lastValueTile = addTile(AttentionOp::Value, keys);
    if (hasOwnFirstTiles(schedule)) {
      firstKeyTile = addTile(AttentionOp::Key, keys);
      lastValueTile = addTile(AttentionOp::Value, keys);
    }
  }
  if (schedule.getStageOutput())
    outputTile = addTile(AttentionOp::Output, rows);
  gpu::KernelDim3 ids = launch.getBlockIds();
  if (schedule.getPersistent() != 0) {
    emitPersistentTiles();
  } else if (!walks) {
    emitTile(ids.x, ids.y, ids.z);
  } else {
    // More matrices than a grid can have are walked through.
    auto loop =
        scf::ForOp::create(builder, ids.y, numBatches, launch.getGridSize().y);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    emitTile(ids.x, loop.getInductionVar(), ids.z);
  }
  builder.setInsertionPointToEnd(&launch.getBody().front());
  gpu::TerminatorOp::create(builder);
  if (parts > 1) {
    builder.setInsertionPoint(op);
    emitAttentionReduction(op, partMemory, builder);
  }
  op.erase();
}

namespace {
struct TesseraTileAttentionPass
    : public tessera::impl::TesseraTileAttentionBase<TesseraTileAttentionPass> {
  using TesseraTileAttentionBase::TesseraTileAttentionBase;

  void runOnOperation() override {
    auto isOnMemRefs = [](AttentionOp op) {
      return isa<MemRefType>(op.getOutput().getType());
    };
    auto tile = [](AttentionOp op, const Chip &chip) -> LogicalResult {
      ScheduleAttr schedule = op.getScheduleAttr();
      if (!schedule)
        schedule = getDefaultSchedule(op, chip);
      if (!schedule)
        return op.emitError(
            "schedule_c24: head dimensions D and E must be static");
      if (std::string why = explainSchedule(op, schedule, chip); !why.empty())
        return op.emitError() << why;
      LDBG() << op.getLoc() << ": " << schedule
             << (op.getScheduleAttr() ? "" : " (the default)");
      ++numTiledAttentions;
      AttentionTiler(op, schedule, chip).run();
      return success();
    };
    if (failed(forEachOnChip<AttentionOp>(getOperation(), isOnMemRefs, tile)))
      return signalPassFailure();
    // Merges equal constants, to keep the IR readable.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};
} // namespace
