//===- LegalizeFragments.cpp - Choose instructions and lane maps ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values that must share a distribution form a class: the operands of a map,
// the values that a loop carries, an accumulator and the result of its mma.
// Each mma chooses the best instruction of the chip; the first one determines
// the lane map of a class, and a later one that needs another map gets a
// tessera.convert.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Transforms/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Fragments.h"
#include "Dialect/Tessera/Utils/OperandOrder.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERALEGALIZEFRAGMENTS
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-legalize-fragments"

STATISTIC(numLegalizedFragments, "Number of fragments given a lane map");
STATISTIC(numMatrixUnitMmas, "Number of tessera.mma on the matrix unit");
STATISTIC(numOtherMmas, "Number of tessera.mma on other instructions");
STATISTIC(numConvertedOperands,
          "Number of operands of tessera.mma converted to another lane map");

using namespace mlir;
using namespace mlir::tessera;

namespace {

class Legalizer {
public:
  Legalizer(Operation *root, const Chip &chip, const CompileFlags &flags)
      : root(root), chip(chip), flags(flags) {}

  LogicalResult run();

private:
  void addClasses(Operation *op);
  void unite(Value a, Value b) {
    if (isa<FragmentType>(a.getType()) && isa<FragmentType>(b.getType()))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  template <typename RangeA, typename RangeB>
  void uniteAll(RangeA &&as, RangeB &&bs) {
    for (auto [a, b] : llvm::zip(as, bs))
      unite(a, b);
  }
  const void *leader(Value value) {
    return classes.getOrInsertLeaderValue(value.getAsOpaquePointer());
  }
  LogicalResult chooseForMma(MmaOp op);
  LogicalResult chooseForSum(SumPartsOp op);
  /// Extends operands of i4 to i8, for a chip without instructions for i4.
  void widenOperands(OpBuilder &builder, MmaOp op,
                     const MatrixInstruction &row);
  /// Verifies that the operands which `row` reads from memory are in memory.
  static LogicalResult checkMemoryOperands(MmaOp op,
                                           const MatrixInstruction &row);
  /// The instruction of a class for a fragment of `type`. Vectors along M
  /// connect matrices of different widths, such as sums and the matrices that
  /// they scale: a narrower one gets a narrower instruction of the same kind,
  /// whose rows have the same layout. Null if there is none.
  const MatrixInstruction *resolve(const MatrixInstruction &row,
                                   FragmentType type) const;
  /// Whether `value` has the distribution that `row` requires. Decides it if
  /// its class is undecided.
  bool demand(Value value, const MatrixInstruction &row);
  LogicalResult chooseForTheRest();
  void setTypes();

  Operation *root;
  const Chip &chip;
  const CompileFlags &flags;
  llvm::EquivalenceClasses<const void *> classes;
  llvm::DenseMap<const void *, const MatrixInstruction *> chosen;
  SmallVector<Value> fragments;
  /// Ops to be erased, after all decisions, since classes identify values by
  /// their addresses, which an op that is created later could reuse.
  SmallVector<MmaOp> replaced;
};

} // namespace

void Legalizer::addClasses(Operation *op) {
  if (auto mma = dyn_cast<MmaOp>(op)) {
    unite(mma.getAcc(), mma.getResult());
  } else if (auto await = dyn_cast<AwaitOp>(op)) {
    unite(await.getAcc(), await.getResult());
  } else if (auto map = dyn_cast<MapOp>(op)) {
    for (Value input : map.getInputs())
      unite(input, map.getResult());
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    unite(broadcast.getSource(), broadcast.getResult());
  } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
    unite(reduce.getSource(), reduce.getResult());
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    unite(select.getTrueValue(), select.getResult());
    unite(select.getFalseValue(), select.getResult());
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    uniteAll(loop.getInitArgs(), loop.getRegionIterArgs());
    uniteAll(loop.getInitArgs(), loop.getYieldedValues());
    uniteAll(loop.getInitArgs(), loop.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    uniteAll(loop.getInits(), loop.getBeforeArguments());
    uniteAll(loop.getInits(), loop.getYieldOp().getResults());
    uniteAll(loop.getConditionOp().getArgs(), loop.getAfterArguments());
    uniteAll(loop.getConditionOp().getArgs(), loop.getResults());
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults()) {
      uniteAll(branch.thenYield().getResults(), branch.getResults());
      uniteAll(branch.elseYield().getResults(), branch.getResults());
    }
  } else if (auto branch = dyn_cast<BranchOpInterface>(op)) {
    for (unsigned i = 0; i < op->getNumSuccessors(); ++i) {
      SuccessorOperands operands = branch.getSuccessorOperands(i);
      Block *block = op->getSuccessor(i);
      for (unsigned j = operands.getProducedOperandCount(); j < operands.size();
           ++j)
        unite(operands[j], block->getArgument(j));
    }
  }
}

/// Whether `row` can distribute `type`.
static bool fits(const MatrixInstruction &row, FragmentType type) {
  const LaneMap &map = row.getMap(type.getRole());
  return (type.getRows() % map.getRows() == 0 || type.getRows() == 1) &&
         (type.getCols() % map.getCols() == 0 || type.getCols() == 1);
}

const MatrixInstruction *Legalizer::resolve(const MatrixInstruction &row,
                                            FragmentType type) const {
  if (fits(row, type))
    return &row;
  const MatrixInstruction *widest = nullptr;
  for (const MatrixInstruction &other : chip.instructions)
    if (other.subgroups == row.subgroups && other.m == row.m &&
        other.k == row.k && other.aType == row.aType &&
        other.bType == row.bType && other.accType == row.accType &&
        other.tf32 == row.tf32 && other.matrixUnit == row.matrixUnit &&
        other.repeated == row.repeated && other.aInMemory == row.aInMemory &&
        other.n < row.n && fits(other, type) &&
        (!widest || widest->n < other.n) &&
        other.accMap.dropDimension(1) == row.accMap.dropDimension(1))
      widest = &other;
  return widest;
}

bool Legalizer::demand(Value value, const MatrixInstruction &row) {
  auto type = cast<FragmentType>(value.getType());
  const MatrixInstruction *&slot = chosen[leader(value)];
  if (!slot)
    slot = &row;
  const MatrixInstruction *own = resolve(*slot, type);
  return own && own->opaque == row.opaque &&
         own->getMap(type.getRole()) == row.getMap(type.getRole());
}

/// The reason why `value` is not an operand that an instruction can read from
/// swizzled workgroup memory. Empty if it is one.
static std::string explainNotInMemory(MmaOp op, Value value,
                                      const MatrixInstruction &row) {
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !isWorkgroupMemory(load.getMemRefType()))
    return "is not loaded from workgroup memory";
  if (!load.getSwizzled())
    return "is loaded from memory that is not swizzled";
  if (!load.getInBounds())
    return "is not loaded in_bounds";
  bool isA = load.getType().getRole() == Role::A;
  if (!row.anyOrder && load.getTranspose() == isA)
    return isA ? "is column-major" : "is row-major";
  // The instruction reads the memory at the position of the mma.
  if (load->getBlock() != op->getBlock())
    return "is loaded in a different block";
  for (Operation *between = load->getNextNode(); between != op;
       between = between->getNextNode())
    if (!isMemoryEffectFree(between) && !isa<LoadOp, MmaOp>(between))
      return "is loaded before an op that may write the memory";
  return "";
}

LogicalResult Legalizer::checkMemoryOperands(MmaOp op,
                                             const MatrixInstruction &row) {
  for (Value value : {op.getA(), op.getB()}) {
    Role role = cast<FragmentType>(value.getType()).getRole();
    if (!row.isInMemory(role))
      continue;
    std::string why = explainNotInMemory(op, value, row);
    if (!why.empty())
      return op.emitError()
             << row.name << " reads operand " << (role == Role::A ? "a" : "b")
             << " from workgroup memory, but it " << why;
    if (value.getDefiningOp<LoadOp>().getTranspose())
      op->setAttr(role == Role::A
                      ? TesseraDialect::TransposedAAttrHelper::getNameStr()
                      : TesseraDialect::TransposedBAttrHelper::getNameStr(),
                  UnitAttr::get(op.getContext()));
  }
  return success();
}

/// The share of a sum has the columns of the whole, laid out as by a narrower
/// instruction of the same kind.
LogicalResult Legalizer::chooseForSum(SumPartsOp op) {
  const MatrixInstruction *whole = chosen.lookup(leader(op.getValue()));
  int64_t columns = op.getResult().getType().getCols();
  for (const MatrixInstruction &row : chip.instructions) {
    if (!whole || row.subgroups != whole->subgroups || row.m != whole->m ||
        row.repeated != whole->repeated ||
        row.n != std::min(whole->n, columns) || row.accType != whole->accType ||
        row.aType != whole->aType || row.bType != whole->bType ||
        row.k != whole->k || row.matrixUnit != whole->matrixUnit)
      continue;
    if (demand(op.getResult(), row))
      return success();
  }
  return op.emitError() << "no instruction of " << chip.name << " distributes "
                        << op.getResult().getType()
                        << " in the layout of the columns of "
                        << op.getValue().getType();
}

void Legalizer::widenOperands(OpBuilder &builder, MmaOp op,
                              const MatrixInstruction &row) {
  auto widen = [&](Value value, bool isUnsigned) {
    auto type = cast<FragmentType>(value.getType())
                    .cloneWithElementType(builder.getI8Type());
    Value wide =
        ConvertOp::create(builder, op.getLoc(), type, value, isUnsigned);
    fragments.push_back(wide);
    chosen[leader(wide)] = &row;
    return wide;
  };
  op.getAMutable().assign(widen(op.getA(), op.getUnsignedA()));
  op.getBMutable().assign(widen(op.getB(), op.getUnsignedB()));
  op.setUnsignedA(false);
  op.setUnsignedB(false);
  op->setAttr(TesseraDialect::WidenedAttrHelper::getNameStr(),
              builder.getUnitAttr());
}

/// The bits of an element in memory of `value`, an operand of an mma that a map
/// widens from runs of K in memory; 0 if it is not one.
static int64_t getStoredBits(Value value) {
  auto map = value.getDefiningOp<MapOp>();
  auto load = map ? map.getInputs().front().getDefiningOp<LoadOp>() : LoadOp();
  if (!load)
    return 0;
  bool isA = load.getType().getRole() == Role::A;
  MemRefType memory = load.getMemRefType();
  int64_t stored = getElementBits(memory.getElementType()),
          widened = getElementBits(
              cast<FragmentType>(value.getType()).getElementType());
  bool runsAlongK = load.getTranspose() != isA && memory.isLastDimUnitStride();
  return runsAlongK && stored < widened ? stored : 0;
}

/// Whether `value`, operand b of an mma, is loaded from workgroup memory with N
/// along the rows, in bytes.
static bool isBytesAlongN(Value value) {
  auto load = value.getDefiningOp<LoadOp>();
  return load && !load.getTranspose() &&
         isWorkgroupMemory(load.getMemRefType()) &&
         getElementBits(load.getMemRefType().getElementType()) == 8 &&
         getElementBits(load.getType().getElementType()) == 8;
}

LogicalResult Legalizer::chooseForMma(MmaOp op) {
  FragmentType a = op.getA().getType(), b = op.getB().getType(),
               acc = op.getAcc().getType();
  SmallVector<std::string> why;
  const MatrixInstruction *row = selectInstruction(
      chip, a.getElementType(), b.getElementType(), acc.getElementType(),
      op.getPrecision(), acc.getRows(), acc.getCols(), a.getCols(), &why,
      getFragmentGroup(op), hasMemoryOperandA(op, chip),
      op.getUnsignedA() || op.getUnsignedB());
  if (!row || (flags.requireMatrixUnit && !row->matrixUnit)) {
    InFlightDiagnostic diag = op.emitError()
                              << (row ? "a matrix unit is required, but "
                                      : "no instruction of ")
                              << chip.name
                              << (row ? " has no matrix instruction for this "
                                        "op"
                                      : " supports this tessera.mma");
    for (StringRef line : why)
      diag.attachNote(op.getLoc()) << line;
    return diag;
  }
  for (Value operand : {op.getA(), op.getB()})
    if (int64_t bits = getStoredBits(operand))
      if (const MatrixInstruction *longer =
              findRepetition(chip, *row, bits, a.getCols()))
        row = longer;
  if (isBytesAlongN(op.getB()))
    if (const MatrixInstruction *pairs =
            findColumnPairs(chip, *row, acc.getCols()))
      row = pairs;
  LDBG() << op.getLoc() << ": " << row->name;
  for (StringRef line : why)
    LDBG() << "  not " << line;
  ++(row->matrixUnit ? numMatrixUnitMmas : numOtherMmas);
  op->setAttr(TesseraDialect::InstructionAttrHelper::getNameStr(),
              StringAttr::get(op.getContext(), row->name));
  OpBuilder builder(op);
  if (isPacked(a.getElementType()) && row->aType == "i8")
    widenOperands(builder, op, *row);
  if (failed(checkMemoryOperands(op, *row)))
    return failure();

  // An operand whose class has another map is converted for this mma.
  auto convert = [&](Value value) {
    LDBG() << "  converts " << value.getType() << " of " << value.getLoc();
    ++numConvertedOperands;
    Value converted =
        ConvertOp::create(builder, op.getLoc(), value.getType(), value, false);
    fragments.push_back(converted);
    chosen[leader(converted)] = row;
    return converted;
  };
  if (!demand(op.getA(), *row))
    op.getAMutable().assign(convert(op.getA()));
  if (!demand(op.getB(), *row))
    op.getBMutable().assign(convert(op.getB()));
  if (!demand(op.getAcc(), *row)) {
    // The users of the result keep the class's map.
    Value acc = convert(op.getAcc());
    builder.setInsertionPointAfter(op);
    auto matmul = MmaOp::create(builder, op.getLoc(), acc.getType(), op.getA(),
                                op.getB(), acc, op.getUnsignedA(),
                                op.getUnsignedB(), op.getPrecision());
    matmul->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    chosen[leader(matmul)] = row;
    fragments.push_back(matmul);
    auto back =
        ConvertOp::create(builder, op.getLoc(), acc.getType(), matmul, false);
    unite(op.getResult(), back);
    fragments.push_back(back);
    op.getResult().replaceAllUsesWith(back);
    llvm::erase(fragments, op.getResult());
    replaced.push_back(op);
  }
  return success();
}

LogicalResult Legalizer::chooseForTheRest() {
  // The largest member determines which instruction fits the class.
  llvm::MapVector<const void *, FragmentType> largest;
  llvm::DenseMap<const void *, int64_t> groups;
  for (Value value : fragments) {
    auto type = cast<FragmentType>(value.getType());
    FragmentType &slot = largest[leader(value)];
    if (!slot || slot.getNumElements() < type.getNumElements())
      slot = type;
    groups[leader(value)] =
        getFragmentGroup(value.getParentRegion()->getParentOp());
  }
  // Along conversions, keep the map: then they cost no movement.
  SmallVector<ConvertOp> conversions;
  root->walk([&](ConvertOp op) {
    if (cast<FragmentType>(op.getSource().getType()).getRole() ==
        cast<FragmentType>(op.getResult().getType()).getRole())
      conversions.push_back(op);
  });
  auto propagate = [&] {
    bool changed = true;
    while (changed) {
      changed = false;
      for (ConvertOp op : conversions) {
        const void *source = leader(op.getSource());
        const void *result = leader(op.getResult());
        const MatrixInstruction *s = chosen.lookup(source);
        const MatrixInstruction *r = chosen.lookup(result);
        if (s && !r && resolve(*s, largest[result])) {
          chosen[result] = s;
          changed = true;
        } else if (r && !s && resolve(*r, largest[source])) {
          chosen[source] = r;
          changed = true;
        }
      }
    }
  };
  propagate();
  for (auto &[leader, type] : largest)
    if (!chosen[leader]) {
      chosen[leader] = selectPlainLayout(chip, type, groups.lookup(leader));
      LDBG() << type << " without a tessera.mma: "
             << (chosen[leader] ? chosen[leader]->name : "no lane map");
      propagate();
    }

  for (Value value : fragments) {
    auto type = cast<FragmentType>(value.getType());
    const MatrixInstruction *row = chosen[leader(value)];
    if (!row || !resolve(*row, type))
      return emitError(value.getLoc())
             << "no lane map of " << chip.name << " distributes " << type
             << (row ? " like '" + row->name +
                           "' for the fragments connected "
                           "with it"
                     : std::string());
  }
  return success();
}

void Legalizer::setTypes() {
  for (Value value : fragments) {
    auto type = cast<FragmentType>(value.getType());
    assert(chosen[leader(value)] && "chooseForTheRest decides every class");
    const MatrixInstruction *row = resolve(*chosen[leader(value)], type);
    assert(row && "chooseForTheRest checks every fragment");
    value.setType(type.cloneWithInstruction(
        StringAttr::get(type.getContext(), row->name)));
  }
}

LogicalResult Legalizer::run() {
  auto addFragment = [&](Value value) {
    if (isa<FragmentType>(value.getType()))
      fragments.push_back(value);
  };
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<VThreadOp>(op)) {
      op->emitError() << "virtual threads must be expanded before fragments "
                         "are legalized: run tessera-expand-vthreads first";
      return WalkResult::interrupt();
    }
    if (auto function = dyn_cast<FunctionOpInterface>(op)) {
      auto isFragment = [](Type type) { return isa<FragmentType>(type); };
      if (llvm::any_of(function.getArgumentTypes(), isFragment) ||
          llvm::any_of(function.getResultTypes(), isFragment)) {
        op->emitError() << "a legalized fragment cannot be an argument or a "
                           "result of a function: inline the function";
        return WalkResult::interrupt();
      }
    }
    for (Value value : op->getResults())
      addFragment(value);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          addFragment(value);
    addClasses(op);
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();

  SmallVector<MmaOp> matmuls;
  root->walk([&](MmaOp op) { matmuls.push_back(op); });
  for (MmaOp op : matmuls)
    if (failed(chooseForMma(op)))
      return failure();
  SmallVector<SumPartsOp> sums;
  root->walk([&](SumPartsOp op) { sums.push_back(op); });
  for (SumPartsOp op : sums)
    if (failed(chooseForSum(op)))
      return failure();
  if (failed(chooseForTheRest()))
    return failure();
  for (MmaOp op : replaced)
    op.erase();
  setTypes();
  numLegalizedFragments += fragments.size();
  return success();
}

namespace {

struct LegalizeFragmentsPass
    : public tessera::impl::TesseraLegalizeFragmentsBase<
          LegalizeFragmentsPass> {
  using TesseraLegalizeFragmentsBase::TesseraLegalizeFragmentsBase;
  /// A kernel made of a contraction has the group of its schedule.
  static void setGroups(gpu::GPUModuleOp module) {
    for (auto kernel : module.getOps<gpu::GPUFuncOp>())
      if (auto schedule =
              dyn_cast_or_null<ScheduleAttr>(getKernelSchedule(kernel));
          schedule && schedule.getSubgroupsPerFragment() > 1) {
        Builder builder(kernel.getContext());
        kernel->setAttr(
            TesseraDialect::GroupAttrHelper::getNameStr(),
            builder.getI64IntegerAttr(schedule.getSubgroupsPerFragment()));
        kernel->setAttr(TesseraDialect::StagesAttrHelper::getNameStr(),
                        builder.getI64IntegerAttr(schedule.getStages()));
        if (schedule.addsInCluster())
          kernel->setAttr(TesseraDialect::ClusterAttrHelper::getNameStr(),
                          builder.getI64IntegerAttr(schedule.getSplitK()));
        if (schedule.getNumClustered() > 1)
          kernel->setAttr(
              TesseraDialect::SharersAttrHelper::getNameStr(),
              builder.getDenseI64ArrayAttr(
                  {schedule.getClusterM(), schedule.getClusterN()}));
      }
  }

  void runOnOperation() override {
    if (auto module = dyn_cast<gpu::GPUModuleOp>(getOperation()))
      setGroups(module);
    FailureOr<const Chip *> found = getChip(getOperation());
    if (failed(found) ||
        failed(Legalizer(getOperation(), **found, flags).run()))
      signalPassFailure();
  }
};

} // namespace
