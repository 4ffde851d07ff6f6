//===- AttentionSchedule.cpp - Schedules of tessera.attention -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In a schedule of attention, `workgroup` is the number of queries of a
// workgroup and of keys of a block, `subgroup` the number of queries of a
// subgroup (or a group) and the same keys, `k` is D, and `splitK` is the number
// of parts of the keys.
//
//===----------------------------------------------------------------------===//

#include "Scheduling/AttentionSchedule.h"

#include "Dialect/Tessera/IR/Swizzle.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/Schedule.h"
#include "TargetInfo/Chip.h"
#include "TargetInfo/RowMaps.h"

#include "mlir/IR/Builders.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

/// The registers of a thread for addresses, loop counters and intermediate
/// values.
static constexpr int64_t otherRegisters = 40;

bool mlir::tessera::hasOwnFirstTiles(ScheduleAttr schedule) {
  return schedule.getSubgroupsPerFragment() == 1 && schedule.getStages() > 1;
}

bool mlir::tessera::keepsQuery(ScheduleAttr schedule, const Chip &chip) {
  return !getRowMaps(chip).empty() && schedule.getSubgroupsPerFragment() == 1 &&
         schedule.getStages() > 0;
}

/// The strides of an operand; those of a tensor are as after bufferization.
/// Empty if they are not known as a layout.
static SmallVector<int64_t> getStrides(Type type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  auto memory = dyn_cast<MemRefType>(type);
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    memory = MemRefType::get(tensor.getShape(), tensor.getElementType());
  if (!memory || failed(memory.getStridesAndOffset(strides, offset)))
    strides.clear();
  return strides;
}

/// Whether dimensions `dim` and those after it up to M are one dimension of the
/// memory of query and output.
static bool areAdjacent(AttentionOp op, unsigned dim) {
  for (unsigned operand : {AttentionOp::Query, AttentionOp::Output}) {
    AffineMap map = op.getMap(operand);
    SmallVector<int64_t> strides =
        getStrides(op->getOperand(operand).getType());
    if (strides.empty())
      return false;
    // The distance of neighbours, from the last dimension on.
    std::optional<int64_t> distance;
    for (unsigned d = op.getPosition(AttentionOp::M) + 1; d-- > dim;) {
      int64_t size = op.getStaticExtent(d),
              stride = strides[*map.getResultPosition(
                  getAffineDimExpr(d, op.getContext()))];
      if (ShapedType::isDynamic(size) || ShapedType::isDynamic(stride))
        return false;
      if (size == 1)
        continue;
      if (distance && *distance != stride)
        return false;
      distance = stride * size;
    }
  }
  return true;
}

bool mlir::tessera::gathersKeys(AttentionOp op) {
  return op.hasPages() ||
         llvm::any_of(op.getLastKeys(), [](const AttentionOp::Bound &bound) {
           return bound.length;
         });
}

unsigned mlir::tessera::countFoldedDims(AttentionOp op) {
  // The keys of all rows of a tile are the same.
  auto hasOwnKeys = [&](unsigned dim) {
    return llvm::any_of(ArrayRef<Region *>{&op.getLength(), &op.getPage()},
                        [&](Region *region) {
                          return !region->empty() &&
                                 !region->getArgument(dim).use_empty();
                        });
  };
  // Two heads or more fit in a tile of 64 rows.
  constexpr int64_t mostQueries = 32;
  int64_t queries = op.getStaticExtent(AttentionOp::M);
  if (ShapedType::isDynamic(queries) || queries > mostQueries)
    return 0;
  unsigned folded = 0, numBatch = op.getNumBatchDims();
  while (folded < numBatch) {
    unsigned dim = numBatch - 1 - folded;
    if (op.getMap(AttentionOp::Key).isFunctionOfDim(dim) ||
        op.getMap(AttentionOp::Value).isFunctionOfDim(dim) || hasOwnKeys(dim) ||
        !areAdjacent(op, dim))
      break;
    ++folded;
  }
  return folded;
}

int64_t mlir::tessera::getRowExtent(AttentionOp op) {
  int64_t rows = op.getStaticExtent(AttentionOp::M);
  for (unsigned i = 0, folded = countFoldedDims(op); i < folded; ++i)
    rows *= op.getStaticExtent(op.getNumBatchDims() - 1 - i);
  return rows;
}

/// Whether rows of `width` elements of the operands can be swizzled, without
/// panels of less than 128 bytes, which were not measured here.
static bool canSwizzle(AttentionOp op, int64_t width) {
  int64_t bytes = width * getElementBytes(op.getOperandType());
  return getSwizzlePhases(MemRefType::get({8, width}, op.getOperandType())) &&
         getSwizzlePanelBytes(bytes) == std::min<int64_t>(bytes, 128);
}

/// Whether the tiles can be swizzled instead of padded.
static bool canSwizzle(AttentionOp op, ScheduleAttr schedule) {
  return canSwizzle(op, getTileWidth(op, AttentionOp::D, schedule)) &&
         canSwizzle(op, getTileWidth(op, AttentionOp::E, schedule));
}

int64_t mlir::tessera::getTileWidth(AttentionOp op, AttentionOp::Dim dim,
                                    ScheduleAttr schedule) {
  int64_t extent = op.getStaticExtent(dim),
          bytes = getElementBytes(op.getOperandType());
  // Bulk copies require rows of whole units, and fill tiles beyond them with
  // zeros.
  constexpr int64_t unit = 16, panel = 128;
  if (schedule.getSubgroupsPerFragment() == 1 || !schedule.getSwizzle() ||
      canSwizzle(op, extent) || extent * bytes % unit != 0)
    return extent;
  return static_cast<int64_t>(llvm::alignTo(extent * bytes, panel)) / bytes;
}

/// Bytes of the tiles in workgroup memory, of all stages.
static int64_t countBytes(AttentionOp op, ScheduleAttr schedule,
                          const Chip &chip) {
  int64_t width = getTileWidth(op, AttentionOp::E, schedule),
          output = schedule.getStageOutput()
                       ? schedule.getWorkgroup()[0] * width *
                             getElementBytes(
                                 getElementTypeOrSelf(op.getOutput().getType()))
                       : 0;
  if (schedule.getStages() == 0)
    return output;
  int64_t bytes = getElementBytes(op.getOperandType()),
          padding = schedule.getSwizzle() ? 0 : chip.rowPaddingBytes,
          queryRow =
              getTileWidth(op, AttentionOp::D, schedule) * bytes + padding,
          valueRow = width * bytes + padding, keys = schedule.getWorkgroup()[1],
          slots = schedule.getStages() + hasOwnFirstTiles(schedule),
          query = keepsQuery(schedule, chip)
                      ? 0
                      : schedule.getWorkgroup()[0] * queryRow;
  return output + query + slots * keys * (queryRow + valueRow);
}

/// The bytes of workgroup memory that tiles and rows on their way between
/// matrices and lanes can share: an eighth, which is for the latter, is not in
/// `workgroupMemoryBytes`.
static int64_t getAllWorkgroupMemory(const Chip &chip) {
  return chip.workgroupMemoryBytes + chip.workgroupMemoryBytes / 7;
}

/// Bytes of workgroup memory through which the scores and weights of a kernel
/// that keeps its queries pass, from matrices to lanes that hold whole rows and
/// back: padded rows of f32 and of operands (lib/Conversion/TesseraToSPIRV/
/// CooperativeMatrix.cpp). None where matrices are reduced in registers.
static int64_t countRowBytes(AttentionOp op, ScheduleAttr schedule,
                             const Chip &chip) {
  if (chip.reducesMatrices)
    return 0;
  constexpr int64_t operandPadding = 8;
  int64_t rows = schedule.getSubgroup()[0], keys = schedule.getSubgroup()[1],
          scorePadding = 4 * std::max<int64_t>(chip.subgroupSize / rows, 1);
  return schedule.getWorkgroup()[0] *
         ((keys + scorePadding) * 4 +
          (keys + operandPadding) * getElementBytes(op.getOperandType()));
}

/// The number of lanes that hold each element of an operand of the scores'
/// matmul.
static int64_t countCopies(AttentionOp op, ScheduleAttr schedule,
                           const Chip &chip) {
  Type element = op.getOperandType(), acc = Float32Type::get(op.getContext());
  const MatrixInstruction *row = selectInstruction(
      chip, element, element, acc, Precision::Ieee, schedule.getSubgroup()[0],
      schedule.getSubgroup()[1], schedule.getKFragment());
  return row ? int64_t(1) << llvm::popcount(
                   static_cast<uint64_t>(row->aMap.getReplicatedLaneBits()))
             : 1;
}

/// Registers of 4 bytes that a thread needs at least: two accumulators, the
/// weights as an operand, and with one subgroup a step of the other operands;
/// where lanes hold copies of each other's, all values of a block.
static int64_t countRegisters(AttentionOp op, ScheduleAttr schedule,
                              const Chip &chip) {
  int64_t rows = schedule.getSubgroup()[0], keys = schedule.getSubgroup()[1],
          values = getTileWidth(op, AttentionOp::E, schedule),
          bytes = getElementBytes(op.getOperandType()), copies = 1,
          all = rows * (keys + values) * 4;
  if (schedule.getSubgroupsPerFragment() == 1) {
    copies = countCopies(op, schedule, chip);
    // Queries that are kept, and a matrix of the other operand at a time.
    int64_t step = keepsQuery(schedule, chip)
                       ? rows * schedule.getKFragment()
                       : (rows + keys) * schedule.getKFragment();
    all += (copies > 1 ? std::max(step, keys * values) : step) * bytes * copies;
  }
  all += rows * keys * bytes * copies;
  return llvm::divideCeil(all, 4 * chip.subgroupSize *
                                   schedule.getSubgroupsPerFragment()) +
         otherRegisters;
}

/// schedule_c7: an instruction must divide the matmul of the fragments; it must
/// be one of the matrix unit if subgroups have lanes, since the accumulators of
/// others leave no registers. `aInMemory`: the left operand may be in workgroup
/// memory.
static std::string explainMatmul(AttentionOp op, const Chip &chip,
                                 ScheduleAttr schedule, StringRef name,
                                 int64_t n, int64_t k, bool aInMemory) {
  Type element = op.getOperandType(), acc = Float32Type::get(op.getContext());
  auto formatType = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  };
  const MatrixInstruction *row = selectInstruction(
      chip, element, element, acc, Precision::Ieee, schedule.getSubgroup()[0],
      n, k, /*why=*/nullptr, schedule.getSubgroupsPerFragment(), aInMemory);
  if (row && (row->matrixUnit || !chip.hasLanes()))
    return "";
  return "schedule_c7: no " +
         std::string(chip.hasLanes() ? "matrix instruction" : "instruction") +
         " of " + chip.name + " for " + formatType(element) + " divides " +
         name.str() + ", a matmul of " +
         std::to_string(schedule.getSubgroup()[0]) + "x" + std::to_string(n) +
         "x" + std::to_string(k);
}

/// A field that is set, and has no effect for attention; null if there is none.
static const ScheduleFieldInfo *findUnsupported(ScheduleAttr schedule) {
  using Field = ScheduleField;
  // Without virtual threads, the last one changes nothing.
  static constexpr Field supported[] = {
      Field::WorkgroupM,
      Field::SubgroupM,
      Field::K,
      Field::KFragment,
      Field::Stages,
      Field::Swizzle,
      Field::SubgroupsPerFragment,
      Field::SplitK,
      Field::Interleave,
      Field::Persistent,
      Field::StageOutput,
  };
  ScheduleNumbers numbers(schedule);
  for (const ScheduleFieldInfo &info : getScheduleFields())
    // Without parts, how they are reduced does not matter.
    if ((info.number != Field::SplitKReduction || schedule.getSplitK() > 1) &&
        !llvm::is_contained(supported, info.number) &&
        !numbers.hasDefault(info))
      return &info;
  return nullptr;
}

std::string mlir::tessera::explainSchedule(AttentionOp op,
                                           ScheduleAttr schedule,
                                           const Chip &chip) {
  auto text = [](int64_t number) { return std::to_string(number); };
  int64_t d = op.getStaticExtent(AttentionOp::D),
          e = op.getStaticExtent(AttentionOp::E);
  if (ShapedType::isDynamic(d) || ShapedType::isDynamic(e))
    return "schedule_c24: head dimensions D and E must be static";
  if (d == 0 || e == 0 || d > chip.policy.maxRow || e > chip.policy.maxRow)
    return "schedule_c24: head dimensions D and E must be from 1 to " +
           text(chip.policy.maxRow) + ", not " + text(d) + " and " + text(e);
  int64_t keys = schedule.getWorkgroup()[1];
  if (schedule.getSubgroup()[1] != keys)
    return "schedule_c24: the subgroup tile must cover all " + text(keys) +
           " keys of a block, not " + text(schedule.getSubgroup()[1]);
  if (schedule.getK() != d)
    return "schedule_c24: k must be the head dimension D, " + text(d) +
           ", not " + text(schedule.getK());
  if (gathersKeys(op) && schedule.getStages() == 0)
    return "schedule_c24: keys of variable number or in pages require stages "
           "of 1 or more";
  if (const ScheduleFieldInfo *field = findUnsupported(schedule))
    return "schedule_c24: " + field->name.str() +
           " is not supported for attention";
  if (schedule.getSplitK() > maxGridYZ)
    return "schedule_c24: splitK is at most " + text(maxGridYZ) +
           " for attention, not " + text(schedule.getSplitK());
  if (schedule.getSplitK() > 1 &&
      (schedule.getPersistent() != 0 || schedule.getStageOutput()))
    return "schedule_c24: parts of the keys (splitK > 1) support neither "
           "persistent nor stageOutput";
  for (const std::string &why :
       {explainMatmul(op, chip, schedule, "query by key", keys,
                      schedule.getKFragment(), /*aInMemory=*/true),
        explainMatmul(op, chip, schedule, "weights by value",
                      getTileWidth(op, AttentionOp::E, schedule), keys,
                      /*aInMemory=*/false)})
    if (!why.empty())
      return why;
  int64_t threads = schedule.getNumSubgroups() * chip.subgroupSize;
  if (threads > chip.maxThreads)
    return "schedule_c8: the workgroup needs " + text(threads) + " threads, " +
           chip.name + " allows " + text(chip.maxThreads);
  if (int64_t bytes = countBytes(op, schedule, chip);
      bytes > chip.workgroupMemoryBytes)
    return "schedule_c9: the tiles need " + text(bytes) +
           " bytes of workgroup memory, " + chip.name + " has " +
           text(chip.workgroupMemoryBytes);
  int64_t registers = countRegisters(op, schedule, chip);
  if (chip.registersPerThread && registers > chip.registersPerThread)
    return "schedule_c10: fragments need " + text(registers) +
           " registers of a thread, " + chip.name + " has " +
           text(chip.registersPerThread);
  if (chip.registersPerWorkgroup &&
      registers * threads > chip.registersPerWorkgroup)
    return "schedule_c11: fragments need " + text(registers * threads) +
           " registers of a workgroup, " + chip.name + " has " +
           text(chip.registersPerWorkgroup);
  if (schedule.getSwizzle() && !canSwizzle(op, schedule))
    return "schedule_c12: rows of " + text(d) + " and " + text(e) +
           " elements cannot be swizzled";
  if (schedule.getSubgroupsPerFragment() > 1 &&
      (!schedule.getSwizzle() || schedule.getStages() == 0))
    return "schedule_c19: subgroupsPerFragment > 1 requires swizzle and stages "
           "of "
           "1 or more";
  return "";
}

/// The number of parts of the keys by which `op` takes the least time, given
/// its tile of rows and keys. A part is worth a second kernel if SMs would be
/// idle without it: a workgroup reads keys and values no faster than one SM
/// can. With more queries than a tile has rows, the sums of the parts would
/// take longer to read than the keys. A batch of unknown size is taken as one:
/// parts of too many workgroups cost little.
static int64_t chooseParts(AttentionOp op, const Chip &chip,
                           const ScheduleFields &fields) {
  // Unknown keys are as many as a decoder has seen halfway, not as few as at
  // its start: few keys take little time in any number of parts.
  constexpr int64_t assumedKeys = 4096, mostParts = 64;
  const std::array<int64_t, 2> &tile = fields.workgroup;
  int64_t rows = getRowExtent(op), keys = op.getStaticExtent(AttentionOp::N);
  if (ShapedType::isDynamic(rows) || chip.processors == 0 ||
      (rows > tile[0] && countFoldedDims(op) == 0))
    return 1;
  if (ShapedType::isDynamic(keys))
    keys = assumedKeys;
  // With a window, a tile sees few of them.
  if (std::optional<int64_t> window = op.getWindow();
      window && ShapedType::isStatic(op.getStaticExtent(AttentionOp::M)))
    keys = std::min(
        keys,
        std::max<int64_t>(*window + op.getStaticExtent(AttentionOp::M) - 1, 1));
  int64_t matrices = 1;
  for (unsigned dim = 0, end = op.getNumBatchDims() - countFoldedDims(op);
       dim < end; ++dim)
    if (int64_t extent = op.getStaticExtent(dim);
        !ShapedType::isDynamic(extent))
      matrices *= extent;
  double width = static_cast<double>(op.getStaticExtent(AttentionOp::D) +
                                     op.getStaticExtent(AttentionOp::E)),
         blockBytes = width * static_cast<double>(tile[1]) *
                      static_cast<double>(getElementBytes(op.getOperandType())),
         processors = static_cast<double>(chip.processors),
         workgroups = static_cast<double>(
             static_cast<int64_t>(llvm::divideCeil(rows, tile[0])) * matrices);
  int64_t blocks = static_cast<int64_t>(llvm::divideCeil(keys, tile[1]));
  // Bytes per ns of all SMs and of one, and the time of a second kernel. A chip
  // that was not measured: half of its SMs can use all of its memory, and the
  // kernel takes as long as one of them reads eight blocks.
  double memory = chip.model.memory, ofOne = chip.model.processorMemory,
         start = chip.model.start * 0.9;
  if (start == 0) {
    ofOne = 2 * memory / processors;
    start = 8 * blockBytes / ofOne;
  }
  // Measured on an H100: a kernel of groups of subgroups without parts read 1.5
  // to 1.7 TB/s where one with two parts read 2.3 to 2.9
  // (docs/Rationale/Dialect.md).
  double ofOnePart = fields.subgroupsPerFragment > 1 ? 0.5 : 1;
  auto estimate = [&](int64_t parts) {
    double waves =
               std::ceil(workgroups * static_cast<double>(parts) / processors),
           // The first block of a workgroup has no other to hide behind.
        each = static_cast<double>(llvm::divideCeil(blocks, parts) + 1),
           rate = parts == 1 ? memory * ofOnePart : memory,
           time = std::max(workgroups * static_cast<double>(blocks) *
                               blockBytes / rate,
                           waves * each * blockBytes / ofOne);
    if (parts == 1)
      return time;
    // Sums of f32, written and read.
    double sums = 2.0 * 4.0 * static_cast<double>(parts * rows * matrices) *
                  static_cast<double>(op.getStaticExtent(AttentionOp::E));
    return time + start + sums / memory;
  };
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min(blocks, mostParts); ++parts)
    if (estimate(parts) < estimate(best))
      best = parts;
  return best;
}

/// The number of tiles of `rows` rows, of all matrices; empty if it is not
/// known.
static std::optional<int64_t> countTiles(AttentionOp op, int64_t rows) {
  int64_t tiles = getRowExtent(op);
  if (ShapedType::isDynamic(tiles))
    return std::nullopt;
  tiles = static_cast<int64_t>(llvm::divideCeil(tiles, rows));
  for (unsigned dim = 0, end = op.getNumBatchDims() - countFoldedDims(op);
       dim < end; ++dim) {
    int64_t extent = op.getStaticExtent(dim);
    if (ShapedType::isDynamic(extent))
      return std::nullopt;
    tiles *= extent;
  }
  return tiles;
}

/// The time of the tiles of a matrix, as a number of keys for the rows of a
/// tile.
static int64_t estimateTiles(AttentionOp op, const Chip &chip,
                             const ScheduleFields &fields) {
  // Unknown extents are neither short nor long. The times of a block with a
  // mask and of an output that is stored directly are fitted to measurements
  // (docs/benchmarks/h200-attention.md).
  constexpr int64_t assumed = 1024, maskedBlock = 80, directStore = 450;
  auto [rows, keys] = fields.workgroup;
  int64_t m = getRowExtent(op), n = op.getStaticExtent(AttentionOp::N);
  if (ShapedType::isDynamic(m))
    m = assumed;
  if (ShapedType::isDynamic(n))
    n = assumed;
  // One more than the last key that query 0 sees, if it is known.
  std::optional<int64_t> offset;
  for (const AttentionOp::Bound &bound : op.getLastKeys())
    if (bound.row && !bound.length)
      offset = bound.constant;
  // A part of many tiles stands for all of them.
  constexpr int64_t mostTiles = 1024;
  int64_t time = 0,
          step = llvm::alignTo(
              std::max<int64_t>(llvm::divideCeil(m, mostTiles), 1), rows);
  for (int64_t row = 0; row < m; row += step) {
    int64_t seen = n;
    if (offset)
      seen =
          std::clamp<int64_t>(row + rows + *offset, 1, std::max<int64_t>(n, 1));
    time += static_cast<int64_t>(llvm::divideCeil(seen, keys)) *
            (keys + chip.policy.attentionDefaults.blockKeys);
    // The first block has a mask in any case.
    if (offset && keys % rows != 0)
      time +=
          static_cast<int64_t>(llvm::divideCeil(rows - 1, keys)) * maskedBlock;
    if (!fields.stageOutput)
      time += directStore;
  }
  return time;
}

/// The default schedule with persistent workgroups; null if the chip has none
/// for this op. Keys that are gathered are not copied by a subgroup of their
/// own, which would run ahead into the next tile.
static ScheduleAttr getPersistentTiles(AttentionOp op, const Chip &chip) {
  const AttentionDefaults &groups = chip.policy.attentionDefaults;
  ScheduleAttr best;
  int64_t bestTime = 0, m = getRowExtent(op),
          n = op.getStaticExtent(AttentionOp::N);
  if (gathersKeys(op) || countFoldedDims(op) > 0 || groups.groups == 0)
    return {};
  for (const ScheduleDefaults &tiling : chip.policy.groupDefaults) {
    int64_t rows = tiling.subgroup[0], all = groups.groups * rows;
    if (best)
      break;
    if (ShapedType::isStatic(m) && m <= rows)
      continue;
    std::optional<int64_t> tiles = countTiles(op, all);
    auto consider = [&](int64_t keys, bool stageOutput) {
      ScheduleFields fields;
      fields.workgroup = {all, keys};
      fields.subgroup = {rows, keys};
      fields.k = fields.kFragment = op.getStaticExtent(AttentionOp::D);
      fields.stages = groups.stages;
      fields.swizzle = chip.policy.preferSwizzle;
      fields.subgroupsPerFragment = tiling.group;
      fields.stageOutput = stageOutput;
      // One tile of one block has nothing to overlap with.
      if (!tiles || *tiles > chip.processors || ShapedType::isDynamic(n) ||
          n > keys)
        fields.persistent = chip.processors;
      auto schedule = ScheduleAttr::get(op.getContext(), fields);
      int64_t time = estimateTiles(op, chip, fields);
      if ((!best || time < bestTime) &&
          explainSchedule(op, schedule, chip).empty()) {
        best = schedule;
        bestTime = time;
      }
    };
    for (int64_t keys : groups.persistentKeys)
      consider(keys, /*stageOutput=*/true);
    if (!op.hasScore() && op.getFirstKeys().empty() &&
        op.getLastKeys().empty() &&
        op.getStaticExtent(AttentionOp::E) <= groups.unmaskedColumns)
      for (int64_t keys : groups.unmaskedKeys)
        if (ShapedType::isDynamic(n) || n > keys)
          consider(keys, /*stageOutput=*/true);
    if (!groups.persistentKeys.empty())
      for (int64_t keys : {groups.keys, groups.keys / 2})
        consider(keys, /*stageOutput=*/false);
  }
  return best;
}

/// The default schedule of subgroups that keep their queries; null if none
/// fits.
static ScheduleAttr getRowTiles(AttentionOp op, const Chip &chip) {
  // Rows of a subgroup and keys of a block, the preferred ones first. On an
  // H200, 16 rows beat 32 although they read keys and values twice as often
  // from workgroup memory, and for more than 64 columns blocks of 16 keys beat
  // those of 32. Where matrices are reduced in registers, blocks of 64 keys are
  // the fastest ones (docs/benchmarks/h200-vulkan.md).
  using Tilings = std::array<std::array<int64_t, 2>, 3>;
  static constexpr Tilings narrow = {{{16, 32}, {16, 16}, {32, 32}}},
                           wide = {{{16, 16}, {16, 32}, {32, 32}}},
                           reduced = {{{16, 64}, {16, 32}, {16, 16}}};
  constexpr int64_t mostRegisters = 216;
  int64_t d = op.getStaticExtent(AttentionOp::D), m = getRowExtent(op);
  const Tilings &tilings = chip.reducesMatrices ? reduced
                           : d > 64             ? wide
                                                : narrow;
  // There, more columns need twice as many subgroups to share keys and values.
  constexpr int64_t manyRows = 512;
  bool isWide = chip.reducesMatrices && d > 64 &&
                (ShapedType::isDynamic(m) || m >= manyRows);
  for (bool isLimited : {true, false})
    for (auto [rows, keys] : tilings)
      for (int64_t subgroups : {8, 4, 2, 1}) {
        if (subgroups > 4 && !isWide)
          continue;
        // Half of the rows suffice.
        if (ShapedType::isStatic(m) && rows * subgroups > 16 &&
            rows * subgroups / 2 >= m)
          continue;
        ScheduleFields fields;
        fields.workgroup = {rows * subgroups, keys};
        fields.subgroup = {rows, keys};
        fields.k = fields.kFragment = d;
        fields.stages = 1;
        auto schedule = ScheduleAttr::get(op.getContext(), fields);
        int64_t bytes =
            countBytes(op, schedule, chip) + countRowBytes(op, schedule, chip);
        if (explainSchedule(op, schedule, chip).empty() &&
            bytes <= getAllWorkgroupMemory(chip) &&
            (!isLimited || countRegisters(op, schedule, chip) <= mostRegisters))
          return schedule;
      }
  return {};
}

/// The tiles of the default schedule; null if D or E is dynamic.
static ScheduleAttr getDefaultTiles(AttentionOp op, const Chip &chip) {
  int64_t d = op.getStaticExtent(AttentionOp::D),
          e = op.getStaticExtent(AttentionOp::E), m = getRowExtent(op);
  if (ShapedType::isDynamic(d) || ShapedType::isDynamic(e) || d * e == 0)
    return {};
  auto make = [&](std::array<int64_t, 2> workgroup,
                  std::array<int64_t, 2> subgroup, int64_t kFragment,
                  int64_t stages, bool swizzle, int64_t group) {
    ScheduleFields fields;
    fields.workgroup = workgroup;
    fields.subgroup = subgroup;
    fields.k = d;
    fields.kFragment = kFragment;
    fields.stages = stages;
    fields.swizzle = swizzle;
    fields.subgroupsPerFragment = group;
    return ScheduleAttr::get(op.getContext(), fields);
  };
  ScheduleAttr first;
  auto isGood = [&](ScheduleAttr schedule) {
    if (!first)
      first = schedule;
    return explainSchedule(op, schedule, chip).empty();
  };

  // Each thread computes a tile of its own: loaded directly from memory (unless
  // keys are gathered), with half of the rows and columns of a matmul's tile,
  // since there are two matmuls.
  if (!chip.hasLanes()) {
    std::array<int64_t, 2> tile = chip.policy.matrixDefaults.workgroup;
    tile = {std::max<int64_t>(tile[0] / 2, 1),
            std::max<int64_t>(tile[1] / 2, 1)};
    return make(tile, tile, std::gcd<int64_t>(d, 16),
                /*stages=*/gathersKeys(op) ? 1 : 0,
                /*swizzle=*/false, /*group=*/1);
  }

  const AttentionDefaults &groups = chip.policy.attentionDefaults;
  if (ScheduleAttr schedule = getPersistentTiles(op, chip))
    return schedule;
  for (const ScheduleDefaults &tiling : chip.policy.groupDefaults) {
    if (groups.groups == 0)
      break;
    int64_t rows = tiling.subgroup[0], all = groups.groups * rows;
    if (ShapedType::isStatic(m) && m <= rows)
      all = rows;
    // With one stage, copies do not run beside matmuls: half of the keys come
    // first.
    for (int64_t stages = groups.stages; stages > 0; --stages)
      for (int64_t keys : {groups.keys, groups.keys / 2})
        if (ScheduleAttr schedule =
                make({all, keys}, {rows, keys}, d, stages,
                     chip.policy.preferSwizzle, tiling.group);
            isGood(schedule))
          return schedule;
  }

  if (!getRowMaps(chip).empty())
    if (ScheduleAttr schedule = getRowTiles(op, chip))
      return schedule;

  // A subgroup has the rows of one instruction: its accumulators fill the
  // registers by their columns.
  constexpr int64_t subgroupRows = 16;
  bool swizzle =
      chip.policy.preferSwizzle && canSwizzle(op, d) && canSwizzle(op, e);
  int64_t kFragment = d % 32 == 0 ? 32 : std::gcd<int64_t>(d, 16);
  for (int64_t keys : {64, 32, 16})
    for (int64_t stages : {2, 1})
      for (int64_t rows : {128, 64, 32, 16}) {
        if ((stages > 1 && !chip.asyncCopy) ||
            keys > chip.policy.attentionDefaults.keys)
          continue;
        if (ShapedType::isStatic(m) && rows > subgroupRows && rows / 2 >= m)
          continue;
        if (ScheduleAttr schedule =
                make({rows, keys}, {subgroupRows, keys}, kFragment, stages,
                     swizzle, /*group=*/1);
            isGood(schedule))
          return schedule;
      }
  return first;
}

ScheduleAttr mlir::tessera::getDefaultSchedule(AttentionOp op,
                                               const Chip &chip) {
  ScheduleAttr tiles = getDefaultTiles(op, chip);
  if (!tiles)
    return {};
  ScheduleFields fields = tiles.getFields();
  fields.splitK = chooseParts(op, chip, fields);
  if (fields.splitK > 1) {
    fields.persistent = 0;
    fields.stageOutput = false;
  }
  return ScheduleAttr::get(op.getContext(), fields);
}
