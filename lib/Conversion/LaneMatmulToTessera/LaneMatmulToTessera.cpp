//===- LaneMatmulToTessera.cpp - Vendors' matmuls on lanes, raised --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   loads of each lane              tessera.load
//   a vendor's matrix instruction   tessera.mma
//   arith and math on its result    tessera.map
//   constants                       tessera.fill
//   stores of each lane             tessera.store
//
// A kernel is raised as a whole or not at all: a launch has either the op's
// subgroups or the chip's. LaneForm.cpp evaluates indices, LaneElements.cpp
// vectors, and Tiles.cpp compares both with the lane maps; nothing is changed
// before all of that is known. PairColumns.cpp joins tiles that are too narrow
// for the chip.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/VendorOps.h"
#include "LaneElements.h"
#include "LaneForm.h"
#include "PairColumns.h"
#include "Tiles.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTLANEMATMULTOTESSERA
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-lane-matmul-to-tessera"

STATISTIC(numRaisedMatmuls, "Number of lanes' matmuls raised to fragments");
STATISTIC(numPairedMatmuls, "Number of lanes' matmuls raised in pairs");

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Which ops
//===----------------------------------------------------------------------===//

static bool isLaneAccess(Operation *op) {
  return isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
             VectorTransferOpInterface, nvgpu::LdMatrixOp>(op);
}

/// Whether the lanes of a subgroup may execute `op` in other numbers: it has no
/// effects of its own, or none that the number of lanes changes.
static bool isKnown(Operation *op) {
  if (isa<scf::ForOp, scf::IfOp, scf::YieldOp, gpu::TerminatorOp,
          gpu::BarrierOp, nvgpu::DeviceAsyncCopyOp,
          nvgpu::DeviceAsyncCreateGroupOp, nvgpu::DeviceAsyncWaitOp>(op) ||
      isLaneAccess(op) || getLaneMatmul(op))
    return true;
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp,
          gpu::LaneIdOp, gpu::SubgroupIdOp, gpu::SubgroupSizeOp,
          gpu::NumSubgroupsOp>(op))
    return true;
  return isa_and_nonnull<affine::AffineDialect, arith::ArithDialect,
                         index::IndexDialect, math::MathDialect,
                         memref::MemRefDialect, ub::UBDialect,
                         vector::VectorDialect>(op->getDialect()) &&
         op->getNumRegions() == 0 && isMemoryEffectFree(op);
}

namespace {

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Raises one launch, or states why not.
class LaunchRaising {
public:
  LaunchRaising(gpu::LaunchOp launch, ArrayRef<Operation *> ops,
                const Chip &chip)
      : launch(launch), ops(ops), chip(chip) {}

  void run() {
    if (succeeded(raise()))
      return;
    InFlightDiagnostic remark = ops.front()->emitRemark();
    remark << "'" << ops.front()->getName()
           << "' op is not raised to fragments";
    if (obstacle.op == ops.front()) {
      remark << ": it " << obstacle.text;
      return;
    }
    remark << ": '" << obstacle.op->getName() << "' op " << obstacle.text;
    remark.attachNote(obstacle.op->getLoc()) << "here";
  }

private:
  LogicalResult raise() {
    if (failed(checkSizes()))
      return failure();
    forms.emplace(launch, lanes, /*isForWorkgroup=*/false);
    if (failed(checkOps()))
      return failure();
    LaneElements elements(*forms, obstacle);
    // Copies are evaluated for more threads: not where there are none.
    WorkgroupCopies copies(launch, lanes, obstacle);
    TileMatching matching(launch, *forms, elements, copies, obstacle);
    if (failed(copies.run()) || failed(matching.run()) ||
        failed(checkCarried(matching)) || failed(checkChip(matching)))
      return failure();
    pairColumns(matching, *forms, chip);
    emit(matching, copies);
    return success();
  }

  LogicalResult checkSizes() {
    lanes = getNumVendorLanes(ops.front());
    for (Operation *op : ops)
      if (getNumVendorLanes(op) != lanes)
        return obstacle.set(op, "is for subgroups of another size");
    std::optional<int64_t> size = getConstantIntValue(launch.getBlockSizeX());
    if (!size || *size < 1 || *size % lanes)
      return obstacle.set(launch, "has a block size along x that is not a "
                                  "constant multiple of " +
                                      Twine(lanes));
    numSubgroups = *size / lanes;
    int64_t threads = numSubgroups * chip.subgroupSize;
    for (Value own : {launch.getBlockSizeY(), launch.getBlockSizeZ()}) {
      std::optional<int64_t> known = getConstantIntValue(own);
      if (!known || *known < 1)
        return obstacle.set(launch, "has a block size that is not constant");
      threads *= *known;
    }
    if (threads > chip.maxThreads)
      return obstacle.set(launch, "has more subgroups than fit into a "
                                  "workgroup of " +
                                      Twine(chip.target) + ":" + chip.name);
    if (launch.getNumPrivateAttributions() != 0)
      return obstacle.set(launch, "has private memory");
    return success();
  }

  /// All that is not a matrix must be the same in all lanes.
  LogicalResult checkOps() {
    WalkResult result = launch.getBody().walk([&](Operation *op) {
      if (!isKnown(op)) {
        (void)obstacle.set(op, "cannot be next to fragments");
        return WalkResult::interrupt();
      }
      SmallVector<Value> control;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        control = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        control.push_back(branch.getCondition());
        llvm::append_range(control, branch.getResults());
      }
      if (llvm::all_of(control,
                       [&](Value value) { return forms->isUniform(value); }))
        return WalkResult::advance();
      (void)obstacle.set(op, "depends on the lane");
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult checkCarried(const TileMatching &matching) {
    WalkResult result = launch.getBody().walk([&](scf::ForOp loop) {
      for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
        if (!forms->isUniform(argument) &&
            !isa<nvgpu::DeviceAsyncTokenType>(argument.getType()) &&
            llvm::none_of(matching.carried,
                          [&, number = number](const CarriedTile &tile) {
                            return tile.loop == loop && tile.number == number;
                          })) {
          (void)obstacle.set(loop, "carries a value of each lane that is not a "
                                   "matrix");
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult checkChip(const TileMatching &matching) {
    for (const TileMatmul &matmul : matching.matmuls)
      if (!findFragmentInstruction(chip, matmul, matmul.row->n))
        return obstacle.set(matmul.op, "has types that no instruction of " +
                                           chip.target + ":" + chip.name +
                                           " multiplies");
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Emission
  //===--------------------------------------------------------------------===//

  void emit(TileMatching &matching, WorkgroupCopies &copies) {
    for (const TileMatmul &matmul : matching.matmuls)
      if (!matmul.result->merged)
        emitRemark(matmul, matching);
    for (CarriedTile &carried : matching.carried)
      for (Tile *tile : {carried.argument, carried.result})
        if (!tile->merged) {
          tile->value.setType(getType(*tile));
          tile->fragment = tile->value;
        }
    for (TileMatmul &matmul : matching.matmuls) {
      matmulOf[matmul.result] = &matmul;
      ++numRaisedMatmuls;
      numPairedMatmuls += matmul.result->merged != nullptr;
    }
    for (TileMatmul &matmul : matching.matmuls)
      if (!matmul.result->merged)
        emit(*matmul.result);
    for (CarriedTile &carried : matching.carried)
      emit(carried);
    for (TileStore &store : matching.stores)
      emit(store);
    copies.emit();
    replaceUniform();
    eraseDead(matching);
    resize();
  }

  void emitRemark(const TileMatmul &matmul, const TileMatching &matching) {
    const MatrixInstruction *row =
        findFragmentInstruction(chip, matmul, matmul.result->cols);
    InFlightDiagnostic remark = matmul.op->emitRemark();
    remark << "'" << matmul.op->getName()
           << "' op is raised to fragments: " << matmul.result->rows << "x"
           << matmul.result->cols << "x" << matmul.a->cols << " "
           << matmul.a->type << " x " << matmul.b->type << " -> "
           << matmul.result->type;
    if (matmul.result->cols != matmul.row->n)
      remark << ", with the adjacent columns";
    if (row)
      remark << "; " << chip.target << ":" << chip.name
             << " multiplies them by " << row->name
             << (row->matrixUnit ? "" : ", not a matrix unit");
    for (const TileMatmul &other : matching.matmuls)
      if (other.result->merged == matmul.result)
        remark.attachNote(other.op->getLoc()) << "the adjacent columns";
  }

  static FragmentType getType(const Tile &tile) {
    return FragmentType::get(tile.rows, tile.cols, tile.type, tile.role);
  }

  Value emit(Tile &tile) {
    if (tile.fragment)
      return tile.fragment;
    OpBuilder builder(launch.getContext());
    switch (tile.kind) {
    case Tile::Fill: {
      Value scalar = emitScalar(builder, *tile.scalar);
      return tile.fragment = FillOp::create(builder, launch.getLoc(),
                                            getType(tile), scalar);
    }
    case Tile::Load: {
      builder.setInsertionPointAfter(tile.position);
      auto [memory, indices] = emitAddress(builder, tile.position->getLoc(),
                                           tile.address, tile.rows, tile.cols);
      return tile.fragment = LoadOp::create(
                 builder, tile.position->getLoc(), getType(tile), memory,
                 indices, tile.address.transposed, tile.address.inBounds);
    }
    case Tile::Matmul: {
      TileMatmul &matmul = *matmulOf[&tile];
      Value a = emit(*matmul.a), b = emit(*matmul.b), acc = emit(*matmul.acc);
      builder.setInsertionPointAfter(tile.position);
      return tile.fragment =
                 MmaOp::create(builder, matmul.op->getLoc(), getType(tile), a,
                               b, acc, matmul.form.unsignedA,
                               matmul.form.unsignedB, getPrecision(matmul));
    }
    case Tile::Map:
      return emitMap(builder, tile);
    case Tile::Carried:
      break;
    }
    llvm_unreachable("carried values are fragments already");
  }

  /// The scalar, with the insertion point after it.
  Value emitScalar(OpBuilder &builder, const LaneElement &scalar) {
    Value value = scalar.value;
    if (value && launch->isAncestor(value.getParentRegion()->getParentOp()))
      builder.setInsertionPointAfterValue(value);
    else
      builder.setInsertionPointToStart(&launch.getBody().front());
    if (value)
      return value;
    return arith::ConstantOp::create(builder, launch.getLoc(), scalar.constant);
  }

  Value emitMap(OpBuilder &builder, Tile &tile) {
    SmallVector<Value> fragments;
    for (Tile *operand : tile.operands)
      if (operand)
        fragments.push_back(emit(*operand));
    Location loc = tile.op->getLoc();
    builder.setInsertionPointAfter(tile.position);
    auto map = MapOp::create(builder, loc, getType(tile), fragments);
    Block *body = builder.createBlock(&map.getBody());
    SmallVector<Value> operands;
    for (auto [operand, scalar] :
         llvm::zip_equal(tile.operands, tile.scalars)) {
      if (operand)
        operands.push_back(body->addArgument(operand->type, loc));
      else if (scalar->kind == LaneElement::Uniform)
        operands.push_back(scalar->value);
      else
        operands.push_back(
            arith::ConstantOp::create(builder, loc, scalar->constant));
    }
    Operation *scalar =
        builder.create(loc, tile.op->getName().getIdentifier(), operands,
                       {tile.type}, tile.op->getAttrs());
    YieldOp::create(builder, loc, scalar->getResult(0));
    return tile.fragment = map;
  }

  std::pair<Value, SmallVector<Value>> emitAddress(OpBuilder &builder,
                                                   Location loc,
                                                   const TileAddress &address,
                                                   int64_t rows, int64_t cols) {
    SmallVector<Value> indices;
    for (const LaneForm &index : address.indices)
      indices.push_back(forms->emit(builder, loc, index));
    if (!address.isView)
      return {address.memory, indices};
    auto metadata =
        memref::ExtractStridedMetadataOp::create(builder, loc, address.memory);
    Value offset = builder.createOrFold<arith::AddIOp>(
        loc, metadata.getOffset(), indices.front());
    if (address.transposed)
      std::swap(rows, cols);
    std::optional<int64_t> known = address.pitch.getConstant();
    OpFoldResult pitch = builder.getIndexAttr(known.value_or(0));
    if (!known)
      pitch = forms->emit(builder, loc, address.pitch);
    auto source = cast<MemRefType>(address.memory.getType());
    auto type = MemRefType::get(
        {rows, cols}, source.getElementType(),
        StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic,
                               {known.value_or(ShapedType::kDynamic), 1}),
        source.getMemorySpace());
    Value view = memref::ReinterpretCastOp::create(
        builder, loc, type, metadata.getBaseBuffer(), OpFoldResult(offset),
        ArrayRef<OpFoldResult>{builder.getIndexAttr(rows),
                               builder.getIndexAttr(cols)},
        ArrayRef<OpFoldResult>{pitch, builder.getIndexAttr(1)});
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return {view, {zero, zero}};
  }

  void emit(CarriedTile &carried) {
    scf::ForOp loop = carried.loop;
    unsigned number = carried.number;
    OpOperand &init = loop.getInitArgsMutable()[number];
    OpOperand &yielded = loop.getBody()->getTerminator()->getOpOperand(number);
    if (carried.argument->merged) {
      // The loop carries it for nothing, and is simplified below.
      OpBuilder builder(loop);
      auto type = carried.argument->value.getType();
      init.set(ub::PoisonOp::create(builder, loop.getLoc(), type));
      yielded.set(carried.argument->value);
      return;
    }
    init.set(emit(*carried.init));
    yielded.set(emit(*carried.yielded));
  }

  void emit(TileStore &store) {
    if (store.isMerged)
      return;
    Value value = emit(*store.tile);
    OpBuilder builder(launch.getContext());
    builder.setInsertionPointAfter(store.position);
    Location loc = store.position->getLoc();
    auto [memory, indices] = emitAddress(builder, loc, store.address,
                                         store.tile->rows, store.tile->cols);
    StoreOp::create(builder, loc, value, memory, indices,
                    store.address.transposed, store.address.inBounds,
                    /*atomicAdd=*/false);
  }

  /// Computes values that lanes have alike from the number of the subgroup.
  void replaceUniform() {
    launch.getBody().walk([&](Operation *op) {
      bool isQuery = isa<gpu::SubgroupSizeOp>(op);
      if (auto size = dyn_cast<gpu::BlockDimOp>(op))
        isQuery = size.getDimension() == gpu::Dimension::x;
      bool isReplaced =
          isQuery || llvm::any_of(op->getOperands(), [&](Value operand) {
            return !forms->isUniform(operand);
          });
      if (!isReplaced || op->getNumRegions() != 0)
        return;
      for (Value result : op->getResults()) {
        if (!forms->isUniform(result) || result.use_empty())
          continue;
        LaneForms::Form form = forms->get(result);
        if (!form)
          continue;
        OpBuilder builder(op);
        Value value = forms->emit(builder, op->getLoc(), *form);
        if (!result.getType().isIndex())
          value = arith::IndexCastOp::create(builder, op->getLoc(),
                                             result.getType(), value);
        result.replaceAllUsesWith(value);
      }
    });
    Value size = launch.getBlockSize().x;
    if (!size.use_empty()) {
      OpBuilder builder(launch.getContext());
      builder.setInsertionPointToStart(&launch.getBody().front());
      size.replaceAllUsesWith(arith::ConstantIndexOp::create(
          builder, launch.getLoc(), lanes * numSubgroups));
    }
  }

  void eraseDead(TileMatching &matching) {
    llvm::SetVector<Operation *> stored;
    for (TileStore &store : matching.stores)
      for (LaneAccess &access : store.accesses)
        stored.insert(access.op);
    for (Operation *op : stored)
      op->erase();
    auto sweep = [&] {
      launch->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
    };
    sweep();
    RewritePatternSet patterns(launch.getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, launch.getContext());
    SmallVector<Operation *> loops;
    launch.getBody().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    (void)applyOpPatternsGreedily(loops, std::move(patterns));
    sweep();
  }

  /// One of the chip's subgroups for each one of the program.
  void resize() {
    OpBuilder builder(launch);
    Location loc = launch.getLoc();
    Value size = gpu::SubgroupSizeOp::create(
        builder, loc, builder.getIndexType(), /*upper_bound=*/nullptr);
    if (numSubgroups != 1)
      size = arith::MulIOp::create(
          builder, loc, size,
          arith::ConstantIndexOp::create(builder, loc, numSubgroups));
    launch.getBlockSizeXMutable().assign(size);
  }

  gpu::LaunchOp launch;
  ArrayRef<Operation *> ops;
  const Chip &chip;
  int64_t lanes = 0, numSubgroups = 0;
  Obstacle obstacle;
  std::optional<LaneForms> forms;
  llvm::DenseMap<Tile *, TileMatmul *> matmulOf;
};

struct ConvertLaneMatmulToTesseraPass
    : public tessera::impl::ConvertLaneMatmulToTesseraBase<
          ConvertLaneMatmulToTesseraPass> {
  using ConvertLaneMatmulToTesseraBase::ConvertLaneMatmulToTesseraBase;

  void runOnOperation() override {
    llvm::MapVector<Operation *, SmallVector<Operation *>> kernels;
    getOperation()->walk([&](Operation *op) {
      if (!getLaneMatmul(op))
        return;
      Operation *kernel = op->getParentOfType<gpu::LaunchOp>();
      if (!kernel)
        kernel = op->getParentOfType<gpu::GPUFuncOp>();
      if (kernel)
        kernels[kernel].push_back(op);
    });
    if (kernels.empty())
      return;
    FailureOr<const Chip *> chip = getChip(getOperation());
    if (failed(chip))
      return signalPassFailure();
    for (auto &[kernel, ops] : kernels) {
      if (llvm::all_of(ops, [chip = *chip](Operation *op) {
            return keepsVendorOp(*chip, op);
          }))
        continue;
      LDBG() << kernel->getLoc() << ": " << ops.size() << " matmuls";
      if (auto launch = dyn_cast<gpu::LaunchOp>(kernel))
        LaunchRaising(launch, ops, **chip).run();
      else
        ops.front()->emitRemark()
            << "'" << ops.front()->getName()
            << "' op is not raised to fragments: its kernel is not launched "
               "in the program, so that its block size is fixed";
    }
  }
};

} // namespace
