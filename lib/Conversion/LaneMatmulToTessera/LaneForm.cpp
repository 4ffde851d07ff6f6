//===- LaneForm.cpp - Indices of all lanes as one form --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The thread's number along x is `q * lanes + lane`, where q counts subgroups
// along x. Additions and multiplications are exact; a quotient is known where
// the divisor divides all unknowns, or where the constants of the lanes do not
// change it. A value that lanes have alike, without such a form, is an unknown.
//
//===----------------------------------------------------------------------===//

#include "LaneForm.h"

#include "Dialect/Tessera/Utils/VendorOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// LaneForm
//===----------------------------------------------------------------------===//

LaneForm::LaneForm(const Factors &constants) { addTerm({}, constants); }

LaneForm::LaneForm(unsigned unknown, size_t numLanes) {
  addTerm({unknown}, Factors(numLanes, 1));
}

void LaneForm::addTerm(const Product &product, const Factors &factors) {
  if (llvm::any_of(factors, [](int64_t factor) { return factor != 0; }))
    terms[product] = factors;
}

bool LaneForm::isUniform() const {
  return llvm::all_of(
      terms, [](const auto &term) { return llvm::all_equal(term.second); });
}

std::optional<int64_t> LaneForm::getConstant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty() && isUniform())
    return terms.begin()->second.front();
  return std::nullopt;
}

std::optional<LaneForm::Factors> LaneForm::getConstants(size_t numLanes) const {
  if (terms.empty())
    return Factors(numLanes, 0);
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

LaneForm LaneForm::permute(ArrayRef<int64_t> lanes) const {
  LaneForm result;
  for (const auto &[product, factors] : terms) {
    Factors permuted;
    for (int64_t lane : lanes)
      permuted.push_back(factors[static_cast<size_t>(lane)]);
    result.addTerm(product, permuted);
  }
  return result;
}

LaneForm LaneForm::broadcast(size_t lane) const {
  LaneForm result;
  for (const auto &[product, factors] : terms)
    result.addTerm(product, Factors(factors.size(), factors[lane]));
  return result;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

LaneForm LaneForms::makeConstant(int64_t value) const {
  return LaneForm(LaneForm::Factors(static_cast<size_t>(numLanes), value));
}

LaneForms::Form LaneForms::add(const LaneForm &a, const LaneForm &b,
                               int64_t sign) const {
  std::map<LaneForm::Product, LaneForm::Factors> terms = a.getTerms();
  for (const auto &[product, factors] : b.getTerms()) {
    LaneForm::Factors &sums = terms[product];
    sums.resize(factors.size());
    for (auto [sum, factor] : llvm::zip_equal(sums, factors)) {
      int64_t signedFactor;
      if (llvm::MulOverflow(factor, sign, signedFactor) ||
          llvm::AddOverflow(sum, signedFactor, sum))
        return std::nullopt;
    }
  }
  LaneForm result;
  for (const auto &[product, factors] : terms)
    result.addTerm(product, factors);
  return result;
}

LaneForms::Form LaneForms::multiply(const LaneForm &a,
                                    const LaneForm &b) const {
  constexpr size_t mostFactors = 4;
  LaneForm sum;
  for (const auto &[left, leftFactors] : a.getTerms()) {
    for (const auto &[right, rightFactors] : b.getTerms()) {
      LaneForm::Product product = left;
      llvm::append_range(product, right);
      llvm::sort(product);
      if (product.size() > mostFactors)
        return std::nullopt;
      LaneForm::Factors factors(leftFactors.size());
      for (auto [factor, l, r] :
           llvm::zip_equal(factors, leftFactors, rightFactors))
        if (llvm::MulOverflow(l, r, factor))
          return std::nullopt;
      LaneForm term;
      term.addTerm(product, factors);
      Form next = add(sum, term);
      if (!next)
        return std::nullopt;
      sum = *next;
    }
  }
  return sum;
}

std::optional<LaneForms::Range>
LaneForms::getRange(const LaneForm &form) const {
  Range range{0, 0};
  for (const auto &[product, factors] : form.getTerms()) {
    // The range of a monomial, none of which is negative.
    Range unknown{1, 1};
    for (unsigned number : product) {
      const std::optional<Range> &own = unknowns[number].range;
      if (!own || own->low < 0 ||
          llvm::MulOverflow(unknown.low, own->low, unknown.low) ||
          llvm::MulOverflow(unknown.high, own->high, unknown.high))
        return std::nullopt;
    }
    auto [least, most] = std::minmax_element(factors.begin(), factors.end());
    int64_t low, high;
    if (llvm::MulOverflow(*least, *least < 0 ? unknown.high : unknown.low,
                          low) ||
        llvm::MulOverflow(*most, *most < 0 ? unknown.low : unknown.high,
                          high) ||
        llvm::AddOverflow(range.low, low, range.low) ||
        llvm::AddOverflow(range.high, high, range.high))
      return std::nullopt;
  }
  return range;
}

static int64_t floorDivide(int64_t a, int64_t b) {
  return llvm::divideFloorSigned(a, b);
}

bool LaneForms::split(const LaneForm &a, int64_t divisor, LaneForm &quotient,
                      LaneForm &rest, LaneForm &uniform,
                      LaneForm &constants) const {
  std::optional<Range> range = getRange(a);
  if (divisor < 1 || !range || range->low < 0)
    return false;
  int64_t common = divisor;
  LaneForm::Factors remainders(static_cast<size_t>(numLanes), 0);
  for (const auto &[product, factors] : a.getTerms()) {
    if (llvm::all_of(factors,
                     [&](int64_t factor) { return factor % divisor == 0; })) {
      LaneForm::Factors divided;
      for (int64_t factor : factors)
        divided.push_back(factor / divisor);
      quotient.addTerm(product, divided);
      continue;
    }
    rest.addTerm(product, factors);
    if (product.empty()) {
      remainders = factors;
      continue;
    }
    if (!llvm::all_equal(factors))
      return false;
    common = std::gcd(common, factors.front());
    uniform.addTerm(product, factors);
  }
  // Constants below the common divisor of the uniform part.
  int64_t least = *llvm::min_element(remainders);
  int64_t below = floorDivide(least, common) * common;
  LaneForm::Factors shared(remainders.size(), below);
  for (int64_t &remainder : remainders)
    remainder -= below;
  Form sum = add(uniform, LaneForm(shared));
  if (!sum)
    return false;
  uniform = *sum;
  constants = LaneForm(remainders);
  if (uniform.getTerms().empty() || rest.getConstants(remainders.size()))
    return true;
  std::optional<Range> uniformRange = getRange(uniform);
  return uniformRange && uniformRange->low >= 0 &&
         llvm::all_of(remainders, [&](int64_t remainder) {
           return remainder >= 0 && remainder < common;
         });
}

LaneForms::Form LaneForms::divide(const LaneForm &a, int64_t divisor) {
  LaneForm quotient, rest, uniform, constants;
  if (!split(a, divisor, quotient, rest, uniform, constants))
    return std::nullopt;
  if (std::optional<LaneForm::Factors> known =
          rest.getConstants(static_cast<size_t>(numLanes))) {
    for (int64_t &value : *known)
      value = floorDivide(value, divisor);
    return add(quotient, LaneForm(*known));
  }
  return add(quotient, getUnknown(Unknown::Quotient, uniform, divisor));
}

LaneForms::Form LaneForms::remainder(const LaneForm &a, int64_t divisor) {
  LaneForm quotient, rest, uniform, constants;
  if (!split(a, divisor, quotient, rest, uniform, constants))
    return std::nullopt;
  if (std::optional<LaneForm::Factors> known =
          rest.getConstants(static_cast<size_t>(numLanes))) {
    for (int64_t &value : *known)
      value -= floorDivide(value, divisor) * divisor;
    return LaneForm(*known);
  }
  return add(getUnknown(Unknown::Remainder, uniform, divisor), constants);
}

LaneForms::Form LaneForms::castChecked(const LaneForm &form,
                                       unsigned bits) const {
  if (bits >= 64)
    return form;
  std::optional<Range> range = getRange(form);
  if (range && range->low >= 0 && range->high < (int64_t(1) << (bits - 1)))
    return form;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Unknowns
//===----------------------------------------------------------------------===//

LaneForm LaneForms::getUnknown(Value value, std::optional<Range> range) {
  auto [found, isNew] = unknownOf.try_emplace(value, unknowns.size());
  if (isNew) {
    Unknown unknown;
    unknown.value = value;
    unknown.range = range;
    unknowns.push_back(unknown);
  }
  return LaneForm(found->second, static_cast<size_t>(numLanes));
}

LaneForm LaneForms::getUnknown(Unknown::Kind kind, const LaneForm &operand,
                               int64_t divisor) {
  for (auto [number, unknown] : llvm::enumerate(unknowns))
    if (unknown.kind == kind && unknown.divisor == divisor &&
        unknown.operand == operand)
      return LaneForm(static_cast<unsigned>(number),
                      static_cast<size_t>(numLanes));
  Unknown unknown;
  unknown.kind = kind;
  unknown.operand = operand;
  unknown.divisor = divisor;
  std::optional<Range> range = getRange(operand);
  if (kind == Unknown::Remainder)
    unknown.range = Range{0, divisor - 1};
  else if (range)
    unknown.range = Range{range->low / divisor, range->high / divisor};
  unknowns.push_back(unknown);
  return LaneForm(static_cast<unsigned>(unknowns.size() - 1),
                  static_cast<size_t>(numLanes));
}

LaneForm
LaneForms::getOfLane(llvm::function_ref<int64_t(int64_t)> function) const {
  LaneForm::Factors values;
  for (int64_t lane = 0; lane < numLanes; ++lane)
    values.push_back(function(lane));
  return LaneForm(values);
}

LaneForm LaneForms::getThread(gpu::Dimension dimension) const {
  int64_t stride = 1;
  auto number = static_cast<size_t>(dimension);
  for (size_t i = 0; i < number; ++i)
    stride *= sizes[i];
  return getOfLane(
      [&](int64_t thread) { return thread / stride % sizes[number]; });
}

LaneForm LaneForms::getThread() {
  if (isForWorkgroup)
    return getThread(gpu::Dimension::x);
  LaneForm thread = getOfLane([](int64_t lane) { return lane; });
  if (numSubgroups == 1)
    return thread;
  if (!subgroup) {
    subgroup = static_cast<unsigned>(unknowns.size());
    Unknown unknown;
    unknown.kind = Unknown::Subgroup;
    unknown.range = Range{0, numSubgroups - 1};
    unknowns.push_back(unknown);
  }
  thread.addTerm({*subgroup},
                 LaneForm::Factors(static_cast<size_t>(numLanes), numLanes));
  return thread;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

LaneForms::LaneForms(gpu::LaunchOp launch, int64_t subgroupSize,
                     bool isForWorkgroup)
    : launch(launch), subgroupSize(subgroupSize),
      isForWorkgroup(isForWorkgroup) {
  gpu::KernelDim3 operands = launch.getBlockSizeOperandValues();
  for (auto [size, operand] : llvm::zip_equal(
           sizes, std::array<Value, 3>{operands.x, operands.y, operands.z}))
    size = getConstantIntValue(operand).value_or(1);
  numSubgroups = sizes[0] / subgroupSize;
  numLanes = isForWorkgroup ? sizes[0] * sizes[1] * sizes[2] : subgroupSize;
  findDiffering();
}

bool LaneForms::isOfLane(Operation *op) const {
  if (isVendorLaneOp(op))
    return true;
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
    return isForWorkgroup || id.getDimension() == gpu::Dimension::x;
  if (isa<gpu::SubgroupIdOp>(op))
    return isForWorkgroup;
  return !isa<gpu::BlockIdOp, gpu::BlockDimOp, gpu::GridDimOp,
              gpu::NumSubgroupsOp, gpu::SubgroupSizeOp>(op) &&
         op->getDialect() && isa<gpu::GPUDialect>(op->getDialect());
}

void LaneForms::findDiffering() {
  bool hasChanged = true;
  auto mark = [&](Value value) {
    hasChanged |= differing.insert(value).second;
  };
  mark(launch.getThreadIds().x);
  if (isForWorkgroup) {
    mark(launch.getThreadIds().y);
    mark(launch.getThreadIds().z);
  }
  while (hasChanged) {
    hasChanged = false;
    forms.clear();
    launch.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        for (auto [init, argument, yielded, result] :
             llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs(),
                             loop.getYieldedValues(), loop.getResults()))
          if (!isUniform(init) || !isUniform(yielded)) {
            mark(argument);
            mark(result);
          }
        return;
      }
      if (auto branch = dyn_cast<scf::IfOp>(op)) {
        for (auto [number, result] : llvm::enumerate(branch.getResults()))
          for (Region *region : branch.getRegions())
            if (!isUniform(region->front().getTerminator()->getOperand(
                    static_cast<unsigned>(number))))
              mark(result);
        return;
      }
      if (!isOfLane(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
            return isUniform(operand);
          }))
        return;
      for (auto [number, result] : llvm::enumerate(op->getResults())) {
        if (!isUniform(result))
          continue;
        Form form;
        if (result.getType().isIntOrIndex())
          form = evaluateOp(op, static_cast<unsigned>(number));
        if (!form || !form->isUniform())
          mark(result);
      }
    });
  }
  forms.clear();
}

LaneForms::Form LaneForms::get(Value value) {
  if (!value.getType().isIntOrIndex())
    return std::nullopt;
  if (auto found = forms.find(value); found != forms.end())
    return found->second;
  Form form = evaluate(value);
  forms[value] = form;
  return form;
}

LaneForms::Form LaneForms::evaluate(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSignificantBits() <= 64
               ? Form(makeConstant(constant.getSExtValue()))
               : std::nullopt;
  if (!launch->isProperAncestor(value.getParentRegion()->getParentOp()) &&
      value.getParentRegion()->getParentOp() != launch)
    return getUnknown(value, std::nullopt);
  Form form;
  if (auto argument = dyn_cast<BlockArgument>(value))
    form = evaluateArgument(argument);
  else
    form = evaluateOp(value.getDefiningOp(),
                      cast<OpResult>(value).getResultNumber());
  if (form || !isUniform(value))
    return form;
  return getUnknown(value, std::nullopt);
}

static constexpr int64_t mostWorkgroups = std::numeric_limits<int32_t>::max();
static constexpr int64_t mostThreads = 1024;

LaneForms::Form LaneForms::evaluateArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (parent == launch) {
    if (argument == launch.getThreadIds().x)
      return getThread();
    if (argument == launch.getBlockSize().x)
      return makeConstant(sizes[0]);
    for (auto [id, dimension] :
         {std::pair(launch.getThreadIds().y, gpu::Dimension::y),
          std::pair(launch.getThreadIds().z, gpu::Dimension::z)})
      if (argument == id)
        return isForWorkgroup ? getThread(dimension)
                              : getUnknown(argument, Range{0, mostThreads - 1});
    for (Value id : {launch.getBlockIds().x, launch.getBlockIds().y,
                     launch.getBlockIds().z, launch.getGridSize().x,
                     launch.getGridSize().y, launch.getGridSize().z})
      if (argument == id)
        return getUnknown(argument, Range{0, mostWorkgroups});
    return getUnknown(argument, std::nullopt);
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (loop && argument == loop.getInductionVar() && isUniform(argument)) {
    std::optional<int64_t> low = getConstantIntValue(loop.getLowerBound()),
                           high = getConstantIntValue(loop.getUpperBound());
    if (low && high && *low >= 0)
      return getUnknown(argument, Range{*low, std::max(*low, *high - 1)});
  }
  return std::nullopt;
}

LaneForms::Form LaneForms::evaluateOp(Operation *op, unsigned number) {
  if (auto id = dyn_cast<gpu::ThreadIdOp>(op)) {
    if (id.getDimension() == gpu::Dimension::x)
      return getThread();
    return isForWorkgroup
               ? getThread(id.getDimension())
               : getUnknown(op->getResult(0), Range{0, mostThreads - 1});
  }
  if (isa<gpu::LaneIdOp>(op))
    return getOfLane([&](int64_t lane) { return lane % subgroupSize; });
  if (isa<gpu::SubgroupIdOp>(op) && isForWorkgroup)
    return getOfLane([&](int64_t lane) { return lane / subgroupSize; });
  if (isa<gpu::SubgroupSizeOp>(op))
    return makeConstant(subgroupSize);
  if (auto size = dyn_cast<gpu::BlockDimOp>(op))
    if (size.getDimension() == gpu::Dimension::x)
      return makeConstant(sizes[0]);
  if (isa<gpu::SubgroupIdOp, gpu::NumSubgroupsOp>(op))
    return getUnknown(op->getResult(0), Range{0, mostThreads});
  if (isa<gpu::BlockIdOp, gpu::GridDimOp>(op))
    return getUnknown(op->getResult(0), Range{0, mostWorkgroups});

  SmallVector<LaneForm> operands;
  for (Value operand : op->getOperands()) {
    Form form = get(operand);
    if (!form)
      return std::nullopt;
    operands.push_back(*form);
  }
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    return evaluateExpr(map.getResult(0),
                        ArrayRef(operands).take_front(map.getNumDims()),
                        ArrayRef(operands).drop_front(map.getNumDims()));
  }
  if (auto split = dyn_cast<affine::AffineDelinearizeIndexOp>(op)) {
    if (!split.getDynamicBasis().empty())
      return std::nullopt;
    // The last result runs fastest.
    SmallVector<int64_t> basis(split.getStaticBasis());
    int64_t stride = 1;
    unsigned numResults = split.getNumResults();
    bool hasOuter = basis.size() == numResults;
    for (unsigned i = numResults - 1; i > number; --i)
      stride *= basis[i - (hasOuter ? 0 : 1)];
    Form quotient = divide(operands[0], stride);
    if (number == 0 || !quotient)
      return quotient;
    return remainder(*quotient, basis[number - (hasOuter ? 0 : 1)]);
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(op)) {
    unsigned bits = 64;
    for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
      if (!type.isIndex())
        bits = std::min(bits, type.getIntOrFloatBitWidth());
    return castChecked(operands[0], bits);
  }
  if (isa<arith::SelectOp>(op))
    return select(operands[0], operands[1], operands[2]);
  if (op->getNumOperands() != 2 || !isa<arith::ArithDialect>(op->getDialect()))
    return std::nullopt;
  const LaneForm &a = operands[0], &b = operands[1];
  std::optional<int64_t> right = b.getConstant();
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return evaluateCompare(compare, a, b);
  if (isa<arith::AddIOp>(op))
    return add(a, b);
  if (isa<arith::SubIOp>(op))
    return add(a, b, -1);
  if (isa<arith::MulIOp>(op))
    return multiply(a, b);
  // A value that is not negative as a sum of integers might be so as one of
  // this many bits.
  Type type = op->getResult(0).getType();
  if (!castChecked(a, type.isIndex() ? 64 : type.getIntOrFloatBitWidth()))
    return std::nullopt;
  bool isShift = right && *right >= 0 && *right < 31;
  if (isa<arith::ShLIOp>(op) && isShift)
    return multiply(a, makeConstant(int64_t(1) << *right));
  if (isa<arith::ShRUIOp, arith::ShRSIOp>(op) && isShift)
    return divide(a, int64_t(1) << *right);
  if (isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op) && right)
    return divide(a, *right);
  if (isa<arith::RemUIOp, arith::RemSIOp>(op) && right)
    return remainder(a, *right);
  if (isa<arith::AndIOp>(op) && right && *right > 0 &&
      llvm::isMask_64(static_cast<uint64_t>(*right)))
    return remainder(a, *right + 1);
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return evaluateBits(op, a, b);
  return std::nullopt;
}

LaneForms::Form LaneForms::evaluateBits(Operation *op, const LaneForm &a,
                                        const LaneForm &b) const {
  std::optional<LaneForm::Factors> left = a.getConstants(numLanes),
                                   right = b.getConstants(numLanes);
  if (!left || !right)
    return std::nullopt;
  LaneForm::Factors values;
  for (auto [l, r] : llvm::zip_equal(*left, *right)) {
    if (l < 0 || r < 0)
      return std::nullopt;
    values.push_back(isa<arith::AndIOp>(op)  ? l & r
                     : isa<arith::OrIOp>(op) ? l | r
                                             : l ^ r);
  }
  return LaneForm(values);
}

/// A comparison that has the same result for all values of the unknowns: 0 or 1
/// in each lane.
LaneForms::Form LaneForms::evaluateCompare(arith::CmpIOp op, const LaneForm &a,
                                           const LaneForm &b) const {
  Type type = op.getLhs().getType();
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (!castChecked(a, bits) || !castChecked(b, bits))
    return std::nullopt;
  std::optional<Range> left = getRange(a), right = getRange(b);
  Form difference = add(a, b, /*sign=*/-1);
  // Neither wraps, and both have the same order signed and unsigned.
  if (!left || !right || left->low < 0 || right->low < 0 || !difference)
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  auto compare = [&](int64_t value) {
    switch (op.getPredicate()) {
    case Predicate::eq:
      return value == 0;
    case Predicate::ne:
      return value != 0;
    case Predicate::slt:
    case Predicate::ult:
      return value < 0;
    case Predicate::sle:
    case Predicate::ule:
      return value <= 0;
    case Predicate::sgt:
    case Predicate::ugt:
      return value > 0;
    case Predicate::sge:
    case Predicate::uge:
      return value >= 0;
    }
    llvm_unreachable("unknown predicate");
  };
  if (std::optional<LaneForm::Factors> constants =
          difference->getConstants(static_cast<size_t>(numLanes)))
    return getOfLane([&](int64_t lane) {
      return compare((*constants)[static_cast<size_t>(lane)]) ? 1 : 0;
    });
  // The sign alone decides.
  std::optional<Range> range = getRange(*difference);
  bool isOrder =
      op.getPredicate() != Predicate::eq && op.getPredicate() != Predicate::ne;
  if (range && isOrder && (range->low > 0 || range->high < 0))
    return makeConstant(compare(range->low));
  if (range && isOrder && range->low == 0 && compare(0) == compare(1))
    return makeConstant(compare(0));
  return std::nullopt;
}

LaneForms::Form LaneForms::select(const LaneForm &condition, const LaneForm &a,
                                  const LaneForm &b) const {
  std::optional<LaneForm::Factors> chosen =
      condition.getConstants(static_cast<size_t>(numLanes));
  if (!chosen)
    return std::nullopt;
  // Each lane has the factors of one of them.
  LaneForm::Factors first = *chosen, second = *chosen;
  for (auto [l, r] : llvm::zip_equal(first, second)) {
    l = l != 0;
    r = !l;
  }
  Form left = multiply(a, LaneForm(first)),
       right = multiply(b, LaneForm(second));
  return left && right ? add(*left, *right) : std::nullopt;
}

LaneForms::Form LaneForms::evaluateExpr(AffineExpr expr,
                                        ArrayRef<LaneForm> dims,
                                        ArrayRef<LaneForm> symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return makeConstant(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Form a = evaluateExpr(binary.getLHS(), dims, symbols),
       b = evaluateExpr(binary.getRHS(), dims, symbols);
  if (!a || !b)
    return std::nullopt;
  std::optional<int64_t> right = b->getConstant();
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return add(*a, *b);
  case AffineExprKind::Mul:
    return multiply(*a, *b);
  case AffineExprKind::FloorDiv:
    return right ? divide(*a, *right) : std::nullopt;
  case AffineExprKind::Mod:
    return right ? remainder(*a, *right) : std::nullopt;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

Value LaneForms::emitUnknown(OpBuilder &builder, Location loc,
                             const Unknown &unknown) {
  switch (unknown.kind) {
  case Unknown::Plain:
    if (unknown.value.getType().isIndex())
      return unknown.value;
    return builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(),
                                                    unknown.value);
  case Unknown::Subgroup: {
    // Rows of threads consist of whole subgroups.
    Value id = gpu::SubgroupIdOp::create(builder, loc, builder.getIndexType(),
                                         /*upper_bound=*/nullptr);
    bool isRow = getConstantIntValue(launch.getBlockSizeY()) == int64_t(1) &&
                 getConstantIntValue(launch.getBlockSizeZ()) == int64_t(1);
    if (isRow)
      return id;
    return builder.createOrFold<arith::RemUIOp>(
        loc, id, arith::ConstantIndexOp::create(builder, loc, numSubgroups));
  }
  case Unknown::Quotient:
  case Unknown::Remainder:
    break;
  }
  Value operand = emit(builder, loc, unknown.operand);
  Value divisor = arith::ConstantIndexOp::create(builder, loc, unknown.divisor);
  if (unknown.kind == Unknown::Quotient)
    return builder.createOrFold<arith::DivUIOp>(loc, operand, divisor);
  return builder.createOrFold<arith::RemUIOp>(loc, operand, divisor);
}

Value LaneForms::emit(OpBuilder &builder, Location loc, const LaneForm &form) {
  Value sum;
  // The constant last, so that folding combines it with others.
  for (const auto &[product, factors] : llvm::reverse(form.getTerms())) {
    int64_t factor = factors.front();
    Value term;
    for (unsigned number : product) {
      // Emission adds no unknowns: the reference stays valid.
      Value value = emitUnknown(builder, loc, unknowns[number]);
      term =
          term ? builder.createOrFold<arith::MulIOp>(loc, term, value) : value;
    }
    if (!term)
      term = arith::ConstantIndexOp::create(builder, loc, factor);
    else if (factor != 1)
      term = builder.createOrFold<arith::MulIOp>(
          loc, term, arith::ConstantIndexOp::create(builder, loc, factor));
    sum = sum ? builder.createOrFold<arith::AddIOp>(loc, sum, term) : term;
  }
  return sum ? sum : arith::ConstantIndexOp::create(builder, loc, 0);
}
