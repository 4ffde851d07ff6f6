//===- ContractOp.cpp - Verifier and queries of tessera.contract ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeadEndRegions.h"
#include "Dialect/Tessera/IR/ContractMaps.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tessera;

static bool usesDim(AffineMap map, unsigned dim) {
  return map.isFunctionOfDim(dim);
}

SmallVector<Value> ContractOp::getMappedOperands() {
  SmallVector<Value> operands{getLhs(), getRhs(), getOutput()};
  llvm::append_range(operands, getExtras());
  llvm::append_range(operands, getLhsInputs());
  llvm::append_range(operands, getRhsInputs());
  return operands;
}

Type ContractOp::getFactorType(unsigned side) {
  Region &producer = getProducer(side);
  if (!producer.empty())
    return cast<YieldOp>(producer.front().back()).getValues()[0].getType();
  return getElementTypeOrSelf(side ? getRhs() : getLhs());
}

ContractOp::Dims ContractOp::getDims() {
  Dims dims;
  AffineMap lhs = getMap(0), rhs = getMap(1), out = getMap(2);
  for (AffineExpr result : out.getResults()) {
    unsigned d = cast<AffineDimExpr>(result).getPosition();
    bool inLhs = usesDim(lhs, d);
    if (inLhs == usesDim(rhs, d))
      dims.batch.push_back(d);
    else
      (inLhs ? dims.m : dims.n).push_back(d);
  }
  llvm::sort(dims.batch);
  // N dimensions that the epilogue reduced, in the order of rhs.
  for (AffineExpr result : rhs.getResults())
    for (unsigned d = 0; d < rhs.getNumDims(); ++d)
      if (result.isFunctionOfDim(d) && !usesDim(out, d) && !usesDim(lhs, d) &&
          !llvm::is_contained(dims.n, d))
        dims.n.push_back(d);
  // In the order of lhs, each where it first appears.
  for (AffineExpr result : lhs.getResults())
    for (unsigned d = 0; d < lhs.getNumDims(); ++d)
      if (result.isFunctionOfDim(d) && !usesDim(out, d) && usesDim(rhs, d) &&
          !llvm::is_contained(dims.k, d))
        dims.k.push_back(d);
  return dims;
}

SmallVector<OpFoldResult> ContractOp::getExtents(OpBuilder &builder) {
  SmallVector<OpFoldResult> extents(getMap(0).getNumDims());
  // A static size wins over a dynamic one.
  for (bool wantStatic : {true, false}) {
    for (auto [i, operand] : llvm::enumerate(getMappedOperands())) {
      auto type = cast<ShapedType>(operand.getType());
      for (auto [r, expr] : llvm::enumerate(getMap(i).getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim || extents[dim.getPosition()] ||
            type.isDynamicDim(r) == wantStatic)
          continue;
        OpFoldResult &extent = extents[dim.getPosition()];
        if (wantStatic)
          extent = builder.getIndexAttr(type.getDimSize(r));
        else if (isa<MemRefType>(type))
          extent =
              memref::DimOp::create(builder, getLoc(), operand, r).getResult();
        else
          extent =
              tensor::DimOp::create(builder, getLoc(), operand, r).getResult();
      }
    }
  }
  return extents;
}

void ContractOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    bool isOutput =
        operand.get() == getOutput() &&
        operand.getOperandNumber() == getOutputMutable().getOperandNumber();
    if (!isOutput || !getInit())
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
    if (isOutput)
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

void ContractOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  getDeadEndRegions(getOperation(), point, regions);
}

bool mlir::tessera::isPositiveSum(AffineExpr expr) {
  if (isa<AffineDimExpr, AffineConstantExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return isPositiveSum(binary.getLHS()) && isPositiveSum(binary.getRHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && factor &&
         factor.getValue() > 0 && isa<AffineDimExpr>(binary.getLHS());
}

SmallVector<int64_t> mlir::tessera::getFactors(AffineExpr sum,
                                               unsigned numDims) {
  MLIRContext *context = sum.getContext();
  AffineExpr zero = getAffineConstantExpr(0, context);
  SmallVector<AffineExpr> at(numDims, zero);
  auto evaluate = [&] {
    return cast<AffineConstantExpr>(sum.replaceDims(at)).getValue();
  };
  int64_t constant = evaluate();
  SmallVector<int64_t> factors;
  for (unsigned d = 0; d < numDims; ++d) {
    at[d] = getAffineConstantExpr(1, context);
    factors.push_back(evaluate() - constant);
    at[d] = zero;
  }
  factors.push_back(constant);
  return factors;
}

/// Whether `expr` is a dimension, or one divided by a positive constant.
static bool isDimOrQuotient(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() != AffineExprKind::FloorDiv)
    return false;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return divisor && divisor.getValue() > 0 &&
         isa<AffineDimExpr>(binary.getLHS());
}

/// contract_c1: the maps.
static LogicalResult verifyMaps(ContractOp op) {
  SmallVector<Value> operands = op.getMappedOperands();
  if (op.getMaps().size() != operands.size())
    return op.emitOpError()
           << "contract_c1: " << operands.size()
           << " operands require as many maps, not " << op.getMaps().size();
  unsigned numDims = op.getMap(0).getNumDims();
  size_t firstInput = 3 + op.getExtras().size();
  // A dimension must have one extent wherever it is static.
  SmallVector<int64_t> sizes(numDims, ShapedType::kDynamic);
  SmallVector<bool> found(numDims, false);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    AffineMap map = op.getMap(i);
    auto type = cast<ShapedType>(operand.getType());
    bool good = type.hasRank() && map.getNumDims() == numDims &&
                !map.getNumSymbols() &&
                static_cast<int64_t>(map.getNumResults()) == type.getRank();
    if (good && i < 2)
      good = llvm::all_of(map.getResults(), isPositiveSum);
    else if (good && i < firstInput)
      good = map.isProjectedPermutation();
    else if (good)
      good = llvm::all_of(map.getResults(), isDimOrQuotient);
    if (!good)
      return op.emitOpError()
             << "contract_c1: map " << i << ", " << AffineMapAttr::get(map)
             << ", does not map the " << numDims << " iteration dimensions to "
             << type << " as "
             << (i < 2            ? "sums of dimensions"
                 : i < firstInput ? "a projected permutation"
                                  : "dimensions or their quotients");
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      int64_t size = type.getDimSize(r), &known = sizes[dim.getPosition()];
      found[dim.getPosition()] = true;
      if (ShapedType::isStatic(size) && ShapedType::isStatic(known) &&
          size != known)
        return op.emitOpError()
               << "contract_c1: operand " << i << " has size " << size
               << " where another operand has " << known;
      if (ShapedType::isStatic(size))
        known = size;
    }
  }
  for (unsigned d = 0; d < numDims; ++d)
    if (!found[d])
      return op.emitOpError() << "contract_c1: dimension d" << d
                              << " does not index any operand alone, so that "
                                 "its extent is unknown";
  return success();
}

/// Whether `value`, of the epilogue of `op`, does not vary along dimension
/// `dim` of N.
static bool isUniformAlong(ContractOp op, Value value, unsigned dim) {
  Block *block = &op.getEpilogue().front();
  SetVector<Value> sources;
  sources.insert(value);
  for (size_t i = 0; i < sources.size(); ++i) {
    Value source = sources[i];
    if (source.getParentBlock() != block)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(source)) {
      unsigned number = argument.getArgNumber();
      if (number == 0 || usesDim(op.getMap(2 + number), dim))
        return false;
      continue;
    }
    Operation *inner = source.getDefiningOp();
    if (!isa<RowReduceOp>(inner))
      sources.insert(inner->operand_begin(), inner->operand_end());
  }
  return true;
}

/// contract_c2: the parts of the dimensions.
static LogicalResult verifyDims(ContractOp op) {
  AffineMap lhs = op.getMap(0), rhs = op.getMap(1), out = op.getMap(2);
  for (unsigned d = 0; d < out.getNumDims(); ++d) {
    if (usesDim(out, d))
      continue;
    bool isN = usesDim(rhs, d) && !usesDim(lhs, d);
    if (isN && op.reducesRows()) {
      if (!op.getInit())
        return op.emitOpError()
               << "contract_c2: the output lacks N dimension d" << d
               << ", so that the sum cannot start from it: init is required";
      auto yield = dyn_cast<YieldOp>(op.getEpilogue().front().back());
      if (yield && yield.getValues().size() == 1 &&
          !isUniformAlong(op, yield.getValues()[0], d))
        return op.emitOpError()
               << "contract_c2: the output lacks N dimension d" << d
               << ", but the yielded value varies along it";
      continue;
    }
    if (!usesDim(lhs, d) || !usesDim(rhs, d))
      return op.emitOpError() << "contract_c2: dimension d" << d
                              << " must index lhs and rhs, or the output";
    for (unsigned e = 0; e < op.getExtras().size(); ++e)
      if (usesDim(op.getMap(3 + e), d))
        return op.emitOpError()
               << "contract_c2: extra " << e << " uses K dimension d" << d;
  }
  return success();
}

/// contract_c5: the producer of lhs (0) or rhs (1).
static LogicalResult verifyProducer(ContractOp op, unsigned side) {
  ValueRange inputs = side ? op.getRhsInputs() : op.getLhsInputs();
  StringRef name = side ? "rhs" : "lhs";
  Region &region = op.getProducer(side);
  if (region.empty()) {
    if (!inputs.empty())
      return op.emitOpError()
             << "contract_c5: inputs of " << name << " require a producer";
    return success();
  }
  Block &block = region.front();
  Value operand = side ? op.getRhs() : op.getLhs();
  bool good = region.hasOneBlock() && !block.empty() &&
              block.getNumArguments() == 1 + inputs.size() &&
              block.getArgument(0).getType() == getElementTypeOrSelf(operand);
  for (size_t i = 0; good && i < inputs.size(); ++i)
    good &= block.getArgument(1 + i).getType() ==
            getElementTypeOrSelf(inputs[i].getType());
  auto yield = good ? dyn_cast<YieldOp>(block.back()) : YieldOp();
  if (!yield || yield.getValues().size() != 1)
    return op.emitOpError()
           << "contract_c5: the producer of " << name
           << " must take the elements of the operand and of its inputs, and "
              "yield one value";
  for (Operation &inner : block)
    if (!isMemoryEffectFree(&inner))
      return inner.emitError()
             << "contract_c5: a producer must not have side effects";
  return success();
}

LogicalResult ContractOp::verify() {
  if (failed(verifyMaps(*this)) || failed(verifyDims(*this)) ||
      failed(verifyProducer(*this, 0)) || failed(verifyProducer(*this, 1)))
    return failure();
  Type a = getFactorType(0), b = getFactorType(1);
  if (!isValidMatmul(a, b, getAccumulatorType()))
    return emitOpError() << "contract_c5: unsupported matmul " << a << " x "
                         << b << " -> " << getAccumulatorType();

  Block &block = getEpilogue().front();
  bool good = block.getNumArguments() == 1 + getExtras().size() &&
              block.getArgument(0).getType() == getAccumulatorType();
  for (size_t e = 0; good && e < getExtras().size(); ++e)
    good &= block.getArgument(1 + e).getType() ==
            getElementTypeOrSelf(getExtras()[e].getType());
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!good || !yield || yield.getValues().size() != 1 ||
      yield.getValues()[0].getType() !=
          getElementTypeOrSelf(getOutput().getType()))
    return emitOpError() << "contract_c3: the region must take the accumulator "
                            "and the extras' elements, and yield the output's "
                            "element type";

  bool tensors = isa<TensorType>(getOutput().getType());
  for (Value operand : getMappedOperands())
    if (isa<TensorType>(operand.getType()) != tensors)
      return emitOpError()
             << "contract_c4: operands must be all tensors or all "
                "memrefs";
  if (static_cast<bool>(getResult()) != tensors)
    return emitOpError() << "contract_c4: a result requires a tensor output, "
                            "and a tensor output a result";
  return success();
}
