//===- Dpas.cpp - Matmuls of Intel's extension ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   a, b       vectors of 16 or 32 bits, elements of fewer packed in them
//   the sums   a vector, or a scalar, of as many elements as rows
//   matmul     a call of a function that is imported, which becomes
//              OpSubgroupMatrixMultiplyAccumulateINTEL when the module is
//              written: upstream's dialect has no such op
//              (lib/Target/Intel/SubgroupMatrix.cpp)
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"
#include "Target/SubgroupMatrix.h"

#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tessera;

/// "Matrix Multiply Accumulate Operands".
static uint32_t getMatrixOperands(const MatrixInstruction &row, MmaOp op) {
  using namespace subgroup_matrix;
  if (row.aType == "f16")
    return APackedFloat16 | BPackedFloat16;
  if (row.aType == "bf16")
    return APackedBFloat16 | BPackedBFloat16;
  if (row.tf32)
    return ATF32 | BTF32;
  return APackedInt8 | BPackedInt8 | (op.getUnsignedA() ? 0 : ASigned) |
         (op.getUnsignedB() ? 0 : BSigned);
}

/// A lane's elements as integers of `bits` each, or f32 as it is; one of them
/// is a scalar.
static Value pack(OpBuilder &builder, Location loc, Value vector,
                  int64_t bits) {
  auto type = cast<VectorType>(vector.getType());
  int64_t elementBits = type.getElementTypeBitWidth();
  if (!type.getElementType().isF32()) {
    auto packed =
        VectorType::get(type.getNumElements() * elementBits / bits,
                        builder.getIntegerType(static_cast<unsigned>(bits)));
    vector = vector::BitCastOp::create(builder, loc, packed, vector);
    type = packed;
  }
  if (type.getNumElements() > 1)
    return vector;
  return vector::ExtractOp::create(builder, loc, vector, int64_t(0));
}

FlatSymbolRefAttr mlir::tessera::getImportedFunction(OpBuilder &builder,
                                                     Location loc,
                                                     StringRef name,
                                                     FunctionType type) {
  Operation *at = builder.getInsertionBlock()->getParentOp();
  auto module = isa<gpu::GPUModuleOp>(at)
                    ? cast<gpu::GPUModuleOp>(at)
                    : at->getParentOfType<gpu::GPUModuleOp>();
  auto symbol = FlatSymbolRefAttr::get(builder.getContext(), name);
  if (module.lookupSymbol(name))
    return symbol;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto function = spirv::FuncOp::create(builder, loc, name, type);
  function.setLinkageAttributesAttr(spirv::LinkageAttributesAttr::get(
      builder.getContext(), builder.getStringAttr(name),
      spirv::LinkageTypeAttr::get(builder.getContext(),
                                  spirv::LinkageType::Import)));
  return symbol;
}

Value mlir::tessera::emitDpas(OpBuilder &builder, Location loc,
                              const MatrixInstruction &row, MmaOp op, Value a,
                              Value b, Value acc) {
  // A row of a has its total width divided by the lanes in each lane: 16 bits
  // if there are as many lanes as 16-bit elements of K.
  Value left = pack(builder, loc, a, 256 / row.accMap.getNumLanes()),
        right = pack(builder, loc, b, 32), sums = acc;
  if (row.tf32) {
    // The unit ignores the bits that tf32 has not.
    left =
        spirv::INTELRoundFToTF32Op::create(builder, loc, left.getType(), left);
    right = spirv::INTELRoundFToTF32Op::create(builder, loc, right.getType(),
                                               right);
  }
  auto vector = cast<VectorType>(acc.getType());
  bool single = vector.getNumElements() == 1;
  if (single)
    sums = vector::ExtractOp::create(builder, loc, acc, int64_t(0));
  Value k = spirv::ConstantOp::create(
      builder, loc, builder.getI32Type(),
      builder.getI32IntegerAttr(static_cast<int32_t>(row.k)));
  SmallVector<Value> operands{k, left, right, sums};
  auto type =
      builder.getFunctionType(TypeRange(ValueRange(operands)), sums.getType());
  std::string name =
      subgroup_matrix::getFunctionName(row.name, getMatrixOperands(row, op));
  FlatSymbolRefAttr function = getImportedFunction(builder, loc, name, type);
  Value matmul = spirv::FunctionCallOp::create(builder, loc, sums.getType(),
                                               function, operands)
                     .getResult(0);
  return single ? Value(vector::FromElementsOp::create(builder, loc, vector,
                                                       matmul))
                : matmul;
}
