//===- PackChannels.cpp - Images with the channels last -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bulk copies read the channels of a pixel as a row. An image whose channels
// are not its last dimension, or whose rows are not aligned, is copied once:
//
//      1 x 64 x 56 x 56                         1 x 56 x 56 x 64
//
//      image  (n, c, h + r, w + s)              (n, h + r, w + s, c)
//      filter (f, c, r, s)               ==>    (f, r, s, c)
//      out    (n, f, h, w)                      (n, h, w, f), copied afterwards
//
// Zeros fill up channels that are not whole rows. The output is computed with
// its channels last where the rows of several images would otherwise not be one
// dimension; it is then copied to the order in which it is needed.
//
//===----------------------------------------------------------------------===//

#include "PackImages.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/MatrixForm.h"
#include "Dialect/Tessera/Utils/Window.h"
#include "Scheduling/ScheduleCheck.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-pack-operands"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// The copies of one convolution. An order has the operand's dimensions, the
/// slowest first.
struct ChannelPlan {
  SmallVector<int64_t> image, filters, output;
  /// The number of channels, and the number in the copies.
  int64_t count = 0, channels = 0;
  /// Whether channels that are fewer than one access has are not last.
  bool isFewInFront = false;
  /// Whether the channels are last and aligned, but no multiple of more than
  /// the shortest row of a tile, which bulk copies load slowly.
  bool isNarrow = false;

  bool isPadded() const { return channels != count; }
};

} // namespace

/// The result of `map` that is the dimension `dim` alone, which no other result
/// depends on.
static std::optional<int64_t> findAlone(AffineMap map, unsigned dim) {
  std::optional<int64_t> found;
  for (auto [r, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    if (found || !isa<AffineDimExpr>(expr))
      return std::nullopt;
    found = r;
  }
  return found;
}

/// The order in which dimension `last` runs fastest.
static SmallVector<int64_t> moveLast(int64_t rank, int64_t last) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != last)
      order.push_back(d);
  order.push_back(last);
  return order;
}

/// The number of channels with which steps along K have wide rows: the multiple
/// of the largest of several widths that adds little, or of `unit`.
static int64_t padChannels(int64_t count, int64_t unit) {
  for (int64_t rows : {8, 4}) {
    int64_t padded = llvm::alignTo(count, rows * unit);
    if ((padded - count) * 8 <= count)
      return padded;
  }
  return llvm::alignTo(count, 2 * unit);
}

/// The shortest and the longest row of a tile that bulk copies swizzle, in
/// bytes.
static constexpr int64_t shortestRow = 32, longestRow = 128;

/// The number of channels, which are aligned, with which tiles have the longest
/// rows instead of the shortest ones; nothing if they have others, or if more
/// than a third of the channels would be added.
static std::optional<int64_t> widenRows(int64_t count, int64_t elementBytes,
                                        const Chip &chip) {
  int64_t bytes = count * elementBytes,
          padded = llvm::alignTo(bytes, longestRow);
  if (!chip.bulkCopies || chip.model.lineBytes != longestRow ||
      bytes % shortestRow != 0 || bytes % (2 * shortestRow) == 0 ||
      (padded - bytes) * 3 > bytes)
    return std::nullopt;
  return padded / elementBytes;
}

static std::optional<ChannelPlan>
makeChannelPlan(ContractOp op, const MatrixForm &form, const Chip &chip) {
  Value image = op.getLhs(), filters = op.getRhs();
  if (!form.gather[0] || !op.getProducer(0).empty() ||
      !op.getProducer(1).empty() || !isPlainMemory(image) ||
      !isPlainMemory(filters))
    return std::nullopt;
  AffineMap map = op.getMap(0), filterMap = op.getMap(1);
  if (!filterMap.isProjectedPermutation())
    return std::nullopt;
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    if (getStaticExtent(op, d) <= 0)
      return std::nullopt;
  // The channels are the only dimension of K that no window moves over.
  ChannelPlan plan;
  std::optional<unsigned> channel;
  int64_t at = 0;
  for (unsigned d : form.k) {
    if (getStaticExtent(op, d) == 1)
      continue;
    std::optional<int64_t> alone = findAlone(map, d);
    if (!alone)
      continue;
    if (channel)
      return std::nullopt;
    channel = d;
    at = *alone;
  }
  if (!channel)
    return std::nullopt;
  Type element = getElementTypeOrSelf(image.getType());
  if (element != getElementTypeOrSelf(filters.getType()) ||
      chip.accessBytes % getElementBytes(element))
    return std::nullopt;
  int64_t unit = chip.accessBytes / getElementBytes(element),
          rank = map.getNumResults();
  plan.count = getStaticExtent(op, *channel);
  plan.channels =
      plan.count % unit ? padChannels(plan.count, unit) : plan.count;
  bool isLast = at == rank - 1;
  if (isLast && !plan.isPadded()) {
    std::optional<int64_t> wide =
        widenRows(plan.count, getElementBytes(element), chip);
    if (!wide)
      return std::nullopt;
    plan.isNarrow = true;
    plan.channels = *wide;
  }
  plan.isFewInFront = !isLast && plan.count < unit;
  plan.image = moveLast(rank, at);

  // The filters of one output after each other, in the order of the image.
  SmallVector<int64_t> window;
  for (int64_t r : plan.image) {
    AffineExpr expr = map.getResult(r);
    for (unsigned d : form.k)
      if (d != *channel && expr.isFunctionOfDim(d))
        if (std::optional<unsigned> result = filterMap.getResultPosition(
                getAffineDimExpr(d, op.getContext())))
          window.push_back(*result);
  }
  std::optional<unsigned> filterAt =
      filterMap.getResultPosition(getAffineDimExpr(*channel, op.getContext()));
  if (!filterAt)
    return std::nullopt;
  window.push_back(*filterAt);
  for (int64_t r = 0; r < filterMap.getNumResults(); ++r)
    if (!llvm::is_contained(window, r))
      plan.filters.push_back(r);
  llvm::append_range(plan.filters, window);
  return plan;
}

/// The order in which the rows of all images are one dimension of the output;
/// empty if the output cannot be copied.
static SmallVector<int64_t> orderOutput(ContractOp op, const MatrixForm &form) {
  AffineMap map = op.getMap(2);
  if (form.n.size() != 1 || op->getNumResults() != 0 ||
      !map.isProjectedPermutation() || !isPlainMemory(op.getOutput()))
    return {};
  std::optional<unsigned> at =
      map.getResultPosition(getAffineDimExpr(form.n.front(), op.getContext()));
  if (!at || *at + 1 == map.getNumResults())
    return {};
  return moveLast(map.getNumResults(), *at);
}

static int64_t countBytes(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  return type.getNumElements() * getElementBytes(type.getElementType());
}

/// The time of a copy of `memory` in nanoseconds, to `factor` times its bytes.
static double estimateOrderedCopy(Value memory, double factor, bool transposes,
                                  const PerformanceModel &rates) {
  auto type = cast<MemRefType>(memory.getType());
  double ns = double(countBytes(memory)) * (1 + factor) / rates.copies;
  if (transposes)
    ns = std::max(ns, double(type.getNumElements()) / rates.transposedElements);
  return rates.copyStart + ns;
}

/// Memory like `source` in that order, with this number of elements along the
/// last dimension.
static memref::AllocOp allocateInOrder(ImplicitLocOpBuilder &builder,
                                       Value source, ArrayRef<int64_t> order,
                                       int64_t last, const Chip &chip) {
  auto type = cast<MemRefType>(source.getType());
  SmallVector<int64_t> shape = applyPermutation(type.getShape(), order);
  shape.back() = last;
  return memref::AllocOp::create(builder,
                                 MemRefType::get(shape, type.getElementType()),
                                 builder.getI64IntegerAttr(chip.accessBytes));
}

/// Copies `from` to `to`, whose dimension `d` is `order[d]` of `from`, with
/// zeros from `count` on along the last dimension of `to`.
static linalg::GenericOp emitPaddedCopy(ImplicitLocOpBuilder &builder,
                                        Value from, Value to,
                                        ArrayRef<int64_t> order,
                                        int64_t count) {
  auto rank = static_cast<unsigned>(order.size());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
      builder, ValueRange(), ValueRange{to},
      ArrayRef<AffineMap>{builder.getMultiDimIdentityMap(rank)}, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange) {
        ImplicitLocOpBuilder body(loc, nested);
        SmallVector<Value> indices(rank);
        for (unsigned d = 0; d < rank; ++d)
          indices[order[d]] = linalg::IndexOp::create(body, d);
        Value inside = arith::CmpIOp::create(
            body, arith::CmpIPredicate::ult, indices[order.back()],
            arith::ConstantIndexOp::create(body, count));
        yieldElementOrZero(body, inside, from, indices);
      });
}

static std::string formatShape(Value memory) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t size : cast<MemRefType>(memory.getType()).getShape())
    stream << size << "x";
  stream << getElementTypeOrSelf(memory.getType());
  return text;
}

namespace {
/// The operands and maps of an op, to be restored.
class TentativeOperands {
public:
  explicit TentativeOperands(ContractOp op)
      : op(op), maps(op.getMaps()), lhs(op.getLhs()), rhs(op.getRhs()),
        output(op.getOutput()) {}

  void restore() {
    op.setMapsAttr(maps);
    op.getLhsMutable().assign(lhs);
    op.getRhsMutable().assign(rhs);
    op.getOutputMutable().assign(output);
  }

private:
  ContractOp op;
  ArrayAttr maps;
  Value lhs, rhs, output;
};
} // namespace

/// Makes `op` compute its output in that order, in memory of its own.
static memref::AllocOp useOutputInOrder(ImplicitLocOpBuilder &builder,
                                        ContractOp op, ArrayRef<int64_t> order,
                                        const Chip &chip) {
  Value output = op.getOutput();
  memref::AllocOp memory = allocateInOrder(
      builder, output, order,
      cast<MemRefType>(output.getType()).getDimSize(order.back()), chip);
  setOperand(op, 2, memory, order);
  return memory;
}

/// Copies the result in `memory`, whose dimensions have this order, to
/// `output`, and frees it.
static void copyBack(ImplicitLocOpBuilder &builder, Value memory, Value output,
                     ArrayRef<int64_t> order) {
  linalg::TransposeOp::create(builder, memory, output,
                              invertPermutationVector(order))
      ->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(),
                builder.getStringAttr("copies the result of a convolution, "
                                      "which has its channels last, to " +
                                      formatShape(output)));
  memref::DeallocOp::create(builder, memory);
}

/// A view of `memory` with its dimensions in that order; null if its strides
/// are unknown. memref.transpose is not an op like a view
/// (`ViewLikeOpInterface`), through which the memory could be found.
static memref::ReinterpretCastOp viewInOrder(ImplicitLocOpBuilder &builder,
                                             Value memory,
                                             ArrayRef<int64_t> order) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset) ||
      llvm::any_of(strides, ShapedType::isDynamic))
    return nullptr;
  SmallVector<int64_t> shape = applyPermutation(type.getShape(), order);
  applyPermutationToVector(strides, order);
  auto result = MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), offset, strides));
  return memref::ReinterpretCastOp::create(builder, result, memory, offset,
                                           shape, strides);
}

/// Gives an image of few channels in front the copies of one with the channels
/// last: they are made from a view of it.
static bool packFewInFront(ContractOp op, const MatrixForm &form,
                           ChannelPlan &plan, const Chip &chip) {
  Value image = op.getLhs(), filters = op.getRhs(), output = op.getOutput();
  double saved = estimateSavedByRuns(op, form, chip);
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  memref::ReinterpretCastOp imageView = viewInOrder(builder, image, plan.image),
                            filterView =
                                viewInOrder(builder, filters, plan.filters);
  memref::AllocOp newOutput;
  TentativeOperands before(op);
  auto pack = [&] {
    if (!imageView || !filterView)
      return false;
    setOperand(op, 0, imageView, plan.image);
    setOperand(op, 1, filterView, plan.filters);
    MatrixForm viewForm = getMatrixForm(op);
    if (!getWindow(op, viewForm, 0)) {
      plan.output = orderOutput(op, viewForm);
      if (plan.output.empty())
        return false;
      newOutput = useOutputInOrder(builder, op, plan.output, chip);
      saved -= estimateOrderedCopy(output, 1, true, chip.model);
    }
    return packImage(op, chip, saved);
  };
  if (pack()) {
    builder.setInsertionPointAfter(op);
    if (newOutput)
      copyBack(builder, newOutput, output, plan.output);
    return true;
  }
  before.restore();
  if (newOutput)
    newOutput.erase();
  if (imageView)
    imageView.erase();
  if (filterView)
    filterView.erase();
  return false;
}

bool mlir::tessera::packFewChannels(ContractOp op, const Chip &chip) {
  if (packImage(op, chip))
    return true;
  std::optional<ChannelPlan> plan =
      makeChannelPlan(op, getMatrixForm(op), chip);
  if (!plan || !plan->isFewInFront)
    return false;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  memref::ReinterpretCastOp view =
      viewInOrder(builder, op.getLhs(), plan->image);
  if (!view)
    return false;
  TentativeOperands before(op);
  setOperand(op, 0, view, plan->image);
  if (packImage(op, chip))
    return true;
  before.restore();
  view.erase();
  return false;
}

/// The time in nanoseconds that bulk copies of the shortest rows take longer
/// than those of the longest ones. Each takes about as long as a whole line
/// that is not aligned: 5x5 over 32 images of 35x35x48 took 45.6 us on an H200,
/// for 22272 such rows of an SM.
static double estimateSavedByRowLength(ContractOp op, const MatrixForm &form,
                                       const Chip &chip) {
  std::array<int64_t, 3> extents = getStaticExtents(op, form);
  int64_t columns = getScheduleByRules(op, chip).getWorkgroup()[1],
          bytes = getElementBytes(getElementTypeOrSelf(op.getLhs().getType())),
          rowsOfWindow = extents[2] * bytes / shortestRow;
  double rows = double(extents[0]) * double(rowsOfWindow) *
                double(llvm::divideCeil(extents[1], columns));
  const PerformanceModel &rates = chip.model;
  return rows / double(std::max<int64_t>(chip.processors, 1)) *
         (rates.splitLines - 1) * double(rates.lineBytes) /
         rates.processorTiles;
}

bool mlir::tessera::packChannels(ContractOp op, const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  std::optional<ChannelPlan> plan = makeChannelPlan(op, form, chip);
  if (!plan)
    return false;
  if (plan->isFewInFront)
    return packFewInFront(op, form, *plan, chip);
  // The rows of the tiles of such instructions.
  constexpr int64_t largeTile = 128;
  const PerformanceModel &rates = chip.model;
  Value image = op.getLhs(), filters = op.getRhs(), output = op.getOutput();
  double saved = plan->isNarrow ? estimateSavedByRowLength(op, form, chip)
                                : estimateSavedByRuns(op, form, chip),
         factor = double(plan->channels) / double(plan->count),
         multiplyAdds = 1;
  for (unsigned d = 0; d < op.getMap(0).getNumDims(); ++d)
    multiplyAdds *= double(getStaticExtent(op, d));
  double ideal = multiplyAdds /
                 (rates.mma * double(std::max<int64_t>(chip.processors, 1)));
  double cost =
      estimateOrderedCopy(image, factor, !isIdentityPermutation(plan->image),
                          rates) +
      estimateOrderedCopy(filters, factor, true, rates) + ideal * (factor - 1);
  // Asynchronous copies load pieces of four bytes and more of such rows.
  if (!plan->isNarrow && isIdentityPermutation(plan->image) &&
      plan->count * getElementBytes(getElementTypeOrSelf(image.getType())) %
              4 ==
          0)
    saved /= 8;
  LDBG() << op.getLoc() << ": packing channels costs " << cost
         << " ns and saves " << saved;
  if (saved <= cost)
    return false;

  // Tentatively changes the op; the change is kept only if the op can then be
  // computed by an instruction of a group of subgroups, or gains much.
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  memref::AllocOp newImage = allocateInOrder(builder, image, plan->image,
                                             plan->channels, chip),
                  newFilters = allocateInOrder(builder, filters, plan->filters,
                                               plan->channels, chip),
                  newOutput;
  TentativeOperands before(op);
  setOperand(op, 0, newImage, plan->image);
  setOperand(op, 1, newFilters, plan->filters);
  // Bulk copies need a window; otherwise all threads copy a row's pieces of 16
  // bytes, by instructions for which a tile of one image ends with it.
  // By the rules that the times saved were measured with.
  auto usesGroup = [&] {
    return getScheduleByRules(op, chip).getSubgroupsPerFragment() > 1;
  };
  MatrixForm packedForm = getMatrixForm(op);
  bool hasWindow = bool(getWindow(op, packedForm, 0)), good = usesGroup();
  plan->output = orderOutput(op, packedForm);
  if (!(good && hasWindow) && !plan->output.empty()) {
    int64_t rows = getLinearExtent(op, packedForm.m);
    double copyTime = estimateOrderedCopy(output, 1, true, rates),
           wasted = double(llvm::alignTo(rows, largeTile)) / double(rows) - 1,
           gained = good ? ideal * factor * (1 + 2 * wasted) : saved - cost;
    if (gained > copyTime) {
      TentativeOperands inOwnOrder(op);
      newOutput = useOutputInOrder(builder, op, plan->output, chip);
      if (getWindow(op, getMatrixForm(op), 0) && usesGroup()) {
        good = true;
      } else {
        inOwnOrder.restore();
        newOutput.erase();
        newOutput = nullptr;
      }
    }
  }
  // A kernel of single subgroups gains by wide copies as well, though less.
  if (!good && hasAlignedRows(op, 0, chip) && hasAlignedRows(op, 1, chip))
    good = saved > 2 * cost;
  if (!good) {
    before.restore();
    newImage.erase();
    newFilters.erase();
    return false;
  }

  auto copy = [&](Value from, Value to, ArrayRef<int64_t> order,
                  const std::string &why) {
    Operation *made =
        plan->isPadded() ? emitPaddedCopy(builder, from, to, order, plan->count)
                         : linalg::TransposeOp::create(builder, from, to, order)
                               .getOperation();
    made->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(),
                  builder.getStringAttr(why));
  };
  std::string channels = std::to_string(plan->channels) + " channels";
  copy(image, newImage, plan->image,
       "copies the image of a convolution, " + formatShape(image) + ", to " +
           channels + " in the last dimension, whose rows are " +
           (plan->isNarrow ? "multiples of " + std::to_string(longestRow)
                           : "aligned to " + std::to_string(chip.accessBytes)) +
           " bytes");
  copy(filters, newFilters, plan->filters,
       "copies the filters of a convolution, " + formatShape(filters) +
           ", to rows of " + channels);
  builder.setInsertionPointAfter(op);
  if (newOutput)
    copyBack(builder, newOutput, output, plan->output);
  memref::DeallocOp::create(builder, newImage);
  memref::DeallocOp::create(builder, newFilters);
  return true;
}
