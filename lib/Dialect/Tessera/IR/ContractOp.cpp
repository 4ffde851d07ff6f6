//===- ContractOp.cpp - Verifier and queries of tessera.contract ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tessera;

static bool usesDim(AffineMap map, unsigned dim) {
  return map.isFunctionOfDim(dim);
}

ContractOp::Dims ContractOp::getDims() {
  Dims dims;
  AffineMap lhs = getMap(0), rhs = getMap(1), out = getMap(2);
  for (unsigned r = 0; r < out.getNumResults(); ++r) {
    unsigned d = out.getDimPosition(r);
    bool inLhs = usesDim(lhs, d);
    if (inLhs == usesDim(rhs, d)) {
      dims.batch.push_back(d);
      continue;
    }
    // The last M (N) dimension of the output is the matrix's.
    std::optional<unsigned> &slot = inLhs ? dims.m : dims.n;
    if (slot)
      dims.batch.push_back(*slot);
    slot = d;
  }
  llvm::sort(dims.batch);
  for (unsigned d = 0; d < out.getNumDims(); ++d)
    if (!usesDim(out, d))
      dims.k = d;
  return dims;
}

SmallVector<OpFoldResult> ContractOp::getExtents(OpBuilder &builder) {
  SmallVector<Value> operands{getLhs(), getRhs(), getOutput()};
  llvm::append_range(operands, getExtras());
  SmallVector<OpFoldResult> extents(getMap(0).getNumDims());
  // A static size wins over a dynamic one.
  for (bool wantStatic : {true, false}) {
    for (auto [i, operand] : llvm::enumerate(operands)) {
      auto type = cast<ShapedType>(operand.getType());
      AffineMap map = getMap(i);
      for (unsigned r = 0; r < map.getNumResults(); ++r) {
        unsigned d = map.getDimPosition(r);
        if (extents[d] || type.isDynamicDim(r) == wantStatic)
          continue;
        if (wantStatic)
          extents[d] = builder.getIndexAttr(type.getDimSize(r));
        else if (isa<MemRefType>(type))
          extents[d] =
              memref::DimOp::create(builder, getLoc(), operand, r).getResult();
        else
          extents[d] =
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

LogicalResult ContractOp::verify() {
  SmallVector<Value> operands{getLhs(), getRhs(), getOutput()};
  llvm::append_range(operands, getExtras());
  if (getMaps().size() != operands.size())
    return emitOpError() << "contract_c1: " << operands.size()
                         << " operands need as many maps, not "
                         << getMaps().size();
  unsigned numDims = getMap(0).getNumDims();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    AffineMap map = getMap(i);
    auto type = cast<ShapedType>(operand.getType());
    if (!type.hasRank() || map.getNumDims() != numDims || map.getNumSymbols() ||
        !map.isProjectedPermutation() ||
        static_cast<int64_t>(map.getNumResults()) != type.getRank())
      return emitOpError() << "contract_c1: map " << i << ", "
                           << AffineMapAttr::get(map)
                           << ", is no projected permutation of the " << numDims
                           << " iteration dimensions onto " << type;
  }
  // A dimension must have one extent wherever it is static.
  SmallVector<int64_t> sizes(numDims, ShapedType::kDynamic);
  for (auto [i, operand] : llvm::enumerate(operands))
    for (auto [r, size] :
         llvm::enumerate(cast<ShapedType>(operand.getType()).getShape())) {
      int64_t &known = sizes[getMap(i).getDimPosition(r)];
      if (ShapedType::isStatic(size) && ShapedType::isStatic(known) &&
          size != known)
        return emitOpError() << "contract_c1: operand " << i << " has size "
                             << size << " where another has " << known;
      if (ShapedType::isStatic(size))
        known = size;
    }

  AffineMap lhs = getMap(0), rhs = getMap(1), out = getMap(2);
  unsigned k = 0;
  for (unsigned d = 0; d < numDims; ++d) {
    bool l = usesDim(lhs, d), r = usesDim(rhs, d), o = usesDim(out, d);
    if (!o && !(l && r))
      return emitOpError() << "contract_c2: dimension " << d
                           << " is in no operand, or summed over one only";
    k += !o;
    for (unsigned e = 3; e < operands.size(); ++e)
      if (!o && usesDim(getMap(e), d))
        return emitOpError() << "contract_c2: extra " << e - 3
                             << " uses the K dimension " << d;
  }
  if (k > 1)
    return emitOpError() << "contract_c2: " << k
                         << " K dimensions; at most one is possible";

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
    return emitOpError() << "contract_c3: the region takes the accumulator "
                            "and the extras' elements, and yields the "
                            "output's element type";

  bool tensors = isa<TensorType>(getOutput().getType());
  for (Value operand : operands)
    if (isa<TensorType>(operand.getType()) != tensors)
      return emitOpError() << "contract_c4: operands are all tensors or all "
                              "memrefs";
  if (static_cast<bool>(getResult()) != tensors)
    return emitOpError() << "contract_c4: a result for a tensor output only";
  return success();
}
