//===- CheckSchedule.cpp - Legality of schedules --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Swizzle.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/OperandOrder.h"
#include "Scheduling/ScheduleCheck.h"
#include "Target/NVIDIA/BulkCopies.h"
#include "TargetInfo/Emulation.h"

#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// A contraction with a schedule, on a chip. Each member function checks one
/// constraint.
class Checker {
public:
  Checker(const CheckedContraction &contraction,
          ArrayRef<const MatrixInstruction *> rows, ScheduleAttr schedule)
      : contraction(contraction), op(contraction.op), form(contraction.form),
        schedule(schedule), chip(contraction.chip),
        tile{schedule.getSubgroup()[0] / schedule.getVthread()[0],
             schedule.getSubgroup()[1] / schedule.getVthread()[1]},
        rows(rows) {
    for (const MatrixInstruction *row : rows)
      if (!instruction && tile[0] % row->m == 0 && tile[1] % row->n == 0 &&
          schedule.getKFragment() % row->k == 0)
        instruction = row;
  }

  SmallVector<ScheduleProblem> run() {
    checkInstruction();
    checkThreads();
    checkWorkgroupMemory();
    checkRegisters();
    checkSwizzle();
    checkSplitK();
    checkSplitKReduction();
    checkGrid();
    checkGathers();
    checkSteps();
    checkRows();
    checkGroup();
    checkStagedOutput();
    checkCluster();
    checkSharedTiles();
    checkBatches();
    return std::move(problems);
  }

private:
  void checkInstruction();
  void checkThreads();
  void checkWorkgroupMemory();
  void checkRegisters();
  void checkSwizzle();
  void checkSplitK();
  void checkSplitKReduction();
  void checkGrid();
  void checkGathers();
  void checkSteps();
  void checkRows();
  void checkGroup();
  void checkStagedOutput();
  bool hasLayoutOfShare(int64_t columns);
  void checkCluster();
  void checkSharedTiles();
  void checkBatches();

  void report(StringRef label, const Twine &message,
              ArrayRef<ScheduleField> fields, bool isLimit = false) {
    ScheduleProblem problem;
    problem.label = label;
    problem.message = message.str();
    problem.fields.assign(fields.begin(), fields.end());
    problem.isLimit = isLimit;
    problems.push_back(std::move(problem));
  }

  StagedTiles getTiles() const {
    return contraction.layout.getTiles(schedule.getFields(), chip);
  }

  const CheckedContraction &contraction;
  ContractOp op;
  const MatrixForm &form;
  ScheduleAttr schedule;
  const Chip &chip;
  /// The tile of one fragment.
  std::array<int64_t, 2> tile;
  ArrayRef<const MatrixInstruction *> rows;
  /// The instruction that computes the fragments' matmul; null if there is
  /// none.
  const MatrixInstruction *instruction = nullptr;
  SmallVector<ScheduleProblem> problems;
};

} // namespace

using Field = ScheduleField;

/// "[24, 64]".
static std::string formatPair(ArrayRef<int64_t> pair) {
  return "[" + std::to_string(pair[0]) + ", " + std::to_string(pair[1]) + "]";
}

/// "1 row", "24 rows".
static std::string formatCount(int64_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

SmallVector<const MatrixInstruction *>
mlir::tessera::getPermittedInstructions(ContractOp op, const MatrixForm &form,
                                        const Chip &chip, int64_t group) {
  std::string a = debugString(op.getFactorType(0)),
              b = debugString(op.getFactorType(1)),
              acc = debugString(op.getAccumulatorType());
  int64_t longest = getLargestStep(op, form);
  // A producer makes lhs in registers.
  bool aInMemory =
      op.getProducer(0).empty() && !loadsLhsToRegisters(op, form, chip, group);
  SmallVector<const MatrixInstruction *> rows;
  for (const MatrixInstruction &row : chip.instructions)
    if (row.repeated.empty() && row.aType == a && row.bType == b &&
        row.accType == acc &&
        (!row.tf32 || op.getPrecision() == Precision::Tf32) &&
        (!row.signedOnly || !(op.getUnsignedA() || op.getUnsignedB())) &&
        longest % row.k == 0 && row.subgroups == group &&
        (group == 1 || row.aInMemory == aInMemory || isEmulated(chip)))
      rows.push_back(&row);
  auto onUnit = [](const MatrixInstruction *row) { return row->matrixUnit; };
  if (llvm::any_of(rows, onUnit))
    llvm::erase_if(rows, std::not_fn(onUnit));
  return rows;
}

bool mlir::tessera::usesDotProducts(ContractOp op, const MatrixForm &form,
                                    const Chip &chip) {
  return llvm::any_of(
      getPermittedInstructions(op, form, chip, /*group=*/1),
      [](const MatrixInstruction *row) { return row->dotProduct; });
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void Checker::checkInstruction() {
  if (instruction)
    return;
  if (rows.empty() && schedule.getSubgroupsPerFragment() > 1) {
    report("schedule_c7",
           "subgroupsPerFragment = " +
               Twine(schedule.getSubgroupsPerFragment()) + ": " + chip.name +
               " has no instruction of that many subgroups for " +
               debugString(op.getFactorType(0)) + " x " +
               debugString(op.getFactorType(1)) + " -> " +
               debugString(op.getAccumulatorType()),
           {Field::SubgroupsPerFragment, Field::SubgroupM, Field::SubgroupN,
            Field::WorkgroupM, Field::WorkgroupN, Field::KFragment});
    return;
  }
  int64_t kFragment = schedule.getKFragment();
  std::string types = debugString(op.getFactorType(0)) + " x " +
                      debugString(op.getFactorType(1)) + " -> " +
                      debugString(op.getAccumulatorType());
  std::array<int64_t, 2> grid{schedule.getVthread()[0],
                              schedule.getVthread()[1]};
  std::string text = "subgroup = " + formatPair(schedule.getSubgroup());
  if (schedule.getNumVThreads() > 1)
    text += ", vthread = " + formatPair(grid);
  // Report the dimension that alone rules out all instructions, if there is
  // one.
  auto none = [&](auto fits) { return llvm::none_of(rows, fits); };
  using Row = const MatrixInstruction *;
  std::string what;
  if (none([&](Row row) { return tile[0] % row->m == 0; })) {
    what = formatCount(tile[0], "row");
  } else if (none([&](Row row) { return tile[1] % row->n == 0; })) {
    what = formatCount(tile[1], "column");
  } else if (none([&](Row row) { return kFragment % row->k == 0; })) {
    text = "kFragment = " + std::to_string(kFragment);
    what = formatCount(kFragment, "element") + " of K";
  } else {
    text += ", kFragment = " + std::to_string(kFragment);
    what = "a fragment of " + std::to_string(tile[0]) + "x" +
           std::to_string(tile[1]) + "x" + std::to_string(kFragment);
  }
  bool onUnit = !rows.empty() && rows.front()->matrixUnit;
  report("schedule_c7",
         text + ": no " + (onUnit ? "matrix " : "") + "instruction of " +
             chip.name + " for " + types + " divides " + what,
         {Field::SubgroupM, Field::SubgroupN, Field::KFragment, Field::VthreadM,
          Field::VthreadN, Field::K, Field::WorkgroupM, Field::WorkgroupN});
  SmallVector<std::string> &notes = problems.back().notes;
  for (Row row : rows)
    notes.push_back(row->name + ": takes multiples of " +
                    std::to_string(row->m) + "x" + std::to_string(row->n) +
                    "x" + std::to_string(row->k));
  if (rows.empty())
    notes.push_back(chip.name + " has no instruction at all for " + types);
}

//===----------------------------------------------------------------------===//
// Limits of a workgroup
//===----------------------------------------------------------------------===//

void Checker::checkThreads() {
  int64_t subgroups = schedule.getNumSubgroups();
  int64_t threads = subgroups * chip.subgroupSize;
  if (threads > chip.maxThreads)
    report("schedule_c8",
           "requires " + Twine(threads) + " threads in a workgroup (" +
               Twine(subgroups) + " subgroups of " + Twine(chip.subgroupSize) +
               "), but " + chip.name + " supports " + Twine(chip.maxThreads),
           {Field::SubgroupM, Field::SubgroupN, Field::WorkgroupM,
            Field::WorkgroupN, Field::Batches, Field::SubgroupBatches});
}

void Checker::checkWorkgroupMemory() {
  StagedTiles tiles = getTiles();
  int64_t bytes = tiles.bytes + tiles.outputBytes;
  if (bytes > chip.workgroupMemoryBytes)
    report("schedule_c9",
           "requires " + Twine(bytes) + " bytes of workgroup memory, but " +
               chip.name + " has " + Twine(chip.workgroupMemoryBytes),
           {Field::Stages, Field::K, Field::KFragment, Field::WorkgroupM,
            Field::WorkgroupN, Field::SubgroupM, Field::SubgroupN,
            Field::StageOutput, Field::Batches, Field::SubgroupBatches},
           /*isLimit=*/true);
}

RegisterEstimate
mlir::tessera::estimateRegisters(ContractOp op, ScheduleAttr schedule,
                                 const Chip &chip,
                                 const MatrixInstruction &row) {
  ArrayRef<int64_t> subgroup = schedule.getSubgroup(),
                    grid = schedule.getVthread();
  // The vthreads whose operands are live at a time, in rows of the grid. Those
  // of one row share lhs, those of one column rhs.
  int64_t live = schedule.getInterleave() ? schedule.getInterleave()
                                          : schedule.getNumVThreads();
  int64_t liveRows = llvm::divideCeil(live, grid[1]),
          liveCols = std::min(live, grid[1]);
  auto count = [&](Role role, int64_t tiles, Type type) {
    if (row.isInMemory(role))
      return int64_t(0);
    return static_cast<int64_t>(llvm::divideCeil(
        tiles * row.getMap(role).getNumRegisters() * getElementBytes(type), 4));
  };
  int64_t m = subgroup[0] / row.m, n = subgroup[1] / row.n,
          k = schedule.getKFragment() / row.k;
  RegisterEstimate estimate;
  estimate.accumulators = count(Role::Acc, m * n, op.getAccumulatorType());
  if (row.sumsApart(op.getPrecision()))
    estimate.accumulators +=
        count(Role::Acc, m / grid[0] * (n / grid[1]), op.getAccumulatorType());
  estimate.accumulators *= schedule.getSubgroupBatches();
  estimate.operands =
      count(Role::A, m / grid[0] * liveRows * k, op.getFactorType(0)) +
      count(Role::B, n / grid[1] * liveCols * k, op.getFactorType(1));
  return estimate;
}

void Checker::checkRegisters() {
  if (!instruction)
    return;
  RegisterEstimate needed = estimateRegisters(op, schedule, chip, *instruction);
  SmallVector<Field> fields{Field::SubgroupM,      Field::SubgroupN,
                            Field::WorkgroupM,     Field::WorkgroupN,
                            Field::KFragment,      Field::Interleave,
                            Field::SubgroupBatches};
  if (chip.registersPerThread && needed.getTotal() > chip.getMostRegisters())
    report("schedule_c10",
           "requires " + Twine(needed.getTotal()) + " registers per thread (" +
               Twine(needed.accumulators) + " for accumulators, " +
               Twine(needed.operands) + " for operands), but " + chip.name +
               " has " + Twine(chip.getMostRegisters()),
           fields);
  int64_t threads = schedule.getNumSubgroups() * chip.subgroupSize,
          ofThread = needed.getTotal();
  // The kernel requests that number.
  if (chip.registersPerThread && ofThread > chip.registersPerThread)
    ofThread = std::max(ofThread, chip.largeRegistersPerThread);
  // Instructions of groups need some registers besides the accumulators, and
  // fewer are not sufficient.
  if (instruction->subgroups > 1)
    ofThread += registersBesideAccumulators;
  if (chip.registersPerWorkgroup &&
      threads * ofThread > chip.registersPerWorkgroup)
    report("schedule_c11",
           "requires " + Twine(threads * ofThread) +
               " registers per workgroup (" + Twine(ofThread) +
               " for each of " + Twine(threads) + " threads), but " +
               chip.name + " has " + Twine(chip.registersPerWorkgroup),
           {Field::WorkgroupM, Field::WorkgroupN, Field::SubgroupM,
            Field::SubgroupN, Field::KFragment, Field::Batches,
            Field::SubgroupBatches});
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

/// Whether dense rows of `length` elements can be swizzled; `getSwizzlePhases`
/// would need a type for each schedule.
static bool canSwizzleRows(int64_t length, Type element) {
  int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  return canSwizzleElements(bits) &&
         getSwizzlePanelBytes(length * bits / 8) > 0;
}

void Checker::checkSwizzle() {
  if (!schedule.getSwizzle())
    return;
  StagedTiles tiles = getTiles();
  for (unsigned side : {0, 1}) {
    ArrayRef<int64_t> shape = side ? tiles.b : tiles.a;
    Type element = getElementTypeOrSelf(side ? op.getRhs().getType()
                                             : op.getLhs().getType());
    if (canSwizzleRows(shape[1], element))
      continue;
    report("schedule_c12",
           "swizzle requires rows of 32 or a multiple of 64 bytes, but "
           "the rows of the staged " +
               Twine(side ? "rhs" : "lhs") + " (" + Twine(shape[0]) + "x" +
               Twine(shape[1]) + ") have " +
               Twine(shape[1] * getElementBits(element) / 8),
           {Field::K, Field::KFragment, Field::WorkgroupM, Field::WorkgroupN,
            Field::Swizzle});
    return;
  }
}

void Checker::checkSplitK() {
  int64_t k = contraction.extents[2];
  if (schedule.getSplitK() == 1 || ShapedType::isDynamic(k))
    return;
  int64_t steps = llvm::divideCeil(k, schedule.getK());
  if (schedule.getSplitK() > steps)
    report("schedule_c13",
           "splitK = " + Twine(schedule.getSplitK()) + ", but a reduction of " +
               Twine(k) + " has " + Twine(steps) +
               (steps == 1 ? " step" : " steps") +
               " of k = " + Twine(schedule.getK()),
           {Field::SplitK}, /*isLimit=*/true);
}

void Checker::checkSplitKReduction() {
  Type acc = op.getAccumulatorType();
  if (schedule.addsAtomically() && !hasAtomicAdd(acc))
    report("schedule_c17",
           "splitKReduction = atomic requires accumulators of f32, f64 or i32, "
           "not " +
               Twine(debugString(acc)),
           {Field::SplitKReduction});
}

void Checker::checkGrid() {
  // Tiles and workgroups are counted in 32 bits.
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  auto check = [&](Field field, StringRef name, int64_t value) {
    if (value > most)
      report("schedule_c14",
             name + " = " + Twine(value) + ", but a grid has at most " +
                 Twine(most) + " workgroups",
             {field}, /*isLimit=*/true);
  };
  check(Field::Raster, "raster", schedule.getRaster());
  check(Field::Persistent, "persistent", schedule.getPersistent());
}

void Checker::checkGathers() {
  for (unsigned side : {0, 1})
    if (form.gather[side] && schedule.getStages() == 0) {
      report("schedule_c15",
             "stages = 0, but " + Twine(side ? "rhs" : "lhs") +
                 " is gathered (it is not a matrix in memory), which requires "
                 "staging in workgroup memory",
             {Field::Stages});
      return;
    }
}

void Checker::checkSteps() {
  int64_t longest = contraction.largestStep, k = schedule.getK();
  if (longest == 0)
    return;
  if (longest % k && k % longest)
    report("schedule_c16",
           "k = " + Twine(k) + ", but a producer's inputs change every " +
               Twine(longest) +
               " elements of K: k must divide that, or be a multiple of it",
           {Field::K, Field::KFragment});
  else if (longest % schedule.getKFragment())
    report("schedule_c16",
           "kFragment = " + Twine(schedule.getKFragment()) +
               ", but a producer's inputs change every " + Twine(longest) +
               " elements of K: kFragment must divide that",
           {Field::KFragment, Field::K});
}

bool mlir::tessera::holdsRows(ContractOp op, ScheduleAttr schedule,
                              std::string *why) {
  auto isNot = [&](const Twine &message) {
    if (why)
      *why = message.str();
    return false;
  };
  MatrixForm form = getMatrixForm(op);
  for (unsigned d : op.getDims().n)
    if (!llvm::is_contained(form.n, d) && getStaticExtent(op, d) != 1)
      return isNot(
          "the N dimensions are not contiguous in the memory of the output "
          "and of all extras");
  int64_t extent = getStaticExtents(op, form)[1];
  if (ShapedType::isDynamic(extent))
    return isNot("the extent of N is dynamic");
  if (extent == 0)
    return isNot("the rows are empty");
  int64_t workgroup = schedule.getWorkgroup()[1],
          subgroup = schedule.getSubgroup()[1];
  if (subgroup < extent)
    return isNot("subgroup = " + formatPair(schedule.getSubgroup()) +
                 ", but a row has " + Twine(extent) + " elements");
  if (workgroup != subgroup)
    return isNot("workgroup = " + formatPair(schedule.getWorkgroup()) +
                 ", but one subgroup must compute a whole row: its tile has " +
                 formatCount(subgroup, "column"));
  if (schedule.getVthread()[1] != 1)
    return isNot("vthread = " + formatPair(schedule.getVthread()) +
                 ", but one virtual thread must compute a whole row");
  if (schedule.getSplitK() != 1)
    return isNot(
        "splitK = " + Twine(schedule.getSplitK()) +
        ", but rows can only be reduced in the kernel that computes all of K");
  return true;
}

void Checker::checkRows() {
  std::string why;
  if (!op.reducesRows())
    return;
  // Values are exchanged within a subgroup.
  auto movesColumns = [](const LaneMap::Step &step) { return step[1] != 0; };
  if (instruction && instruction->subgroups > 1 &&
      llvm::any_of(instruction->accMap.getLanes().drop_front(
                       llvm::Log2_64(static_cast<uint64_t>(chip.subgroupSize))),
                   movesColumns))
    why = instruction->name + " spreads rows over several subgroups";
  else if (holdsRows(op, schedule, &why))
    return;
  report("schedule_c18", "the epilogue reduces along N: " + why,
         {Field::SubgroupN, Field::WorkgroupN, Field::VthreadN, Field::SplitK,
          Field::SubgroupM, Field::WorkgroupM, Field::K, Field::Stages,
          Field::SubgroupsPerFragment});
}

void Checker::checkGroup() {
  if (!instruction)
    return;
  for (unsigned side : {0, 1}) {
    if (!instruction->isInMemory(side ? Role::B : Role::A))
      continue;
    std::string text = instruction->name + " reads " + (side ? "rhs" : "lhs") +
                       " from swizzled workgroup memory";
    if (schedule.getStages() == 0 || !schedule.getSwizzle())
      report("schedule_c19",
             text + (schedule.getStages() ? ", but swizzle is not set"
                                          : ", but stages = 0"),
             {Field::Swizzle, Field::Stages, Field::SubgroupsPerFragment,
              Field::SubgroupM, Field::SubgroupN});
    else if (!op.getProducer(side).empty())
      report("schedule_c19",
             text + ", but a producer computes it in registers: use "
                    "subgroupsPerFragment = 1",
             {Field::SubgroupsPerFragment, Field::SubgroupM, Field::SubgroupN,
              Field::KFragment});
    else if (!instruction->anyOrder &&
             contraction.layout.isTransposed[side] != (side == 1))
      report("schedule_c19",
             text +
                 (side ? " in column-major order, but it is row-major"
                       : " in row-major order, but it is column-major") +
                 ": subgroupsPerFragment = 1 supports either",
             {Field::SubgroupsPerFragment, Field::SubgroupM, Field::SubgroupN,
              Field::KFragment});
    else
      continue;
    return;
  }
}

void Checker::checkStagedOutput() {
  if (!schedule.getStageOutput())
    return;
  AffineMap map = op.getMap(2);
  std::string why;
  if (schedule.addsAtomically())
    why = "the parts of the reduction are accumulated in the output itself";
  else if (isPacked(getElementTypeOrSelf(op.getOutput().getType())))
    why = "the output's elements are smaller than a byte";
  else if (llvm::none_of(form.n,
                         [&](unsigned d) { return map.isFunctionOfDim(d); }))
    why = "the output has no N dimension";
  if (!why.empty())
    report("schedule_c20", "stageOutput = true, but " + why,
           {Field::StageOutput, Field::SplitKReduction});
}

/// Whether an instruction has the columns of a workgroup's share in the layout
/// of the sums: whole tiles of the instruction that computes these, or one tile
/// of a narrower one.
bool Checker::hasLayoutOfShare(int64_t columns) {
  if (!instruction)
    return true;
  if (columns >= instruction->n)
    return columns % instruction->n == 0;
  return llvm::any_of(rows, [&](const MatrixInstruction *row) {
    return row->n == columns && row->repeated == instruction->repeated;
  });
}

void Checker::checkCluster() {
  if (!schedule.addsInCluster())
    return;
  int64_t parts = schedule.getSplitK(), batches = contraction.matrices;
  std::string why;
  if (parts > chip.clusterWorkgroups)
    why = chip.clusterWorkgroups == 1
              ? chip.name + " does not support clusters of workgroups"
              : "a cluster of " + chip.name + " has at most " +
                    std::to_string(chip.clusterWorkgroups) + " workgroups";
  else if (!llvm::isPowerOf2_64(parts))
    why = "the number of workgroups in a cluster must be a power of two";
  else if (schedule.getSubgroupsPerFragment() == 1 ||
           schedule.getNumVThreads() != 1)
    why = "the reduction in a cluster requires subgroupsPerFragment > 1 and no "
          "virtual "
          "threads";
  else if (tile[1] % parts || tile[1] / parts % 8)
    why = "the share of each workgroup in the " + std::to_string(tile[1]) +
          " columns of a subgroup must be a multiple of 8";
  else if (!hasLayoutOfShare(tile[1] / parts))
    why = "no instruction has the layout of " +
          std::to_string(tile[1] / parts) + " of the " +
          std::to_string(tile[1]) + " columns of a subgroup";
  else if (schedule.getPersistent() || schedule.getRaster())
    why =
        "the parts of a tile are adjacent in the grid only with persistent = 0 "
        "and raster = 0";
  else if (schedule.getStageOutput())
    why = "each workgroup stores its share directly from registers: "
          "stageOutput is not supported";
  else if (getElementBits(op.getAccumulatorType()) != 32)
    why = "sums of " + debugString(op.getAccumulatorType()) +
          " do not have 32 bits";
  else if (ShapedType::isDynamic(batches) || batches * parts > maxGridYZ)
    why = "the parts of all batches exceed the size of the grid";
  if (!why.empty())
    report("schedule_c21", "splitKReduction = cluster, but " + why,
           {Field::SplitKReduction, Field::SplitK, Field::Persistent,
            Field::Raster, Field::StageOutput, Field::SubgroupsPerFragment});
}

void Checker::checkSharedTiles() {
  int64_t count = schedule.getNumClustered();
  if (count == 1)
    return;
  std::array<int64_t, 2> cluster{schedule.getClusterM(),
                                 schedule.getClusterN()};
  std::string why;
  if (chip.clusterWorkgroups == 1 || !chip.bulkCopies)
    why = chip.name + " does not support multicast in clusters of workgroups";
  else if (count > chip.clusterWorkgroups)
    why = "a cluster of " + chip.name + " has at most " +
          std::to_string(chip.clusterWorkgroups) + " workgroups";
  else if (schedule.getSubgroupsPerFragment() == 1 ||
           schedule.getStages() == 0 || !schedule.getSwizzle())
    why = "only bulk copies can share tiles, which require stages, "
          "subgroupsPerFragment > 1 "
          "and swizzle";
  else if (schedule.addsInCluster())
    why = "the parts of a tile already form the cluster";
  else if (schedule.getPersistent() % count)
    why = "persistent = " + std::to_string(schedule.getPersistent()) +
          " is not a multiple of the cluster size " + std::to_string(count);
  else if (schedule.getRaster() % cluster[0])
    why = "raster = " + std::to_string(schedule.getRaster()) +
          " is not a multiple of the cluster size along M, " +
          std::to_string(cluster[0]);
  StagedTiles tiles = getTiles();
  for (unsigned side : {0, 1}) {
    if (!why.empty())
      break;
    std::string name = side ? "rhs" : "lhs";
    std::array<int64_t, 2> shape = side ? tiles.b : tiles.a;
    int64_t bits = getElementBits(
        getElementTypeOrSelf((side ? op.getRhs() : op.getLhs()).getType()));
    // The workgroups along N share a tile of lhs, those along M one of rhs.
    int64_t parts = cluster[1 - side];
    if (form.gather[side] || !hasAlignedRows(op, side, chip))
      why = name + " is not loaded by bulk copies";
    else if (!getSharedBox(shape, bits, parts))
      why = "its tile of " + name + ", " + std::to_string(shape[0]) + "x" +
            std::to_string(shape[1]) + ", cannot be split into " +
            std::to_string(parts) + " equal parts";
  }
  if (!why.empty())
    report("schedule_c22", "cluster = " + formatPair(cluster) + ", but " + why,
           {Field::ClusterM, Field::ClusterN, Field::Persistent, Field::Raster,
            Field::SplitKReduction, Field::SubgroupsPerFragment});
}

void Checker::checkBatches() {
  if (schedule.getBatches() == 1)
    return;
  std::string text = "batches = " + std::to_string(schedule.getBatches());
  std::string why;
  if (schedule.getSubgroupsPerFragment() > 1)
    why = "a group of subgroups computes one matrix at a time";
  else if (schedule.addsInCluster())
    why = "splitKReduction = cluster adds up the parts of one matrix";
  else if (schedule.getStageOutput())
    why = "stageOutput supports one matrix only";
  if (!why.empty()) {
    report("schedule_c23", text + ", but " + why,
           {Field::Batches, Field::SubgroupBatches, Field::StageOutput,
            Field::SplitKReduction});
    return;
  }
  int64_t count = contraction.matrices;
  if (ShapedType::isDynamic(count) || schedule.getBatches() <= count ||
      count == 0)
    return;
  report("schedule_c23",
         text + ", but the batch has " + Twine(count) +
             (count == 1 ? " matrix" : " matrices"),
         {Field::Batches, Field::SubgroupBatches}, /*isLimit=*/true);
}

CheckedContraction::CheckedContraction(ContractOp op, const Chip &chip)
    : op(op), chip(chip), form(getMatrixForm(op)),
      extents(getStaticExtents(op, form)),
      matrices(getLinearExtent(op, form.batch)),
      largestStep(getLargestStep(op, form)), layout(op, form) {}

SmallVector<ScheduleProblem>
ScheduleChecker::getProblems(ScheduleAttr schedule) {
  int64_t group = schedule.getSubgroupsPerFragment();
  auto found = rows.find(group);
  if (found == rows.end())
    found =
        rows.insert({group,
                     getPermittedInstructions(contraction.op, contraction.form,
                                              contraction.chip, group)})
            .first;
  return Checker(contraction, found->second, schedule).run();
}

SmallVector<ScheduleProblem>
mlir::tessera::getScheduleProblems(ContractOp op, ScheduleAttr schedule,
                                   const Chip &chip) {
  return ScheduleChecker(op, chip).getProblems(schedule);
}

LogicalResult mlir::tessera::checkSchedule(ContractOp op, ScheduleAttr schedule,
                                           const Chip &chip) {
  SmallVector<ScheduleProblem> problems =
      getScheduleProblems(op, schedule, chip);
  if (problems.empty())
    return success();
  const ScheduleProblem &first = problems.front();
  InFlightDiagnostic diag = op.emitError()
                            << first.label << ": " << first.message;
  if (ScheduleAttr nearest = getNearestSchedule(op, schedule, chip, problems)) {
    std::string change =
        ScheduleNumbers(nearest).describeChange(ScheduleNumbers(schedule));
    // One number made smaller, of those that are tried one by one.
    bool isMost = first.isLimit && problems.size() == 1 &&
                  !StringRef(change).contains(',') &&
                  !StringRef(change).starts_with("k");
    diag << "; " << (isMost ? "" : "the nearest legal schedule has ") << change
         << (isMost ? " is the most that fits" : "");
  }
  for (const std::string &note : first.notes)
    diag.attachNote() << note;
  for (const ScheduleProblem &problem : ArrayRef(problems).drop_front())
    diag.attachNote() << problem.label << ": " << problem.message;
  return diag;
}
