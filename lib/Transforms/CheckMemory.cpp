//===- CheckMemory.cpp - Reads, writes and waits that are not defined -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A warning must be right: there is none where the text of the program leaves
// it open.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACHECKMEMORY
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-check-memory"

STATISTIC(numOutOfBounds, "Number of accesses with an index out of bounds");
STATISTIC(numUnwrittenReads, "Number of reads of memory that nothing writes");
STATISTIC(numWaits, "Number of loops that wait for other threads");
STATISTIC(numRaces, "Number of writes of one element by several iterations");

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// Unwritten memory
//===----------------------------------------------------------------------===//

/// The op that makes a tensor whose elements nothing has written; null for
/// another tensor.
static Operation *findUnwrittenTensor(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (isa<tensor::EmptyOp>(op))
      return op;
    if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op))
      return alloc.getCopy() ? nullptr : op;
    if (!isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp>(op))
      return nullptr;
    tensor = op->getOperand(0);
  }
  return nullptr;
}

/// Whether `op` reads elements of this operand, a tensor.
static bool readsTensor(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.payloadUsesValueFromOperand(&operand);
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return &operand == &pack.getSourceMutable();
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return &operand == &unpack.getSourceMutable();
  return isa<tensor::ExtractOp, tensor::GatherOp, vector::TransferReadOp>(op) &&
         operand.getOperandNumber() == 0;
}

/// Whether a tensor or a buffer has elements, as far as its type states.
static bool hasElements(Value value) {
  auto type = cast<ShapedType>(value.getType());
  return !type.hasRank() || !llvm::is_contained(type.getShape(), 0);
}

static void checkTensors(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<TensorType>(operand.get().getType()) ||
        !hasElements(operand.get()) || !readsTensor(operand))
      continue;
    Operation *origin = findUnwrittenTensor(operand.get());
    if (!origin)
      continue;
    ++numUnwrittenReads;
    InFlightDiagnostic diagnostic =
        op->emitWarning() << "'" << op->getName()
                          << "' reads a tensor that nothing has written: its "
                             "elements may be anything";
    diagnostic.attachNote(origin->getLoc())
        << "the tensor is that of '" << origin->getName()
        << "'; fill it first, for example by linalg.fill";
  }
}

namespace {
/// Follows a buffer to the ops that read it and to those that may write it.
class BufferUses {
public:
  explicit BufferUses(Value buffer) { follow(buffer); }

  /// Null if there is none, or if an op may write the buffer.
  Operation *getFirstRead() const {
    if (mayBeWritten || reads.empty())
      return nullptr;
    return *llvm::min_element(reads, [](Operation *a, Operation *b) {
      return a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
    });
  }

private:
  void follow(Value buffer) {
    if (!seen.insert(buffer).second)
      return;
    for (OpOperand &use : buffer.getUses())
      if (!mayBeWritten)
        visit(use);
  }

  void visit(OpOperand &use) {
    Operation *op = use.getOwner();
    if (isa<memref::DeallocOp, gpu::DeallocOp, memref::DimOp, memref::RankOp>(
            op))
      return;
    if (isa<ViewLikeOpInterface>(op)) {
      for (Value view : op->getResults())
        if (isa<BaseMemRefType>(view.getType()))
          follow(view);
      return;
    }
    if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
      mayBeWritten |= structured.isDpsInit(&use);
      if (!mayBeWritten && structured.payloadUsesValueFromOperand(&use))
        reads.push_back(op);
      return;
    }
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (!effects || op->getNumRegions() != 0 ||
        op->hasTrait<OpTrait::IsTerminator>()) {
      mayBeWritten = true;
      return;
    }
    SmallVector<MemoryEffects::EffectInstance> instances;
    effects.getEffects(instances);
    bool isRead = false;
    for (MemoryEffects::EffectInstance &instance : instances) {
      bool isOfUse = !instance.getValue() || instance.getValue() == use.get();
      if (!isOfUse)
        continue;
      if (!isa<MemoryEffects::Read>(instance.getEffect()))
        mayBeWritten = true;
      isRead = true;
    }
    // An op without an effect on the buffer may pass it on.
    mayBeWritten |= !isRead;
    if (isRead)
      reads.push_back(op);
  }

  llvm::DenseSet<Value> seen;
  SmallVector<Operation *> reads;
  bool mayBeWritten = false;
};
} // namespace

static void checkBuffer(Operation *op) {
  Value buffer = op->getResult(0);
  if (!hasElements(buffer))
    return;
  Operation *read = BufferUses(buffer).getFirstRead();
  if (!read)
    return;
  ++numUnwrittenReads;
  InFlightDiagnostic diagnostic =
      read->emitWarning() << "'" << read->getName()
                          << "' reads a buffer that nothing writes: its "
                             "elements may be anything";
  diagnostic.attachNote(op->getLoc())
      << "the buffer is that of '" << op->getName() << "'";
}

//===----------------------------------------------------------------------===//
// Writes of several iterations
//===----------------------------------------------------------------------===//

namespace {
enum class Dependence { None, Some, Unknown };
} // namespace

/// Whether `value` depends on `induction`, an induction variable of `loop`.
/// Unknown where it depends on memory or on values that loops inside carry.
static Dependence findDependence(Value value, Value induction,
                                 Operation *loop) {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen;
  Dependence result = Dependence::None;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (next == induction)
      return Dependence::Some;
    Operation *op = next.getDefiningOp();
    if (!op) {
      // Arguments of what is around the loop have one value in it.
      Operation *owner = cast<BlockArgument>(next).getOwner()->getParentOp();
      if (owner == loop || !loop->isAncestor(owner))
        continue;
      auto inner = dyn_cast<scf::ForOp>(owner);
      if (inner && next == inner.getInductionVar())
        llvm::append_range(open,
                           ValueRange{inner.getLowerBound(),
                                      inner.getUpperBound(), inner.getStep()});
      else
        result = Dependence::Unknown;
      continue;
    }
    if (!loop->isProperAncestor(op))
      continue;
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      result = Dependence::Unknown;
    llvm::append_range(open, op->getOperands());
  }
  return result;
}

/// Whether each iteration of `loop` executes `op`.
static bool isUnconditional(Operation *op, Operation *loop) {
  for (Operation *parent = op->getParentOp(); parent != loop;
       parent = parent->getParentOp())
    if (!isa<scf::ForOp, scf::ParallelOp, scf::ForallOp>(parent))
      return false;
  return true;
}

static bool hasSeveralIterations(OpFoldResult lower, OpFoldResult upper,
                                 OpFoldResult step) {
  std::optional<int64_t> first = getConstantIntValue(lower),
                         last = getConstantIntValue(upper),
                         stride = getConstantIntValue(step);
  return first && last && stride && *stride > 0 && *last - *stride > *first;
}

static void checkStore(memref::StoreOp store, Operation *loop,
                       ValueRange inductions, ArrayRef<OpFoldResult> lowers,
                       ArrayRef<OpFoldResult> uppers,
                       ArrayRef<OpFoldResult> steps) {
  Operation *buffer = store.getMemref().getDefiningOp();
  if ((buffer && loop->isProperAncestor(buffer)) ||
      !isUnconditional(store, loop))
    return;
  for (auto [number, induction] : llvm::enumerate(inductions)) {
    if (!hasSeveralIterations(lowers[number], uppers[number], steps[number]) ||
        llvm::any_of(store.getIndices(), [&, variable = induction](Value at) {
          return findDependence(at, variable, loop) != Dependence::None;
        }))
      continue;
    // A value that does not depend on the iteration is written several times.
    if (findDependence(store.getValueToStore(), induction, loop) !=
        Dependence::Some)
      continue;
    ++numRaces;
    store.emitWarning() << "several iterations of '" << loop->getName()
                        << "' write one element: the address does not depend "
                           "on induction variable "
                        << number
                        << ", and the value does; which one remains is not "
                           "defined";
    return;
  }
}

template <typename LoopT> static void checkLoop(LoopT loop) {
  SmallVector<OpFoldResult> lowers, uppers, steps;
  if constexpr (std::is_same_v<LoopT, scf::ForallOp>) {
    lowers = loop.getMixedLowerBound();
    uppers = loop.getMixedUpperBound();
    steps = loop.getMixedStep();
  } else {
    lowers = getAsOpFoldResult(loop.getLowerBound());
    uppers = getAsOpFoldResult(loop.getUpperBound());
    steps = getAsOpFoldResult(loop.getStep());
  }
  loop.walk([&](memref::StoreOp store) {
    checkStore(store, loop, loop.getInductionVars(), lowers, uppers, steps);
  });
}

/// Whether the elements that a linalg op writes may differ along `dim`.
static bool variesAlong(linalg::LinalgOp op, unsigned dim) {
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isFunctionOfDim(dim) &&
        op.payloadUsesValueFromOperand(input))
      return true;
  return op
      ->walk([&](linalg::IndexOp index) {
        return index.getDim() == dim ? WalkResult::interrupt()
                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

static void checkStructured(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    for (auto [dim, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
      auto position = static_cast<unsigned>(dim);
      if (iterator != utils::IteratorType::parallel ||
          map.isFunctionOfDim(position) || ShapedType::isDynamic(ranges[dim]) ||
          ranges[dim] <= 1 || !variesAlong(op, position))
        continue;
      ++numRaces;
      op->emitWarning() << "several iterations of '" << op->getName()
                        << "' write one element: dimension " << dim
                        << " is parallel, and output "
                        << init.getOperandNumber() - op.getNumDpsInputs()
                        << " is not indexed by it; which value remains is not "
                           "defined. Make the dimension a reduction";
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Kernels that wait for each other
//===----------------------------------------------------------------------===//

/// Whether an atomic op leaves memory as it is.
static bool keepsMemory(memref::AtomicRMWOp op) {
  using Kind = arith::AtomicRMWKind;
  Kind kind = op.getKind();
  return (kind == Kind::addi || kind == Kind::ori || kind == Kind::xori) &&
         isConstantIntValue(op.getValue(), 0);
}

/// Whether a loop in a kernel can only end if another thread writes memory: it
/// carries no values, and reads memory without writing any.
static bool waitsForMemory(scf::WhileOp loop) {
  bool inKernel = loop->getParentOfType<gpu::GPUFuncOp>() ||
                  loop->getParentOfType<gpu::LaunchOp>();
  if (!inKernel || loop->getNumOperands() != 0 || loop->getNumResults() != 0)
    return false;
  bool reads = false, isOther = false;
  loop->walk([&](Operation *op) {
    if (op == loop.getOperation() || isa<memref::LoadOp>(op)) {
      reads |= isa<memref::LoadOp>(op);
      return;
    }
    if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op)) {
      reads = true;
      isOther |= !keepsMemory(atomic);
      return;
    }
    isOther |= !isMemoryEffectFree(op);
  });
  return reads && !isOther;
}

/// Launches run one after the other.
static void checkWaits(ModuleOp module) {
  unsigned launches = 0;
  module.walk([&](Operation *op) {
    launches += isa<gpu::LaunchOp, gpu::LaunchFuncOp>(op);
  });
  if (launches < 2)
    return;
  module.walk([&](scf::WhileOp loop) {
    if (!waitsForMemory(loop))
      return;
    ++numWaits;
    loop.emitWarning() << "'" << loop->getName()
                       << "' waits until the memory that it reads changes: "
                          "launches run one after the other, and a kernel that "
                          "waits for another launch does not end";
  });
}

//===----------------------------------------------------------------------===//
// Accesses out of bounds
//===----------------------------------------------------------------------===//

static void checkIndices(Operation *op, Value accessed, ValueRange indices) {
  auto type = cast<ShapedType>(accessed.getType());
  for (auto [dim, value] : llvm::enumerate(indices)) {
    std::optional<int64_t> index = getConstantIntValue(value);
    int64_t size = type.getDimSize(static_cast<unsigned>(dim));
    if (!index || ShapedType::isDynamic(size) || (*index >= 0 && *index < size))
      continue;
    ++numOutOfBounds;
    op->emitWarning() << "index " << *index << " of '" << op->getName()
                      << "' is out of bounds: dimension " << dim << " has size "
                      << size << "; the access is not defined";
    return;
  }
}

static void checkAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    checkIndices(op, load.getMemref(), load.getIndices());
  else if (auto store = dyn_cast<memref::StoreOp>(op))
    checkIndices(op, store.getMemref(), store.getIndices());
  else if (auto atomic = dyn_cast<memref::AtomicRMWOp>(op))
    checkIndices(op, atomic.getMemref(), atomic.getIndices());
  else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    checkIndices(op, extract.getTensor(), extract.getIndices());
  else if (auto insert = dyn_cast<tensor::InsertOp>(op))
    checkIndices(op, insert.getDest(), insert.getIndices());
}

namespace {
struct CheckMemoryPass
    : public tessera::impl::TesseraCheckMemoryBase<CheckMemoryPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      LDBG(2) << op->getLoc() << ": " << op->getName();
      checkTensors(op);
      checkAccess(op);
      if (isa<memref::AllocOp, memref::AllocaOp, gpu::AllocOp>(op))
        checkBuffer(op);
      else if (auto parallel = dyn_cast<scf::ParallelOp>(op))
        checkLoop(parallel);
      else if (auto forall = dyn_cast<scf::ForallOp>(op))
        checkLoop(forall);
      else if (auto structured = dyn_cast<linalg::LinalgOp>(op))
        checkStructured(structured);
    });
    checkWaits(getOperation());
  }
};
} // namespace
