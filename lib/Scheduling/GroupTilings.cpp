//===- GroupTilings.cpp - Tilings for groups of subgroups -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chip has a few tilings, each with a measured speed. The time of a
// contraction with one of them is estimated as
//
//   start + max(waves * (max(multiply-adds of a tile / speed,
//                            bytes of its operands / cache bandwidth)
//                        + its epilogue + steps that the tiling does not have),
//               bytes / memory bandwidth of the busy SMs)
//
// where a wave is a tile for each SM. If the reduction is split into parts,
// another kernel reduces these, or the workgroups that computed them.
//
//===----------------------------------------------------------------------===//

#include "GroupTilings.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/OperandOrder.h"
#include "Dialect/Tessera/Utils/Window.h"
#include "Scheduling/ScheduleCheck.h"
#include "Target/NVIDIA/BulkCopies.h"
#include "Target/NVIDIA/BulkWindows.h"
#include "TargetInfo/Chip.h"
#include "TargetInfo/Nearest.h"

#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

/// The matmuls of at most so many steps hide neither the loads of the
/// epilogue's vectors nor those of a tile of its input.
static constexpr int64_t fewSteps = 2;

/// A step of at most so many bytes is short: epilogues of bytes are all of the
/// time.
static constexpr int64_t shortStep = 64;

namespace {

/// The problem that an estimate considers.
struct Problem {
  /// The extents of M, N and K, and the number of matrices in the batch.
  std::array<int64_t, 3> extents;
  int64_t batches;
  /// The size of an operand's element, and of the output's.
  int64_t operandBytes, outputBytes;
  /// The bytes of a column of the vectors along N that the epilogue reads.
  int64_t vectorBytes = 0;
  /// The factors by which lhs and rhs take longer to load than whole lines.
  std::array<double, 2> loadFactors;
};

/// The estimated time of a schedule in ns, and what takes most of it.
struct Estimate {
  double time = 0;
  StringRef limit;
};

class GroupTilings {
public:
  GroupTilings(ContractOp op, const Chip &chip, const MatrixForm &form,
               const std::array<int64_t, 3> &extents);
  /// The best schedule, or null if none is legal. `time`, if given, receives
  /// its estimated time in ns.
  ScheduleAttr choose(std::string *prediction, double *time = nullptr);
  /// See `forEachGroupSchedule`.
  void forEach(llvm::function_ref<void(ScheduleAttr)> visit);

private:
  void forEachOf(ScheduleDefaults tiling,
                 llvm::function_ref<void(ScheduleAttr)> visit);
  /// The schedule of `tiling` with the reduction split into `parts`, reduced in
  /// the given way, and with `cluster` workgroups along M and N that share
  /// tiles; null if it does not fit. `inPairs`: an SM has room for two of its
  /// workgroups, which have one tile each.
  ScheduleAttr make(const ScheduleDefaults &tiling, int64_t parts,
                    SplitReduction kind, std::array<int64_t, 2> cluster,
                    bool inPairs = false);
  bool permitsUnevenColumns(const ScheduleDefaults &tiling, int64_t k);
  /// Whether rhs is staged in panels of 128 bytes, or in ones of 64 that are
  /// all columns: two tiles of them load as many pieces as wider tiles, and
  /// were slower (2048x320x1280 takes 10.2 us on an H200 in tiles of 96
  /// columns, 7.2 of 128; 25088x160x864 takes 17 of 160).
  bool hasWidePanels(const ScheduleDefaults &tiling);
  /// Whether an instruction of the tiling computes the contraction, without
  /// columns of which most are not needed.
  bool fits(const ScheduleDefaults &tiling);
  /// Whether rules may choose it.
  bool suits(const ScheduleDefaults &tiling);
  /// The step along K of `tiling`: that of the table, or the largest smaller
  /// one for which TMA can load the gathered tiles.
  int64_t getStep(const ScheduleDefaults &tiling);
  /// Whether all that is gathered with this step is.
  bool gathersInBulk(const ScheduleDefaults &tiling, int64_t k);
  /// Whether TMA loads tiles of `rows` by `k` of a gathered operand.
  bool matchesBulkWindow(unsigned side, int64_t rows, int64_t k);
  /// The instruction of `tiling` with steps of `k` elements; null if there is
  /// none.
  const MatrixInstruction *select(const ScheduleDefaults &tiling, int64_t k);
  SmallVector<std::array<int64_t, 2>> getClusters(int64_t parts);
  /// Whether the registers of a lane have no room for the vectors along N that
  /// the epilogue reads, besides the sums.
  bool loadsVectorsLate(const ScheduleDefaults &tiling, ScheduleAttr schedule);
  Estimate estimate(const ScheduleDefaults &tiling, ScheduleAttr schedule);
  /// The bytes of the operands and the output in memory.
  double countBytes();
  /// Tiles along M and N, and of all matrices of the batch.
  std::array<int64_t, 3> countTiles(const ScheduleDefaults &tiling);
  int64_t chooseRaster(const ScheduleDefaults &tiling,
                       std::array<int64_t, 2> cluster);

  ContractOp op;
  const Chip &chip;
  const MatrixForm &form;
  ScheduleChecker checker;
  StagedLayout layout;
  Problem problem;
  /// The matmul of an instruction, except its shape.
  MatmulForm instruction;
  /// The windows of the operands; null for matrices.
  std::array<WindowAttr, 2> windows;
  /// The known results of `matchesBulkWindow`: tilings have few shapes.
  std::map<std::array<int64_t, 3>, bool> bulkWindows;
};

} // namespace

GroupTilings::GroupTilings(ContractOp op, const Chip &chip,
                           const MatrixForm &form,
                           const std::array<int64_t, 3> &extents)
    : op(op), chip(chip), form(form), checker(op, chip), layout(op, form),
      instruction{debugString(op.getFactorType(0)),
                  debugString(op.getFactorType(1)),
                  debugString(op.getAccumulatorType()), op.getPrecision()} {
  instruction.anyUnsigned = op.getUnsignedA() || op.getUnsignedB();
  // Dynamic extents are treated as large.
  constexpr int64_t large = 8192;
  auto known = [&](int64_t extent) {
    return ShapedType::isDynamic(extent) ? large : extent;
  };
  for (unsigned d : {0, 1, 2})
    problem.extents[d] = std::max<int64_t>(1, known(extents[d]));
  problem.batches = 1;
  for (unsigned d : form.batch) {
    int64_t extent = getStaticExtent(op, d);
    problem.batches *=
        ShapedType::isDynamic(extent) ? 1 : std::max<int64_t>(1, extent);
  }
  problem.operandBytes =
      std::max(getElementBytes(getElementTypeOrSelf(op.getLhs().getType())),
               getElementBytes(getElementTypeOrSelf(op.getRhs().getType())));
  problem.outputBytes =
      getElementBytes(getElementTypeOrSelf(op.getOutput().getType()));
  for (Value extra : op.getExtras())
    if (auto type = dyn_cast<MemRefType>(extra.getType());
        type && type.getRank() == 1 && type.getDimSize(0) == problem.extents[1])
      problem.vectorBytes += getElementBytes(type.getElementType());
  // For an image, a copy loads channels of one pixel: less than a cache line,
  // if there are few channels.
  for (unsigned side : {0, 1}) {
    int64_t bytes = chip.model.lineBytes;
    windows[side] = getWindow(op, form, side);
    if (WindowAttr window = windows[side])
      bytes = std::gcd(bytes, window.getCols().back() * problem.operandBytes);
    problem.loadFactors[side] =
        hasRowsOfMultiple(op, side, bytes) ? 1 : chip.model.splitLines;
  }
}

std::array<int64_t, 3>
GroupTilings::countTiles(const ScheduleDefaults &tiling) {
  auto count = [&](unsigned d) {
    return static_cast<int64_t>(
        llvm::divideCeil(problem.extents[d], tiling.workgroup[d]));
  };
  return {count(0), count(1), problem.batches};
}

bool GroupTilings::matchesBulkWindow(unsigned side, int64_t rows, int64_t k) {
  auto [known, isNew] = bulkWindows.try_emplace({side, rows, k}, false);
  if (isNew && windows[side]) {
    auto image = cast<ShapedType>((side ? op.getRhs() : op.getLhs()).getType());
    std::string why;
    known->second =
        matchBulkWindow(windows[side], image, {rows, k}, chip, why).has_value();
  }
  return known->second;
}

bool GroupTilings::gathersInBulk(const ScheduleDefaults &tiling, int64_t k) {
  return llvm::all_of(llvm::seq(2u), [&](unsigned side) {
    return !form.gather[side] ||
           matchesBulkWindow(side, tiling.workgroup[side], k);
  });
}

const MatrixInstruction *GroupTilings::select(const ScheduleDefaults &tiling,
                                              int64_t k) {
  instruction.m = tiling.subgroup[0];
  instruction.n = tiling.subgroup[1];
  instruction.k = k;
  instruction.subgroups = tiling.group;
  instruction.aInMemory = !loadsLhsToRegisters(op, form, chip, tiling.group);
  return selectInstruction(chip, instruction);
}

int64_t GroupTilings::getStep(const ScheduleDefaults &tiling) {
  int64_t whole = tiling.kBytes / problem.operandBytes;
  for (int64_t k = whole; k * problem.operandBytes >= 32; k /= 2)
    if (gathersInBulk(tiling, k)) {
      // Not a panel of zeros, where K is short: the shortest row that is
      // swizzled has 32 bytes.
      while (problem.extents[2] <= k / 2 && k * problem.operandBytes > 32 &&
             gathersInBulk(tiling, k / 2))
        k /= 2;
      return k;
    }
  return whole;
}

/// Whether a number of columns that is not a power of two pays: measured on an
/// H200 (docs/benchmarks/h200-schedules.md), it takes up to 1.5 times as long
/// where rows are not whole lines or an output's rows are not stored in bulk,
/// and with few steps or columns.
bool GroupTilings::permitsUnevenColumns(const ScheduleDefaults &tiling,
                                        int64_t k) {
  int64_t columns = problem.extents[1];
  return problem.loadFactors[0] == 1 && problem.loadFactors[1] == 1 &&
         columns * problem.outputBytes % chip.accessBytes == 0 &&
         columns >= tiling.workgroup[1] &&
         (problem.operandBytes >= 2 || tiling.sumsApart) &&
         problem.extents[2] > fewSteps * k;
}

bool GroupTilings::suits(const ScheduleDefaults &tiling) {
  return (llvm::isPowerOf2_64(static_cast<uint64_t>(tiling.workgroup[1])) ||
          permitsUnevenColumns(tiling, getStep(tiling))) &&
         fits(tiling);
}

bool GroupTilings::hasWidePanels(const ScheduleDefaults &tiling) {
  constexpr int64_t widest = 128;
  int64_t bytes = tiling.workgroup[1] * problem.operandBytes;
  return layout.isTransposed[1] || bytes <= widest || bytes % widest == 0 ||
         problem.extents[1] == tiling.workgroup[1];
}

bool GroupTilings::fits(const ScheduleDefaults &tiling) {
  if (!hasWidePanels(tiling))
    return false;
  // Two instructions' rows of lhs in registers leave the matrix unit idle while
  // they are loaded: 4096 cubed takes 389 us on an H200 in tf32 by 256x128 of
  // 128x128, and 345 by 128x256 of 64x256.
  constexpr int64_t instructionRows = 64;
  if (tiling.subgroup[0] > instructionRows &&
      loadsLhsToRegisters(op, form, chip, tiling.group))
    return false;
  int64_t k = getStep(tiling);
  const MatrixInstruction *row = select(tiling, k);
  if (!row || row->sumsApart(op.getPrecision()) != tiling.sumsApart ||
      !hasOrder(op, form, 0, *row) || !hasOrder(op, form, 1, *row) ||
      !op.getProducer(0).empty() || !op.getProducer(1).empty())
    return false;
  // The shortest row that is swizzled: half of it would be zeros.
  constexpr int64_t shortest = 32;
  if (problem.extents[2] * problem.operandBytes * 2 <= shortest)
    return false;
  // With few rows we waste MMAs, but are memory bound anyway; for few columns
  // we prefer a narrower instruction.
  int64_t columns = std::min<int64_t>(tiling.subgroup[1], 64);
  return problem.extents[1] > columns / 2;
}

/// Tiles of a wave are visited in bands of the height that minimizes the rows
/// and columns of elements that they read: about as many rows as columns. All
/// bands have the same height, since a wave within a low one reads many columns
/// (2560x5120x2560 in bands of 8, 8 and 4 takes 1.3 times as long as in two of
/// 10), if such a height exists near the best one.
int64_t GroupTilings::chooseRaster(const ScheduleDefaults &tiling,
                                   std::array<int64_t, 2> cluster) {
  auto [m, n, batches] = countTiles(tiling);
  if (m * n <= chip.processors || chip.processors == 0)
    return 0;
  double square = std::sqrt(double(chip.processors) * tiling.workgroup[1] /
                            tiling.workgroup[0]);
  int64_t bands = std::max<int64_t>(1, std::lround(double(m) / square)),
          rows = llvm::alignTo(llvm::divideCeil(m, bands), cluster[0]);
  double nearest = 1.6;
  for (int64_t even = cluster[0]; even <= m; even += cluster[0]) {
    double ratio = std::max(even / square, square / even);
    if (m % even == 0 && ratio < nearest) {
      rows = even;
      nearest = ratio;
    }
  }
  return rows < m ? rows : 0;
}

/// Whether the epilogue reads an operand with an element for each of the
/// output's.
static bool hasInputLikeOutput(ContractOp op) {
  auto output = dyn_cast<MemRefType>(op.getOutput().getType());
  return output && llvm::any_of(op.getExtras(), [&](Value extra) {
           auto type = dyn_cast<MemRefType>(extra.getType());
           return type && type.getElementType() == output.getElementType() &&
                  type.getShape() == output.getShape();
         });
}

ScheduleAttr GroupTilings::make(const ScheduleDefaults &tiling, int64_t parts,
                                SplitReduction kind,
                                std::array<int64_t, 2> cluster, bool inPairs) {
  // Each workgroup of a cluster adds up its share of the columns, in the layout
  // of an instruction.
  if (parts > 1 && kind == SplitReduction::Cluster &&
      !llvm::isPowerOf2_64(static_cast<uint64_t>(tiling.workgroup[1])))
    return {};
  int64_t k = getStep(tiling), whole = tiling.kBytes / problem.operandBytes;
  auto [m, n, batches] = countTiles(tiling);
  int64_t wave = chip.processors, units = m * n * batches * parts;
  // If all threads copy, a workgroup's next tile cannot start early.
  bool persistent = !inPairs && chip.bulkCopies && wave > 0 && units > wave &&
                    gathersInBulk(tiling, k);
  bool mayStage =
      parts == 1 && !isPacked(getElementTypeOrSelf(op.getOutput().getType()));
  // A workgroup that has one tile needs no more slots than steps.
  int64_t steps = llvm::divideCeil(problem.extents[2], k * parts),
          // The same number of bytes in flight, independent of the step.
      all = tiling.stages * whole / k,
          most = persistent ? all : std::min(all, std::max<int64_t>(steps, 1));
  // With few steps, vectors are loaded once, if all tiles of a workgroup are in
  // the same columns; the next tile of the input has memory of its own.
  constexpr int64_t fewColumns = 4;
  bool hasColumn = persistent && problem.vectorBytes > 0 && steps <= fewSteps &&
                   n <= fewColumns && wave % n == 0 &&
                   cluster == std::array<int64_t, 2>{1, 1};
  // With few steps, the time is that of the epilogue: neighboring tiles read
  // and write whole rows of a matrix like the output.
  bool hasRows = persistent && steps <= fewSteps && hasInputLikeOutput(op) &&
                 cluster == std::array<int64_t, 2>{1, 1};
  int64_t raster = hasColumn || hasRows ? 1 : chooseRaster(tiling, cluster);
  // As many slots as fit into workgroup memory, including their barriers.
  int64_t room = chip.workgroupMemoryBytes - swizzlePatternBytes;
  if (inPairs)
    room =
        chip.unit.memoryBytes / 2 - chip.unit.systemBytes - swizzlePatternBytes;
  ScheduleFields fields;
  fields.workgroup = tiling.workgroup;
  fields.subgroup = tiling.subgroup;
  fields.k = fields.kFragment = k;
  fields.swizzle = true;
  fields.splitK = parts;
  fields.splitKReduction = kind;
  fields.raster = raster;
  fields.persistent = persistent ? wave : 0;
  fields.subgroupsPerFragment = tiling.group;
  fields.cluster = cluster;
  // With fewer than three slots, matmuls wait for copies.
  auto makeWith = [&](bool stageOutput, int64_t least,
                      int64_t outputTiles = 1) -> ScheduleAttr {
    fields.stageOutput = stageOutput;
    for (int64_t stages = most; stages >= std::min(most, least); --stages) {
      fields.stages = stages;
      StagedTiles tiles = layout.getTiles(fields, chip);
      if (tiles.bytes + outputTiles * tiles.outputBytes > room)
        continue;
      auto schedule = ScheduleAttr::get(op.getContext(), fields);
      return checker.isLegal(schedule) ? schedule : ScheduleAttr();
    }
    return {};
  };
  if (problem.outputBytes <= 2) {
    if (mayStage && persistent && steps <= fewSteps && hasInputLikeOutput(op))
      if (ScheduleAttr schedule = makeWith(true, 3, /*outputTiles=*/2))
        return schedule;
    return makeWith(mayStage, 3);
  }
  // Elements of 4 bytes are stored from registers in whole sectors of memory:
  // they are staged in workgroup memory if it has room, and the next tile
  // overlaps.
  if (mayStage && persistent)
    if (ScheduleAttr schedule = makeWith(true, 4))
      return schedule;
  return makeWith(false, 3);
}

double GroupTilings::countBytes() {
  double bytes = 0, batches = double(problem.batches);
  std::array<double, 3> assumed{
      double(problem.extents[0]) * double(problem.extents[2]) * batches,
      double(problem.extents[2]) * double(problem.extents[1]) * batches,
      double(problem.extents[0]) * double(problem.extents[1]) * batches};
  for (unsigned operand : {0, 1, 2}) {
    auto type = cast<ShapedType>(op.getMappedOperands()[operand].getType());
    bytes += (type.hasStaticShape() ? double(type.getNumElements())
                                    : assumed[operand]) *
             double(operand == 2 ? problem.outputBytes : problem.operandBytes);
  }
  return bytes;
}

bool GroupTilings::loadsVectorsLate(const ScheduleDefaults &tiling,
                                    ScheduleAttr schedule) {
  if (!chip.bulkCopies || problem.vectorBytes == 0)
    return false;
  const MatrixInstruction *row = select(tiling, schedule.getK());
  if (!row)
    return false;
  int64_t lanes = tiling.group * chip.subgroupSize,
          threads = schedule.getNumSubgroups() * chip.subgroupSize,
          sums = tiling.subgroup[0] * tiling.subgroup[1] / lanes,
          columns = row->accMap.dropDimension(0).getNumRegisters() *
                    tiling.subgroup[1] / row->n;
  RegisterShares shares = shareRegisters(
      threads, countProducerThreads(threads, chip, /*carries=*/true),
      reserveOfCarriers, chip);
  return sums + registersOfSteps + problem.vectorBytes * columns / 4 >
         shares.taken;
}

Estimate GroupTilings::estimate(const ScheduleDefaults &tiling,
                                ScheduleAttr schedule) {
  const PerformanceModel &rates = chip.model;
  double m = double(problem.extents[0]), n = double(problem.extents[1]),
         k = double(problem.extents[2]), batches = double(problem.batches),
         parts = double(schedule.getSplitK()),
         area = double(tiling.workgroup[0]) * double(tiling.workgroup[1]);
  // A cluster is whole, also where some of its workgroups have no tile.
  auto [tilesM, tilesN, tilesZ] = countTiles(tiling);
  tilesM = llvm::alignTo(tilesM, schedule.getClusterM());
  tilesN = llvm::alignTo(tilesN, schedule.getClusterN());
  double processors = double(std::max<int64_t>(chip.processors, 1)),
         units = double(tilesM) * double(tilesN) * double(tilesZ) * parts,
         waves = std::ceil(units / processors),
         steps = std::ceil(k / parts / double(schedule.getK()));
  // Rates are those of operands of two bytes.
  double rate = rates.mma * tiling.speed * 2.0 / double(problem.operandBytes),
         along = steps * double(schedule.getK()),
         whole = double(tiling.kBytes) / double(problem.operandBytes),
         busy = std::min(units, processors),
         loads = along * double(problem.operandBytes) *
                 (double(tiling.workgroup[0]) * problem.loadFactors[0] /
                      double(schedule.getClusterN()) +
                  double(tiling.workgroup[1]) * problem.loadFactors[1] /
                      double(schedule.getClusterM())),
         products = area * along / rate,
         copies =
             std::max(loads * busy / rates.tiles, loads / rates.processorTiles),
         mmaTime = std::max(products, copies) +
                   rates.step * (steps - std::min(steps, along / whole));
  // Nothing hides the loads of lhs to registers of one group alone.
  bool isAlone = tiling.workgroup[0] == tiling.subgroup[0] &&
                 tiling.workgroup[1] == tiling.subgroup[1];
  constexpr double loadOfLhs = 150;
  if (isAlone && loadsLhsToRegisters(op, form, chip, tiling.group))
    mmaTime += loadOfLhs * along / whole;
  // Between tiles, some subgroups continue with steps that have been loaded
  // while others store their tiles: as many as there are slots besides those in
  // use.
  constexpr double slotsInUse = 3;
  double between = rates.tile + area * rates.epilogue, hidden = 0;
  bool isShort = schedule.getPersistent() && problem.outputBytes == 1 &&
                 k * double(problem.operandBytes) <= double(shortStep);
  int64_t groups = schedule.getNumSubgroups() / tiling.group;
  if (isShort)
    between = area * rates.epilogue *
              (groups > 2    ? rates.epilogueOfMore
               : groups == 2 ? rates.epilogueOfTwo
                             : 2 * rates.epilogueOfTwo);
  else if (schedule.getPersistent() && steps <= double(fewSteps) &&
           loadsVectorsLate(tiling, schedule))
    between += area * rates.epilogue * rates.lateVectors;
  if (isShort)
    hidden = std::min(between, mmaTime);
  else if (schedule.getPersistent())
    hidden = std::min(between,
                      std::max(0.0, double(schedule.getStages()) - slotsInUse) *
                          mmaTime / steps);
  double ofTile = mmaTime + between - hidden;
  double bytes = countBytes(),
         // The average number of busy SMs in a wave.
      memory =
          bytes / std::min(rates.memory, units / waves * rates.processorMemory);
  // Overlap is imperfect: part of the shorter phase is still exposed.
  double all = waves * ofTile + hidden,
         time =
             rates.start + std::max(all, memory) + 0.02 * std::min(all, memory);
  StringRef limit = memory > all                        ? "memory"
                    : rates.start > all                 ? "the kernel's start"
                    : between - hidden > mmaTime        ? "the epilogue"
                    : copies > products                 ? "loads of tiles"
                    : waves * processors > 1.25 * units ? "idle units"
                                                        : "the matrix unit";
  // Those that share tiles wait for each other.
  if (schedule.getNumClustered() > 1)
    time *= 1 + rates.sharing;
  if (schedule.addsInCluster())
    time += area * 4 / rates.clusterMemory;
  else if (parts > 1)
    // Measured on an H100: 192x80x1848 takes 6.8 us whole and 4.4 in 4 parts.
    time += rates.start * 0.6 + 2 * parts * batches * m * n * 4 / rates.memory;
  return {time, limit};
}

/// The numbers of workgroups along M and N that may share tiles: if rows are
/// not whole cache lines, since sharing saves loading the rest of these lines.
/// Otherwise the matrix unit is the limit.
SmallVector<std::array<int64_t, 2>> GroupTilings::getClusters(int64_t parts) {
  SmallVector<std::array<int64_t, 2>> clusters{{1, 1}};
  int64_t count = chip.model.clusterParts;
  if (parts > 1 || count == 1)
    return clusters;
  if (problem.loadFactors[0] > 1)
    clusters.push_back({1, count});
  if (problem.loadFactors[1] > 1)
    clusters.push_back({count, 1});
  return clusters;
}

ScheduleAttr GroupTilings::choose(std::string *prediction, double *time) {
  ScheduleAttr best, second;
  Estimate least, next;
  for (const ScheduleDefaults &tiling : chip.policy.groupDefaults) {
    if (!suits(tiling))
      continue;
    for (int64_t parts : partsOfK) {
      auto [m, n, batches] = countTiles(tiling);
      // Parts are only useful if SMs are idle otherwise.
      if (parts > 1 && (op.reducesRows() || chip.processors == 0 ||
                        m * n * batches * parts > chip.processors))
        break;
      for (SplitReduction kind :
           {SplitReduction::Ordered, SplitReduction::Cluster}) {
        if (kind == SplitReduction::Cluster && parts != chip.model.clusterParts)
          continue;
        for (std::array<int64_t, 2> cluster : getClusters(parts)) {
          ScheduleAttr schedule = make(tiling, parts, kind, cluster);
          if (!schedule)
            continue;
          Estimate its = estimate(tiling, schedule);
          if (!best || its.time < least.time) {
            second = std::exchange(best, schedule);
            next = std::exchange(least, its);
          } else if (!second || its.time < next.time) {
            second = schedule;
            next = its;
          }
        }
      }
    }
  }
  if (time && best)
    *time = least.time;
  if (prediction && best) {
    constexpr double nsOfUs = 1000;
    llvm::raw_string_ostream os(*prediction);
    os << llvm::format("%.1f us, limited by ", least.time / nsOfUs)
       << least.limit;
    if (second)
      os << llvm::format("; the next best, %.1f us: ", next.time / nsOfUs)
         << second;
  }
  return best;
}

ScheduleAttr mlir::tessera::chooseGroupSchedule(
    ContractOp op, const Chip &chip, const MatrixForm &form,
    const std::array<int64_t, 3> &extents, std::string *prediction) {
  for (unsigned side : {0, 1})
    if (!hasAlignedRows(op, side, chip))
      return {};
  return GroupTilings(op, chip, form, extents).choose(prediction);
}

double mlir::tessera::estimateByRules(ContractOp op, const Chip &chip) {
  double time = std::numeric_limits<double>::infinity();
  if (hasAlignedRows(op, 0, chip) && hasAlignedRows(op, 1, chip)) {
    MatrixForm form = getMatrixForm(op);
    GroupTilings(op, chip, form, getStaticExtents(op, form))
        .choose(/*prediction=*/nullptr, &time);
  }
  return time;
}

void GroupTilings::forEachOf(ScheduleDefaults tiling,
                             llvm::function_ref<void(ScheduleAttr)> visit) {
  // More workgroups than SMs are rarely of use to add up.
  constexpr int64_t mostRounds = 2;
  // The model was not fitted to loads of lhs to registers, which nothing hides
  // in one group alone.
  if (!fits(tiling) || (tiling.workgroup == tiling.subgroup &&
                        loadsLhsToRegisters(op, form, chip, tiling.group)))
    return;
  // The sums of two workgroups, besides all else in the registers of an SM.
  constexpr int64_t mostOfPair = 128 * 128;
  auto [m, n, batches] = countTiles(tiling);
  int64_t tiles = m * n * batches;
  for (int64_t bytes : {128, 256}) {
    tiling.kBytes = bytes;
    for (int64_t parts : partsOfK) {
      if (parts > 1 &&
          (op.reducesRows() || tiles * parts > mostRounds * chip.processors))
        break;
      auto add = [&](SplitReduction kind, std::array<int64_t, 2> cluster,
                     bool inPairs = false) {
        if (ScheduleAttr schedule = make(tiling, parts, kind, cluster, inPairs))
          visit(schedule);
      };
      add(SplitReduction::Ordered, {1, 1});
      // Where K is a few steps, only a persistent workgroup loads its next tile
      // while it stores one.
      bool isShort = problem.extents[2] <= fewSteps * parts * getStep(tiling);
      if (tiles * parts > chip.processors && !isShort &&
          tiling.workgroup[0] * tiling.workgroup[1] <= mostOfPair)
        add(SplitReduction::Ordered, {1, 1}, /*inPairs=*/true);
      if (parts == 1) {
        add(SplitReduction::Ordered, {2, 1});
        add(SplitReduction::Ordered, {1, 2});
      } else if (parts <= 2 * chip.model.clusterParts) {
        add(SplitReduction::Cluster, {1, 1});
      }
    }
  }
}

void GroupTilings::forEach(llvm::function_ref<void(ScheduleAttr)> visit) {
  for (const ScheduleDefaults &tiling : chip.policy.groupDefaults)
    forEachOf(tiling, visit);
  for (const ScheduleDefaults &tiling : chip.policy.comparedTilings)
    forEachOf(tiling, visit);
}

void mlir::tessera::forEachGroupSchedule(
    ContractOp op, const Chip &chip,
    llvm::function_ref<void(ScheduleAttr)> visit) {
  for (unsigned side : {0, 1})
    if (!hasAlignedRows(op, side, chip))
      return;
  MatrixForm form = getMatrixForm(op);
  GroupTilings(op, chip, form, getStaticExtents(op, form)).forEach(visit);
}
