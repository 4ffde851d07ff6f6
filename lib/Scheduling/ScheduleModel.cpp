//===- ScheduleModel.cpp - The time that a schedule takes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The time of a step of an SM is the longest of the times that its resources
// need for the workgroups that it has, or rather a norm of them,
//
//   multiply-adds, reads of workgroup memory, loads, single loads,
//   loads of all SMs from the cache, latency / steps in flight
//
// and the time of a matmul
//
//   start + norm(rounds * (tile + steps * step + stores), memory)
//         + adding up parts + copies of operands
//
//===----------------------------------------------------------------------===//

#include "Scheduling/ScheduleModel.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Window.h"
#include "Scheduling/ScheduleCheck.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

/// The threads that use all matrix units of an SM.
static constexpr double threadsOfUnit = 128;
/// Registers of a thread besides accumulators.
static constexpr double otherRegisters = 88;

static MatmulRate getRate(ContractOp op) {
  Type type = op.getFactorType(0);
  if (type.isInteger())
    return MatmulRate::Integer8;
  switch (getElementBytes(type)) {
  case 1:
    return MatmulRate::Float8;
  case 4:
    return MatmulRate::Tf32;
  case 8:
    return MatmulRate::Double;
  default:
    return MatmulRate::Half;
  }
}

ScheduledMatmul::ScheduledMatmul(ContractOp op, const Chip &chip) {
  MatrixForm form = getMatrixForm(op);
  std::array<int64_t, 3> known = getStaticExtents(op, form);
  for (unsigned d : {0, 1, 2})
    extents[d] = double(std::max<int64_t>(1, known[d]));
  matrices = double(getLinearExtent(op, form.batch));
  rate = ::getRate(op);
  SmallVector<const MatrixInstruction *> groups;
  for (const ScheduleDefaults &tiling : chip.policy.groupDefaults)
    if (groups.empty())
      groups = getPermittedInstructions(op, form, chip, tiling.group);
  for (unsigned side : {0, 1}) {
    auto type = cast<ShapedType>((side ? op.getRhs() : op.getLhs()).getType());
    operandBytes[side] = double(getElementBytes(type.getElementType()));
    double elements = type.hasStaticShape() ? double(type.getNumElements()) : 0;
    bytes += elements * operandBytes[side];
    int64_t line = std::max<int64_t>(chip.model.lineBytes, 1);
    if (WindowAttr window = getWindow(op, form, side))
      line =
          std::gcd(line, window.getCols().back() * int64_t(operandBytes[side]));
    splitsLines[side] = !hasRowsOfMultiple(op, side, line);
    isGathered |= form.gather[side];
    bool isAligned = hasAlignedRows(op, side, chip);
    // Rows of an image's pixels are as long as its channels.
    int64_t row = chip.accessBytes;
    if (WindowAttr window = getWindow(op, form, side))
      row =
          std::gcd(row, window.getCols().back() * int64_t(operandBytes[side]));
    else
      while (row > 1 && !hasRowsOfMultiple(op, side, row))
        row /= 2;
    isHeld[side] = row < chip.asyncCopyBytes || !op.getProducer(side).empty();
    // Shifted accesses read twice.
    accessBytes[side] = !isHeld[side]       ? double(row)
                        : form.gather[side] ? operandBytes[side]
                                            : double(chip.accessBytes) / 2;
    isBulk[side] = !form.gather[side] || row == chip.accessBytes;
    isAcross[side] = isStoredTransposed(op, form, side) == (side == 0);
    bool isOrdered = llvm::any_of(groups, [&](const MatrixInstruction *row) {
      return hasOrder(op, form, side, *row);
    });
    loadsSingles[side] = operandBytes[side] == 1 && isAcross[side];
    if (form.gather[side] || (isAligned && isOrdered))
      continue;
    isCopied[side] = true;
    ++copies;
    copiedBytes += 2 * elements * operandBytes[side];
    if (!isOrdered)
      transposedElements += elements;
  }
  Type output = getElementTypeOrSelf(op.getOutput().getType());
  outputBytes = double(getElementBytes(output));
  int64_t row = chip.accessBytes;
  while (row > getElementBytes(output) && !hasRowsOfMultiple(op, 2, row))
    row /= 2;
  storeBytes = double(row);
  sumBytes = double(getElementBytes(op.getAccumulatorType()));
  double outputs = matrices * extents[0] * extents[1];
  bytes += outputs * outputBytes;
  auto countBytes = [](Value value) {
    auto type = cast<ShapedType>(value.getType());
    return type.hasStaticShape()
               ? double(type.getNumElements()) *
                     double(getElementBytes(type.getElementType()))
               : 0.0;
  };
  epilogueOps = double(op.getEpilogue().front().getOperations().size());
  extras = double(op.getExtras().size());
  for (Value extra : op.getExtras()) {
    extraBytes += countBytes(extra) / outputs;
    bytes += countBytes(extra);
  }
  for (unsigned side : {0, 1}) {
    ValueRange inputs = side ? op.getRhsInputs() : op.getLhsInputs();
    producerInputs[side] = double(inputs.size());
    for (Value input : inputs)
      bytes += countBytes(input);
    if (Region &producer = op.getProducer(side); !producer.empty())
      producerOps[side] = double(producer.front().getOperations().size());
  }
}

/// Whether lanes load bytes of a rhs with N along the rows two columns at a
/// time, for subgroups with so many columns.
static bool hasColumnPairs(const Chip &chip, int64_t columns) {
  return llvm::any_of(chip.instructions, [&](const MatrixInstruction &row) {
    return row.pairsColumns && columns % row.n == 0;
  });
}

ScheduleWork mlir::tessera::describeWork(const ScheduledMatmul &matmul,
                                         const ScheduleFields &fields,
                                         const Chip &chip) {
  ScheduleWork work;
  double bm = double(fields.workgroup[0]), bn = double(fields.workgroup[1]),
         sm = double(fields.subgroup[0]), sn = double(fields.subgroup[1]),
         k = double(fields.k), group = double(fields.subgroupsPerFragment);
  auto [m, n, depth] = matmul.extents;
  work.isGroup = fields.subgroupsPerFragment > 1;
  work.rate = matmul.rate;
  work.parts = double(fields.splitK);
  double tilesM = std::ceil(m / bm), tilesN = std::ceil(n / bn),
         clusterM = double(fields.cluster[0]),
         clusterN = double(fields.cluster[1]),
         matrices = std::ceil(matmul.matrices / double(fields.batches));
  // A cluster is whole, also where some of its workgroups have no tile.
  tilesM = std::ceil(tilesM / clusterM) * clusterM;
  tilesN = std::ceil(tilesN / clusterN) * clusterN;
  work.processors = double(std::max<int64_t>(chip.processors, 1));
  work.units = tilesM * tilesN * matrices * work.parts;
  double tiles = std::ceil(bm / sm) * std::ceil(bn / sn),
         threads = tiles * group * double(chip.subgroupSize);
  work.threads = threads;
  std::array<double, 2> extents{bm, bn};
  std::array<bool, 2> splits = matmul.splitsLines;
  for (unsigned side : {0, 1}) {
    double loaded =
        extents[side] * k * matmul.operandBytes[side] * double(fields.batches);
    work.staged += loaded;
    if (matmul.loadsSingles[side] && !work.isGroup &&
        !(side == 1 && hasColumnPairs(chip, fields.subgroup[1]))) {
      // No instruction transposes elements of one byte.
      double sharing = side ? std::ceil(bm / sm) : std::ceil(bn / sn);
      work.singles = std::max(work.singles, extents[side] * sharing * k /
                                                double(chip.subgroupSize));
    }
    if (work.isGroup && matmul.isCopied[side])
      splits[side] = false;
    if (!work.isGroup || !matmul.isBulk[side])
      (matmul.isHeld[side] ? work.heldAccesses : work.accesses) +=
          loaded / matmul.accessBytes[side];
    loaded /= double(fields.cluster[1 - side]);
    work.loaded += loaded;
    if (splits[side])
      work.splits += loaded;
  }
  work.steps = std::max(1.0, std::ceil(depth / work.parts / k));
  work.products = bm * bn * k * double(fields.batches);
  // An instruction of a group reads operands itself, for 64 rows.
  constexpr double rowsOfGroup = 64;
  double reads = work.isGroup ? sm + sn * std::ceil(sm / rowsOfGroup) : sm + sn;
  work.shared = tiles * reads * k *
                std::max(matmul.operandBytes[0], matmul.operandBytes[1]);
  bool isWhole = work.parts == 1;
  work.stored = bm * bn * double(fields.batches) *
                (isWhole ? matmul.outputBytes : matmul.sumBytes);
  double element = isWhole ? matmul.outputBytes : matmul.sumBytes,
         widest = std::min(isWhole ? matmul.storeBytes : 16, 2 * element);
  // Lanes have two neighboring elements of a row, unless tiles are staged.
  if (fields.stageOutput)
    widest = matmul.storeBytes;
  work.stores = work.stored / widest;
  work.registers =
      sm * sn * matmul.sumBytes / 4 / (group * double(chip.subgroupSize)) +
      otherRegisters;
  if (work.isGroup)
    work.registers += double(chip.subgroupSize);
  work.isPersistent = fields.persistent > 0;
  work.isClustered = clusterM * clusterN > 1;
  work.isGathered = matmul.isGathered;
  work.addsInCluster =
      !isWhole && fields.splitKReduction == SplitReduction::Cluster;
  work.sums = isWhole ? 0 : matmul.matrices * m * n * matmul.sumBytes;
  work.sumsOfTile = isWhole ? 0 : bm * bn * matmul.sumBytes;
  work.bytes = matmul.bytes;
  if (work.isGroup) {
    work.copies = matmul.copies;
    work.copiedBytes = matmul.copiedBytes;
    work.transposedElements = matmul.transposedElements;
  }
  changeStages(work, matmul, fields, chip);
  return work;
}

void mlir::tessera::changeStages(ScheduleWork &work,
                                 const ScheduledMatmul &matmul,
                                 const ScheduleFields &fields,
                                 const Chip &chip) {
  work.ahead = std::max(1.0, std::min(double(fields.stages) - 1, work.steps));
  // A producer computes with what a step loads, which then does not run ahead.
  work.isSerial =
      !work.isGroup && (fields.stages <= 1 || matmul.producerOps[0] > 0 ||
                        matmul.producerOps[1] > 0);
  double memory = double(fields.stages) * work.staged +
                  (fields.stageOutput ? work.stored : 0);
  work.resident =
      double(chip.unit.subgroups * chip.subgroupSize) / work.threads;
  if (memory > 0 && chip.unit.memoryBytes > 0)
    work.resident =
        std::min(work.resident, double(chip.unit.memoryBytes) /
                                    (memory + double(chip.unit.systemBytes)));
  if (chip.registersPerWorkgroup > 0)
    work.resident = std::min(
        work.resident,
        double(chip.registersPerWorkgroup) /
            (work.threads *
             std::min(work.registers, double(chip.registersPerThread))));
  work.resident = std::max(1.0, std::floor(work.resident));
  if (work.isPersistent)
    work.resident = 1;
}

/// The sum of limits of which mainly the largest counts: the fourth root of
/// their fourth powers.
static double addLimits(ArrayRef<double> limits) {
  double sum = 0;
  for (double limit : limits)
    sum += limit * limit * limit * limit;
  return std::sqrt(std::sqrt(sum));
}

/// The names of the limits of a step.
static constexpr StringRef limitNames[numStepLimits] = {
    "the matrix unit",   "workgroup memory", "loads of tiles",
    "single loads",      "the cache",        "the latency of loads",
    "accesses of lanes", "accesses of lanes"};

namespace {
/// Estimates the phases of a schedule's work.
class WorkTimes {
public:
  WorkTimes(const ScheduleWork &work, const ScheduleRates &rates)
      : work(work), rates(rates), kind(work.isGroup ? 1 : 0),
        loaded(work.loaded + (rates.splitLines - 1) * work.splits) {
    if (work.isGathered)
      loaded *= rates.gathered;
  }

  /// The limits of a step where an SM has so many workgroups.
  std::array<double, numStepLimits> getLimits(double together) const;
  double getStep(double together) const;
  double getStores(double together) const;
  /// A round with so many workgroups on each SM.
  double getRound(double together) const {
    return rates.tile[kind] + rates.latency[kind] +
           work.steps * getStep(together) + getStores(together);
  }
  double getRounds() const;
  double getSums() const;
  /// All of memory, for the busy SMs.
  double getMemory() const {
    double busy = std::min(work.units, work.processors);
    return work.bytes / std::min(rates.memory, busy * rates.processorMemory);
  }
  /// The time of everything, given that of all rounds.
  double getAll(double ofRounds) const;

private:
  const ScheduleWork &work;
  const ScheduleRates &rates;
  size_t kind;
  double loaded;
};
} // namespace

std::array<double, numStepLimits> WorkTimes::getLimits(double together) const {
  // A subgroup has a quarter of the matrix units.
  double share = std::min(1.0, together * work.threads / threadsOfUnit);
  return {together * work.products /
              (share * rates.products[size_t(work.rate)][kind]),
          together * work.shared / rates.shared[kind],
          together * loaded / rates.loaded[kind],
          together * work.singles * rates.single,
          std::min(work.units, work.processors * together) * loaded /
              rates.cache,
          rates.latency[kind] / work.ahead +
              work.heldAccesses / work.threads * rates.laneAccess,
          std::max(together * rates.access, rates.laneCopy / work.threads) *
              work.accesses,
          together * work.heldAccesses * rates.heldAccess};
}

double WorkTimes::getStep(double together) const {
  std::array<double, numStepLimits> limits = getLimits(together);
  double waiting = 0;
  if (work.isSerial)
    waiting = std::exchange(limits[size_t(StepLimit::Latency)], 0);
  return addLimits(limits) + waiting + rates.step[kind];
}

double WorkTimes::getStores(double together) const {
  return addLimits({together * work.stored / rates.stored[kind],
                    together * work.stores * rates.store,
                    work.stores / work.threads * rates.laneStore});
}

/// All rounds of an SM.
double WorkTimes::getRounds() const {
  if (work.isPersistent) {
    double rounds = std::ceil(work.units / work.processors),
           between = rates.tile[kind] + getStores(1);
    return rates.latency[kind] + between + rounds * work.steps * getStep(1) +
           (rounds - 1) * between * rates.exposed;
  }
  double ofRound = work.processors * work.resident,
         full = std::floor(work.units / ofRound),
         rest = work.units - full * ofRound,
         last = std::ceil(rest / work.processors),
         ofFull = full > 0 ? getRound(work.resident) : 0;
  double all = full * ofFull;
  if (rest > 0)
    all += full > 0 && last == work.resident ? ofFull : getRound(last);
  return all;
}

double WorkTimes::getSums() const {
  if (work.addsInCluster)
    return rates.clusterWait + work.sumsOfTile / rates.clusterSums;
  if (work.parts > 1)
    return rates.startOfSums + 2 * work.parts * work.sums / rates.sums;
  return 0;
}

double WorkTimes::getAll(double ofRounds) const {
  double time = rates.start + addLimits({ofRounds, getMemory()}) + getSums();
  if (work.isClustered)
    time *= rates.sharing;
  if (work.copies > 0)
    time += work.copies * rates.copyStart + work.copiedBytes / rates.copied +
            work.transposedElements / rates.transposed;
  return time;
}

double mlir::tessera::estimateNanoseconds(const ScheduleWork &work,
                                          const ScheduleRates &rates) {
  WorkTimes times(work, rates);
  return times.getAll(times.getRounds());
}

ScheduleEstimate mlir::tessera::estimateTime(const ScheduleWork &work,
                                             const ScheduleRates &rates) {
  WorkTimes times(work, rates);
  ScheduleEstimate estimate;
  double turns = std::ceil(work.units / work.processors),
         together = work.isPersistent ? 1.0 : std::min(work.resident, turns);
  estimate.rounds =
      work.isPersistent
          ? turns
          : std::ceil(work.units / (work.processors * work.resident));
  estimate.limits = times.getLimits(together);
  for (double &limit : estimate.limits)
    limit *= estimate.rounds * work.steps;
  estimate.stores = estimate.rounds * times.getStores(together);
  estimate.memory = times.getMemory();
  estimate.sums = times.getSums();
  double all = times.getRounds();
  estimate.time = times.getAll(all);
  estimate.limit =
      rates.start > std::max(all, estimate.memory) ? "the kernel's start"
      : estimate.memory > all                      ? "memory"
                              : limitNames[llvm::max_element(estimate.limits) -
                                           estimate.limits.begin()];
  return estimate;
}
