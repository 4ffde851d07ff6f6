//===- FuseConcats.cpp - Write the parts of a concatenation in place ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a = op(..., outs empty)        whole = empty
//   b = op(..., outs empty)        a = op(..., outs slice of whole)
//   whole = concat a, b      ->    whole = insert a into that slice of whole
//                                  b = op(..., outs next slice of whole)
//                                  whole = insert b into that slice of whole
//
// which bufferization does in place: the ops write to strided memory, and
// nothing is copied. A part that something else uses too is copied.
//
//===----------------------------------------------------------------------===//

#include "Graph/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAFUSECONCATS
#include "Graph/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-fuse-concats"

STATISTIC(numParts, "Number of parts that are written in place");
STATISTIC(numCopies, "Number of parts that are copied");

using namespace mlir;

namespace {
/// One operand of a concatenation.
struct Part {
  Value value;
  int64_t offset;
  /// The op whose result it is, perhaps by a reshape, and that result's
  /// destination; null if the part must be copied.
  DestinationStyleOpInterface producer;
  OpOperand *destination = nullptr;
  tensor::CollapseShapeOp reshape;
};
} // namespace

/// Moves a reshape that splits other dimensions of all operands to after the
/// concatenation. Returns the concatenation that remains.
static tensor::ConcatOp moveReshapes(RewriterBase &rewriter,
                                     tensor::ConcatOp concat) {
  tensor::ExpandShapeOp first;
  for (Value input : concat.getInputs())
    if (auto expand = input.getDefiningOp<tensor::ExpandShapeOp>();
        expand && expand->hasOneUse() && !first)
      first = expand;
  if (!first)
    return concat;
  SmallVector<ReassociationIndices> groups = first.getReassociationIndices();
  int64_t dim = -1;
  for (auto [number, group] : llvm::enumerate(groups))
    if (llvm::is_contained(group, static_cast<int64_t>(concat.getDim()))) {
      if (group.size() != 1)
        return concat;
      dim = static_cast<int64_t>(number);
    }
  // Not where scalars become the elements of a list.
  if (dim < 0)
    return concat;
  rewriter.setInsertionPoint(concat);
  SmallVector<Value> inputs;
  for (Value input : concat.getInputs()) {
    auto expand = input.getDefiningOp<tensor::ExpandShapeOp>();
    inputs.push_back(expand && expand.getReassociationIndices() == groups
                         ? expand.getSrc()
                         : tensor::CollapseShapeOp::create(
                               rewriter, concat.getLoc(), input, groups)
                               .getResult());
  }
  auto next = tensor::ConcatOp::create(rewriter, concat.getLoc(), dim, inputs);
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
      concat, concat.getResultType(), next, groups);
  return next;
}

/// Finds the op that can write the part where it belongs.
static void findProducer(Part &part, Block *block) {
  auto result = dyn_cast<OpResult>(part.value);
  if (!result || !result.hasOneUse())
    return;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(result.getOwner())) {
    result = dyn_cast<OpResult>(collapse.getSrc());
    if (!result || !result.hasOneUse())
      return;
    part.reshape = collapse;
  }
  auto producer = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  if (!producer || producer->getBlock() != block)
    return;
  OpOperand *destination = producer.getTiedOpOperand(result);
  if (!destination->get().getDefiningOp<tensor::EmptyOp>())
    return;
  part.producer = producer;
  part.destination = destination;
}

static void writeInPlace(RewriterBase &rewriter, tensor::ConcatOp concat) {
  RankedTensorType type = concat.getResultType();
  Location loc = concat.getLoc();
  int64_t dim = static_cast<int64_t>(concat.getDim()), offset = 0;
  SmallVector<Part> parts;
  for (Value input : concat.getInputs()) {
    parts.push_back({input, offset, {}, nullptr, {}});
    findProducer(parts.back(), concat->getBlock());
    // One destination of an op is a slice; its other results are copied.
    if (llvm::any_of(ArrayRef(parts).drop_back(), [&](const Part &other) {
          return other.producer == parts.back().producer;
        }))
      parts.back() = {input, offset, {}, nullptr, {}};
    offset += cast<RankedTensorType>(input.getType()).getDimSize(dim);
  }
  // In the order in which the program computes them; copies are last.
  llvm::stable_sort(parts, [](const Part &a, const Part &b) {
    if (!a.producer || !b.producer)
      return a.producer && !b.producer;
    return a.producer != b.producer && a.producer->isBeforeInBlock(b.producer);
  });
  rewriter.setInsertionPoint(parts.front().producer
                                 ? parts.front().producer.getOperation()
                                 : concat.getOperation());
  Value whole = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  for (Part &part : parts) {
    auto partType = cast<RankedTensorType>(part.value.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
        strides(type.getRank(), rewriter.getIndexAttr(1)), sizes;
    offsets[dim] = rewriter.getIndexAttr(part.offset);
    for (int64_t size : partType.getShape())
      sizes.push_back(rewriter.getIndexAttr(size));
    if (part.producer) {
      ++numParts;
      rewriter.setInsertionPoint(part.producer);
      Value slice = tensor::ExtractSliceOp::create(rewriter, loc, whole,
                                                   offsets, sizes, strides);
      if (part.reshape)
        slice = tensor::ExpandShapeOp::create(
            rewriter, loc, part.reshape.getSrcType(), slice,
            part.reshape.getReassociationIndices());
      rewriter.modifyOpInPlace(part.producer,
                               [&] { part.destination->set(slice); });
      rewriter.setInsertionPointAfter(part.producer);
      if (part.reshape) {
        rewriter.moveOpBefore(part.reshape, &*rewriter.getInsertionPoint());
        rewriter.setInsertionPointAfter(part.reshape);
      }
    } else {
      ++numCopies;
      rewriter.setInsertionPoint(concat);
    }
    whole = tensor::InsertSliceOp::create(rewriter, loc, part.value, whole,
                                          offsets, sizes, strides);
  }
  rewriter.replaceOp(concat, whole);
}

namespace {
struct FuseConcatsPass
    : public tessera::impl::TesseraFuseConcatsBase<FuseConcatsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::ConcatOp> concats;
    getOperation().walk([&](tensor::ConcatOp concat) {
      auto isStatic = [](Type type) {
        return cast<RankedTensorType>(type).hasStaticShape();
      };
      if (isStatic(concat.getType()) &&
          llvm::all_of(concat.getInputs().getTypes(), isStatic))
        concats.push_back(concat);
      else
        LDBG() << concat.getLoc() << ": a dynamic shape";
    });
    for (tensor::ConcatOp concat : concats)
      writeInPlace(rewriter, moveReshapes(rewriter, concat));
  }
};
} // namespace
