//===- VThreadAccesses.cpp - Addresses accessed by vthreads ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VThreadAccesses.h"
#include "VThreadUniformity.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// An index: a constant and multiples of values that all vthreads share.
struct Form {
  int64_t constant = 0;
  llvm::SmallMapVector<Value, int64_t, 4> terms;

  static Form of(int64_t constant) {
    Form form;
    form.constant = constant;
    return form;
  }
  static Form of(Value value) {
    Form form;
    form.terms[value] = 1;
    return form;
  }
  bool isConstant() const { return terms.empty(); }
  /// this + factor * other.
  Form plus(const Form &other, int64_t factor = 1) const {
    Form sum = *this;
    sum.constant += factor * other.constant;
    for (auto [value, multiple] : other.terms)
      sum.terms[value] += factor * multiple;
    sum.terms.remove_if([](auto &term) { return term.second == 0; });
    return sum;
  }
  Form times(int64_t factor) const { return Form().plus(*this, factor); }
};

/// Along one dimension, the elements from `start` on.
struct Extent {
  Form start;
  int64_t size;
};

/// The box of a memref that one vthread touches.
struct AccessBox {
  Value memory;
  SmallVector<Extent> extents;
};

/// A read or a write of a box at some indices.
struct Access {
  Operation *op;
  bool write;
  TypedValue<MemRefType> memory;
  SmallVector<Value> indices;
  SmallVector<int64_t> shape;
};

/// Computes the addresses of one vthread op's accesses, and compares them.
class Checker {
public:
  explicit Checker(VThreadOp op)
      : op(op), body(&op.getBody().front()), uniformity(op),
        count(std::min<int64_t>(op.getNumVThreads(), maxCompared)) {}

  LogicalResult check(Block &block);
  LogicalResult check() { return check(*body); }

private:
  /// More vthreads than this are represented by the first ones.
  static constexpr int64_t maxCompared = 64;

  /// The value of `value` in a vthread, looking through `depth` operations.
  std::optional<Form> evaluate(Value value, int64_t thread, int depth = 8);
  std::optional<Form> evaluate(AffineExpr expr, ArrayRef<Form> dims,
                               ArrayRef<Form> symbols);
  std::optional<Form> evaluate(OpFoldResult value, int64_t thread) {
    if (auto attribute = dyn_cast<Attribute>(value))
      return Form::of(cast<IntegerAttr>(attribute).getInt());
    return evaluate(cast<Value>(value), thread);
  }
  /// The value of `value`, an argument of the region or not, in a vthread.
  Value getInThread(Value value, int64_t thread);
  std::optional<AccessBox> getBox(const Access &access, int64_t thread);
  std::optional<AccessBox> addView(memref::SubViewOp view, AccessBox box,
                                   int64_t thread);
  LogicalResult compare(const Access &first, const Access &second);

  VThreadOp op;
  Block *body;
  VThreadUniformity uniformity;
  int64_t count;
};

} // namespace

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Quotient or remainder, where signed and unsigned division agree.
static std::optional<int64_t> divide(int64_t a, int64_t b, bool remainder) {
  if (a < 0 || b <= 0)
    return std::nullopt;
  return remainder ? a % b : a / b;
}

Value Checker::getInThread(Value value, int64_t thread) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != body ||
      argument.getArgNumber() < op.getGrid().size())
    return value;
  return op.getPrivate(argument.getArgNumber() - op.getGrid().size(), thread);
}

std::optional<Form> Checker::evaluate(Value value, int64_t thread, int depth) {
  value = getInThread(value, thread);
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (argument.getOwner() == body) {
      int64_t rest = thread;
      ArrayRef<int64_t> grid = op.getGrid();
      for (size_t d = grid.size() - 1; d > argument.getArgNumber(); --d)
        rest /= grid[d];
      return Form::of(rest % grid[argument.getArgNumber()]);
    }
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) &&
      constant.getSignificantBits() <= 32)
    return Form::of(constant.getSExtValue());

  Operation *definition = depth > 0 ? value.getDefiningOp() : nullptr;
  auto binary = [&](auto combine) -> std::optional<Form> {
    std::optional<Form> a =
        evaluate(definition->getOperand(0), thread, depth - 1);
    std::optional<Form> b =
        evaluate(definition->getOperand(1), thread, depth - 1);
    return a && b ? combine(*a, *b) : std::nullopt;
  };
  std::optional<Form> result;
  if (isa_and_present<arith::AddIOp>(definition)) {
    result = binary(
        [](const Form &a, const Form &b) { return std::optional(a.plus(b)); });
  } else if (isa_and_present<arith::SubIOp>(definition)) {
    result = binary([](const Form &a, const Form &b) {
      return std::optional(a.plus(b, -1));
    });
  } else if (isa_and_present<arith::MulIOp>(definition)) {
    result = binary([](const Form &a, const Form &b) -> std::optional<Form> {
      if (a.isConstant())
        return b.times(a.constant);
      return b.isConstant() ? std::optional(a.times(b.constant)) : std::nullopt;
    });
  } else if (isa_and_present<arith::IndexCastOp, arith::IndexCastUIOp>(
                 definition)) {
    result = evaluate(definition->getOperand(0), thread, depth - 1);
  } else if (isa_and_present<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp,
                             arith::RemSIOp>(definition)) {
    bool remainder = isa<arith::RemUIOp, arith::RemSIOp>(definition);
    result = binary([&](const Form &a, const Form &b) -> std::optional<Form> {
      std::optional<int64_t> number;
      if (a.isConstant() && b.isConstant())
        number = divide(a.constant, b.constant, remainder);
      return number ? std::optional(Form::of(*number)) : std::nullopt;
    });
  } else if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(definition)) {
    SmallVector<Form> forms;
    for (Value operand : apply.getMapOperands())
      if (std::optional<Form> form = evaluate(operand, thread, depth - 1))
        forms.push_back(*form);
    unsigned dims = apply.getAffineMap().getNumDims();
    if (forms.size() == apply.getMapOperands().size())
      result = evaluate(apply.getAffineMap().getResult(0),
                        ArrayRef(forms).take_front(dims),
                        ArrayRef(forms).drop_front(dims));
  }
  // An unknown value that all share is as good as a known one.
  if (!result && uniformity.isUniform(value))
    return Form::of(value);
  return result;
}

std::optional<Form> Checker::evaluate(AffineExpr expr, ArrayRef<Form> dims,
                                      ArrayRef<Form> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Form::of(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Form> a = evaluate(binary.getLHS(), dims, symbols);
  std::optional<Form> b = evaluate(binary.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return a->plus(*b);
  if (!b->isConstant())
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return a->times(b->constant);
  if (!a->isConstant() || b->constant <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mod)
    return Form::of(llvm::mod(a->constant, b->constant));
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return Form::of(llvm::divideFloorSigned(a->constant, b->constant));
  return Form::of(llvm::divideCeilSigned(a->constant, b->constant));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The accesses of `op` whose addresses can be computed.
static SmallVector<Access> getAccesses(Operation *op) {
  SmallVector<Access> accesses;
  auto add = [&](bool write, Value memory, ValueRange indices,
                 ArrayRef<int64_t> tile) {
    auto typed = dyn_cast<TypedValue<MemRefType>>(memory);
    if (!typed || indices.size() < tile.size())
      return;
    Access access{op, write, typed, SmallVector<Value>(indices), {}};
    access.shape.assign(indices.size() - tile.size(), 1);
    llvm::append_range(access.shape, tile);
    accesses.push_back(std::move(access));
  };
  auto getTile = [](FragmentType type, bool transpose) {
    SmallVector<int64_t, 2> tile{type.getRows(), type.getCols()};
    if (transpose)
      std::swap(tile[0], tile[1]);
    return tile;
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    add(false, load.getMemory(), load.getIndices(),
        getTile(load.getResult().getType(), load.getTranspose()));
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    // Each vthread's update counts.
    if (store.getAtomicAdd())
      return {};
    add(true, store.getMemory(), store.getIndices(),
        getTile(store.getValue().getType(), store.getTranspose()));
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    add(false, load.getMemRef(), load.getIndices(), {});
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    add(true, store.getMemRef(), store.getIndices(), {});
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    add(false, copy.getSource(), copy.getSourceIndices(), copy.getShape());
    add(true, copy.getTarget(), copy.getTargetIndices(), copy.getShape());
  } else if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
    add(false, copy.getSource(), copy.getSourceIndices(), copy.getShape());
    add(true, copy.getTarget(), copy.getTargetIndices(), copy.getShape());
  }
  return accesses;
}

/// Translates `box`, in a view, to the underlying memory. Elements beyond
/// the view are not accessed.
std::optional<AccessBox> Checker::addView(memref::SubViewOp view, AccessBox box,
                                          int64_t thread) {
  AccessBox outer{view.getSource(), {}};
  llvm::SmallBitVector dropped = view.getDroppedDims();
  size_t next = 0;
  for (unsigned d = 0; d < view.getSourceType().getRank(); ++d) {
    std::optional<Form> offset = evaluate(view.getMixedOffsets()[d], thread);
    if (!offset || getConstantIntValue(view.getMixedStrides()[d]) != 1)
      return std::nullopt;
    if (dropped.test(d)) {
      outer.extents.push_back({*offset, 1});
      continue;
    }
    if (next == box.extents.size())
      return std::nullopt;
    Extent extent = box.extents[next++];
    std::optional<int64_t> size = getConstantIntValue(view.getMixedSizes()[d]);
    if (extent.size != 1)
      extent.size = size && extent.start.isConstant()
                        ? std::min(extent.size, *size - extent.start.constant)
                        : 1;
    if (extent.size < 1)
      return std::nullopt;
    outer.extents.push_back({extent.start.plus(*offset), extent.size});
  }
  return outer;
}

std::optional<AccessBox> Checker::getBox(const Access &access, int64_t thread) {
  AccessBox box{access.memory, {}};
  for (auto [index, size] : llvm::zip_equal(access.indices, access.shape)) {
    std::optional<Form> start = evaluate(index, thread);
    if (!start)
      return std::nullopt;
    box.extents.push_back({*start, size});
  }
  while (true) {
    box.memory = getInThread(box.memory, thread);
    if (auto cast = box.memory.getDefiningOp<memref::CastOp>()) {
      box.memory = cast.getSource();
      continue;
    }
    auto view = box.memory.getDefiningOp<memref::SubViewOp>();
    if (!view)
      break;
    std::optional<AccessBox> outer = addView(view, std::move(box), thread);
    if (!outer)
      return std::nullopt;
    box = std::move(*outer);
  }
  auto type = dyn_cast<MemRefType>(box.memory.getType());
  if (!type || type.getRank() != static_cast<int64_t>(box.extents.size()) ||
      !uniformity.isUniform(box.memory))
    return std::nullopt;
  // Elements beyond the memory are not accessed.
  for (auto [extent, size] : llvm::zip_equal(box.extents, type.getShape())) {
    if (!extent.start.isConstant() || ShapedType::isDynamic(size))
      continue;
    extent.size = std::min(extent.size, size - extent.start.constant);
    if (extent.size < 1 || extent.start.constant < 0)
      return std::nullopt;
  }
  return box;
}

/// Whether two accesses provably have an element in common.
static bool overlap(const AccessBox &a, const AccessBox &b) {
  return a.memory == b.memory &&
         llvm::all_of(llvm::zip_equal(a.extents, b.extents), [](auto extents) {
           auto &[one, other] = extents;
           Form distance = other.start.plus(one.start, -1);
           return distance.isConstant() && distance.constant < one.size &&
                  -distance.constant < other.size;
         });
}

//===----------------------------------------------------------------------===//
// Conflicts
//===----------------------------------------------------------------------===//

LogicalResult Checker::compare(const Access &first, const Access &second) {
  // Two writes of different ops may be of the same value.
  bool same = first.op == second.op && first.write == second.write;
  if (!first.write && !second.write)
    return success();
  if (first.write && second.write && !same)
    return success();
  SmallVector<std::optional<AccessBox>> ones, others;
  for (int64_t t = 0; t < count; ++t) {
    ones.push_back(getBox(first, t));
    others.push_back(same ? ones.back() : getBox(second, t));
  }
  for (int64_t s = 0; s < count; ++s)
    for (int64_t t = same ? s + 1 : 0; t < count; ++t) {
      if (s == t || !ones[s] || !others[t] || !overlap(*ones[s], *others[t]))
        continue;
      InFlightDiagnostic diag = [&] {
        if (same)
          return first.op->emitOpError()
                 << "vthread_c4: vthreads " << s << " and " << t
                 << " write the same address; index it so that their addresses "
                    "differ, or allocate the memory in the region";
        const Access &read = first.write ? second : first;
        const Access &write = first.write ? first : second;
        InFlightDiagnostic diag =
            read.op->emitOpError()
            << "vthread_c5: vthread " << (first.write ? t : s)
            << " reads what vthread " << (first.write ? s : t)
            << " writes, but vthreads are not ordered; put a gpu.barrier "
               "between "
               "the two";
        diag.attachNote(write.op->getLoc()) << "the write is here";
        return diag;
      }();
      diag.attachNote(op.getLoc()) << "the vthreads are defined here";
      return failure();
    }
  return success();
}

LogicalResult Checker::check(Block &block) {
  // The accesses since the last barrier.
  SmallVector<Access> accesses;
  for (Operation &inner : block) {
    if (auto branch = dyn_cast<RegionBranchOpInterface>(inner))
      if (!uniformity.findDivergentControl(branch))
        for (Region &region : inner.getRegions())
          for (Block &nested : region)
            if (failed(check(nested)))
              return failure();
    if (findCollective(&inner)) {
      accesses.clear();
      continue;
    }
    for (Access &access : getAccesses(&inner)) {
      accesses.push_back(std::move(access));
      for (const Access &other : accesses)
        if (failed(compare(other, accesses.back())))
          return failure();
    }
  }
  return success();
}

LogicalResult mlir::tessera::verifyVThreadAccesses(VThreadOp op) {
  return Checker(op).check();
}
