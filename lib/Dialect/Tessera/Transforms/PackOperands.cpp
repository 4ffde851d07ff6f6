//===- PackOperands.cpp - Operands with rows for TMA ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Instructions of several subgroups read operands that are copied to workgroup
// memory in wide pieces: rows must be aligned to the widest access. Some also
// require K along the rows. An operand with another layout is copied once, with
// an aligned row pitch,
//
//        N = 3, in elements                 step = 8
//      +---+---+---+                      +---+---+---+-------------------+
//    K | 0 | 1 | 2 |                      | 0 | 1 | 2 | (never read)      |
//      | 3 | 4 | 5 |         ==>          | 3 | 4 | 5 |                   |
//      +---+---+---+                      +---+---+---+-------------------+
//
// if the matmul gains more time by this than the copy takes.
//
// A CPU reads a row of rhs as vectors. A constant that is stored with K
// contiguous, such as the filters of a grouped convolution, is transposed when
// the program is loaded; another operand is transposed before a matmul of many
// rows. So is a copy made of rhs whose rows are pages apart, with longer rows.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "PackImages.h"

#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/Checkpoint.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Scheduling/RankSchedules.h"
#include "Scheduling/ScheduleCheck.h"
#include "Scheduling/ThreadCopiesSchedule.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAPACKOPERANDS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-pack-operands"

STATISTIC(numChoicesByModel,
          "Number of contractions whose copies the model of schedules decided");
STATISTIC(numPackedOperands, "Number of operands copied to a packed layout");

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// A copy of one operand to be made.
struct Plan {
  Value source;
  /// The operand's dimensions, the slowest first.
  SmallVector<int64_t> order;
  /// Whether another dimension than before runs fastest.
  bool transposes = false;
  /// A description of its purpose.
  std::string why;
};

/// A copy that was made.
struct Packed {
  Plan plan;
  Value memory;
  linalg::GenericOp copy;
  memref::DeallocOp dealloc;
};

/// Packs the operands of contractions, in the order of the program.
class Packer {
public:
  Packer(const Chip &chip, ScheduleRankings &rankings)
      : chip(chip), rankings(rankings) {}
  void run(ContractOp op);

private:
  std::optional<Plan> makePlan(ContractOp op, unsigned side,
                               ArrayRef<unsigned> along, bool transposes,
                               StringRef what);
  void packRows(ContractOp op, const MatrixForm &form);
  void packFilter(ContractOp op, const MatrixForm &form,
                  ArrayRef<const MatrixInstruction *> rows);
  /// Copies the operands that have a plan if that pays: with `savedEach`
  /// nanoseconds for each multiplication. With `isForced`, independent of that.
  void apply(ContractOp op, const std::array<std::optional<Plan>, 2> &plans,
             double savedEach, bool isForced);
  Packed *findPacked(ContractOp op, const Plan &plan);

  const Chip &chip;
  ScheduleRankings &rankings;
  SmallVector<Packed> packed;
};

} // namespace

//===----------------------------------------------------------------------===//
// Whether it pays
//===----------------------------------------------------------------------===//

/// The copy's time in nanoseconds, which a constant does not take when the
/// program runs.
static double estimateCopy(const Plan &plan, const PerformanceModel &rates) {
  if (isLargeConstant(plan.source))
    return 0;
  auto type = cast<MemRefType>(plan.source.getType());
  double elements = type.getNumElements(),
         bytes = elements * getElementBytes(type.getElementType()),
         ns = 2 * bytes / rates.copies;
  if (plan.transposes)
    ns = std::max(ns, elements / rates.transposedElements);
  return rates.copyStart + ns;
}

/// The multiplications of `op`; 0 where they are not known.
static double countMultiplyAdds(ContractOp op) {
  double count = 1;
  for (unsigned d = 0; d < op.getMap(0).getNumDims(); ++d) {
    int64_t extent = getStaticExtent(op, d);
    if (ShapedType::isDynamic(extent))
      return 0;
    count *= extent;
  }
  return count;
}

/// The nanoseconds saved for each multiplication of `op` by operands with K
/// contiguous.
static double getSavedByOrder(ContractOp op, const PerformanceModel &rates) {
  bool isWords =
      getElementBytes(getElementTypeOrSelf(op.getLhs().getType())) >= 4;
  return isWords ? rates.savedByOrderOfWords : rates.savedByOrder;
}

/// Whether the fastest schedule of `op` by the model of schedules is one of a
/// group of subgroups for `packed`, the same contraction with operands that
/// were copied, including the copies. Empty if the model does not apply, or
/// expects about the same of both.
static std::optional<bool> isFasterPacked(ContractOp op, ContractOp packed,
                                          const Chip &chip,
                                          ScheduleRankings &rankings) {
  MatrixForm form = getMatrixForm(op);
  // The model was fitted to few copies for epilogues with operands, and to none
  // for images and producers.
  if (op.getScheduleAttr() || !op.getExtras().empty() || form.gather[0] ||
      form.gather[1] || !op.getProducer(0).empty() ||
      !op.getProducer(1).empty() || !canRankSchedules(op, chip))
    return std::nullopt;
  // The times of schedules of both kinds; the first legal one of each.
  constexpr double margin = 1.05;
  std::array<std::optional<double>, 2> times;
  ScheduleChecker plain(op, chip), copied(packed, chip);
  for (const RankedSchedule &one : rankings.rank(op, packed, chip)) {
    bool isGroup = one.fields.subgroupsPerFragment > 1;
    if (times[isGroup])
      continue;
    auto schedule = ScheduleAttr::get(op.getContext(), one.fields);
    if ((isGroup ? copied : plain).isLegal(schedule))
      times[isGroup] = one.time;
    if (times[0] && times[1])
      break;
  }
  if (!times[0] || !times[1] ||
      std::max(*times[0], *times[1]) > chip.model.schedules->longest)
    return std::nullopt;
  LDBG() << op.getLoc() << ": by the model, " << *times[0]
         << " ns as it is, and " << *times[1] << " ns with copies";
  if (std::max(*times[0], *times[1]) < margin * std::min(*times[0], *times[1]))
    return std::nullopt;
  return *times[1] < *times[0];
}

//===----------------------------------------------------------------------===//
// One copy for several contractions
//===----------------------------------------------------------------------===//

/// The buffer that `memory` is a view of.
static Value getRoot(Value memory) {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  return memory;
}

/// Whether `root` is memory of its own, which only its views alias, except
/// arguments.
static bool isAllocation(Value root) {
  return root.getDefiningOp<memref::AllocOp>() ||
         root.getDefiningOp<memref::AllocaOp>();
}

static bool isArgumentOrGlobal(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return root.getDefiningOp<memref::GetGlobalOp>() ||
         (argument && argument.getOwner()->isEntryBlock() &&
          isa<func::FuncOp>(argument.getOwner()->getParentOp()));
}

/// The constant that `memory` is a view of; null for other memory.
static memref::GlobalOp getConstant(Value memory) {
  auto get = getRoot(memory).getDefiningOp<memref::GetGlobalOp>();
  auto global = get ? SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
                          get, get.getNameAttr())
                    : memref::GlobalOp();
  return global && global.getConstant() ? global : memref::GlobalOp();
}

bool mlir::tessera::isLargeConstant(Value memory) {
  memref::GlobalOp global = getConstant(memory);
  return global && isa_and_present<DenseResourceElementsAttr>(
                       global.getInitialValueAttr());
}

bool mlir::tessera::mayChange(Operation *op, Value source) {
  if (isCheckpoint(op) || getConstant(source))
    return false;
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(op);
  if (!effects)
    return true;
  Value root = getRoot(source);
  return llvm::any_of(*effects, [&](MemoryEffects::EffectInstance &effect) {
    if (!isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect()))
      return false;
    Value written = effect.getValue() ? getRoot(effect.getValue()) : Value();
    return !written || written == root || !isAllocation(written) ||
           (!isAllocation(root) && !isArgumentOrGlobal(root));
  });
}

/// The copy by `plan` that was made for another contraction before `op`, if it
/// still has the operand's contents; null otherwise.
Packed *Packer::findPacked(ContractOp op, const Plan &plan) {
  for (Packed &other : packed) {
    if (other.plan.source != plan.source || other.plan.order != plan.order ||
        other.copy->getBlock() != op->getBlock())
      continue;
    Operation *between = other.copy->getNextNode();
    while (between && between != op && !mayChange(between, plan.source))
      between = between->getNextNode();
    if (between == op)
      return &other;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The copy
//===----------------------------------------------------------------------===//

/// The copy with which lhs (0) or rhs (1) of `op` can be read, with the
/// dimension `along` contiguous: `what`. Empty if the operand is not a matrix
/// of static extents for each batch.
std::optional<Plan> Packer::makePlan(ContractOp op, unsigned side,
                                     ArrayRef<unsigned> along, bool transposes,
                                     StringRef what) {
  Plan plan;
  plan.source = side ? op.getRhs() : op.getLhs();
  auto type = dyn_cast<MemRefType>(plan.source.getType());
  AffineMap map = op.getMap(side);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || !type.hasStaticShape() || type.getNumElements() == 0 ||
      type.getMemorySpace() || !op.getProducer(side).empty() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      isPacked(type.getElementType()) ||
      chip.accessBytes % getElementBytes(type.getElementType()) ||
      !map.isProjectedPermutation())
    return std::nullopt;
  // With several dimensions along the rows, padding would make them
  // non-contiguous.
  plan.transposes = transposes;
  std::optional<unsigned> fastest;
  if (along.size() == 1)
    fastest =
        map.getResultPosition(getAffineDimExpr(along.front(), op.getContext()));
  if (!fastest)
    return std::nullopt;
  for (unsigned r = 0; r < map.getNumResults(); ++r)
    if (r != *fastest)
      plan.order.push_back(r);
  plan.order.push_back(*fastest);

  llvm::raw_string_ostream text(plan.why);
  text << "copies " << (side ? "rhs" : "lhs") << " of a matmul, ";
  for (int64_t size : type.getShape())
    text << size << "x";
  text << type.getElementType() << ", to rows that are aligned to "
       << chip.accessBytes << " bytes" << what;
  return plan;
}

static constexpr int64_t wordBytes = 4;

/// Rows a multiple of a page apart lie in a few sets of a CPU's caches, and
/// each begins in another page.
static bool hasPitchOfPages(int64_t elements, Type type) {
  constexpr int64_t page = 4096;
  return elements * getElementBytes(type) % page == 0;
}

/// Memory for the copy, with padded rows.
static Value allocate(ImplicitLocOpBuilder &builder, const Plan &plan,
                      const Chip &chip) {
  auto type = cast<MemRefType>(plan.source.getType());
  SmallVector<int64_t> shape;
  for (int64_t r : plan.order)
    shape.push_back(type.getDimSize(r));
  SmallVector<int64_t> padded(shape);
  int64_t access = chip.accessBytes / getElementBytes(type.getElementType());
  padded.back() = llvm::alignTo(padded.back(), access);
  if (!chip.hasLanes() && hasPitchOfPages(padded.back(), type.getElementType()))
    padded.back() += access;
  Value memory = memref::AllocOp::create(
      builder, MemRefType::get(padded, type.getElementType()),
      builder.getI64IntegerAttr(chip.accessBytes));
  if (padded == shape)
    return memory;
  SmallVector<OpFoldResult> offsets(shape.size(), builder.getIndexAttr(0)),
      sizes = getAsIndexOpFoldResult(builder.getContext(), shape),
      steps(shape.size(), builder.getIndexAttr(1));
  return memref::SubViewOp::create(builder, memory, offsets, sizes, steps);
}

static linalg::GenericOp emitCopy(ImplicitLocOpBuilder &builder,
                                  const Plan &plan, Value memory) {
  unsigned rank = plan.order.size();
  AffineMap target = builder.getMultiDimIdentityMap(rank);
  AffineMap source = inversePermutation(
      AffineMap::getPermutationMap(plan.order, builder.getContext()));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(
      builder, ValueRange{plan.source}, ValueRange{memory},
      ArrayRef<AffineMap>{source, target}, iterators,
      [](OpBuilder &nested, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(nested, loc, arguments[0]);
      });
  copy->setAttr(TesseraDialect::PackingAttrHelper::getNameStr(),
                builder.getStringAttr(plan.why));
  return copy;
}

void mlir::tessera::setOperand(ContractOp op, unsigned operand, Value memory,
                               ArrayRef<int64_t> order) {
  AffineMap old = op.getMap(operand);
  SmallVector<Attribute> maps(op.getMaps().getValue());
  maps[operand] = AffineMapAttr::get(AffineMap::get(
      old.getNumDims(), 0, applyPermutation(old.getResults(), order),
      op.getContext()));
  op.setMapsAttr(ArrayAttr::get(op.getContext(), maps));
  (operand == 0   ? op.getLhsMutable()
   : operand == 1 ? op.getRhsMutable()
                  : op.getOutputMutable())
      .assign(memory);
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The instructions of several subgroups that `op` could use.
static SmallVector<const MatrixInstruction *>
getGroupInstructions(ContractOp op, const MatrixForm &form, const Chip &chip) {
  SmallVector<int64_t> groups;
  if (ScheduleAttr schedule = op.getScheduleAttr()) {
    if (schedule.getSwizzle())
      groups.push_back(schedule.getSubgroupsPerFragment());
  } else {
    for (const ScheduleDefaults &tiling : chip.policy.groupDefaults)
      if (!llvm::is_contained(groups, tiling.group))
        groups.push_back(tiling.group);
  }
  SmallVector<const MatrixInstruction *> rows;
  for (int64_t group : groups)
    if (group > 1)
      llvm::append_range(rows, getPermittedInstructions(op, form, chip, group));
  return rows;
}

/// Whether `op` in its current form is computed by such an instruction, by the
/// rules that the times saved were measured with.
static bool usesGroup(ContractOp op, const Chip &chip) {
  if (ScheduleAttr schedule = op.getScheduleAttr())
    return getScheduleProblems(op, schedule, chip).empty();
  return getScheduleByRules(op, chip).getSubgroupsPerFragment() > 1;
}

/// Whether single subgroups copy the rows of an operand asynchronously as they
/// are, in pieces of half the widest access.
static bool hasRowsOfPieces(ContractOp op, unsigned side, const Chip &chip) {
  int64_t piece = chip.accessBytes / 2;
  return chip.asyncCopy && piece >= chip.asyncCopyBytes &&
         hasRowsOfMultiple(op, side, piece);
}

/// Whether rhs is a matrix with rows a multiple of two pages apart, or of one
/// where a tile reads less than a line of each, and more bytes than the
/// processor's own cache holds. Measured on two cores: 2048 cubed takes 107 ms,
/// and 79 with other rows, 4096 cubed 1682 and 879, 128x4096x9216 60 and 50;
/// 1024 cubed, with rows of one page, 10.5 and 10.3; 1024x4096x4096 of bytes
/// 160, and 79 with 4000 columns.
static bool hasRowsOfPages(ContractOp op, const Chip &chip) {
  auto type = cast<MemRefType>(op.getRhs().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  int64_t pages = getElementBytes(type.getElementType()) < wordBytes ? 1 : 2;
  return type.getRank() == 2 &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         ShapedType::isStatic(strides[0]) && strides[0] % pages == 0 &&
         hasPitchOfPages(strides[0] / pages, type.getElementType()) &&
         type.getNumElements() * getElementBytes(type.getElementType()) >
             chip.policy.cacheBytes;
}

/// Copies rhs for a CPU, if its rows are not contiguous, or if they are a
/// multiple of two pages apart: a constant of the former kind in any case,
/// others if the copy takes less time than is then saved.
void Packer::packRows(ContractOp op, const MatrixForm &form) {
  // Beyond, a constant takes twice the memory for little: matmuls transpose
  // vectors in registers.
  constexpr int64_t mostBytes = 16 << 20;
  // The least of the times saved above, for each multiplication.
  constexpr double savedByPitch = 2e-3;
  // Longer columns of a tile are not in the second cache, and taller tiles,
  // which transpose in registers, read them less often: 512x4096x9216 takes 484
  // ms with a copy and 294 without.
  constexpr int64_t longest = 8192;
  auto type = dyn_cast<MemRefType>(op.getRhs().getType());
  if (op.getScheduleAttr() || form.gather[1] || !type || !type.hasStaticShape())
    return;
  bool transposes = isStoredTransposed(op, form, 1);
  if (!transposes && !hasRowsOfPages(op, chip))
    return;
  // Narrow elements are packed along K when they are read. Two or four bytes of
  // it are gathered from rows.
  auto isByte = [&](unsigned side) {
    return op.getFactorType(side).isInteger(8);
  };
  int64_t bytes = getElementBytes(type.getElementType());
  bool isConstant = isLargeConstant(op.getRhs());
  // rhs may be a block of a constant.
  if ((bytes < wordBytes && !(isByte(0) && isByte(1))) ||
      (isConstant &&
       getConstant(op.getRhs()).getType().getNumElements() * bytes > mostBytes))
    return;
  std::optional<Plan> plan =
      makePlan(op, /*side=*/1, form.getCols(1), transposes,
               transposes ? ", with N contiguous" : ", and not to pages");
  if (!plan)
    return;
  double savedEach =
             transposes ? getSavedByOrder(op, chip.model) : savedByPitch,
         saved = countMultiplyAdds(op) * savedEach *
                 std::max(double(bytes) / wordBytes, 1.0),
         cost = estimateCopy(*plan, chip.model);
  bool isLong = transposes && getStaticExtents(op, form)[2] > longest;
  if (!(isConstant && transposes) && (isLong || saved <= cost)) {
    LDBG() << op.getLoc() << ": not packed: it would cost " << cost
           << " ns and save " << saved;
    return;
  }
  if (Packed *found = findPacked(op, *plan)) {
    setOperand(op, 1, found->memory, plan->order);
    found->dealloc->moveAfter(op);
    return;
  }
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  Packed one{*plan, allocate(builder, *plan, chip), nullptr, nullptr};
  one.copy = emitCopy(builder, *plan, one.memory);
  setOperand(op, 1, one.memory, plan->order);
  builder.setInsertionPointAfter(op);
  one.dealloc = memref::DeallocOp::create(builder, getRoot(one.memory));
  packed.push_back(one);
  ++numPackedOperands;
}

/// Transposes the filter of a convolution, if instructions of several subgroups
/// read it with K contiguous only: the channels of each position of a window,
/// and then the positions.
void Packer::packFilter(ContractOp op, const MatrixForm &form,
                        ArrayRef<const MatrixInstruction *> rows) {
  if (form.gather[1] || !form.batch.empty() ||
      llvm::any_of(rows, [&](const MatrixInstruction *row) {
        return hasOrder(op, form, 1, *row);
      }))
    return;
  std::optional<Plan> plan =
      makePlan(op, /*side=*/1, form.k.back(),
               /*transposes=*/true, ", with K contiguous");
  if (!plan)
    return;
  plan->why.clear();
  llvm::raw_string_ostream text(plan->why);
  text << "copies the filters of a convolution, ";
  auto type = cast<MemRefType>(plan->source.getType());
  for (int64_t size : type.getShape())
    text << size << "x";
  text << type.getElementType() << ", to rows with K contiguous";
  AffineMap map = op.getMap(1);
  plan->order.clear();
  for (ArrayRef<unsigned> dims : {form.getCols(1), ArrayRef<unsigned>(form.k)})
    for (unsigned d : dims)
      if (std::optional<unsigned> at =
              map.getResultPosition(getAffineDimExpr(d, op.getContext())))
        plan->order.push_back(*at);
  if (plan->order.size() != map.getNumResults())
    return;
  apply(op, {std::nullopt, plan}, getSavedByOrder(op, chip.model),
        /*isForced=*/false);
}

void Packer::run(ContractOp op) {
  MatrixForm form = getMatrixForm(op);
  if (!chip.hasLanes()) {
    if (!op.getScheduleAttr() && packFewChannels(op, chip))
      return;
    return packRows(op, form);
  }
  SmallVector<const MatrixInstruction *> rows =
      getGroupInstructions(op, form, chip);
  if (rows.empty()) {
    LDBG() << op.getLoc() << ": no instruction of a group of subgroups";
    bool hasGroups =
        llvm::any_of(chip.instructions, [](const MatrixInstruction &row) {
          return row.subgroups > 1;
        });
    if (!hasGroups && chip.model.savedByRuns > 0 && !op.getScheduleAttr() &&
        (form.gather[0] || form.gather[1]))
      packFewChannels(op, chip);
    return;
  }
  if (form.gather[0] || form.gather[1]) {
    bool isPacked = !op.getScheduleAttr() &&
                    (packImage(op, chip) || packChannels(op, chip));
    if (!isPacked && chip.hasLanes())
      fusePadding(op);
    if (!isPacked && !op.getScheduleAttr())
      packFilter(op, getMatrixForm(op), rows);
    return;
  }
  if (!op.getScheduleAttr() && getThreadCopiesSchedule(op, chip, rankings)) {
    LDBG() << op.getLoc() << ": threads copy the rows";
    return;
  }
  std::array<std::optional<Plan>, 2> plans;
  bool allAligned = true, allOrdered = true;
  for (unsigned side : {0, 1}) {
    bool aligned = hasAlignedRows(op, side, chip),
         ordered = llvm::any_of(rows, [&](const MatrixInstruction *row) {
           return hasOrder(op, form, side, *row);
         });
    allAligned &= aligned;
    allOrdered &= ordered;
    if (aligned && ordered)
      continue;
    ArrayRef<unsigned> along = !ordered ? ArrayRef<unsigned>(form.k)
                               : isStoredTransposed(op, form, side)
                                   ? form.getRows(side)
                                   : form.getCols(side);
    plans[side] = makePlan(op, side, along, /*transposes=*/!ordered,
                           ordered ? "" : ", with K contiguous");
    if (!plans[side]) {
      LDBG() << op.getLoc() << ": operand " << side << " cannot be packed";
      return;
    }
  }
  if (allAligned && allOrdered)
    return;

  // A schedule with an explicit group is not legal with another order.
  apply(op, plans,
        allAligned ? getSavedByOrder(op, chip.model) : chip.model.savedByRows,
        op.getScheduleAttr() && !allOrdered);
}

void Packer::apply(ContractOp op,
                   const std::array<std::optional<Plan>, 2> &plans,
                   double savedEach, bool isForced) {
  double saved = countMultiplyAdds(op) * savedEach, cost = 0;
  std::array<Packed *, 2> found{};
  for (unsigned side : {0, 1}) {
    if (!plans[side])
      continue;
    found[side] = findPacked(op, *plans[side]);
    bool isSame = side == 1 && plans[0] &&
                  plans[0]->source == plans[1]->source &&
                  plans[0]->order == plans[1]->order;
    if (!found[side] && !isSame)
      cost += estimateCopy(*plans[side], chip.model);
  }
  LDBG() << op.getLoc() << ": packing costs " << cost << " ns and saves "
         << saved;
  // The model counts every copy, also those of constants and of other matmuls.
  bool paysEachCopy =
      !isForced && llvm::all_of(llvm::seq(2u), [&](unsigned side) {
        return !plans[side] ||
               (!found[side] && !isLargeConstant(plans[side]->source));
      });
  if (saved <= cost && !isForced && !paysEachCopy)
    return;

  // Tentatively changes the op; the change is kept only if the op is then
  // computed by an instruction of a group of subgroups.
  std::array<Value, 2> before{op.getLhs(), op.getRhs()};
  ArrayAttr maps = op.getMaps();
  bool onlyForGroup = llvm::all_of(llvm::seq(2u), [&](unsigned side) {
    return !plans[side] || hasRowsOfPieces(op, side, chip);
  });
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  ContractOp original =
      paysEachCopy ? cast<ContractOp>(builder.clone(*op)) : ContractOp();
  SmallVector<Packed> made;
  SmallVector<Packed *> used;
  for (unsigned side : {0, 1}) {
    if (!plans[side])
      continue;
    Value memory;
    if (found[side]) {
      memory = found[side]->memory;
      used.push_back(found[side]);
    } else if (!made.empty() && made[0].plan.source == plans[side]->source &&
               made[0].plan.order == plans[side]->order) {
      memory = made[0].memory;
    } else {
      memory = allocate(builder, *plans[side], chip);
      made.push_back({*plans[side], memory, nullptr, nullptr});
    }
    setOperand(op, side, memory, plans[side]->order);
  }
  bool pays = saved > cost || isForced;
  if (original) {
    if (std::optional<bool> isFaster =
            isFasterPacked(original, op, chip, rankings)) {
      numChoicesByModel += *isFaster != pays;
      pays = *isFaster;
    }
    original.erase();
  }
  // The model may choose single subgroups in place of the rules' group. Where
  // only a group needs the copies, none is made then: an H200 computes
  // 802816x144x24 in i8 in 54 us without the copy of lhs, which would take 17
  // by the estimate.
  auto leavesGroup = [&] {
    return onlyForGroup && !op.getScheduleAttr() &&
           getDefaultSchedule(op, chip, /*prediction=*/nullptr, &rankings)
                   .getSubgroupsPerFragment() == 1;
  };
  if (!pays || !usesGroup(op, chip) || leavesGroup()) {
    LDBG() << (pays ? "  not packed: no schedule of a group of subgroups is "
                      "legal, or the model chooses another one"
                    : "  not packed: slower");
    op.setMapsAttr(maps);
    op.getLhsMutable().assign(before[0]);
    op.getRhsMutable().assign(before[1]);
    for (Packed &one : made) {
      Operation *view = one.memory.getDefiningOp();
      Operation *memory = getRoot(one.memory).getDefiningOp();
      view->erase();
      if (memory != view)
        memory->erase();
    }
    return;
  }
  for (Packed *one : used)
    one->dealloc->moveAfter(op);
  for (Packed &one : made) {
    builder.setInsertionPoint(op);
    one.copy = emitCopy(builder, one.plan, one.memory);
    builder.setInsertionPointAfter(op);
    one.dealloc = memref::DeallocOp::create(builder, getRoot(one.memory));
    packed.push_back(one);
    ++numPackedOperands;
  }
}

namespace {
struct TesseraPackOperandsPass
    : public tessera::impl::TesseraPackOperandsBase<TesseraPackOperandsPass> {
  using TesseraPackOperandsBase::TesseraPackOperandsBase;

  void runOnOperation() override {
    // The schedules of contractions that are not copied are chosen later.
    markAnalysesPreserved<ScheduleRankings>();
    std::optional<Packer> packer;
    auto pack = [&](ContractOp op, const Chip &chip) {
      if (!packer)
        packer.emplace(chip, getAnalysis<ScheduleRankings>());
      packer->run(op);
      return success();
    };
    if (failed(forEachOnChip<ContractOp>(getOperation(), isOnMemRefs, pack)))
      signalPassFailure();
  }
};
} // namespace
