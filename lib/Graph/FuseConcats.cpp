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
// nothing is copied. Operands that are concatenations along the same dimension
// become parts of the outermost one. Other uses of a part read the slice:
//
//   b = op(a)                      whole = insert a into that slice of whole
//   c = concat a, b          ->    b = op(slice of whole)
//   d = op(c)                      whole = insert b into that slice of whole
//   e = concat c, d                d = op(slice of whole), and so on
//
// Each reads the version of `whole` after the last insertion before it, so that
// no insertion comes between the two, and bufferization needs no copy of it.
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
/// An operand of a concatenation, or of one that is an operand of it.
struct Part {
  Value value;
  int64_t offset;
  /// The concatenation whose operand it is.
  tensor::ConcatOp concat;
  /// The op whose result it is, perhaps by a reshape, and that result's
  /// destination; null if the part must be copied.
  DestinationStyleOpInterface producer = {};
  OpOperand *destination = nullptr;
  tensor::CollapseShapeOp reshape = {};
  /// The op that inserts it.
  Operation *insertion = nullptr;
  /// The op at which it is written: the producer, or for copies the
  /// concatenation.
  Operation *position = nullptr;
};

/// A concatenation with all those of which it consists.
class Chain {
public:
  Chain(RewriterBase &rewriter, tensor::ConcatOp root)
      : rewriter(rewriter), root(root),
        dim(static_cast<int64_t>(root.getDim())) {}

  /// Replaces the concatenations. Adds those that are no longer there to
  /// `gone`.
  void writeInPlace(DenseSet<Operation *> &gone);

private:
  void collect(tensor::ConcatOp concat, int64_t offset);
  /// Whether the operand is a concatenation that can be a slice of this one.
  bool isInner(Value value) const;
  /// Whether `use` is by a concatenation of this chain.
  bool isOwnUse(OpOperand &use) const {
    return llvm::is_contained(concats, use.getOwner());
  }
  bool othersMayReadSlice(Value value) const;
  void findProducer(Part &part);
  /// Copies the parts whose producers read other parts.
  void separateReaders();
  void write(Part &part);
  /// Lets the uses of `value` read the slice at `offset`, except those by the
  /// concatenations and by the op `except`.
  void redirectUses(Value value, int64_t offset, Operation *except);
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  Slice getSlice(Value value, int64_t offset) const;

  RewriterBase &rewriter;
  tensor::ConcatOp root;
  int64_t dim;
  /// The root, and the concatenations within it with their offsets.
  SmallVector<Operation *> concats;
  SmallVector<std::pair<tensor::ConcatOp, int64_t>> inner;
  SmallVector<Part> parts;
  /// The versions of the whole, one for each insertion, in program order.
  SmallVector<Value> versions;
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

//===----------------------------------------------------------------------===//
// Which parts are written in place
//===----------------------------------------------------------------------===//

/// Whether the op can read a tensor that is a slice along `dim`.
static bool mayReadSlice(OpOperand &use, int64_t dim) {
  Operation *user = use.getOwner();
  // A slice is contiguous only within `dim` and the dimensions after it.
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
    for (const ReassociationIndices &group : collapse.getReassociationIndices())
      for (int64_t d : group)
        if (d < dim && llvm::is_contained(group, dim) &&
            collapse.getSrcType().getDimSize(d) != 1)
          return false;
    return true;
  }
  if (auto op = dyn_cast<DestinationStyleOpInterface>(user))
    return op.isDpsInput(&use);
  return isa<tensor::ConcatOp, tensor::ExtractOp, tensor::ExtractSliceOp,
             tensor::ExpandShapeOp, tensor::PadOp>(user);
}

bool Chain::othersMayReadSlice(Value value) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    return isOwnUse(use) ||
           (root->getBlock()->findAncestorOpInBlock(*use.getOwner()) &&
            mayReadSlice(use, dim));
  });
}

bool Chain::isInner(Value value) const {
  auto concat = value.getDefiningOp<tensor::ConcatOp>();
  return concat && concat->getBlock() == root->getBlock() &&
         static_cast<int64_t>(concat.getDim()) == dim &&
         !llvm::is_contained(concats, concat.getOperation()) &&
         llvm::count_if(value.getUses(),
                        [&](OpOperand &use) { return isOwnUse(use); }) == 1 &&
         othersMayReadSlice(value);
}

void Chain::collect(tensor::ConcatOp concat, int64_t offset) {
  concats.push_back(concat);
  for (Value input : concat.getInputs()) {
    if (isInner(input)) {
      auto next = input.getDefiningOp<tensor::ConcatOp>();
      inner.push_back({next, offset});
      collect(next, offset);
    } else {
      parts.push_back({input, offset, concat});
    }
    offset += cast<RankedTensorType>(input.getType()).getDimSize(dim);
  }
}

/// Finds the op that can write the part where it belongs.
void Chain::findProducer(Part &part) {
  auto result = dyn_cast<OpResult>(part.value);
  if (!result || !othersMayReadSlice(result))
    return;
  tensor::CollapseShapeOp reshape;
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(result.getOwner())) {
    result = dyn_cast<OpResult>(collapse.getSrc());
    if (!result || !result.hasOneUse())
      return;
    reshape = collapse;
  }
  auto producer = dyn_cast<DestinationStyleOpInterface>(result.getOwner());
  if (!producer || producer->getBlock() != root->getBlock())
    return;
  OpOperand *destination = producer.getTiedOpOperand(result);
  if (!destination->get().getDefiningOp<tensor::EmptyOp>())
    return;
  // One destination of an op is a slice; its other results are copied.
  if (llvm::any_of(
          parts, [&](const Part &other) { return other.producer == producer; }))
    return;
  part.producer = producer;
  part.destination = destination;
  part.reshape = reshape;
}

void Chain::separateReaders() {
  DenseSet<Operation *> readers;
  auto addReaders = [&](Value value) {
    for (OpOperand &use : value.getUses())
      if (!isOwnUse(use))
        readers.insert(
            root->getBlock()->findAncestorOpInBlock(*use.getOwner()));
  };
  for (auto [concat, offset] : inner)
    addReaders(concat.getResult());
  for (const Part &part : parts)
    if (part.producer)
      addReaders(part.value);
  for (Part &part : parts)
    if (part.producer && readers.contains(part.producer)) {
      part.producer = {};
      part.reshape = {};
    }
}

//===----------------------------------------------------------------------===//
// Writing and reading
//===----------------------------------------------------------------------===//

Chain::Slice Chain::getSlice(Value value, int64_t offset) const {
  auto type = cast<RankedTensorType>(value.getType());
  Slice slice;
  slice.offsets.assign(type.getRank(), rewriter.getIndexAttr(0));
  slice.strides.assign(type.getRank(), rewriter.getIndexAttr(1));
  slice.offsets[dim] = rewriter.getIndexAttr(offset);
  for (int64_t size : type.getShape())
    slice.sizes.push_back(rewriter.getIndexAttr(size));
  return slice;
}

void Chain::write(Part &part) {
  Location loc = root.getLoc();
  auto [offsets, sizes, strides] = getSlice(part.value, part.offset);
  if (part.producer) {
    ++numParts;
    rewriter.setInsertionPoint(part.producer);
    Value slice = tensor::ExtractSliceOp::create(rewriter, loc, versions.back(),
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
    LDBG() << loc << ": the part at " << part.offset << " is copied";
    rewriter.setInsertionPoint(part.concat);
  }
  part.insertion = tensor::InsertSliceOp::create(
      rewriter, loc, part.value, versions.back(), offsets, sizes, strides);
  versions.push_back(part.insertion->getResult(0));
}

void Chain::redirectUses(Value value, int64_t offset, Operation *except) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (!isOwnUse(use) && use.getOwner() != except)
      uses.push_back(&use);
  auto [offsets, sizes, strides] = getSlice(value, offset);
  DenseMap<Value, Value> slices;
  for (OpOperand *use : uses) {
    Operation *reader =
        root->getBlock()->findAncestorOpInBlock(*use->getOwner());
    Value latest;
    for (Value version : versions)
      if (version.getDefiningOp()->isBeforeInBlock(reader))
        latest = version;
    Value &slice = slices[latest];
    if (!slice) {
      rewriter.setInsertionPointAfterValue(latest);
      slice = tensor::ExtractSliceOp::create(rewriter, root.getLoc(), latest,
                                             offsets, sizes, strides);
    }
    rewriter.modifyOpInPlace(use->getOwner(), [&] { use->set(slice); });
  }
}

void Chain::writeInPlace(DenseSet<Operation *> &gone) {
  collect(root, 0);
  for (Part &part : parts)
    findProducer(part);
  separateReaders();
  for (Part &part : parts)
    part.position = part.producer ? part.producer.getOperation()
                                  : part.concat.getOperation();
  // In the order in which the program computes them.
  llvm::stable_sort(parts, [](const Part &a, const Part &b) {
    return a.position != b.position && a.position->isBeforeInBlock(b.position);
  });
  RankedTensorType type = root.getResultType();
  rewriter.setInsertionPoint(parts.front().position);
  versions.push_back(tensor::EmptyOp::create(
      rewriter, root.getLoc(), type.getShape(), type.getElementType()));
  for (Part &part : parts)
    write(part);
  for (const Part &part : parts)
    if (part.producer)
      redirectUses(part.value, part.offset, part.insertion);
  for (auto [concat, offset] : inner)
    redirectUses(concat.getResult(), offset, /*except=*/nullptr);
  gone.insert(concats.begin(), concats.end());
  rewriter.replaceOp(root, versions.back());
  for (auto [concat, offset] : inner)
    rewriter.eraseOp(concat);
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
    for (tensor::ConcatOp &concat : concats)
      concat = moveReshapes(rewriter, concat);
    // The outermost first.
    DenseSet<Operation *> gone;
    for (tensor::ConcatOp concat : llvm::reverse(concats))
      if (!gone.contains(concat))
        Chain(rewriter, concat).writeInPlace(gone);
  }
};
} // namespace
