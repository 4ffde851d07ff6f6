//===- SeparateOpaque.cpp - Ops without cooperative matrices --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cooperative matrix is loaded, multiplied, converted and stored as a whole.
// An op that needs an element's position uses a fragment of a known lane map
// instead, with a tessera.convert before and after it. Each of these passes
// through workgroup memory, so that casts and stores of such a fragment, and
// loads for it, are by lanes too.
//
// The lanes' fragment of accumulators has a map for stores where these can be
// wide: a lane holds eight adjacent elements, 16 bytes of f16, and four lanes
// 64 bytes of a row (TargetInfo/RowMaps.h).
//
// Where rows are reduced, as in a softmax, lanes hold whole rows. Additions
// and multiplications of matrices with a column that was computed so stay ones
// of matrices: the column is broadcast to a matrix of its own, and the
// accumulators of a loop remain in registers:
//
//   %s = mma                          %s = mma
//   %m = reduce max %s                %t = convert %s : by rows
//   %f = map %m                ->     %m = reduce max %t
//   %o = map %acc, (broadcast %f)     %f = map %m
//                                     %o = map %acc, (broadcast %f) : matrices
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Alignment.h"
#include "MatrixMaps.h"
#include "Spirv.h"
#include "TargetInfo/Chip.h"
#include "TargetInfo/RowMaps.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tessera;

bool mlir::tessera::hasMatricesOf(const Chip &chip, FragmentType type,
                                  Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  const LaneMap &map = chip.findInstruction(type.getInstruction().getValue())
                           ->getMap(type.getRole());
  // The shape and type of some matmul of the device.
  return llvm::any_of(chip.instructions, [&](const MatrixInstruction &row) {
    const std::string &rowElement = type.getRole() == Role::A   ? row.aType
                                    : type.getRole() == Role::B ? row.bType
                                                                : row.accType;
    const LaneMap &rowMap = row.getMap(type.getRole());
    return row.opaque && rowElement == name &&
           rowMap.getRows() == map.getRows() &&
           rowMap.getCols() == map.getCols();
  });
}

bool mlir::tessera::canBeMatrix(const Chip &chip, FragmentType type) {
  const LaneMap &map = chip.findInstruction(type.getInstruction().getValue())
                           ->getMap(type.getRole());
  return type.getRows() % map.getRows() == 0 &&
         type.getCols() % map.getCols() == 0 &&
         hasMatricesOf(chip, type, type.getElementType());
}

bool mlir::tessera::convertsInPlace(const Chip &chip, ConvertOp op) {
  FragmentType from = op.getSource().getType(), to = op.getResult().getType();
  // A conversion of floats may change the role as well.
  bool areFloats = isa<FloatType>(from.getElementType()) &&
                   isa<FloatType>(to.getElementType());
  auto getMap = [&](FragmentType type) -> const LaneMap & {
    return chip.findInstruction(type.getInstruction().getValue())
        ->getMap(type.getRole());
  };
  return chip.reducesMatrices && isOpaque(chip, from) && isOpaque(chip, to) &&
         from.getRole() == Role::Acc && to.getRole() != Role::Acc &&
         getMap(from).getRows() == getMap(to).getRows() &&
         getMap(from).getCols() == getMap(to).getCols() &&
         (areFloats || hasMatricesOf(chip, from, to.getElementType()));
}

/// Whether the fragment is a column that can be a matrix for each tile of rows.
static bool isColumn(const Chip &chip, FragmentType type) {
  return type.getRole() == Role::Acc && type.getCols() == 1 &&
         type.getElementType().isF32() && isOpaque(chip, type) &&
         type.getRows() % chip.findInstruction(type.getInstruction().getValue())
                              ->getMap(Role::Acc)
                              .getRows() ==
             0;
}

/// Whether a cooperative matrix can be loaded from, or stored to, such an
/// address. A row must be aligned to its size, up to 16 bytes (Vulkan
/// Specification, VUID-RuntimeSpirv-OpCooperativeMatrixLoadKHR-08986).
template <typename Access>
static bool isMatrixAccess(Access op, FragmentType type, const Chip &chip) {
  MemRefType memory = op.getMemRefType();
  auto [strides, offset] = memory.getStridesAndOffset();
  if (!op.getInBounds() || strides.back() != 1 || memory.getRank() < 2 ||
      memory.getElementType() != type.getElementType())
    return false;
  const LaneMap &map = chip.findInstruction(type.getInstruction().getValue())
                           ->getMap(type.getRole());
  int64_t row = getStorageBytes(type.getElementType()) *
                (op.getTranspose() ? map.getRows() : map.getCols());
  return getKnownTileAlignment(op.getMemory(), op.getIndices()) >=
         std::min<int64_t>(16, row);
}

/// Whether a row of memory can be loaded as a matrix that has it in every row,
/// with a stride of 0.
static bool isMatrixRow(BroadcastOp op, const Chip &chip) {
  auto memory = cast<MemRefType>(op.getSource().getType());
  FragmentType type = op.getResult().getType();
  auto [strides, offset] = memory.getStridesAndOffset();
  const LaneMap &map = chip.findInstruction(type.getInstruction().getValue())
                           ->getMap(type.getRole());
  int64_t bytes = getStorageBytes(type.getElementType()) * map.getCols();
  return op.getDimension() == 0 && op.getInBounds() && strides.back() == 1 &&
         memory.getElementType() == type.getElementType() &&
         getKnownTileAlignment(op.getSource(), op.getIndex()) >=
             std::min<int64_t>(16, bytes);
}

namespace {

class Separator {
public:
  Separator(gpu::GPUFuncOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip) {}
  LogicalResult run();

private:
  bool isMatrix(Value value) const {
    auto type = dyn_cast<FragmentType>(value.getType());
    return type && isOpaque(chip, type);
  }
  /// Whether rows are reduced and all columns can be matrices: each op that has
  /// one supports that.
  bool keepsColumns(ArrayRef<Operation *> operations) const;
  /// Whether cooperative matrices do all of the op by themselves.
  bool isForMatrices(Operation *op) const;
  FragmentType getPlainType(FragmentType type) const {
    const MatrixInstruction *row = plain[static_cast<unsigned>(type.getRole())];
    return type.cloneWithInstruction(
        StringAttr::get(type.getContext(), row->name));
  }
  /// The row of scalar instructions whose maps fit all fragments of a role and
  /// are nearest to the matrices' tiles.
  LogicalResult choosePlain(ArrayRef<Value> fragments);
  /// The map by rows that fits all accumulators, if rows of some of them are
  /// reduced; else null.
  const MatrixInstruction *findRowMap(ArrayRef<Value> fragments) const;
  /// The map for stores that fits all accumulators, if all of their stores
  /// can use its wide accesses and scratch has room for it; else null.
  const MatrixInstruction *findStoreMap(ArrayRef<Value> fragments) const;
  /// Collects the maps, and the broadcasts of columns for them, that stay ops
  /// of matrices.
  void collectWhole(ArrayRef<Operation *> operations);
  void separate(Operation *op);
  /// The fragment of a known lane map that `value`, a matrix, was made from.
  Value findPlain(Value value) const;
  /// Whether `op`, a cast or a store by rows, uses such a matrix.
  bool continuesPlain(Operation *op) const;
  /// Makes a load of rows that is only used by lanes one by lanes.
  void loadPlain(LoadOp op);
  /// Makes the results of a branch that are only used by lanes such ones.
  void yieldPlain(scf::IfOp op);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  const MatrixInstruction *plain[3] = {};
  /// Null where lanes do not hold whole rows.
  const MatrixInstruction *rowMap = nullptr;
  /// Whether columns are matrices.
  bool columns = false;
  llvm::SmallPtrSet<Operation *, 8> whole;
};

} // namespace

LogicalResult Separator::choosePlain(ArrayRef<Value> fragments) {
  llvm::SmallSetVector<const MatrixInstruction *, 2> used;
  for (Value value : fragments)
    used.insert(chip.findInstruction(
        cast<FragmentType>(value.getType()).getInstruction().getValue()));
  for (Role role : {Role::A, Role::B, Role::Acc}) {
    const MatrixInstruction *&chosen = plain[static_cast<unsigned>(role)];
    int64_t least = 0;
    for (const MatrixInstruction &row : chip.instructions) {
      const LaneMap &map = row.getMap(role);
      if (row.opaque)
        continue;
      // The size of the data that passes through scratch at a time.
      int64_t chunk = 0;
      for (const MatrixInstruction *other : used)
        chunk = std::max(
            chunk, std::max(map.getRows(), other->getMap(role).getRows()) *
                       std::max(map.getCols(), other->getMap(role).getCols()));
      if (chosen && chunk >= least)
        continue;
      if (llvm::all_of(fragments, [&](Value value) {
            auto type = cast<FragmentType>(value.getType());
            return type.getRole() != role ||
                   ((type.getRows() == 1 ||
                     type.getRows() % map.getRows() == 0) &&
                    (type.getCols() == 1 ||
                     type.getCols() % map.getCols() == 0));
          })) {
        chosen = &row;
        least = chunk;
      }
    }
    if (!chosen)
      return kernel.emitError()
             << "no single lane map of " << chip.name << " fits all fragments";
  }
  const MatrixInstruction *&accumulators =
      plain[static_cast<unsigned>(Role::Acc)];
  rowMap = findRowMap(fragments);
  if (rowMap)
    accumulators = rowMap;
  else if (const MatrixInstruction *storeMap = findStoreMap(fragments))
    accumulators = storeMap;
  return success();
}

/// Whether `type` consists of tiles of m rows and n columns, or is a row or a
/// column of them.
static bool hasTilesOf(FragmentType type, const MatrixInstruction &row) {
  return (type.getRows() == 1 || type.getRows() % row.m == 0) &&
         (type.getCols() == 1 || type.getCols() % row.n == 0);
}

const MatrixInstruction *
Separator::findStoreMap(ArrayRef<Value> fragments) const {
  constexpr int64_t accessBytes = 16;
  gpu::GPUFuncOp func = kernel;
  bool areAligned = true;
  func.walk([&](StoreOp op) {
    if (isMatrix(op.getValue()))
      areAligned &=
          !op.getAtomicAdd() && !op.getTranspose() &&
          getKnownTileAlignment(op.getMemory(), op.getIndices()) >= accessBytes;
  });
  std::optional<ArrayRef<int32_t>> block = func.getKnownBlockSize();
  if (!areAligned || !block)
    return nullptr;
  int64_t subgroups = llvm::divideCeil(
      int64_t((*block)[0]) * (*block)[1] * (*block)[2], chip.subgroupSize);
  int64_t tiles = 0;
  for (BlockArgument memory : func.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(memory.getType());
    tiles += type.getNumElements() * getStorageBytes(type.getElementType());
  }
  // Scratch is where the tiles were, or has its own memory without tiles.
  int64_t available =
      tiles ? tiles : chip.workgroupMemoryBytes + getScratchBytes(chip);
  for (const MatrixInstruction &row : getStoreMaps(chip)) {
    int64_t bytes = 0;
    bool fits = llvm::all_of(fragments, [&](Value value) {
      auto type = cast<FragmentType>(value.getType());
      if (type.getRole() != Role::Acc)
        return true;
      const MatrixInstruction &other =
          *chip.findInstruction(type.getInstruction().getValue());
      int64_t size = getStorageBytes(type.getElementType()),
              columns = std::max(row.n, other.n) + getStorePadding(size);
      bytes = std::max(bytes, std::max(row.m, other.m) * columns * size);
      return hasTilesOf(type, row);
    });
    if (fits && bytes * subgroups <= available)
      return &row;
  }
  return nullptr;
}

const MatrixInstruction *
Separator::findRowMap(ArrayRef<Value> fragments) const {
  bool reducesRows = false;
  gpu::GPUFuncOp(kernel).walk([&](ReduceOp op) {
    reducesRows |= op.getDimension() == 1 && isMatrix(op.getSource());
  });
  if (!reducesRows)
    return nullptr;
  for (const MatrixInstruction &row : getRowMaps(chip))
    if (llvm::all_of(fragments, [&](Value value) {
          auto type = cast<FragmentType>(value.getType());
          return type.getRole() != Role::Acc ||
                 (type.getRows() % row.m == 0 &&
                  (type.getCols() == 1 || type.getCols() % row.n == 0));
        }))
      return &row;
  return nullptr;
}

bool Separator::keepsColumns(ArrayRef<Operation *> operations) const {
  auto isOne = [&](Value value) {
    auto type = dyn_cast<FragmentType>(value.getType());
    return type && isColumn(chip, type);
  };
  bool reduces = llvm::any_of(operations, [&](Operation *op) {
    return isa<ReduceOp>(op) && isOne(op->getResult(0));
  });
  return chip.reducesMatrices && reduces &&
         llvm::all_of(operations, [&](Operation *op) {
           bool any = llvm::any_of(op->getOperands(), isOne) ||
                      llvm::any_of(op->getResults(), isOne);
           if (auto reduce = dyn_cast<ReduceOp>(op))
             return reduce.getDimension() != 1 ||
                    (isOne(reduce.getResult()) &&
                     isMatrixReduction(reduce.getKind()) &&
                     canBeMatrix(chip, reduce.getSource().getType()));
           if (!any)
             return true;
           if (auto broadcast = dyn_cast<BroadcastOp>(op))
             return broadcast.getDimension() == 1 &&
                    isOne(broadcast.getSource()) &&
                    canBeMatrix(chip, broadcast.getResult().getType());
           if (auto map = dyn_cast<MapOp>(op))
             return llvm::all_of(map->getOperands(), isOne) &&
                    isOne(map.getResult()) && !map.takesCoordinates() &&
                    isMatrixMap(chip, map);
           return isa<FillOp, scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp,
                      scf::ConditionOp>(op);
         });
}

/// Whether the region is arithmetic that SPIR-V has for matrices.
static bool isMatrixArithmetic(MapOp op) {
  return !op.takesCoordinates() &&
         op.getResult().getType().getElementType().isF32() &&
         llvm::all_of(op.getBody().front().without_terminator(),
                      [](Operation &inner) {
                        return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                                   arith::DivFOp, arith::NegFOp>(inner);
                      });
}

void Separator::collectWhole(ArrayRef<Operation *> operations) {
  if (!rowMap)
    return;
  auto isColumn = [&](Value value, Operation *user) {
    auto broadcast = value.getDefiningOp<BroadcastOp>();
    if (!broadcast || broadcast.getDimension() != 1 ||
        !llvm::all_equal(value.getUsers()) || *value.user_begin() != user)
      return false;
    auto type = dyn_cast<FragmentType>(broadcast.getSource().getType());
    return type && type.getInstruction().getValue() == rowMap->name;
  };
  for (Operation *op : operations) {
    auto map = dyn_cast<MapOp>(op);
    if (!map || !isMatrix(map.getResult()) || !isMatrixArithmetic(map))
      continue;
    SmallVector<Operation *> broadcasts;
    bool fits = llvm::all_of(map.getInputs(), [&](Value input) {
      Operation *from = input.getDefiningOp();
      if (isColumn(input, map)) {
        broadcasts.push_back(from);
        return true;
      }
      return isMatrix(input) && from &&
             (isa<MmaOp>(from) || whole.contains(from));
    });
    if (!fits || broadcasts.size() == map.getInputs().size())
      continue;
    whole.insert(map);
    whole.insert(broadcasts.begin(), broadcasts.end());
  }
}

bool Separator::isForMatrices(Operation *op) const {
  if (whole.contains(op))
    return true;
  auto areMatrices = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value value) { return isMatrix(value); });
  };
  // Lanes store whole sectors of an epilogue's rows, matrices store parts of
  // them: on an H200, a 1x1 convolution with a residual took 78 us instead of
  // 64 by matrices (docs/benchmarks/h200-vulkan.md).
  if (auto map = dyn_cast<MapOp>(op))
    return columns && areMatrices(map->getOperands()) &&
           map.getResult().getType().getRole() == Role::Acc &&
           isMatrix(map.getResult()) && isMatrixMap(chip, map);
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    if (!isMatrix(broadcast.getResult()))
      return false;
    auto memory = dyn_cast<MemRefType>(broadcast.getSource().getType());
    return memory ? columns && isMatrixRow(broadcast, chip)
                  : columns && isMatrix(broadcast.getSource());
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return columns && reduce.getDimension() == 1;
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getSwizzled() && isMatrixAccess(load, load.getType(), chip);
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getAtomicAdd() && !store.getSwizzled() &&
           isMatrixAccess(store, cast<FragmentType>(store.getValue().getType()),
                          chip);
  // SPIR-V computes with no scalar of bf16.
  if (auto fill = dyn_cast<FillOp>(op))
    return !fill.getResult().getType().getElementType().isBF16();
  // A matrix is cast before its role changes, and accumulators do not support
  // every element type.
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    FragmentType from = convert.getSource().getType();
    FragmentType to = convert.getResult().getType();
    return !isOpaque(chip, from) || !isOpaque(chip, to) ||
           convertsInPlace(chip, convert) ||
           canBeMatrix(chip, from.cloneWithElementType(to.getElementType()));
  }
  return isa<MmaOp, arith::SelectOp, scf::ForOp, scf::IfOp, scf::WhileOp,
             scf::YieldOp, scf::ConditionOp>(op);
}

Value Separator::findPlain(Value value) const {
  auto back = value.getDefiningOp<ConvertOp>();
  return back && !isMatrix(back.getSource()) &&
                 back.getSource().getType() ==
                     getPlainType(cast<FragmentType>(value.getType()))
             ? back.getSource()
             : Value();
}

bool Separator::continuesPlain(Operation *op) const {
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    FragmentType from = convert.getSource().getType();
    return isMatrix(convert.getSource()) && isMatrix(convert.getResult()) &&
           from.getRole() == convert.getResult().getType().getRole() &&
           findPlain(convert.getSource());
  }
  auto store = dyn_cast<StoreOp>(op);
  return store && !store.getTranspose() && isMatrix(store.getValue()) &&
         findPlain(store.getValue());
}

void Separator::loadPlain(LoadOp op) {
  Value matrix = op.getResult();
  if (!isMatrix(matrix) || op.getTranspose() || matrix.use_empty())
    return;
  FragmentType type = getPlainType(op.getType());
  if (!llvm::all_of(matrix.getUsers(), [&](Operation *user) {
        return isa<ConvertOp>(user) && user->getResult(0).getType() == type;
      }))
    return;
  for (Operation *user : llvm::make_early_inc_range(matrix.getUsers())) {
    user->getResult(0).replaceAllUsesWith(matrix);
    user->erase();
  }
  matrix.setType(type);
}

void Separator::yieldPlain(scf::IfOp op) {
  for (OpResult result : op.getResults()) {
    if (!isMatrix(result) || result.use_empty() || !op.elseBlock())
      continue;
    FragmentType type = getPlainType(cast<FragmentType>(result.getType()));
    if (!llvm::all_of(result.getUsers(), [&](Operation *user) {
          return isa<ConvertOp>(user) && user->getResult(0).getType() == type;
        }))
      continue;
    unsigned number = result.getResultNumber();
    OpOperand *yielded[] = {&op.thenYield()->getOpOperand(number),
                            &op.elseYield()->getOpOperand(number)};
    if (!llvm::any_of(yielded, [&](OpOperand *operand) {
          return findPlain(operand->get());
        }))
      continue;
    for (OpOperand *operand : yielded) {
      Value value = operand->get(), known = findPlain(value);
      if (!known) {
        // Before the branch if possible, where both sides can use it.
        bool isOutside =
            !op->isProperAncestor(value.getParentRegion()->getParentOp()) &&
            value.getParentRegion()->getParentOp() != op;
        OpBuilder builder(isOutside ? op.getOperation() : operand->getOwner());
        auto convert = ConvertOp::create(builder, op.getLoc(), type, value,
                                         /*isUnsigned=*/false);
        known = convert;
        if (isOutside)
          op.walk([&](ConvertOp inner) {
            if (inner.getSource() == value && inner.getType() == type) {
              inner.getResult().replaceAllUsesWith(known);
              inner.erase();
            }
          });
      }
      operand->set(known);
    }
    for (Operation *user : llvm::make_early_inc_range(result.getUsers())) {
      user->getResult(0).replaceAllUsesWith(result);
      user->erase();
    }
    result.setType(type);
  }
}

void Separator::separate(Operation *op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isMatrix(value))
      continue;
    // The value may be the result of the reverse conversion.
    if (Value plainValue = findPlain(value)) {
      operand.set(plainValue);
      continue;
    }
    FragmentType type = getPlainType(cast<FragmentType>(value.getType()));
    // An earlier op of the block may use the same one.
    Value converted;
    for (Operation *user : value.getUsers())
      if (isa<ConvertOp>(user) && user->getResult(0).getType() == type &&
          user->getBlock() == op->getBlock() && user->isBeforeInBlock(op))
        converted = user->getResult(0);
    if (!converted)
      converted = ConvertOp::create(builder, op->getLoc(), type, value,
                                    /*isUnsigned=*/false);
    operand.set(converted);
  }
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    if (!isMatrix(result))
      continue;
    auto type = cast<FragmentType>(result.getType());
    result.setType(getPlainType(type));
    auto back = ConvertOp::create(builder, op->getLoc(), type, result,
                                  /*isUnsigned=*/false);
    result.replaceAllUsesExcept(back, back);
  }
}

/// Whether the subgroups of a workgroup may go different ways at `op`.
static bool isDivergent(scf::IfOp op) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  if (failed(getBackwardSlice(op.getCondition(), &slice, options)))
    return true;
  return llvm::any_of(slice, [](Operation *from) {
    return isa<gpu::ThreadIdOp, gpu::SubgroupIdOp, gpu::LaneIdOp>(from);
  });
}

/// Moves a conversion before the branches that only some subgroups take: its
/// accesses to scratch have barriers, and Mesa's lavapipe treats a subgroup's
/// barrier as one of the workgroup. If the branch has an `else`, it is not
/// moved, since it would be computed in vain there.
static void hoist(ConvertOp op) {
  Operation *before = op;
  while (auto branch = dyn_cast<scf::IfOp>(before->getParentOp())) {
    Region *defined = op.getSource().getParentRegion();
    if (branch.elseBlock() || branch->isAncestor(defined->getParentOp()) ||
        !isDivergent(branch))
      break;
    before = branch;
  }
  if (before != op)
    op->moveBefore(before);
}

LogicalResult Separator::run() {
  SmallVector<Value> matrices;
  SmallVector<Operation *> operations;
  auto add = [&](Value value) {
    if (isMatrix(value))
      matrices.push_back(value);
  };
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value value : op->getResults())
      add(value);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : block.getArguments())
          add(value);
    if (llvm::any_of(op->getOperands(), [&](Value v) { return isMatrix(v); }) ||
        llvm::any_of(op->getResults(), [&](Value v) { return isMatrix(v); }))
      operations.push_back(op);
  });
  if (matrices.empty())
    return success();
  if (failed(choosePlain(matrices)))
    return failure();
  columns = keepsColumns(operations);
  if (columns)
    rowMap = nullptr;
  // Rows and columns alone, and element types without a matmul.
  for (Value value : matrices) {
    auto type = cast<FragmentType>(value.getType());
    if (!canBeMatrix(chip, type) && !(columns && isColumn(chip, type)))
      value.setType(getPlainType(type));
  }
  collectWhole(operations);
  for (Operation *op : operations) {
    // A change of role passes through workgroup memory once, from the lanes.
    if (auto convert = dyn_cast<ConvertOp>(op);
        convert && isMatrix(convert.getResult()))
      if (Value known = isMatrix(convert.getSource())
                            ? findPlain(convert.getSource())
                            : Value();
          known && convert.getSource().getType().getRole() !=
                       convert.getResult().getType().getRole()) {
        convert.getSourceMutable().assign(known);
        continue;
      }
    if (!isForMatrices(op) || continuesPlain(op))
      separate(op);
  }
  for (Operation *op : operations)
    if (auto branch = dyn_cast<scf::IfOp>(op))
      yieldPlain(branch);
  for (Operation *op : operations)
    if (auto load = dyn_cast<LoadOp>(op))
      loadPlain(load);
  // The conversions of which only the source is used.
  SmallVector<ConvertOp> conversions;
  kernel.walk([&](ConvertOp op) { conversions.push_back(op); });
  for (ConvertOp op : llvm::reverse(conversions))
    if (op->use_empty())
      op.erase();
    else if (isMatrix(op.getSource()) || isMatrix(op.getResult()))
      hoist(op);
  return success();
}

LogicalResult mlir::tessera::separateOpaque(Operation *root, const Chip &chip) {
  WalkResult result = root->walk([&](gpu::GPUFuncOp kernel) {
    return failed(Separator(kernel, chip).run()) ? WalkResult::interrupt()
                                                 : WalkResult::skip();
  });
  return failure(result.wasInterrupted());
}
