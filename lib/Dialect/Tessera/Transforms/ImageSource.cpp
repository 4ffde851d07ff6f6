//===- ImageSource.cpp - The ops that make an image -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quantized image is made in three steps, of which each reads and writes all
// of it; another one copies it to a layout that bulk copies can read:
//
//   linalg.generic  ins(%x) outs(%bytes)          round(x * s) + z
//   linalg.fill     ins(%z) outs(%padded)
//   memref.copy     %bytes, subview of %padded
//   linalg.generic  outs(%image)                  inside ? padded[...] : 0
//
// The copy can compute all of this for each element.
//
//===----------------------------------------------------------------------===//

#include "ImageSource.h"

#include "PackImages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tessera-pack-operands"

using namespace mlir;
using namespace mlir::tessera;

/// Whether the ops between `first` and `last`, of one block, leave the contents
/// of `memory` as they are.
static bool isKept(Value memory, Operation *first, Operation *last) {
  for (Operation *op = first->getNextNode(); op != last; op = op->getNextNode())
    if (mayChange(op, memory))
      return false;
  return true;
}

/// The users of `memory`, an allocation, but for its deallocation; empty if it
/// is something else.
static SmallVector<Operation *> getUsers(Value memory) {
  SmallVector<Operation *> users;
  if (memory.getDefiningOp<memref::AllocOp>())
    llvm::copy_if(
        memory.getUsers(), std::back_inserter(users),
        [](Operation *user) { return !isa<memref::DeallocOp>(user); });
  return users;
}

/// The constant that `op` fills its only output with; null if it does not.
static TypedAttr getFilled(Operation *op) {
  auto fill = dyn_cast<linalg::LinalgOp>(op);
  if (!fill || fill.getNumDpsInits() != 1)
    return {};
  Value value = fill.getBlock()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner() == fill.getBlock())
      value = fill.getMatchingOpOperand(argument)->get();
  TypedAttr constant;
  matchPattern(value, m_Constant(&constant));
  return constant;
}

ImageSource::ImageSource(Value image, Operation *user) : memory(image) {
  findPadding(user);
  findElementwise(user);
}

void ImageSource::findPadding(Operation *user) {
  SmallVector<Operation *> users = getUsers(memory);
  memref::SubViewOp inside;
  Operation *fill = nullptr;
  for (Operation *other : users) {
    if (auto view = dyn_cast<memref::SubViewOp>(other))
      inside = view;
    else if (other != user)
      fill = other;
  }
  if (users.size() != 3 || !inside || !fill || !inside->hasOneUse() ||
      inside.getDroppedDims().any() ||
      ShapedType::isDynamicShape(inside.getStaticOffsets()) ||
      ShapedType::isDynamicShape(inside.getStaticSizes()) ||
      !llvm::all_of(inside.getStaticStrides(),
                    [](int64_t stride) { return stride == 1; }))
    return;
  auto copy = dyn_cast<memref::CopyOp>(*inside->user_begin());
  TypedAttr constant = getFilled(fill);
  if (!copy || copy.getTarget() != inside.getResult() || !constant ||
      fill->getBlock() != user->getBlock() ||
      copy->getBlock() != user->getBlock() || !fill->isBeforeInBlock(copy) ||
      !copy->isBeforeInBlock(user) || !isKept(copy.getSource(), copy, user))
    return;
  unused.push_back(memory);
  memory = copy.getSource();
  padding = constant;
  offsets.assign(inside.getStaticOffsets().begin(),
                 inside.getStaticOffsets().end());
  sizes.assign(inside.getStaticSizes().begin(), inside.getStaticSizes().end());
}

void ImageSource::findElementwise(Operation *user) {
  SmallVector<Operation *> users = getUsers(memory);
  if (users.size() != 2)
    return;
  for (Operation *other : users) {
    auto op = dyn_cast<linalg::GenericOp>(other);
    if (!op || op->getBlock() != user->getBlock() ||
        !op->isBeforeInBlock(user) || op.getNumDpsInits() != 1 ||
        op.getOutputs()[0] != memory || op.hasIndexSemantics() ||
        op.getNumParallelLoops() != op.getNumLoops() ||
        op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      continue;
    bool isPlain =
        llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
          return inner.getNumRegions() == 0 && isPure(&inner);
        });
    for (OpOperand *input : op.getDpsInputOperands())
      isPlain &= !isa<MemRefType>(input->get().getType()) ||
                 isKept(input->get(), op, user);
    if (!isPlain)
      continue;
    unused.push_back(memory);
    elementwise = op;
    return;
  }
}

Value ImageSource::emitElement(ImplicitLocOpBuilder &body,
                               ArrayRef<Value> indices) const {
  if (!elementwise)
    return memref::LoadOp::create(body, memory, indices);
  linalg::GenericOp op = elementwise;
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    Value value = input->get();
    if (isa<MemRefType>(value.getType())) {
      SmallVector<Value> at;
      for (AffineExpr expr : op.getMatchingIndexingMap(input).getResults()) {
        auto constant = dyn_cast<AffineConstantExpr>(expr);
        at.push_back(
            constant ? arith::ConstantIndexOp::create(body, constant.getValue())
                     : indices[cast<AffineDimExpr>(expr).getPosition()]);
      }
      value = memref::LoadOp::create(body, value, at);
    }
    mapping.map(argument, value);
  }
  for (Operation &inner : op.getBody()->without_terminator())
    body.clone(inner, mapping);
  return mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
}

void ImageSource::yieldElementOrZero(ImplicitLocOpBuilder &body, Value inside,
                                     ArrayRef<Value> indices) const {
  Type element = getElementTypeOrSelf(memory.getType());
  Value zero = arith::ConstantOp::create(body, body.getZeroAttr(element)),
        otherwise = zero;
  SmallVector<Value> at(indices);
  if (padding) {
    otherwise = arith::SelectOp::create(
        body, inside, arith::ConstantOp::create(body, padding), zero);
    for (auto [d, offset] : llvm::enumerate(offsets)) {
      if (offset != 0)
        at[d] = arith::SubIOp::create(
            body, at[d], arith::ConstantIndexOp::create(body, offset));
      // Below zero is beyond any size, as unsigned numbers.
      Value below =
          arith::CmpIOp::create(body, arith::CmpIPredicate::ult, at[d],
                                arith::ConstantIndexOp::create(body, sizes[d]));
      inside = arith::AndIOp::create(body, inside, below);
    }
  }
  auto branch = scf::IfOp::create(body, element, inside,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(body);
    body.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(body, emitElement(body, at));
    body.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(body, otherwise);
  }
  linalg::YieldOp::create(body, branch.getResults());
}

void ImageSource::eraseUnused(Operation *writer) {
  for (auto [i, image] : llvm::enumerate(unused)) {
    LDBG() << image.getLoc() << ": another op makes this image";
    // The first one has been written by `writer`, and is read.
    bool isWritten = writer && i == 0;
    for (Operation *other : llvm::make_early_inc_range(image.getUsers())) {
      if (isWritten && (other == writer || !other->isBeforeInBlock(writer)))
        continue;
      for (Operation *copy : llvm::make_early_inc_range(other->getUsers()))
        copy->erase();
      other->erase();
    }
    if (!isWritten)
      image.getDefiningOp()->erase();
  }
}
