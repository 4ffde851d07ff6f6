//===- JoinMaxima.cpp - Maxima of several numbers -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GLSL.std.450 has no maximum that is NaN for an operand that is NaN: each
// arith.maximumf becomes FMax and a test and a selection for each operand. A
// maximum of several numbers, such as those of a window, has one test:
//
//   m = FMax(FMax(x0, x1), x2)
//   w = |x0| + |x1| + |x2|
//   isnan(w) ? w : m
//
// The sum of absolute values is NaN if and only if one of them is: infinities
// have the same sign. The same applies to minima.
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether only another `Op` in the same block uses `op`.
template <typename Op> static bool isInner(Op op) {
  if (!op->hasOneUse())
    return false;
  auto user = dyn_cast<Op>(*op->user_begin());
  return user && user->getBlock() == op->getBlock();
}

/// Appends the numbers of which `value` is the maximum or minimum, and the ops
/// that compute it.
template <typename Op>
static void collect(Value value, bool isRoot, SmallVectorImpl<Value> &numbers,
                    SmallVectorImpl<Operation *> &ops) {
  SmallVector<std::pair<Value, bool>> open{{value, isRoot}};
  while (!open.empty()) {
    auto [next, root] = open.pop_back_val();
    auto op = next.getDefiningOp<Op>();
    if (!op || (!root && !isInner(op))) {
      numbers.push_back(next);
      continue;
    }
    ops.push_back(op);
    open.emplace_back(op.getRhs(), false);
    open.emplace_back(op.getLhs(), false);
  }
}

template <typename Op, typename SpirvOp>
static void join(gpu::GPUFuncOp kernel) {
  // Two tests of two numbers take no longer than a sum.
  constexpr size_t leastNumbers = 3;
  SmallVector<Op> roots;
  kernel.walk([&](Op op) {
    if (op.getType().isF16() || op.getType().isF32())
      if (!isInner(op))
        roots.push_back(op);
  });
  for (Op root : roots) {
    SmallVector<Value> numbers;
    SmallVector<Operation *> ops;
    collect<Op>(root, /*isRoot=*/true, numbers, ops);
    if (numbers.size() < leastNumbers)
      continue;
    ImplicitLocOpBuilder b(root.getLoc(), root);
    Value extreme = numbers.front(), sum;
    for (Value number : ArrayRef(numbers).drop_front())
      extreme = SpirvOp::create(b, extreme, number);
    for (Value number : numbers) {
      FloatAttr constant;
      if (matchPattern(number, m_Constant(&constant)) &&
          !constant.getValue().isNaN())
        continue;
      Value magnitude = spirv::GLFAbsOp::create(b, number);
      sum = sum ? arith::AddFOp::create(b, sum, magnitude).getResult()
                : magnitude;
    }
    Value result = extreme;
    if (sum) {
      Value isNan = spirv::IsNanOp::create(b, sum);
      result = arith::SelectOp::create(b, isNan, sum, extreme);
    }
    root.replaceAllUsesWith(result);
    // Each is before its users.
    for (Operation *op : ops)
      op->erase();
  }
}

void mlir::tessera::joinMaxima(gpu::GPUFuncOp kernel) {
  join<arith::MaximumFOp, spirv::GLFMaxOp>(kernel);
  join<arith::MinimumFOp, spirv::GLFMinOp>(kernel);
}
