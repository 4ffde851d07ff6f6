//===- Epilogue.cpp - The epilogue on fragments ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The epilogue is split at its reductions. Softmax, with 64 columns for 50:
//
//   %m = row_reduce max %x         %x' = map %x      : j < 50 ? x : -inf
//                                  %m  = reduce max %x' dimension 1
//   %e = exp(%x - %m)              %m' = broadcast %m dimension 1
//   %s = row_reduce add %e    ->   %e  = map %x, %m' : exp(x - m)
//                                  %e' = map %e      : j < 50 ? e : 0
//                                  %s  = reduce add %e' dimension 1
//   %y = %e / %s                   %s' = broadcast %s dimension 1
//                                  %y  = map %e, %s' : e / s
//
// Values that depend on reductions only are computed once for each row.
//
//===----------------------------------------------------------------------===//

#include "Epilogue.h"

#include "Dialect/Tessera/IR/Reductions.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tessera;

FragmentType EpilogueEmitter::getType(Type element, int64_t cols) const {
  return FragmentType::get(shape[0], cols, element, Role::Acc);
}

bool EpilogueEmitter::isColumn(Value value) {
  if (columns.count(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &epilogue || op->getNumRegions() > 0)
    return false;
  auto [known, isNew] = isKnownColumn.try_emplace(value, false);
  if (!isNew)
    return known->second;
  // A function of columns and of uniform values.
  bool some = false, all = true;
  for (Value operand : op->getOperands()) {
    bool column = isColumn(operand);
    Operation *made = operand.getDefiningOp();
    bool isConstant = operand.getParentBlock() != &epilogue ||
                      scalars.count(operand) ||
                      (made && made->getNumOperands() == 0);
    some |= column;
    all &= column || isConstant;
  }
  return isKnownColumn[value] = some && all;
}

/// The ops of `block` that compute `value`, up to `isInput`, in their order;
/// `inputs` receives their operands.
static llvm::SetVector<Operation *> getSlice(Block &block, Value value,
                                             function_ref<bool(Value)> isInput,
                                             llvm::SetVector<Value> &inputs) {
  llvm::SetVector<Value> pending;
  llvm::SmallPtrSet<Operation *, 16> found;
  pending.insert(value);
  for (size_t i = 0; i < pending.size(); ++i) {
    Value next = pending[i];
    if (isInput(next)) {
      inputs.insert(next);
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!op || op->getBlock() != &block)
      continue;
    found.insert(op);
    op->walk([&](Operation *nested) {
      pending.insert(nested->operand_begin(), nested->operand_end());
    });
  }
  llvm::SetVector<Operation *> ops;
  for (Operation &op : block)
    if (found.contains(&op))
      ops.insert(&op);
  return ops;
}

Value EpilogueEmitter::emitMap(Value value,
                               const llvm::MapVector<Value, Value> &inputs,
                               const llvm::SetVector<Operation *> &ops,
                               int64_t cols, TypedAttr neutral) {
  SmallVector<Value> fragments;
  for (auto [scalar, fragment] : inputs)
    fragments.push_back(fragment);
  auto map = MapOp::create(builder, getType(value.getType(), cols), fragments);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody());
  IRMapping mapping;
  for (auto [scalar, fragment] : inputs)
    mapping.map(scalar, body->addArgument(scalar.getType(), builder.getLoc()));
  for (auto [argument, scalar] : scalars)
    mapping.map(argument, scalar);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  Value result = mapping.lookupOrDefault(value);
  if (neutral) {
    body->addArgument(builder.getIndexType(), builder.getLoc());
    Value column = body->addArgument(builder.getIndexType(), builder.getLoc());
    Value end = arith::ConstantIndexOp::create(builder, *rowLength);
    Value inside =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, column, end);
    Value other = arith::ConstantOp::create(builder, neutral);
    result = arith::SelectOp::create(builder, inside, result, other);
  }
  YieldOp::create(builder, result);
  return map;
}

Value EpilogueEmitter::emitColumn(Value value) {
  if (Value known = columns.lookup(value))
    return known;
  llvm::SetVector<Value> sources;
  llvm::SetVector<Operation *> ops = getSlice(
      epilogue, value, [&](Value v) { return columns.count(v) != 0; }, sources);
  llvm::MapVector<Value, Value> inputs;
  for (auto [scalar, fragment] : columns)
    if (sources.contains(scalar))
      inputs[scalar] = fragment;
  Value column = emitMap(value, inputs, ops, /*cols=*/1, /*neutral=*/{});
  columns[value] = column;
  return column;
}

Value EpilogueEmitter::emitElements(Value value, TypedAttr neutral) {
  if (Value known = elements.lookup(value); known && !neutral)
    return known;
  llvm::SetVector<Value> sources;
  llvm::SetVector<Operation *> ops = getSlice(
      epilogue, value,
      [&](Value v) { return elements.count(v) != 0 || isColumn(v); }, sources);
  llvm::MapVector<Value, Value> inputs;
  for (auto [scalar, fragment] : elements)
    if (sources.contains(scalar))
      inputs[scalar] = fragment;
  for (Value scalar : sources)
    if (!inputs.count(scalar))
      inputs[scalar] =
          BroadcastOp::create(builder, getType(scalar.getType(), shape[1]),
                              emitColumn(scalar), /*index=*/Value(),
                              /*dimension=*/1, /*inBounds=*/false);
  // A map has an input, if only for its layout.
  if (inputs.empty())
    inputs.insert(*elements.begin());
  return emitMap(value, inputs, ops, shape[1], neutral);
}

void EpilogueEmitter::emitReduction(RowReduceOp op) {
  Value source = op.getSource();
  // A value with several uses is computed once.
  bool isShared = !source.hasOneUse() && !isColumn(source) &&
                  source.getDefiningOp() &&
                  source.getParentBlock() == &epilogue;
  if (isShared)
    elements[source] = emitElements(source);
  TypedAttr neutral;
  if (rowLength)
    neutral = getNeutralElement(builder, op.getKind(), source.getType());
  Value fragment = emitElements(source, neutral);
  columns[op.getResult()] =
      ReduceOp::create(builder, getType(source.getType(), 1), op.getKind(),
                       fragment, /*dimension=*/1);
}

Value EpilogueEmitter::emit(bool asColumn) {
  for (RowReduceOp op : epilogue.getOps<RowReduceOp>())
    emitReduction(op);
  Value value = cast<YieldOp>(epilogue.getTerminator()).getValues()[0];
  return asColumn && isColumn(value) ? emitColumn(value) : emitElements(value);
}
