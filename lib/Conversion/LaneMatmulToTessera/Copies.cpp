//===- Copies.cpp - Copies by all threads of a workgroup ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The indices of a copy are evaluated for all threads of the workgroup. The
// elements that one op copies must be a tile of the source and one of the
// target; then it does not matter which thread copies which of them, as long as
// barriers separate the copy from loads of the target.
//
//===----------------------------------------------------------------------===//

#include "Copies.h"

#include "BarrierScan.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <set>

using namespace mlir;
using namespace mlir::tessera;

static bool isInWorkgroupMemory(Value memory) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  return type && isWorkgroupMemory(type);
}

/// Whether `op` copies: false for other ops. Fails for a copy of an unknown
/// form.
FailureOr<bool> WorkgroupCopies::findAccesses(Operation *op, LaneAccess &source,
                                              LaneAccess &target) {
  if (auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op)) {
    if (copy.getSrcElements())
      return obstacle.set(op, "copies a number of elements that is not "
                              "constant");
    auto set = [&](LaneAccess &access, Value memory, ValueRange indices) {
      access = {op, memory, {}};
      SmallVector<LaneForm> first;
      for (Value index : indices) {
        LaneForms::Form form = forms->get(index);
        if (!form)
          return failure();
        first.push_back(*form);
      }
      for (int64_t i = 0; i < copy.getDstElements().getSExtValue(); ++i) {
        SmallVector<LaneForm> element = first;
        LaneForms::Form last = forms->add(first.back(), forms->makeConstant(i));
        if (!last)
          return failure();
        element.back() = *last;
        access.elements.push_back(std::move(element));
      }
      return success();
    };
    if (failed(set(source, copy.getSrc(), copy.getSrcIndices())) ||
        failed(set(target, copy.getDst(), copy.getDstIndices())))
      return obstacle.set(op, "has indices of an unknown form");
    return true;
  }
  Value stored = getStoredValue(op);
  if (!stored)
    return false;
  // A matrix may be stored to workgroup memory as well.
  Obstacle ignored;
  LaneElements quiet(*forms, ignored);
  FailureOr<LaneAccess> access = quiet.getAccess(op);
  if (failed(access) || !isInWorkgroupMemory(access->memory) ||
      !access->inBounds)
    return false;
  FailureOr<ArrayRef<const LaneElement *>> values = quiet.get(stored);
  if (failed(values))
    return false;
  Operation *load = values->front()->op;
  for (const LaneElement *element : *values)
    if (element->kind != LaneElement::Loaded || !element->inBounds ||
        element->op != load || load->getBlock() != op->getBlock())
      return false;
  if (isInWorkgroupMemory(values->front()->value))
    return false;
  // The copy loads where it stores.
  auto writesWorkgroupMemory = [](Operation *other) {
    return isa<nvgpu::DeviceAsyncCopyOp>(other) ||
           (getStoredValue(other) &&
            llvm::any_of(other->getOperands(), isInWorkgroupMemory));
  };
  for (Operation *between = load->getNextNode(); between != op;
       between = between->getNextNode())
    if (!isMemoryEffectFree(between) &&
        !hasSingleEffect<MemoryEffects::Read>(between) &&
        !writesWorkgroupMemory(between))
      return obstacle.set(between, "is between the load and the store of a "
                                   "copy to workgroup memory");
  target = std::move(*access);
  source = {load, values->front()->value, {}};
  for (const LaneElement *element : *values)
    source.elements.push_back(element->indices);
  return true;
}

std::optional<std::vector<std::pair<int64_t, int64_t>>>
WorkgroupCopies::getOffsets(const LaneAccess &access) const {
  auto numThreads = static_cast<size_t>(forms->getNumLanes());
  size_t rank = access.elements.front().size();
  if (rank < 2)
    return std::nullopt;
  std::vector<std::pair<int64_t, int64_t>> offsets(access.elements.size() *
                                                   numThreads);
  for (size_t dim = 0; dim < rank; ++dim) {
    LaneForm first = access.elements.front()[dim].broadcast(/*lane=*/0);
    for (size_t i = 0; i < access.elements.size(); ++i) {
      LaneForms::Form difference =
          forms->add(access.elements[i][dim], first, /*sign=*/-1);
      std::optional<LaneForm::Factors> constants =
          difference ? difference->getConstants(numThreads) : std::nullopt;
      if (!constants)
        return std::nullopt;
      for (size_t thread = 0; thread < numThreads; ++thread) {
        int64_t offset = (*constants)[thread];
        auto &[row, col] = offsets[i * numThreads + thread];
        if (dim + 1 == rank)
          col = offset;
        else if (dim + 2 == rank)
          row = offset;
        else if (offset != 0)
          return std::nullopt;
      }
    }
  }
  return offsets;
}

LogicalResult WorkgroupCopies::match(Operation *op) {
  LaneAccess source, target;
  FailureOr<bool> isFound = findAccesses(op, source, target);
  if (failed(isFound))
    return failure();
  if (!*isFound)
    return success();
  if (!forms->isUniform(source.memory) || !forms->isUniform(target.memory))
    return obstacle.set(op, "copies from or to a memory that depends on the "
                            "thread");
  auto from = getOffsets(source), to = getOffsets(target);
  if (!from || !to)
    return obstacle.set(op, "copies other elements than those of a tile");
  // The first row and column, and the tile's extents.
  std::pair<int64_t, int64_t> least = to->front(), most = to->front();
  std::set<std::pair<int64_t, int64_t>> positions;
  for (auto [read, written] : llvm::zip_equal(*from, *to)) {
    if (read != written)
      return obstacle.set(op, "changes the order of the elements that it "
                              "copies");
    positions.insert(written);
    least = {std::min(least.first, written.first),
             std::min(least.second, written.second)};
    most = {std::max(most.first, written.first),
            std::max(most.second, written.second)};
  }
  WorkgroupCopy copy{op,
                     source.memory,
                     target.memory,
                     {},
                     {},
                     most.first - least.first + 1,
                     most.second - least.second + 1};
  if (static_cast<int64_t>(positions.size()) != copy.rows * copy.cols)
    return obstacle.set(op, "copies other elements than those of a tile");
  auto setIndices = [&](SmallVector<LaneForm> &indices,
                        const LaneAccess &access) {
    for (const LaneForm &index : access.elements.front())
      indices.push_back(index.broadcast(/*lane=*/0));
    size_t rank = indices.size();
    for (auto [dim, offset] : {std::pair(rank - 2, least.first),
                               std::pair(rank - 1, least.second)}) {
      LaneForms::Form sum =
          forms->add(indices[dim], forms->makeConstant(offset));
      if (!sum)
        return false;
      indices[dim] = *sum;
    }
    return true;
  };
  if (!setIndices(copy.sourceIndices, source) ||
      !setIndices(copy.targetIndices, target))
    return obstacle.set(op, "has indices of an unknown form");
  // All threads of the workgroup take part.
  for (Operation *parent = op->getParentOp(); parent != launch;
       parent = parent->getParentOp()) {
    SmallVector<Value> control;
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      control = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    else if (auto branch = dyn_cast<scf::IfOp>(parent))
      control = {branch.getCondition()};
    if (control.empty() || !llvm::all_of(control, [&](Value value) {
          return forms->isUniform(value);
        }))
      return obstacle.set(op, "is not executed by all threads of the "
                              "workgroup alike");
  }
  // Each row begins with what one asynchronous copy moves, which is aligned.
  if (auto async = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op)) {
    auto type = cast<MemRefType>(copy.target.getType());
    uint64_t bytes = async.getDstElements().getZExtValue() *
                     type.getElementTypeBitWidth() / 8;
    if (llvm::isPowerOf2_64(bytes))
      copy.alignment = static_cast<int64_t>(bytes);
  }
  copies.push_back(std::move(copy));
  ops.insert(op);
  return success();
}

LogicalResult WorkgroupCopies::checkBarriers(const WorkgroupCopy &copy) {
  if (isSeparatedByBarriers(copy.op, launch, [&](Operation *op) {
        return op->getNumRegions() == 0 && !isMemoryEffectFree(op) &&
               !isCopy(op) &&
               llvm::any_of(op->getOperands(), [&](Value operand) {
                 return mayShareMemory(operand, copy.target, launch);
               });
      }))
    return success();
  return obstacle.set(copy.op, "copies to workgroup memory without a "
                               "gpu.barrier between the copy and another "
                               "access to the memory");
}

bool WorkgroupCopies::mayOverlap(const WorkgroupCopy &a,
                                 const WorkgroupCopy &b) const {
  if (a.target != b.target)
    return true;
  size_t rank = a.targetIndices.size();
  for (size_t dim = 0; dim < rank; ++dim) {
    LaneForms::Form difference =
        forms->add(b.targetIndices[dim], a.targetIndices[dim], /*sign=*/-1);
    std::optional<int64_t> distance =
        difference ? difference->getConstant() : std::nullopt;
    if (!distance)
      continue;
    auto getExtent = [&](const WorkgroupCopy &copy) {
      return dim + 1 == rank ? copy.cols : dim + 2 == rank ? copy.rows : 1;
    };
    if (*distance >= getExtent(a) || -*distance >= getExtent(b))
      return false;
  }
  return true;
}

LogicalResult WorkgroupCopies::run() {
  // The forms of a workgroup are large.
  bool isUsed = launch.getBody()
                    .walk([](Operation *op) {
                      Operation *store = getStoredValue(op) ? op : nullptr;
                      if (isa<nvgpu::DeviceAsyncCopyOp>(op) ||
                          (store && llvm::any_of(store->getOperands(),
                                                 isInWorkgroupMemory)))
                        return WalkResult::interrupt();
                      return WalkResult::advance();
                    })
                    .wasInterrupted();
  if (!isUsed)
    return success();
  gpu::KernelDim3 sizes = launch.getBlockSizeOperandValues();
  for (Value size : {sizes.y, sizes.z})
    if (getConstantIntValue(size).value_or(0) < 1)
      return obstacle.set(launch, "copies to workgroup memory, and has a block "
                                  "size that is not constant");
  forms.emplace(launch, subgroupSize, /*isForWorkgroup=*/true);
  WalkResult result = launch.getBody().walk([&](Operation *op) {
    return failed(match(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (const WorkgroupCopy &copy : copies) {
    if (failed(checkBarriers(copy)))
      return failure();
    for (const WorkgroupCopy &other : copies)
      if (&copy != &other &&
          mayShareMemory(copy.target, other.target, launch) &&
          mayOverlap(copy, other) &&
          !isSeparatedByBarriers(copy.op, launch,
                                 [&](Operation *op) { return op == other.op; }))
        return obstacle.set(copy.op, "may copy to the elements of another copy "
                                     "without a gpu.barrier in between");
  }
  return success();
}

void WorkgroupCopies::emit() {
  for (const WorkgroupCopy &copy : copies) {
    OpBuilder builder(copy.op);
    Location loc = copy.op->getLoc();
    auto emitAll = [&](ArrayRef<LaneForm> own) {
      SmallVector<Value> indices;
      for (const LaneForm &form : own)
        indices.push_back(forms->emit(builder, loc, form));
      return indices;
    };
    SmallVector<Value> from = emitAll(copy.sourceIndices),
                       to = emitAll(copy.targetIndices);
    CopyOp::create(builder, loc, copy.source, from, copy.target, to,
                   ArrayRef<int64_t>{copy.rows, copy.cols}, /*inBounds=*/true,
                   copy.alignment ? builder.getI64IntegerAttr(copy.alignment)
                                  : IntegerAttr(),
                   /*contiguous=*/nullptr, /*window=*/nullptr);
  }
  // The copies are complete where they stand: nothing waits for them.
  SmallVector<Operation *> waits, groups;
  launch.getBody().walk([&](Operation *op) {
    if (isa<nvgpu::DeviceAsyncWaitOp>(op))
      waits.push_back(op);
    if (isa<nvgpu::DeviceAsyncCreateGroupOp>(op))
      groups.push_back(op);
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      return;
    for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs())) {
      if (!isa<nvgpu::DeviceAsyncTokenType>(argument.getType()))
        continue;
      // Simplified later.
      OpBuilder builder(loop);
      Type type = builder.getI32Type();
      loop.getInitArgsMutable()[number].set(
          arith::ConstantIntOp::create(builder, loop.getLoc(), 0, 32));
      argument.setType(type);
      loop.getResult(number).setType(type);
      loop.getBody()->getTerminator()->setOperand(number, argument);
    }
  });
  for (Operation *op : waits)
    op->erase();
  for (Operation *op : llvm::reverse(groups))
    op->erase();
  for (const WorkgroupCopy &copy : copies)
    copy.op->erase();
}
