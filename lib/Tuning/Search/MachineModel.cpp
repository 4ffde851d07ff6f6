//===- MachineModel.cpp - Estimated time of a schedule --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/MachineModel.h"

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/AttentionSchedule.h"
#include "Scheduling/TuningTask.h"
#include "Scheduling/WindowTask.h"
#include "TargetInfo/Peaks.h"

#include "mlir/Support/DebugStringHelper.h"
#include <cmath>

using namespace mlir;
using namespace mlir::tessera;
using namespace mlir::tessera::tuning;

using Field = ScheduleField;

/// A machine of which no data sheet is known: its proportions are those of the
/// others.
static constexpr double commonRate = 100e12, commonMemory = 1e12;
/// The rate of reading tiles through the cache, as a multiple of the memory's
/// rate.
static constexpr double cacheFactor = 2.5;
/// A kernel's launch, and a barrier with its loop, in seconds.
static constexpr double launch = 3e-6, stepOverhead = 60e-9;
/// A thread that is a subgroup by itself has vector registers for so many bytes
/// of accumulators, and so many bytes from its caches for each operation that
/// it could do.
static constexpr double threadAccumulatorBytes = 1536, threadCacheBytes = 0.25;
/// Threads that a processor has room for.
static constexpr double residentThreads = 2048;

static double countBytes(ValueRange arrays) {
  double bytes = 0;
  llvm::SmallPtrSet<Value, 8> seen;
  for (Value value : arrays)
    if (auto type = dyn_cast<MemRefType>(value.getType()))
      if (type.hasStaticShape() && seen.insert(value).second)
        bytes += static_cast<double>(type.getNumElements()) *
                 static_cast<double>(getElementBits(type.getElementType())) / 8;
  return bytes;
}

MachineModel::MachineModel(Operation *op, const Chip &chip, StringRef device)
    : chip(chip) {
  Type operand;
  SmallVector<Value> arrays(op->getOperands());
  if (auto window = getWindowOp(op)) {
    arrays = collectTaskInputs(op);
    WindowWork work = getWindowWork(window);
    operations = work.operations;
    operand = work.sumType;
  } else if (auto attention = dyn_cast<AttentionOp>(op)) {
    isAttention = true;
    // Folded dimensions count as rows of a tile, not as matrices.
    unsigned numBatch = attention.getNumBatchDims();
    for (unsigned dim = 0; dim < numBatch - countFoldedDims(attention); ++dim)
      matrices *= static_cast<double>(attention.getStaticExtent(dim));
    extents = {static_cast<double>(getRowExtent(attention)),
               static_cast<double>(attention.getStaticExtent(AttentionOp::N)),
               static_cast<double>(attention.getStaticExtent(AttentionOp::D))};
    operations = 2 * matrices * extents[0] * extents[1] *
                 (extents[2] + static_cast<double>(
                                   attention.getStaticExtent(AttentionOp::E)));
    operand = attention.getOperandType();
  } else {
    auto contract = cast<ContractOp>(op);
    MatrixForm form = getMatrixForm(contract);
    std::array<int64_t, 3> known = getStaticExtents(contract, form);
    for (unsigned i = 0; i < 3; ++i)
      extents[i] = static_cast<double>(known[i]);
    matrices = static_cast<double>(getLinearExtent(contract, form.batch));
    operations = 2 * matrices * extents[0] * extents[1] * extents[2];
    operand = contract.getFactorType(0);
    auto size = [](Type type) {
      return static_cast<double>(getElementBits(getElementTypeOrSelf(type))) /
             8;
    };
    lhsBytes = size(contract.getLhs().getType());
    rhsBytes = size(contract.getRhs().getType());
    outputBytes = size(contract.getOutput().getType());
    sumBytes = size(contract.getAccumulatorType());
  }
  bytes = countBytes(arrays);
  std::string why, type = debugString(operand);
  if (auto contract = dyn_cast<ContractOp>(op);
      contract && contract.getPrecision() == Precision::Tf32 && type == "f32")
    type = "tf32";
  rateType = type;
  std::optional<Roof> roof = findRoof(chip.name, device, 0, 0, type, why);
  rate = roof && roof->operations > 0 ? roof->operations : commonRate;
  memory = roof && roof->bytes > 0 ? roof->bytes : commonMemory;
  processors = chip.processors ? static_cast<double>(chip.processors) : 16;
}

double MachineModel::getRoof() const {
  return 1e3 * std::max(operations / rate, bytes / memory);
}

double MachineModel::estimate(const ScheduleNumbers &point) const {
  auto get = [&](Field field) { return static_cast<double>(point[field]); };
  double bm = get(Field::WorkgroupM), bn = get(Field::WorkgroupN),
         sm = get(Field::SubgroupM), sn = get(Field::SubgroupN),
         k = get(Field::K), parts = get(Field::SplitK);
  double stages = get(Field::Stages);
  double batches = get(Field::Batches);
  double tiles = std::ceil(extents[0] / bm) * std::ceil(extents[1] / bn) *
                 std::ceil(matrices / batches) * parts;
  // Each workgroup of an attention walks through its part of the keys.
  double steps = std::ceil(extents[2] / (k * parts));
  if (isAttention) {
    tiles = std::ceil(extents[0] / bm) * matrices * parts;
    steps = std::ceil(extents[1] / (bn * parts));
  }
  double subgroups = std::ceil(bm / sm) * std::ceil(bn / sn) *
                     get(Field::SubgroupsPerFragment) *
                     (batches / get(Field::SubgroupBatches));
  double threads = subgroups * static_cast<double>(chip.subgroupSize);

  // How many workgroups a processor has at a time.
  double stagedBytes = stages * batches * (bm * lhsBytes + bn * rhsBytes) * k +
                       (point[Field::StageOutput] ? bm * bn * outputBytes : 0);
  double resident = residentThreads / threads;
  if (stagedBytes > 0)
    resident = std::min(
        resident, static_cast<double>(chip.workgroupMemoryBytes) / stagedBytes);
  double registers = sm * sn /
                         std::max(1.0, static_cast<double>(chip.subgroupSize) *
                                           get(Field::SubgroupsPerFragment)) +
                     40;
  if (chip.registersPerWorkgroup)
    resident =
        std::min(resident, static_cast<double>(chip.registersPerWorkgroup) /
                               (registers * threads));
  resident = std::max(1.0, std::floor(resident));

  // The work, reads and writes of one tile on one SM.
  double work = (isAttention ? 4.0 : 2.0) * bm * bn * batches * k * steps;
  // Fragments come to registers through workgroup memory: the less, the larger
  // the tile of a subgroup; groups read it themselves.
  double reuse = sm * sn / (sm + sn);
  double efficiency = point[Field::SubgroupsPerFragment] > 1
                          ? 1.0
                          : std::min(0.75, reuse / (reuse + 24));
  // A thread that is a subgroup by itself reads operands from its first cache,
  // and has accumulators in registers as far as these go.
  if (!chip.hasLanes())
    efficiency = reuse / (reuse + 3) *
                 std::min(1.0, threadAccumulatorBytes / (sm * sn * sumBytes));
  double compute = work / (rate / processors * efficiency);
  double traffic = batches * (bm * lhsBytes + bn * rhsBytes) * k * steps;
  traffic /= std::sqrt(get(Field::ClusterM) * get(Field::ClusterN));
  double perProcessor = memory * cacheFactor / processors;
  double busy = std::min(tiles, processors * resident);
  // Few processors have more of it each.
  perProcessor *= std::min(4.0, std::max(1.0, processors * resident / busy));
  if (!chip.hasLanes())
    perProcessor = rate / processors * threadCacheBytes;
  double load = traffic / perProcessor * resident;
  double latency = steps * stepOverhead *
                   (stages >= 3   ? 1
                    : stages == 2 ? 2
                                  : 6);
  double store = bm * (isAttention ? k : bn) * batches *
                 (parts > 1 ? sumBytes : outputBytes) / (memory / processors) *
                 resident;
  double waves = std::ceil(tiles / (processors * resident));
  // The processor's unit is shared by those that are on it.
  double tilesOfUnit = std::min(resident, std::max(1.0, tiles / processors));
  double inner = stages >= 2 || resident > 1
                     ? std::max(compute * tilesOfUnit, load) + latency
                     : compute + load + latency;
  // A warp that issues copies does not compute; without copies there are no
  // stalls.
  if (!chip.hasLanes())
    inner = compute * tilesOfUnit + (stages > 0 ? 2 * load + latency : load);
  double tile =
      inner + (point[Field::Persistent] && stages >= 2 ? 0.3 : 1.0) * store;
  double time = launch + waves * tile;
  time = std::max(time, launch + bytes / memory);
  if (parts > 1)
    time += launch + extents[0] * extents[isAttention ? 2 : 1] * matrices *
                         parts * sumBytes * 2 / memory;
  return 1e3 * time;
}
