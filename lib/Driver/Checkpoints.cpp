//===- Checkpoints.cpp - Where the steps of a program begin and end -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At stage Tasks the fusion of ops is decided and memory is assigned. Each op
// that computes something then becomes a kernel of its own, or several (packing
// of operands, split K). It is a step:
//
//   linalg.exp ins(%a) outs(%b)
//
// becomes
//
//   call @tessera_rt_checkpoint_value(address of %a)
//   call @tessera_rt_checkpoint_value(address of %b)
//   call @tessera_rt_checkpoint(step, begin)
//   linalg.exp ins(%a) outs(%b)
//   call @tessera_rt_checkpoint(step, end)
//
// and its function in the module of steps is
//
//   func.func @__tessera_step0(%a: memref<...>, %b: memref<...>) {
//     linalg.exp ins(%a) outs(%b)
//     return
//   }
//
// The values passed for an argument are, for a memref: the address of its
// memory, its dynamic sizes, its dynamic offset and its dynamic strides, in
// this order; a memref without a layout has no offset and strides. For a
// scalar: its bits.
//
// The module has the functions that steps call, too. A step that has a value of
// another kind is declared only. Programs with
// kernels of their own (gpu.launch) have no checkpoints.
//
//===----------------------------------------------------------------------===//

#include "Checkpoints.h"

#include "Driver/Compiler.h"

#include "Conversion/LinalgToGPU/InitialFill.h"
#include "Conversion/LinalgToGPU/RowGroups.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/Checkpoint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether kernels are made of `op` alone.
static bool isStep(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.hasPureBufferSemantics();
  return isa<ContractOp, AttentionOp, memref::CopyOp>(op) &&
         op->getNumResults() == 0;
}

/// The ops of a step, in their order: one, or those on rows that one kernel
/// computes, with the fills of their outputs that become part of the kernel.
struct Step {
  SmallVector<Operation *, 2> ops;
  /// Memory that the kernel need not write.
  SmallVector<Value> inner;
};

/// The steps of host code; none if the program has kernels of its own. Fills
/// that are part of a step are moved ahead of its op.
static SmallVector<Step> findSteps(ModuleOp module) {
  SmallVector<Operation *> steps;
  bool hasKernels = false;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    hasKernels |= isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op);
    if (!isStep(op))
      return WalkResult::advance();
    steps.push_back(op);
    return WalkResult::skip();
  });
  if (hasKernels)
    return {};
  // Where ops on rows share a kernel, only the last is a step.
  DenseMap<Operation *, RowGroup> groups;
  DenseSet<Block *> blocks;
  for (Operation *op : steps)
    blocks.insert(op->getBlock());
  DenseSet<Operation *> isInner;
  for (Block *block : blocks)
    for (RowGroup &group : gatherRowGroups(*block)) {
      for (linalg::LinalgOp op : ArrayRef(group.ops).drop_back())
        isInner.insert(op);
      groups[group.ops.back()] = group;
    }
  DenseMap<Operation *, SmallVector<Operation *, 2>> fills;
  DenseSet<Operation *> isPart;
  for (Operation *op : steps)
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      for (OpOperand &output : linalgOp.getDpsInitsMutable())
        if (linalg::FillOp fill = findInitialFill(linalgOp, output)) {
          fill->moveBefore(op);
          fills[op].push_back(fill);
          isPart.insert(fill);
        }
  SmallVector<Step> result;
  for (Operation *op : steps) {
    if (isPart.contains(op) || isInner.contains(op))
      continue;
    SmallVector<Operation *, 2> &step = result.emplace_back().ops;
    result.back().inner = groups.lookup(op).inner;
    SmallVector<linalg::LinalgOp> members = groups.lookup(op).ops;
    for (linalg::LinalgOp member :
         ArrayRef(members).drop_back(!members.empty())) {
      llvm::append_range(step, fills.lookup(member));
      step.push_back(member);
    }
    llvm::append_range(step, fills.lookup(op));
    step.push_back(op);
  }
  return result;
}

/// Whether checkpoints can pass a value of this type.
static bool canPass(Type type) {
  if (isa<MemRefType>(type))
    return true;
  return type.isIndex() ||
         (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

/// The values that a step uses. Ops that share a kernel see each other's
/// results through several views, which are a part of the step then: its
/// arguments are different memory.
static llvm::SetVector<Value> findUsedValues(ArrayRef<Operation *> step) {
  llvm::SetVector<Value> used;
  for (Operation *op : step) {
    used.insert(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
  }
  if (llvm::count_if(
          step, [](Operation *op) { return !isa<linalg::FillOp>(op); }) < 2)
    return used;
  llvm::SetVector<Value> resolved;
  SmallVector<Value> pending = used.takeVector();
  for (size_t i = 0; i < pending.size(); ++i) {
    auto view = pending[i].getDefiningOp<ViewLikeOpInterface>();
    if (view)
      pending.append(view->operand_begin(), view->operand_end());
    else
      resolved.insert(pending[i]);
  }
  return resolved;
}

/// Clones the op that defines `value`, and those that it depends on, where
/// `mapping` lacks them.
static void cloneDefinition(Value value, OpBuilder &builder,
                            IRMapping &mapping) {
  Operation *op = value.getDefiningOp();
  if (mapping.contains(value) || !op)
    return;
  for (Value operand : op->getOperands())
    cloneDefinition(operand, builder, mapping);
  builder.clone(*op, mapping);
}

/// The same without constants and memory that only the kernel accesses: each
/// step has its own.
static SmallVector<Value> findArguments(const Step &step) {
  SmallVector<Value> arguments;
  for (Value value : findUsedValues(step.ops)) {
    Operation *producer = value.getDefiningOp();
    if ((!producer || !producer->hasTrait<OpTrait::ConstantLike>()) &&
        !llvm::is_contained(step.inner, value))
      arguments.push_back(value);
  }
  return arguments;
}

/// Adds the function of step `number` to the module of steps. False if it is
/// declared only.
static bool addFunction(ArrayRef<Operation *> step, size_t number,
                        ArrayRef<Value> arguments, OpBuilder &builder) {
  Operation *op = step.back();
  bool isDefined = llvm::all_of(
      arguments, [](Value value) { return canPass(value.getType()); });
  SmallVector<Type> types;
  if (isDefined)
    llvm::append_range(types, ValueRange(arguments).getTypes());
  auto function = func::FuncOp::create(builder, op->getLoc(),
                                       (stepPrefix + Twine(number)).str(),
                                       builder.getFunctionType(types, {}));
  if (!isDefined) {
    function.setPrivate();
    return false;
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(ValueRange(arguments), ValueRange(function.getArguments()));
  for (Value value : findUsedValues(step))
    cloneDefinition(value, builder, mapping);
  for (Operation *part : step)
    for (Value operand : part->getOperands())
      cloneDefinition(operand, builder, mapping);
  for (Operation *part : step)
    builder.clone(*part, mapping);
  func::ReturnOp::create(builder, op->getLoc());
  return true;
}

/// Passes what the functions of steps expect of a value.
static void passValue(Value value, OpBuilder &builder) {
  Location loc = value.getLoc();
  Type i64 = builder.getI64Type();
  auto pass = [&](Value number) {
    if (number.getType().isIndex())
      number = arith::IndexCastOp::create(builder, loc, i64, number);
    func::CallOp::create(builder, loc, checkpointValueName, TypeRange(),
                         number);
  };
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type) {
    if (value.getType().isIndex())
      return pass(value);
    unsigned width = value.getType().getIntOrFloatBitWidth();
    if (isa<FloatType>(value.getType()))
      value = arith::BitcastOp::create(builder, loc,
                                       builder.getIntegerType(width), value);
    if (width < 64)
      value = arith::ExtUIOp::create(builder, loc, i64, value);
    return pass(value);
  }
  pass(memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, value));
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      pass(memref::DimOp::create(builder, loc, value, dim));
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getLayout().isIdentity() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, value);
  if (ShapedType::isDynamic(offset))
    pass(metadata.getOffset());
  for (auto [stride, known] : llvm::zip_equal(metadata.getStrides(), strides))
    if (ShapedType::isDynamic(known))
      pass(stride);
}

/// Copies the functions that `functions` call, and those that these call.
static void copyCallees(ModuleOp source, ModuleOp functions) {
  SymbolTable table(functions);
  SmallVector<Operation *> pending{functions};
  while (!pending.empty())
    pending.pop_back_val()->walk([&](func::CallOp call) {
      if (table.lookup(call.getCallee()))
        return;
      auto callee = source.lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee)
        return;
      Operation *copy = callee->clone();
      SymbolTable::setSymbolVisibility(copy, SymbolTable::Visibility::Private);
      table.insert(copy);
      pending.push_back(copy);
    });
}

namespace {
struct FindSteps : public PassWrapper<FindSteps, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FindSteps)

  FindSteps(ProgramSteps &result, bool addCheckpoints)
      : result(result), addCheckpoints(addCheckpoints) {}

  StringRef getArgument() const override { return "tessera-find-steps"; }

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect,
                    memref::MemRefDialect>();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Step> steps = findSteps(module);
    result.count = steps.size();
    if (steps.size() < 2 || !addCheckpoints)
      return;
    OpBuilder builder(&getContext());
    Type i64 = builder.getI64Type();
    builder.setInsertionPointToEnd(module.getBody());
    for (const auto &[name, types] :
         {std::pair(StringRef(checkpointValueName), SmallVector<Type>{i64}),
          std::pair(StringRef(checkpointName), SmallVector<Type>{i64, i64})})
      func::FuncOp::create(builder, module.getLoc(), name,
                           builder.getFunctionType(types, {}))
          .setPrivate();

    OwningOpRef<ModuleOp> functions = ModuleOp::create(module.getLoc());
    OpBuilder functionBuilder(functions->getBodyRegion());
    functionBuilder.setInsertionPointToEnd(functions->getBody());
    for (auto [number, step] : llvm::enumerate(steps)) {
      Operation *op = step.ops.back();
      SmallVector<Value> arguments = findArguments(step);
      bool isDefined =
          addFunction(step.ops, number, arguments, functionBuilder);
      builder.setInsertionPoint(step.ops.front());
      if (isDefined)
        for (Value value : arguments)
          passValue(value, builder);
      for (bool isEnd : {false, true}) {
        if (isEnd)
          builder.setInsertionPointAfter(op);
        SmallVector<Value> values;
        for (int64_t value : {static_cast<int64_t>(number), int64_t(isEnd)})
          values.push_back(arith::ConstantOp::create(
              builder, op->getLoc(), builder.getI64IntegerAttr(value)));
        func::CallOp::create(builder, op->getLoc(), checkpointName, TypeRange(),
                             values);
      }
    }
    copyCallees(module, *functions);
    llvm::raw_string_ostream os(result.functions);
    functions->print(os, OpPrintingFlags().enableDebugInfo());
  }

private:
  ProgramSteps &result;
  bool addCheckpoints;
};
} // namespace

std::unique_ptr<Pass> mlir::tessera::createFindSteps(ProgramSteps &steps,
                                                     bool addCheckpoints) {
  return std::make_unique<FindSteps>(steps, addCheckpoints);
}
