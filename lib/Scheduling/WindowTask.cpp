//===- WindowTask.cpp - Windows that threads compute ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scheduling/WindowTask.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// The loops of a body, outermost first, and its loads, in their order.
struct WindowBody {
  SmallVector<scf::ForOp> loops;
  SmallVector<memref::LoadOp> loads;
};
} // namespace

/// Nothing if a loop is not an scf.for, or its number of iterations is not
/// constant.
static std::optional<WindowBody> readBody(linalg::GenericOp op) {
  WindowBody body;
  WalkResult result =
      op.getBlock()->walk<WalkOrder::PreOrder>([&](Operation *inner) {
        if (auto loop = dyn_cast<scf::ForOp>(inner)) {
          if (!loop.getStaticTripCount())
            return WalkResult::interrupt();
          body.loops.push_back(loop);
        } else if (isa<LoopLikeOpInterface>(inner)) {
          return WalkResult::interrupt();
        } else if (auto load = dyn_cast<memref::LoadOp>(inner)) {
          body.loads.push_back(load);
        }
        return WalkResult::advance();
      });
  if (result.wasInterrupted())
    return std::nullopt;
  return body;
}

linalg::GenericOp mlir::tessera::getWindowOp(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureBufferSemantics() ||
      generic.getNumParallelLoops() != generic.getNumLoops() ||
      generic.getNumLoops() == 0 || generic.getNumDpsInits() == 0 ||
      op->getParentOfType<gpu::LaunchOp>() ||
      op->getParentOfType<gpu::GPUFuncOp>())
    return {};
  std::optional<WindowBody> body = readBody(generic);
  if (!body || body->loops.empty() ||
      llvm::none_of(body->loads, [](memref::LoadOp load) {
        return load->getParentOfType<scf::ForOp>();
      }))
    return {};
  return generic;
}

static int64_t getTripCount(scf::ForOp loop) {
  return loop.getStaticTripCount()->getSExtValue();
}

/// The iterations of the loops around `op` in its body.
static double countIterations(Operation *op) {
  double count = 1;
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    count *= static_cast<double>(getTripCount(loop));
  return count;
}

/// The loads in the innermost loop of the first nest.
static SmallVector<memref::LoadOp> getInnerLoads(const WindowBody &body) {
  SmallVector<memref::LoadOp> inner;
  for (memref::LoadOp load : body.loads)
    if (auto loop = load->getParentOfType<scf::ForOp>();
        loop && loop.getBody()->getOps<scf::ForOp>().empty() &&
        (inner.empty() || inner.front()->getBlock() == load->getBlock()))
      inner.push_back(load);
  return inner;
}

WindowWork mlir::tessera::getWindowWork(linalg::GenericOp op) {
  WindowWork work;
  double points = 1;
  for (int64_t extent : op.getStaticLoopRanges())
    points *= ShapedType::isDynamic(extent) ? 1 : static_cast<double>(extent);
  op.getBlock()->walk([&](Operation *inner) {
    auto loop = inner->getParentOfType<scf::ForOp>();
    bool isArithmetic =
        isa<arith::MulFOp, arith::AddFOp, arith::MulIOp, arith::AddIOp,
            arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp,
            arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp>(inner);
    if (!loop || !isArithmetic ||
        !isa<IntegerType, FloatType>(inner->getResult(0).getType()))
      return;
    work.operations += points * countIterations(inner);
    work.sumType = inner->getResult(0).getType();
  });
  if (!work.sumType)
    work.sumType = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  return work;
}

bool mlir::tessera::isExactWindow(linalg::GenericOp op) {
  bool isExact = true;
  op.getBlock()->walk([&](Operation *inner) {
    isExact &= !isa<math::MathDialect>(inner->getDialect()) &&
               !isa<arith::DivFOp>(inner);
  });
  return isExact;
}

/// How the elements of a window are combined.
static StringRef getKind(const WindowBody &body) {
  SmallVector<memref::LoadOp> loads = getInnerLoads(body);
  if (loads.size() >= 2)
    return body.loops.size() > 2 ? "grouped" : "depthwise";
  scf::ForOp loop = loads.empty()
                        ? body.loops.back()
                        : loads.front()->getParentOfType<scf::ForOp>();
  for (Operation &inner : *loop.getBody()) {
    if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp,
            arith::MaxUIOp>(inner) &&
        !inner.getResult(0).getType().isIndex())
      return "max pooling";
    if (isa<arith::AddFOp>(inner))
      return "sum pooling";
  }
  return "window";
}

static void printShape(raw_ostream &os, Type type) {
  auto shaped = cast<ShapedType>(type);
  for (int64_t extent : shaped.getShape()) {
    if (ShapedType::isDynamic(extent))
      os << "?x";
    else
      os << extent << "x";
  }
  os << shaped.getElementType();
}

std::string mlir::tessera::describeWindow(linalg::GenericOp op) {
  std::optional<WindowBody> body = readBody(op);
  assert(body && !body->loops.empty() && "not a window");
  std::string text;
  llvm::raw_string_ostream os(text);
  SmallVector<memref::LoadOp> loads = getInnerLoads(*body);
  os << getKind(*body) << " ";
  // The loops around the first element that is read.
  SmallVector<int64_t> extents;
  Operation *innermost =
      loads.empty() ? body->loops.back() : loads.front().getOperation();
  for (auto loop = innermost->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    extents.insert(extents.begin(), getTripCount(loop));
  llvm::interleave(extents, os, "x");
  if (!loads.empty()) {
    // The filter is the smaller one.
    auto size = [](memref::LoadOp load) {
      MemRefType type = load.getMemRefType();
      return type.hasStaticShape() ? type.getNumElements()
                                   : std::numeric_limits<int64_t>::max();
    };
    memref::LoadOp image = *llvm::max_element(
        loads, [&](auto a, auto b) { return size(a) < size(b); });
    os << " of ";
    printShape(os, image.getMemRefType());
  }
  os << " -> ";
  printShape(os, op.getDpsInits()[0].getType());
  return text;
}
