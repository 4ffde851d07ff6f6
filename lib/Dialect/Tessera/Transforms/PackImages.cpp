//===- PackImages.cpp - Images of few channels ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The three channels of a pixel are smaller than a bulk copy, and not aligned.
// The image is copied to one whose number of channels is a power of two, with a
// border: adjacent positions of a window are then one run of elements, and the
// runs of adjacent windows start a few pixels apart,
//
//      3 channels, 3 positions, in steps of 2       4 channels, 4 positions
//
//      |012|012|012|012|012|                     |012.|012.|012.|012.|012.|
//      +-----------+                             +-------------------+
//              +-----------+ +-------------------+
//
// and a view of overlapping rows has such a run as the channels of one
// position. Filters get zeros for the added channels. The window's other
// dimensions are not changed.
//
// Where windows move in steps of two along both dimensions, and four pixels are
// one access, these are the channels of one position of the copy, and windows
// move in steps of one:
//
//      a b c d e f               abAB cdCD efEF
//      A B C D E F      ==>      ghGH ...
//      g h ...
//
// A window of 7x7 positions then has 4x4 of these. (Otherwise a run of bytes
// has the eight channels that align it, of which five are zero, and a window
// seven runs.)
//
//===----------------------------------------------------------------------===//

#include "PackImages.h"
#include "ImageSource.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/IR/ContractMaps.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Window.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-pack-operands"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// The copies of one convolution.
struct ImagePlan {
  /// The iteration dimensions of the window's position along the rows of the
  /// image, and of the channels.
  unsigned position, channel;
  /// The stride between windows, and the width of the border before the first.
  int64_t stride, before;
  /// The sizes of the copies: channels, positions of a window, and positions of
  /// a row.
  int64_t channels, positions, width;
  /// Windows along a row.
  int64_t windows;
  /// Whether two positions of a row, and of a column, are one of the copy.
  bool isFolded = false;
  /// For a folded image: the dimensions of the windows along a column, and of
  /// the position in them, the width of the border, the sizes of the copies,
  /// and the channels of one position of the image.
  unsigned columnPosition, column;
  int64_t columnBefore, height, columnPositions, perPixel;
  /// The index of the position among the dimensions of the filters; channels
  /// follow.
  unsigned filterAt;

  int64_t run() const { return channels * positions; }
};

} // namespace

void mlir::tessera::yieldElementOrZero(ImplicitLocOpBuilder &body, Value inside,
                                       Value memory, ValueRange indices) {
  Type element = getElementTypeOrSelf(memory.getType());
  auto branch =
      scf::IfOp::create(body, element, inside, /*withElseRegion=*/true);
  OpBuilder then = branch.getThenBodyBuilder(),
            otherwise = branch.getElseBodyBuilder();
  Location loc = body.getLoc();
  scf::YieldOp::create(
      then, loc,
      memref::LoadOp::create(then, loc, memory, indices).getResult());
  scf::YieldOp::create(
      otherwise, loc,
      arith::ConstantOp::create(otherwise, loc, body.getZeroAttr(element))
          .getResult());
  linalg::YieldOp::create(body, branch.getResults());
}

bool mlir::tessera::isPlainMemory(Value memory) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  return type && type.hasStaticShape() && type.getNumElements() > 0 &&
         !type.getMemorySpace() && !isPacked(type.getElementType());
}

/// The window's position along result `r` of `map`, and the dimension of M that
/// moves the window, if these two alone do; the factor of the former is 1.
static std::optional<std::pair<unsigned, unsigned>>
findWindow(ContractOp op, const MatrixForm &form, unsigned r,
           ArrayRef<int64_t> factors) {
  std::optional<unsigned> row, position;
  for (unsigned d = 0; d < op.getMap(0).getNumDims(); ++d) {
    if (factors[d] == 0 || getStaticExtent(op, d) == 1)
      continue;
    std::optional<unsigned> &part =
        llvm::is_contained(form.m, d) ? row : position;
    if (part)
      return std::nullopt;
    part = d;
  }
  if (!row || !position || !llvm::is_contained(form.k, *position) ||
      factors[*position] != 1)
    return std::nullopt;
  // They move along one dimension of the image only.
  for (unsigned other = 0; other < op.getMap(0).getNumResults(); ++other)
    for (unsigned d : {*row, *position})
      if (op.getMap(0).getResult(other).isFunctionOfDim(d) != (other == r))
        return std::nullopt;
  return std::pair(*position, *row);
}

/// Makes two positions of each row and column one, if windows move in steps of
/// two, and four pixels are one access.
static void foldPlan(ContractOp op, const MatrixForm &form, const Chip &chip,
                     ImagePlan &plan) {
  auto type = cast<MemRefType>(op.getLhs().getType());
  AffineMap map = op.getMap(0), filterMap = op.getMap(1);
  int64_t bytes = getElementBytes(type.getElementType()),
          perPixel = llvm::PowerOf2Ceil(type.getShape().back());
  if (plan.stride != 2 || plan.before < 0 ||
      4 * perPixel * bytes != chip.accessBytes || map.getNumResults() < 4 ||
      plan.filterAt == 0)
    return;
  unsigned r = map.getNumResults() - 3;
  SmallVector<int64_t> factors = getFactors(map.getResult(r), map.getNumDims());
  auto window = findWindow(op, form, r, factors);
  if (!window || factors[window->second] != 2 || factors.back() > 0 ||
      filterMap.getResult(plan.filterAt - 1) !=
          getAffineDimExpr(window->first, op.getContext()))
    return;
  auto fold = [](int64_t positions, int64_t before) {
    return static_cast<int64_t>(llvm::divideCeil(positions + before % 2, 2));
  };
  plan.isFolded = true;
  std::tie(plan.columnPosition, plan.column) = *window;
  plan.columnBefore = -factors.back();
  plan.columnPositions =
      fold(getStaticExtent(op, plan.columnPosition), plan.columnBefore);
  plan.height = getStaticExtent(op, plan.column) - 1 + plan.columnPositions;
  plan.perPixel = perPixel;
  plan.channels = 4 * perPixel;
  plan.positions =
      llvm::PowerOf2Ceil(fold(getStaticExtent(op, plan.position), plan.before));
  plan.stride = 1;
}

static std::optional<ImagePlan> makePlan(ContractOp op, const MatrixForm &form,
                                         const Chip &chip) {
  Value image = op.getLhs(), filters = op.getRhs();
  if (!form.gather[0] || !op.getProducer(0).empty() ||
      !op.getProducer(1).empty() || !isPlainMemory(image) ||
      !isPlainMemory(filters) || !getWindow(op, form, 0))
    return std::nullopt;
  auto type = cast<MemRefType>(image.getType());
  AffineMap map = op.getMap(0), filterMap = op.getMap(1);
  unsigned numDims = map.getNumDims(), rank = map.getNumResults();
  int64_t bytes = getElementBytes(type.getElementType()),
          count = type.getShape().back();
  auto channel = dyn_cast<AffineDimExpr>(map.getResult(rank - 1));
  // Where channels fill the shortest row that is swizzled, steps have room.
  constexpr int64_t shortest = 32;
  if (rank < 3 || !channel || count * bytes % shortest == 0)
    return std::nullopt;

  ImagePlan plan{};
  plan.channel = channel.getPosition();
  AffineExpr along = map.getResult(rank - 2);
  SmallVector<int64_t> factors = getFactors(along, numDims);
  auto window = findWindow(op, form, rank - 2, factors);
  if (!window)
    return std::nullopt;
  auto [position, row] = *window;
  plan.position = position;
  plan.stride = factors[row];
  plan.before = -factors.back();
  plan.windows = getStaticExtent(op, row);
  for (unsigned r = 0; r < rank - 1; ++r)
    if (map.getResult(r).isFunctionOfDim(plan.channel))
      return std::nullopt;
  std::optional<unsigned> at = filterMap.getResultPosition(
      getAffineDimExpr(plan.position, op.getContext()));
  if (!filterMap.isProjectedPermutation() || !at ||
      *at + 1 >= filterMap.getNumResults() ||
      filterMap.getResult(*at + 1) != channel)
    return std::nullopt;
  plan.filterAt = *at;

  if (!chip.hasLanes()) {
    // A lone thread copies runs by short vectors, which need no alignment.
    // Other images have channels for vectors. Runs of narrow elements would
    // have many zeros.
    constexpr int64_t vectorBytes = 16, narrow = 4;
    if (count * bytes >= vectorBytes || bytes < narrow)
      return std::nullopt;
    plan.channels = count;
    plan.positions = getStaticExtent(op, plan.position);
    while (plan.run() * bytes % vectorBytes)
      ++plan.positions;
    plan.width = (plan.windows - 1) * plan.stride + plan.positions;
    return plan;
  }
  plan.channels = llvm::PowerOf2Ceil(count);
  while (plan.stride * plan.channels * bytes % chip.accessBytes)
    plan.channels *= 2;
  plan.positions = llvm::PowerOf2Ceil(getStaticExtent(op, plan.position));
  foldPlan(op, form, chip, plan);
  while (plan.run() * bytes < shortest)
    plan.positions *= 2;
  plan.width = (plan.windows - 1) * plan.stride + plan.positions;
  while (plan.width * plan.channels * bytes % chip.accessBytes)
    ++plan.width;
  return plan;
}

/// The shape of `memory` with dimension `at` and the next one replaced, and, in
/// a folded image, the one before by `column`.
static SmallVector<int64_t> replaceShape(Value memory, const ImagePlan &plan,
                                         unsigned at, int64_t column,
                                         int64_t row) {
  SmallVector<int64_t> shape(cast<MemRefType>(memory.getType()).getShape());
  if (plan.isFolded)
    shape[at - 1] = column;
  shape[at] = row;
  shape[at + 1] = plan.channels;
  return shape;
}

/// Memory of `shape` for a copy of `source`.
static memref::AllocOp allocate(ImplicitLocOpBuilder &builder, Value source,
                                ArrayRef<int64_t> shape, const Chip &chip) {
  Type element = getElementTypeOrSelf(source.getType());
  return memref::AllocOp::create(builder, MemRefType::get(shape, element),
                                 builder.getI64IntegerAttr(chip.accessBytes));
}

/// Computes each element of `memory` from its indices; `yield` ends the body.
static linalg::GenericOp fillByIndices(
    ImplicitLocOpBuilder &builder, Value memory,
    function_ref<void(ImplicitLocOpBuilder &, MutableArrayRef<Value>)> yield) {
  auto rank =
      static_cast<unsigned>(cast<MemRefType>(memory.getType()).getRank());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      builder, ValueRange(), ValueRange{memory},
      ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(rank)}, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder body(loc, nested);
        SmallVector<Value> indices;
        for (unsigned d = 0; d < rank; ++d)
          indices.push_back(linalg::IndexOp::create(body, d));
        yield(body, indices);
      });
}

/// The index of the folded image's `index`, in the half `half` of its position,
/// in the image.
static Value emitUnfolded(ImplicitLocOpBuilder &body, Value index, Value half) {
  Value two = arith::ConstantIndexOp::create(body, 2);
  return arith::AddIOp::create(body, arith::MulIOp::create(body, index, two),
                               half);
}

/// Copies `source`, of that type, to `memory`, shifted by `before` along
/// dimension `at`, and in a folded image by `columnBefore` along the one
/// before; elements outside of `source` are zero.
static void emitCopy(ImplicitLocOpBuilder &builder, const ImagePlan &plan,
                     const ImageSource &source, MemRefType type, Value memory,
                     unsigned at, int64_t columnBefore, int64_t before,
                     StringRef why) {
  auto copy = fillByIndices(
      builder, memory,
      [&](ImplicitLocOpBuilder &body, MutableArrayRef<Value> indices) {
        auto number = [&](int64_t value) -> Value {
          return arith::ConstantIndexOp::create(body, value);
        };
        SmallVector<std::pair<unsigned, int64_t>> moved{{at, before}};
        SmallVector<unsigned> limited{at, at + 1};
        if (plan.isFolded) {
          Value two = number(2), channel = indices[at + 1],
                pixel = arith::DivUIOp::create(body, channel,
                                               number(plan.perPixel));
          indices[at - 1] = emitUnfolded(
              body, indices[at - 1], arith::DivUIOp::create(body, pixel, two));
          indices[at] = emitUnfolded(body, indices[at],
                                     arith::RemUIOp::create(body, pixel, two));
          indices[at + 1] =
              arith::RemUIOp::create(body, channel, number(plan.perPixel));
          moved.push_back({at - 1, columnBefore});
          limited.push_back(at - 1);
        }
        for (auto [d, width] : moved)
          if (width != 0)
            indices[d] = arith::SubIOp::create(body, indices[d], number(width));
        // Below zero is beyond any size, as unsigned numbers.
        Value inside;
        for (unsigned d : limited) {
          Value below =
              arith::CmpIOp::create(body, arith::CmpIPredicate::ult, indices[d],
                                    number(type.getDimSize(d)));
          inside = inside ? arith::AndIOp::create(body, inside, below) : below;
        }
        source.yieldElementOrZero(body, inside, indices);
      });
  copy->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(),
                builder.getStringAttr(why));
}

void mlir::tessera::fusePadding(ContractOp op) {
  Value image = op.getLhs();
  if (!isPlainMemory(image))
    return;
  ImageSource source(image, op);
  if (!source.isPadded())
    return;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto padded = fillByIndices(
      builder, image,
      [&](ImplicitLocOpBuilder &body, MutableArrayRef<Value> indices) {
        Value inside = arith::ConstantOp::create(body, body.getBoolAttr(true));
        source.yieldElementOrZero(body, inside, indices);
      });
  source.eraseUnused(padded);
}

/// The image as rows of runs, which overlap.
static Value viewRuns(ImplicitLocOpBuilder &builder, const ImagePlan &plan,
                      Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> shape(type.getShape().drop_back(2)), strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return {};
  shape.append({plan.windows, plan.run()});
  strides[strides.size() - 2] = plan.stride * plan.channels;
  strides.back() = 1;
  auto result = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), offset, strides));
  return memref::ReinterpretCastOp::create(builder, result, memory, offset,
                                           shape, strides);
}

/// Views the filters with the positions of a row and their channels as one
/// dimension.
static Value viewFilters(ImplicitLocOpBuilder &builder, const ImagePlan &plan,
                         Value memory) {
  SmallVector<ReassociationIndices> groups;
  auto rank = cast<MemRefType>(memory.getType()).getRank();
  for (int64_t d = 0; d < rank; ++d) {
    if (d == plan.filterAt + 1)
      groups.back().push_back(d);
    else
      groups.push_back({d});
  }
  return memref::CollapseShapeOp::create(builder, memory, groups);
}

/// The maps of `op` in which runs replace the channels, without the dimension
/// of the position.
static ArrayAttr makeMaps(ContractOp op, const ImagePlan &plan) {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> dims;
  unsigned numDims = op.getMap(0).getNumDims();
  for (unsigned d = 0, next = 0; d < numDims; ++d)
    dims.push_back(d == plan.position ? getAffineConstantExpr(0, context)
                                      : getAffineDimExpr(next++, context));
  SmallVector<Attribute> maps;
  for (unsigned i = 0; i < op.getMaps().size(); ++i) {
    AffineMap map = op.getMap(i);
    SmallVector<AffineExpr> results(map.getResults());
    if (i == 0)
      for (unsigned d = 0; d < numDims; ++d)
        if (d != plan.position &&
            results[results.size() - 2].isFunctionOfDim(d) &&
            getStaticExtent(op, d) != 1)
          results[results.size() - 2] = getAffineDimExpr(d, context);
    if (i == 0 && plan.isFolded)
      results[results.size() - 3] =
          getAffineDimExpr(plan.column, context) +
          getAffineDimExpr(plan.columnPosition, context);
    if (i == 1)
      results.erase(results.begin() + plan.filterAt);
    maps.push_back(AffineMapAttr::get(
        AffineMap::get(numDims, 0, results, context)
            .replaceDimsAndSymbols(dims, {}, numDims - 1, 0)));
  }
  return ArrayAttr::get(context, maps);
}

double mlir::tessera::estimateSavedByRuns(ContractOp op, const MatrixForm &form,
                                          const Chip &chip) {
  // The tiles of a kernel that gathers the image; all processors take as long
  // as those that have one.
  constexpr int64_t tile = 64;
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  int64_t parts =
              std::max<int64_t>(getScheduleByRules(op, chip).getSplitK(), 1),
          tiles = llvm::divideCeil(extents[0], tile) *
                  llvm::divideCeil(extents[1], tile) * parts;
  for (unsigned d : form.batch)
    tiles *= getStaticExtent(op, d);
  int64_t processors = std::max<int64_t>(chip.processors, 1);
  return double(llvm::alignTo(tiles, processors)) * tile * tile *
         double(llvm::divideCeil(extents[2], parts)) * chip.model.savedByRuns;
}

/// The time of the copies, and of multiplications by zero, in nanoseconds.
static double estimateCost(ContractOp op, const ImagePlan &plan,
                           const Chip &chip) {
  double multiplyAdds = 1, bytes = 0;
  for (unsigned d = 0; d < op.getMap(0).getNumDims(); ++d)
    multiplyAdds *= double(getStaticExtent(op, d));
  auto image = cast<MemRefType>(op.getLhs().getType());
  bytes = double(image.getNumElements()) *
          double(getElementBytes(image.getElementType()));
  int64_t rank = image.getRank();
  double more = double(plan.channels * plan.width) /
                double(image.getShape().back() * image.getDimSize(rank - 2)),
         window = double(getStaticExtent(op, plan.position)) *
                  double(image.getShape().back()),
         runs = double(plan.run());
  if (plan.isFolded) {
    more *= double(plan.height) / double(image.getDimSize(rank - 3));
    window *= double(getStaticExtent(op, plan.columnPosition));
    runs *= double(plan.columnPositions);
  }
  const PerformanceModel &rates = chip.model;
  // Two kernels, and multiplications by zero.
  double wasted = multiplyAdds * (runs / window - 1) /
                  (rates.mma * double(std::max<int64_t>(chip.processors, 1))),
         copies = 2 * rates.copyStart + bytes * (1 + more) / rates.copies;
  return copies + wasted;
}

bool mlir::tessera::packImage(ContractOp op, const Chip &chip,
                              std::optional<double> saved) {
  MatrixForm form = getMatrixForm(op);
  std::optional<ImagePlan> plan = makePlan(op, form, chip);
  if (!plan)
    return false;
  // Where a lone thread copies element by element, runs always pay.
  double gain = 0, cost = 0;
  if (chip.hasLanes()) {
    gain = saved ? *saved : estimateSavedByRuns(op, form, chip);
    cost = estimateCost(op, *plan, chip);
    LDBG() << op.getLoc() << ": packing the image costs " << cost
           << " ns and saves " << gain;
    if (gain <= cost)
      return false;
  }
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Value image = op.getLhs(), filters = op.getRhs();
  ImageSource source(image, op);
  auto type = cast<MemRefType>(image.getType());
  auto at = static_cast<unsigned>(type.getRank() - 2);
  memref::AllocOp newImage =
      allocate(builder, image,
               replaceShape(image, *plan, at, plan->height, plan->width), chip);
  memref::AllocOp newFilters =
      allocate(builder, filters,
               replaceShape(filters, *plan, plan->filterAt,
                            plan->columnPositions, plan->positions),
               chip);
  Value runs = viewRuns(builder, *plan, newImage),
        rows = viewFilters(builder, *plan, newFilters);

  // Tentatively changes the op; the change is kept only if the op is then
  // computed by an instruction of a group of subgroups, or if an access has
  // several pixels and much is gained: single subgroups copy runs too.
  ArrayAttr before = op.getMaps();
  op.setMapsAttr(makeMaps(op, *plan));
  op.getLhsMutable().assign(runs);
  op.getRhsMutable().assign(rows);
  if (chip.hasLanes() &&
      getScheduleByRules(op, chip).getSubgroupsPerFragment() == 1 &&
      ((!plan->isFolded &&
        plan->channels * getElementBytes(type.getElementType()) >=
            chip.accessBytes) ||
       gain <= 2 * cost)) {
    op.setMapsAttr(before);
    op.getLhsMutable().assign(image);
    op.getRhsMutable().assign(filters);
    for (Value value : {runs, rows, Value(newImage.getMemref()),
                        Value(newFilters.getMemref())})
      value.getDefiningOp()->erase();
    return false;
  }
  auto formatType = [](Value memory) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (int64_t size : cast<MemRefType>(memory.getType()).getShape())
      stream << size << "x";
    stream << getElementTypeOrSelf(memory.getType());
    return text;
  };
  // The first window begins with the first pixel of a position.
  int64_t odd = plan->isFolded ? plan->before % 2 : 0,
          columnOdd = plan->isFolded ? plan->columnBefore % 2 : 0;
  emitCopy(
      builder, *plan, source, type, newImage, at,
      plan->columnBefore + columnOdd, plan->before + odd,
      "copies the image of a convolution, " + formatType(image) + ", to " +
          std::to_string(plan->channels) + " channels and a border, so that " +
          (chip.hasLanes() ? "windows are aligned to " +
                                 std::to_string(chip.accessBytes) + " bytes"
                           : "rows of windows are whole vectors"));
  source.eraseUnused();
  emitCopy(builder, *plan, ImageSource(filters),
           cast<MemRefType>(filters.getType()), newFilters, plan->filterAt,
           columnOdd, odd,
           "copies the filters of a convolution, " + formatType(filters) +
               ", to as many channels and " + std::to_string(plan->positions) +
               " positions per row");
  builder.setInsertionPointAfter(op);
  memref::DeallocOp::create(builder, newImage);
  memref::DeallocOp::create(builder, newFilters);
  return true;
}
