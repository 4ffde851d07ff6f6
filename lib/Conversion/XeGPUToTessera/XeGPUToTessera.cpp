//===- XeGPUToTessera.cpp - Intel's ops on subgroups, raised --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   xegpu.load_nd, store_nd        tessera.load, tessera.store
//   xegpu.dpas                     tessera.mma
//   arith and math on vectors      tessera.map
//   constants and broadcasts       tessera.fill
//   create_nd_tdesc, update_nd_offset   the memory and two indices
//   prefetch_nd, convert_layout    nothing
//
// A vector of two dimensions becomes a fragment, whose role follows from its
// uses: values that element-wise ops and loops connect have the same role.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Conversion/PortableLaunch.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/XeGPU/IR/XeGPU.h"
#include "mlir/Dialect/XeGPU/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTXEGPUTOTESSERA
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-xegpu-to-tessera"

STATISTIC(numRaisedOps, "Number of xegpu ops raised to fragments");

using namespace mlir;
using namespace mlir::tessera;

/// The threads of a subgroup: chips whose subgroups can have another size run
/// xegpu with this one.
static constexpr int64_t subgroupSize = 16;

static bool isXeGPU(Operation *op) {
  return isa_and_nonnull<xegpu::XeGPUDialect>(op->getDialect());
}

/// The type of a tile in registers, or null.
static VectorType getTileType(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return type && type.getRank() == 2 ? type : VectorType();
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {

/// The memory of a descriptor, and the position of its tile.
struct Position {
  Value memory;
  SmallVector<OpFoldResult> offsets;
};

} // namespace

/// Adds offsets, some of which may be missing, to a position.
static void addOffsets(OpBuilder &builder, Location loc, Position &position,
                       ArrayRef<OpFoldResult> offsets) {
  for (auto [own, added] : llvm::zip(position.offsets, offsets)) {
    if (getConstantIntValue(added) == int64_t(0))
      continue;
    if (getConstantIntValue(own) == int64_t(0)) {
      own = added;
      continue;
    }
    own = builder.createOrFold<arith::AddIOp>(
        loc, getValueOrCreateConstantIndexOp(builder, loc, own),
        getValueOrCreateConstantIndexOp(builder, loc, added));
  }
}

/// The position of a descriptor. Fails, with an error, if it is not known.
static FailureOr<Position> getPosition(OpBuilder &builder, Value descriptor) {
  if (auto update = descriptor.getDefiningOp<xegpu::UpdateNdOffsetOp>()) {
    FailureOr<Position> position = getPosition(builder, update.getTensorDesc());
    if (succeeded(position))
      addOffsets(builder, update.getLoc(), *position, update.getMixedOffsets());
    return position;
  }
  auto create = descriptor.getDefiningOp<xegpu::CreateNdDescOp>();
  if (!create)
    return emitError(descriptor.getLoc())
           << "xegpu: a descriptor must come from xegpu.create_nd_tdesc, "
              "directly or through xegpu.update_nd_offset and scf.for";
  auto type = dyn_cast<MemRefType>(create.getSourceType());
  auto fail = [&]() -> InFlightDiagnostic {
    return create.emitOpError() << "is not supported on any target: ";
  };
  if (!type || type.getRank() != 2 || !type.hasStaticShape())
    return fail() << "its source must be a memref of two static dimensions";
  if (!create.getShape().empty() || create.getConstShapeAttr())
    return fail() << "its shape must be that of the memref";
  xegpu::TensorDescType tile = create.getType();
  if (tile.getRank() != 2 || tile.isScattered())
    return fail() << "the tile must have two dimensions";
  Position position{create.getSource(), create.getMixedOffsets()};
  if (position.offsets.empty())
    position.offsets.assign(2, builder.getIndexAttr(0));
  return position;
}

/// Replaces descriptors that a loop and the loops in it carry by indices. The
/// old iteration arguments are not changed by the loop any more.
static LogicalResult carryIndices(scf::ForOp loop, IRRewriter &rewriter) {
  auto isDescriptor = [](Value value) {
    return isa<xegpu::TensorDescType>(value.getType());
  };
  SmallVector<unsigned> carried;
  SmallVector<Position> positions;
  SmallVector<Value> inits;
  for (auto [number, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!isDescriptor(init))
      continue;
    rewriter.setInsertionPoint(loop);
    FailureOr<Position> position = getPosition(rewriter, init);
    if (failed(position))
      return failure();
    carried.push_back(static_cast<unsigned>(number));
    positions.push_back(*position);
    for (OpFoldResult offset : position->offsets)
      inits.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loop.getLoc(), offset));
  }
  auto recreate = [&](size_t i, ValueRange indices, Type type) -> Value {
    return xegpu::CreateNdDescOp::create(
        rewriter, loop.getLoc(), type,
        cast<TypedValue<MemRefType>>(positions[i].memory),
        getAsOpFoldResult(indices));
  };
  unsigned first = loop.getInitArgs().size();
  if (!carried.empty()) {
    // The indices are set below, when the loops in this one carry indices.
    FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false,
        [](OpBuilder &, Location, ArrayRef<BlockArgument> arguments) {
          return SmallVector<Value>(arguments);
        });
    if (failed(replaced))
      return loop.emitOpError() << "carries descriptors of xegpu in a way that "
                                   "is not supported";
    loop = cast<scf::ForOp>(replaced->getOperation());
    rewriter.setInsertionPointToStart(loop.getBody());
    for (auto [i, number] : llvm::enumerate(carried)) {
      BlockArgument argument = loop.getRegionIterArg(number);
      Value inside = recreate(
          i, ValueRange(loop.getRegionIterArgs()).slice(first + 2 * i, 2),
          argument.getType());
      argument.replaceAllUsesWith(inside);
    }
  }
  SmallVector<scf::ForOp> innerLoops;
  loop->walk([&](scf::ForOp inner) {
    if (inner->getParentOfType<scf::ForOp>() == loop)
      innerLoops.push_back(inner);
  });
  for (scf::ForOp inner : innerLoops)
    if (failed(carryIndices(inner, rewriter)))
      return failure();
  Operation *yield = loop.getBody()->getTerminator();
  for (auto [i, number] : llvm::enumerate(carried)) {
    rewriter.setInsertionPoint(yield);
    FailureOr<Position> next = getPosition(rewriter, yield->getOperand(number));
    if (failed(next))
      return failure();
    if (next->memory != positions[i].memory)
      return loop.emitOpError()
             << "carries a descriptor of xegpu of different memories";
    yield->setOperand(number, loop.getRegionIterArg(number));
    for (auto [d, offset] : llvm::enumerate(next->offsets))
      yield->setOperand(
          static_cast<unsigned>(first + 2 * i + d),
          getValueOrCreateConstantIndexOp(rewriter, loop.getLoc(), offset));
    rewriter.setInsertionPointAfter(loop);
    Value after = loop.getResult(number);
    if (!after.use_empty())
      after.replaceAllUsesWith(recreate(
          i, loop.getResults().slice(first + 2 * i, 2), after.getType()));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {

/// Raises the ops of one launch.
class LaunchRaising {
public:
  explicit LaunchRaising(gpu::LaunchOp launch)
      : launch(launch), rewriter(launch.getContext()) {}

  LogicalResult run() {
    count();
    if (failed(makePortable(launch, subgroupSize, "xegpu")) ||
        failed(resolveDescriptors()) || failed(findRoles()) ||
        failed(convertTypes()) || failed(convertOps()))
      return failure();
    eraseDescriptors();
    emitRemark();
    return success();
  }

private:
  void count() {
    launch->walk([&](Operation *op) {
      if (isa<xegpu::LoadNdOp, xegpu::StoreNdOp, xegpu::PrefetchNdOp,
              xegpu::DpasOp>(op))
        ++counts[op->getName().getStringRef()];
    });
  }

  void emitRemark() {
    InFlightDiagnostic remark = launch.emitRemark();
    remark << "raised to fragments: ";
    llvm::interleaveComma(counts, remark, [&](const auto &entry) {
      remark << entry.second << " " << entry.first;
      numRaisedOps += entry.second;
    });
  }

  LogicalResult resolveDescriptors() {
    // Loops in a loop are resolved with it.
    SmallVector<scf::ForOp> loops;
    launch->walk([&](scf::ForOp loop) {
      auto parent = loop->getParentOfType<scf::ForOp>();
      if (!parent || !launch->isAncestor(parent))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops)
      if (failed(carryIndices(loop, rewriter)))
        return failure();
    return success();
  }

  /// Whether all elements of the result of `op` are one scalar.
  static bool isSplat(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return isa<SplatElementsAttr>(constant.getValue());
    auto broadcast = dyn_cast<vector::BroadcastOp>(op);
    return broadcast && !isa<VectorType>(broadcast.getSourceType());
  }

  static bool isElementwise(Operation *op) {
    return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
               op->getDialect()) &&
           OpTrait::hasElementwiseMappableTraits(op);
  }

  /// Gives each use of a load or a constant a value of its own.
  void separateUses() {
    SmallVector<Operation *> ops;
    launch->walk([&](Operation *op) {
      if (op->getNumResults() == 1 && getTileType(op->getResult(0)) &&
          (isa<xegpu::LoadNdOp>(op) || isSplat(op)))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      bool isFirst = true;
      for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
        if (!isFirst) {
          rewriter.setInsertionPointAfter(op);
          use.set(rewriter.clone(*op)->getResult(0));
        }
        isFirst = false;
      }
    }
    // A constant outside may have a use in this launch alone.
    launch->walk([&](Operation *op) {
      for (OpOperand &use : op->getOpOperands()) {
        Operation *source = use.get().getDefiningOp();
        if (getTileType(use.get()) && source && isSplat(source) &&
            !launch->isAncestor(source)) {
          rewriter.setInsertionPointToStart(&launch.getBody().front());
          use.set(rewriter.clone(*source)->getResult(0));
        }
      }
    });
  }

  void connect(Value left, Value right) {
    if (getTileType(left) && getTileType(right))
      classes.unionSets(left.getAsOpaquePointer(), right.getAsOpaquePointer());
  }

  LogicalResult setRole(Operation *op, Value value, Role role) {
    auto [found, isNew] = roles.try_emplace(
        classes.getOrInsertLeaderValue(value.getAsOpaquePointer()), role);
    if (isNew || found->second == role)
      return success();
    return op->emitOpError() << "is not supported on any target: a value is an "
                                "operand of xegpu.dpas and an accumulator, or "
                                "both operands";
  }

  LogicalResult findRoles() {
    separateUses();
    SmallVector<xegpu::DpasOp> matmuls;
    WalkResult result = launch->walk([&](Operation *op) {
      if (auto matmul = dyn_cast<xegpu::DpasOp>(op)) {
        matmuls.push_back(matmul);
        return check(op);
      }
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (auto [init, argument, yielded, value] :
             llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                             loop.getYieldedValues(), loop.getResults())) {
          connect(init, argument);
          connect(init, yielded);
          connect(init, value);
        }
        return WalkResult::advance();
      }
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (Region *region : branch.getRegions())
          if (!region->empty())
            for (auto [value, yielded] : llvm::zip_equal(
                     branch.getResults(),
                     region->front().getTerminator()->getOperands()))
              connect(value, yielded);
        return WalkResult::advance();
      }
      if (isElementwise(op) || isa<xegpu::ConvertLayoutOp>(op))
        for (Value operand : op->getOperands())
          connect(op->getResult(0), operand);
      return check(op);
    });
    if (result.wasInterrupted())
      return failure();
    for (xegpu::DpasOp op : matmuls) {
      if (failed(setRole(op, op.getLhs(), Role::A)) ||
          failed(setRole(op, op.getRhs(), Role::B)) ||
          failed(setRole(op, op.getResult(), Role::Acc)) ||
          (op.getAcc() && failed(setRole(op, op.getAcc(), Role::Acc))))
        return failure();
    }
    return success();
  }

  /// Rejects an op that cannot be raised.
  static WalkResult check(Operation *op) {
    auto hasTiles = [](ValueRange values) {
      return llvm::any_of(values,
                          [](Value value) { return bool(getTileType(value)); });
    };
    bool isTile = hasTiles(op->getOperands()) || hasTiles(op->getResults());
    auto reject = [&](const char *why) {
      op->emitOpError() << "is not supported on any target: " << why;
      return WalkResult::interrupt();
    };
    if (isa<xegpu::CreateNdDescOp, xegpu::UpdateNdOffsetOp,
            xegpu::PrefetchNdOp>(op))
      return WalkResult::advance();
    if (auto load = dyn_cast<xegpu::LoadNdOp>(op)) {
      if (load.getPacked().value_or(false) || !getTileType(load.getValue()))
        return reject("it must load a vector of two dimensions that is not "
                      "packed, for a subgroup");
      return WalkResult::advance();
    }
    if (auto store = dyn_cast<xegpu::StoreNdOp>(op))
      return getTileType(store.getValue())
                 ? WalkResult::advance()
                 : reject("it must store a vector of two dimensions, for a "
                          "subgroup");
    if (auto matmul = dyn_cast<xegpu::DpasOp>(op))
      return getTileType(matmul.getLhs()) && getTileType(matmul.getRhs()) &&
                     getTileType(matmul.getResult())
                 ? WalkResult::advance()
                 : reject("its operands must be vectors of two dimensions, of "
                          "a subgroup");
    if (isXeGPU(op) && !isa<xegpu::ConvertLayoutOp>(op))
      return reject("it has no portable form");
    if (!isTile || isElementwise(op) || isSplat(op) ||
        isa<scf::YieldOp, xegpu::ConvertLayoutOp>(op))
      return WalkResult::advance();
    return reject("it uses a vector of two dimensions in a kernel of xegpu");
  }

  FragmentType getFragmentType(Value value) {
    VectorType type = getTileType(value);
    auto found =
        roles.find(classes.getOrInsertLeaderValue(value.getAsOpaquePointer()));
    Role role = found == roles.end() ? Role::Acc : found->second;
    if (!FragmentType::isValidElementType(type.getElementType()))
      return {};
    return FragmentType::get(type.getShape()[0], type.getShape()[1],
                             type.getElementType(), role);
  }

  /// Determines the types of all tiles, and sets those of arguments and results
  /// of loops and branches.
  LogicalResult convertTypes() {
    SmallVector<std::pair<Value, Type>> changes;
    WalkResult result = launch->walk([&](Operation *op) {
      auto convert = [&](Value value) {
        if (!getTileType(value))
          return true;
        FragmentType type = getFragmentType(value);
        if (!type) {
          op->emitOpError() << "is not supported on any target: no fragment "
                               "has elements of the type "
                            << getElementTypeOrSelf(value);
          return false;
        }
        types[value] = type;
        if (isa<scf::ForOp, scf::IfOp>(op))
          changes.push_back({value, type});
        return true;
      };
      for (Value value : op->getResults())
        if (!convert(value))
          return WalkResult::interrupt();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value value : block.getArguments())
            if (!convert(value))
              return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (auto [value, type] : changes)
      value.setType(type);
    return success();
  }

  LogicalResult convertOps() {
    SmallVector<Operation *> ops;
    launch->walk([&](Operation *op) {
      bool isTile = op->getNumResults() == 1 && types.count(op->getResult(0));
      if (isa<xegpu::LoadNdOp, xegpu::StoreNdOp, xegpu::PrefetchNdOp>(op) ||
          (isTile && !isa<scf::ForOp, scf::IfOp>(op)))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<Value> value = convert(op);
      if (failed(value))
        return failure();
      if (op->getNumResults() != 0)
        op->getResult(0).replaceAllUsesWith(*value);
      op->erase();
    }
    return success();
  }

  /// The memory and the indices that a load or store accesses.
  template <typename OpT>
  FailureOr<std::pair<Value, SmallVector<Value>>> getAddress(OpT op) {
    FailureOr<Position> position = getPosition(rewriter, op.getTensorDesc());
    if (failed(position))
      return failure();
    addOffsets(rewriter, op.getLoc(), *position, op.getMixedOffsets());
    SmallVector<Value> indices;
    for (OpFoldResult offset : position->offsets)
      indices.push_back(
          getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), offset));
    return std::pair(position->memory, indices);
  }

  /// The value that takes the place of the op's result, if it has one.
  FailureOr<Value> convert(Operation *op) {
    Location loc = op->getLoc();
    if (auto load = dyn_cast<xegpu::LoadNdOp>(op)) {
      auto address = getAddress(load);
      if (failed(address))
        return failure();
      bool transposes = load.getTranspose() &&
                        *load.getTranspose() == ArrayRef<int64_t>({1, 0});
      return Value(LoadOp::create(
          rewriter, loc, types[load.getValue()], address->first,
          address->second, transposes,
          /*inBounds=*/!load.getTensorDescType().getBoundaryCheck()));
    }
    if (auto store = dyn_cast<xegpu::StoreNdOp>(op)) {
      auto address = getAddress(store);
      if (failed(address))
        return failure();
      StoreOp::create(
          rewriter, loc, op->getOperand(0), address->first, address->second,
          /*transpose=*/false,
          /*inBounds=*/!store.getTensorDescType().getBoundaryCheck(),
          /*atomicAdd=*/false);
      return Value();
    }
    if (isa<xegpu::PrefetchNdOp>(op))
      return Value();
    if (isa<xegpu::ConvertLayoutOp>(op))
      return op->getOperand(0);
    FragmentType type = types[op->getResult(0)];
    if (isa<xegpu::DpasOp>(op)) {
      // The operands are fragments, which its accessors do not expect.
      Value acc = op->getNumOperands() == 3 ? op->getOperand(2) : Value();
      if (!acc)
        acc = emitFill(
            loc, type,
            arith::ConstantOp::create(
                rewriter, loc, rewriter.getZeroAttr(type.getElementType())));
      return Value(MmaOp::create(rewriter, loc, type, op->getOperand(0),
                                 op->getOperand(1), acc, /*unsignedA=*/false,
                                 /*unsignedB=*/false, Precision::Ieee));
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return emitFill(
          loc, type,
          arith::ConstantOp::create(rewriter, loc,
                                    cast<SplatElementsAttr>(constant.getValue())
                                        .getSplatValue<TypedAttr>()));
    if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
      return emitFill(loc, type, broadcast.getSource());
    return emitMap(op, type);
  }

  Value emitFill(Location loc, FragmentType type, Value scalar) {
    return FillOp::create(rewriter, loc, type, scalar);
  }

  Value emitMap(Operation *op, FragmentType type) {
    Location loc = op->getLoc();
    SmallVector<Value> fragments;
    for (Value operand : op->getOperands())
      if (isa<FragmentType>(operand.getType()))
        fragments.push_back(operand);
    auto map = MapOp::create(rewriter, loc, type, fragments);
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&map.getBody());
    SmallVector<Value> operands(op->getOperands());
    for (Value &operand : operands)
      if (auto fragment = dyn_cast<FragmentType>(operand.getType()))
        operand = body->addArgument(fragment.getElementType(), loc);
    Operation *scalar =
        rewriter.create(loc, op->getName().getIdentifier(), operands,
                        {type.getElementType()}, op->getAttrs());
    YieldOp::create(rewriter, loc, scalar->getResult(0));
    return map;
  }

  /// Removes what is left of descriptors.
  void eraseDescriptors() {
    RewritePatternSet patterns(launch.getContext());
    scf::ForOp::getCanonicalizationPatterns(patterns, launch.getContext());
    SmallVector<Operation *> ops;
    launch->walk([&](Operation *op) {
      if (isa<scf::ForOp>(op) || isXeGPU(op))
        ops.push_back(op);
    });
    (void)applyOpPatternsGreedily(ops, std::move(patterns));
    launch->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isXeGPU(op) && op->use_empty())
        op->erase();
    });
  }

  gpu::LaunchOp launch;
  IRRewriter rewriter;
  llvm::MapVector<StringRef, int64_t> counts;
  llvm::EquivalenceClasses<const void *> classes;
  llvm::DenseMap<const void *, Role> roles;
  llvm::DenseMap<Value, FragmentType> types;
};

struct ConvertXeGPUToTesseraPass
    : public tessera::impl::ConvertXeGPUToTesseraBase<
          ConvertXeGPUToTesseraPass> {
  using ConvertXeGPUToTesseraBase::ConvertXeGPUToTesseraBase;

  void runOnOperation() override {
    bool isUsed = false, isForWorkgroups = false;
    getOperation()->walk([&](Operation *op) {
      if (!isXeGPU(op))
        return;
      isUsed = true;
      auto hasSubgroups = [](Attribute attribute) {
        auto layout = dyn_cast_or_null<xegpu::DistributeLayoutAttr>(attribute);
        return layout && layout.isForWorkgroup();
      };
      for (NamedAttribute attribute : op->getAttrDictionary())
        isForWorkgroups |= hasSubgroups(attribute.getValue());
      for (Type type : op->getResultTypes())
        if (auto descriptor = dyn_cast<xegpu::TensorDescType>(type))
          isForWorkgroups |= hasSubgroups(descriptor.getLayout());
    });
    if (!isUsed)
      return;
    if (isForWorkgroups) {
      OpPassManager distribute(ModuleOp::getOperationName());
      distribute.addPass(xegpu::createXeGPUWgToSgDistribute());
      if (failed(runPipeline(distribute, getOperation())))
        return signalPassFailure();
    }
    SmallVector<gpu::LaunchOp> launches;
    getOperation()->walk([&](gpu::LaunchOp launch) {
      bool hasOps = launch.getBody()
                        .walk([](Operation *op) {
                          return isXeGPU(op) ? WalkResult::interrupt()
                                             : WalkResult::advance();
                        })
                        .wasInterrupted();
      if (hasOps)
        launches.push_back(launch);
    });
    for (gpu::LaunchOp launch : launches) {
      LDBG() << launch.getLoc() << ": raised";
      if (failed(LaunchRaising(launch).run()))
        return signalPassFailure();
    }
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (!isXeGPU(op))
        return WalkResult::advance();
      op->emitOpError() << "is supported in a kernel that is launched in the "
                           "program only";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
