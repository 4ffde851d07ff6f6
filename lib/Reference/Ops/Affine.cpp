//===- Affine.cpp - The affine dialect ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AffineEval.h"
#include "Control.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IntegerSet.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tessera::reference;

std::optional<int64_t> tessera::reference::evaluate(AffineExpr expr,
                                                    ArrayRef<int64_t> dims,
                                                    ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> a = evaluate(binary.getLHS(), dims, symbols);
  std::optional<int64_t> b = evaluate(binary.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *a + *b;
  case AffineExprKind::Mul:
    return *a * *b;
  default:
    break;
  }
  if (*b <= 0)
    return std::nullopt;
  int64_t quotient = *a / *b, remainder = *a % *b;
  bool isNegative = remainder < 0;
  if (expr.getKind() == AffineExprKind::Mod)
    return isNegative ? remainder + *b : remainder;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return isNegative ? quotient - 1 : quotient;
  return remainder > 0 ? quotient + 1 : quotient;
}

bool tessera::reference::getLinear(AffineExpr expr,
                                   MutableArrayRef<int64_t> coefficients,
                                   int64_t &constant, int64_t factor) {
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * value.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return getLinear(binary.getLHS(), coefficients, constant, factor) &&
           getLinear(binary.getRHS(), coefficients, constant, factor);
  if (expr.getKind() != AffineExprKind::Mul)
    return false;
  if (auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS()))
    return getLinear(binary.getLHS(), coefficients, constant,
                     factor * scale.getValue());
  if (auto scale = dyn_cast<AffineConstantExpr>(binary.getLHS()))
    return getLinear(binary.getRHS(), coefficients, constant,
                     factor * scale.getValue());
  return false;
}

namespace {
/// A map with its operands.
struct BoundMap {
  AffineMap map;
  SmallVector<Slot> operands;

  BoundMap() = default;
  BoundMap(Scope &scope, AffineMap map, ValueRange operands)
      : map(map), operands(scope.slots(operands)) {}

  bool evaluateAll(const Frame &frame, Operation *op,
                   SmallVectorImpl<int64_t> &results) const {
    SmallVector<int64_t, 8> values;
    for (Slot operand : operands)
      values.push_back(frame.integer(operand));
    auto dims = ArrayRef<int64_t>(values).take_front(map.getNumDims());
    auto symbols = ArrayRef<int64_t>(values).drop_front(map.getNumDims());
    for (AffineExpr expr : map.getResults()) {
      std::optional<int64_t> result = evaluate(expr, dims, symbols);
      if (!result)
        return frame.run->error(
            op, "division by a non-positive value in an affine map");
      results.push_back(*result);
    }
    return true;
  }
};

enum class Choice { Only, Max, Min };
} // namespace

template <Choice choice>
static InstrPtr compileApply(Operation *op, AffineMap affineMap, Scope &scope) {
  BoundMap map(scope, affineMap, op->getOperands());
  Slot result = scope.define(op->getResult(0));
  return makeInstr([=](Frame &frame) {
    SmallVector<int64_t, 4> values;
    if (!map.evaluateAll(frame, op, values))
      return false;
    int64_t value = choice == Choice::Min
                        ? *std::min_element(values.begin(), values.end())
                        : *std::max_element(values.begin(), values.end());
    frame.setInt(result, value);
    return true;
  });
}

static InstrPtr compileFor(affine::AffineForOp op, Scope &scope) {
  BoundMap lower(scope, op.getLowerBoundMap(), op.getLowerBoundOperands());
  BoundMap upper(scope, op.getUpperBoundMap(), op.getUpperBoundOperands());
  int64_t step = op.getStepAsInt();
  SmallVector<Code::Use> inits;
  for (OpOperand &init : op.getInitsMutable())
    inits.push_back(scope.use(init));
  auto body = std::make_shared<Code>(scope.compile(*op.getBody()));
  Slot induction = body->arguments.front();
  SmallVector<Slot> carried(body->arguments.begin() + 1, body->arguments.end());
  SmallVector<Code::Use> carriedUses;
  for (Slot slot : carried)
    carriedUses.push_back({slot, true});
  SmallVector<Slot> results = scope.define(op.getResults());
  Operation *operation = op;
  return makeCollective([=](ArrayRef<Frame *> frames) {
    SmallVector<int64_t, 4> at, end;
    for (Frame *frame : frames) {
      SmallVector<int64_t, 4> lowers, uppers;
      if (!lower.evaluateAll(*frame, operation, lowers) ||
          !upper.evaluateAll(*frame, operation, uppers))
        return false;
      at.push_back(*std::max_element(lowers.begin(), lowers.end()));
      end.push_back(*std::min_element(uppers.begin(), uppers.end()));
      assignAll(*frame, carried, *frame, inits);
    }
    SmallVector<Frame *> active;
    while (true) {
      active.clear();
      for (size_t i = 0; i < frames.size(); ++i) {
        if (at[i] >= end[i])
          continue;
        frames[i]->setInt(induction, at[i]);
        at[i] += step;
        active.push_back(frames[i]);
      }
      if (active.empty())
        break;
      if (!frames.front()->run->spend(
              body->cost() * static_cast<int64_t>(active.size()), operation))
        return false;
      if (active.size() == 1 ? !body->run(*active.front())
                             : !body->runAll(active))
        return false;
      for (Frame *frame : active)
        assignAll(*frame, carried, *frame, body->yields);
    }
    for (Frame *frame : frames)
      assignAll(*frame, results, *frame, carriedUses);
    return true;
  });
}

static InstrPtr compileIf(affine::AffineIfOp op, Scope &scope) {
  IntegerSet set = op.getIntegerSet();
  AffineMap affineMap = AffineMap::get(set.getNumDims(), set.getNumSymbols(),
                                       set.getConstraints(), op.getContext());
  BoundMap map(scope, affineMap, op.getOperands());
  auto yes = std::make_shared<Code>(scope.compile(*op.getThenBlock()));
  auto no = op.hasElse()
                ? std::make_shared<Code>(scope.compile(*op.getElseBlock()))
                : std::make_shared<Code>();
  SmallVector<Slot> results = scope.define(op.getResults());
  Operation *operation = op;
  return makeCollective([=](ArrayRef<Frame *> frames) {
    SmallVector<Frame *> with, without;
    for (Frame *frame : frames) {
      SmallVector<int64_t, 4> values;
      if (!map.evaluateAll(*frame, operation, values))
        return false;
      bool holds = true;
      for (unsigned i = 0; i < values.size(); ++i)
        holds = holds && (set.isEq(i) ? values[i] == 0 : values[i] >= 0);
      (holds ? with : without).push_back(frame);
    }
    auto runIn = [&](const Code &code, ArrayRef<Frame *> active) {
      if (active.empty())
        return true;
      if (!code.runAll(active))
        return false;
      for (Frame *frame : active)
        assignAll(*frame, results, *frame, code.yields);
      return true;
    };
    return runIn(*yes, with) && runIn(*no, without);
  });
}

/// The address that a map's results name in a view.
static bool getMappedAddress(const Frame &frame, Operation *op,
                             const BoundMap &map, const View &view,
                             int64_t &address) {
  SmallVector<int64_t, 4> indices;
  if (!map.evaluateAll(frame, op, indices))
    return false;
  address = view.offset;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= view.sizes[i])
      return frame.run->error(
          op, "index " + Twine(indices[i]) + " is out of bounds: dimension " +
                  Twine(i) + " has size " + Twine(view.sizes[i]));
    address += indices[i] * view.strides[i];
  }
  return true;
}

static InstrPtr compileLoad(affine::AffineLoadOp op, Scope &scope) {
  BoundMap map(scope, op.getAffineMap(), op.getMapOperands());
  Slot memory = scope.slot(op.getMemRef());
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    int64_t address;
    if (!getMappedAddress(frame, operation, map, view, address))
      return false;
    frame.number(result) = view.load(address);
    return true;
  });
}

static InstrPtr compileStore(affine::AffineStoreOp op, Scope &scope) {
  BoundMap map(scope, op.getAffineMap(), op.getMapOperands());
  Slot memory = scope.slot(op.getMemRef());
  Slot value = scope.slot(op.getValueToStore());
  Operation *operation = op;
  return makeInstr([=](Frame &frame) {
    const View &view = *frame.view(memory);
    int64_t address;
    if (!getMappedAddress(frame, operation, map, view, address))
      return false;
    view.store(address, frame.number(value));
    return true;
  });
}

void tessera::reference::addAffineHandlers(Registry &registry) {
  registry.add<affine::AffineApplyOp>([](affine::AffineApplyOp op, Scope &s) {
    return compileApply<Choice::Only>(op, op.getAffineMap(), s);
  });
  registry.add<affine::AffineMinOp>([](affine::AffineMinOp op, Scope &s) {
    return compileApply<Choice::Min>(op, op.getAffineMap(), s);
  });
  registry.add<affine::AffineMaxOp>([](affine::AffineMaxOp op, Scope &s) {
    return compileApply<Choice::Max>(op, op.getAffineMap(), s);
  });
  registry.add<affine::AffineForOp>(compileFor);
  registry.add<affine::AffineIfOp>(compileIf);
  registry.add<affine::AffineLoadOp>(compileLoad);
  registry.add<affine::AffineStoreOp>(compileStore);
}
