//===- PointMapping.cpp - The points of an op that a thread computes ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToGPU/PointMapping.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"

#include "Simt.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::simt;

/// Whether `body` yields its input unchanged.
static bool isCopy(Block &body) {
  return body.without_terminator().empty() &&
         llvm::all_of(body.getTerminator()->getOperands(),
                      llvm::IsaPred<BlockArgument>);
}

static bool hasLoop(Block &body) {
  return body.walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

static int64_t countLoops(Block &body) {
  int64_t loops = 0;
  body.walk([&](scf::ForOp) { ++loops; });
  return loops;
}

/// Whether `body` loops over the rows and columns of a window alone, and reads
/// both an image and a filter.
static bool isDepthwise(Block &body) {
  int64_t loads = 0;
  body.walk([&](memref::LoadOp) { ++loads; });
  return countLoops(body) <= 2 && loads >= 2;
}

/// Whether the chip's threads compute many points each, in loops.
static bool hasLongThreads(const Chip &chip) {
  return chip.policy.simt.pointsPerThread > 1;
}

PointMappings::PointMappings(linalg::LinalgOp op, const Chip &chip)
    : op(op), chip(chip), extents(op.getStaticLoopRanges()) {
  op.getParallelDims(widest.parallel);
  if (!hasLongThreads(chip))
    widest.threads = std::min(chip.policy.simt.threads, chip.maxThreads);
  if (!widest.parallel.empty()) {
    orderDims();
    chooseWidth();
  }
  choice = widest;
  chooseRows();
  chooseUnrolling(choice);
}

std::optional<int64_t> PointMappings::getExtent(unsigned dim) const {
  return ShapedType::isDynamic(extents[dim])
             ? std::nullopt
             : std::optional<int64_t>(extents[dim]);
}

std::optional<int64_t> PointMappings::countPoints() const {
  int64_t points = 1;
  for (unsigned dim : widest.parallel) {
    std::optional<int64_t> extent = getExtent(dim);
    if (!extent)
      return std::nullopt;
    points *= *extent;
  }
  return points;
}

/// Orders the parallel dimensions by the layout of the largest output.
void PointMappings::orderDims() {
  SmallVector<unsigned> &parallel = widest.parallel;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Operand output{init.get(), op.getMatchingIndexingMap(&init)};
    SmallVector<unsigned> order;
    for (AffineExpr result : output.map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        if (llvm::is_contained(parallel, dim.getPosition()))
          order.push_back(dim.getPosition());
    if (order.size() != parallel.size())
      continue;
    parallel = order;
    if (std::optional<unsigned> fastest = getFastestDim(output, parallel))
      if (llvm::is_contained(parallel, *fastest)) {
        llvm::erase(parallel, *fastest);
        parallel.push_back(*fastest);
      }
    return;
  }
}

/// The points of a thread, at most `widest`, with which a row of so many points
/// takes the fewest accesses. The rest of a row takes one for each point: 24
/// bytes are three accesses in vectors of 8, and nine in vectors of 16.
static int64_t fitToRow(int64_t widest, int64_t extent) {
  auto countAccesses = [&](int64_t width) {
    return extent / width + extent % width;
  };
  int64_t best = widest;
  for (int64_t width = widest; width >= 1; width /= 2)
    if (best > extent || countAccesses(width) < countAccesses(best))
      best = width;
  return best;
}

/// Chooses the greatest number of points that one thread can compute at a time.
void PointMappings::chooseWidth() {
  if (op.getNumReductionLoops() != 0)
    return;
  unsigned inner = widest.parallel.back();
  Block &body = *op.getBlock();
  std::optional<int64_t> extent = getExtent(inner), ofLoops;
  if (!canVectorize(body)) {
    ofLoops = getVectorWidthOfLoops(body, inner, chip);
    if (!ofLoops && extent && !hasLongThreads(chip)) {
      ofLoops = getStripWidth(body, inner, *extent, chip);
      widest.isStrip = ofLoops.has_value();
    }
    widest.hasLoops = ofLoops.has_value();
  }
  SmallVector<Operand> operands;
  for (OpOperand &init : op.getDpsInitsMutable())
    operands.push_back({init.get(), op.getMatchingIndexingMap(&init)});
  for (const Operand &output : operands)
    if (getMovement(output, inner) != Movement::Contiguous) {
      // A strip of one point is not one.
      widest.hasLoops &= !widest.isStrip;
      widest.isStrip = false;
      return;
    }
  if (!canVectorize(body)) {
    // The indices along a short dimension are constants then.
    int64_t most = getVectorWidth(operands, inner, chip);
    widest.isSeparate =
        extent && *extent > ofLoops.value_or(1) && *extent <= most &&
        llvm::isPowerOf2_64(static_cast<uint64_t>(*extent)) && !hasLoop(body) &&
        llvm::none_of(op->getOpOperands(), [&](OpOperand &operand) {
          return getReadArgument(op, operand) != nullptr;
        });
    if (widest.isSeparate)
      widest.hasLoops = widest.isStrip = false;
    if (!widest.hasLoops) {
      widest.width = widest.isSeparate ? *extent : 1;
      return;
    }
  }
  SmallVector<Operand> outputs(operands);
  for (OpOperand *input : op.getDpsInputOperands())
    if (getReadArgument(op, *input))
      operands.push_back({input->get(), op.getMatchingIndexingMap(input)});
  // A copy from unaligned rows still writes wide pieces, of elements that
  // adjacent threads read from the same lines of memory.
  int64_t &width = widest.width;
  width = isCopy(body)
              ? getVectorWidth(outputs, inner, chip, /*anywhere=*/operands)
              : getVectorWidth(operands, inner, chip);
  if (ofLoops)
    width = std::min(width, *ofLoops);
  if (extent)
    width = fitToRow(width, *extent);
  if (widest.isStrip && width == 1)
    widest.hasLoops = widest.isStrip = false;
}

/// The threads that a unit needs to hide the latency of the loads and of the
/// arithmetic of a few points each: half of those that it can hold.
static int64_t getThreadsOfUnit(const Chip &chip) {
  int64_t threads = chip.unit.subgroups * chip.subgroupSize / 2;
  return threads != 0 ? threads : chip.policy.simt.threadsOfUnit;
}

/// The widest vector, or a narrower one if there are few outputs: the threads
/// of a wide one do not fill the chip, and nothing hides the latency of what
/// each computes in sequence. The lanes of a subgroup still access 4 bytes
/// each, so that they access whole lines of memory.
int64_t PointMappings::chooseNarrowWidth(int64_t total) {
  constexpr int64_t leastBits = 32;
  // Points of a strip share most of what they read.
  int64_t leastPoints = widest.isStrip ? 4 : 2;
  int64_t bits = leastBits, width = widest.width;
  if (countLoops(*op.getBlock()) > 2)
    return width;
  for (OpOperand &output : op.getDpsInitsMutable())
    bits = std::min(bits, getElementBits(getElementTypeOrSelf(output.get())));
  while (width > leastPoints && width * bits > leastBits &&
         total / width < chip.processors * getThreadsOfUnit(chip))
    width /= 2;
  return width;
}

std::optional<unsigned> PointMappings::findDims() {
  Block &body = *op.getBlock();
  ArrayRef<unsigned> outer = ArrayRef<unsigned>(widest.parallel).drop_back();
  std::optional<unsigned> sliding = getSlidingDim(body, outer);
  widest.rowDim = sliding.value_or(outer.back());
  if (sliding && !widest.isStrip) {
    SmallVector<unsigned> others(outer);
    llvm::erase(others, *sliding);
    std::optional<unsigned> further = getSlidingDim(body, others);
    hasLines = further && slidesByOuterLoop(body, *further);
    if (hasLines)
      widest.lineDim = *further;
  }
  choice.rowDim = widest.rowDim;
  choice.lineDim = widest.lineDim;
  return sliding;
}

/// Chooses a block of rows and lines for a depthwise convolution that moves by
/// one element or two: the block that reads the fewest elements for each
/// output, among those whose sums and elements of a row fit into registers, and
/// that leave threads to hide the latency of memory; or if none does, two lines
/// of a large window.
bool PointMappings::chooseLines(int64_t total) {
  // Measured on an H200 (docs/benchmarks/h200-network-tuning.md).
  constexpr int64_t bits = 32, mostRows = 16, mostLines = 8, mostValues = 56,
                    threadsOfUnit = 384, mostPoints = 56, threads = 128;
  Block &body = *op.getBlock();
  if (!hasLines)
    return false;
  int64_t stride = getSlidingStride(body, widest.lineDim);
  if (stride > 2 || stride != getSlidingStride(body, widest.rowDim))
    return false;
  // The rows and the columns of the window.
  scf::ForOp outer = *body.getOps<scf::ForOp>().begin();
  auto inner = outer.getBody()->getOps<scf::ForOp>();
  if (!llvm::hasSingleElement(inner))
    return false;
  std::optional<APInt> ofWindow = (*inner.begin()).getStaticTripCount();
  if (!ofWindow)
    return false;
  int64_t height = outer.getStaticTripCount()->getSExtValue(),
          width = ofWindow->getSExtValue(), elementBits = bits;
  for (OpOperand &output : op.getDpsInitsMutable())
    elementBits = std::min(elementBits,
                           getElementBits(getElementTypeOrSelf(output.get())));
  // Elements of 4 bytes move more than what their arithmetic hides: blocks of
  // them were slower.
  int64_t points = bits / elementBits;
  if (points < 2 || points > widest.width)
    return false;
  double fewest = 0;
  for (int64_t lines = 2; lines <= mostLines; ++lines)
    for (int64_t rows = 1; rows <= mostRows; ++rows) {
      // All lines that read a row of the image have sums. The sums of a large
      // window take too many registers in more than two lines, and those of
      // windows that overlap less gain too little.
      int64_t columns = (rows - 1) * stride + width,
              values = points * (std::min(lines, height) * rows + columns);
      if (getLineExtent() % lines != 0 || getRowExtent(points) % rows != 0 ||
          values > mostValues || (height > 3 && (lines > 2 || stride > 1)) ||
          (stride > 1 && lines > 2) || points * rows * lines > mostPoints ||
          total / points / rows / lines < chip.processors * threadsOfUnit)
        continue;
      double read =
          static_cast<double>(columns * ((lines - 1) * stride + height)) /
          static_cast<double>(rows * lines);
      if (fewest != 0 && read > fewest)
        continue;
      fewest = read;
      choice.width = points;
      choice.rows = rows;
      choice.lines = lines;
      choice.threads = std::min(threads, choice.threads);
    }
  if (fewest != 0)
    return true;
  // With few outputs, two lines of a large window still share more than what
  // the threads that they take would hide.
  constexpr int64_t leastThreadsOfUnit = 128;
  if (height <= 3 || points != choice.width || choice.rows > 1 ||
      getLineExtent() % 2 != 0 ||
      total / points / 2 < chip.processors * leastThreadsOfUnit)
    return false;
  choice.lines = 2;
  choice.threads = std::min(threads, choice.threads);
  return true;
}

/// Chooses the points and the rows of a thread, for a body with loops.
void PointMappings::chooseRows() {
  // With accumulators of 32 floats, an SM still has room for many threads.
  // Where rows share nothing, more of them only take registers.
  constexpr int64_t mostRows = 8, mostPoints = 32, mostPointsApart = 8,
                    manyPoints = 16;
  if (!widest.hasLoops || widest.parallel.size() < 2 ||
      !hasLoop(*op.getBlock()) || hasLongThreads(chip))
    return;
  std::optional<unsigned> sliding = findDims();
  std::optional<int64_t> total = countPoints();
  int64_t extent = getRowExtent(widest.width);
  if (!total || chip.processors == 0)
    return;
  int64_t most = sliding ? mostPoints : mostPointsApart,
          mostThreads = chip.processors * chip.policy.simt.threadsOfUnit;
  auto countRows = [&](int64_t points) -> int64_t {
    for (int64_t count = std::min(mostRows, most / points); count > 1; --count)
      if (extent % count == 0 && count * points >= widest.width &&
          *total / points / count >= mostThreads)
        return count;
    return 1;
  };
  Block &body = *op.getBlock();
  choice.width = chooseNarrowWidth(*total);
  // A window along the contiguous dimension reads most elements one by one for
  // a wide vector.
  if (!sliding) {
    if (choice.width == widest.width && choice.width > 2) {
      choice.width /= 2;
      choice.rows = countRows(choice.width);
    }
    return;
  }
  // Where the windows of a pooling move by more than one element, neighbors
  // share few, and more threads with one row each are faster.
  if (!isDepthwise(body) && countLoops(body) <= 2 && !widest.isStrip &&
      getSlidingStride(body, *sliding) > 1) {
    choice.width =
        std::min(choice.width, std::max<int64_t>(widest.width / 2, 2));
    return;
  }
  choice.rows = countRows(choice.width);
  // Vectors of half the width at more positions share more of the filter of a
  // depthwise convolution; those of a pooling share nothing by that, and with
  // channels in another loop, the filter is a vector itself.
  if (!isDepthwise(body) || chooseLines(*total))
    return;
  for (int64_t points = choice.width / 2;
       points > 1 && points >= widest.width / 4; points /= 2)
    if (int64_t more = countRows(points); more > choice.rows) {
      choice.width = points;
      choice.rows = more;
      break;
    }
  // Registers are allocated to workgroups: smaller ones leave fewer of them
  // unused where each thread has many.
  if (choice.width * choice.rows > manyPoints &&
      choice.threads / 2 >= chip.subgroupSize)
    choice.threads /= 2;
}

int64_t PointMappings::getRowExtent(int64_t points) const {
  if (hasLongThreads(chip) || !widest.hasLoops ||
      (widest.isStrip && points == 1) || widest.parallel.size() < 2)
    return 1;
  return getExtent(widest.rowDim).value_or(1);
}

int64_t PointMappings::getLineExtent() const {
  return hasLines ? getExtent(widest.lineDim).value_or(1) : 1;
}

void PointMappings::chooseUnrolling(PointMapping &mapping) const {
  // A thread can hold so many registers of elements that it has not used yet.
  constexpr int64_t registers = 128;
  std::optional<int64_t> total = countPoints();
  if (!mapping.hasLoops || hasLongThreads(chip) || !total ||
      *total / mapping.width / mapping.rows >=
          chip.processors * chip.policy.simt.threadsOfUnit)
    return;
  int64_t perIteration = 0;
  op->getRegion(0).walk([&](memref::LoadOp load) {
    if (!load->getParentOfType<scf::ForOp>())
      return;
    int64_t bits = load.getMemRefType().getElementTypeBitWidth();
    perIteration += llvm::divideCeil(mapping.width * bits, 32) * mapping.rows;
  });
  if (perIteration != 0)
    mapping.unrolledIterations =
        std::max(mapping.unrolledIterations, registers / perIteration);
}

int64_t PointMappings::getMostThreads() const {
  return hasLongThreads(chip) ? 1 : chip.maxThreads;
}

WindowScheduleAttr PointMappings::getDefaultSchedule() const {
  return WindowScheduleAttr::get(op->getContext(), choice.width, choice.rows,
                                 choice.lines, choice.threads);
}

std::string PointMappings::explain(WindowScheduleAttr schedule) const {
  auto number = [](int64_t value) { return std::to_string(value); };
  int64_t points = schedule.getPoints(), rows = schedule.getRows(),
          lines = schedule.getLines(), threads = schedule.getThreads();
  if (points > getMostPoints())
    return "window_schedule_c3: points (" + number(points) +
           ") must be at most " + number(getMostPoints()) +
           ", the elements that a thread of " + chip.name +
           " can compute at a time here";
  if (int64_t extent = getRowExtent(points); extent % rows != 0)
    return extent == 1
               ? "window_schedule_c4: rows must be 1, not " + number(rows) +
                     ": a thread of " + chip.name + " can only have one row" +
                     (widest.isStrip && points == 1 ? " of one point here"
                                                    : " here")
               : "window_schedule_c4: rows (" + number(rows) +
                     ") must divide the extent of the output's "
                     "dimension that they are along, " +
                     number(extent);
  if (int64_t extent = getLineExtent(); extent % lines != 0)
    return extent == 1 ? "window_schedule_c4: lines must be 1, not " +
                             number(lines) + ": a thread of " + chip.name +
                             " can only have one line here"
                       : "window_schedule_c4: lines (" + number(lines) +
                             ") must divide the extent of the output's "
                             "dimension that they are along, " +
                             number(extent);
  if (threads > getMostThreads())
    return "window_schedule_c5: threads (" + number(threads) +
           ") must be at most " + number(getMostThreads()) +
           ", the limit of a workgroup of " + chip.name;
  return "";
}

PointMapping PointMappings::get(WindowScheduleAttr schedule) const {
  assert(explain(schedule).empty() && "the schedule is not legal");
  PointMapping mapping = widest;
  mapping.width = schedule.getPoints();
  mapping.rows = schedule.getRows();
  mapping.lines = schedule.getLines();
  mapping.threads = schedule.getThreads();
  if (mapping.isStrip && mapping.width == 1)
    mapping.hasLoops = mapping.isStrip = false;
  chooseUnrolling(mapping);
  return mapping;
}
