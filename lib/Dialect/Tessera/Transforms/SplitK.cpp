//===- SplitK.cpp - Reductions in parts -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   K:  | part 0 | part 1 | part 2 |        each by workgroups of its own
//           |        |        |
//           v        v        v
//       workspace[0, 1, 2, m, n]
//           |________|________|
//                    v
//   output[m, n] = epilogue(init + w[0] + w[1] + w[2])     always in this order
//
// With atomic adds, the parts share one workspace, which starts from zeros, or
// the output itself, which starts from init or from the matrix that the
// epilogue adds:
//
//   workspace[0, m, n] += part                             in any order
//
//===----------------------------------------------------------------------===//

#include "SplitK.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

Value mlir::tessera::createSplitWorkspace(ContractOp op, int64_t parts,
                                          ImplicitLocOpBuilder &builder) {
  auto output = cast<MemRefType>(op.getOutput().getType());
  SmallVector<int64_t> shape{parts};
  llvm::append_range(shape, output.getShape());
  SmallVector<Value> sizes;
  for (int64_t r = 0; r < output.getRank(); ++r)
    if (output.isDynamicDim(r))
      sizes.push_back(memref::DimOp::create(builder, op.getOutput(), r));
  return memref::AllocOp::create(
      builder, MemRefType::get(shape, op.getAccumulatorType()), sizes);
}

/// The value that the epilogue only adds to the sum, a matrix of the output's
/// shape; null if the epilogue does anything else.
static Value findAddend(ContractOp op) {
  Block &epilogue = op.getEpilogue().front();
  Operation *add =
      cast<YieldOp>(epilogue.getTerminator()).getValues()[0].getDefiningOp();
  auto isArgument = [&](Value value, unsigned i) {
    return value == epilogue.getArgument(i);
  };
  bool isZero = !op.getInit() || matchPattern(op.getInit(), m_Zero()) ||
                matchPattern(op.getInit(), m_AnyZeroFloat());
  if (!isa_and_present<arith::AddFOp, arith::AddIOp>(add) || !isZero ||
      op.getExtras().size() != 1 || op.getMap(3) != op.getMap(2))
    return {};
  Value lhs = add->getOperand(0), rhs = add->getOperand(1);
  bool addsExtra = (isArgument(lhs, 0) && isArgument(rhs, 1)) ||
                   (isArgument(lhs, 1) && isArgument(rhs, 0));
  return addsExtra ? op.getExtras()[0] : Value();
}

/// Initializes the output with the value from which the sum starts, if the
/// parts can be added to it: the output has the accumulators' element type, and
/// the epilogue only adds to the sum.
static bool startInOutput(ContractOp op, ImplicitLocOpBuilder &builder) {
  Block &epilogue = op.getEpilogue().front();
  Value output = op.getOutput();
  if (getElementTypeOrSelf(output.getType()) != op.getAccumulatorType())
    return false;
  if (Value addend = findAddend(op)) {
    if (addend != output)
      memref::CopyOp::create(builder, addend, output);
    return true;
  }
  if (cast<YieldOp>(epilogue.getTerminator()).getValues()[0] !=
      epilogue.getArgument(0))
    return false;
  if (op.getInit())
    linalg::FillOp::create(builder, op.getInit(), output);
  return true;
}

Value mlir::tessera::createAtomicWorkspace(ContractOp op,
                                           ImplicitLocOpBuilder &builder) {
  if (startInOutput(op, builder))
    return {};
  Value workspace = createSplitWorkspace(op, /*parts=*/1, builder);
  Value zero = arith::ConstantOp::create(
      builder, builder.getZeroAttr(op.getAccumulatorType()));
  linalg::FillOp::create(builder, zero, workspace);
  return workspace;
}

void mlir::tessera::emitSplitReduction(ContractOp op, Value workspace,
                                       ImplicitLocOpBuilder &builder) {
  Location loc = op.getLoc();
  Value output = op.getOutput();
  auto type = cast<MemRefType>(output.getType());
  int64_t rank = type.getRank();
  // The loops are the output's dimensions.
  AffineMap outMap = op.getMap(2);
  SmallVector<AffineExpr> position(outMap.getNumDims(),
                                   builder.getAffineConstantExpr(0));
  for (int64_t r = 0; r < rank; ++r)
    position[outMap.getDimPosition(r)] = builder.getAffineDimExpr(r);
  SmallVector<AffineMap> maps;
  for (unsigned e = 0; e < op.getExtras().size(); ++e)
    maps.push_back(
        op.getMap(3 + e).replaceDimsAndSymbols(position, {}, rank, 0));
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  Type acc = op.getAccumulatorType();
  int64_t parts = cast<MemRefType>(workspace.getType()).getDimSize(0);
  Value zero = arith::ConstantIndexOp::create(builder, 0),
        one = arith::ConstantIndexOp::create(builder, 1),
        end = arith::ConstantIndexOp::create(builder, parts);
  linalg::GenericOp::create(
      builder, op.getExtras(), output, maps, iterators,
      [&](OpBuilder &nested, Location, ValueRange arguments) {
        SmallVector<Value> indices{zero};
        for (int64_t r = 0; r < rank; ++r)
          indices.push_back(linalg::IndexOp::create(nested, loc, r));
        Value start = op.getInit();
        if (!start)
          start = convertScalarToDtype(nested, loc, arguments.back(), acc,
                                       /*isUnsignedCast=*/false);
        auto sum = scf::ForOp::create(
            nested, loc, zero, end, one, start,
            [&](OpBuilder &inner, Location, Value part, ValueRange sums) {
              SmallVector<Value> at(indices);
              at[0] = part;
              Value value = memref::LoadOp::create(inner, loc, workspace, at);
              scf::YieldOp::create(
                  inner, loc, ArithBuilder(inner, loc).add(sums[0], value));
            });
        Block &epilogue = op.getEpilogue().front();
        IRMapping mapping;
        mapping.map(epilogue.getArgument(0), sum.getResult(0));
        for (unsigned e = 0; e < op.getExtras().size(); ++e)
          mapping.map(epilogue.getArgument(1 + e), arguments[e]);
        for (Operation &inner : epilogue.without_terminator())
          nested.clone(inner, mapping);
        linalg::YieldOp::create(
            nested, loc,
            mapping.lookupOrDefault(
                cast<YieldOp>(epilogue.getTerminator()).getValues()[0]));
      });
  memref::DeallocOp::create(builder, workspace);
}
